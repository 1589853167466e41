//! How many samples took how long: a filter in, bins of durations out.

use std::collections::BTreeMap;

use super::filter::visit_matching;
use super::{Filter, QueryError};
use crate::clock::{ClockKind, Frame};
use crate::profile::ProfileReport;

/// Bins a quarter of a power of two wide tell too little where they are no more than this.
const FEW: u32 = 8;
/// Bins of one width, at most.
const EVEN_MAX: u64 = 24;

/// Durations of matching samples by bins: a quarter of a power of two wide or, where these were
/// few, of one width from the shortest duration on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// From the first bin with samples to the last; ascending, without gaps.
    pub bins: Vec<Bin>,
    /// Longest duration of a sample, in cycles.
    pub longest: u64,
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
    let (mut shortest, mut longest) = (u64::MAX, 0);
    visit_matching(report, filter, frame, |_, placed| {
        let duration = placed.duration;
        *counts.entry(bin(duration)).or_default() += 1;
        (shortest, longest) = (shortest.min(duration), longest.max(duration));
    })?;
    if counts.is_empty() {
        return Ok(Histogram::default());
    }
    let (first, last) = (bin(shortest), bin(longest));
    let one = |bin| Bin {
        first: first_of(bin),
        samples: counts.get(&bin).copied().unwrap_or(0),
    };
    let mut bins: Vec<Bin> = (first..=last).map(one).collect();
    if last - first < FEW {
        // How fine the bins must be is known only now: the samples are visited again.
        bins = even(shortest, longest);
        let width = width(longest - shortest);
        visit_matching(report, filter, frame, |_, placed| {
            let at = usize::try_from((placed.duration - shortest) / width);
            if let Some(bin) = at.ok().and_then(|at| bins.get_mut(at)) {
                bin.samples += 1;
            }
        })?;
    }
    Ok(Histogram { bins, longest })
}

/// Empty bins of one width, from the shortest duration to the longest.
fn even(shortest: u64, longest: u64) -> Vec<Bin> {
    let range = longest - shortest;
    let width = width(range);
    let bin = |at| Bin {
        first: shortest + at * width,
        samples: 0,
    };
    (0..=range / width).map(bin).collect()
}

/// The least width at which no more than [`EVEN_MAX`] bins reach over `range`.
const fn width(range: u64) -> u64 {
    range / EVEN_MAX + 1
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

    #[test]
    fn even_bins_are_few_and_reach_from_the_shortest_to_the_longest() {
        for (shortest, longest) in [(7, 7), (0, 24), (48_246, 48_462), (1 << 63, u64::MAX)] {
            let (bins, width) = (even(shortest, longest), width(longest - shortest));
            let (first, last) = (bins[0].first, bins[bins.len() - 1].first);
            assert_eq!(first, shortest);
            assert!(last <= longest && longest - last < width, "{longest}");
            assert!(bins.len() as u64 <= EVEN_MAX, "{} bins", bins.len());
        }
    }
}
