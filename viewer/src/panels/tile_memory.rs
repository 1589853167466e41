//! The memory of one tile: addresses down, and to the right the cycles in view, under one cursor
//! with the timeline, or the items of the schedule.

use std::sync::Arc;

use analytics::memory::Recorded;
use analytics::profile::Granularity;
use leptos::html;
use leptos::prelude::*;

use super::asked::{CopyAnswer, command_of_package, of};
use super::facts::Facts;
use crate::engine::command;
use crate::engine::memory::MemoryAnswer;
use crate::engine::places::{Items, ItemsAnswer, PlacesAsked};
use crate::engine::protocol::Request;
use crate::pictures::lifetimes::{Axis, Lifetimes};
use crate::pictures::memory::{self, MemoryView};
use crate::state::actions::{App, use_app};
use crate::state::derived::{Derived, use_derived};
use crate::state::load::LoadState;
use crate::state::panels::Across;
use crate::timeline::cursor;
use crate::timeline::layout::Size;
use crate::timeline::pointer::{cycle_across, place};
use crate::timeline::stage::{follow_size, keep_painted};

/// More items than this are not told apart: the picture has not nearly as many columns.
const ITEMS_MAX: u32 = 20_000;

/// What the picture is to have from left to right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// The cycles in view, by the answer to this question.
    Cycles(PlacesAsked),
    /// Items of the schedule, as was asked, or since no profile is open.
    Items,
    /// The same, since the profile gives no cycles: why, in words.
    ItemsSince(&'static str),
}

type Answered = Memo<Option<Arc<ItemsAnswer>>>;

/// The memory of one tile.
#[component]
pub(super) fn TileMemory() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let no_cycles = Memo::new(move |_| no_cycles(app));
    let choice = Memo::new(move |_| choice(app, derived, no_cycles));
    Effect::new(move |_| {
        if let Choice::Cycles(asked) = choice.get() {
            app.ask(Request::Items(asked));
        }
    });
    let newest: Answered = Memo::new(move |_| answer_to(choice.get(), app.panels.items.get()));
    // While samples of another part are on their way, what is known of the tile stays.
    let known: Answered = Memo::new(move |before: Option<&Option<Arc<ItemsAnswer>>>| {
        let answer = newest.get();
        let is_here = |it: &Arc<ItemsAnswer>| matches!(it.found, Items::Here(_));
        let before = || answer_to(choice.get(), before.cloned().flatten());
        answer.filter(is_here).or_else(before)
    });
    let lifetimes = Memo::new(move |_| lifetimes(app, choice.get(), newest.get(), known.get()));
    let note = move || note(choice.get(), newest.get());
    let facts = of(app.panels.memory, |it| it.facts.clone());
    view! {
        <Controls/>
        <Facts id="tile-memory" facts/>
        <Picture choice lifetimes/>
        <p class="note" data-testid="memory-note" hidden=move || note().is_empty()>{note}</p>
    }
}

/// Why the open profile cannot say at which cycles a tile was in an item of the package's schedule;
/// `None` where it can.
fn no_cycles(app: App) -> Option<&'static str> {
    let package = app
        .panels
        .package
        .with(|it| it.ready().map(|it| Arc::clone(it.1)))?;
    app.load.with(|load| {
        let profile = load.summary()?;
        match Recorded::compare(&profile.provenance, &package.provenance) {
            Recorded::FromIt if profile.granularity != Granularity::Graph.name() => None,
            Recorded::FromIt => Some(
                "Items of the schedule instead of cycles: the open profile has one sample a tile, \
                 which tells no items apart.",
            ),
            Recorded::FromAnother => Some(
                "Items of the schedule instead of cycles: the open profile was recorded from \
                 another package, of another workload, compiler, plan or flags.",
            ),
            Recorded::Unsaid => Some(
                "Items of the schedule instead of cycles: the open profile does not say that it \
                 was recorded from this package.",
            ),
        }
    })
}

