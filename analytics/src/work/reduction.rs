//! Sum of partials: partial and element counts in, `partials - 1` adds an element out.

use crate::profile::WorkEstimate;
use crate::units::{Elements, Flops};
use crate::work::{Precision, add, estimate as new_estimate, units};

/// Additions of a sum of `partials` tensors of `elements` elements; saturates.
#[must_use]
pub const fn flops(partials: u64, elements: Elements) -> Flops {
    Flops::new(elements.get().saturating_mul(partials.saturating_sub(1)))
}

/// Work of summing `partials` tensors of `logical` elements that are stored as `physical`.
///
/// One partial, or none, is a copy of nothing: zero work.
#[must_use]
pub fn estimate(
    partials: u64,
    logical: Elements,
    physical: Elements,
    precision: Precision,
) -> WorkEstimate {
    let lanes = add::lanes(precision);
    let unit = 256 / lanes;
    let basis = format!("{} reduction adds / {lanes}", precision.name());
    let useful = units(flops(partials, logical).get(), unit);
    let physical = units(flops(partials, physical).get(), unit);
    new_estimate(useful, physical, basis)
}
