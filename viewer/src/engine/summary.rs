//! What is true of an open profile: tiles, lengths, names, and how the run ended.

use analytics::clock::ClockKind;
use serde::{Deserialize, Serialize};

/// Names of tiles by their position in the profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TileNames {
    /// Physical ids, ascending.
    pub(crate) physical: Vec<u32>,
}

impl TileNames {
    /// Number of tiles.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.physical.len()).unwrap_or(u32::MAX)
    }

    /// The physical id at a position, as text.
    pub(crate) fn name(&self, index: u32) -> String {
        self.physical
            .get(index as usize)
            .map(u32::to_string)
            .unwrap_or_default()
    }

    /// Positions of the ids `first..=last`; `None` where the profile has none of them.
    pub(crate) fn positions(&self, first: u32, last: u32) -> Option<std::ops::Range<u32>> {
        let at = |bound: usize| u32::try_from(bound).unwrap_or(u32::MAX);
        let start = self.physical.partition_point(|&id| id < first);
        let end = self.physical.partition_point(|&id| id <= last);
        (start < end).then(|| at(start)..at(end))
    }
}

/// The fault that ended a run before its program did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunFault {
    /// Stable name of the rule that was broken.
    pub(crate) rule: String,
    /// What was broken, where, and what was found.
    pub(crate) message: String,
    /// Physical id of the tile that broke it.
    pub(crate) tile: u32,
    /// Faults found together.
    pub(crate) count: u32,
}

/// What is true of the open profile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Summary {
    /// File name, or the address.
    pub(crate) name: String,
    /// Length of the file in bytes.
    pub(crate) bytes: u64,
    /// Profiled tiles.
    pub(crate) tiles: TileNames,
    /// All samples.
    pub(crate) samples: u64,
    /// Tile clock in hertz; 0 is unknown.
    pub(crate) clock_hz: u64,
    /// Length of the run in cycles on the cropped, shared and tile clock.
    pub(crate) runs: [u64; 3],
    /// Initial-sync crop in cycles.
    pub(crate) crop: u64,
    /// How finely the run was sampled.
    pub(crate) granularity: String,
    /// The machine; empty is unknown.
    pub(crate) target: String,
    /// Whether a simulator made it; `None` is unknown.
    pub(crate) simulated: Option<bool>,
    /// Bytes that could be read of a file without its end.
    pub(crate) truncated_at: Option<u64>,
    /// The fault that ended the run, where one did.
    pub(crate) fault: Option<RunFault>,
    /// Whether a 32-bit counter of some tile passed its end during the run.
    pub(crate) wrapped: bool,
    /// Whether samples are still to be read: figures are the file's own sums, pictures its
    /// overview.
    pub(crate) is_partial: bool,
    /// Cycles of computes on the cropped clock: those with a work estimate, and all. `None` is not
    /// known yet.
    pub(crate) covered: Option<[u64; 2]>,
    /// Row schema version of the file, 0 for the columnar format.
    pub(crate) row_version: u32,
    /// Name and value pairs of the header.
    pub(crate) provenance: Vec<(String, String)>,
    /// String id and name of every kernel that computes: most tile cycles first, or in order of
    /// first use where the file has no sums.
    pub(crate) kernels: Vec<(u32, String)>,
    /// String id and name of every operation, in order of first use.
    pub(crate) operations: Vec<(u32, String)>,
    /// Names of metadata, ascending.
    pub(crate) metadata_names: Vec<String>,
}

impl Summary {
    /// Length of the run on a clock, in cycles.
    pub(crate) const fn run(&self, clock: ClockKind) -> u64 {
        match clock {
            ClockKind::Cropped => self.runs[0],
            ClockKind::Shared => self.runs[1],
            ClockKind::Tile => self.runs[2],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_found_by_physical_id() {
        let tiles = TileNames {
            physical: vec![2, 4, 6, 9],
        };
        assert_eq!(tiles.positions(4, 7), Some(1..3));
        assert_eq!(tiles.positions(0, 99), Some(0..4));
        assert_eq!(tiles.positions(7, 8), None);
        assert_eq!(
            (tiles.name(3), tiles.name(4)),
            ("9".to_owned(), String::new())
        );
    }
}
