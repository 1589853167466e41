//! Attention softmax: rows and keys in, four issue-cycles a key and five a row out.
//!
//! Keys are processed in pairs of eight cycles, so an odd last key does half a pair of useful work
//! and a whole pair of physical work.

use crate::profile::WorkEstimate;
use crate::units::Work;
use crate::work::estimate as new_estimate;

/// Work of `rows` softmax rows over `keys` valid keys each.
#[must_use]
pub fn estimate(rows: u64, keys: u64) -> WorkEstimate {
    let row = |keys: u64, per_key: u64| {
        Work::from_cycles(keys.saturating_mul(per_key).saturating_add(5)).times(rows)
    };
    let basis = "softmax 4 cycles / key + 5 / row";
    new_estimate(row(keys, 4), row(keys.div_ceil(2), 8), basis)
}
