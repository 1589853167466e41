//! The overview while it is recorded: a bounded grid of cells that coarsens as the run grows.
//!
//! Cells lie on multiples of a power of two of cycles, counted from the first counter recorded, so
//! doubling their width joins whole pairs.

use std::collections::BTreeMap;
use std::ops::Range;

use super::intern::{StepFacts, packed};
use crate::format::error::WriteError;
use crate::format::record::{self, kind};
use crate::profile::{Overview, SampleKind};
use crate::units::PhysicalTile;

/// Columns of the finest grid.
const COLUMNS_MAX: i64 = 512;
/// Fewest columns that are worth a record.
const COLUMNS_MIN: i64 = 16;
/// Cells of a record: one screen of 1,536 rows.
const CELLS_MAX: i64 = 1_536 * COLUMNS_MAX;
/// Samples for each cell below which the samples themselves are as quickly read.
const SAMPLES_PER_CELL: u64 = 8;

/// What was recorded in one cell. Cycles saturate: overlapping samples may exceed the width.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// Cycles of exchange, compute, synchronization, idle, anything else.
    cycles: [u32; 5],
    /// Row of the leading kernel plus one, and by how many cycles it leads.
    kernel: u32,
    lead: u32,
}

impl Cell {
    fn vote(&mut self, kernel: u32, cycles: u32) {
        if self.kernel == kernel {
            self.lead = self.lead.saturating_add(cycles);
        } else if self.lead >= cycles {
            self.lead -= cycles;
        } else {
            self.lead = cycles - self.lead;
            self.kernel = kernel;
        }
    }

    fn join(&mut self, other: &Self) {
        for (cycles, more) in self.cycles.iter_mut().zip(other.cycles) {
            *cycles = cycles.saturating_add(more);
        }
        self.vote(other.kernel, other.lead);
    }

    /// The wire value of the kind with most cycles.
    fn kind(&self) -> u8 {
        let mut most = (Overview::NOTHING, 0);
        for (kind, cycles) in (0u8..).zip(self.cycles) {
            if cycles > most.1 {
                most = (kind, cycles);
            }
        }
        most.0
    }
}

/// Cells of one tile, from column `first`.
#[derive(Debug, Default)]
struct Row {
    first: i64,
    cells: Vec<Cell>,
}

impl Row {
    fn cell(&mut self, column: i64) -> &mut Cell {
        if self.cells.is_empty() {
            self.first = column;
        }
        if column < self.first {
            let missing = index(self.first - column);
            self.cells
                .splice(..0, std::iter::repeat_n(Cell::default(), missing));
            self.first = column;
        }
        let at = index(column - self.first);
        if at >= self.cells.len() {
            self.cells.resize(at + 1, Cell::default());
        }
        &mut self.cells[at]
    }

    fn fold(&mut self) {
        let mut folded = Self::default();
        for (column, cell) in (self.first..).zip(&self.cells) {
            folded.cell(column >> 1).join(cell);
        }
        *self = folded;
    }

    fn get(&self, column: i64) -> Cell {
        let at = usize::try_from(column - self.first).ok();
        at.and_then(|at| self.cells.get(at))
            .copied()
            .unwrap_or_default()
    }
}

/// The grid of all tiles.
#[derive(Debug)]
pub(crate) struct OverviewTracker {
    rows: BTreeMap<PhysicalTile, Row>,
    /// The row that samples are added to.
    tile: PhysicalTile,
    /// Cell width is `1 << shift` cycles.
    shift: u32,
    /// First column and one past the last; empty before the first sample.
    columns: Range<i64>,
}

impl Default for OverviewTracker {
    fn default() -> Self {
        let (rows, tile) = (BTreeMap::new(), PhysicalTile::default());
        Self {
            rows,
            tile,
            shift: 6,
            columns: 0..0,
        }
    }
}

impl OverviewTracker {
    /// Adds what follows to this tile. `origin` is where its first sample starts.
    pub(crate) fn begin(&mut self, tile: PhysicalTile, _origin: i64) {
        self.tile = tile;
    }

