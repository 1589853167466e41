//! Time of each tile in each place: samples tile by tile in, maxima over tiles out.
//!
//! A tile's time in a place is the sum of its matching samples there, so maxima are taken when a
//! block of tiles is complete. Until then its times are in a table, or, where a plan has too many
//! places for one, in a list for each tile that is summed when it grows past a few times the
//! number of places.

use super::grid::{Grid, LANES, PLACES_MAX};
use super::plan::Plan;
use super::visits::Visits;

/// Times of the tiles of the current block.
enum Times {
    Grid(Grid),
    Lists {
        lists: Vec<Visits>,
        /// Cycles of one tile by place; all zero between tiles.
        sum: Vec<u64>,
        /// Length at which a list is summed.
        limit: usize,
    },
}

/// Sums and maxima by place.
pub(crate) struct Places {
    times: Times,
    /// Tiles of the current block.
    block_tiles: usize,
    /// Longest tile by place; zero where no sample matched.
    pub(crate) longest: Vec<u64>,
    /// Tiles by group; unused where groups are tiles.
    pub(crate) group_tiles: Vec<u64>,
    /// In a grid, a mark for each tile of the current block that a group ran on.
    group_marks: Vec<[u32; LANES]>,
    /// In lists, whether a group ran on the current tile.
    group_is_here: Vec<bool>,
    /// In lists, the groups of the current tile.
    group_touched: Vec<u32>,
    /// Tiles with matching samples.
    pub(crate) tiles: u64,
    /// Cycles of one tile by phase row; all zero between tiles.
    phase_sum: Vec<u64>,
    phase_touched: Vec<u32>,
    /// Longest tile by phase row, over all groups; only where phases are shared.
    pub(crate) phase_longest: Vec<u64>,
}

/// The times of one tile while its samples are added.
pub(crate) enum Piece {
    Grid { grid: Grid, lane: usize },
    List(Visits),
}

impl Places {
    /// Places of `plan`, for blocks of at most `widest` tiles.
    pub(crate) fn new(plan: &Plan<'_>, widest: usize) -> Self {
        let groups = if plan.by_tile { 0 } else { plan.group_count };
        let phases = if plan.phases_are_shared {
            plan.report.phases().len()
        } else {
            0
        };
        let count = plan.places.len();
        let has_grid = count <= PLACES_MAX && widest <= LANES;
        let times = if has_grid {
            Times::Grid(Grid::new(count))
        } else {
            Times::Lists {
                lists: Vec::new(),
                sum: vec![0; count],
                limit: 1_024 + 4 * count,
            }
        };
        Self {
            times,
            block_tiles: 0,
            longest: vec![0; count],
            group_tiles: vec![0; groups],
            group_marks: vec![[0; LANES]; if has_grid { groups } else { 0 }],
            group_is_here: vec![false; if has_grid { 0 } else { groups }],
            group_touched: Vec::new(),
            tiles: 0,
            phase_sum: vec![0; phases],
            phase_touched: Vec::new(),
            phase_longest: vec![0; phases],
        }
    }

    /// Starts a block of `tiles` tiles.
    pub(crate) fn begin_block(&mut self, tiles: usize) {
        self.block_tiles = tiles;
        if let Times::Lists { lists, .. } = &mut self.times {
            lists.resize_with(lists.len().max(tiles), Visits::default);
        }
    }

    /// The times of the tile at position `tile` of the block, to be given back by
    /// [`Self::end_piece`].
    pub(crate) fn begin_piece(&mut self, tile: usize) -> Piece {
        match &mut self.times {
            Times::Grid(grid) => Piece::Grid {
                grid: std::mem::take(grid),
                lane: tile,
            },
            Times::Lists { lists, .. } => Piece::List(std::mem::take(&mut lists[tile])),
        }
    }

    /// Ends a piece of the tile at position `tile` of the block; more may follow.
    pub(crate) fn end_piece(&mut self, tile: usize, piece: Piece) {
        match (&mut self.times, piece) {
            (Times::Grid(mine), Piece::Grid { grid, .. }) => *mine = grid,
            (Times::Lists { lists, sum, limit }, Piece::List(mut visits)) => {
                if visits.len() > *limit {
                    visits.sum_up(sum);
                }
                lists[tile] = visits;
            }
            (Times::Grid(_), Piece::List(_)) | (Times::Lists { .. }, Piece::Grid { .. }) => {
                unreachable!("a piece goes back to where it came from")
            }
        }
    }

    /// Ends the block, and calls `each` with the position of every tile that has samples and the
    /// number of places it was in; where groups are not tiles, with any number that is not zero.
    pub(crate) fn end_block(&mut self, plan: &Plan<'_>, mut each: impl FnMut(usize, u64)) {
        let mut times = std::mem::replace(&mut self.times, Times::Grid(Grid::default()));
        let counts = match &mut times {
            Times::Grid(grid) => self.end_grid(plan, grid),
            Times::Lists { lists, sum, .. } => lists[..self.block_tiles]
                .iter_mut()
                .map(|visits| self.end_list(plan, visits, sum))
                .collect(),
        };
        self.times = times;
        let present = counts
            .into_iter()
            .enumerate()
            .filter(|&(_, count)| count > 0);
        for (tile, count) in present {
            self.tiles += 1;
            each(tile, count);
        }
    }

