//! The program of each tile: rows in memory, calls with addresses, ranges that start as zero.

use analytics::units::{Bytes, TileId};
use rayon::prelude::*;
use runtime::machine::sram::FETCH_GUARD_BYTES;
use runtime::package::{Call, MemoryRange, OperandStep, RowEntry, RowPatch, Segment, TileProgram};

use crate::place::PlaceError;
use crate::program::{Program, Work};

use super::{Lowering, address, index};

/// Builds all tile programs; tiles are independent.
pub(super) fn tiles(input: &Lowering<'_>) -> Result<Vec<TileProgram>, PlaceError> {
    let mut programs = vec![TileProgram::default(); usize::from(input.program.tiles)];
    add_calls(input, &mut programs);
    add_zero_ranges(input, &mut programs);
    programs
        .par_iter_mut()
        .enumerate()
        .try_for_each(|(tile, program)| add_rows(input, tile, program))?;
    Ok(programs)
}

fn add_calls(input: &Lowering<'_>, programs: &mut [TileProgram]) {
    let mut phase = 0;
    for step in &input.program.steps {
        let Work::Compute { calls, .. } = &step.work else {
            continue;
        };
        for call in calls {
            let operands = call
                .operands
                .iter()
                .map(|&place| address(input.placement, place))
                .collect();
            let lowered = Call {
                phase,
                template: call.template,
                operands,
            };
            let program = &mut programs[usize::from(call.tile)];
            for (operand, place) in (0..).zip(&call.operands) {
                let bytes = input.program.buffers[place.buffer as usize].step();
                if bytes > 0 {
                    program.operand_steps.push(OperandStep {
                        call: index(program.calls.len()),
                        operand,
                        bytes: bytes.cast_signed(),
                    });
                }
            }
            program.calls.push(lowered);
        }
        phase += 1;
    }
}

/// Buffers that the host does not write in full start as zero where nothing else lay before.
fn add_zero_ranges(input: &Lowering<'_>, programs: &mut [TileProgram]) {
    let Program { buffers, .. } = input.program;
    for (buffer, &address) in buffers.iter().zip(&input.placement.addresses) {
        if buffer.zero {
            let range = MemoryRange {
                address,
                bytes: buffer.total_bytes(),
            };
            programs[usize::from(buffer.tile)].zero_ranges.push(range);
        }
    }
    for program in programs {
        program.zero_ranges.sort_unstable();
    }
}

/// Lays the rows of a tile one after another, each 8-byte aligned; equal rows are kept once, unless
/// a Repeat rewrites them.
fn add_rows(
    input: &Lowering<'_>,
    tile: usize,
    program: &mut TileProgram,
) -> Result<(), PlaceError> {
    let area = input.arena.rows();
    let mut bytes: Vec<u8> = Vec::new();
    let mut kept: Vec<(&[u32], u32)> = Vec::new();
    for (exchange, encoded) in (0..).zip(input.exchanges) {
        let Some(row) = &encoded.rows[tile] else {
            continue;
        };
        let known = kept
            .iter()
            .find(|(words, _)| row.steps.is_empty() && *words == row.words.as_slice());
        let at = match known {
            Some(&(_, at)) => at,
            None => {
                bytes.resize(bytes.len().next_multiple_of(8), 0);
                let at = area.start + index(bytes.len());
                bytes.extend(row.words.iter().flat_map(|word| word.to_le_bytes()));
                if row.steps.is_empty() {
                    kept.push((&row.words, at));
                }
                at
            }
        };
        let patches = row.steps.iter().map(|&(position, step)| RowPatch {
            address: at + 4 * position,
            exchange,
            step,
        });
        program.row_patches.extend(patches);
        let (incoming_base, outgoing_base) = (0, 0);
        program.rows.push(RowEntry {
            exchange,
            address: at,
            incoming_base,
            outgoing_base,
        });
    }
    let limit = u64::from(area.end - area.start - FETCH_GUARD_BYTES);
    let limit = limit.min(input.options.limits.row_bytes.unwrap_or(u64::MAX));
    if bytes.len() as u64 > limit {
        return Err(PlaceError::Rows {
            tile: TileId::new(u16::try_from(tile).unwrap_or(u16::MAX)),
            bytes: Bytes::new(bytes.len() as u64),
            limit: Bytes::new(limit),
        });
    }
    if !bytes.is_empty() {
        program.segments.push(Segment {
            address: area.start,
            bytes,
        });
    }
    Ok(())
}
