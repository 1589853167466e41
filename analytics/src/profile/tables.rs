//! The tables samples refer to: strings, metadata sets, steps, phases and tiles.

use super::step::SampleKind;
use crate::units::{MetadataSetId, PhysicalTile, RawCounter, StringId, Work};

/// Strings in one allocation, by [`StringId`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StringTable {
    text: String,
    ends: Vec<usize>,
}

impl StringTable {
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Panics where the id is not of this table.
    pub(crate) fn get(&self, id: StringId) -> &str {
        let end = self.ends[id.index()];
        let start = if id.index() == 0 {
            0
        } else {
            self.ends[id.index() - 1]
        };
        &self.text[start..end]
    }

    pub(crate) fn bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * size_of::<usize>()
    }
}

/// Metadata sets in one allocation, by [`MetadataSetId`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MetadataTable {
    pairs: Vec<(StringId, StringId)>,
    ends: Vec<usize>,
}

impl MetadataTable {
    pub(crate) fn push(&mut self, pairs: impl IntoIterator<Item = (StringId, StringId)>) {
        self.pairs.extend(pairs);
        self.ends.push(self.pairs.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Panics where the id is not of this table.
    pub(crate) fn get(&self, id: MetadataSetId) -> &[(StringId, StringId)] {
        let end = self.ends[id.index()];
        let start = if id.index() == 0 {
            0
        } else {
            self.ends[id.index() - 1]
        };
        &self.pairs[start..end]
    }

    pub(crate) fn bytes(&self) -> usize {
        self.pairs.capacity() * size_of::<(StringId, StringId)>()
            + self.ends.capacity() * size_of::<usize>()
    }
}

/// A place in the schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhaseKey {
    /// Exchange epoch, or Repeat body.
    pub epoch: u32,
    /// Phase in the epoch. Bit 31 marks an exchange id in files that number exchanges apart.
    pub phase: u32,
}

/// Useful and physical work of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EstimateRow {
    /// Useful work.
    pub useful: Work,
    /// Physical work; less than `useful` only in files we did not write.
    pub physical: Work,
    /// The rule that gave the numbers.
    pub basis: StringId,
    /// Whether a decimal of the file was no multiple of 1/256 and was rounded to nearest even.
    pub rounded: bool,
    /// Whether the numbers were read from metadata pairs that the step's set still holds.
    pub in_metadata: bool,
}

/// One row of the step table, names as table rows. [`StepView`] resolves them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepRow {
    /// What the tile did; a compute step with metadata `active=false` is idle.
    pub kind: SampleKind,
    /// The kind as recorded.
    pub recorded_kind: SampleKind,
    /// Kernel symbol.
    pub kernel: StringId,
    /// Row in [`super::ProfileReport::kernels`].
    pub kernel_row: u32,
    /// Model-level operation.
    pub operation: StringId,
    /// Row in [`super::ProfileReport::operations`].
    pub operation_row: u32,
    /// Place in the schedule.
    pub place: PhaseKey,
    /// Row in [`super::ProfileReport::phases`].
    pub phase_row: u32,
    /// Horizon of the static exchange schedule in cycles; 0 is unknown.
    pub event_cycles: u32,
    /// Metadata pairs.
    pub metadata: MetadataSetId,
    /// Useful and physical work, or `None` where unknown. Unknown is not zero.
    pub estimate: Option<EstimateRow>,
}

/// A step with its names resolved.
#[derive(Clone, Copy, Debug)]
pub struct StepView<'a> {
    /// The row itself.
    pub row: &'a StepRow,
    /// Kernel symbol; may be empty.
    pub kernel: &'a str,
    /// Model-level operation; may be empty.
    pub operation: &'a str,
    /// The rule that gave the estimate; empty where there is none.
    pub basis: &'a str,
}

/// One profiled tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileEntry {
    /// Its physical id.
    pub tile: PhysicalTile,
    /// Number of its samples; may be zero.
    pub sample_count: u64,
    /// Raw counter at the start of its first sample; zero where it has none.
    pub first_counter: RawCounter,
    /// Start of its first sample on the shared clock, in cycles; zero where it has none.
    pub first_start: u64,
}
