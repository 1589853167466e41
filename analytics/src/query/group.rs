//! Groups: a report and a [`GroupBy`] in, the group of each step and the name of each group out.

use std::collections::BTreeMap;

use crate::aggregate::{Grouping, NO_GROUP};
use crate::order;
use crate::profile::{ProfileReport, StepRow};
use crate::query::filter::metadata_set_ids;
use crate::query::{GroupBy, GroupKey};
use crate::units::StringId;

/// Bit that marks an exchange id in files that number exchanges apart from compute phases.
pub(crate) const EXCHANGE_BIT: u32 = 1 << 31;

/// The groups of a question: how samples find theirs, and what each stands for.
pub(crate) struct Groups {
    pub(crate) grouping: Grouping,
    /// By group id; empty where groups are tiles.
    keys: Vec<GroupKey>,
}

impl Groups {
    /// Groups the steps that match.
    pub(crate) fn new(report: &ProfileReport, group_by: &GroupBy, matches: Vec<bool>) -> Self {
        let mut keys = Keys::default();
        let group_of: Box<dyn Fn(&StepRow) -> u32 + '_> = match group_by {
            GroupBy::Tile => {
                return Self {
                    grouping: Grouping::ByTile { matches },
                    keys: Vec::new(),
                };
            }
            GroupBy::Kernel => {
                let groups = keys.of_names(report, report.kernels(), GroupKey::Kernel);
                Box::new(move |step| groups[step.kernel_row as usize])
            }
            GroupBy::Operation => {
                let groups = keys.of_names(report, report.operations(), GroupKey::Operation);
                Box::new(move |step| groups[step.operation_row as usize])
            }
            GroupBy::Phase => {
                let groups = keys.of_phases(report);
                Box::new(move |step| groups[step.phase_row as usize])
            }
            GroupBy::Kind => {
                let kinds = report.steps().iter().map(|step| GroupKey::Kind(step.kind));
                let groups = keys.of(kinds);
                let at = order::map(report.steps().iter().map(|step| step.kind).zip(groups));
                Box::new(move |step| at[&step.kind])
            }
            GroupBy::Metadata(name) => {
                let groups = keys.of_metadata(report, name);
                Box::new(move |step| groups[step.metadata.index()])
            }
        };
        let rows = report.steps().iter().zip(matches);
        let group_of_step = rows
            .map(|(step, matches)| if matches { group_of(step) } else { NO_GROUP })
            .collect();
        let group_count = keys.next;
        Self {
            grouping: Grouping::BySteps {
                group_of_step,
                group_count,
            },
            keys: keys.into_list(),
        }
    }

    /// What group `id` stands for.
    pub(crate) fn key(&self, report: &ProfileReport, id: u32) -> GroupKey {
        match self.grouping {
            Grouping::ByTile { .. } => GroupKey::Tile(report.tiles()[id as usize].tile),
            Grouping::BySteps { .. } => self.keys[id as usize].clone(),
        }
    }
}

/// Distinct keys, numbered in order of appearance.
#[derive(Default)]
struct Keys {
    ids: BTreeMap<GroupKey, u32>,
    next: u32,
}

impl Keys {
    fn of(&mut self, keys: impl Iterator<Item = GroupKey>) -> Vec<u32> {
        keys.map(|key| {
            *self.ids.entry(key).or_insert_with(|| {
                self.next += 1;
                self.next - 1
            })
        })
        .collect()
    }

    fn of_names(
        &mut self,
        report: &ProfileReport,
        ids: &[StringId],
        key: fn(String) -> GroupKey,
    ) -> Vec<u32> {
        self.of(ids.iter().map(|&id| key(report.string(id).to_owned())))
    }

    fn of_phases(&mut self, report: &ProfileReport) -> Vec<u32> {
        let phases = report.phases().iter();
        self.of(phases.map(|key| GroupKey::Phase {
            phase: key.phase,
            epoch: key.epoch,
        }))
    }

    /// The first pair of the name counts.
    fn of_metadata(&mut self, report: &ProfileReport, name: &str) -> Vec<u32> {
        let value = |set| {
            let found = report.metadata(set).find(|(key, _)| *key == name);
            GroupKey::Metadata(found.map(|(_, value)| value.to_owned()))
        };
        self.of(metadata_set_ids(report).map(value))
    }

    fn into_list(self) -> Vec<GroupKey> {
        let mut list: Vec<(u32, GroupKey)> =
            self.ids.into_iter().map(|(key, id)| (id, key)).collect();
        order::by_key(&mut list, |(id, _)| *id);
        list.into_iter().map(|(_, key)| key).collect()
    }
}

impl GroupKey {
    /// The name for people, unique among the groups of one answer.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Kernel(name) if name.is_empty() => "(no kernel)".to_owned(),
            Self::Operation(name) if name.is_empty() => "(no operation)".to_owned(),
            Self::Kernel(name) | Self::Operation(name) => name.clone(),
            Self::Phase { phase, epoch } => place_name(*phase, *epoch),
            Self::Tile(tile) => format!("tile {tile}"),
            Self::Kind(kind) => crate::text::kind(*kind),
            Self::Metadata(Some(value)) if value.is_empty() => "(empty)".to_owned(),
            Self::Metadata(Some(value)) => value.clone(),
            Self::Metadata(None) => "(missing)".to_owned(),
        }
    }
}

/// `phase 7/0`, or `exchange phase 7/0` where the file numbers exchanges apart.
pub(crate) fn place_name(phase: u32, epoch: u32) -> String {
    if phase & EXCHANGE_BIT == 0 {
        format!("phase {phase}/{epoch}")
    } else {
        format!("exchange phase {}/{epoch}", phase & !EXCHANGE_BIT)
    }
}
