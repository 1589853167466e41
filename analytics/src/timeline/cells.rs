//! One row of cells: samples of its tiles in, the dominant kind and kernel of each cell out,
//! exactly.

use std::ops::Range;

use crate::profile::{ProfileReport, SampleKind};
use crate::timeline::CellKind;

/// Positions in a viewport, in units of one cycle divided by the number of columns, so that a
/// column's width is a whole number of units however far one zooms in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    from: u64,
    /// Units of one column: the visible cycles.
    width: u64,
    pub(super) columns: u32,
}

impl Grid {
    /// Ranges of more than 2^64 / `columns` cycles are narrowed to that.
    pub(super) fn new(cycles: &Range<u64>, columns: u32) -> Self {
        let widest = u64::MAX / u64::from(columns.max(1));
        let width = cycles.end.saturating_sub(cycles.start).min(widest);
        Self {
            from: cycles.start,
            width,
            columns,
        }
    }

    /// The visible part of `start..end`, both in cycles, in units.
    fn units(self, start: u64, end: u64) -> Range<u64> {
        let unit = |cycle: u64| cycle.saturating_sub(self.from).min(self.width);
        unit(start) * u64::from(self.columns)..unit(end) * u64::from(self.columns)
    }
}

/// A kind and a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Slot {
    kind: CellKind,
    /// String id plus one; 0 for the empty name.
    kernel: u32,
}

/// Which slot the samples of each step count for.
pub(super) struct Slots {
    of_step: Vec<u32>,
    slots: Vec<Slot>,
}

impl Slots {
    pub(super) fn new(report: &ProfileReport) -> Self {
        let slot = |kind: SampleKind, kernel| Slot {
            kind: CellKind::of(kind),
            kernel: if report.string(kernel).is_empty() {
                0
            } else {
                kernel.get() + 1
            },
        };
        // Steps outnumber kernels by far: the slot of each kernel row and kind is looked up once.
        let key = |row: u32, kind: SampleKind| {
            row as usize * CellKind::COUNT + CellKind::of(kind) as usize
        };
        let mut known: Vec<Option<Slot>> = vec![None; report.kernels().len() * CellKind::COUNT];
        for step in report.steps() {
            known[key(step.kernel_row, step.kind)]
                .get_or_insert_with(|| slot(step.kind, step.kernel));
        }
        let mut slots: Vec<Slot> = known.iter().flatten().copied().collect();
        slots.sort_unstable();
        slots.dedup();
        let ids: Vec<u32> = known
            .iter()
            .map(|slot| slot.and_then(|slot| slots.binary_search(&slot).ok()))
            .map(|at| at.and_then(|at| u32::try_from(at).ok()).unwrap_or(0))
            .collect();
        let of_step = report
            .steps()
            .iter()
            .map(|it| ids[key(it.kernel_row, it.kind)])
            .collect();
        Self { of_step, slots }
    }
}

/// Time of one slot in one cell.
#[derive(Clone, Copy, Debug)]
struct Entry {
    column: u32,
    slot: u32,
    units: u64,
}

/// Entries of one row before they are summed: at 16 bytes each, the bound on the scratch of a row.
const MANY_ENTRIES: usize = 1 << 20;

/// Time of each slot in each cell of the current row.
pub(super) struct RowCells<'s> {
    slots: &'s Slots,
    grid: Grid,
    /// In the order of the tiles, columns ascending within a tile.
    entries: Vec<Entry>,
    /// Length of `entries` at which equal cells are summed next.
    limit: usize,
    /// Tiles of the row.
    tiles: u64,
}

impl<'s> RowCells<'s> {
    pub(super) fn new(slots: &'s Slots, grid: Grid) -> Self {
        Self {
            slots,
            grid,
            entries: Vec::new(),
            limit: MANY_ENTRIES,
            tiles: 0,
        }
    }

