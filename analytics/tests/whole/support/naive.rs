//! The measures again, written for clarity from their definitions: no chunks, no tables, no
//! packing.

use std::collections::{BTreeMap, BTreeSet};

use analytics::clock::ClockKind;
use analytics::profile::{SampleKind, StepDescriptor};
use analytics::query::{Filter, GroupBy, Query, SortKey};

use super::ModelProfile;

/// A matching sample on the clock in force.
#[derive(Clone, Debug)]
pub(crate) struct Placed<'a> {
    pub(crate) tile: u32,
    pub(crate) ordinal: usize,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) cut: bool,
    pub(crate) step: &'a StepDescriptor,
}

/// Figures of a group, ratios excluded: those are taken from the sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Figures {
    pub(crate) samples: usize,
    pub(crate) tiles: usize,
    pub(crate) phases: usize,
    pub(crate) phase_cycles: u64,
    pub(crate) timeline_cycles: u64,
    pub(crate) work_cycles: u64,
    pub(crate) estimated_cycles: u64,
    pub(crate) useful_256ths: u64,
    pub(crate) physical_256ths: u64,
    pub(crate) p50: u64,
    pub(crate) p95: u64,
    pub(crate) maximum: u64,
    pub(crate) first: u64,
    pub(crate) last: u64,
}

/// The kind, after inactive computes became idle.
pub(crate) fn kind(step: &StepDescriptor) -> SampleKind {
    let active = step.metadata.iter().find(|(name, _)| name == "active");
    let inactive = active.is_some_and(|(_, value)| value == "false");
    match step.kind {
        SampleKind::Compute if inactive => SampleKind::Idle,
        kind => kind,
    }
}

fn matches(filter: &Filter, tile: u32, step: &StepDescriptor) -> bool {
    let tiles = &filter.tiles;
    let has = |name: &str, value: Option<&String>| {
        step.metadata
            .iter()
            .any(|(n, v)| n == name && value.is_none_or(|value| value == v))
    };
    (tiles.is_empty() || tiles.iter().any(|it| it.get() == tile))
        && (filter.phases.is_empty() || filter.phases.contains(&step.phase))
        && filter
            .kernel
            .as_ref()
            .is_none_or(|kernel| *kernel == step.kernel)
        && filter
            .operation_contains
            .as_ref()
            .is_none_or(|part| step.operation.contains(part))
        && filter.kind.is_none_or(|wanted| wanted == kind(step))
        && filter
            .metadata
            .iter()
            .all(|it| has(&it.name, it.value.as_ref()))
}

/// Zero of the clock for a tile, in true time.
fn origin(profile: &ModelProfile, clock: ClockKind, first: u64) -> u64 {
    let firsts = || profile.tiles.iter().filter_map(|tile| tile.samples.first());
    match clock {
        ClockKind::Tile => first,
        ClockKind::Shared => firsts().map(|it| it.start).min().unwrap_or(0),
        ClockKind::Cropped => firsts().map(|it| it.start).max().unwrap_or(0),
    }
}

/// End of the timeline, whatever the filters.
pub(crate) fn span(profile: &ModelProfile, clock: ClockKind) -> u64 {
    let mut span = 0;
    for tile in &profile.tiles {
        for sample in &tile.samples {
            let zero = origin(profile, clock, tile.samples[0].start);
            span = span.max((sample.start + u64::from(sample.duration)).saturating_sub(zero));
        }
    }
    span
}

/// All samples that match, in no particular order.
pub(crate) fn matching<'a>(profile: &'a ModelProfile, query: &Query) -> Vec<Placed<'a>> {
    let mut placed = Vec::new();
    for tile in &profile.tiles {
        for (ordinal, sample) in tile.samples.iter().enumerate() {
            let step = &profile.steps[sample.step];
            let first = tile.samples[0].start;
            let zero = origin(profile, query.clock, first);
            let (start, end) = (sample.start, sample.start + u64::from(sample.duration));
            let runs = |cycle: u64| start <= cycle && cycle < end;
            let keep = matches(&query.filter, tile.physical, step)
                && query.filter.at.is_none_or(|at| runs(first + at))
                && query.filter.at_offset.is_none_or(|at| runs(zero + at))
                && end > start.max(zero);
            if keep {
                placed.push(Placed {
                    tile: tile.physical,
                    ordinal,
                    start: start.max(zero) - zero,
                    end: end - zero,
                    cut: start < zero,
                    step,
                });
            }
        }
    }
    placed
}

