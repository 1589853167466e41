//! The memory of one tile: addresses down, and to the right the cycles in view, under one cursor
//! with the timeline, or the items of the schedule.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;

use super::asked::{CopyAnswer, command_of_package, of};
use super::facts::Facts;
use crate::engine::command;
use crate::engine::memory::{MemoryAnswer, Recorded};
use crate::engine::protocol::Request;
use crate::engine::ruler::RulerAsked;
use crate::pictures::lifetimes::{Axis, Lifetimes};
use crate::pictures::memory::{self, MemoryView};
use crate::state::actions::{App, use_app};
use crate::state::derived::{Derived, use_derived};
use crate::state::load::LoadState;
use crate::state::panels::Across;
use crate::timeline::cursor;
use crate::timeline::layout::Size;
use crate::timeline::pointer::place;
use crate::timeline::stage::{follow_size, keep_painted};

/// More items than this are not told apart: the picture has not nearly as many columns.
const ITEMS_MAX: u32 = 20_000;

/// What lies from left to right: the question whose answer tells the cycles of the items, or why
/// there are items instead, in words; empty where nobody asked for cycles.
type Choice = Result<RulerAsked, &'static str>;

/// The memory of one tile.
#[component]
pub(super) fn TileMemory() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let choice = Memo::new(move |_| choice(app, derived));
    Effect::new(move |_| {
        if let Ok(asked) = choice.get() {
            app.ask(Request::Items(asked));
        }
    });
    let lifetimes = Memo::new(move |_| lifetimes(app, choice.get()));
    let note = move || match (choice.get(), lifetimes.get()) {
        (Err(why), _) => why,
        (Ok(_), Some(it)) if !it.in_cycles => {
            "Too many items in view, or samples that are not read yet: zoom in to see cycles."
        }
        _ => "",
    };
    let facts = of(app.panels.memory, |it| it.facts.clone());
    view! {
        <Controls/>
        <Facts id="tile-memory" facts/>
        <Show when=move || !note().is_empty()>
            <p class="note" data-testid="memory-across-note">{note}</p>
        </Show>
        <Picture choice lifetimes/>
    }
}

/// Why the picture has items from left to right, or what it takes to have cycles.
fn choice(app: App, derived: Derived) -> Choice {
    let (across, clock) = app.view.with(|view| (view.panels.across, view.clock));
    let tile = app
        .panels
        .memory
        .with(|it| it.as_ref().map(|it| it.asked.tile));
    let tile = tile.filter(|_| across == Across::Cycles).ok_or("")?;
    let viewport = derived.viewport.get().ok_or("")?;
    let summary = app.load.with(|load| load.summary().cloned()).ok_or("")?;
    let package = app
        .panels
        .package
        .with(|it| it.ready().map(|it| Arc::clone(it.1)));
    match package.ok_or("")?.recorded(&summary) {
        Recorded::Here => {}
        Recorded::Elsewhere => {
            return Err(
                "The open profile was recorded from another package: another workload, \
                        plan or flags. Items of the schedule instead of cycles.",
            );
        }
        Recorded::Unsaid => {
            return Err(
                "The open profile does not say that it was recorded from this package. \
                        Items of the schedule instead of cycles.",
            );
        }
        Recorded::Coarse => {
            return Err(
                "The open profile has one sample a tile, which tells no items apart. \
                        Items of the schedule instead of cycles.",
            );
        }
    }
    let position = summary.tiles.positions(tile, tile);
    let position = position.ok_or("The open profile has no samples of this tile.")?;
    Ok(RulerAsked {
        clock,
        from: viewport.span.from,
        to: viewport.span.to,
        tile: position.start,
        most: ITEMS_MAX,
    })
}

/// When the allocations are live. Where the view moved, by what was in the one before until the
/// answer is here.
fn lifetimes(app: App, choice: Choice) -> Option<Arc<Lifetimes>> {
    let memory = app.panels.memory.get()?;
    let Ok(asked) = choice else {
        return Some(Arc::new(Lifetimes::new(&memory, Axis::Items)));
    };
    let answer = app.panels.items.get()?;
    if (answer.asked.tile, answer.asked.clock) != (asked.tile, asked.clock) {
        return None;
    }
    let axis = match &answer.items {
        Some(marks) => Axis::Cycles(asked.from, asked.to, marks),
        None => Axis::Items,
    };
    Some(Arc::new(Lifetimes::new(&memory, axis)))
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
                    prop:value=tile on:change=typed/>
            </label>
            <Show when=move || app.load.with(LoadState::has_profile)>
                <AcrossMenu/>
            </Show>
            <Show when=is_unused>
                <span class="note">"The package does not use this tile."</span>
            </Show>
            <CopyAnswer id="memory" asked=question command/>
        </div>
    }
}

