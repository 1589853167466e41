//! One row of cells: samples of its tiles in, the dominant kind and name of each cell out,
//! exactly.

use std::ops::Range;

use super::slots::{FULL_EFFICIENCY, NO_EFFICIENCY, Slots};
use crate::clock::Placed;
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

/// Time of one slot in one cell.
#[derive(Clone, Copy, Debug)]
struct Entry {
    column: u32,
    slot: u32,
    units: u64,
}

/// Whole columns of one slot in one tile: a sample that is longer than a column is one of these,
/// not an entry for each column that it fills.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u32,
    /// One past the last column.
    end: u32,
    slot: u32,
}

/// Entries and runs of one row before they are summed: at 16 bytes each at most, the bound on the
/// scratch of a row.
const MANY_ENTRIES: usize = 1 << 20;
/// The same for each of many rows that grow side by side.
const ENTRIES_OF_GROUP: usize = 1 << 14;

/// Time of each slot in each cell of the current row.
pub(super) struct RowCells<'s> {
    slots: &'s Slots,
    grid: Grid,
    /// In the order of the tiles, columns ascending within a tile; so are the runs.
    entries: Vec<Entry>,
    runs: Vec<Run>,
    /// Least number of entries and runs at which equal cells are summed.
    least_limit: usize,
    /// Number of entries and runs at which equal cells are summed next.
    limit: usize,
    /// Where the sample before of the current tile ended, and the end of that column.
    column: u32,
    column_end: u64,
    /// Tiles of the row.
    tiles: u64,
}

impl<'s> RowCells<'s> {
    pub(super) fn new(slots: &'s Slots, grid: Grid) -> Self {
        Self {
            slots,
            grid,
            entries: Vec::new(),
            runs: Vec::new(),
            least_limit: MANY_ENTRIES,
            limit: MANY_ENTRIES,
            column: 0,
            column_end: grid.width,
            tiles: 0,
        }
    }

    /// A row of a group of `tiles` tiles, which other rows grow beside: samples of some tiles may
    /// be elsewhere.
    pub(super) fn of_group(slots: &'s Slots, grid: Grid, tiles: u32) -> Self {
        Self {
            least_limit: ENTRIES_OF_GROUP,
            limit: ENTRIES_OF_GROUP,
            tiles: u64::from(tiles),
            ..Self::new(slots, grid)
        }
    }

    /// Adds a tile: its samples on the clock in force, starts ascending, and their steps.
    pub(super) fn add_tile(&mut self, samples: impl Iterator<Item = (Placed, u32)>) {
        self.tiles += 1;
        self.add_samples(samples);
    }

    /// Adds samples of one tile, which was counted before.
    pub(super) fn add_samples(&mut self, samples: impl Iterator<Item = (Placed, u32)>) {
        self.begin_tile();
        for (placed, step) in samples {
            self.add_sample(&placed, step);
        }
        self.end_tile();
    }

    /// Samples of a tile follow.
    pub(super) fn begin_tile(&mut self) {
        (self.column, self.column_end) = (0, self.grid.width);
    }

    /// Adds a sample of the current tile; starts ascend.
    #[inline]
    pub(super) fn add_sample(&mut self, placed: &Placed, step: u32) {
        let width = self.grid.width;
        let units = self.grid.units(placed.offset, placed.end());
        if units.is_empty() {
            return;
        }
        let (mut column, mut column_end) = (self.column, self.column_end);
        // A sample may start inside the one before it, whose last column is the current one.
        if units.start >= column_end || units.start < column_end - width {
            column = u32::try_from(units.start / width).unwrap_or(u32::MAX);
            column_end = (u64::from(column) + 1).saturating_mul(width);
        }
        let slot = self.slots.of_sample(step, placed);
        let mut at = units.start;
        if units.end > column_end {
            let is_whole = at == column_end - width;
            let first = if is_whole { column } else { column + 1 };
            if !is_whole {
                let units = column_end - at;
                self.push(Entry {
                    column,
                    slot,
                    units,
                });
            }
            // Columns after this one that it fills; in the last one it ends.
            let filled = (units.end - column_end - 1) / width;
            column += 1 + u32::try_from(filled).unwrap_or(u32::MAX);
            if first < column {
                let end = column;
                self.runs.push(Run { first, end, slot });
            }
            at = column_end + filled * width;
            column_end = at.saturating_add(width);
        }
        self.push(Entry {
            column,
            slot,
            units: units.end - at,
        });
        (self.column, self.column_end) = (column, column_end);
    }