/// Samples of each tile, tiles ascending, on `clock`.
pub(crate) fn by_tile(profile: &ModelProfile, clock: ClockKind) -> BTreeMap<u32, Vec<Placed<'_>>> {
    let mut tiles: BTreeMap<u32, Vec<_>> = profile
        .tiles
        .iter()
        .map(|tile| (tile.physical, Vec::new()))
        .collect();
    let everything = Query {
        clock,
        ..Query::default()
    };
    for sample in matching(profile, &everything) {
        tiles
            .get_mut(&sample.tile)
            .expect("its own tile")
            .push(sample);
    }
    tiles
}

/// The name of a sample's group.
pub(crate) fn group_name(group_by: &GroupBy, sample: &Placed<'_>) -> String {
    let named = |name: &str, empty: &str| if name.is_empty() { empty } else { name }.to_owned();
    let step = sample.step;
    match group_by {
        GroupBy::Kernel => named(&step.kernel, "(no kernel)"),
        GroupBy::Operation => named(&step.operation, "(no operation)"),
        GroupBy::Phase if step.phase >= 1 << 31 => {
            format!("exchange phase {}/{}", step.phase - (1 << 31), step.epoch)
        }
        GroupBy::Phase => format!("phase {}/{}", step.phase, step.epoch),
        GroupBy::Tile => format!("tile {}", sample.tile),
        GroupBy::Kind => match kind(step) {
            SampleKind::Unknown(value) => format!("unknown ({value})"),
            kind => kind.name().to_owned(),
        },
        GroupBy::Metadata(key) => {
            let found = step.metadata.iter().find(|(name, _)| name == key);
            found.map_or("(missing)".to_owned(), |(_, value)| named(value, "(empty)"))
        }
    }
}