fn choice(app: App, derived: Derived, no_cycles: Memo<Option<&'static str>>) -> Choice {
    let (across, clock) = app.view.with(|view| (view.panels.across, view.clock));
    let tile = app
        .panels
        .memory
        .with(|it| it.as_ref().map(|it| it.asked.tile));
    let (Across::Cycles, Some(tile), Some(viewport)) = (across, tile, derived.viewport.get())
    else {
        return Choice::Items;
    };
    if let Some(why) = no_cycles.get() {
        return Choice::ItemsSince(why);
    }
    let positions = app
        .load
        .with(|load| load.summary()?.tiles.positions(tile, tile));
    let Some(positions) = positions else {
        return Choice::ItemsSince(
            "Items of the schedule instead of cycles: the open profile has no samples of this \
             tile.",
        );
    };
    Choice::Cycles(PlacesAsked {
        clock,
        from: viewport.span.from,
        to: viewport.span.to,
        tile: positions.start,
        most: ITEMS_MAX,
    })
}

/// An answer about the tile and the clock that are looked at, though perhaps about other cycles.
fn answer_to(choice: Choice, answer: Option<Arc<ItemsAnswer>>) -> Option<Arc<ItemsAnswer>> {
    let Choice::Cycles(asked) = choice else {
        return None;
    };
    answer.filter(|it| (it.asked.tile, it.asked.clock) == (asked.tile, asked.clock))
}

/// When the allocations are live; `None` until that is known.
fn lifetimes(
    app: App,
    choice: Choice,
    newest: Option<Arc<ItemsAnswer>>,
    known: Option<Arc<ItemsAnswer>>,
) -> Option<Arc<Lifetimes>> {
    let memory = app.panels.memory.get()?;
    let Choice::Cycles(asked) = choice else {
        return Some(Arc::new(Lifetimes::new(&memory, Axis::Items)));
    };
    let known = known.filter(|_| newest.as_ref().is_some_and(|it| it.found != Items::TooMany));
    let axis = match known.as_ref().map(|it| &it.found) {
        Some(Items::Here(marks)) => Axis::Cycles {
            from: asked.from,
            to: asked.to,
            marks,
        },
        _ if newest.is_some() => Axis::Items,
        _ => return None,
    };
    Some(Arc::new(Lifetimes::new(&memory, axis)))
}

/// Why the picture is not what was asked for, in words; empty where it is.
fn note(choice: Choice, newest: Option<Arc<ItemsAnswer>>) -> String {
    match (choice, newest.as_ref().map(|it| &it.found)) {
        (Choice::ItemsSince(why), _) => why.to_owned(),
        (Choice::Cycles(_), Some(Items::TooMany)) => {
            "Items of the schedule instead of cycles: too many of them are in view; zoom in."
                .to_owned()
        }
        (Choice::Cycles(_), Some(Items::Unread)) => {
            "Samples of this tile are still to be read: zoom in, or read all samples.".to_owned()
        }
        (Choice::Cycles(_), Some(Items::Broken(why))) => {
            format!("Samples of this tile cannot be decoded: {why}")
        }
        _ => String::new(),
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
        let viewport = in_cycles.get().then(|| derived.viewport.get()).flatten();
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
            app.point(viewport.and_then(|it| cycle_across(size, &it, at.0)));
        }
    };
    let left = move |_| {
        pointed.set(None);
        app.point(None);
    };
    let state = move || {
        let answered = app.panels.items.with(|it| it.as_ref().map(|it| it.asked));
        match choice.get() {
            Choice::Cycles(asked) if answered != Some(asked) => "pending",
            _ => "ready",
        }
    };
    let across = move || {
        let shown = |it: &Arc<Lifetimes>| if it.in_cycles { "cycles" } else { "items" };
        lifetimes.with(|it| it.as_ref().map(shown))
    };
    let label = move || {
        let across = across().unwrap_or("items");
        format!(
            "Memory of the tile: addresses over {across}. The table of allocations has the same \
             figures."
        )
    };
    view! {
        <div class="picture memory" node_ref=host role="img" data-testid="tile-map" data-panel
            data-state=state data-across=across
            aria-label=label
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
