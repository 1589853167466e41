//! Two profiles compared, as JSON.

use serde::Serialize;

use super::json::pretty;
use crate::aggregate::{Measures, float, ratio};
use crate::critical::Parts;
use crate::diff::{Change, ProfileDiff, Section, Side, Verdict};
use crate::profile::PhaseKey;

/// Name and version of the contract.
pub const DIFF_SCHEMA: &str = "ipu-stack/profile-diff/1";

/// The comparison as pretty JSON with a final newline: `limit` changes of each section, 0 is all.
#[must_use]
pub fn diff_json(diff: &ProfileDiff, limit: usize) -> String {
    let (before, after) = (diff.before.run, diff.after.run);
    let delta = Change::delta(before, after);
    let section = |section| SectionJson::new(section, limit);
    pretty(&Report {
        schema: DIFF_SCHEMA,
        clock: diff.clock.name(),
        noise_cycles: diff.noise,
        before: SideJson::new(&diff.before),
        after: SideJson::new(&diff.after),
        run: RunJson {
            verdict: diff.verdict.name(),
            before_cycles: before,
            after_cycles: after,
            change_cycles: delta,
            change_fraction: fraction(delta, before),
            unattributed_before_cycles: diff.unattributed.map(|it| it[0]),
            unattributed_after_cycles: diff.unattributed.map(|it| it[1]),
        },
        kinds: section(&diff.kinds),
        kernels: section(&diff.kernels),
        operations: section(&diff.operations),
        phases: section(&diff.phases),
        tiles: section(&diff.tiles),
        warnings: &diff.warnings,
    })
}

/// A signed change as a fraction of `before`; `None` where that is zero.
fn fraction(change: i64, before: u64) -> Option<f64> {
    let size = ratio(float(change.unsigned_abs()), before)?;
    Some(if change < 0 { -size } else { size })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    schema: &'static str,
    clock: &'static str,
    noise_cycles: u64,
    before: SideJson,
    after: SideJson,
    run: RunJson,
    kinds: SectionJson<'a>,
    kernels: SectionJson<'a>,
    operations: SectionJson<'a>,
    phases: SectionJson<'a>,
    tiles: SectionJson<'a>,
    warnings: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SideJson {
    clock_hz: Option<u64>,
    tile_count: u64,
    sample_count: u64,
    granularity: &'static str,
    profile_span_cycles: u64,
}

impl SideJson {
    fn new(side: &Side) -> Self {
        Self {
            clock_hz: (side.clock_hz > 0).then_some(side.clock_hz),
            tile_count: side.tile_count,
            sample_count: side.sample_count,
            granularity: side.granularity.name(),
            profile_span_cycles: side.run,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunJson {
    verdict: &'static str,
    before_cycles: u64,
    after_cycles: u64,
    change_cycles: i64,
    change_fraction: Option<f64>,
    unattributed_before_cycles: Option<u64>,
    unattributed_after_cycles: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SectionJson<'a> {
    change_count: usize,
    shown_change_count: usize,
    counts: CountsJson,
    changes: Vec<ChangeJson<'a>>,
}

#[derive(Serialize)]
struct CountsJson {
    slower: usize,
    faster: usize,
    new: usize,
    gone: usize,
    same: usize,
}

impl<'a> SectionJson<'a> {
    fn new(section: &'a Section, limit: usize) -> Self {
        let all = section.changes.len();
        let shown = if limit == 0 { all } else { limit.min(all) };
        Self {
            change_count: all,
            shown_change_count: shown,
            counts: CountsJson {
                slower: section.count(Verdict::Slower),
                faster: section.count(Verdict::Faster),
                new: section.count(Verdict::New),
                gone: section.count(Verdict::Gone),
                same: section.count(Verdict::Same),
            },
            changes: section.changes[..shown]
                .iter()
                .map(ChangeJson::new)
                .collect(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChangeJson<'a> {
    name: &'a str,
    verdict: &'static str,
    change_cycles: i64,
    change_fraction: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    work: Option<&'a str>,
    path_before_cycles: Option<u64>,
    path_after_cycles: Option<u64>,
    path_change_cycles: Option<i64>,
    path_change_by_kind: Option<PathJson>,
    useful_utilization_change: Option<f64>,
    before: Option<FiguresJson>,
    after: Option<FiguresJson>,
}

impl<'a> ChangeJson<'a> {
    fn new(it: &'a Change) -> Self {
        let (before, after) = (it.before_cycles(), it.after_cycles());
        let change = Change::delta(before, after);
        let figures = |measures: Option<Measures>, place| {
            measures.map(|measures| FiguresJson::new(&measures, place))
        };
        Self {
            name: &it.name,
            verdict: it.verdict.name(),
            change_cycles: change,
            change_fraction: fraction(change, before),
            work: (!it.work.is_empty()).then_some(it.work.as_str()),
            path_before_cycles: it.path.map(|path| path[0].total()),
            path_after_cycles: it.path.map(|path| path[1].total()),
            path_change_cycles: it.path_change(),
            path_change_by_kind: it.path.map(PathJson::new),
            useful_utilization_change: it.efficiency_delta(),
            before: figures(it.before, it.before_place),
            after: figures(it.after, it.after_place),
        }
    }
}

/// Cycles on the critical path, after minus before; they sum to the change on the path.
#[derive(Serialize)]
struct PathJson {
    compute: i64,
    exchange: i64,
    synchronization: i64,
    idle: i64,
}

impl PathJson {
    const fn new([before, after]: [Parts; 2]) -> Self {
        Self {
            compute: Change::delta(before.compute, after.compute),
            exchange: Change::delta(before.exchange, after.exchange),
            synchronization: Change::delta(before.barrier, after.barrier),
            idle: Change::delta(before.idle, after.idle),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FiguresJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch: Option<u32>,
    phase_cycles: u64,
    work_cycles: u64,
    timeline_cycles: u64,
    sample_count: u64,
    tile_count: u64,
    useful_utilization: Option<f64>,
    coverage: Option<f64>,
}

impl FiguresJson {
    fn new(it: &Measures, place: Option<PhaseKey>) -> Self {
        Self {
            phase: place.map(|it| it.phase),
            epoch: place.map(|it| it.epoch),
            phase_cycles: it.phase_cycles.get(),
            work_cycles: it.work_cycles.get(),
            timeline_cycles: it.timeline_cycles.get(),
            sample_count: it.sample_count,
            tile_count: it.tile_count,
            useful_utilization: it.useful_efficiency(),
            coverage: it.coverage(),
        }
    }
}
