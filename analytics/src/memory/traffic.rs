//! Who sends to whom: declared deliveries, summed into a matrix of tiles × tiles.

use super::PackageMap;
use crate::order;
use crate::units::PhysicalTile;

/// The deliveries of one exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deliveries {
    pub(super) runs: Vec<Run>,
    /// How often the exchange is executed.
    pub(super) times: u64,
}

/// A delivery to `length` tiles, `step` apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) source: u32,
    pub(super) bytes: u32,
    pub(super) length: u32,
    pub(super) first: u32,
    pub(super) step: i64,
}

/// Bytes from tiles to tiles, in the order of physical ids. Neighbours share a cell where there are
/// more tiles than cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrafficMatrix {
    /// Tiles on each side.
    pub tiles: u32,
    /// Cells on each side, at most as many.
    pub cells: u32,
    /// Row-major: rows send, columns receive.
    pub bytes: Vec<u64>,
    /// Physical ids of the first and the last tile of each cell of a side.
    pub ends: Vec<(PhysicalTile, PhysicalTile)>,
}

impl TrafficMatrix {
    /// Most bytes of a cell.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.bytes.iter().copied().max().unwrap_or(0)
    }

    /// Bytes of all cells.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.bytes.iter().fold(0, |sum, &it| sum.saturating_add(it))
    }

    /// Sending cell, receiving cell and bytes of each cell that has some: most bytes first, then by
    /// sender and receiver.
    #[must_use]
    pub fn pairs(&self) -> Vec<(u32, u32, u64)> {
        let sides =
            (0..self.cells).flat_map(|row| (0..self.cells).map(move |column| (row, column)));
        let pairs = sides.zip(&self.bytes).filter(|(_, bytes)| **bytes > 0);
        let mut pairs: Vec<_> = pairs
            .map(|((row, column), &bytes)| (row, column, bytes))
            .collect();
        order::by_key(&mut pairs, |it| std::cmp::Reverse(it.2));
        pairs
    }
}

impl PackageMap {
    /// Bytes between tiles over the whole run, `cells` on each side at most.
    #[must_use]
    pub fn traffic(&self, cells: u32) -> TrafficMatrix {
        let tiles = u32::try_from(self.physical.len()).unwrap_or(u32::MAX);
        let cells = cells.clamp(1, tiles.max(1));
        let cell = self.cells_of_tiles(cells);
        let mut matrix = TrafficMatrix {
            tiles,
            cells,
            bytes: vec![0; cells as usize * cells as usize],
            ends: self.ends_of_cells(cells),
        };
        for exchange in &self.deliveries {
            for run in &exchange.runs {
                let Some(&from) = cell.get(run.source as usize) else {
                    continue;
                };
                let moved = u64::from(run.bytes).saturating_mul(exchange.times);
                let mut to = i64::from(run.first);
                for _ in 0..run.length {
                    let landing = usize::try_from(to).ok().and_then(|to| cell.get(to));
                    // What lands outside of the device is at fault elsewhere; no run is longer.
                    let Some(&landing) = landing else { break };
                    let at = from as usize * cells as usize + landing as usize;
                    matrix.bytes[at] = matrix.bytes[at].saturating_add(moved);
                    if run.step == 0 {
                        break;
                    }
                    to = to.saturating_add(run.step);
                }
            }
        }
        matrix
    }

    /// Physical ids of the first and the last tile of each cell.
    fn ends_of_cells(&self, cells: u32) -> Vec<(PhysicalTile, PhysicalTile)> {
        let mut physical = self.physical.clone();
        order::ascending(&mut physical);
        let count = physical.len() as u64;
        let first = |cell: u64| (cell * count).div_ceil(u64::from(cells));
        let id = |place: u64| {
            let place = usize::try_from(place).ok();
            let id = place.and_then(|it| physical.get(it).copied());
            id.unwrap_or_default()
        };
        let ends = |cell: u64| (id(first(cell)), id(first(cell + 1).saturating_sub(1)));
        (0..u64::from(cells)).map(ends).collect()
    }

    /// By logical tile: the cell of its place in the order of physical ids.
    fn cells_of_tiles(&self, cells: u32) -> Vec<u32> {
        let mut order: Vec<usize> = (0..self.physical.len()).collect();
        order::by_key(&mut order, |&logical| self.physical[logical]);
        let count = (self.physical.len() as u64).max(1);
        let mut cell = vec![0; self.physical.len()];
        for (place, logical) in (0_u64..).zip(order) {
            cell[logical] = u32::try_from(place * u64::from(cells) / count).unwrap_or(0);
        }
        cell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> PackageMap {
        let run = |source, first, length, step| Run {
            source,
            bytes: 8,
            length,
            first,
            step,
        };
        PackageMap {
            // Logical 0 is the last of the physical order.
            physical: [7, 1, 3, 5].map(PhysicalTile::new).to_vec(),
            deliveries: vec![
                Deliveries {
                    runs: vec![run(0, 1, 3, 1), run(2, 0, 1, 0)],
                    times: 1,
                },
                Deliveries {
                    runs: vec![run(1, 3, 1, 0), run(1, 9, 4, 1)],
                    times: 10,
                },
            ],
            ..PackageMap::default()
        }
    }

    #[test]
    fn bytes_are_summed_by_physical_order_and_executions() {
        let matrix = map().traffic(4);
        #[rustfmt::skip]
        let expected = [
            0, 0, 80, 0,
            0, 0, 0, 8,
            0, 0, 0, 0,
            8, 8, 8, 0,
        ];
        assert_eq!(matrix.bytes, expected);
        assert_eq!(matrix.most(), 80);
    }

    #[test]
    fn fewer_cells_sum_neighbours() {
        let matrix = map().traffic(2);
        assert_eq!(matrix.bytes, [0, 88, 16, 8]);
        let ends = [(1, 3), (5, 7)].map(|(a, b)| (PhysicalTile::new(a), PhysicalTile::new(b)));
        assert_eq!(matrix.ends, ends);
        assert_eq!(matrix.pairs(), [(0, 1, 88), (1, 0, 16), (1, 1, 8)]);
        assert_eq!(matrix.total(), 112);
        assert_eq!(map().traffic(100).cells, 4);
    }
}
