//! Moves between buffers as transfers between addresses.

use analytics::units::TileId;

use crate::exchange::{SourceSteps, Transfer};
use crate::place::Placement;
use crate::program::{Move, Program};

/// Resolves the moves of one step, in program order.
#[must_use]
pub fn transfers(
    program: &Program,
    placement: &Placement,
    (step, moves): (u32, &[Move]),
) -> Vec<Transfer> {
    let runs = program.runs(step);
    let tile = |buffer: u32| TileId::new(program.buffers[buffer as usize].tile);
    let transfer = |each: &Move| Transfer {
        source: tile(each.source.buffer),
        source_address: super::address(placement, each.source),
        steps: SourceSteps {
            bytes: program.buffers[each.source.buffer as usize].step(),
            runs,
        },
        words: each.bytes / 4,
        destinations: each
            .destinations
            .iter()
            .map(|&buffer| {
                let address = placement.addresses[buffer as usize] + each.destination_offset;
                (tile(buffer), address)
            })
            .collect(),
    };
    moves.iter().map(transfer).collect()
}
