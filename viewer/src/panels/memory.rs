//! Memory: the SRAM of a tile (in `tile_memory`), the fullest moment of every tile, and the plan,
//! from a package.

use std::sync::Arc;

use leptos::prelude::*;

use super::asked::part;
use super::data_table::{DataTable, Kind};
use super::facts::Facts;
use super::legend::{Swatches, levels};
use super::picker::{Picked, Picker};
use super::tile_memory::TileMemory;
use crate::engine::list::List;
use crate::engine::memory::{MemoryAsked, PackageSummary};
use crate::engine::protocol::{Fact, Request};
use crate::engine::spent::TileShare;
use crate::state::actions::{App, use_app};
use crate::state::answers::Beside;
use crate::timeline::chip;
use crate::timeline::component::next_id;
use crate::timeline::pointer::place;
use crate::timeline::scene::Bitmap;
use crate::timeline::stage::{Stage, keep_painted};

/// The panel, below a profile or alone on the page.
#[component]
pub(crate) fn Memory() -> impl IntoView {
    let app = use_app();
    let state = Memo::new(move |_| app.panels.package.with(Beside::name));
    let body = move || match state.get() {
        "ready" => view! { <Package/> }.into_any(),
        "loading" => view! { <p class="note" role="status">"Opening the package…"</p> }.into_any(),
        "failed" => {
            let said = app.panels.package.with(|it| it.trouble("package"));
            view! { <p class="note" role="alert" data-testid="package-failed">{said}</p> }
                .into_any()
        }
        _ => view! {
            <p class="note" data-testid="memory-hint">
                "A profile does not say where memory lies. Drop the .ipuexe that it was recorded \
                 from anywhere on this page, or choose it here."
            </p>
        }
        .into_any(),
    };
    let settled = move || {
        if state.get() == "loading" {
            "pending"
        } else {
            "ready"
        }
    };
    let panel = move || (state.get() != "ready").then_some("");
    view! {
        <section class="figures" data-testid="memory" aria-label="Memory" data-panel=panel
            data-state=settled data-package=move || state.get()>
            <div class="controls">
                <h2>"Memory of the tiles"</h2>
                <Picker picked=PICKED/>
            </div>
            {body}
        </section>
    }
}

/// The ways to a package.
const PICKED: Picked = Picked {
    id: "package",
    label: "Choose package",
    verb: "Open",
    is_package: true,
    take_file: App::open_package_file,
    take_address: |app, address| {
        app.change_view(|view| view.panels.package = Some(address.clone()));
        // The same one again, where it failed before.
        app.open_package_place(&address);
    },
};

type Summary = Memo<Option<Arc<PackageSummary>>>;

/// Everything that a package says.
#[component]
fn Package() -> impl IntoView {
    let app = use_app();
    let summary: Summary = Memo::new(move |_| {
        app.panels
            .package
            .with(|it| it.ready().map(|it| Arc::clone(it.1)))
    });
    let facts = Signal::derive(move || {
        summary
            .with(|it| it.as_ref().map(|it| it.facts.clone()))
            .unwrap_or_default()
    });
    let tiles = Memo::new(move |_| -> Option<Arc<List>> {
        summary.with(|it| it.as_ref().map(|it| Arc::new(it.tiles.clone())))
    });
    let press = Callback::new(move |at: usize| {
        let tile = summary.with_untracked(|it| {
            let row = it.as_ref()?.tiles.rows.get(at)?;
            row.cells.first()?.raw.parse().ok()
        });
        app.change_view(|view| view.panels.tile = tile);
    });
    let asked = Memo::new(move |_| asked(app, summary));
    Effect::new(move |_| {
        if let Some(asked) = asked.get() {
            app.ask(Request::Memory(asked));
        }
    });
    let state = move || {
        let answered = app.panels.memory.with(|it| it.as_ref().map(|it| it.asked));
        if answered.is_some() && answered == asked.get() {
            "ready"
        } else {
            "pending"
        }
    };
    let kind = |id, label, is_main| Kind { id, label, is_main };
    let clock = Signal::derive(analytics::clock::ClockKind::default);
    view! {
        <div data-panel data-testid="package" data-state=state>
            <Facts id="package" facts/>
            <TileMemory/>
            <DataTable kind=kind("allocation-table", "Allocations of the tile", true) clock
                list=part(app.panels.memory, |it| it.allocations.clone())/>
            <HighWater summary/>
            <DataTable kind=kind("fullest-table", "Fullest moment of every tile", false) clock
                list=tiles on_press=press/>
            <super::matrix::Matrix/>
            <Plan summary/>
        </div>
    }
}

