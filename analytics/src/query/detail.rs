//! One sample in full: its place and its step in, everything a tooltip or a list shows out.

use crate::aggregate::SampleRef;
use crate::profile::ProfileReport;
use crate::query::SampleDetail;
use crate::units::{Cycles, StepId};

/// Resolves the names of a sample. A cut sample has no estimate.
pub(crate) fn detail(report: &ProfileReport, sample: &SampleRef) -> SampleDetail {
    let step = report.step(StepId::new(sample.step));
    let estimate = step.row.estimate.filter(|_| !sample.cut);
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    SampleDetail {
        tile: report.tiles()[sample.tile as usize].tile,
        tile_index: sample.tile,
        ordinal: sample.ordinal,
        offset: sample.offset,
        duration: Cycles::new(sample.duration),
        cut: sample.cut,
        kind: step.row.kind,
        phase: step.row.place.phase,
        epoch: step.row.place.epoch,
        operation: step.operation.to_owned(),
        kernel: step.kernel.to_owned(),
        event_cycles: step.row.event_cycles,
        useful: estimate.map(|it| it.useful),
        physical: estimate.map(|it| it.physical),
        basis: estimate.map_or_else(String::new, |_| step.basis.to_owned()),
        metadata: report.metadata(step.row.metadata).map(owned).collect(),
    }
}
