//! Conditions on steps and tiles: a report and a [`Filter`] in, one flag a step or tile out, or the
//! samples that meet it.
//!
//! Conditions on names are decided once for each kernel, operation and metadata set, not for each
//! step, since steps that differ in one operand can be many.

use crate::aggregate::{Selection, runs_at};
use crate::clock::{Frame, Placed};
use crate::format::DecodeError;
use crate::profile::{ProfileReport, StepRow};
use crate::query::{Filter, MetadataFilter};
use crate::units::{MetadataSetId, StringId};

/// One flag a step: whether its samples may match.
pub(crate) fn matching_steps(report: &ProfileReport, filter: &Filter) -> Vec<bool> {
    let kernels = names(report, report.kernels(), |name| {
        filter.kernel.as_ref().is_none_or(|kernel| kernel == name)
    });
    let operations = names(report, report.operations(), |name| {
        filter
            .operation_contains
            .as_ref()
            .is_none_or(|part| name.contains(part.as_str()))
    });
    let metadata = metadata_sets(report, &filter.metadata);
    let matches = |step: &StepRow| {
        kernels[step.kernel_row as usize]
            && operations[step.operation_row as usize]
            && filter.kind.is_none_or(|kind| kind == step.kind)
            && (filter.phases.is_empty() || filter.phases.contains(&step.place.phase))
            && metadata
                .get(step.metadata.index())
                .is_none_or(|&matches| matches)
    };
    report.steps().iter().map(matches).collect()
}

/// The conditions that are decided sample by sample.
pub(crate) fn selection(report: &ProfileReport, filter: &Filter) -> Selection {
    let selected = |tile| filter.tiles.is_empty() || filter.tiles.contains(&tile);
    Selection {
        tiles: report
            .tiles()
            .iter()
            .map(|entry| selected(entry.tile))
            .collect(),
        at: filter.at,
        at_offset: filter.at_offset,
    }
}

/// Calls `visit` for every sample that meets `filter`, with its step and its place in `frame`.
pub(super) fn visit_matching(
    report: &ProfileReport,
    filter: &Filter,
    frame: Frame,
    mut visit: impl FnMut(&StepRow, Placed),
) -> Result<(), DecodeError> {
    let steps = matching_steps(report, filter);
    let selection = selection(report, filter);
    report.visit_samples(|sample| {
        let tile = &report.tiles()[sample.tile as usize];
        let runs = |cycle| runs_at(sample.start, sample.duration, cycle);
        let on_tile = |at: u64| runs(tile.first_start.saturating_add(at));
        let on_clock = |at: u64| runs(frame.origin(tile).saturating_add(at));
        let matches = steps[sample.step as usize]
            && selection.tiles[sample.tile as usize]
            && filter.at.is_none_or(on_tile)
            && filter.at_offset.is_none_or(on_clock);
        let placed = frame.place(tile, sample.start, sample.duration);
        if let Some(placed) = placed.filter(|_| matches) {
            visit(&report.steps()[sample.step as usize], placed);
        }
    })
}

fn names(report: &ProfileReport, ids: &[StringId], matches: impl Fn(&str) -> bool) -> Vec<bool> {
    ids.iter().map(|&id| matches(report.string(id))).collect()
}

/// One flag a metadata set; empty where there is no condition.
fn metadata_sets(report: &ProfileReport, conditions: &[MetadataFilter]) -> Vec<bool> {
    if conditions.is_empty() {
        return Vec::new();
    }
    let holds = |set: MetadataSetId| {
        conditions
            .iter()
            .all(|condition| holds_in(report, set, condition))
    };
    metadata_set_ids(report).map(holds).collect()
}

/// Whether some pair of `set` meets `condition`.
pub(crate) fn holds_in(
    report: &ProfileReport,
    set: MetadataSetId,
    condition: &MetadataFilter,
) -> bool {
    report.metadata(set).any(|(name, value)| {
        name == condition.name
            && condition
                .value
                .as_ref()
                .is_none_or(|wanted| wanted == value)
    })
}

/// All metadata sets of the report.
pub(crate) fn metadata_set_ids(report: &ProfileReport) -> impl Iterator<Item = MetadataSetId> {
    (0..)
        .map(MetadataSetId::new)
        .take(report.metadata_set_count())
}
