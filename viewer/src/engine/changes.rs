//! The differences of two profiles as a table.

use analytics::aggregate::Measures;
use analytics::critical::Parts;
use analytics::diff::{Change, Section};
use analytics::text;
use analytics::units::Cycles;

use super::compare::{CompareAsked, tile_of};
use super::list::{List, Press};
use super::table::Cell;
use crate::state::kind_choice::kind_focus;
use crate::state::panels::Pairs;

/// A column.
struct Column {
    /// Name in links and JSON.
    id: &'static str,
    /// Heading.
    heading: &'static str,
    /// What the figure is.
    meaning: &'static str,
    /// The figure of a change.
    cell: fn(&Change) -> Cell,
}

const fn column(
    id: &'static str,
    heading: &'static str,
    meaning: &'static str,
    cell: fn(&Change) -> Cell,
) -> Column {
    Column {
        id,
        heading,
        meaning,
        cell,
    }
}

/// What is done in a phase.
const WORK: [Column; 1] = [column(
    "work",
    "Work",
    "What is done in it: kinds and operations",
    |it| Cell::name(&it.work),
)];

/// What became of it.
const BECAME: [Column; 1] = [column(
    "verdict",
    "Became",
    "By phase cycles: the longest tile of each phase, summed; of operations and phases without \
     waiting. A change within the noise is none",
    |it| Cell::name(it.verdict.name()),
)];

/// The change on the critical path: of what is on one.
const ON_PATH: [Column; 3] = [
    column(
        "pathChange",
        "Of the run",
        "What the change made of the run: cycles on the critical path, after minus before",
        |it| Cell::signed(it.path_change().unwrap_or(0)),
    ),
    column(
        "pathBefore",
        "Path before",
        "Cycles on the critical path of the run before; 0 is never waited for",
        |it| Cell::count(path(it)[0].total()),
    ),
    column(
        "pathAfter",
        "Path after",
        "Cycles on the critical path of the run after; 0 is never waited for",
        |it| Cell::count(path(it)[1].total()),
    ),
];

/// What makes the change of an operation on the critical path.
const BY_KIND: [Column; 3] = [
    column(
        "pathCompute",
        "of it compute",
        "Of the change of the run: compute",
        |it| part(it, |it| it.compute),
    ),
    column(
        "pathExchange",
        "of it exchange",
        "Of the change of the run: exchange",
        |it| part(it, |it| it.exchange),
    ),
    column(
        "pathBarrier",
        "of it barriers",
        "Of the change of the run: synchronization after the last tile came",
        |it| part(it, |it| it.barrier),
    ),
];

/// Figures of every change.
const FIGURES: [Column; 8] = [
    column("before", "Before", "Phase cycles in the run before", |it| {
        figure(it.before, |it| Cell::count(it.phase_cycles.get()))
    }),
    column("after", "After", "Phase cycles in the run after", |it| {
        figure(it.after, |it| Cell::count(it.phase_cycles.get()))
    }),
    column(
        "change",
        "Change",
        "Phase cycles, after minus before",
        |it| Cell::signed(Change::delta(it.before_cycles(), it.after_cycles())),
    ),
    column(
        "changeShare",
        "Change, %",
        "The same as a part of before",
        |it| change_share(it.before_cycles(), it.after_cycles()),
    ),
    column(
        "efficiencyBefore",
        "U/D before",
        "Useful efficiency in the run before",
        |it| figure(it.before, |it| Cell::share(it.useful_efficiency())),
    ),
    column(
        "efficiencyAfter",
        "U/D after",
        "Useful efficiency in the run after",
        |it| figure(it.after, |it| Cell::share(it.useful_efficiency())),
    ),
    column(
        "samplesBefore",
        "Samples before",
        "Samples in the run before",
        |it| figure(it.before, |it| Cell::count(it.sample_count)),
    ),
    column(
        "samplesAfter",
        "Samples after",
        "Samples in the run after",
        |it| figure(it.after, |it| Cell::count(it.sample_count)),
    ),
];

/// The rows in the order of the section.
pub(super) fn changes(section: &Section, asked: &CompareAsked) -> List {
    let has_path = section.changes.iter().any(|it| it.path.is_some());
    let name = [column(
        "name",
        asked.pairs.heading(),
        "What is compared; press to look at it",
        |it| Cell::name(&it.name),
    )];
    let by_kind = has_path && asked.pairs == Pairs::Operation;
    let shown = [
        (true, &name[..]),
        (asked.pairs == Pairs::Phase, &WORK),
        (true, &BECAME),
        (has_path, &ON_PATH),
        (by_kind, &BY_KIND),
        (true, &FIGURES),
    ];
    let shown = shown.into_iter().filter(|it| it.0);
    let columns: Vec<&Column> = shown.flat_map(|it| it.1).collect();
    let heads = columns.iter().map(|it| (it.id, it.heading, it.meaning));
    let mut list = List::new(&heads.collect::<Vec<_>>());
    for change in &section.changes {
        let cells = columns.iter().map(|it| (it.cell)(change));
        list.push(press(change, asked), cells.collect());
    }
    list.with_bars(if has_path { "pathChange" } else { "change" })
}

/// The figures in the open profile, and in the other one.
pub(super) const fn sides(it: &Change, swapped: bool) -> [Option<&Measures>; 2] {
    let (before, after) = (it.before.as_ref(), it.after.as_ref());
    if swapped {
        [before, after]
    } else {
        [after, before]
    }
}

fn press(it: &Change, asked: &CompareAsked) -> Press {
    let [here, there] = sides(it, asked.swapped);
    match asked.pairs {
        Pairs::Kernel if it.name.starts_with('(') => Press::Nothing,
        Pairs::Kernel => Press::Kernel(it.name.clone()),
        // The timelines begin together where one of them has no part in it.
        Pairs::Phase | Pairs::Operation => here
            .or(there)
            .map(|it| Press::Jump(it.first_offset, it.last_offset))
            .unwrap_or_default(),
        Pairs::Tile => tile_of(&it.name).map_or(Press::Nothing, Press::Tile),
        Pairs::Kind => {
            let kind = kind_focus(&it.name);
            kind.map_or(Press::Nothing, |name| Press::Kernel(name.to_owned()))
        }
    }
}

/// What a change has on the critical path, before and after.
fn path(it: &Change) -> [Parts; 2] {
    it.path.unwrap_or_default()
}

fn part(it: &Change, of: fn(Parts) -> u64) -> Cell {
    let [old, new] = path(it).map(of);
    Cell::signed(Change::delta(old, new))
}

/// A figure of one side, which may not be there.
fn figure(side: Option<Measures>, of: fn(Measures) -> Cell) -> Cell {
    side.map_or_else(Cell::absent, of)
}

fn change_share(before: u64, after: u64) -> Cell {
    let change = Change::delta(before, after);
    let share = Cycles::new(change.unsigned_abs())
        .share_of(Cycles::new(before))
        .map(|it| if change < 0 { -it } else { it });
    Cell {
        text: text::signed_percent(change, before),
        raw: Cell::share(share).raw,
    }
}
