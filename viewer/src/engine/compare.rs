//! The open profile against another one: what became slower, faster, new or gone.

use analytics::aggregate::Measures;
use analytics::clock::ClockKind;
use analytics::diff::{Change, DiffError, DiffOptions, ProfileDiff, Section, Side, diff};
use analytics::order;
use analytics::report::{diff_json, diff_parts};
use analytics::text;
use serde::{Deserialize, Serialize};

use super::cause::{Cause, Failure};
use super::list::{List, Press, cycles_with_time};
use super::panel::Sources;
use super::protocol::{Fact, clock_name};
use super::table::Cell;
use crate::state::kind_choice::kind_focus;
use crate::state::panels::Pairs;

/// What is compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CompareAsked {
    /// Number of the second profile: another one is another question.
    pub(crate) other: u64,
    /// The clock in force.
    #[serde(with = "clock_name")]
    pub(crate) clock: ClockKind,
    /// What a row stands for.
    pub(crate) pairs: Pairs,
    /// Whether profiles of different granularity are compared all the same.
    pub(crate) force: bool,
    /// Whether the open profile is the run before.
    pub(crate) swapped: bool,
}

/// The differences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CompareAnswer {
    /// What was asked.
    pub(crate) asked: CompareAsked,
    /// Why the two are not compared; the rest is empty then.
    pub(crate) refusal: Option<String>,
    /// The runs as a whole.
    pub(crate) facts: Vec<Fact>,
    /// Rows in the order of `profile-diff`.
    pub(crate) changes: List,
    /// For each row, where it starts in the open profile and in the other one.
    pub(crate) starts: Vec<(Option<u64>, Option<u64>)>,
    /// By physical tile: change of compute cycles.
    pub(crate) tiles: Vec<TileChange>,
    /// Largest of them, either way.
    pub(crate) largest: u64,
    /// What a reader should know first.
    pub(crate) warnings: Vec<String>,
}

/// What one tile computes more or less.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TileChange {
    /// Physical id.
    pub(crate) tile: u32,
    /// Cycles more (positive) or less than in the other profile.
    pub(crate) change: i64,
    /// The same as a part of the largest change, -1..=1.
    pub(crate) share: f64,
}

/// The answer from both reports.
pub(crate) fn compare(
    sources: &Sources<'_>,
    asked: &CompareAsked,
) -> Result<CompareAnswer, Failure> {
    let mut answer = CompareAnswer {
        asked: asked.clone(),
        refusal: None,
        facts: Vec::new(),
        changes: List::default(),
        starts: Vec::new(),
        tiles: Vec::new(),
        largest: 0,
        warnings: Vec::new(),
    };
    match found(sources, asked)? {
        Ok(found) => fill(&mut answer, &found),
        Err(error @ DiffError::Unlike { .. }) => answer.refusal = Some(error.to_string()),
        Err(error) => return Err(failure(error)),
    }
    Ok(answer)
}

/// What `profile-diff BEFORE AFTER --json --limit 0` prints.
pub(crate) fn compare_json(sources: &Sources<'_>, asked: &CompareAsked) -> Result<String, Failure> {
    let found = found(sources, asked)?.map_err(failure)?;
    Ok(diff_json(&found, 0))
}

fn failure(error: DiffError) -> Failure {
    match error {
        DiffError::Query(error) => error.into(),
        other => Failure::new(Cause::Internal, other.to_string()),
    }
}

/// The comparison, or why there is none.
fn found(
    sources: &Sources<'_>,
    asked: &CompareAsked,
) -> Result<Result<ProfileDiff, DiffError>, Failure> {
    let options = DiffOptions {
        clock: asked.clock,
        noise: None,
        force: asked.force,
    };
    let (open, other) = (sources.report, sources.other()?);
    let (before, after) = match asked.swapped {
        true => (open, other),
        false => (other, open),
    };
    Ok(diff(before, after, &options))
}

fn fill(answer: &mut CompareAnswer, found: &ProfileDiff) {
    let section = match answer.asked.pairs {
        Pairs::Kernel => &found.kernels,
        Pairs::Operation => &found.operations,
        Pairs::Phase => &found.phases,
        Pairs::Tile => &found.tiles,
        Pairs::Kind => &found.kinds,
    };
    answer.facts = facts(found, section, answer.asked.swapped);
    answer.changes = changes(section, &answer.asked);
    let start = |it: Option<&Measures>| it.map(|it| it.first_offset);
    let starts = section.changes.iter();
    let starts = starts.map(|it| sides(it, answer.asked.swapped).map(start));
    answer.starts = starts.map(|[here, there]| (here, there)).collect();
    (answer.tiles, answer.largest) = tiles(&found.tiles);
    answer.warnings.clone_from(&found.warnings);
}

/// The figures in the open profile, and in the other one.
const fn sides(it: &Change, swapped: bool) -> [Option<&Measures>; 2] {
    let (before, after) = (it.before.as_ref(), it.after.as_ref());
    if swapped {
        [before, after]
    } else {
        [after, before]
    }
}

