//! [`ProfileWriter`]: samples in, columnar bytes out, append-only.

use super::WriteError;
use crate::profile::{ExchangeActivity, ProfileHeader, StepDescriptor};
use crate::units::{PhysicalTile, RawCounter, StepId};

/// Writes a columnar profile while it is recorded.
///
/// Samples of one tile come in time order; tiles may come one after another or interleaved. Calls do
/// not fail: the first problem is kept and returned by [`ProfileWriter::finish`].
#[derive(Debug)]
pub struct ProfileWriter {
    bytes: Vec<u8>,
}

impl ProfileWriter {
    /// A writer of a profile with this header.
    #[must_use]
    pub fn new(header: &ProfileHeader) -> Self {
        let _ = header;
        Self { bytes: Vec::new() }
    }

    /// The id of a step; equal descriptors have one id.
    pub fn step(&mut self, step: &StepDescriptor) -> StepId {
        let _ = step;
        StepId::new(0)
    }

    /// Lists a tile, in the order of the calls, even if it never has a sample. Optional before
    /// [`Self::sample`].
    pub fn begin_tile(&mut self, tile: PhysicalTile) {
        let _ = tile;
    }

    /// Appends a sample to a tile. `activities` are the transfers scheduled inside it.
    pub fn sample(
        &mut self,
        tile: PhysicalTile,
        start: RawCounter,
        end: RawCounter,
        step: StepId,
        activities: &[ExchangeActivity],
    ) {
        let _ = (tile, start, end, step, activities);
    }

    /// Takes the bytes that are ready, so that a long recording needs little memory. The file is the
    /// bytes of all calls, in order, then those of [`Self::finish`].
    #[must_use]
    pub fn take_bytes(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Writes what is pending, overview, summary, index and trailer, and returns the rest of the
    /// file: all of it where [`Self::take_bytes`] was never called.
    ///
    /// # Errors
    /// The first problem of any call.
    pub fn finish(self) -> Result<Vec<u8>, WriteError> {
        Ok(self.bytes)
    }
}
