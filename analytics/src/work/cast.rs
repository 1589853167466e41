//! Casts: element counts and the two formats in, conversion instructions out.

use crate::profile::WorkEstimate;
use crate::units::Elements;
use crate::work::{Precision, estimate as new_estimate, units};

/// Work of converting `logical` elements that are stored as `physical`, or `None` for a pair of
/// formats that the device does not convert in one instruction (FP8 and FP32, a format and itself).
///
/// One instruction converts two elements between FP16 and FP32, eight from FP16 to FP8 and four
/// from FP8 to FP16.
#[must_use]
pub fn estimate(
    logical: Elements,
    physical: Elements,
    from: Precision,
    to: Precision,
) -> Option<WorkEstimate> {
    let per_instruction = match (from, to) {
        (Precision::F16, Precision::F32) | (Precision::F32, Precision::F16) => 2,
        (Precision::F16, Precision::F8) => 8,
        (Precision::F8, Precision::F16) => 4,
        _ => return None,
    };
    let unit = 256 / per_instruction;
    let basis = format!(
        "{} to {} elements / {per_instruction}",
        from.name(),
        to.name()
    );
    Some(new_estimate(
        units(logical.get(), unit),
        units(physical.get(), unit),
        basis,
    ))
}
