//! What the picture of a tile's memory has from left to right: the cycles in view where the open
//! profile tells them, else items of the schedule, and why.

use std::sync::Arc;

use analytics::memory::Recorded;
use analytics::profile::Granularity;
use leptos::prelude::*;

use crate::engine::places::{Items, ItemsAnswer, PlacesAsked};
use crate::engine::protocol::Request;
use crate::pictures::lifetimes::{Axis, Lifetimes};
use crate::state::actions::App;
use crate::state::derived::Derived;
use crate::state::panels::Across;

/// More items than this are not told apart: the picture has not nearly as many columns.
const ITEMS_MAX: u32 = 20_000;

/// What the picture is to have.
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

/// The axis, and what lies on it.
#[derive(Clone, Copy)]
pub(super) struct TileAxis {
    choice: Memo<Choice>,
    /// The newest answer about the tile and the clock that are looked at.
    newest: Answered,
    /// When the allocations are live; `None` until that is known.
    pub(super) lifetimes: Memo<Option<Arc<Lifetimes>>>,
    /// Whether it is cycles.
    pub(super) in_cycles: Memo<bool>,
}

impl TileAxis {
    /// Keeps the question for cycles asked.
    pub(super) fn new(app: App, derived: Derived) -> Self {
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
            let is_here = |it: &Arc<ItemsAnswer>| matches!(it.found, Items::Here(_));
            let before = || answer_to(choice.get(), before.cloned().flatten());
            newest.get().filter(is_here).or_else(before)
        });
        let lifetimes = Memo::new(move |_| {
            let (newest, known) = (newest.get(), known.get());
            lifetimes(app, choice.get(), newest.as_deref(), known.as_deref())
        });
        let in_cycles =
            Memo::new(move |_| lifetimes.with(|it| it.as_ref().is_some_and(|it| it.in_cycles)));
        Self {
            choice,
            newest,
            lifetimes,
            in_cycles,
        }
    }

    /// For `data-state`: whether the newest answer is to what is asked.
    pub(super) fn state(self) -> &'static str {
        let answered = self.newest.with(|it| it.as_ref().map(|it| it.asked));
        match self.choice.get() {
            Choice::Cycles(asked) if answered != Some(asked) => "pending",
            _ => "ready",
        }
    }

    /// What there is, in a word; `None` until that is known.
    pub(super) fn name(self) -> Option<&'static str> {
        let name = |it: &Arc<Lifetimes>| match it.in_cycles {
            true => Across::Cycles.name(),
            false => Across::Items.name(),
        };
        self.lifetimes.with(|it| it.as_ref().map(name))
    }

    /// Why the picture is not what was asked for, in words; empty where it is.
    pub(super) fn note(self) -> String {
        note(self.choice.get(), self.newest.get().as_deref())
    }
}

/// Whether the open profile was recorded from another package than the open one.
pub(super) fn is_foreign(app: App) -> bool {
    let package = app
        .panels
        .package
        .with(|it| it.ready().map(|it| Arc::clone(it.1)));
    let profile = app.load.with(|load| load.summary().cloned());
    profile.zip(package).is_some_and(|(profile, package)| {
        let found = Recorded::compare(&profile.provenance, &package.provenance);
        matches!(found, Recorded::FromAnother)
    })
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
    newest: Option<&ItemsAnswer>,
    known: Option<&ItemsAnswer>,
) -> Option<Arc<Lifetimes>> {
    let memory = app.panels.memory.get()?;
    let Choice::Cycles(asked) = choice else {
        return Some(Arc::new(Lifetimes::new(&memory, Axis::Items)));
    };
    let known = known.filter(|_| newest.is_some_and(|it| it.found != Items::TooMany));
    let axis = match known.map(|it| &it.found) {
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

fn note(choice: Choice, newest: Option<&ItemsAnswer>) -> String {
    match (choice, newest.map(|it| &it.found)) {
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
