//! The N longest samples: samples in any order in, a fixed order out.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A sample that may be among the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SampleRef {
    /// Length on the clock.
    pub(crate) duration: u64,
    /// Tile index.
    pub(crate) tile: u32,
    /// Start on the clock.
    pub(crate) offset: u64,
    /// Position in the tile's list.
    pub(crate) ordinal: u64,
    /// Step id.
    pub(crate) step: u32,
    /// Whether the crop shortened it.
    pub(crate) cut: bool,
}

impl SampleRef {
    /// Longer is greater; then the smaller tile, then the smaller offset.
    fn rank(&self) -> (u64, Reverse<u32>, Reverse<u64>, Reverse<u64>) {
        (
            self.duration,
            Reverse(self.tile),
            Reverse(self.offset),
            Reverse(self.ordinal),
        )
    }
}

impl Ord for SampleRef {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for SampleRef {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Keeps the `capacity` greatest samples.
#[derive(Clone, Debug)]
pub(crate) struct Longest {
    capacity: usize,
    kept: BinaryHeap<Reverse<SampleRef>>,
    floor: u64,
}

impl Longest {
    pub(crate) fn new(capacity: usize) -> Self {
        let floor = if capacity == 0 { u64::MAX } else { 0 };
        Self {
            capacity,
            kept: BinaryHeap::new(),
            floor,
        }
    }

    /// Samples shorter than this are not kept.
    #[inline]
    pub(crate) fn floor(&self) -> u64 {
        self.floor
    }

    /// Keeps a sample if it is long enough; the floor thereafter.
    pub(crate) fn offer(&mut self, sample: SampleRef) -> u64 {
        self.kept.push(Reverse(sample));
        if self.kept.len() > self.capacity {
            self.kept.pop();
        }
        if self.kept.len() == self.capacity {
            self.floor = self.kept.peek().map_or(u64::MAX, |least| least.0.duration);
        }
        self.floor
    }

    #[cfg(feature = "native")]
    pub(crate) fn merge(&mut self, other: Self) {
        for Reverse(sample) in other.kept.into_vec() {
            let _floor = self.offer(sample);
        }
    }

    /// Greatest first.
    pub(crate) fn into_sorted(self) -> Vec<SampleRef> {
        let ascending = self.kept.into_sorted_vec();
        ascending
            .into_iter()
            .map(|Reverse(sample)| sample)
            .collect()
    }
}
