//! Initialisation: zero useful work, which is known and so differs from an absent estimate.

use crate::profile::WorkEstimate;
use crate::units::Work;
use crate::work::estimate;

/// The estimate of a call that only writes padding: no useful and no physical work.
#[must_use]
pub fn padding_only() -> WorkEstimate {
    estimate(Work::ZERO, Work::ZERO, "padding-only fill")
}
