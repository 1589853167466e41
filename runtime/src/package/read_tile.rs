//! The program of one tile from its columns.

use analytics::memory::package_capnp as schema;

use super::PackageError;
use super::column::decode_as;
use super::model::{
    Call, CallTemplate, MemoryRange, OperandStep, RowEntry, RowPatch, Segment, TileProgram,
};
use super::read::Read;
use crate::kernels;

pub(super) fn tile(
    tile: schema::tile_program::Reader<'_>,
    templates: &[CallTemplate],
) -> Read<TileProgram> {
    let segment = |segment: schema::segment::Reader<'_>| -> Read<Segment> {
        Ok(Segment {
            address: segment.get_address(),
            bytes: segment.get_bytes()?.to_vec(),
        })
    };
    let zeros = tile.get_zero_count();
    let addresses: Vec<u32> = decode_as(tile.get_zero_addresses()?, zeros, "zeroAddresses")?;
    let bytes: Vec<u32> = decode_as(tile.get_zero_bytes()?, zeros, "zeroBytes")?;
    let zero_ranges = addresses.into_iter().zip(bytes);
    Ok(TileProgram {
        segments: tile
            .get_segments()?
            .iter()
            .map(segment)
            .collect::<Read<_>>()?,
        rows: rows(tile)?,
        calls: calls(tile, templates)?,
        zero_ranges: zero_ranges
            .map(|(address, bytes)| MemoryRange { address, bytes })
            .collect(),
        operand_steps: operand_steps(tile)?,
        row_patches: row_patches(tile)?,
    })
}

fn operand_steps(tile: schema::tile_program::Reader<'_>) -> Read<Vec<OperandStep>> {
    let n = tile.get_operand_step_count();
    let calls: Vec<u32> = decode_as(tile.get_operand_step_calls()?, n, "operandStepCalls")?;
    let operands: Vec<u32> =
        decode_as(tile.get_operand_step_operands()?, n, "operandStepOperands")?;
    let bytes: Vec<i32> = decode_as(tile.get_operand_step_bytes()?, n, "operandStepBytes")?;
    let step = |i: usize| OperandStep {
        call: calls[i],
        operand: operands[i],
        bytes: bytes[i],
    };
    Ok((0..n as usize).map(step).collect())
}

fn row_patches(tile: schema::tile_program::Reader<'_>) -> Read<Vec<RowPatch>> {
    let n = tile.get_patch_count();
    let exchanges: Vec<u32> = decode_as(tile.get_patch_exchanges()?, n, "patchExchanges")?;
    let addresses: Vec<u32> = decode_as(tile.get_patch_addresses()?, n, "patchAddresses")?;
    let steps: Vec<u32> = decode_as(tile.get_patch_steps()?, n, "patchSteps")?;
    let patch = |i: usize| RowPatch {
        address: addresses[i],
        exchange: exchanges[i],
        step: steps[i],
    };
    Ok((0..n as usize).map(patch).collect())
}

fn rows(tile: schema::tile_program::Reader<'_>) -> Read<Vec<RowEntry>> {
    let n = tile.get_row_count();
    let exchanges: Vec<u32> = decode_as(tile.get_row_exchanges()?, n, "rowExchanges")?;
    let addresses: Vec<u32> = decode_as(tile.get_row_addresses()?, n, "rowAddresses")?;
    let incoming: Vec<u32> = decode_as(tile.get_row_incoming_bases()?, n, "rowIncomingBases")?;
    let outgoing: Vec<u32> = decode_as(tile.get_row_outgoing_bases()?, n, "rowOutgoingBases")?;
    let row = |i: usize| RowEntry {
        exchange: exchanges[i],
        address: addresses[i],
        incoming_base: incoming[i],
        outgoing_base: outgoing[i],
    };
    Ok((0..n as usize).map(row).collect())
}

fn calls(tile: schema::tile_program::Reader<'_>, templates: &[CallTemplate]) -> Read<Vec<Call>> {
    let n = tile.get_call_count();
    let phases: Vec<u32> = decode_as(tile.get_call_phases()?, n, "callPhases")?;
    let names: Vec<u32> = decode_as(tile.get_call_templates()?, n, "callTemplates")?;
    let all: Vec<u32> = decode_as(
        tile.get_call_operands()?,
        tile.get_operand_count(),
        "callOperands",
    )?;
    let mut rest = all.as_slice();
    let mut calls = Vec::with_capacity(n as usize);
    for (phase, template) in phases.into_iter().zip(names) {
        let spec = templates
            .get(template as usize)
            .map(|t| t.kernel)
            .ok_or_else(|| PackageError::Malformed {
                what: format!("call template {template} is missing"),
            })?;
        let (own, tail) = rest
            .split_at_checked(kernels::operand_count(&spec))
            .ok_or_else(|| PackageError::Malformed {
                what: "calls have more operands than there are".to_owned(),
            })?;
        rest = tail;
        calls.push(Call {
            phase,
            template,
            operands: own.to_vec(),
        });
    }
    if rest.is_empty() {
        return Ok(calls);
    }
    Err(PackageError::Malformed {
        what: format!("{} operands belong to no call", rest.len()),
    })
}
