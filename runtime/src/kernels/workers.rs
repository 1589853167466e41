//! The six workers of a tile: each issues one bundle every six cycles, and slots of finished
//! workers are not reusable, so a kernel's loop lasts as long as its busiest worker.

use std::ops::Range;

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

/// Items of the busiest worker when `items` are dealt in blocks of `block`.
pub(crate) fn busiest_blocks(items: u32, block: u32) -> u64 {
    busiest(items.div_ceil(block))
}

/// Cycles in which the busiest worker issues this many bundles; saturates where extents are absurd.
pub(crate) const fn bundles(count: u64) -> u64 {
    count.saturating_mul(ISSUE_CYCLES as u64)
}

/// ⌈items / of⌉ as a factor of cycles.
pub(crate) fn parts(items: u32, of: u32) -> u64 {
    u64::from(items.div_ceil(of))
}

/// ⌈rows · width / of⌉ as a factor of cycles.
pub(crate) fn area_parts(rows: u32, width: u32, of: u64) -> u64 {
    (u64::from(rows) * u64::from(width)).div_ceil(of)
}