    /// Adds a sample.
    pub(crate) fn add(&mut self, start: i64, duration: u32, facts: &StepFacts) {
        if duration == 0 {
            return;
        }
        let last = start + i64::from(duration) - 1;
        self.make_room(start, last);
        let row = self.rows.entry(self.tile).or_default();
        let kind = usize::from(facts.kind.to_wire().min(4));
        let (mut column, width) = (start >> self.shift, 1i64 << self.shift);
        while column <= last >> self.shift {
            let left = column << self.shift;
            let cycles = (last + 1).min(left + width) - start.max(left);
            let cycles = u32::try_from(cycles).unwrap_or(u32::MAX);
            let cell = row.cell(column);
            cell.cycles[kind] = cell.cycles[kind].saturating_add(cycles);
            if facts.kind == SampleKind::Compute {
                cell.vote(facts.kernel_row + 1, cycles);
            }
            column += 1;
        }
    }

    fn make_room(&mut self, start: i64, last: i64) {
        loop {
            let (mut first, mut end) = (start >> self.shift, (last >> self.shift) + 1);
            if !self.columns.is_empty() {
                first = first.min(self.columns.start);
                end = end.max(self.columns.end);
            }
            if end - first <= COLUMNS_MAX {
                self.columns = first..end;
                return;
            }
            self.fold();
        }
    }

    fn fold(&mut self) {
        self.rows.values_mut().for_each(Row::fold);
        self.shift += 1;
        self.columns = self.columns.start >> 1..(self.columns.end + 1) >> 1;
    }

    /// The record of the rows `tiles` and its number of cells, where the profile is large enough
    /// for one. `to_shared` moves instants to the shared clock.
    pub(crate) fn record(
        &mut self,
        tiles: &[PhysicalTile],
        samples: u64,
        to_shared: i64,
    ) -> Result<Option<(Vec<u8>, u64)>, WriteError> {
        let rows = i64::try_from(tiles.len()).unwrap_or(i64::MAX).max(1);
        let worth = samples / SAMPLES_PER_CELL / rows.unsigned_abs();
        let most = COLUMNS_MAX.min(CELLS_MAX / rows).min(worth.cast_signed());
        if most < COLUMNS_MIN || self.columns.is_empty() {
            return Ok(None);
        }
        while self.columns.end - self.columns.start > most {
            self.fold();
        }
        let [mut kinds, mut kernels, mut busy] = [const { Vec::new() }; 3];
        for tile in tiles {
            let row = self.rows.get(tile);
            for column in self.columns.clone() {
                let cell = row.map_or_else(Cell::default, |row| row.get(column));
                kinds.push(cell.kind().into());
                kernels.push(cell.kernel);
                let share = (u64::from(cell.cycles[1]) * 255) >> self.shift;
                busy.push(u32::try_from(share.min(255)).unwrap_or(255));
            }
        }
        let columns = u32::try_from(self.columns.end - self.columns.start).unwrap_or(u32::MAX);
        let [kinds, kernels, busy] = [packed(&kinds), packed(&kernels), packed(&busy)];
        let room = kinds.len() + kernels.len() + busy.len() + 256;
        let record = record::build(kind::OVERVIEW, room, |root| {
            let mut it = root.init_overview();
            it.set_first_cycle((self.columns.start << self.shift) + to_shared);
            it.set_cell_cycles(1 << self.shift);
            it.set_columns(columns);
            it.set_rows(super::intern::length(tiles));
            it.set_kinds(&kinds);
            it.set_kernels(&kernels);
            it.set_busy(&busy);
            Ok(())
        });
        match record {
            Ok(bytes) => Ok(Some((bytes, u64::from(columns) * tiles.len() as u64))),
            // A picture of so many kernels does not fit; the samples are there all the same.
            Err(WriteError::RecordTooLong { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn index(columns: i64) -> usize {
    usize::try_from(columns).unwrap_or(0)
}
