//! What a compilation sets aside before it knows: memory beside the planned buffers and room for
//! rows. A stage that runs out of either says so, and the compilation starts again with more.

use runtime::machine::sram::{ELEMENT_BYTES, FETCH_GUARD_BYTES};

use crate::error::CompileError;
use crate::place::{Arena, PlaceError, ROW_AREA};
use crate::program::Program;

/// Attempts before the error goes to the caller.
pub(crate) const ATTEMPTS_MAX: u32 = 6;
/// Bytes that one more attempt keeps free on every tile when plans are ranked.
const RESERVE_STEP: u64 = 24 * 1024;

/// Expected bytes of a row for each send: an instruction and one split off it.
const SEND_BYTES: u64 = 12;
/// For each receive: a source select, and a pointer or a wait.
const RECEIVE_BYTES: u64 = 8;
/// For each exchange: waits, return and alignment.
const ROW_BYTES: u64 = 24;

/// What is set aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reserve {
    /// Bytes of every tile that plans leave free.
    pub(crate) plan_bytes: u64,
    /// Bytes of rows of the fullest tile; 0 takes the estimate.
    pub(crate) row_bytes: u64,
}

impl Reserve {
    /// More of what ran out, or `None` where more does not help.
    pub(crate) fn after(self, error: &CompileError) -> Option<Self> {
        match error {
            CompileError::Place(PlaceError::Full { .. }) => Some(Self {
                plan_bytes: self.plan_bytes + RESERVE_STEP,
                ..self
            }),
            CompileError::Place(PlaceError::Budget {
                standard,
                interleaved,
                budget,
                ..
            }) => {
                let excess = standard.get() + interleaved.get() - budget.get();
                Some(Self {
                    plan_bytes: self.plan_bytes + excess.next_multiple_of(1024),
                    ..self
                })
            }
            CompileError::Place(PlaceError::Rows { bytes, .. }) => {
                let row_bytes = bytes.get() + bytes.get() / 16;
                Some(Self { row_bytes, ..self }).filter(|next| next.row_bytes > self.row_bytes)
            }
            _ => None,
        }
    }

    /// The memory that buffers may use.
    pub(crate) fn arena(self, program: &Program) -> Arena {
        let bytes = if self.row_bytes > 0 {
            self.row_bytes
        } else {
            row_bytes_estimate(program)
        };
        let guarded = bytes + u64::from(FETCH_GUARD_BYTES);
        if guarded <= u64::from(ROW_AREA.end - ROW_AREA.start) {
            return Arena::with_rows(0);
        }
        let elements = guarded.div_ceil(u64::from(ELEMENT_BYTES));
        let elements = u32::try_from(elements).unwrap_or(u32::MAX);
        Arena::with_rows(elements.min(Arena::ROW_ELEMENTS_MAX))
    }
}

/// Bytes of rows that the busiest tile is expected to need.
fn row_bytes_estimate(program: &Program) -> u64 {
    let mut bytes = vec![0; usize::from(program.tiles)];
    let tile = |buffer: u32| usize::from(program.buffers[buffer as usize].tile);
    let mut exchanges = 0;
    for (_, moves) in program.exchanges() {
        exchanges += 1;
        for each in moves {
            bytes[tile(each.source.buffer)] += SEND_BYTES;
            for &destination in each.destinations.iter() {
                bytes[tile(destination)] += RECEIVE_BYTES;
            }
        }
    }
    bytes.into_iter().max().unwrap_or(0) + exchanges * ROW_BYTES
}
