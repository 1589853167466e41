//! One question to a profile: [`ProfileReport`] and [`Query`] in, [`QueryResult`] out.
//!
//! Filters are conditions that must all hold and are applied before grouping. Samples of no length
//! on the clock in force never match. Groups are sorted, then limited; the answer says how many
//! there were. Which samples match never changes the span or the number of profiled tiles.

mod cumulative;
mod detail;
mod error;
mod filter;
mod from_summary;
mod group;
mod histogram;
mod model;
mod names;
mod sort;
mod warn;
mod words;

pub use cumulative::{CUMULATIVE_POINTS, Cumulative, CumulativePoint, cumulative};
pub use error::QueryError;
pub use from_summary::query_summary;
pub use histogram::{Bin, Histogram, histogram};
pub use model::{
    Filter, Group, GroupBy, GroupKey, MetadataFilter, Query, QueryResult, SampleDetail,
};
pub use names::{GROUP_BY_NAMES, KIND_NAMES, clock_from_name, kind_from_name, sort_key_from_name};
pub use sort::SortKey;
pub use words::WORDS;

pub(crate) use detail::detail;
pub(crate) use group::place_name;
pub(crate) use warn::missing_kernel;

use crate::aggregate::{Measures, Plan, aggregate};
use crate::clock::Frame;
use crate::order;
use crate::profile::{ProfileReport, SampleKind};
use group::Groups;

/// Answers `query` from `report`.
///
/// A filter that matches nothing is no error: the answer is empty and warns with near names.
///
/// # Errors
/// Where a sample chunk cannot be decoded.
pub fn query(report: &ProfileReport, query: &Query) -> Result<QueryResult, QueryError> {
    let matches = filter::matching_steps(report, &query.filter);
    query_steps(report, query, &matches)
}

/// The same of the samples in which a tile works: without synchronization, idle and what is
/// unknown.
pub(crate) fn query_of_work(
    report: &ProfileReport,
    query: &Query,
) -> Result<QueryResult, QueryError> {
    let mut matches = filter::matching_steps(report, &query.filter);
    for (matches, step) in matches.iter_mut().zip(report.steps()) {
        *matches &= matches!(step.kind, SampleKind::Compute | SampleKind::Exchange);
    }
    query_steps(report, query, &matches)
}

fn query_steps(
    report: &ProfileReport,
    query: &Query,
    matches: &[bool],
) -> Result<QueryResult, QueryError> {
    let frame = Frame::new(report, query.clock);
    let selection = filter::selection(report, &query.filter);
    let groups = Groups::new(report, &query.group_by, matches.to_vec());
    let plan = Plan::new(report, frame, &groups.grouping, selection, query.samples);
    let found = aggregate(&plan)?;
    let rows = found.groups.into_iter();
    let rows = rows.map(|(id, measures)| Group::new(groups.key(report, id), measures));
    let groups = rows.collect();
    let mut answer = answer(report, query, matches, found.totals, groups)?;
    let longest = found.longest.iter();
    answer.samples = longest.map(|sample| detail(report, sample)).collect();
    Ok(answer)
}

/// The answer with these figures: groups in any order, and no samples.
fn answer(
    report: &ProfileReport,
    query: &Query,
    matching_steps: &[bool],
    totals: Measures,
    mut groups: Vec<Group>,
) -> Result<QueryResult, QueryError> {
    let span = Frame::new(report, query.clock).span(report)?;
    let warnings = warn::warnings(report, query, matching_steps, totals.sample_count, span);
    let group_count = groups.len();
    order::by(&mut groups, |a, b| query.sort_by.compare(a, b));
    if query.limit > 0 {
        groups.truncate(query.limit);
    }
    Ok(QueryResult {
        clock: query.clock,
        clock_hz: report.header().clock_hz,
        tile_count: report.tiles().len() as u64,
        sample_count: report.sample_count(),
        span,
        group_by: query.group_by.clone(),
        sort_by: query.sort_by,
        filter: query.filter.clone(),
        totals,
        group_count,
        groups,
        samples: Vec::new(),
        warnings,
    })
}
