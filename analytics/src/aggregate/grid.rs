//! Time of up to 64 tiles by place, as a table: one row of 64 sums a place.
//!
//! Tiles of a block run the same places in the same order, so the rows in use stay in the cache,
//! and maxima over tiles are taken of whole rows.

/// Tiles of a block at most.
pub(crate) const LANES: usize = 64;
/// Places at most: 8 MiB of sums.
pub(crate) const PLACES_MAX: usize = 1 << 15;
/// Cycles that a wrapped sum stands for.
const WRAPPED: u64 = 1 << 32;

/// Cycles by place and tile of the block.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    sums: Vec<[u32; LANES]>,
    /// Place and lane of every sum that wrapped, once for every wrap.
    wrapped: Vec<(u32, usize)>,
}

/// The sums of one place: the longest tile and which tiles were there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaceRow {
    /// Cycles by lane.
    pub(crate) cycles: [u64; LANES],
}

impl PlaceRow {
    /// Adds the times of another place, lane by lane.
    pub(crate) fn add(&mut self, other: &Self) {
        for (mine, others) in self.cycles.iter_mut().zip(&other.cycles) {
            *mine += others;
        }
    }

    /// Longest lane.
    pub(crate) fn longest(&self) -> u64 {
        self.cycles.iter().copied().fold(0, u64::max)
    }

    /// One bit for each lane that is not zero.
    pub(crate) fn lanes(&self) -> u64 {
        (0..).zip(&self.cycles).fold(0, |bits, (lane, &cycles)| {
            bits | u64::from(cycles > 0) << lane
        })
    }
}

impl Grid {
    pub(crate) fn new(places: usize) -> Self {
        Self {
            sums: vec![[0; LANES]; places],
            wrapped: Vec::new(),
        }
    }

    /// Adds `cycles` to the tile at position `lane` of the block.
    #[inline]
    pub(crate) fn add(&mut self, lane: usize, place: u32, cycles: u32) {
        let sum = &mut self.sums[place as usize][lane % LANES];
        let (total, over) = sum.overflowing_add(cycles);
        *sum = total;
        if over {
            self.wrap(lane, place);
        }
    }

    #[cold]
    fn wrap(&mut self, lane: usize, place: u32) {
        self.wrapped.push((place, lane % LANES));
    }

    /// Calls `each` for every place some tile was in, ascending, and forgets them.
    pub(crate) fn drain(&mut self, mut each: impl FnMut(usize, &PlaceRow)) {
        self.wrapped.sort_unstable();
        let mut wrapped = self.wrapped.drain(..).peekable();
        for (place, sums) in self.sums.iter_mut().enumerate() {
            let mut row = PlaceRow {
                cycles: sums.map(u64::from),
            };
            while let Some((_, lane)) = wrapped.next_if(|it| it.0 as usize == place) {
                row.cycles[lane] += WRAPPED;
            }
            if row.cycles.iter().fold(0, |all, cycles| all | cycles) > 0 {
                each(place, &row);
                *sums = [0; LANES];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_longer_than_32_bits_are_kept() {
        let mut grid = Grid::new(3);
        for _ in 0..3 {
            grid.add(5, 1, u32::MAX);
        }
        grid.add(6, 1, 7);
        grid.add(63, 2, 1);
        let mut rows = Vec::new();
        grid.drain(|place, row| rows.push((place, row.longest(), row.lanes())));
        let longest = 3 * u64::from(u32::MAX);
        assert_eq!(rows, [(1, longest, 0b110_0000), (2, 1, 1 << 63)]);
        grid.drain(|_, _| panic!("nothing is left"));
    }

    #[test]
    fn a_sum_that_wraps_to_zero_counts() {
        let mut grid = Grid::new(1);
        grid.add(0, 0, u32::MAX);
        grid.add(0, 0, 1);
        let mut rows = Vec::new();
        grid.drain(|place, row| rows.push((place, row.longest(), row.lanes())));
        assert_eq!(rows, [(0, 1 << 32, 1)]);
    }
}
