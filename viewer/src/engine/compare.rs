//! The open profile against another one: what became slower, faster, new or gone.

use std::rc::Rc;

use analytics::aggregate::Measures;
use analytics::clock::ClockKind;
use analytics::diff::{Change, DiffError, DiffOptions, ProfileDiff, Section, Side, diff};
use analytics::order;
use analytics::report::{diff_json, diff_parts};
use analytics::text;
use analytics::units::Cycles;
use serde::{Deserialize, Serialize};

use super::cause::{Cause, Failure};
use super::changes::{changes, sides};
use super::list::{List, cycles_with_time};
use super::panel::Sources;
use super::protocol::{Fact, clock_name};
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
    /// Largest of them, either way, of tiles that compute in both.
    pub(crate) largest: u64,
    /// What a reader should know first.
    pub(crate) warnings: Vec<String>,
}

/// What one tile computes more or less.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TileChange {
    /// Physical id.
    pub(crate) tile: u32,
    /// Cycles after minus before.
    pub(crate) change: i64,
    /// The same as a part of the largest change, -1..=1; a larger one is all of it.
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
) -> Result<Result<Rc<ProfileDiff>, DiffError>, Failure> {
    let options = DiffOptions {
        clock: asked.clock,
        noise: None,
        force: asked.force,
    };
    let compared = sources.compared()?;
    let question = (options, asked.swapped);
    if let Some((of, found)) = compared.found.borrow().as_ref()
        && *of == question
    {
        return Ok(Ok(Rc::clone(found)));
    }
    let (open, other) = (sources.report, &compared.report);
    let (before, after) = match asked.swapped {
        true => (open, other),
        false => (other, open),
    };
    Ok(diff(before, after, &options).map(|found| {
        let found = Rc::new(found);
        *compared.found.borrow_mut() = Some((question, Rc::clone(&found)));
        found
    }))
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
        .map(|(count, name)| format!("{} {name}", text::count(count as u64)))
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
    facts.push(Fact::new("counts", "Rows", counts.join(", ")));
    if found.noise > 0 {
        let cycles = format!("{} cycles", text::count(found.noise));
        facts.push(Fact::new("noise", "Noise", cycles));
    }
    facts
}

/// The physical id in the name of a tile.
pub(super) fn tile_of(name: &str) -> Option<u32> {
    name.strip_prefix("tile ")?.parse().ok()
}

/// The change of each tile, and the largest of those that compute in both: what computes in one
/// alone is all change and would hide the others.
fn tiles(section: &Section) -> (Vec<TileChange>, u64) {
    let change = |it: &Change| Change::delta(it.before_cycles(), it.after_cycles());
    let in_both = section.changes.iter();
    let in_both = in_both.filter(|it| it.before.is_some() && it.after.is_some());
    let largest = in_both.map(|it| change(it).unsigned_abs()).max();
    let alone = section.changes.iter().map(|it| change(it).unsigned_abs());
    let largest = largest.filter(|it| *it > 0).or_else(|| alone.max());
    let largest = largest.unwrap_or(0);
    let changes = section.changes.iter();
    let changes = changes.filter_map(|it| Some((tile_of(&it.name)?, change(it))));
    let mut changes: Vec<(u32, i64)> = changes.collect();
    order::ascending(&mut changes);
    let share = |change: i64| {
        let size = Cycles::new(change.unsigned_abs().min(largest)).share_of(Cycles::new(largest));
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
