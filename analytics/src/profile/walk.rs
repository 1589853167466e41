//! Samples one after another: a report in, every sample once out.

use super::chunk::ChunkScratch;
use super::report::ProfileReport;
use crate::format::DecodeError;

/// A sample as recorded, on the shared clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Position in [`ProfileReport::tiles`].
    pub tile: u32,
    /// Position in the tile's list of samples.
    pub ordinal: u64,
    /// First cycle.
    pub start: u64,
    /// Length in cycles; may be zero.
    pub duration: u32,
    /// Row in [`ProfileReport::steps`].
    pub step: u32,
}

impl Sample {
    /// One past the last cycle.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.start.saturating_add(self.duration as u64)
    }
}

impl ProfileReport {
    /// Calls `visit` for every sample: those of one tile in file order, tiles interleaved chunk by
    /// chunk.
    ///
    /// # Errors
    /// [`DecodeError::PageMissing`] where a page was not supplied, else a corrupt chunk.
    pub fn visit_samples(&self, mut visit: impl FnMut(&Sample)) -> Result<(), DecodeError> {
        let mut scratch = ChunkScratch::new();
        for index in 0..self.chunks().len() {
            self.decode_chunk(index, &mut scratch)?;
            visit_chunk(&scratch, &mut visit);
        }
        Ok(())
    }
}

/// Calls `visit` for every sample of a decoded chunk.
pub(crate) fn visit_chunk(scratch: &ChunkScratch, visit: &mut impl FnMut(&Sample)) {
    for span in &scratch.spans {
        let samples = span.samples.start as usize..span.samples.end as usize;
        for (at, ordinal) in samples.zip(span.first_ordinal..) {
            visit(&Sample {
                tile: span.tile,
                ordinal,
                start: scratch.start[at],
                duration: scratch.duration[at],
                step: scratch.step[at],
            });
        }
    }
}
