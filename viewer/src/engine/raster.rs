//! Cells of a timeline, the groups that its rows stand for, and the strip of kinds above it: what
//! is asked and what is answered.

use analytics::clock::ClockKind;
use serde::{Deserialize, Serialize};

use super::protocol::clock_name;
use crate::state::view::{Colouring, Rows};

/// Which cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RasterAsked {
    /// The clock in force.
    #[serde(with = "clock_name")]
    pub(crate) clock: ClockKind,
    /// First cycle.
    pub(crate) from: u64,
    /// One past the last cycle.
    pub(crate) to: u64,
    /// Columns of cells.
    pub(crate) columns: u32,
    /// What rows stand for.
    pub(crate) by: Rows,
    /// First tile position; of groups always 0.
    pub(crate) tile_from: u32,
    /// One past the last tile position; of groups their number.
    pub(crate) tile_to: u32,
    /// Rows of cells, at most; groups have a row each.
    pub(crate) rows: u32,
    /// What the cells tell apart; kinds are told apart by kernels too.
    pub(crate) colour: Colouring,
    /// String id of the kernel whose share of each cell is wanted.
    pub(crate) focus: Option<u32>,
}

/// Groups of tiles or samples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RowsAnswer {
    /// What makes a group.
    pub(crate) by: Rows,
    /// Their names.
    pub(crate) names: Vec<String>,
    /// Tiles of each.
    pub(crate) tiles: Vec<u32>,
}

impl RasterAsked {
    /// Cycles × tiles of the part.
    pub(crate) fn area(&self) -> f64 {
        let cycles = crate::timeline::viewport::to_float(self.to.saturating_sub(self.from));
        cycles * f64::from(self.tile_to.saturating_sub(self.tile_from))
    }
}

/// Cells, row-major. The columns travel as buffers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RasterAnswer {
    /// What was asked.
    pub(crate) asked: RasterAsked,
    /// Columns of cells.
    pub(crate) columns: u32,
    /// Rows of cells.
    pub(crate) rows: u32,
    /// Whether the cells are the file's overview, coarser than asked for.
    pub(crate) from_overview: bool,
    /// Milliseconds of work for the answer.
    pub(crate) cost: u32,
    /// Kind of each cell, as [`analytics::timeline::CellKind`].
    #[serde(skip)]
    pub(crate) kinds: Vec<u8>,
    /// String id plus one of the kernel or operation of each cell; 0 is none.
    #[serde(skip)]
    pub(crate) kernels: Vec<u32>,
    /// Part of each cell that is compute, in 1/255.
    #[serde(skip)]
    pub(crate) busy: Vec<u8>,
    /// Part of each cell that is the kernel in focus, in 1/255, rounded up; empty without a focus.
    #[serde(skip)]
    pub(crate) focused: Vec<u8>,
    /// As [`analytics::timeline::Raster::efficiency`]; empty where the colours are no scale.
    #[serde(skip)]
    pub(crate) efficiency: Vec<u8>,
}

/// How fine a strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StripAsked {
    /// The clock in force.
    #[serde(with = "clock_name")]
    pub(crate) clock: ClockKind,
    /// Columns over the whole run.
    pub(crate) columns: u32,
}

/// Shares of the kinds over the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StripAnswer {
    /// The clock that it was asked on.
    #[serde(with = "clock_name")]
    pub(crate) clock: ClockKind,
    /// Columns.
    pub(crate) columns: u32,
    /// Length of the run in cycles.
    pub(crate) run: u64,
    /// As [`analytics::timeline::KindShares::shares`].
    pub(crate) shares: Vec<u16>,
}

impl StripAnswer {
    /// The strip where it belongs to a timeline on `clock`: on another one its columns are other
    /// cycles.
    pub(crate) fn on(&self, clock: ClockKind) -> Option<&Self> {
        (self.clock == clock).then_some(self)
    }
}