    /// Number of places by lane; where groups are not tiles, 1 for any.
    fn end_grid(&mut self, plan: &Plan<'_>, grid: &mut Grid) -> Vec<u64> {
        let mut counts = [0; LANES];
        let mut phase = NO_PHASE;
        let mut phase_sum = [0; LANES];
        grid.drain(|at, row| {
            let place = plan.places[at];
            let longest = row.longest();
            self.longest[at] = longest.max(self.longest[at]);
            if let Some(marks) = self.group_marks.get_mut(place.group as usize) {
                row.mark(marks);
            }
            if plan.phases_are_shared {
                if place.phase != phase {
                    self.end_phase(phase, phase_sum.into_iter().fold(0, u64::max));
                    (phase, phase_sum) = (place.phase, [0; LANES]);
                }
                row.add_to(&mut phase_sum);
            }
            if plan.by_tile {
                row.count(&mut counts);
            }
        });
        self.end_phase(phase, phase_sum.into_iter().fold(0, u64::max));
        for (tiles, marks) in self.group_tiles.iter_mut().zip(&mut self.group_marks) {
            for (mark, count) in marks.iter_mut().zip(&mut counts) {
                let is_here = u32::from(std::mem::take(mark) > 0);
                *tiles += u64::from(is_here);
                *count |= is_here;
            }
        }
        counts.into_iter().map(u64::from).collect()
    }

    /// Number of places of one tile.
    fn end_list(&mut self, plan: &Plan<'_>, visits: &mut Visits, sum: &mut [u64]) -> u64 {
        let mut count = 0;
        visits.drain(sum, |at, cycles| {
            count += 1;
            let longest = &mut self.longest[at as usize];
            *longest = cycles.max(*longest);
            let place = plan.places[at as usize];
            if let Some(is_here) = self.group_is_here.get_mut(place.group as usize)
                && !std::mem::replace(is_here, true)
            {
                self.group_touched.push(place.group);
            }
            if let Some(sum) = self.phase_sum.get_mut(place.phase as usize) {
                *sum += cycles;
                self.phase_touched.push(place.phase);
            }
        });
        for group in self.group_touched.drain(..) {
            self.group_is_here[group as usize] = false;
            self.group_tiles[group as usize] += 1;
        }
        for phase in std::mem::take(&mut self.phase_touched) {
            let cycles = std::mem::take(&mut self.phase_sum[phase as usize]);
            self.end_phase(phase, cycles);
        }
        count
    }

    fn end_phase(&mut self, phase: u32, cycles: u64) {
        if let Some(longest) = self.phase_longest.get_mut(phase as usize) {
            *longest = cycles.max(*longest);
        }
    }

    #[cfg(feature = "native")]
    /// Adds the maxima and counts of other tiles.
    pub(crate) fn merge(&mut self, other: &Self) {
        let maximum = |mine: &mut [u64], others: &[u64]| {
            mine.iter_mut()
                .zip(others)
                .for_each(|(a, &b)| *a = b.max(*a));
        };
        maximum(&mut self.longest, &other.longest);
        maximum(&mut self.phase_longest, &other.phase_longest);
        for (mine, others) in self.group_tiles.iter_mut().zip(&other.group_tiles) {
            *mine += others;
        }
        self.tiles += other.tiles;
    }
}

/// No phase row.
const NO_PHASE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::plan::{Grouping, Selection};
    use crate::aggregate::{Worker, blocks};
    use crate::clock::{ClockKind, Frame};
    use crate::synth::{SynthOptions, generate};

    /// What a pass with blocks said to be of `widest` tiles finds.
    fn found(plan: &Plan<'_>, widest: usize) -> [Vec<u64>; 4] {
        let mut worker = Worker::new(plan, widest);
        for block in blocks(plan.report, |_| true) {
            worker.run(&block).expect("decodes");
        }
        let tiles = worker.tiles.iter().map(|it| it.1.phase_count).collect();
        let Places {
            longest,
            mut group_tiles,
            phase_longest,
            tiles: count,
            ..
        } = worker.places;
        group_tiles.push(count);
        [longest, group_tiles, phase_longest, tiles]
    }

    #[test]
    fn lists_and_the_grid_find_the_same() {
        let options = SynthOptions {
            tiles: 80,
            samples: 30_000,
            ..SynthOptions::default()
        };
        let mut bytes = Vec::new();
        generate(&options, &mut |piece| bytes.extend_from_slice(piece)).expect("generates");
        let report = crate::format::open_bytes(bytes).expect("opens");
        let steps = report.steps();
        let group_of_step = steps.iter().map(|it| u32::from(it.estimate.is_none()));
        let groupings = [
            Grouping::BySteps {
                group_of_step: group_of_step.collect(),
                group_count: 2,
            },
            Grouping::ByTile {
                matches: steps.iter().map(|it| it.estimate.is_some()).collect(),
            },
        ];
        for grouping in groupings {
            let selection = Selection {
                tiles: vec![true; report.tiles().len()],
                at: None,
                at_offset: None,
            };
            let frame = Frame::new(&report, ClockKind::default());
            let plan = Plan::new(&report, frame, &grouping, selection, 0);
            let grid = found(&plan, LANES);
            assert!(grid[0].iter().any(|&cycles| cycles > 0), "{grouping:?}");
            assert_eq!(grid, found(&plan, LANES + 1), "{grouping:?}");
        }
    }
}