/// The tile of the link, else the fullest one.
fn asked(app: App, summary: Summary) -> Option<MemoryAsked> {
    let package = app.panels.package.with(|it| it.ready().map(|it| it.0))?;
    let fullest = summary.with(|it| it.as_ref().map(|it| it.fullest))?;
    let tile = app.view.with(|view| view.panels.tile).unwrap_or(fullest);
    Some(MemoryAsked { package, tile })
}

/// The chip, coloured by the fullest moment of each tile; pressing one shows its memory.
#[component]
fn HighWater(
    /// What is true of the package.
    summary: Summary,
) -> impl IntoView {
    let app = use_app();
    let Stage { host, canvas, size } = Stage::new();
    let pointed = RwSignal::new(None::<u32>);
    let bitmap = Memo::new(move |_| -> Option<Arc<Bitmap>> {
        let palette = app.theme.get().palette();
        let tiles = summary.get()?;
        Some(Arc::new(chip::bitmap(
            &tiles.high_water,
            palette,
            next_id(),
        )))
    });
    let scene = move || {
        let palette = app.theme.get().palette();
        Some(chip::scene(size.get(), &bitmap.get()?, None, palette))
    };
    keep_painted(canvas, size, scene);
    let at = move |event: &web_sys::PointerEvent| {
        let rows = bitmap.with_untracked(|it| it.as_ref().map_or(1, |it| it.rows));
        chip::tile_at(size.get_untracked(), rows, place(event))
    };
    let press = move |event: web_sys::PointerEvent| {
        if let Some(tile) = at(&event) {
            app.change_view(|view| view.panels.tile = Some(tile));
        }
    };
    let share = move |tile: u32| {
        let summary = summary.get()?;
        let found = |it: &&TileShare| it.tile == tile;
        summary.high_water.iter().find(found)?.share
    };
    let said = move || match pointed.get() {
        Some(tile) => format!(
            "tile {tile}: {} in use",
            analytics::text::percent(share(tile))
        ),
        None => "fullest moment of each tile; press a tile to see its memory".to_owned(),
    };
    let scale_of_map = move || levels(app, "not used");
    view! {
        <div class="chip small" node_ref=host role="img" data-testid="high-water"
            aria-label="Map of the chip: fullest moment of each tile. The table below has the \
                        same figures."
            on:pointermove=move |event| pointed.set(at(&event)) on:pointerup=press
            on:pointerleave=move |_| pointed.set(None)>
            <canvas node_ref=canvas></canvas>
        </div>
        <output class="range said" data-testid="high-water-said">{said}</output>
        <Swatches id="high-water-scale" label="Colours of the map" entries=scale_of_map/>
    }
}

/// Plan and flags, folded away.
#[component]
fn Plan(
    /// What is true of the package.
    summary: Summary,
) -> impl IntoView {
    let plan = move || {
        summary
            .with(|it| it.as_ref().map(|it| it.plan.join("\n")))
            .unwrap_or_default()
    };
    let flags = move || {
        summary
            .with(|it| it.as_ref().map(|it| it.flags.clone()))
            .unwrap_or_default()
    };
    let flag = |(name, text): (String, String)| Fact {
        id: name.clone(),
        label: name,
        text,
    };
    let facts = Signal::derive(move || flags().into_iter().map(flag).collect::<Vec<_>>());
    view! {
        <details class="provenance" data-testid="plan">
            <summary>"Plan and flags"</summary>
            <Facts id="flag" facts/>
            <pre tabindex="0">{plan}</pre>
        </details>
    }
}
