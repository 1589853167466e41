//! The useful-work model: shapes and precisions in, [`WorkEstimate`] out, one file a basis.
//!
//! *Useful* work is what the mathematics of an operation asks for, known padding excluded;
//! *physical* work is what the padded shapes make a tile do. Both are issue-cycle equivalents of
//! one tile, exact in 256ths, so that sums need no rounding and do not depend on their order.
//!
//! Kernels without a module here have no estimate on purpose: raw byte copies, aggregate Repeat
//! samples, the attention merge, monolithic attention. Unknown is `None`, never zero.
//! The estimate travels with the profile; a reader never recomputes it.

pub mod add;
pub mod cast;
pub mod fill;
pub mod gelu;
pub mod gemm;
pub mod rearrange;
pub mod reduction;
pub mod softmax;

use crate::profile::WorkEstimate;
use crate::units::Work;

/// The number format of an operation, as far as the issue rate depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Precision {
    /// 8-bit floating point, both operand formats.
    F8,
    /// IEEE half precision.
    F16,
    /// IEEE single precision.
    F32,
}

impl Precision {
    /// The name in basis texts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F8 => "FP8",
            Self::F16 => "FP16",
            Self::F32 => "FP32",
        }
    }
}

/// The estimate of several calls that one sample measures: the sums, or `None` where one call is
/// unknown or there is no call. Distinct basis texts are joined by `"; "` in order of appearance.
#[must_use]
pub fn sum<'a>(calls: impl IntoIterator<Item = Option<&'a WorkEstimate>>) -> Option<WorkEstimate> {
    let mut calls = calls.into_iter();
    let mut total = calls.next()??.clone();
    let mut bases = vec![total.basis.clone()];
    for call in calls {
        let call = call?;
        total.useful = saturating_add(total.useful, call.useful);
        total.physical = saturating_add(total.physical, call.physical);
        if !bases.contains(&call.basis) {
            bases.push(call.basis.clone());
        }
    }
    total.basis = bases.join("; ");
    Some(total)
}

fn saturating_add(a: Work, b: Work) -> Work {
    Work::from_256ths(a.get_256ths().saturating_add(b.get_256ths()))
}

/// `count` units that cost `unit_256ths` each.
fn units(count: u64, unit_256ths: u64) -> Work {
    Work::from_256ths(unit_256ths).times(count)
}

fn estimate(useful: Work, physical: Work, basis: impl Into<String>) -> WorkEstimate {
    WorkEstimate {
        useful,
        physical,
        basis: basis.into(),
    }
}

#[cfg(test)]
mod tests;
