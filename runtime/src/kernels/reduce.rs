//! Sum of packed F16 partials.

use analytics::units::Cycles;

use super::generation::{Basis, Generation};
use super::workers::{busiest, launched, worker_cycles};

/// Elements that a worker sums per iteration.
const BLOCK: u32 = 8;
/// Launch and rendezvous. Published C600 measurement, exact on seven shapes.
const LAUNCH: u64 = 282;
/// Bundles of an iteration beside the adds, and per added partial. Same measurements.
const BLOCK_BUNDLES: u64 = 11;
const PARTIAL_BUNDLES: u64 = 2;

/// Cost of one call; the same in both generations.
pub(crate) fn cost(_generation: Generation, partials: u32, elements: u32) -> (Cycles, Basis) {
    if partials < 2 {
        return (Cycles::ZERO, Basis::Measured);
    }
    let blocks = busiest(elements.div_ceil(BLOCK));
    let bundles = BLOCK_BUNDLES + PARTIAL_BUNDLES * u64::from(partials - 1);
    (
        launched(LAUNCH, worker_cycles(blocks.saturating_mul(bundles))),
        Basis::Measured,
    )
}
