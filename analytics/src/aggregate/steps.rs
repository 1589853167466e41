//! Sums of each step over one block: samples in, one figure and few intervals a step out.
//!
//! Tiles of one superstep run a step at nearly the same time, so the union of a step's samples is
//! mostly one interval that grows. One row of 32 bytes a step, visited in order by every tile,
//! stays in the cache where tallies of many groups would not.

use super::plan::StepPlan;

/// Samples of one step since its last interval was complete.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The connected union so far; `start > end` where there is none.
    start: u64,
    end: u64,
    cycles: u64,
    samples: u64,
}

const EMPTY: Row = Row {
    start: u64::MAX,
    end: 0,
    cycles: 0,
    samples: 0,
};

/// What a step's samples sum to in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StepSum {
    /// Cycles of all samples.
    pub(crate) cycles: u64,
    /// Number of samples.
    pub(crate) samples: u64,
}

/// One row a step.
#[derive(Debug)]
pub(crate) struct StepRows {
    rows: Vec<Row>,
}

impl StepRows {
    /// Rows of no sample, one for each step.
    pub(crate) fn new(steps: usize) -> Self {
        Self {
            rows: vec![EMPTY; steps],
        }
    }

    /// Adds a sample of `cycles`, not zero. Where it does not touch the step's interval, that
    /// interval is complete and is returned.
    #[inline]
    pub(crate) fn add(&mut self, step: usize, start: u64, cycles: u32) -> Option<(u64, u64)> {
        let row = &mut self.rows[step];
        let cycles = u64::from(cycles);
        let end = start.saturating_add(cycles);
        row.cycles += cycles;
        row.samples += 1;
        let (from, to) = (row.start, row.end);
        if (start <= to) & (end >= from) {
            row.start = from.min(start);
            row.end = to.max(end);
            return None;
        }
        (row.start, row.end) = (start, end);
        (from < to).then_some((from, to))
    }

    /// Calls `each` for every step with samples, with its sums and its last interval, and forgets
    /// them.
    pub(crate) fn drain(
        &mut self,
        plans: &[StepPlan],
        mut each: impl FnMut(&StepPlan, StepSum, (u64, u64)),
    ) {
        for (row, plan) in self.rows.iter_mut().zip(plans) {
            if row.samples > 0 {
                let sum = StepSum {
                    cycles: row.cycles,
                    samples: row.samples,
                };
                each(plan, sum, (row.start, row.end));
                *row = EMPTY;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_grow_while_they_touch() {
        let mut rows = StepRows::new(2);
        assert_eq!(rows.add(1, 10, 5), None, "the first");
        assert_eq!(rows.add(1, 15, 1), None, "touches its end");
        assert_eq!(rows.add(1, 8, 2), None, "touches its start");
        assert_eq!(rows.add(1, 9, 3), None, "inside");
        assert_eq!(rows.add(1, 17, 3), Some((8, 16)), "apart, later");
        assert_eq!(rows.add(1, 1, 3), Some((17, 20)), "apart, earlier");
        let plan = StepPlan {
            group: 0,
            place: 0,
            useful: 0,
            physical: 0,
            covered: 0,
        };
        let mut drained = Vec::new();
        let plans = [plan; 2];
        rows.drain(&plans, |_, sum, last| drained.push((sum, last)));
        let sum = StepSum {
            cycles: 17,
            samples: 6,
        };
        assert_eq!(drained, [(sum, (1, 4))]);
        rows.drain(&plans, |_, _, _| panic!("nothing is left"));
    }

    #[test]
    fn the_first_sample_may_start_at_zero() {
        let mut rows = StepRows::new(1);
        assert_eq!(rows.add(0, 0, 4), None);
        assert_eq!(rows.add(0, 9, 1), Some((0, 4)));
    }
}