fn facts(found: &ProfileDiff, section: &Section, swapped: bool) -> Vec<Fact> {
    let side = |it: &Side| cycles_with_time(it.run, it.clock_hz);
    let (before, after) = (found.before.run, found.after.run);
    let delta = Change::delta(before, after);
    let change = format!(
        "{} {} cycles, {}",
        found.verdict.name(),
        text::signed(delta),
        text::signed_percent(delta, before)
    );
    let counts: Vec<String> = analytics::diff::Verdict::ALL
        .into_iter()
        .map(|verdict| (section.count(verdict), verdict.name()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    let (of_before, of_after) = match swapped {
        true => ("Before: this profile", "After: the other one"),
        false => ("Before: the other one", "After: this profile"),
    };
    let mut facts = vec![
        Fact::new("before", of_before, side(&found.before)),
        Fact::new("after", of_after, side(&found.after)),
        Fact::new("run", "The run is", change),
    ];
    let parts = diff_parts(found).map(|parts| Fact::new("parts", "On its critical path", parts));
    facts.extend(parts);
    facts.extend([
        Fact::new("counts", "Rows", counts.join(", ")),
        Fact::new(
            "noise",
            "Noise",
            format!("{} cycles", text::count(found.noise)),
        ),
    ]);
    facts
}

/// Columns of a change on the critical path: of what is on one.
const ON_PATH: [(&str, &str, &str); 3] = [
    (
        "pathChange",
        "Of the run",
        "What the change made of the run: cycles on the critical path, after minus before",
    ),
    (
        "pathBefore",
        "Path before",
        "Cycles on the critical path of the run before: what it waited for",
    ),
    (
        "pathAfter",
        "Path after",
        "Cycles on the critical path of the run after",
    ),
];

/// Columns of every change.
const COLUMNS: [(&str, &str, &str); 8] = [
    ("before", "Before", "Phase cycles in the run before"),
    ("after", "After", "Phase cycles in the run after"),
    ("change", "Change", "After minus before"),
    ("changeShare", "Change, %", "The same as a part of before"),
    (
        "samplesBefore",
        "Samples before",
        "Samples in the run before",
    ),
    ("samplesAfter", "Samples after", "Samples in the run after"),
    (
        "efficiencyBefore",
        "U/D before",
        "Useful efficiency in the run before",
    ),
    (
        "efficiencyAfter",
        "U/D after",
        "Useful efficiency in the run after",
    ),
];

fn changes(section: &Section, asked: &CompareAsked) -> List {
    let has_path = section.changes.iter().any(|it| it.path.is_some());
    let mut columns = vec![
        (
            "name",
            asked.pairs.heading(),
            "What is compared; press to look at it",
        ),
        (
            "verdict",
            "Became",
            "By phase cycles; a change within the noise is none",
        ),
    ];
    if has_path {
        columns.extend(ON_PATH);
    }
    columns.extend(COLUMNS);
    let mut list = List::new(&columns);
    for it in &section.changes {
        list.push(press(it, asked), row(it, has_path));
    }
    list.with_bars(if has_path { "pathChange" } else { "change" })
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

fn row(it: &Change, has_path: bool) -> Vec<Cell> {
    let (before, after) = (it.before_cycles(), it.after_cycles());
    let delta = Change::delta(before, after);
    let count = |side: &Option<Measures>| side.as_ref().map(|it| it.sample_count);
    let efficiency = |side: &Option<Measures>| side.as_ref().and_then(Measures::useful_efficiency);
    let share = analytics::units::Cycles::new(delta.unsigned_abs())
        .share_of(analytics::units::Cycles::new(before))
        .map(|it| if delta < 0 { -it } else { it });
    let percent = Cell {
        text: text::signed_percent(delta, before),
        raw: Cell::share(share).raw,
    };
    let mut cells = vec![Cell::name(&it.name), Cell::name(it.verdict.name())];
    if has_path {
        let [old, new] = it.path.unwrap_or_default();
        let on_path = [
            Cell::signed(Change::delta(old, new)),
            Cell::count(old),
            Cell::count(new),
        ];
        cells.extend(on_path);
    }
    cells.extend([
        Cell::count_or_unknown(it.before.map(|_| before)),
        Cell::count_or_unknown(it.after.map(|_| after)),
        Cell::signed(delta),
        percent,
        Cell::count_or_unknown(count(&it.before)),
        Cell::count_or_unknown(count(&it.after)),
        Cell::share(efficiency(&it.before)),
        Cell::share(efficiency(&it.after)),
    ]);
    cells
}

fn tile_of(name: &str) -> Option<u32> {
    name.strip_prefix("tile ")?.parse().ok()
}

fn tiles(section: &Section) -> (Vec<TileChange>, u64) {
    let changes = section.changes.iter().filter_map(|it| {
        let delta = Change::delta(it.before_cycles(), it.after_cycles());
        Some((tile_of(&it.name)?, delta))
    });
    let mut changes: Vec<(u32, i64)> = changes.collect();
    order::ascending(&mut changes);
    let largest = changes
        .iter()
        .map(|it| it.1.unsigned_abs())
        .max()
        .unwrap_or(0);
    let whole = analytics::units::Cycles::new(largest);
    let share = |change: i64| {
        let size = analytics::units::Cycles::new(change.unsigned_abs()).share_of(whole);
        let size = size.unwrap_or(0.0);
        if change < 0 { -size } else { size }
    };
    let tiles = changes.into_iter().map(|(tile, change)| TileChange {
        tile,
        change,
        share: share(change),
    });
    (tiles.collect(), largest)
}
