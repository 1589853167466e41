//! Time of each tile in each phase: pieces of tiles in, maxima over tiles out.
//!
//! A tile's time in a place is the sum of its matching samples there, so maxima are taken when a tile
//! is complete. Its samples may come in several pieces; only the sums of a piece are kept.

use super::plan::Plan;

/// Sums and maxima by place.
pub(crate) struct Places {
    /// Cycles of the current piece, or tile, by place.
    sum: Vec<u64>,
    /// Places whose `sum` is not zero.
    touched: Vec<u32>,
    /// Longest tile by place; zero where no sample matched.
    pub(crate) longest: Vec<u64>,
    /// Tiles by group; unused where groups are tiles.
    pub(crate) group_tiles: Vec<u64>,
    /// The tile that last counted for a group.
    group_seen: Vec<u64>,
    /// Tiles with matching samples.
    pub(crate) tiles: u64,
    phase_sum: Vec<u64>,
    phase_touched: Vec<u32>,
    /// Longest tile by phase row, over all groups; only where phases are shared.
    pub(crate) phase_longest: Vec<u64>,
    /// Sums of earlier pieces of the tiles of the block.
    pieces: Vec<Vec<(u32, u64)>>,
    complete_tiles: u64,
}

impl Places {
    pub(crate) fn new(plan: &Plan<'_>) -> Self {
        let groups = if plan.by_tile { 0 } else { plan.group_count };
        let phases = if plan.phases_are_shared {
            plan.report.phases().len()
        } else {
            0
        };
        Self {
            sum: vec![0; plan.places.len()],
            touched: Vec::new(),
            longest: vec![0; plan.places.len()],
            group_tiles: vec![0; groups],
            group_seen: vec![0; groups],
            tiles: 0,
            phase_sum: vec![0; phases],
            phase_touched: Vec::new(),
            phase_longest: vec![0; phases],
            pieces: Vec::new(),
            complete_tiles: 0,
        }
    }

    /// Starts a block of `tiles` tiles.
    pub(crate) fn begin_block(&mut self, tiles: usize) {
        self.pieces
            .resize_with(self.pieces.len().max(tiles), Vec::new);
    }

    /// Adds `cycles`, not zero, of the current tile.
    #[inline]
    pub(crate) fn add(&mut self, place: u32, cycles: u64) {
        let sum = &mut self.sum[place as usize];
        if *sum == 0 {
            self.touched.push(place);
        }
        *sum += cycles;
    }

    /// Ends a piece of the tile at position `tile` of the block; more may follow.
    pub(crate) fn end_piece(&mut self, tile: usize) {
        let Self {
            sum,
            touched,
            pieces,
            ..
        } = self;
        let sums = touched
            .drain(..)
            .map(|place| (place, std::mem::take(&mut sum[place as usize])));
        pieces[tile].extend(sums);
    }

    /// Ends the tile at position `tile` of the block, and returns in how many places it was.
    pub(crate) fn end_tile(&mut self, plan: &Plan<'_>, tile: usize) -> u64 {
        let mut pieces = std::mem::take(&mut self.pieces[tile]);
        for (place, cycles) in pieces.drain(..) {
            self.add(place, cycles);
        }
        self.pieces[tile] = pieces;
        self.complete_tiles += 1;
        self.tiles += u64::from(!self.touched.is_empty());
        let mut touched = std::mem::take(&mut self.touched);
        for &place in &touched {
            let cycles = std::mem::take(&mut self.sum[place as usize]);
            let longest = &mut self.longest[place as usize];
            *longest = cycles.max(*longest);
            let key = plan.places[place as usize];
            self.count_tile(key.group);
            self.add_to_phase(key.phase, cycles);
        }
        self.end_phases();
        let count = touched.len() as u64;
        touched.clear();
        self.touched = touched;
        count
    }

    #[inline]
    fn count_tile(&mut self, group: u32) {
        if let Some(seen) = self.group_seen.get_mut(group as usize)
            && *seen != self.complete_tiles
        {
            *seen = self.complete_tiles;
            self.group_tiles[group as usize] += 1;
        }
    }

    #[inline]
    fn add_to_phase(&mut self, phase: u32, cycles: u64) {
        if let Some(sum) = self.phase_sum.get_mut(phase as usize) {
            if *sum == 0 {
                self.phase_touched.push(phase);
            }
            *sum += cycles;
        }
    }

    fn end_phases(&mut self) {
        for phase in self.phase_touched.drain(..) {
            let cycles = std::mem::take(&mut self.phase_sum[phase as usize]);
            let longest = &mut self.phase_longest[phase as usize];
            *longest = cycles.max(*longest);
        }
    }

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
