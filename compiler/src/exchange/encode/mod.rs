//! Writes each tile's row of exchange instructions.
//!
//! [`Schedule`] → one [`EncodedRow`] for each tile with traffic. A row starts 8-byte aligned with its first
//! exchange instruction (the supervisor synchronises before it calls the row) and ends with a return.

use super::schedule::Schedule;
use super::transfer::ExchangeContext;

/// The exchange instructions of one tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedRow {
    /// Instruction words, the return included. The first word belongs at an 8-byte aligned address.
    pub words: Vec<u32>,
    /// Events from the release of the barrier to the end of the row.
    pub horizon: u32,
}

/// Why a schedule has no encoding: a bug, since the scheduler keeps the rules of the encoding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A two-control instruction at an odd word with nothing before it that could be split.
    #[error("tile {tile}: the controls at event {event} cannot be aligned to eight bytes")]
    Alignment {
        /// Logical tile.
        tile: u16,
        /// Event of the controls.
        event: u32,
    },
}

/// Encodes a schedule; one entry a logical tile, `None` for tiles without traffic.
///
/// # Errors
/// A schedule that this crate's scheduler would not have made.
pub fn encode(
    schedule: &Schedule,
    context: &ExchangeContext<'_>,
) -> Result<Vec<Option<EncodedRow>>, EncodeError> {
    let _ = context;
    Ok(vec![None; schedule.tiles])
}