    /// Adds a tile: its samples as start and end on the clock in force, ascending, and step.
    pub(super) fn add_tile(&mut self, samples: impl Iterator<Item = (u64, u64, u32)>) {
        self.tiles += 1;
        let width = self.grid.width;
        let (mut column, mut column_end) = (0u32, width);
        for (start, end, step) in samples {
            let units = self.grid.units(start, end);
            if units.is_empty() {
                continue;
            }
            // A sample may start inside the one before it, whose last column is the current one.
            if units.start >= column_end || units.start < column_end - width {
                column = u32::try_from(units.start / width).unwrap_or(u32::MAX);
                column_end = (u64::from(column) + 1).saturating_mul(width);
            }
            let slot = self.slots.of_step[step as usize];
            let mut at = units.start;
            while units.end > column_end {
                self.push(Entry {
                    column,
                    slot,
                    units: column_end - at,
                });
                at = column_end;
                column += 1;
                column_end = column_end.saturating_add(width);
            }
            self.push(Entry {
                column,
                slot,
                units: units.end - at,
            });
        }
        if self.entries.len() > self.limit {
            self.sum_entries();
            self.limit = MANY_ENTRIES.max(self.entries.len() * 2);
        }
    }

    #[inline]
    fn push(&mut self, entry: Entry) {
        match self.entries.last_mut() {
            Some(last) if last.column == entry.column && last.slot == entry.slot => {
                last.units += entry.units;
            }
            _ => self.entries.push(entry),
        }
    }

    /// Leaves one entry for each slot of a cell.
    fn sum_entries(&mut self) {
        let mut summed = Vec::new();
        by_column(&mut self.entries, |column, tally| {
            summed.extend(tally.iter().map(|&(slot, units)| Entry {
                column,
                slot,
                units,
            }));
        });
        self.entries = summed;
    }

    /// Ends the row: writes its cells and starts the next one.
    pub(super) fn finish(&mut self, kinds: &mut [u8], kernels: &mut [u32], busy: &mut [u8]) {
        kinds.fill(CellKind::Nothing as u8);
        kernels.fill(0);
        busy.fill(0);
        let whole = u128::from(self.grid.width) * u128::from(self.tiles);
        let slots = self.slots;
        by_column(&mut self.entries, |column, tally| {
            let column = column as usize;
            let (kind, kernel, compute) = slots.dominant(tally);
            kinds[column] = kind as u8;
            kernels[column] = kernel;
            let parts = (u128::from(compute) * 255).checked_div(whole).unwrap_or(0);
            busy[column] = u8::try_from(parts).unwrap_or(u8::MAX);
        });
        self.entries.clear();
        self.limit = MANY_ENTRIES;
        self.tiles = 0;
    }
}

impl Slots {
    /// The kind with most units, the kernel with most units of that kind, and the compute units. Of
    /// equal kinds the first by number wins, of equal kernels the first by string id.
    fn dominant(&self, tally: &[(u32, u64)]) -> (CellKind, u32, u64) {
        let mut kinds = [0u64; CellKind::COUNT];
        for &(slot, units) in tally {
            kinds[self.slots[slot as usize].kind as usize] += units;
        }
        let mut best = 0u8;
        for (kind, &units) in (0u8..).zip(&kinds) {
            if units > kinds[best as usize] {
                best = kind;
            }
        }
        let of_kind = tally
            .iter()
            .filter(|(slot, _)| self.slots[*slot as usize].kind as u8 == best);
        let longest = of_kind.max_by_key(|&&(slot, units)| (units, std::cmp::Reverse(slot)));
        let kernel = longest.map_or(0, |&(slot, _)| self.slots[slot as usize].kernel);
        (
            CellKind::from_byte(best),
            kernel,
            kinds[CellKind::Compute as usize],
        )
    }
}

/// Calls `visit` for each column with entries, ascending, with the units of each of its slots.
///
/// The sort is stable and finds that each tile's columns ascend already.
fn by_column(entries: &mut [Entry], mut visit: impl FnMut(u32, &[(u32, u64)])) {
    entries.sort_by_key(|entry| entry.column);
    let mut tally: Vec<(u32, u64)> = Vec::new();
    for cell in entries.chunk_by_mut(|a, b| a.column == b.column) {
        tally.clear();
        if cell.len() > 64 {
            cell.sort_unstable_by_key(|entry| entry.slot);
        }
        for entry in cell.iter() {
            // Sorted cells find their slot last; short ones are searched.
            match tally
                .iter_mut()
                .rev()
                .take(64)
                .find(|(slot, _)| *slot == entry.slot)
            {
                Some((_, units)) => *units += entry.units,
                None => tally.push((entry.slot, entry.units)),
            }
        }
        visit(cell[0].column, &tally);
    }
}
