//! Time of up to 64 tiles by place, as a table: one row of 64 sums a place.
//!
//! Tiles of a block run the same places in the same order, so the rows in use stay in the cache,
//! and maxima over tiles are taken of whole rows.

use crate::order;

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

/// The sums of one place. Loops over all lanes are kept to single operations on 32-bit words, which
/// compilers turn into vector instructions on every target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaceRow<'g> {
    /// Cycles by lane, without what wrapped.
    sums: &'g [u32; LANES],
    /// The lane of every sum that wrapped, once for every wrap.
    wrapped: &'g [(u32, usize)],
}

impl PlaceRow<'_> {
    /// Longest lane.
    pub(crate) fn longest(&self) -> u64 {
        if self.wrapped.is_empty() {
            return self.sums.iter().copied().fold(0, u32::max).into();
        }
        let mut cycles = [0; LANES];
        self.add_to(&mut cycles);
        cycles.into_iter().fold(0, u64::max)
    }

    /// Adds the cycles of each lane to `cycles`.
    pub(crate) fn add_to(&self, cycles: &mut [u64; LANES]) {
        for (cycles, &sum) in cycles.iter_mut().zip(self.sums) {
            *cycles += u64::from(sum);
        }
        for &(_, lane) in self.wrapped {
            cycles[lane] += WRAPPED;
        }
    }

    /// Makes the mark of each lane that is not zero non-zero.
    pub(crate) fn mark(&self, marks: &mut [u32; LANES]) {
        for (mark, &sum) in marks.iter_mut().zip(self.sums) {
            *mark |= sum;
        }
        for &(_, lane) in self.wrapped {
            marks[lane] |= 1;
        }
    }

    /// Adds 1 to each lane that is not zero.
    pub(crate) fn count(&self, counts: &mut [u32; LANES]) {
        let mut marks = [0; LANES];
        self.mark(&mut marks);
        for (count, mark) in counts.iter_mut().zip(marks) {
            *count += u32::from(mark > 0);
        }
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
    pub(crate) fn drain(&mut self, mut each: impl FnMut(usize, PlaceRow<'_>)) {
        order::ascending(&mut self.wrapped);
        let mut wrapped = self.wrapped.as_slice();
        for (place, sums) in self.sums.iter_mut().enumerate() {
            let here = wrapped.iter().take_while(|it| it.0 as usize == place);
            let (own, rest) = wrapped.split_at(here.count());
            wrapped = rest;
            if sums.iter().fold(0, |all, sum| all | sum) > 0 || !own.is_empty() {
                let row = PlaceRow { sums, wrapped: own };
                each(place, row);
                *sums = [0; LANES];
            }
        }
        self.wrapped.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places with their longest lane and the lanes that are not zero.
    fn drained(grid: &mut Grid) -> Vec<(usize, u64, Vec<usize>)> {
        let mut rows = Vec::new();
        grid.drain(|place, row| {
            let mut counts = [0; LANES];
            row.count(&mut counts);
            let lanes = (0..LANES).filter(|&lane| counts[lane] > 0).collect();
            rows.push((place, row.longest(), lanes));
        });
        rows
    }

    #[test]
    fn sums_longer_than_32_bits_are_kept() {
        let mut grid = Grid::new(3);
        for _ in 0..3 {
            grid.add(5, 1, u32::MAX);
        }
        grid.add(6, 1, 7);
        grid.add(63, 2, 1);
        let longest = 3 * u64::from(u32::MAX);
        let expected = [(1, longest, vec![5, 6]), (2, 1, vec![63])];
        assert_eq!(drained(&mut grid), expected);
        grid.drain(|_, _| panic!("nothing is left"));
    }

    #[test]
    fn a_sum_that_wraps_to_zero_counts() {
        let mut grid = Grid::new(1);
        grid.add(0, 0, u32::MAX);
        grid.add(0, 0, 1);
        assert_eq!(drained(&mut grid), [(0, 1 << 32, vec![0])]);
    }
}