#[component]
fn AcrossMenu() -> impl IntoView {
    let app = use_app();
    let choose = move |event| {
        let across = Across::from_name(&event_target_value(&event)).unwrap_or_default();
        app.change_view(|view| view.panels.across = across);
    };
    let is = move |across| move || app.view.with(|view| view.panels.across == across);
    view! {
        <label class="choice">"Across"
            <select data-testid="across" on:change=choose>
                {Across::ALL.map(|it| view! {
                    <option value=it.name() prop:selected=is(it)>{it.meaning()}</option>
                }).collect_view()}
            </select>
        </label>
    }
}

/// Addresses over items or cycles.
#[component]
fn Picture(
    /// What is from left to right.
    choice: Memo<Choice>,
    /// When the allocations are live; `None` until that is known.
    lifetimes: Memo<Option<Arc<Lifetimes>>>,
) -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let answer = app.panels.memory;
    let size = RwSignal::new(Size::default());
    let pointed = RwSignal::new(None::<usize>);
    let (host, canvas) = (NodeRef::new(), NodeRef::<html::Canvas>::new());
    follow_size(host, size);
    let in_cycles =
        Memo::new(move |_| lifetimes.with(|it| it.as_ref().is_some_and(|it| it.in_cycles)));
    let scene = move || {
        let (memory, lifetimes) = (answer.get()?, lifetimes.get()?);
        let viewport = derived.viewport.get().filter(|_| in_cycles.get());
        let clock_hz = app.load.with(|load| load.summary().map(|it| it.clock_hz));
        let cursor = viewport.as_ref().and_then(|viewport| {
            let cycle = app.cursor.get()?;
            let clock_hz = clock_hz.unwrap_or_default();
            Some((cursor::At { cycle, clock_hz }, viewport))
        });
        Some(memory::scene(&MemoryView {
            size: size.get(),
            blocks: &memory.blocks,
            lifetimes: &lifetimes,
            pointed: pointed.get(),
            cursor,
            theme: app.theme.get(),
        }))
    };
    keep_painted(canvas, size, scene, || {});
    let moved = move |event: web_sys::PointerEvent| {
        let (size, at) = (size.get_untracked(), place(&event));
        let block = answer.with_untracked(|it| {
            let lifetimes = lifetimes.get_untracked()?;
            memory::block_at(size, &it.as_ref()?.blocks, &lifetimes, at)
        });
        pointed.set(block);
        if in_cycles.get_untracked() {
            let viewport = derived.viewport.get_untracked();
            app.point(viewport.and_then(|it| memory::cycle_at(size, &it, at)));
        }
    };
    let left = move |_| {
        pointed.set(None);
        app.point(None);
    };
    let state = move || {
        let answered = app.panels.items.with(|it| it.as_ref().map(|it| it.asked));
        match choice.get() {
            Ok(asked) if answered != Some(asked) => "pending",
            _ => "ready",
        }
    };
    let across = move || if in_cycles.get() { "cycles" } else { "items" };
    view! {
        <div class="picture memory" node_ref=host role="img" data-testid="tile-map" data-panel
            data-state=state data-across=across
            aria-label="Memory of the tile over the schedule. The table of allocations has the \
                        same figures."
            on:pointermove=moved on:pointerleave=left>
            <canvas node_ref=canvas data-testid="memory-canvas"></canvas>
        </div>
        <output class="range" data-testid="memory-said">
            {move || said(answer, lifetimes, pointed, in_cycles)}
        </output>
    }
}

/// The block under the pointer, or what the picture shows.
fn said(
    answer: RwSignal<Option<Arc<MemoryAnswer>>>,
    lifetimes: Memo<Option<Arc<Lifetimes>>>,
    pointed: RwSignal<Option<usize>>,
    in_cycles: Memo<bool>,
) -> String {
    let block = pointed.get().and_then(|at| {
        let block = answer.with(|it| Some(it.as_ref()?.blocks.get(at)?.said.clone()))?;
        let when = lifetimes.with(|it| it.as_ref().map(|it| it.said(at)));
        Some(block + &when.unwrap_or_default())
    });
    block.unwrap_or_else(|| {
        let said = if in_cycles.get() {
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
