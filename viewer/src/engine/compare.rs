//! The open profile against another one: what became slower, faster, new or gone.

use analytics::aggregate::Measures;
use analytics::clock::ClockKind;
use analytics::diff::{Change, DiffError, DiffOptions, ProfileDiff, Section, Side, diff};
use analytics::order;
use analytics::report::diff_json;
use analytics::text;
use serde::{Deserialize, Serialize};

use super::cause::{Cause, Failure};
use super::list::{List, Press, cycles_with_time};
use super::panel::Sources;
use super::protocol::{Fact, clock_name};
use super::table::Cell;
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

/// What `profile-diff OTHER OPEN --json --limit 0` prints.
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
    Ok(diff(sources.other()?, sources.report, &options))
}

fn fill(answer: &mut CompareAnswer, found: &ProfileDiff) {
    let section = match answer.asked.pairs {
        Pairs::Kernel => &found.kernels,
        Pairs::Operation => &found.operations,
        Pairs::Phase => &found.phases,
        Pairs::Tile => &found.tiles,
        Pairs::Kind => &found.kinds,
    };
    answer.facts = facts(found, section);
    answer.changes = changes(section, answer.asked.pairs);
    let start = |it: &Option<Measures>| it.as_ref().map(|it| it.first_offset);
    let starts = section.changes.iter();
    answer.starts = starts
        .map(|it| (start(&it.after), start(&it.before)))
        .collect();
    (answer.tiles, answer.largest) = tiles(&found.tiles);
    answer.warnings.clone_from(&found.warnings);
}

fn facts(found: &ProfileDiff, section: &Section) -> Vec<Fact> {
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
    vec![
        Fact::new("before", "Compared with", side(&found.before)),
        Fact::new("after", "This profile", side(&found.after)),
        Fact::new("run", "The run is", change),
        Fact::new("counts", "Rows", counts.join(", ")),
        Fact::new(
            "noise",
            "Noise",
            format!("{} cycles", text::count(found.noise)),
        ),
    ]
}

fn changes(section: &Section, pairs: Pairs) -> List {
    let mut list = List::new(&[
        (
            "name",
            pairs.heading(),
            "What is compared; press to look at it",
        ),
        (
            "verdict",
            "Became",
            "By phase cycles; a change within the noise is none",
        ),
        ("before", "Before", "Phase cycles in the other profile"),
        ("after", "After", "Phase cycles in this profile"),
        ("change", "Change", "After minus before"),
        ("changeShare", "Change, %", "The same as a part of before"),
        (
            "samplesBefore",
            "Samples before",
            "Samples in the other profile",
        ),
        ("samplesAfter", "Samples after", "Samples in this profile"),
        (
            "efficiencyBefore",
            "U/D before",
            "Useful efficiency in the other profile",
        ),
        (
            "efficiencyAfter",
            "U/D after",
            "Useful efficiency in this profile",
        ),
    ]);
    for it in &section.changes {
        list.push(press(it, pairs), row(it));
    }
    list.with_bars("change")
}

fn press(it: &Change, pairs: Pairs) -> Press {
    let after = it.after.as_ref();
    let jump = after.map(|it| Press::Jump(it.first_offset, it.last_offset));
    match pairs {
        Pairs::Kernel if after.is_some() => Press::Kernel(it.name.clone()),
        Pairs::Phase | Pairs::Operation => jump.unwrap_or_default(),
        Pairs::Tile => tile_of(&it.name).map_or(Press::Nothing, Press::Tile),
        Pairs::Kernel | Pairs::Kind => Press::Nothing,
    }
}

fn row(it: &Change) -> Vec<Cell> {
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
    vec![
        Cell::name(&it.name),
        Cell::name(it.verdict.name()),
        Cell::count_or_unknown(it.before.map(|_| before)),
        Cell::count_or_unknown(it.after.map(|_| after)),
        Cell::signed(delta),
        percent,
        Cell::count_or_unknown(count(&it.before)),
        Cell::count_or_unknown(count(&it.after)),
        Cell::share(efficiency(&it.before)),
        Cell::share(efficiency(&it.after)),
    ]
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
