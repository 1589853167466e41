//! Sample chunks: where they are, and the scratch they are decoded into.

use std::ops::Range;

use crate::format::ByteRange;

/// One sample chunk of the file: what it covers and where its page is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkEntry {
    /// Positions in [`super::ProfileReport::tiles`] that may have samples here.
    pub tiles: Range<u32>,
    /// Shared-clock cycles that the samples touch.
    pub cycles: Range<u64>,
    /// Samples in the chunk, 1..=65,536 in files we write.
    pub sample_count: u64,
    /// The record in the file.
    pub bytes: ByteRange,
}

/// The consecutive samples of one tile in a decoded chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileSpan {
    /// Position in [`super::ProfileReport::tiles`].
    pub tile: u32,
    /// Indices into the columns of the scratch; never empty.
    pub samples: Range<u32>,
    /// Ordinal, in the tile's list, of the first of them.
    pub first_ordinal: u64,
}

/// A decoded chunk as struct of arrays, reused from chunk to chunk so that decoding allocates once.
///
/// The three columns have one length. Samples of a tile are in file order; tiles ascend.
#[derive(Clone, Debug, Default)]
pub struct ChunkScratch {
    /// One entry for each tile with samples in the chunk.
    pub spans: Vec<TileSpan>,
    /// Unwrapped start of each sample in cycles on the shared clock.
    pub start: Vec<u64>,
    /// Duration of each sample in cycles.
    pub duration: Vec<u32>,
    /// Step of each sample: a valid [`crate::units::StepId`].
    pub step: Vec<u32>,
    /// The column being unpacked.
    pub(crate) packed: Vec<u32>,
}

impl ChunkScratch {
    /// Empty scratch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes that the scratch holds on to.
    #[must_use]
    pub fn capacity_bytes(&self) -> usize {
        self.spans.capacity() * size_of::<TileSpan>()
            + self.start.capacity() * 8
            + (self.duration.capacity() + self.step.capacity() + self.packed.capacity()) * 4
    }
}
