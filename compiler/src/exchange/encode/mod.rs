//! Writes each tile's row of exchange instructions.
//!
//! [`Schedule`] → one [`EncodedRow`] for each tile with traffic. A row starts 8-byte aligned with
//! its first exchange instruction (the supervisor synchronises before it calls the row) and ends
//! with a return.

mod row;
mod word;

use analytics::units::TileId;
use rayon::prelude::*;

use super::schedule::Schedule;
use super::timeline::Timeline;
use super::transfer::ExchangeContext;

pub(super) use row::alignable;

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
        tile: TileId,
        /// Event of the controls.
        event: u32,
    },
    /// A row that alone is longer than what its tile's rows may take.
    #[error("tile {tile}: a row of {bytes} bytes in {reserved} bytes reserved for rows")]
    Reserve {
        /// Logical tile.
        tile: TileId,
        /// Length of the row in bytes.
        bytes: usize,
        /// Length of the reserved range in bytes.
        reserved: u32,
    },
}

/// Encodes a schedule; one entry a logical tile, `None` for tiles without traffic.
///
/// # Errors A row that the context leaves no room for. [`EncodeError::Alignment`] cannot come from
/// a schedule of this crate.
pub fn encode(
    schedule: &Schedule,
    context: &ExchangeContext<'_>,
) -> Result<Vec<Option<EncodedRow>>, EncodeError> {
    let encode = |(index, timeline): (usize, &Timeline)| {
        let tile = TileId::new(u16::try_from(index).expect("tile ids have sixteen bits"));
        let row = encode_tile(timeline, tile)?;
        let bytes = row.as_ref().map_or(0, |row| 4 * row.words.len());
        match context.row_code.get(index) {
            Some(code) if bytes > code.bytes as usize => Err(EncodeError::Reserve {
                tile,
                bytes,
                reserved: code.bytes,
            }),
            _ => Ok(row),
        }
    };
    schedule
        .timelines
        .par_iter()
        .enumerate()
        .map(encode)
        .collect()
}

fn encode_tile(timeline: &Timeline, tile: TileId) -> Result<Option<EncodedRow>, EncodeError> {
    if timeline.horizon == 0 {
        return Ok(None);
    }
    let words = row::encode(timeline).map_err(|at| EncodeError::Alignment {
        tile,
        event: at.event,
    })?;
    Ok(Some(EncodedRow {
        words,
        horizon: timeline.horizon,
    }))
}
