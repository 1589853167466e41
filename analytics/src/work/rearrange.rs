//! Layout rearrangements: bytes in, one 32-bit word an issue-cycle out.

use crate::profile::WorkEstimate;
use crate::units::Bytes;
use crate::work::{estimate as new_estimate, units};

/// Work of moving `logical` bytes of a tensor that is stored as `physical` bytes into another
/// layout.
///
/// Only for rearrangements whose logical bytes are known; a raw byte copy has no estimate.
#[must_use]
pub fn estimate(logical: Bytes, physical: Bytes) -> WorkEstimate {
    let basis = "rearranged logical bytes / 4";
    new_estimate(units(logical.get(), 64), units(physical.get(), 64), basis)
}
