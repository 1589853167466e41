//! The six workers of a tile: each issues one bundle every six cycles, and slots of finished
//! workers are not reusable, so a kernel's loop lasts as long as its busiest worker.

use std::ops::Range;

use analytics::units::Cycles;

use crate::machine::arch::ISSUE_CYCLES;
pub(crate) use crate::machine::arch::WORKERS;

/// The contiguous share of `items` that a worker takes: `items` div 6, one more for the first
/// `items` mod 6 workers.
pub(crate) fn share(items: u32, worker: u32) -> Range<u32> {
    let (each, rest) = (items / WORKERS, items % WORKERS);
    let start = worker * each + worker.min(rest);
    start..start + each + u32::from(worker < rest)
}

/// Items of the busiest worker.
pub(crate) fn busiest(items: u32) -> u64 {
    share(items, 0).len() as u64
}

/// Cycles of a loop in which the busiest worker issues `bundles` bundles.
pub(crate) fn worker_cycles(bundles: u64) -> Cycles {
    Cycles::new(u64::from(ISSUE_CYCLES).saturating_mul(bundles))
}

/// A launch followed by a loop; saturates where extents are absurd.
pub(crate) fn launched(launch: u64, cycles: Cycles) -> Cycles {
    cycles
        .checked_add(Cycles::new(launch))
        .unwrap_or(Cycles::new(u64::MAX))
}
