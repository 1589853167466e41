//! An answer before any sample is read: the sums that the file's writer kept.

use super::filter::matching_steps;
use super::{Filter, Group, GroupBy, GroupKey, Query, QueryResult, answer};
use crate::aggregate::Measures;
use crate::clock::ClockKind;
use crate::profile::{KernelSummary, ProfileReport};

/// Answers `query` from the file's summary, or `None` where the summary cannot: it holds kernels of
/// one kind, all of them or one, on the cropped clock.
///
/// What the summary lacks stays zero and must not be shown: phase counts, phase cycles and offsets
/// of all figures; percentiles and the timeline of the totals.
#[must_use]
pub fn query_summary(report: &ProfileReport, query: &Query) -> Option<QueryResult> {
    let summary = report.summary()?;
    let kind = query.filter.kind?;
    let kernel = query.filter.kernel.as_deref();
    let plain = Filter {
        kind: Some(kind),
        kernel: query.filter.kernel.clone(),
        ..Filter::default()
    };
    let answerable = query.clock == ClockKind::Cropped
        && query.group_by == GroupBy::Kernel
        && query.samples == 0
        && query.filter == plain;
    if !answerable {
        return None;
    }
    let tiles = report.tiles().len() as u64;
    let is_asked = |row: &&KernelSummary| {
        row.kind == kind && kernel.is_none_or(|it| report.string(row.kernel) == it)
    };
    let rows = summary.rows.iter().filter(is_asked);
    let groups: Vec<Group> = rows
        .map(|row| {
            let key = GroupKey::Kernel(report.string(row.kernel).to_owned());
            Group::new(key, measures(row, tiles))
        })
        .collect();
    let totals = totals(&groups, tiles);
    let matches = matching_steps(report, &query.filter);
    answer(report, query, &matches, totals, groups).ok()
}

fn measures(row: &KernelSummary, profiled_tiles: u64) -> Measures {
    Measures {
        sample_count: row.sample_count,
        tile_count: u64::from(row.tile_count),
        timeline_cycles: row.timeline_cycles,
        work_cycles: row.work_cycles,
        estimated_cycles: row.covered_cycles,
        useful_sum: row.useful,
        physical_sum: row.physical,
        p50: row.p50_cycles,
        p95: row.p95_cycles,
        maximum: row.maximum_cycles,
        profiled_tiles,
        ..Measures::default()
    }
}

fn totals(groups: &[Group], profiled_tiles: u64) -> Measures {
    let mut totals = Measures {
        profiled_tiles,
        ..Measures::default()
    };
    for Group { measures, .. } in groups {
        totals.sample_count += measures.sample_count;
        totals.work_cycles += measures.work_cycles;
        totals.estimated_cycles += measures.estimated_cycles;
        totals.useful_sum += measures.useful_sum;
        totals.physical_sum += measures.physical_sum;
        totals.maximum = totals.maximum.max(measures.maximum);
    }
    totals
}
