//! What the run of each profile waited for: critical paths in, cycles by group out.
//!
//! Phase cycles say how long something took where it took longest, so those of several groups
//! overlap in time. Cycles on the critical path do not: by kind, by operation and by phase they sum
//! to the run, and their changes to the change of the run.

use std::collections::BTreeMap;

use crate::clock::ClockKind;
use crate::critical::{CriticalOptions, Parts, critical_path};
use crate::format::DecodeError;
use crate::profile::{ProfileReport, SampleKind};
use crate::query::GroupKey;

/// The critical paths of both profiles.
#[derive(Debug)]
pub(super) struct OnPath {
    /// Before and after.
    sides: [OfRun; 2],
}

/// One critical path.
#[derive(Debug)]
struct OfRun {
    /// By kind, operation and phase all cycles on the path; by kernel those of compute samples.
    cycles: BTreeMap<GroupKey, Parts>,
    /// Covered by no sample.
    unattributed: u64,
}

impl OnPath {
    /// `None` on each tile's own clock, on which no tile waits for another.
    pub(super) fn find(
        reports: [&ProfileReport; 2],
        clock: ClockKind,
    ) -> Result<Option<Self>, DecodeError> {
        if clock == ClockKind::Tile {
            return Ok(None);
        }
        let options = CriticalOptions {
            shared: clock == ClockKind::Shared,
            ..CriticalOptions::default()
        };
        let [before, after] = reports.map(|report| OfRun::new(report, &options));
        Ok(Some(Self {
            sides: [before?, after?],
        }))
    }

    /// Cycles of the groups with these keys, before and after; `None` of tiles and metadata.
    pub(super) fn of(&self, keys: [Option<&GroupKey>; 2]) -> Option<[Parts; 2]> {
        let is_of_steps =
            |key: &GroupKey| !matches!(key, GroupKey::Tile(_) | GroupKey::Metadata(_));
        if !keys.iter().flatten().all(|key| is_of_steps(key)) {
            return None;
        }
        Some([0, 1].map(|at: usize| {
            let key = keys[at].and_then(|key| self.sides[at].cycles.get(key));
            key.copied().unwrap_or_default()
        }))
    }

    /// Cycles that no sample covers, before and after.
    pub(super) fn unattributed(&self) -> [u64; 2] {
        [0, 1].map(|at: usize| self.sides[at].unattributed)
    }
}

impl OfRun {
    fn new(report: &ProfileReport, options: &CriticalOptions) -> Result<Self, DecodeError> {
        let path = critical_path(report, options)?;
        let mut cycles: BTreeMap<GroupKey, Parts> = BTreeMap::new();
        let mut add = |key, kind, more| cycles.entry(key).or_default().add(kind, more);
        for on_path in &path.steps {
            let step = &report.steps()[on_path.step as usize];
            let name = |id| report.string(id).to_owned();
            let (phase, epoch) = (step.place.phase, step.place.epoch);
            let mut keys = vec![
                GroupKey::Kind(step.kind),
                GroupKey::Operation(name(step.operation)),
                GroupKey::Phase { phase, epoch },
            ];
            if step.kind == SampleKind::Compute {
                keys.push(GroupKey::Kernel(name(step.kernel)));
            }
            for key in keys {
                add(key, step.kind, on_path.cycles);
            }
        }
        Ok(Self {
            cycles,
            unattributed: path.parts.unattributed,
        })
    }
}
