//! Element-wise addition: element counts in, one add an element at the vector width out.

use crate::profile::WorkEstimate;
use crate::units::{Elements, Flops};
use crate::work::{Precision, estimate as new_estimate, units};

/// Additions that one instruction makes: four in FP16, two in FP32. FP8 has no adder and is priced
/// as FP16, which it is widened to.
#[must_use]
pub const fn lanes(precision: Precision) -> u64 {
    match precision {
        Precision::F8 | Precision::F16 => 4,
        Precision::F32 => 2,
    }
}

/// Floating-point operations: one for each element.
#[must_use]
pub const fn flops(elements: Elements) -> Flops {
    Flops::new(elements.get())
}

/// Work of adding two tensors of `logical` elements that are stored as `physical`.
#[must_use]
pub fn estimate(logical: Elements, physical: Elements, precision: Precision) -> WorkEstimate {
    let lanes = lanes(precision);
    let unit = 256 / lanes;
    let basis = format!("{} adds / {lanes}", precision.name());
    new_estimate(
        units(logical.get(), unit),
        units(physical.get(), unit),
        basis,
    )
}
