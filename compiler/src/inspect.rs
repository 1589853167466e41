//! Encoded exchange rows of a tile as text: (package, tile) → one line an instruction.

use std::fmt::Write as _;

use analytics::units::TileId;
use runtime::machine::isa::{Instruction, decode, is_pair};
use runtime::package::{Package, RowEntry, TileProgram};

/// The rows of a tile, decoded with the machine's own decoder: address, words, instruction, and the
/// event at which it starts.
///
/// # Errors
/// A tile that the package does not have.
pub fn inspect_rows(package: &Package, tile: TileId) -> Result<String, String> {
    let program = package.tiles.get(tile.index()).ok_or_else(|| {
        let tiles = package.tiles.len();
        format!("tile {tile} is not one of the package's {tiles} tiles")
    })?;
    let mut text = String::new();
    for entry in &program.rows {
        let exchange = &package.exchanges[entry.exchange as usize];
        let _fits = writeln!(
            text,
            "tile {tile}, exchange {} of {}, horizon {} events, row at {:#x}",
            entry.exchange, exchange.operation, exchange.event_cycles, entry.address
        );
        row(&mut text, program, entry);
    }
    if text.is_empty() {
        let _fits = writeln!(text, "tile {tile} takes part in no exchange");
    }
    Ok(text)
}

fn row(text: &mut String, program: &TileProgram, entry: &RowEntry) {
    let mut address = entry.address;
    let mut event = 0;
    while let Some(word) = word_at(program, address) {
        let next = word_at(program, address + 4).unwrap_or(0);
        let Some(instruction) = decode(word, next) else {
            let _fits = writeln!(text, "  {address:#x} {word:08x} is no instruction of a row");
            return;
        };
        let second = if is_pair(word) {
            format!("{next:08x}")
        } else {
            " ".repeat(8)
        };
        let _fits = writeln!(
            text,
            "  {event:>7} {address:#x} {word:08x} {second} {instruction:?}"
        );
        if instruction == Instruction::Return {
            return;
        }
        event += events(instruction);
        address += if is_pair(word) { 8 } else { 4 };
    }
}

fn word_at(program: &TileProgram, address: u32) -> Option<u32> {
    let segment = program.segments.iter().find(|segment| {
        let length = u32::try_from(segment.bytes.len()).unwrap_or(u32::MAX);
        (segment.address..segment.address.saturating_add(length)).contains(&address)
    })?;
    let start = (address - segment.address) as usize;
    let bytes = segment.bytes.get(start..start + 4)?;
    bytes.try_into().ok().map(u32::from_le_bytes)
}

/// Events that an instruction takes.
const fn events(instruction: Instruction) -> u32 {
    match instruction {
        Instruction::Delay { events } | Instruction::DelayControl { events, .. } => events,
        Instruction::Send { items, .. }
        | Instruction::SendOff { items, .. }
        | Instruction::SendControl { items, .. }
        | Instruction::SendPair { items, .. } => items,
        Instruction::Put { .. } => runtime::machine::isa::PUT_BASE_EVENTS,
        Instruction::Nop | Instruction::SetZi { .. } => 1,
        Instruction::Sync { .. } | Instruction::Sans { .. } | Instruction::Return => 0,
    }
}