    /// No more samples of the current tile follow.
    pub(super) fn end_tile(&mut self) {
        if self.entries.len() + self.runs.len() > self.limit {
            self.sum_entries();
            self.limit = self.least_limit.max(self.entries.len() * 2);
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
        self.sweep(|columns, tally| {
            for column in columns {
                summed.extend(tally.iter().map(|&(slot, units)| Entry {
                    column,
                    slot,
                    units,
                }));
            }
        });
        self.entries = summed;
    }

    /// Calls `visit` for columns with entries or runs, ascending, with the units of each slot in
    /// each of them; then none are left. Columns that are alike come at once.
    fn sweep(&mut self, mut visit: impl FnMut(Range<u32>, &[(u32, u64)])) {
        sort_by_column(&mut self.entries);
        sort_by_first(&mut self.runs);
        let (mut entries, mut runs) = (&*self.entries, &*self.runs);
        let mut open: Vec<Run> = Vec::new();
        let mut tally = Tally::default();
        let mut column = 0;
        loop {
            let next_entry = entries.first().map(|it| it.column);
            let next_run = runs.first().map(|it| it.first);
            if open.is_empty() {
                match next_entry.into_iter().chain(next_run).min() {
                    Some(next) => column = next,
                    None => break,
                }
            }
            let (here, later) = entries.split_at(leading(entries, |it| it.column == column));
            let (begun, others) = runs.split_at(leading(runs, |it| it.first == column));
            (entries, runs) = (later, others);
            open.extend_from_slice(begun);
            let ends = open.iter().map(|it| it.end);
            let changes = ends.chain(entries.first().map(|it| it.column));
            let change = changes.chain(runs.first().map(|it| it.first)).min();
            let until = match change {
                Some(change) if here.is_empty() => change,
                _ => column + 1,
            };
            let of_runs = open.iter().map(|it| (it.slot, self.grid.width));
            let of_entries = here.iter().map(|it| (it.slot, it.units));
            visit(column..until, tally.sums(of_runs.chain(of_entries)));
            column = until;
            open.retain(|it| it.end > column);
        }
        self.entries.clear();
        self.runs.clear();
    }

    /// Ends the row: writes its cells and starts the next one. A call of its own: browsers optimise
    /// a function when it is entered again, not while it runs.
    #[inline(never)]
    pub(super) fn finish(&mut self, cells: &mut [Cell]) {
        cells.fill(Cell::NOTHING);
        let whole = u128::from(self.grid.width) * u128::from(self.tiles);
        let slots = self.slots;
        self.sweep(|columns, tally| {
            cells[columns.start as usize..columns.end as usize].fill(slots.cell(tally, whole));
        });
        self.limit = self.least_limit;
        self.tiles = 0;
    }
}

/// What a picture shows in one cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) kind: CellKind,
    pub(super) name: u32,
    pub(super) busy: u8,
    pub(super) focused: u8,
    pub(super) efficiency: u8,
}

impl Cell {
    pub(super) const NOTHING: Self = Self {
        kind: CellKind::Nothing,
        name: 0,
        busy: 0,
        focused: 0,
        efficiency: NO_EFFICIENCY,
    };
}

/// `units` in 1/255 of `whole`, rounded down.
fn parts(units: u64, whole: u128) -> u8 {
    byte(quotient(u128::from(units) * 255, whole))
}

/// `units` in 1/255 of `whole`, rounded up.
fn parts_rounded_up(units: u64, whole: u128) -> u8 {
    match units {
        0 => 0,
        _ => byte(quotient(
            u128::from(units) * 255 + whole.saturating_sub(1),
            whole,
        )),
    }
}

fn byte(parts: u128) -> u8 {
    u8::try_from(parts).unwrap_or(u8::MAX)
}

/// Zero of nothing. Numbers that fit into words, as nearly all do, take a tenth of the time.
pub(super) fn quotient(numerator: u128, denominator: u128) -> u128 {
    match (u64::try_from(numerator), u64::try_from(denominator)) {
        (Ok(numerator), Ok(denominator)) => numerator.checked_div(denominator).unwrap_or(0).into(),
        _ => numerator.checked_div(denominator).unwrap_or(0),
    }
}

impl Slots {
    /// The cell whose numbers have these units, of `whole` units in all.
    fn cell(&self, tally: &[(u32, u64)], whole: u128) -> Cell {
        let (kind, name, compute) = self.dominant(tally);
        let focused: u64 = tally
            .iter()
            .filter(|(number, _)| self.slot(*number).focused)
            .map(|(_, units)| units)
            .sum();
        Cell {
            kind,
            name,
            busy: parts(compute, whole),
            focused: parts_rounded_up(focused, whole),
            efficiency: self.efficiency(tally),
        }
    }

