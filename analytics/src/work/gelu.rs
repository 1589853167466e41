//! GeLU in FP16: element counts in, twelve arithmetic instructions for every four values out.

use crate::profile::WorkEstimate;
use crate::units::Elements;
use crate::work::{estimate as new_estimate, units};

/// Three issue-cycles a value.
const UNIT: u64 = 12 * 256 / 4;

/// Work of the tanh form of GeLU over `logical` values that are stored as `physical`.
#[must_use]
pub fn estimate(logical: Elements, physical: Elements) -> WorkEstimate {
    let basis = "FP16 GeLU 12 instructions / 4 values";
    new_estimate(
        units(logical.get(), UNIT),
        units(physical.get(), UNIT),
        basis,
    )
}
