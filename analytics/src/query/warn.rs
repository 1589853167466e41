//! Warnings: what a reader should know before trusting an answer, near names of a miss included.

use std::collections::BTreeSet;

use crate::clock::{ClockKind, Frame};
use crate::order;
use crate::profile::{ProfileReport, SampleKind, StepRow};
use crate::query::filter::{holds_in, metadata_set_ids};
use crate::query::group::EXCHANGE_BIT;
use crate::query::{Filter, GroupBy, MetadataFilter, Query};
use crate::units::{Cycles, StringId};

/// Near names listed for one miss.
const NEAR: usize = 3;

/// All warnings about an answer with `matched` samples.
pub(crate) fn warnings(
    report: &ProfileReport,
    query: &Query,
    matching_steps: &[bool],
    matched: u64,
    span: Cycles,
) -> Vec<String> {
    let mut warnings = Vec::new();
    misses(report, &query.filter, &mut warnings);
    if matched == 0 && report.sample_count() > 0 {
        empty_answer(report, query, span, &mut warnings);
    }
    warnings.splice(0..0, report.warnings());
    if query.group_by == GroupBy::Phase && phases_may_be_local(report, matching_steps) {
        warnings.push(
            "compute phase numbers of this file may be local to a tile: equal numbers on two tiles \
             may be unrelated"
                .to_owned(),
        );
    }
    estimate_flags(report, matching_steps, &mut warnings);
    warnings
}

/// Conditions that no tile or step of the file meets.
fn misses(report: &ProfileReport, filter: &Filter, warnings: &mut Vec<String>) {
    for &tile in &filter.tiles {
        if report.tile_index(tile).is_none() {
            let ends = (report.tiles().first(), report.tiles().last());
            let known = match ends {
                (Some(first), Some(last)) => format!("tiles are {} to {}", first.tile, last.tile),
                _ => "the file has no tiles".to_owned(),
            };
            warnings.push(format!("tile {tile} was not profiled; {known}"));
        }
    }
    for &phase in &filter.phases {
        if !report.phases().iter().any(|key| key.phase == phase) {
            warnings.push(missing_phase(report, phase));
        }
    }
    let kernel = filter.kernel.as_deref();
    warnings.extend(kernel.and_then(|it| missing_kernel(report, it)));
    if let Some(part) = &filter.operation_contains {
        let names = texts(report, report.operations());
        if !names.iter().any(|name| name.contains(part.as_str())) {
            warnings.push(miss("no operation contains", part, &names));
        }
    }
    for condition in &filter.metadata {
        metadata_miss(report, condition, warnings);
    }
}

/// A warning with near names, where no step runs a kernel of exactly this name.
pub(crate) fn missing_kernel(report: &ProfileReport, kernel: &str) -> Option<String> {
    let names = texts(report, report.kernels());
    (!names.contains(kernel)).then(|| miss("no kernel is named", kernel, &names))
}

fn missing_phase(report: &ProfileReport, phase: u32) -> String {
    let exchange = phase | EXCHANGE_BIT;
    if report.phases().iter().any(|key| key.phase == exchange) {
        return format!(
            "no step has phase {phase}; exchange phase {phase} is recorded as {exchange}"
        );
    }
    let last = report
        .phases()
        .iter()
        .map(|key| key.phase & !EXCHANGE_BIT)
        .max();
    format!(
        "no step has phase {phase}; the last one is {}",
        last.unwrap_or(0)
    )
}

fn metadata_miss(report: &ProfileReport, condition: &MetadataFilter, warnings: &mut Vec<String>) {
    if metadata_set_ids(report).any(|set| holds_in(report, set, condition)) {
        return;
    }
    let pairs = || metadata_set_ids(report).flat_map(|set| report.metadata(set));
    let names = order::set(pairs().map(|(name, _)| name));
    if !names.contains(condition.name.as_str()) {
        warnings.push(miss("no step has metadata", &condition.name, &names));
    } else if let Some(value) = &condition.value {
        let named = pairs().filter(|(name, _)| *name == condition.name);
        let values = order::set(named.map(|(_, it)| it));
        let what = format!("metadata {} never has the value", condition.name);
        warnings.push(miss(&what, value, &values));
    }
}

