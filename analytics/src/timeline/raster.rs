//! Tiles × time as cells: what took most cycles of each.

use std::ops::Range;

use super::cells::{Cell, Grid, RowCells};
use super::gather::{TileSamples, for_each_tile};
use super::needed::pages_needed;
use super::overview::overview_raster;
use super::slots::{CellChoice, Slots};
use crate::clock::{ClockKind, Frame};
use crate::format::DecodeError;
use crate::profile::{ProfileReport, SampleKind, TileEntry};

/// What part of the device is looked at, and at which resolution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Viewport {
    /// The clock that `cycles` is counted on.
    pub clock: ClockKind,
    /// Visible time in cycles.
    pub cycles: Range<u64>,
    /// Columns of the raster, at least one; each is `cycles / columns` wide.
    pub columns: u32,
    /// Visible positions in [`ProfileReport::tiles`].
    pub tiles: Range<u32>,
    /// Rows wanted; the raster has at most one row a tile.
    pub rows: u32,
}

/// Kind of a cell as a byte, ready for a colour table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum CellKind {
    /// Exchange.
    Exchange = 0,
    /// Compute.
    Compute = 1,
    /// Synchronization.
    Synchronization = 2,
    /// Idle.
    Idle = 3,
    /// A kind this version does not know.
    Unknown = 4,
    /// Nothing was recorded.
    Nothing = 255,
}

impl CellKind {
    /// Number of kinds that samples have.
    pub const COUNT: usize = 5;

    /// The kind of a sample.
    #[must_use]
    pub const fn of(kind: SampleKind) -> Self {
        match kind {
            SampleKind::Exchange => Self::Exchange,
            SampleKind::Compute => Self::Compute,
            SampleKind::Synchronization => Self::Synchronization,
            SampleKind::Idle => Self::Idle,
            SampleKind::Unknown(_) => Self::Unknown,
        }
    }

    /// The word for it; of known kinds that of [`SampleKind::name`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exchange => SampleKind::Exchange.name(),
            Self::Compute => SampleKind::Compute.name(),
            Self::Synchronization => SampleKind::Synchronization.name(),
            Self::Idle => SampleKind::Idle.name(),
            Self::Unknown => "unknown kind",
            Self::Nothing => "nothing",
        }
    }

    /// The kind with this byte; bytes of no kind are [`Self::Nothing`].
    #[must_use]
    pub const fn from_byte(byte: u8) -> Self {
        match byte {
            0 => Self::Exchange,
            1 => Self::Compute,
            2 => Self::Synchronization,
            3 => Self::Idle,
            4 => Self::Unknown,
            _ => Self::Nothing,
        }
    }
}

/// Cells of a viewport, row-major, one column of bytes for each property.
///
/// Row `r` of `rows` stands for the tiles `tiles.start + r·n/rows .. tiles.start + (r+1)·n/rows`,
/// with `n` the number of visible tiles; column `c` likewise for the cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Raster {
    /// Columns, as asked for.
    pub columns: u32,
    /// Rows: as asked for, but at most one a visible tile.
    pub rows: u32,
    /// [`CellKind`] that took most cycles of the cell.
    pub kinds: Vec<u8>,
    /// String id plus one of the name that took most cycles of that kind in the cell; 0 is none.
    /// Kernels, unless operations were chosen.
    pub kernels: Vec<u32>,
    /// Compute cycles of the cell in 1/255 of its tiles × cycles, rounded down.
    pub busy: Vec<u8>,
    /// Cycles of the chosen kernel in 1/255 of the cell, rounded up: 0 is none at all. Empty where
    /// no kernel was chosen, and in an overview.
    pub focused: Vec<u8>,
    /// Useful efficiency in 1/[`FULL_EFFICIENCY`](super::FULL_EFFICIENCY) over the samples that
    /// have an estimate; [`NO_EFFICIENCY`](super::NO_EFFICIENCY) where none has. Empty where it was
    /// not chosen, and in an overview.
    pub efficiency: Vec<u8>,
    /// Whether the cells come from the file's overview: a coarser grid than asked for.
    pub from_overview: bool,
}

/// The cells of `viewport`, exactly; from the file's overview where samples that it touches were
/// not loaded.
///
/// # Errors
/// Where a chunk that the viewport touches cannot be decoded.
pub fn raster(report: &ProfileReport, viewport: &Viewport) -> Result<Raster, DecodeError> {
    chosen_raster(report, viewport, CellChoice::default())
}

/// The cells of `viewport` as [`raster`] gives them, with what `choice` asks for.
///
/// # Errors
/// Where a chunk that the viewport touches cannot be decoded.
pub fn chosen_raster(
    report: &ProfileReport,
    viewport: &Viewport,
    choice: CellChoice,
) -> Result<Raster, DecodeError> {
    let missing = pages_needed(
        report,
        viewport.clock,
        viewport.cycles.clone(),
        viewport.tiles.clone(),
    );
    if !missing.is_empty()
        && let Some(raster) = overview_raster(report, viewport)
    {
        return Ok(raster);
    }
    let area = Area::new(report, viewport);
    area.paint(report, &Slots::new(report, choice), choice)
}

impl Raster {
    /// No rows yet, and room for `rows` of them. Every column grows by itself: on one thread a
    /// picture takes no more memory while it is painted than when it is done.
    pub(super) fn with_room(columns: u32, rows: u32, choice: CellChoice) -> Self {
        let cells = columns as usize * rows as usize;
        let only_if = |wanted| if wanted { cells } else { 0 };
        Self {
            columns,
            rows: 0,
            kinds: Vec::with_capacity(cells),
            kernels: Vec::with_capacity(cells),
            busy: Vec::with_capacity(cells),
            focused: Vec::with_capacity(only_if(choice.focus.is_some())),
            efficiency: Vec::with_capacity(only_if(choice.has_levels())),
            from_overview: false,
        }
    }

