//! Cells of tiles × time that fill with cycles of roles.

use std::ops::Range;

use super::{Lanes, LanesAsked, Role, TileTraffic};

/// Cycles by cell: the roles, then being inside an exchange.
pub(super) struct Grid {
    cycles: Range<u64>,
    columns: u32,
    tiles: Range<u32>,
    rows: u32,
    planes: [Vec<u64>; Role::COUNT + 1],
}

impl Grid {
    pub(super) fn new(asked: &LanesAsked) -> Self {
        let count = asked.tiles.end.saturating_sub(asked.tiles.start);
        let (columns, rows) = (asked.columns.max(1), asked.rows.clamp(1, count.max(1)));
        let cells = columns as usize * rows as usize;
        let end = asked.cycles.end.max(asked.cycles.start + 1);
        Self {
            cycles: asked.cycles.start..end,
            columns,
            tiles: asked.tiles.clone(),
            rows,
            planes: [const { Vec::new() }; Role::COUNT + 1].map(|_: Vec<u64>| vec![0; cells]),
        }
    }

    /// Adds cycles in a role; returns how many of them lie in the part.
    pub(super) fn add_role(&mut self, tile: u32, role: Role, span: Range<u64>) -> u64 {
        self.add(role as usize, tile, span)
    }

    /// Adds cycles inside an exchange.
    pub(super) fn add_exchange(&mut self, tile: u32, span: Range<u64>) {
        self.add(Role::COUNT, tile, span);
    }

    fn add(&mut self, plane: usize, tile: u32, span: Range<u64>) -> u64 {
        let start = span.start.max(self.cycles.start);
        let end = span.end.min(self.cycles.end);
        if start >= end {
            return 0;
        }
        let row = scaled(tile - self.tiles.start, self.rows, self.tile_count());
        let first = self.column_of(start);
        let last = self.column_of(end - 1);
        for column in first..=last {
            let cell = self.column(column);
            let covered = end.min(cell.end).saturating_sub(start.max(cell.start));
            let at = row as usize * self.columns as usize + column as usize;
            self.planes[plane][at] += covered;
        }
        end - start
    }

    const fn tile_count(&self) -> u32 {
        self.tiles.end - self.tiles.start
    }

    /// The column whose cycles hold `cycle`.
    fn column_of(&self, cycle: u64) -> u32 {
        let length = u128::from(self.cycles.end - self.cycles.start);
        let from = u128::from(cycle - self.cycles.start);
        // The first column whose right edge is after the cycle.
        let at = ((from + 1) * u128::from(self.columns)).div_ceil(length) - 1;
        u32::try_from(at).unwrap_or(u32::MAX).min(self.columns - 1)
    }

    /// Cycles of a column; empty where columns are finer than cycles.
    fn column(&self, column: u32) -> Range<u64> {
        let length = u128::from(self.cycles.end - self.cycles.start);
        let edge = |column: u32| {
            let at = length * u128::from(column) / u128::from(self.columns);
            self.cycles.start + u64::try_from(at).unwrap_or(u64::MAX)
        };
        edge(column)..edge(column + 1)
    }

    /// Tiles of a row.
    fn tiles_of(&self, row: u32) -> u64 {
        let count = u64::from(self.tile_count());
        let edge = |row: u64| (row * count).div_ceil(u64::from(self.rows));
        edge(u64::from(row) + 1) - edge(u64::from(row))
    }

    pub(super) fn finish(self, tiles: Vec<TileTraffic>) -> Lanes {
        let share = |plane: &[u64]| -> Vec<u8> {
            let mut shares = vec![0; plane.len()];
            for row in 0..self.rows {
                let of_row = self.tiles_of(row);
                let mut after = 0;
                for column in (0..self.columns).rev() {
                    let cell = self.column(column);
                    let at = row as usize * self.columns as usize + column as usize;
                    // A column finer than a cycle shows the cycle that ends after it.
                    if cell.start < cell.end {
                        let full = (cell.end - cell.start).saturating_mul(of_row).max(1);
                        let part = (u128::from(plane[at]) * 255).div_ceil(u128::from(full));
                        after = u8::try_from(part).unwrap_or(u8::MAX);
                    }
                    shares[at] = after;
                }
            }
            shares
        };
        let [send, receive, partner, exchange] = &self.planes;
        Lanes {
            columns: self.columns,
            rows: self.rows,
            roles: [share(send), share(receive), share(partner)],
            exchange: share(exchange),
            tiles,
        }
    }
}

/// Position `at` of `of`, scaled to `to` positions.
fn scaled(at: u32, to: u32, of: u32) -> u32 {
    let scaled = u64::from(at) * u64::from(to) / u64::from(of.max(1));
    u32::try_from(scaled).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ClockKind;

    fn grid(cycles: Range<u64>, columns: u32, tiles: Range<u32>, rows: u32) -> Grid {
        Grid::new(&LanesAsked {
            clock: ClockKind::Shared,
            cycles,
            columns,
            tiles,
            rows,
        })
    }

    #[test]
    fn cycles_fill_the_cells_that_they_cover() {
        let mut grid = grid(100..200, 4, 2..4, 2);
        assert_eq!(grid.add_role(3, Role::Receive, 90..130), 30);
        assert_eq!(grid.add_role(2, Role::Send, 199..500), 1);
        assert_eq!(grid.add_role(2, Role::Send, 0..100), 0);
        let lanes = grid.finish(Vec::new());
        assert_eq!(
            lanes.roles[Role::Receive as usize],
            [0, 0, 0, 0, 255, 51, 0, 0]
        );
        assert_eq!(lanes.roles[Role::Send as usize], [0, 0, 0, 11, 0, 0, 0, 0]);
    }

    #[test]
    fn columns_finer_than_cycles_have_no_gaps() {
        let mut grid = grid(10..13, 7, 0..1, 1);
        grid.add_role(0, Role::Send, 11..12);
        let lanes = grid.finish(Vec::new());
        assert_eq!(lanes.roles[Role::Send as usize], [0, 0, 0, 255, 255, 0, 0]);
    }

    #[test]
    fn every_cycle_has_the_column_that_covers_it() {
        for (length, columns) in [(7, 3), (3, 7), (100, 100), (1, 5), (1000, 13)] {
            let grid = grid(50..50 + length, columns, 0..1, 1);
            for cycle in 50..50 + length {
                let column = grid.column(grid.column_of(cycle));
                assert!(
                    column.contains(&cycle),
                    "{cycle} of {length} in {columns}: {column:?}"
                );
            }
        }
    }

    #[test]
    fn rows_share_all_tiles() {
        let grid = grid(0..10, 1, 0..7, 3);
        let rows: Vec<u64> = (0..3).map(|row| grid.tiles_of(row)).collect();
        assert_eq!(rows.iter().sum::<u64>(), 7);
        let mut counted = [0; 3];
        for tile in 0..7 {
            counted[scaled(tile, 3, 7) as usize] += 1;
        }
        assert_eq!(rows, counted);
    }
}
