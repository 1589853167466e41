//! What a columnar file says about itself before any sample is decoded: a picture and exact sums.

use super::step::SampleKind;
use crate::units::{Cycles, PhysicalTile, StringId, Work};

/// One screen of the whole device: a row per tile, a column per `cell_cycles`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    /// Left edge of column 0 on the shared clock; zero or a little less.
    pub first_cycle: i64,
    /// Width of a column in cycles, at least one.
    pub cell_cycles: u64,
    /// Number of columns.
    pub columns: u32,
    /// Number of rows, one for each entry of [`super::ProfileReport::tiles`], in its order.
    pub rows: u32,
    /// Row-major: wire value of the kind that took most cycles of the cell, 4 for all unknown kinds
    /// together, or [`Overview::NOTHING`].
    pub kinds: Vec<u8>,
    /// Row-major: row in [`super::ProfileReport::kernels`] plus one of a kernel that took more than
    /// half of the cell's compute cycles, where there is one, else of a large one; 0 is none.
    pub kernels: Vec<u32>,
    /// Row-major: compute cycles of the cell in 1/255 of its width, rounded down.
    pub busy: Vec<u8>,
}

impl Overview {
    /// Kind of a cell in which nothing was recorded.
    pub const NOTHING: u8 = 255;
}

/// The fault that ended a run before its program did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// Stable name of the rule of the machine that was broken.
    pub rule: String,
    /// For people: what was broken, where, and what was found.
    pub message: String,
    /// The tile that broke it.
    pub tile: PhysicalTile,
    /// Faults found together; the one named is the first.
    pub count: u32,
}

/// Exact sums on the cropped clock, as the file's writer kept them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// All samples, those that the crop removes included.
    pub sample_count: u64,
    /// Profiled tiles.
    pub tile_count: u32,
    /// Initial-sync crop on the shared clock.
    pub crop: Cycles,
    /// End of the cropped timeline.
    pub span: Cycles,
    /// By kind, then kernel row.
    pub rows: Vec<KernelSummary>,
}

/// Sums over the samples of one kernel symbol and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelSummary {
    /// Kernel symbol.
    pub kernel: StringId,
    /// Kind, after `active=false` computes became idle.
    pub kind: SampleKind,
    /// Tiles that take part.
    pub tile_count: u32,
    /// Samples of non-zero cropped length.
    pub sample_count: u64,
    /// Sum of their cropped durations.
    pub work_cycles: Cycles,
    /// Part of `work_cycles` in uncut samples with an estimate.
    pub covered_cycles: Cycles,
    /// Useful work of the covered samples.
    pub useful: Work,
    /// Physical work of the covered samples.
    pub physical: Work,
    /// Median duration, lower nearest rank.
    pub p50_cycles: Cycles,
    /// 95th percentile of the durations, lower nearest rank.
    pub p95_cycles: Cycles,
    /// Longest duration.
    pub maximum_cycles: Cycles,
    /// Length of the union of the intervals over all tiles.
    pub timeline_cycles: Cycles,
}