    /// Rows of which nothing is known.
    pub(super) fn blank(columns: u32, rows: u32, choice: CellChoice) -> Self {
        let mut raster = Self::with_room(columns, rows, choice);
        let row = vec![Cell::NOTHING; columns as usize];
        for _ in 0..rows {
            raster.push_row(&row, choice);
        }
        raster
    }

    /// Adds a row of as many cells as there are columns.
    pub(super) fn push_row(&mut self, cells: &[Cell], choice: CellChoice) {
        self.rows += 1;
        self.kinds.extend(cells.iter().map(|it| it.kind as u8));
        self.kernels.extend(cells.iter().map(|it| it.name));
        self.busy.extend(cells.iter().map(|it| it.busy));
        if choice.focus.is_some() {
            self.focused.extend(cells.iter().map(|it| it.focused));
        }
        if choice.has_levels() {
            self.efficiency.extend(cells.iter().map(|it| it.efficiency));
        }
    }

    /// Adds the rows of a raster with as many columns, of the same choice.
    #[cfg(feature = "native")]
    fn append(&mut self, mut below: Self) {
        self.rows += below.rows;
        self.kinds.append(&mut below.kinds);
        self.kernels.append(&mut below.kernels);
        self.busy.append(&mut below.busy);
        self.focused.append(&mut below.focused);
        self.efficiency.append(&mut below.efficiency);
    }
}

/// A viewport on tiles that exist.
pub(super) struct Area {
    pub(super) frame: Frame,
    pub(super) tiles: Range<u32>,
    pub(super) cycles: Range<u64>,
    pub(super) columns: u32,
    pub(super) rows: u32,
}

impl Area {
    pub(super) fn new(report: &ProfileReport, viewport: &Viewport) -> Self {
        let count = u32::try_from(report.tiles().len()).unwrap_or(u32::MAX);
        let end = viewport.tiles.end.min(count);
        let tiles = viewport.tiles.start.min(end)..end;
        let rows = viewport.rows.min(end - tiles.start);
        Self {
            frame: Frame::new(report, viewport.clock),
            tiles,
            cycles: viewport.cycles.clone(),
            columns: viewport.columns,
            rows,
        }
    }

    /// Tiles of row `row`; never empty.
    pub(super) fn tiles_of(&self, row: u32) -> Range<u32> {
        let count = u64::from(self.tiles.end - self.tiles.start);
        let bound = |row: u32| {
            let before = u64::from(row) * count / u64::from(self.rows);
            self.tiles.start + u32::try_from(before).unwrap_or(u32::MAX)
        };
        bound(row)..bound(row + 1)
    }

    fn is_empty(&self) -> bool {
        self.rows == 0 || self.columns == 0 || self.cycles.is_empty()
    }

    #[cfg(not(feature = "native"))]
    fn paint(
        &self,
        report: &ProfileReport,
        slots: &Slots,
        choice: CellChoice,
    ) -> Result<Raster, DecodeError> {
        if self.is_empty() {
            return Ok(Raster::blank(self.columns, self.rows, choice));
        }
        self.paint_rows(report, slots, choice, 0..self.rows)
    }

    /// Bands of rows in parallel; which thread paints a row does not change it.
    #[cfg(feature = "native")]
    fn paint(
        &self,
        report: &ProfileReport,
        slots: &Slots,
        choice: CellChoice,
    ) -> Result<Raster, DecodeError> {
        use rayon::prelude::*;

        if self.is_empty() {
            return Ok(Raster::blank(self.columns, self.rows, choice));
        }
        let threads = u32::try_from(rayon::current_num_threads()).unwrap_or(u32::MAX);
        let band = self.rows.div_ceil(threads.max(1)).max(1);
        let bands = (0..self.rows.div_ceil(band)).into_par_iter().map(|at| {
            let first = at * band;
            let rows = first..first.saturating_add(band).min(self.rows);
            self.paint_rows(report, slots, choice, rows)
        });
        let bands: Vec<Raster> = bands.collect::<Result<_, _>>()?;
        let mut raster = Raster::with_room(self.columns, self.rows, choice);
        bands.into_iter().for_each(|band| raster.append(band));
        Ok(raster)
    }

    fn paint_rows(
        &self,
        report: &ProfileReport,
        slots: &Slots,
        choice: CellChoice,
        rows: Range<u32>,
    ) -> Result<Raster, DecodeError> {
        let tiles = self.tiles_of(rows.start).start..self.tiles_of(rows.end - 1).end;
        let mut raster = Raster::with_room(self.columns, rows.end - rows.start, choice);
        let mut row_cells = RowCells::new(slots, Grid::new(&self.cycles, self.columns));
        let mut cells = vec![Cell::NOTHING; self.columns as usize];
        let mut row = rows.start;
        for_each_tile(
            report,
            self.frame,
            tiles,
            self.cycles.clone(),
            |tile, samples| {
                add_tile(
                    &mut row_cells,
                    self.frame,
                    &report.tiles()[tile as usize],
                    samples,
                );
                if tile + 1 == self.tiles_of(row).end {
                    row_cells.finish(&mut cells);
                    raster.push_row(&cells, choice);
                    row += 1;
                }
            },
        )?;
        Ok(raster)
    }
}

/// Adds a tile to its row. A call of its own: browsers optimise a function when it is entered
/// again, not while it runs.
#[inline(never)]
fn add_tile(cells: &mut RowCells<'_>, frame: Frame, tile: &TileEntry, samples: &TileSamples) {
    cells.add_tile(samples.iter().filter_map(|(start, duration, step)| {
        let placed = frame.place(tile, start, duration)?;
        Some((placed, step))
    }));
}
