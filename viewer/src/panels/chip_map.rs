//! The chip as a map: a figure of each tile over the cycles in view, those of the selection or the
//! one under the pointer, brushed into the timeline.

use std::sync::Arc;

use analytics::text;
use leptos::prelude::*;
use web_sys::PointerEvent;

use super::legend::{Swatches, levels};
use super::menu::Menu;
use super::spent::{CopySpent, keep_spent};
use crate::engine::spent::{SpentAsked, Told};
use crate::state::actions::use_app;
use crate::state::derived::use_derived;
use crate::state::panels::Over;
use crate::state::view::{Metric, Span, ViewState};
use crate::timeline::chip;
use crate::timeline::component::next_id;
use crate::timeline::pointer::{current_element, place};
use crate::timeline::scene::Bitmap;
use crate::timeline::stage::{Stage, keep_painted};

/// The map with its controls.
#[component]
pub(crate) fn ChipMap() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let over = cycles_over();
    let state = keep_spent(move |viewport| {
        let span = over.get().unwrap_or(viewport.span);
        SpentAsked {
            clock: app.view.with(|view| view.clock),
            from: span.from,
            to: span.to,
            tile_from: 0,
            tile_to: viewport.tile_count,
            focus: derived.ink.with(|ink| ink.focus()),
            metric: app.view.with(|view| view.metric),
        }
    });
    let pointed = RwSignal::new(None::<u32>);
    let scale_of_map = move || levels(app, "no figure");
    view! {
        <section class="figures" data-testid="chip-map" data-panel data-state=state>
            <MapControls pointed/>
            <Grid pointed/>
            <Swatches id="map-scale" label="Colours of the map" entries=scale_of_map/>
        </section>
    }
}

/// The cycles that the map is about; `None` is those in view.
fn cycles_over() -> Memo<Option<Span>> {
    let (app, derived) = (use_app(), use_derived());
    let choice = Memo::new(move |_| app.view.with(|view| view.panels.over));
    let kept = Memo::new(move |_| app.view.with(|view| view.panels.cycle));
    Memo::new(move |_| match choice.get() {
        Over::View => None,
        Over::Selection => derived.selected.with(|it| it.as_ref().map(|it| it.span)),
        Over::Cursor => {
            let cycle = app.cursor.get().or_else(|| kept.get());
            cycle.map(|from| Span { from, to: from + 1 })
        }
    })
}

#[component]
fn MapControls(
    /// The tile under the pointer.
    pointed: RwSignal<Option<u32>>,
) -> impl IntoView {
    let app = use_app();
    let said = move || {
        let Some(tile) = pointed.get() else {
            return "drag over tiles of a row, or over rows, to bring them into the timeline"
                .to_owned();
        };
        let share = app.spent.with(|it| {
            let tiles = &it.as_ref()?.tiles;
            tiles.iter().find(|it| it.tile == tile)?.share
        });
        format!("tile {tile}: {}", text::percent(share))
    };
    let cycles = move || {
        let asked = app.spent.with(|it| it.as_ref().map(|it| it.asked))?;
        Some(match asked.to - asked.from {
            1 => format!("cycle {}", text::count(asked.from)),
            _ => format!(
                "cycles {} – {}",
                text::count(asked.from),
                text::count(asked.to)
            ),
        })
    };
    view! {
        <div class="controls">
            <h2>"The chip"</h2>
            <Menu id="over" label="Over"
                items=Over::ALL.map(|it| (it.name(), it.meaning())).to_vec()
                chosen=|view| view.panels.over.name()
                choose=|app, name| app.change_view(|view| {
                    view.panels.over = Over::from_name(name).unwrap_or_default();
                    view.panels.cycle = None;
                })/>
            <Menu id="metric" label="Figure"
                items=Metric::ALL.map(|it| (it.name(), it.meaning())).to_vec()
                chosen=|view| view.metric.name()
                choose=|app, name| app.change_view(|view| {
                    view.metric = Metric::from_name(name).unwrap_or_default();
                })/>
            <button type="button" data-testid="all-tiles"
                disabled=move || app.view.with(|view| view.shown_tiles().is_none())
                on:click=move |_| { app.jump_view(|view| view.tiles = None); }>"All tiles"</button>
            <output class="range" data-testid="map-cycles">{cycles}</output>
            <output class="range" data-testid="pointed">{said}</output>
            <CopySpent id="chip" answer=app.spent told=Told::Tiles/>
        </div>
    }
}

#[component]
fn Grid(
    /// The tile under the pointer.
    pointed: RwSignal<Option<u32>>,
) -> impl IntoView {
    let app = use_app();
    let Stage { host, canvas, size } = Stage::new();
    let bitmap = Memo::new(move |_| -> Option<Arc<Bitmap>> {
        let palette = app.theme.get().palette();
        let bitmap = app
            .spent
            .with(|it| Some(chip::bitmap(&it.as_ref()?.tiles, palette, next_id())))?;
        Some(Arc::new(bitmap))
    });
    let scene = move || {
        let shown = app.view.with(ViewState::shown_tiles);
        let palette = app.theme.get().palette();
        Some(chip::scene(size.get(), &bitmap.get()?, shown, palette))
    };
    keep_painted(canvas, size, scene);
    let start = StoredValue::new(None::<u32>);
    // Whether the brush has left what was in view before: all of it is one step.
    let has_left = StoredValue::new(false);
    let tile = move |event: &PointerEvent| {
        let rows = bitmap.with_untracked(|it| it.as_ref().map_or(1, |it| it.rows));
        chip::tile_at(size.get_untracked(), rows, place(event))
    };
    let press = move |event: PointerEvent| {
        if event.button() != 0 {
            return;
        }
        if let Some(element) = current_element(&event) {
            let _ = element.set_pointer_capture(event.pointer_id());
        }
        start.set_value(tile(&event));
        has_left.set_value(false);
    };
    let follow = move |event: PointerEvent| {
        let at = tile(&event);
        pointed.set(at);
        if let Some((from, to)) = start.get_value().zip(at) {
            let brush = |view: &mut ViewState| view.show_tiles(chip::brushed(from, to));
            if has_left.get_value() {
                app.change_view(brush);
            } else {
                has_left.set_value(app.jump_view(brush));
            }
        }
    };
    let release = move |_| start.set_value(None);
    view! {
        <div class="chip" node_ref=host role="img"
            aria-label="Map of the chip: one cell a tile, 64 physical ids a row. \
                        The same figures by tile are in the table of the whole run."
            on:pointerdown=press on:pointermove=follow on:pointerup=release
            on:pointercancel=release on:pointerleave=move |_| pointed.set(None)>
            <canvas node_ref=canvas data-testid="chip-canvas"></canvas>
        </div>
    }
}
