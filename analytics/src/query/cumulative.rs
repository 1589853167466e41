//! How work adds up over the run: a filter in, running sums at equal distances out.

use super::filter::visit_matching;
use super::{Filter, QueryError};
use crate::clock::{ClockKind, Frame};
use crate::profile::ProfileReport;
use crate::units::{Cycles, Work};

/// Points of a chart of work over time.
pub const CUMULATIVE_POINTS: u32 = 480;

/// Running sums over the samples that match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cumulative {
    /// Length of the run in cycles.
    pub run: u64,
    /// Profiled tiles.
    pub tile_count: u64,
    /// Ascending; the last one is at the end of the run.
    pub points: Vec<CumulativePoint>,
}

/// The sums up to a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CumulativePoint {
    /// The cycle on the clock in force.
    pub at: u64,
    /// Measured tile-cycles before it.
    pub measured: Cycles,
    /// Physical work of samples that ended by then.
    pub physical: Work,
    /// Useful work of samples that ended by then.
    pub useful: Work,
}

/// Running sums of `report` at `columns` cycles, equally far from each other. Work counts when its
/// sample ends; samples without an estimate, and those that the crop cuts, have none.
///
/// # Errors
/// Where a sample chunk cannot be decoded.
pub fn cumulative(
    report: &ProfileReport,
    filter: &Filter,
    clock: ClockKind,
    columns: u32,
) -> Result<Cumulative, QueryError> {
    let frame = Frame::new(report, clock);
    let run = frame.span(report)?.get();
    let mut sums = Columns::new(run, columns.max(1));
    visit_matching(report, filter, frame, |step, placed| {
        sums.add_cycles(placed.offset, placed.end());
        let estimate = step.estimate.as_ref().filter(|_| !placed.cut);
        if let Some(estimate) = estimate {
            sums.add_work(placed.end(), estimate.useful, estimate.physical);
        }
    })?;
    Ok(Cumulative {
        run,
        tile_count: report.tiles().len() as u64,
        points: sums.finish(),
    })
}

/// What each column adds to the sums.
struct Columns {
    run: u64,
    edges: Vec<u64>,
    /// Tile-cycles inside the column.
    inside: Vec<u64>,
    /// Samples that cover whole columns: +1 where they begin to, -1 where they stop.
    whole: Vec<i64>,
    useful: Vec<Work>,
    physical: Vec<Work>,
}

impl Columns {
    fn new(run: u64, columns: u32) -> Self {
        let edge = |column: u32| {
            let at = u128::from(run) * u128::from(column) / u128::from(columns);
            u64::try_from(at).unwrap_or(run)
        };
        let count = columns as usize;
        Self {
            run,
            edges: (0..=columns).map(edge).collect(),
            inside: vec![0; count],
            whole: vec![0; count + 1],
            useful: vec![Work::ZERO; count],
            physical: vec![Work::ZERO; count],
        }
    }

    /// The last column whose left edge is at or before `cycle`.
    fn column(&self, cycle: u64) -> usize {
        let cycle = cycle.min(self.run.saturating_sub(1));
        let at = self.edges.partition_point(|&edge| edge <= cycle);
        at.saturating_sub(1).min(self.inside.len() - 1)
    }

    fn add_cycles(&mut self, from: u64, to: u64) {
        let (first, last) = (self.column(from), self.column(to.saturating_sub(1)));
        if first == last {
            self.inside[first] += to - from;
            return;
        }
        self.inside[first] += self.edges[first + 1].saturating_sub(from);
        self.inside[last] += to.saturating_sub(self.edges[last]);
        self.whole[first + 1] += 1;
        self.whole[last] -= 1;
    }

    fn add_work(&mut self, end: u64, useful: Work, physical: Work) {
        let column = self.column(end.saturating_sub(1));
        self.useful[column] += useful;
        self.physical[column] += physical;
    }

    fn finish(self) -> Vec<CumulativePoint> {
        let mut point = CumulativePoint::default();
        let mut points = vec![point];
        let mut covering = 0_i64;
        for column in 0..self.inside.len() {
            covering += self.whole[column];
            let width = self.edges[column + 1] - self.edges[column];
            let whole = u64::try_from(covering).unwrap_or(0) * width;
            point.at = self.edges[column + 1];
            point.measured += Cycles::new(self.inside[column] + whole);
            point.useful += self.useful[column];
            point.physical += self.physical[column];
            points.push(point);
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_are_those_of_every_cycle() {
        for (run, count) in [(100, 7), (5, 8), (64, 64)] {
            let mut columns = Columns::new(run, count);
            let spans = [(0, run), (1, 2), (2, run - 1), (run - 1, run)];
            for (from, to) in spans {
                columns.add_cycles(from, to);
            }
            columns.add_work(2, Work::from_cycles(3), Work::from_cycles(4));
            for point in columns.finish() {
                let inside = |&(from, to): &(u64, u64)| {
                    (from..to).filter(|&cycle| cycle < point.at).count() as u64
                };
                let expected: u64 = spans.iter().map(inside).sum();
                assert_eq!(
                    point.measured.get(),
                    expected,
                    "{run} in {count}: {point:?}"
                );
                let done = if point.at >= 2 { 3 } else { 0 };
                assert_eq!(point.useful, Work::from_cycles(done), "{point:?}");
            }
        }
    }
}