fn empty_answer(report: &ProfileReport, query: &Query, span: Cycles, warnings: &mut Vec<String>) {
    let mut past = |at: Option<u64>, clock: ClockKind, span: Cycles| {
        if at.is_some_and(|at| at >= span.get()) {
            let (end, clock) = (span.get(), clock.name());
            warnings.push(format!("the timeline ends at {end} on the {clock} clock"));
        }
    };
    past(query.filter.at_offset, query.clock, span);
    if query.filter.at.is_some() {
        // Pages that are not here say nothing: they are no reason to warn.
        if let Ok(span) = Frame::new(report, ClockKind::Tile).span(report) {
            past(query.filter.at, ClockKind::Tile, span);
        }
    }
    if warnings.is_empty() {
        warnings.push("no sample meets all the conditions together".to_owned());
    }
}

/// Whether the file numbers exchanges apart and compute phases by tile, as older writers did.
fn phases_may_be_local(report: &ProfileReport, matching_steps: &[bool]) -> bool {
    let is_local =
        |step: &StepRow| step.kind == SampleKind::Compute && step.place.phase & EXCHANGE_BIT == 0;
    let numbered_apart = report
        .phases()
        .iter()
        .any(|key| key.phase & EXCHANGE_BIT != 0);
    let steps = || report.steps().iter().zip(matching_steps);
    report.header().row_schema_version > 0
        && numbered_apart
        && steps().any(|(step, &matches)| matches && is_local(step))
}

fn estimate_flags(report: &ProfileReport, matching_steps: &[bool], warnings: &mut Vec<String>) {
    let steps = report
        .steps()
        .iter()
        .zip(matching_steps)
        .filter(|(_, matches)| **matches);
    let (mut above, mut rounded) = (0u64, 0u64);
    for estimate in steps.filter_map(|(step, _)| step.estimate.as_ref()) {
        above += u64::from(estimate.useful > estimate.physical);
        rounded += u64::from(estimate.rounded);
    }
    if above > 0 {
        warnings.push(format!(
            "{above} matching steps claim more useful than physical work; shown as recorded"
        ));
    }
    if rounded > 0 {
        warnings.push(format!(
            "work of {rounded} matching steps was rounded to 1/256 issue-cycle"
        ));
    }
}

fn texts<'r>(report: &'r ProfileReport, ids: &[StringId]) -> BTreeSet<&'r str> {
    order::set(ids.iter().map(|&id| report.string(id)))
}

fn miss(what: &str, wanted: &str, names: &BTreeSet<&str>) -> String {
    let near = near_names(wanted, names.iter().copied());
    if near.is_empty() {
        return format!("{what} `{wanted}`");
    }
    let quoted: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    format!("{what} `{wanted}`; near: {}", quoted.join(", "))
}

/// The names nearest to `wanted`: those that hold it in any case first, then by edit distance up to
/// a third of its length.
fn near_names<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let wanted = wanted.to_lowercase();
    let length = wanted.chars().count();
    let mut ranked: Vec<(usize, &str)> = names
        .filter(|name| !name.is_empty())
        .filter_map(|name| {
            let lower = name.to_lowercase();
            if lower.contains(&wanted) {
                return Some((0, name));
            }
            let distance = edit_distance(&wanted, &lower);
            (distance <= (length / 3).max(1)).then_some((distance, name))
        })
        .collect();
    order::ascending(&mut ranked);
    ranked
        .into_iter()
        .take(NEAR)
        .map(|(_, name)| name)
        .collect()
}

/// Insertions, deletions and replacements that turn `a` into `b`, over the first 64 characters.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(64).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_hold_the_word_or_are_a_few_letters_away() {
        let names = ["gelu", "gemm_f16", "gemm_f32", "softmax", ""];
        let near = |wanted| near_names(wanted, names.into_iter());
        assert_eq!(near("GEMM"), ["gemm_f16", "gemm_f32"]);
        assert_eq!(near("gemn_f16"), ["gemm_f16"]);
        assert_eq!(near("soft_max"), ["softmax"]);
        assert!(near("transpose").is_empty());
    }

    #[test]
    fn edit_distance_counts_single_changes() {
        for (a, b, distance) in [("", "", 0), ("a", "", 1), ("kitten", "sitting", 3)] {
            assert_eq!(edit_distance(a, b), distance, "{a} to {b}");
        }
    }
}
