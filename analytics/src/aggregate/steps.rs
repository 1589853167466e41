//! Sums of each step over one block: samples in, one figure and few intervals a step out.
//!
//! Tiles of one superstep run a step at nearly the same time, so the union of a step's samples is
//! mostly one interval that grows. One row of a cache line a step, which also says where its
//! samples belong, is visited in order by every tile, and stays in the cache where tallies of many
//! groups would not.

use super::plan::StepPlan;

/// Samples of one step since its last interval was complete, and where they belong.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct StepRow {
    /// As [`StepPlan::group`].
    pub(crate) group: u32,
    /// As [`StepPlan::place`].
    pub(crate) place: u32,
    /// The connected union so far; `start > end` where there is none.
    start: u64,
    end: u64,
    cycles: u64,
    samples: u64,
}

impl StepRow {
    const fn new(plan: &StepPlan) -> Self {
        Self {
            group: plan.group,
            place: plan.place,
            start: u64::MAX,
            end: 0,
            cycles: 0,
            samples: 0,
        }
    }

    /// Adds a sample of `cycles`, not zero. Where it does not touch the step's interval, that
    /// interval is complete and is returned.
    #[inline]
    pub(crate) fn add(&mut self, start: u64, cycles: u32) -> Option<(u64, u64)> {
        let cycles = u64::from(cycles);
        let end = start.saturating_add(cycles);
        self.cycles += cycles;
        self.samples += 1;
        let (from, to) = (self.start, self.end);
        if (start <= to) & (end >= from) {
            self.start = from.min(start);
            self.end = to.max(end);
            return None;
        }
        (self.start, self.end) = (start, end);
        (from < to).then_some((from, to))
    }
}

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
    rows: Vec<StepRow>,
}

impl StepRows {
    /// Rows of no sample, one for each step.
    pub(crate) fn new(plans: &[StepPlan]) -> Self {
        Self {
            rows: plans.iter().map(StepRow::new).collect(),
        }
    }

    /// The rows, by step.
    #[inline]
    pub(crate) fn rows(&mut self) -> &mut [StepRow] {
        &mut self.rows
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
                *row = StepRow::new(plan);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: StepPlan = StepPlan {
        group: 3,
        place: 5,
        useful: 0,
        physical: 0,
        covered: 0,
    };

    #[test]
    fn intervals_grow_while_they_touch() {
        let plans = [PLAN; 2];
        let mut rows = StepRows::new(&plans);
        let row = &mut rows.rows()[1];
        assert_eq!((row.group, row.place), (3, 5));
        assert_eq!(row.add(10, 5), None, "the first");
        assert_eq!(row.add(15, 1), None, "touches its end");
        assert_eq!(row.add(8, 2), None, "touches its start");
        assert_eq!(row.add(9, 3), None, "inside");
        assert_eq!(row.add(17, 3), Some((8, 16)), "apart, later");
        assert_eq!(row.add(1, 3), Some((17, 20)), "apart, earlier");
        let mut drained = Vec::new();
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
        let mut row = StepRow::new(&PLAN);
        assert_eq!(row.add(0, 4), None);
        assert_eq!(row.add(9, 1), Some((0, 4)));
    }
}
