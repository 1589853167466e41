//! Time of each tile in each place: samples tile by tile in, maxima over tiles out.
//!
//! A tile's time in a place is the sum of its matching samples there, so maxima are taken when a
//! tile is complete. Chunks hold a stretch of time of many tiles; until a tile is complete, its
//! times are listed, and the list is summed when it grows past a few times the number of places.

use super::plan::Plan;

/// Cycles in a place; longer times take several visits.
#[derive(Clone, Copy, Debug)]
struct Visit {
    place: u32,
    cycles: u32,
}

/// Sums and maxima by place.
pub(crate) struct Places {
    /// Visits of each tile of the block, in time order.
    visits: Vec<Vec<Visit>>,
    /// Length at which a tile's visits are summed.
    limit: usize,
    /// Cycles of one tile by place; all zero between tiles.
    sum: Vec<u64>,
    /// Longest tile by place; zero where no sample matched.
    pub(crate) longest: Vec<u64>,
    /// Tiles by group; unused where groups are tiles.
    pub(crate) group_tiles: Vec<u64>,
    /// The tile that last counted for a group.
    group_seen: Vec<u64>,
    /// Tiles with matching samples.
    pub(crate) tiles: u64,
    /// Cycles of one tile by phase row; all zero between tiles.
    phase_sum: Vec<u64>,
    phase_touched: Vec<u32>,
    /// Longest tile by phase row, over all groups; only where phases are shared.
    pub(crate) phase_longest: Vec<u64>,
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
            visits: Vec::new(),
            limit: 1_024 + 4 * plan.places.len(),
            sum: vec![0; plan.places.len()],
            longest: vec![0; plan.places.len()],
            group_tiles: vec![0; groups],
            group_seen: vec![0; groups],
            tiles: 0,
            phase_sum: vec![0; phases],
            phase_touched: Vec::new(),
            phase_longest: vec![0; phases],
            complete_tiles: 0,
        }
    }

    /// Starts a block of `tiles` tiles.
    pub(crate) fn begin_block(&mut self, tiles: usize) {
        self.visits
            .resize_with(self.visits.len().max(tiles), Vec::new);
    }

    /// The visits of the tile at position `tile` of the block, to be given back by
    /// [`Self::end_piece`].
    pub(crate) fn begin_piece(&mut self, tile: usize) -> Visits {
        Visits(std::mem::take(&mut self.visits[tile]))
    }

    /// Ends a piece of the tile at position `tile` of the block; more may follow.
    pub(crate) fn end_piece(&mut self, tile: usize, visits: Visits) {
        let mut visits = visits.0;
        if visits.len() > self.limit {
            let mut summed = Visits(Vec::new());
            self.sum_up(&visits, |place, cycles| summed.add_long(place, cycles));
            visits = summed.0;
        }
        self.visits[tile] = visits;
    }

    /// Calls `each` for every place of `visits` with the cycles spent there.
    fn sum_up(&mut self, visits: &[Visit], mut each: impl FnMut(u32, u64)) {
        for visit in visits {
            self.sum[visit.place as usize] += u64::from(visit.cycles);
        }
        for visit in visits {
            let cycles = std::mem::take(&mut self.sum[visit.place as usize]);
            if cycles > 0 {
                each(visit.place, cycles);
            }
        }
    }

    /// Ends the tile at position `tile` of the block, and returns in how many places it was.
    pub(crate) fn end_tile(&mut self, plan: &Plan<'_>, tile: usize) -> u64 {
        let mut visits = std::mem::take(&mut self.visits[tile]);
        self.complete_tiles += 1;
        self.tiles += u64::from(!visits.is_empty());
        for visit in &visits {
            self.sum[visit.place as usize] += u64::from(visit.cycles);
        }
        let mut count = 0;
        let (mut phase, mut phase_cycles) = (0, 0);
        for visit in &visits {
            let cycles = std::mem::take(&mut self.sum[visit.place as usize]);
            if cycles == 0 {
                continue;
            }
            count += 1;
            let longest = &mut self.longest[visit.place as usize];
            *longest = cycles.max(*longest);
            let place = plan.places[visit.place as usize];
            self.count_tile(place.group);
            if place.phase != phase {
                self.add_to_phase(phase, phase_cycles);
                (phase, phase_cycles) = (place.phase, 0);
            }
            phase_cycles += cycles;
        }
        self.add_to_phase(phase, phase_cycles);
        self.end_phases();
        visits.clear();
        self.visits[tile] = visits;
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
            *sum += cycles;
            self.phase_touched.push(phase);
        }
    }

    fn end_phases(&mut self) {
        for phase in self.phase_touched.drain(..) {
            let cycles = std::mem::take(&mut self.phase_sum[phase as usize]);
            let longest = &mut self.phase_longest[phase as usize];
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

/// The visits of one tile.
pub(crate) struct Visits(Vec<Visit>);

impl Visits {
    /// Adds `cycles`, not zero.
    #[inline]
    pub(crate) fn add(&mut self, place: u32, cycles: u32) {
        if let Some(last) = self.0.last_mut()
            && last.place == place
            && let Some(sum) = last.cycles.checked_add(cycles)
        {
            last.cycles = sum;
        } else {
            self.0.push(Visit { place, cycles });
        }
    }

    /// Adds any number of cycles.
    fn add_long(&mut self, place: u32, cycles: u64) {
        let longest = u64::from(u32::MAX);
        for _ in 0..cycles / longest {
            self.0.push(Visit {
                place,
                cycles: u32::MAX,
            });
        }
        let rest = u32::try_from(cycles % longest).unwrap_or(u32::MAX);
        if rest > 0 {
            self.0.push(Visit {
                place,
                cycles: rest,
            });
        }
    }
}
