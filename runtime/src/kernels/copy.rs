//! 64-bit copy inside one tile.

use analytics::units::Cycles;

use super::generation::{Basis, Generation};
use super::workers::{busiest, launched, worker_cycles};

/// Launch and rendezvous. Fit to published C600 measurements.
const LAUNCH: u64 = 246;
/// Bundles per 64-bit word: a load and a store that may not share a bundle.
const WORD_BUNDLES: u64 = 2;
/// Bytes of a word.
const WORD: u32 = 8;

/// Cost of one call; the same in both generations.
pub(crate) fn cost(_generation: Generation, bytes: u32) -> (Cycles, Basis) {
    let words = busiest(bytes.div_ceil(WORD));
    (
        launched(LAUNCH, worker_cycles(words.saturating_mul(WORD_BUNDLES))),
        Basis::Fitted,
    )
}
