//! The fabric again, a word at a time and as slowly as it is told: an oracle for the fast one.
//!
//! For every event of every tile it asks which word is at the mux, and where it lands. It knows
//! nothing of messages, windows or runs.

use std::collections::BTreeMap;

use analytics::units::PhysicalTile;

use crate::exchange::TimedRow;
use crate::machine::isa::ControlKind;
use crate::machine::memory::TileMemory;
use crate::machine::topology::{Topology, route};

/// (event, value) pairs of one register.
fn register(row: &TimedRow, kind: ControlKind) -> Vec<(u32, u32)> {
    let of_kind = row.controls.iter().filter(|c| c.write.kind == kind);
    of_kind
        .map(|control| (control.event, control.write.value))
        .collect()
}

/// The last value written at or before an event.
fn at(writes: &[(u32, u32)], event: i64) -> Option<u32> {
    writes
        .iter()
        .rev()
        .find(|write| i64::from(write.0) <= event)
        .map(|write| write.1)
}

/// A word's emission: event → (byte address, direction bits), 32-bit items only.
fn emissions(row: &TimedRow) -> BTreeMap<i64, (u32, u8)> {
    let mut found = BTreeMap::new();
    for message in &row.messages {
        for k in 0..message.items {
            let at = i64::from(message.event + k);
            found.insert(at, (message.address + 4 * k, message.control));
        }
    }
    found
}

/// One landed word: (event, receiver, address, source tile, source address).
pub(super) type Word = (i64, usize, u32, usize, u32);

/// Every ordinary word that lands.
pub(super) fn landed(rows: &[Option<TimedRow>], topology: &Topology) -> Vec<Word> {
    let sent: Vec<_> = rows
        .iter()
        .map(|row| row.as_ref().map(emissions).unwrap_or_default())
        .collect();
    let mut words = Vec::new();
    for (d, row) in rows.iter().enumerate() {
        let Some(row) = row else { continue };
        let (mux, pointer) = (
            register(row, ControlKind::Mux),
            register(row, ControlKind::Pointer),
        );
        let physical = topology.mapping()[d];
        let delay = i64::from(52 + 2 * (physical.get() >> 6));
        let mut cursor = (0, 0);
        for event in 0..i64::from(row.horizon) {
            let Some(source) = at(&mux, event).filter(|&source| source < 1472) else {
                continue;
            };
            let Some(s) = topology.logical(PhysicalTile::new(source)) else {
                continue;
            };
            let route = route(PhysicalTile::new(source), physical);
            let emitted = event - 1 - i64::from(route.mux);
            let Some(&(from, control)) = sent[s.index()].get(&emitted) else {
                continue;
            };
            if control & route.direction.send_bit() == 0 {
                continue;
            }
            let lands = event + delay;
            let writes = pointer
                .iter()
                .filter(|write| i64::from(write.0) <= lands)
                .count();
            if writes != cursor.0 {
                cursor = (writes, 4 * pointer[writes - 1].1);
            }
            words.push((lands, d, cursor.1, s.index(), from));
            cursor.1 += 4;
        }
    }
    words
}

/// The memories after a phase of ordinary transfers in which no tile sends what it received.
pub(super) fn run(
    rows: &[Option<TimedRow>],
    topology: &Topology,
    before: &[TileMemory],
) -> Vec<TileMemory> {
    let mut words = landed(rows, topology);
    words.sort_unstable();
    let mut after = before.to_vec();
    for (_, receiver, address, source, from) in words {
        let run = before[source].take(from, 4).expect("a word in SRAM");
        after[receiver].land(address, &run).expect("a word in SRAM");
    }
    after
}
