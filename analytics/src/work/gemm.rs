//! GEMM: extents of one call in, multiply-add work at the peak rate of the precision out.
//!
//! The peak rates are 64 multiply-adds a cycle in FP16, 128 in FP8 and 16 in FP32; FP16 over 1,472
//! tiles at 1.5 GHz gives the published 282.6 TFLOP/s of a C600.

use crate::profile::WorkEstimate;
use crate::units::{Flops, Work};
use crate::work::{Precision, estimate as new_estimate};

/// Extents of a matrix product, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GemmExtent {
    /// Rows of the left operand and of the result.
    pub rows: u64,
    /// The contracted dimension.
    pub inner: u64,
    /// Columns of the right operand and of the result.
    pub columns: u64,
}

impl GemmExtent {
    /// A `rows × inner` by `inner × columns` product.
    #[must_use]
    pub const fn new(rows: u64, inner: u64, columns: u64) -> Self {
        Self {
            rows,
            inner,
            columns,
        }
    }
}

/// Floating-point operations of the product, two for each multiply-add; saturates.
#[must_use]
pub const fn flops(extent: GemmExtent) -> Flops {
    let products = extent
        .rows
        .saturating_mul(extent.inner)
        .saturating_mul(extent.columns);
    Flops::new(products.saturating_mul(2))
}

/// FLOP that one tile issues in a cycle at `precision`.
#[must_use]
pub const fn flops_per_cycle(precision: Precision) -> u64 {
    match precision {
        Precision::F8 => 256,
        Precision::F16 => 128,
        Precision::F32 => 32,
    }
}

/// Work of one call. `logical` counts valid elements only, `physical` what the kernel runs over.
///
/// Attention products pass their valid contraction and column bounds as `logical`.
#[must_use]
pub fn estimate(logical: GemmExtent, physical: GemmExtent, precision: Precision) -> WorkEstimate {
    let per_cycle = flops_per_cycle(precision);
    let basis = format!("{} GEMM logical FLOP / {per_cycle}", precision.name());
    new_estimate(work(logical, per_cycle), work(physical, per_cycle), basis)
}

fn work(extent: GemmExtent, flops_per_cycle: u64) -> Work {
    Work::from_256ths(Work::PER_CYCLE / flops_per_cycle).times(flops(extent).get())
}