    /// The kind with most units, the name with most units of that kind, and the compute units. Of
    /// equal kinds the first by number wins, of equal names the first by string id.
    fn dominant(&self, tally: &[(u32, u64)]) -> (CellKind, u32, u64) {
        let mut kinds = [0u64; CellKind::COUNT];
        for &(number, units) in tally {
            kinds[self.slot(number).kind as usize] += units;
        }
        let mut best = 0u8;
        for (kind, &units) in (0u8..).zip(&kinds) {
            if units > kinds[best as usize] {
                best = kind;
            }
        }
        let of_kind = tally
            .iter()
            .map(|&(number, units)| (self.slot(number), units))
            .filter(|(slot, _)| slot.kind as u8 == best);
        let names = of_kind.map(|(slot, units)| (slot.name, units));
        let name = if self.is_unique {
            longest(names)
        } else {
            longest(summed(names).into_iter())
        };
        (
            CellKind::from_byte(best),
            name,
            kinds[CellKind::Compute as usize],
        )
    }

    /// Useful work over measured time of what has an estimate; for occupancy, over physical work.
    fn efficiency(&self, tally: &[(u32, u64)]) -> u8 {
        let (mut levels, mut units) = (0u128, 0u128);
        for &(number, of_number) in tally {
            let counts = !self.has_focus || self.slot(number).focused;
            if let Some((useful, physical)) = self.levels_of(number).filter(|_| counts) {
                let of_number = u128::from(of_number);
                if self.occupancy {
                    let full = u128::from(FULL_EFFICIENCY);
                    levels += u128::from(useful) * of_number * full;
                    units += u128::from(physical) * of_number;
                } else {
                    levels += u128::from(useful) * of_number;
                    units += of_number;
                }
            }
        }
        let mean = (units > 0).then(|| quotient(levels + units / 2, units));
        let mean = mean.map(|mean| mean.min(u128::from(NO_EFFICIENCY - 1)));
        mean.and_then(|mean| u8::try_from(mean).ok())
            .unwrap_or(NO_EFFICIENCY)
    }
}

/// The name with most units, the smaller one of equals; 0 without any.
fn longest(names: impl Iterator<Item = (u32, u64)>) -> u32 {
    let longest = names.max_by_key(|&(name, units)| (units, std::cmp::Reverse(name)));
    longest.map_or(0, |(name, _)| name)
}

/// One sum for each name.
fn summed(names: impl Iterator<Item = (u32, u64)>) -> Vec<(u32, u64)> {
    let mut sums: Vec<(u32, u64)> = Vec::new();
    for (name, units) in names {
        match sums.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += units,
            None => sums.push((name, units)),
        }
    }
    sums
}

/// Outside [`RowCells::sweep`], which is compiled for each of its callers. Stable, and finds that
/// each tile's columns ascend already.
fn sort_by_column(entries: &mut [Entry]) {
    entries.sort_by_key(|entry| entry.column);
}

/// As [`sort_by_column`].
fn sort_by_first(runs: &mut [Run]) {
    runs.sort_by_key(|run| run.first);
}

/// How many of `list`, from its start, are so.
fn leading<T>(list: &[T], is_so: impl Fn(&T) -> bool) -> usize {
    list.iter().take_while(|it| is_so(it)).count()
}

/// Units of each slot of one cell.
#[derive(Default)]
struct Tally {
    found: Vec<(u32, u64)>,
    sums: Vec<(u32, u64)>,
}

impl Tally {
    /// The sum of each slot of `found`.
    fn sums(&mut self, found: impl Iterator<Item = (u32, u64)>) -> &[(u32, u64)] {
        self.found.clear();
        self.found.extend(found);
        self.sum();
        &self.sums
    }

    /// Outside its caller, as [`sort_by_column`].
    fn sum(&mut self) {
        self.sums.clear();
        if self.found.len() > 64 {
            self.found.sort_unstable_by_key(|it| it.0);
        }
        for &(slot, units) in &self.found {
            // Sorted cells find their slot last; short ones are searched.
            let mut known = self.sums.iter_mut().rev().take(64);
            match known.find(|it| it.0 == slot) {
                Some((_, sum)) => *sum += units,
                None => self.sums.push((slot, units)),
            }
        }
    }
}
