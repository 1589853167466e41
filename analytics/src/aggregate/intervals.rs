//! A union of half-open intervals: intervals in almost any order in, disjoint ascending ones out.
//!
//! Tiles of one superstep run nearly the same intervals, and each tile's samples ascend. So a
//! cursor that moves forward finds most intervals contained, or able to extend a neighbour in
//! place; what fits nowhere waits and is merged by sorting, so that no order of input is quadratic.

/// A set of cycles as disjoint intervals that do not touch.
#[derive(Clone, Debug, Default)]
pub(crate) struct IntervalSet {
    /// Ascending; neither overlapping nor touching.
    sorted: Vec<(u64, u64)>,
    /// Where the last interval was found: every interval before it ends before the last start.
    cursor: usize,
    /// Not merged yet.
    waiting: Vec<(u64, u64)>,
}

/// Intervals that may wait before they are merged, whatever the size of the set.
const PATIENCE: usize = 64;

impl IntervalSet {
    /// Adds `start..end`, which must not be empty.
    #[inline]
    pub(crate) fn add(&mut self, start: u64, end: u64) {
        if self.cursor > 0 && self.sorted[self.cursor - 1].1 >= start {
            self.cursor = self.sorted.partition_point(|it| it.1 < start);
        }
        while self.cursor < self.sorted.len() && self.sorted[self.cursor].1 < start {
            self.cursor += 1;
        }
        let next = self.sorted.get(self.cursor + 1).map_or(u64::MAX, |it| it.0);
        match self.sorted.get_mut(self.cursor) {
            None => self.sorted.push((start, end)),
            Some(found) if start <= found.1 && end >= found.0 && end < next => {
                found.0 = found.0.min(start);
                found.1 = found.1.max(end);
            }
            Some(_) => self.wait(start, end),
        }
    }

    #[inline(never)]
    fn wait(&mut self, start: u64, end: u64) {
        self.waiting.push((start, end));
        if self.waiting.len() >= PATIENCE + self.sorted.len() / 8 {
            self.settle();
        }
    }

    /// Merges what waits.
    pub(crate) fn settle(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        self.waiting.sort_unstable();
        let from = self.waiting[0].0;
        let first = self.sorted.partition_point(|it| it.1 < from);
        let tail = self.sorted.split_off(first);
        merge_into(&mut self.sorted, &tail, &self.waiting);
        self.waiting.clear();
        self.cursor = self.cursor.min(first);
    }

    /// Adds all intervals of `other`.
    pub(crate) fn merge(&mut self, mut other: Self) {
        other.settle();
        self.settle();
        if self.sorted.is_empty() {
            self.sorted = other.sorted;
        } else if !other.sorted.is_empty() {
            let mine = std::mem::take(&mut self.sorted);
            merge_into(&mut self.sorted, &mine, &other.sorted);
        }
        self.cursor = 0;
    }

    /// Whether nothing was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.sorted.is_empty() && self.waiting.is_empty()
    }

    /// Disjoint intervals, ascending; [`Self::settle`] was called after the last addition.
    pub(crate) fn intervals(&self) -> &[(u64, u64)] {
        debug_assert!(self.waiting.is_empty(), "intervals wait to be merged");
        &self.sorted
    }

    /// Cycles in the set.
    pub(crate) fn length(&self) -> u64 {
        self.intervals()
            .iter()
            .map(|(start, end)| end - start)
            .sum()
    }
}

/// Appends the union of two ascending lists to `into`, whose intervals all end before both.
fn merge_into(into: &mut Vec<(u64, u64)>, a: &[(u64, u64)], b: &[(u64, u64)]) {
    into.reserve(a.len());
    let (mut a, mut b) = (a, b);
    loop {
        let take_a = match (a.first(), b.first()) {
            (Some(x), Some(y)) => x.0 <= y.0,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => return,
        };
        let from = if take_a { &mut a } else { &mut b };
        let (start, end) = from[0];
        *from = &from[1..];
        match into.last_mut() {
            Some(last) if last.1 >= start => last.1 = last.1.max(end),
            _ => into.push((start, end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    fn union_of(intervals: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let mut set = IntervalSet::default();
        intervals
            .iter()
            .for_each(|&(start, end)| set.add(start, end));
        set.settle();
        set.sorted
    }

    #[test]
    fn touching_intervals_merge_and_gaps_stay() {
        assert_eq!(
            union_of(&[(0, 10), (10, 20), (30, 40)]),
            [(0, 20), (30, 40)]
        );
        assert_eq!(union_of(&[(30, 40), (0, 10), (10, 30)]), [(0, 40)]);
        assert_eq!(union_of(&[(0, 10), (20, 30), (40, 50), (5, 45)]), [(0, 50)]);
        assert_eq!(union_of(&[(0, 10), (20, 30), (5, 20)]), [(0, 30)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn the_union_covers_the_same_cycles(
            lists in prop::collection::vec(
                prop::collection::vec((0u64..600, 1u64..12), 0..150), 1..4),
        ) {
            let mut covered = BTreeSet::new();
            let mut whole = IntervalSet::default();
            for list in &lists {
                let mut part = IntervalSet::default();
                for &(start, length) in list {
                    part.add(start, start + length);
                    covered.extend(start..start + length);
                }
                whole.merge(part);
            }
            prop_assert_eq!(whole.length(), covered.len() as u64);
            for pair in whole.sorted.windows(2) {
                prop_assert!(pair[0].1 < pair[1].0, "{:?}", pair);
            }
        }
    }
}
