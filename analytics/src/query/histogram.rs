//! How many samples took how long: a filter in, bins of durations out.

use std::collections::BTreeMap;

use super::filter::visit_matching;
use super::{Filter, QueryError};
use crate::clock::{ClockKind, Frame};
use crate::profile::ProfileReport;

/// Durations of matching samples by bins a quarter of a power of two wide.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// From the first bin with samples to the last; ascending, without gaps.
    pub bins: Vec<Bin>,
}

/// Samples of similar duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin {
    /// Shortest duration of the bin, in cycles.
    pub first: u64,
    /// Samples.
    pub samples: u64,
}

impl Histogram {
    /// All samples.
    #[must_use]
    pub fn sample_count(&self) -> u64 {
        self.bins.iter().map(|bin| bin.samples).sum()
    }
}

/// The durations of the samples of `report` that meet `filter`.
///
/// # Errors
/// Where a sample chunk cannot be decoded.
pub fn histogram(
    report: &ProfileReport,
    filter: &Filter,
    clock: ClockKind,
) -> Result<Histogram, QueryError> {
    let frame = Frame::new(report, clock);
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    visit_matching(report, filter, frame, |_, placed| {
        *counts.entry(bin(placed.duration)).or_default() += 1;
    })?;
    let ends = counts.keys().next().zip(counts.keys().next_back());
    let bins = ends.map_or_else(Vec::new, |(&first, &last)| {
        let one = |bin| Bin {
            first: first_of(bin),
            samples: counts.get(&bin).copied().unwrap_or(0),
        };
        (first..=last).map(one).collect()
    });
    Ok(Histogram { bins })
}

/// The bin of a duration: itself below 4, then four a power of two.
#[expect(clippy::cast_possible_truncation, reason = "both are less than four")]
const fn bin(duration: u64) -> u32 {
    if duration < 4 {
        return duration as u32;
    }
    let power = duration.ilog2();
    let quarter = (duration >> (power - 2)) & 3;
    (power - 1) * 4 + quarter as u32
}

/// The shortest duration of a bin.
const fn first_of(bin: u32) -> u64 {
    if bin < 4 {
        return bin as u64;
    }
    let power = bin / 4 + 1;
    (4 + (bin % 4) as u64) << (power - 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bin_starts_where_the_one_before_ends() {
        let mut at = 0;
        for duration in 1u64..5_000 {
            let found = bin(duration);
            assert!(
                found == at || found == at + 1,
                "{duration} is in bin {found} after {at}"
            );
            assert!(first_of(found) <= duration && duration < first_of(found + 1));
            at = found;
        }
        assert_eq!(first_of(bin(u64::MAX)), 7 << 61);
    }
}
