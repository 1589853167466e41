//! What runs in a phase.

use std::collections::{BTreeMap, BTreeSet};

use crate::order;
use crate::profile::{PhaseKey, ProfileReport, SampleKind};

/// Kinds in which a tile works, in the order of words.
const WORK: [SampleKind; 2] = [SampleKind::Exchange, SampleKind::Compute];

/// Kind, operation and kernel of the steps of a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Content(BTreeSet<(u16, String, String)>);

impl Content {
    /// Of each phase of a report.
    pub(super) fn of_phases(report: &ProfileReport) -> BTreeMap<PhaseKey, Self> {
        let mut contents: BTreeMap<PhaseKey, Self> = BTreeMap::new();
        for step in report.steps() {
            contents.entry(step.place).or_default().0.insert((
                step.kind.to_wire(),
                report.string(step.operation).to_owned(),
                report.string(step.kernel).to_owned(),
            ));
        }
        contents
    }

    #[cfg(test)]
    pub(super) fn of<const N: usize>(steps: [(u16, String, String); N]) -> Self {
        Self(BTreeSet::from(steps))
    }

    /// The work of tiles, whatever kernels run; all kinds where no tile works.
    pub(super) fn without_kernels(&self) -> Self {
        let is_work = |kind: u16| WORK.iter().any(|it| it.to_wire() == kind);
        let works = self.0.iter().any(|it| is_work(it.0));
        let steps = self.0.iter().filter(|it| !works || is_work(it.0));
        let steps = steps.map(|(kind, operation, _)| (*kind, operation.clone(), String::new()));
        Self(order::set(steps))
    }

    /// The work in words: `exchange mlp.up`, `compute projection.q, projection.k`. Where no tile
    /// works, the kinds.
    pub(super) fn words(&self) -> String {
        let said = |kind: &SampleKind| {
            let steps = self.0.iter().filter(|it| it.0 == kind.to_wire());
            let operations = order::set(steps.clone().map(|it| it.1.as_str()));
            let operations: Vec<&str> =
                operations.into_iter().filter(|it| !it.is_empty()).collect();
            let named = match operations.is_empty() {
                true => String::new(),
                false => format!(" {}", operations.join(", ")),
            };
            (steps.count() > 0).then(|| format!("{}{named}", kind.name()))
        };
        let words: Vec<String> = WORK.iter().filter_map(said).collect();
        if !words.is_empty() {
            return words.join("; ");
        }
        let kinds = order::set(self.0.iter().map(|it| it.0));
        let kinds = kinds.into_iter().map(|it| SampleKind::from_wire(it).name());
        kinds.collect::<Vec<&str>>().join(", ")
    }
}
