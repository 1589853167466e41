//! What makes one tile's program well formed.

use super::model::{Call, Package, RowEntry, TileProgram};
use super::validate::{Done, SRAM_BASE, in_sram, invalid};
use crate::kernels;

/// One past the last byte of region 0, where code may lie. Vendor memory map.
const REGION_0_END: u32 = 0x8_0000;
/// Bytes that the loader reaches: 643 frames of 992 bytes from 0x4c010. Hardware-exercised.
const LOADABLE: std::ops::Range<u32> = 0x4_C010..0xE_7BB0;

/// Checks the program of the tile with this logical index.
pub(super) fn tile(package: &Package, index: usize, tile: &TileProgram) -> Done {
    let at = |part: &str| format!("tile {index}{part}");
    segments(tile).or_else(|what| invalid(at(""), what))?;
    for range in &tile.zero_ranges {
        let aligned = range.address.is_multiple_of(4) && range.bytes.is_multiple_of(4);
        if !aligned || !in_sram(range.address, u64::from(range.bytes)) {
            let what = format!(
                "{} bytes at {:#x} are no words in SRAM",
                range.bytes, range.address
            );
            return invalid(at(" zero range"), what);
        }
    }
    let mut previous = None;
    for row in &tile.rows {
        self::row(package, tile, row).or_else(|what| invalid(at(" row"), what))?;
        if previous.is_some_and(|exchange| exchange >= row.exchange) {
            let what = format!("exchange {} comes late or twice", row.exchange);
            return invalid(at(" row"), what);
        }
        previous = Some(row.exchange);
    }
    let mut phase = 0;
    for (number, call) in tile.calls.iter().enumerate() {
        let place = || format!("tile {index} call {number}");
        self::call(package, call).or_else(|what| invalid(place(), what))?;
        if call.phase < phase {
            return invalid(
                place(),
                format!("phase {} comes after phase {phase}", call.phase),
            );
        }
        phase = call.phase;
    }
    operand_steps(tile).or_else(|what| invalid(at(" operand step"), what))?;
    row_patches(tile).or_else(|what| invalid(at(" row patch"), what))
}

fn operand_steps(tile: &TileProgram) -> Result<(), String> {
    let mut previous = None;
    for step in &tile.operand_steps {
        let call = tile.calls.get(step.call as usize);
        if call.is_none_or(|call| step.operand as usize >= call.operands.len()) {
            return Err(format!("{step:?} names no operand of a call"));
        }
        if previous.replace((step.call, step.operand)) >= Some((step.call, step.operand)) {
            return Err(format!("{step:?} is out of order or comes twice"));
        }
    }
    Ok(())
}

fn row_patches(tile: &TileProgram) -> Result<(), String> {
    let mut previous = None;
    for patch in &tile.row_patches {
        let address = patch.address;
        if !address.is_multiple_of(4) || !is_loaded(tile, address, 4) {
            return Err(format!("{address:#x} is no loaded word"));
        }
        let row = |row: &RowEntry| row.exchange == patch.exchange;
        if !tile.rows.iter().any(row) {
            return Err(format!(
                "the tile has no row in exchange {}",
                patch.exchange
            ));
        }
        if previous.replace(address) >= Some(address) {
            return Err(format!("{address:#x} is out of order or comes twice"));
        }
    }
    Ok(())
}

/// Whether all bytes of a range are in one segment.
fn is_loaded(tile: &TileProgram, address: u32, bytes: u64) -> bool {
    let after = tile
        .segments
        .partition_point(|segment| segment.address <= address);
    after > 0 && {
        let segment = &tile.segments[after - 1];
        u64::from(address - segment.address) + bytes <= segment.bytes.len() as u64
    }
}

fn segments(tile: &TileProgram) -> Result<(), String> {
    let mut free = LOADABLE.start;
    for segment in &tile.segments {
        let end = u64::from(segment.address).saturating_add(segment.bytes.len() as u64);
        if segment.address < free || end > u64::from(LOADABLE.end) {
            return Err(format!(
                "segment {:#x}..{end:#x} overlaps, is out of order or leaves {:#x}..{:#x}",
                segment.address, LOADABLE.start, LOADABLE.end
            ));
        }
        free = u32::try_from(end).unwrap_or(u32::MAX);
    }
    Ok(())
}

fn row(package: &Package, tile: &TileProgram, row: &RowEntry) -> Result<(), String> {
    let address = row.address;
    if row.exchange as usize >= package.exchanges.len() {
        return Err(format!("there is no exchange {}", row.exchange));
    }
    // That it is 8-byte aligned is a rule of the machine, which refuses the row when it runs.
    if !(SRAM_BASE..REGION_0_END).contains(&address) {
        return Err(format!("address {address:#x} is not in region 0"));
    }
    if !is_loaded(tile, address, 1) {
        return Err(format!("address {address:#x} lies in no loaded segment"));
    }
    for base in [row.incoming_base, row.outgoing_base] {
        if base != 0 && (!base.is_multiple_of(4) || !in_sram(base, 4)) {
            return Err(format!("base {base:#x} is no word in SRAM"));
        }
    }
    Ok(())
}

fn call(package: &Package, call: &Call) -> Result<(), String> {
    if call.phase as usize >= package.compute_phases.len() {
        return Err(format!("there is no compute phase {}", call.phase));
    }
    let template = package
        .call_templates
        .get(call.template as usize)
        .ok_or_else(|| format!("there is no call template {}", call.template))?;
    let operands = kernels::operands(&template.kernel);
    if operands.len() != call.operands.len() {
        return Err(format!(
            "{} has {} operands, the call gives {}",
            template.symbol,
            operands.len(),
            call.operands.len()
        ));
    }
    for (operand, &address) in operands.iter().zip(&call.operands) {
        if !in_sram(address, operand.bytes) {
            return Err(format!(
                "operand {} of {}, {} bytes at {address:#x}, leaves SRAM",
                operand.name, template.symbol, operand.bytes
            ));
        }
    }
    Ok(())
}
