//! The memory of one tile: addresses down, and to the right the cycles in view, under one cursor
//! with the timeline, or the items of the schedule.

use std::sync::Arc;

use leptos::prelude::*;

use super::asked::{CopyAnswer, command_of_package, of};
use super::facts::Facts;
use super::menu::Menu;
use super::tile_axis::TileAxis;
use crate::engine::command;
use crate::engine::memory::MemoryAnswer;
use crate::engine::protocol::Request;
use crate::pictures::memory::{self, MemoryView};
use crate::state::actions::{App, use_app};
use crate::state::derived::{Derived, use_derived};
use crate::state::load::LoadState;
use crate::state::panels::Across;
use crate::timeline::cursor;
use crate::timeline::layout::Size;
use crate::timeline::pointer::{cycle_across, place};
use crate::timeline::scene::Scene;
use crate::timeline::stage::{Stage, keep_painted};
use crate::timeline::steering::turned;

/// The memory of one tile.
#[component]
pub(super) fn TileMemory() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let axis = TileAxis::new(app, derived);
    let note = move || axis.note();
    let facts = of(app.panels.memory, |it| it.facts.clone());
    view! {
        <Controls/>
        <Facts id="tile-memory" facts/>
        <Picture axis/>
        <p class="note" data-testid="memory-note" hidden=move || note().is_empty()>{note}</p>
    }
}

/// Which tile, and what is from left to right.
#[component]
fn Controls() -> impl IntoView {
    let app = use_app();
    let answer = app.panels.memory;
    let typed = move |event| {
        let tile = event_target_value(&event).parse().ok();
        app.change_view(|view| view.panels.tile = tile);
    };
    let tile = move || answer.with(|it| it.as_ref().map(|it| it.asked.tile.to_string()));
    // Leaving the field that way takes back what was typed.
    let taken_back = move |event: web_sys::KeyboardEvent| {
        if event.key() == "Escape" {
            let input: web_sys::HtmlInputElement = event_target(&event);
            input.set_value(&untrack(tile).unwrap_or_default());
        }
    };
    let is_unused = move || answer.with(|it| it.as_ref().is_some_and(|it| it.facts.is_empty()));
    // Of a tile that the package does not use there is nothing to say.
    let answered = move || {
        let used = |it: &Arc<MemoryAnswer>| (!it.facts.is_empty()).then_some(it.asked);
        answer.with(|it| it.as_ref().and_then(used))
    };
    let question = Signal::derive(move || answered().map(Request::MemoryJson));
    let command = command_of_package(answered, command::memory);
    view! {
        <div class="controls">
            <label class="choice">"Physical tile"
                <input type="text" inputmode="numeric" class="find" data-testid="memory-tile"
                    prop:value=tile on:change=typed on:keydown=taken_back/>
            </label>
            <Show when=move || app.load.with(LoadState::has_profile)>
                <Menu id="across" label="Across"
                    items=Across::ALL.map(|it| (it.name(), it.meaning())).to_vec()
                    chosen=|view| view.panels.across.name()
                    choose=|app, name| app.change_view(|view| {
                        view.panels.across = Across::from_name(name).unwrap_or_default();
                    })/>
            </Show>
            <Show when=is_unused>
                <span class="note">"The package does not use this tile."</span>
            </Show>
            <CopyAnswer id="memory" asked=question command/>
        </div>
    }
}

/// Addresses over items or cycles.
#[component]
fn Picture(
    /// What is from left to right.
    axis: TileAxis,
) -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let Stage { host, canvas, size } = Stage::new();
    let pointed = RwSignal::new(None::<usize>);
    let scene = move || scene(app, derived, axis, size.get(), pointed.get());
    keep_painted(canvas, size, scene);
    let point = move |at: (f64, f64)| {
        let size = size.get_untracked();
        let block = app.panels.memory.with_untracked(|it| {
            let lifetimes = axis.lifetimes.get_untracked()?;
            memory::block_at(size, &it.as_ref()?.blocks, &lifetimes, at)
        });
        pointed.set(block);
        if axis.in_cycles.get_untracked() {
            let viewport = derived.viewport.get_untracked();
            app.point(viewport.and_then(|it| cycle_across(size, &it, at.0)));
        }
    };
    // Its wheel zooms and pans the cycles of the timeline, which are across here too.
    let wheel = move |event: web_sys::WheelEvent| {
        if axis.in_cycles.get_untracked() && !event.alt_key() {
            turned(app, derived, size, &event);
            point(place(&event));
        }
    };
    let left = move |_| {
        pointed.set(None);
        app.point(None);
    };
    let label = move || {
        let across = axis.name().unwrap_or("items");
        format!(
            "Memory of the tile: addresses over {across}. The table of allocations has the same \
             figures."
        )
    };
    view! {
        <div class="picture memory" node_ref=host role="img" data-testid="tile-map" data-panel
            data-state=move || axis.state() data-across=move || axis.name() aria-label=label
            on:pointermove=move |event| point(place(&event)) on:pointerleave=left on:wheel=wheel>
            <canvas node_ref=canvas data-testid="memory-canvas"></canvas>
        </div>
        <output class="range said" data-testid="memory-said">
            {move || said(app, axis, pointed.get())}
        </output>
    }
}

fn scene(
    app: App,
    derived: Derived,
    axis: TileAxis,
    size: Size,
    pointed: Option<usize>,
) -> Option<Scene> {
    let (answer, lifetimes) = (app.panels.memory.get()?, axis.lifetimes.get()?);
    let viewport = lifetimes
        .in_cycles
        .then(|| derived.viewport.get())
        .flatten();
    let cursor = viewport.as_ref().and_then(|viewport| {
        let cycle = app.cursor.get()?;
        let clock_hz = app.load.with(|load| load.summary().map(|it| it.clock_hz))?;
        Some((cursor::At { cycle, clock_hz }, viewport))
    });
    Some(memory::scene(&MemoryView {
        size,
        blocks: &answer.blocks,
        lifetimes: &lifetimes,
        pointed,
        cursor,
        theme: app.theme.get(),
    }))
}

/// The block under the pointer, or what the picture shows.
fn said(app: App, axis: TileAxis, pointed: Option<usize>) -> String {
    let block = pointed.and_then(|at| {
        let block = app
            .panels
            .memory
            .with(|it| Some(it.as_ref()?.blocks.get(at)?.said.clone()))?;
        let when = axis.lifetimes.with(|it| it.as_ref().map(|it| it.said(at)));
        Some(block + &when.unwrap_or_default())
    });
    block.unwrap_or_else(|| {
        let said = if axis.in_cycles.get() {
            "addresses down, the cycles in view to the right, as in the timeline; what is paler \
             is live for a part of the items that a sample stands for, such as later iterations; \
             the bars are live bytes of all 624 KiB"
        } else {
            "addresses down, items of the schedule to the right; the bars are live bytes of all \
             624 KiB"
        };
        said.to_owned()
    })
}