/// The figures of some samples.
pub(crate) fn figures(samples: &[Placed<'_>]) -> Figures {
    let length = |it: &Placed<'_>| it.end - it.start;
    let mut durations: Vec<u64> = samples.iter().map(length).collect();
    durations.sort_unstable();
    let percentile = |p: usize| durations[(durations.len() - 1) * p / 100];
    let mut by_phase: BTreeMap<(u32, u32), BTreeMap<u32, u64>> = BTreeMap::new();
    for sample in samples {
        let phase = by_phase
            .entry((sample.step.phase, sample.step.epoch))
            .or_default();
        *phase.entry(sample.tile).or_default() += length(sample);
    }
    let longest = |tiles: &BTreeMap<u32, u64>| tiles.values().copied().max().unwrap_or(0);
    let covered = || {
        samples
            .iter()
            .filter(|it| !it.cut && it.step.estimate.is_some())
    };
    let work = |it: &Placed<'_>| it.step.estimate.clone().expect("covered samples have one");
    Figures {
        samples: samples.len(),
        tiles: samples
            .iter()
            .map(|it| it.tile)
            .collect::<BTreeSet<_>>()
            .len(),
        phases: by_phase.len(),
        phase_cycles: by_phase.values().map(longest).sum(),
        timeline_cycles: union(samples),
        work_cycles: durations.iter().sum(),
        estimated_cycles: covered().map(length).sum(),
        useful_256ths: covered().map(|it| work(it).useful.get_256ths()).sum(),
        physical_256ths: covered().map(|it| work(it).physical.get_256ths()).sum(),
        p50: percentile(50),
        p95: percentile(95),
        maximum: percentile(100),
        first: samples.iter().map(|it| it.start).min().unwrap_or(0),
        last: samples.iter().map(|it| it.end).max().unwrap_or(0),
    }
}

fn union(samples: &[Placed<'_>]) -> u64 {
    let mut intervals: Vec<(u64, u64)> = samples.iter().map(|it| (it.start, it.end)).collect();
    intervals.sort_unstable();
    let (mut covered, mut end) = (0, 0);
    for (from, to) in intervals {
        covered += to.max(end) - from.max(end);
        end = end.max(to);
    }
    covered
}

/// The figure of a sort key for a group of a profile of so many tiles; `None` where unknown.
pub(crate) fn figure(key: SortKey, it: &Figures, profiled_tiles: usize) -> Option<f64> {
    let float = |value: u64| value as f64;
    let count = |value: usize| value as f64;
    let over = |a: f64, b: f64| (b > 0.0).then(|| a / b);
    let known = it.estimated_cycles > 0;
    let useful = known.then(|| float(it.useful_256ths) / 256.0);
    let physical = known.then(|| float(it.physical_256ths) / 256.0);
    let (estimated, work) = (float(it.estimated_cycles), float(it.work_cycles));
    match key {
        SortKey::PhaseCycles => Some(float(it.phase_cycles)),
        SortKey::WorkCycles => Some(work),
        SortKey::TimelineCycles => Some(float(it.timeline_cycles)),
        SortKey::MaximumCycles => Some(float(it.maximum)),
        SortKey::MeanCycles => over(work, count(it.samples)),
        SortKey::P50Cycles => Some(float(it.p50)),
        SortKey::P95Cycles => Some(float(it.p95)),
        SortKey::Samples => Some(count(it.samples)),
        SortKey::Tiles => Some(count(it.tiles)),
        SortKey::Phases => Some(count(it.phases)),
        SortKey::AverageActiveTiles => over(work, float(it.phase_cycles)),
        SortKey::UsefulCycles => useful,
        SortKey::WastedCycles => Some(estimated - useful?),
        SortKey::PhysicalWorkCycles => physical,
        SortKey::EstimatedWorkCycles => Some(estimated),
        SortKey::UsefulEfficiency => over(useful?, estimated),
        SortKey::WorkCycleFraction => over(physical?, estimated),
        SortKey::LaneOccupancy => over(useful?, physical?),
        SortKey::DeviceUseful => over(useful?, float(it.timeline_cycles) * count(profiled_tiles)),
        SortKey::Coverage => over(estimated, work),
        SortKey::FirstOffset => Some(float(it.first)),
        SortKey::LastOffset => Some(float(it.last)),
        SortKey::Name => None,
    }
}

/// A name as the numbers and characters that it is ordered by: numbers by their length without
/// leading zeros, then digit by digit.
type NameRank = (Vec<(u8, usize, String)>, String);

fn name_rank(name: &str) -> NameRank {
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.bytes().next() {
        let is_other = |it: char| !it.is_ascii_digit();
        let digits = &rest[..rest.find(is_other).unwrap_or(rest.len())];
        if digits.is_empty() {
            let length = rest.chars().next().map_or(1, char::len_utf8);
            parts.extend(rest.bytes().take(length).map(|it| (it, 0, String::new())));
            rest = &rest[length..];
        } else {
            let number = digits.trim_start_matches('0');
            parts.push((b'0'.min(first), number.len(), number.to_owned()));
            rest = &rest[digits.len()..];
        }
    }
    (parts, name.to_owned())
}

/// The names of all groups in the order that a question asks for.
pub(crate) fn ordered(profile: &ModelProfile, query: &Query) -> Vec<String> {
    let mut groups: BTreeMap<NameRank, Vec<Placed<'_>>> = BTreeMap::new();
    for sample in matching(profile, query) {
        let rank = name_rank(&group_name(&query.group_by, &sample));
        groups.entry(rank).or_default().push(sample);
    }
    let mut rows: Vec<_> = groups
        .into_iter()
        .map(|(rank, samples)| {
            let figures = figures(&samples);
            let figure = figure(query.sort_by, &figures, profile.tiles.len());
            let descending = match (query.sort_by, figure) {
                (SortKey::Name | SortKey::FirstOffset, _) | (_, None) => f64::NEG_INFINITY,
                (_, Some(figure)) => figure,
            };
            let first = if query.sort_by == SortKey::Name {
                0
            } else {
                figures.first
            };
            (descending, first, rank)
        })
        .collect();
    rows.sort_by(|a, b| {
        b.0.total_cmp(&a.0)
            .then_with(|| (a.1, &a.2).cmp(&(b.1, &b.2)))
    });
    rows.into_iter().map(|(_, _, (_, name))| name).collect()
}
