//! The union of very many intervals, kept while they arrive.
//!
//! Tiles of a bulk-synchronous run do nearly the same at nearly the same time, so most intervals
//! lie in a run that is already there or widen one; the rest wait and are merged in batches.

/// A set of disjoint, non-touching half-open runs on the clock of the writer.
#[derive(Debug, Default)]
pub(crate) struct IntervalUnion {
    /// Ascending.
    runs: Vec<(i64, i64)>,
    /// Intervals that fit no run in place.
    waiting: Vec<(i64, i64)>,
    /// Where the last interval was: the next is near it.
    cursor: usize,
}

/// Fewest intervals that are worth a merge.
const BATCH: usize = 4_096;

impl IntervalUnion {
    /// Adds `start..end`, which is not empty.
    pub(crate) fn add(&mut self, start: i64, end: i64) {
        let at = self.first_run_reaching(start);
        self.cursor = at;
        let free_before = at == 0 || self.runs[at - 1].1 < start;
        let next = self.runs.get(at + 1).copied();
        match self.runs.get_mut(at) {
            Some(run) if run.0 <= start && end <= run.1 => {}
            Some(run) if run.0 <= start && next.is_none_or(|next| end < next.0) => run.1 = end,
            Some(run) if run.0 <= end && end <= run.1 && free_before => run.0 = start,
            _ => {
                self.waiting.push((start, end));
                if self.waiting.len() >= BATCH.max(self.runs.len() / 4) {
                    self.merge();
                }
            }
        }
    }

    /// Length of the union.
    pub(crate) fn length(&mut self) -> u64 {
        self.merge();
        self.runs
            .iter()
            .map(|&(start, end)| start.abs_diff(end))
            .sum()
    }

    /// The first run that ends at or after `start`; their number where there is none.
    fn first_run_reaching(&self, start: i64) -> usize {
        let reaches = |at: usize| self.runs.get(at).is_none_or(|run| run.1 >= start);
        let passed = |at: usize| at == 0 || self.runs[at - 1].1 < start;
        let near = (self.cursor..self.cursor.saturating_add(3).min(self.runs.len() + 1))
            .find(|&at| reaches(at));
        match near {
            Some(at) if passed(at) => at,
            _ => self.runs.partition_point(|run| run.1 < start),
        }
    }

    fn merge(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        self.waiting.append(&mut self.runs);
        self.waiting.sort_unstable();
        for &(start, end) in &self.waiting {
            match self.runs.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => self.runs.push((start, end)),
            }
        }
        self.waiting.clear();
        self.cursor = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn touching_intervals_join_and_gaps_stay() {
        let mut union = IntervalUnion::default();
        for (start, end) in [(10, 20), (-5, -1), (20, 25), (30, 31), (12, 14)] {
            union.add(start, end);
        }
        assert_eq!(union.length(), 4 + 15 + 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn length_is_the_number_of_cycles_touched(
            intervals in prop::collection::vec((-500i64..500, 1i64..40), 1..300),
            split in 0usize..300,
        ) {
            let mut union = IntervalUnion::default();
            let mut touched = std::collections::BTreeSet::new();
            for (at, &(start, length)) in intervals.iter().enumerate() {
                if at == split {
                    union.merge();
                }
                union.add(start, start + length);
                touched.extend(start..start + length);
            }
            prop_assert_eq!(union.length(), touched.len() as u64);
        }
    }
}
