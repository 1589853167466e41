//! Zero fill.

use analytics::units::Cycles;

use super::generation::{Basis, Generation};
use super::workers::{busiest, launched, worker_cycles};

/// Launch and rendezvous, taken from the measured 64-bit copy, whose dispatch it shares.
const LAUNCH: u64 = 246;
/// Bytes that a worker stores per bundle: one 64-bit store.
const STORE: u32 = 8;

/// Cost of one call; the same in both generations.
pub(crate) fn cost(_generation: Generation, bytes: u32) -> (Cycles, Basis) {
    let bundles = busiest(bytes.div_ceil(STORE));
    (launched(LAUNCH, worker_cycles(bundles)), Basis::Assumed)
}
