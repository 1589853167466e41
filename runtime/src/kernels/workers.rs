//! The six workers of a tile: each issues one bundle every six cycles, and slots of finished workers
//! are not reusable, so a kernel's loop lasts as long as its busiest worker.

use std::ops::Range;

use analytics::units::Cycles;

/// Worker contexts of a tile. Vendor architecture manual.
pub(crate) const WORKERS: u32 = 6;

/// Cycles between two bundles of one worker. Published C600 measurement: every worker-only kernel
/// time is a multiple of six.
pub(crate) const CYCLES_PER_BUNDLE: u64 = 6;

/// The contiguous share of `items` that a worker takes: `items` div 6, one more for the first
/// `items` mod 6 workers.
pub(crate) fn share(items: u32, worker: u32) -> Range<u32> {
    let (each, rest) = (items / WORKERS, items % WORKERS);
    let start = worker * each + worker.min(rest);
    start..start + each + u32::from(worker < rest)
}

/// Items of the busiest worker.
pub(crate) fn busiest(items: u32) -> u64 {
    u64::from(share(items, 0).len() as u32)
}

/// Cycles of a loop in which the busiest worker issues `bundles` bundles.
pub(crate) fn worker_cycles(bundles: u64) -> Cycles {
    Cycles::new(CYCLES_PER_BUNDLE.saturating_mul(bundles))
}
