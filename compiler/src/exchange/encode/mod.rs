//! Writes each tile's row of exchange instructions.
//!
//! [`Schedule`] → one [`EncodedRow`] for each tile with traffic. A row starts 8-byte aligned with
//! its first exchange instruction (the supervisor synchronises before it calls the row) and ends
//! with a return.

mod piece;
mod row;
mod word;

use analytics::units::TileId;
use rayon::prelude::*;
use runtime::machine::arch::{LANDING_DELAY, NEUTRAL_SOURCE, RECEIVE_TAIL};

use super::schedule::Schedule;
use super::timeline::{Control, Timeline};
use super::transfer::ExchangeContext;

pub(super) use row::Row;

/// The exchange instructions of one tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedRow {
    /// Instruction words, the return included. The first word belongs at an 8-byte aligned address.
    pub words: Vec<u32>,
    /// Events from the release of the barrier to the end of the row.
    pub horizon: u32,
    /// Words that change from one run of a repeated exchange to the next, in order: position, and
    /// what is added modulo 2^32.
    pub steps: Vec<(u32, u32)>,
}

impl EncodedRow {
    /// The row as one run of a repeated exchange finds it.
    #[must_use]
    pub fn in_run(&self, run: u32) -> Self {
        let mut row = self.clone();
        for &(position, step) in &self.steps {
            let word = &mut row.words[position as usize];
            *word = word.wrapping_add(step.wrapping_mul(run));
        }
        row.steps.clear();
        row
    }
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
    let (words, steps) = row::encode(timeline).map_err(|at| EncodeError::Alignment {
        tile,
        event: at.event,
    })?;
    Ok(Some(EncodedRow {
        words,
        horizon: timeline.horizon,
        steps,
    }))
}

/// The row of one receiving tile while messages are added at its end: encoded again after each,
/// from the last checkpoint, or in full. It is there for `benches/exchange.rs`, which times the
/// two; the compiler encodes whole timelines.
#[derive(Clone, Debug, Default)]
pub struct GrowingRow {
    row: Row,
    timeline: Timeline,
    encoded: row::Unchanged,
}

impl GrowingRow {
    /// Adds a message of `words` words from a physical tile, some events after the last, that lands
    /// at `address`.
    pub fn receive(&mut self, source: u16, words: u32, address: u32) {
        let last = self.timeline.controls.last().map_or(1, |last| last.event);
        let writes = [
            (last + 3, Some(source), Some(address)),
            (last + 3 + words, Some(NEUTRAL_SOURCE), None),
        ];
        let controls = writes.map(|(event, source, pointer)| Control {
            event,
            source,
            pointer,
            paired: None,
        });
        self.timeline.controls.extend(controls);
        self.timeline.horizon = last + 3 + words + LANDING_DELAY + RECEIVE_TAIL;
    }

    /// Goes on from the last checkpoint; gives the instruction words without the return.
    ///
    /// # Errors
    /// [`EncodeError::Alignment`].
    pub fn encode(&mut self) -> Result<usize, EncodeError> {
        let result = self.row.encode(&self.timeline, self.encoded);
        self.encoded = row::Unchanged {
            sends: self.timeline.sends.len(),
            controls: self.timeline.controls.len(),
        };
        result.map(|()| self.row.len()).map_err(unaligned)
    }

    /// The same from the start.
    ///
    /// # Errors
    /// [`EncodeError::Alignment`].
    pub fn encode_in_full(&self) -> Result<usize, EncodeError> {
        let mut row = Row::default();
        let result = row.encode(&self.timeline, row::Unchanged::default());
        result.map(|()| row.len()).map_err(unaligned)
    }
}

fn unaligned(at: row::Unalignable) -> EncodeError {
    EncodeError::Alignment {
        tile: TileId::new(0),
        event: at.event,
    }
}
