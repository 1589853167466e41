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
use crate::package::model::Delivery;

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

/// An item's emission.
#[derive(Clone, Copy)]
struct Emission {
    /// Its first byte.
    address: u32,
    /// Direction bits.
    directions: u8,
    wide: bool,
}

/// What leaves when.
fn emissions(row: &TimedRow) -> BTreeMap<i64, Emission> {
    let mut found = BTreeMap::new();
    for message in &row.messages {
        let wide = message.control & 4 != 0;
        for k in 0..message.items {
            let emission = Emission {
                address: message.address + k * if wide { 8 } else { 4 },
                directions: message.control & 3,
                wide,
            };
            found.insert(i64::from(message.event + k), emission);
        }
    }
    found
}

/// A 32-bit word that lands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Word {
    /// Event of the receiver.
    pub(crate) event: i64,
    /// Receiver.
    pub(crate) tile: usize,
    /// Its address there.
    pub(crate) address: u32,
    /// Sender.
    pub(crate) source: usize,
    /// Its address there.
    pub(crate) from: u32,
    /// Event of the sender.
    pub(crate) left: i64,
}

/// An item at a receiver, before its landing address is known.
struct Item {
    event: i64,
    source: usize,
    emission: Emission,
    left: i64,
}

/// Everything that lands, in order of receiver and event.
pub(crate) fn landed(rows: &[Option<TimedRow>], topology: &Topology) -> Vec<Word> {
    let sent: Vec<_> = rows
        .iter()
        .map(|row| row.as_ref().map(emissions).unwrap_or_default())
        .collect();
    let mut words = Vec::new();
    for (tile, row) in rows.iter().enumerate() {
        let Some(row) = row else { continue };
        let mut items = ordinary(tile, row, &sent, topology);
        items.extend(paired(tile, rows, &sent, topology));
        items.sort_by_key(|item| item.event);
        words.extend(place(tile, row, &items));
    }
    words
}

/// 32-bit items: what is at the mux of `tile` at each event.
fn ordinary(
    tile: usize,
    row: &TimedRow,
    sent: &[BTreeMap<i64, Emission>],
    topology: &Topology,
) -> Vec<Item> {
    let mux = register(row, ControlKind::Mux);
    let physical = topology.mapping()[tile];
    let delay = i64::from(52 + 2 * (physical.get() >> 6));
    let mut items = Vec::new();
    for event in 0..i64::from(row.horizon) {
        let Some(source) = at(&mux, event).filter(|&source| source < 1472) else {
            continue;
        };
        let Some(s) = topology.logical(PhysicalTile::new(source)) else {
            continue;
        };
        let route = route(PhysicalTile::new(source), physical);
        let left = event - 1 - i64::from(route.mux);
        let Some(&emission) = sent[s.index()].get(&left) else {
            continue;
        };
        if emission.directions & route.direction.send_bit() != 0 && !emission.wide {
            items.push(Item {
                event: event + delay,
                source: s.index(),
                emission,
                left,
            });
        }
    }
    items
}

/// 64-bit items: what the member of the pair that is reached first selects, and the format lets in.
fn paired(
    tile: usize,
    rows: &[Option<TimedRow>],
    sent: &[BTreeMap<i64, Emission>],
    topology: &Topology,
) -> Vec<Item> {
    let own = topology.mapping()[tile];
    let other = PhysicalTile::new(own.get() ^ 2);
    let row_of = |physical| rows[topology.logical(physical)?.index()].as_ref();
    let Some(format) = row_of(own).map(|row| register(row, ControlKind::Format)) else {
        return Vec::new();
    };
    let delay = i64::from(2 * (own.get() >> 6));
    let mut items = Vec::new();
    for member in [own, other] {
        let Some(row) = row_of(member) else { continue };
        let select = register(row, ControlKind::MuxPair);
        for event in 0..i64::from(row.horizon) {
            let Some(value) = at(&select, event).filter(|&value| value < 1472) else {
                continue;
            };
            let source = PhysicalTile::new(value ^ (member.get() & 2));
            let Some(s) = topology.logical(source) else {
                continue;
            };
            let (here, there) = (
                route(source, member),
                route(source, PhysicalTile::new(member.get() ^ 2)),
            );
            let left = event - i64::from(here.mux.max(there.mux));
            let Some(&emission) = sent[s.index()].get(&left) else {
                continue;
            };
            let lets_in = event + 51 + delay;
            let direction = here.direction.send_bit();
            let fits = at(&format, lets_in) == Some(u32::from(direction));
            let is_early = here.mux < there.mux;
            if emission.wide && is_early && fits && emission.directions & direction != 0 {
                items.push(Item {
                    event: lets_in + 2,
                    source: s.index(),
                    emission,
                    left,
                });
            }
        }
    }
    items
}

/// Items to their addresses, as the landing pointer says.
fn place(tile: usize, row: &TimedRow, items: &[Item]) -> Vec<Word> {
    let pointer = register(row, ControlKind::Pointer);
    let mut cursor = (0, 0);
    let mut words = Vec::new();
    for item in items {
        let writes = pointer.partition_point(|write| i64::from(write.0) <= item.event);
        if writes != cursor.0 {
            let (event, value) = pointer[writes - 1];
            let switched = row.base_switches.iter().rfind(|it| it.end <= event);
            let base = switched.map_or(row.incoming_base, |it| it.base);
            cursor = (writes, base + 4 * value);
        }
        for word in 0..1 + u32::from(item.emission.wide) {
            words.push(Word {
                event: item.event,
                tile,
                address: cursor.1,
                source: item.source,
                from: item.emission.address + 4 * word,
                left: item.left,
            });
            cursor.1 += 4;
        }
    }
    words
}

/// Where the content of a word was before the phase: a tile and an address.
pub(crate) type Origin = (usize, u32);

/// For each word that anything landed on, where its content came from in the end.
pub(crate) fn origins(rows: &[Option<TimedRow>], topology: &Topology) -> BTreeMap<Origin, Origin> {
    let words = landed(rows, topology);
    let mut history: BTreeMap<Origin, Vec<Word>> = BTreeMap::new();
    for word in words {
        let landings = history.entry((word.tile, word.address)).or_default();
        landings.push(word);
    }
    // A word leaves before it lands, so each step back is a step back in time.
    let content = |mut place: Origin, mut before: i64| {
        while let Some(word) = history
            .get(&place)
            .and_then(|landings| landings.iter().rfind(|word| word.event < before))
        {
            (place, before) = ((word.source, word.from), word.left);
        }
        place
    };
    let places = history.keys();
    places
        .map(|&place| (place, content(place, i64::MAX)))
        .collect()
}

/// The same as the declaration has it, one delivery after the other.
pub(crate) fn declared(deliveries: &[Delivery]) -> BTreeMap<Origin, Origin> {
    let mut contents: BTreeMap<Origin, Origin> = BTreeMap::new();
    for delivery in deliveries {
        let source = delivery.source.index();
        let words = (0..delivery.bytes / 4).map(|word| {
            let place = (source, delivery.source_address + 4 * word);
            contents.get(&place).copied().unwrap_or(place)
        });
        let words: Vec<_> = words.collect();
        for &(tile, address) in &delivery.destinations {
            for (word, &origin) in (0..).zip(&words) {
                contents.insert((tile.index(), address + 4 * word), origin);
            }
        }
    }
    contents
}

/// The memories after a phase.
pub(crate) fn run(
    rows: &[Option<TimedRow>],
    topology: &Topology,
    before: &[TileMemory],
) -> Vec<TileMemory> {
    let mut after = before.to_vec();
    for ((tile, address), (source, from)) in origins(rows, topology) {
        let run = before[source].take(from, 4).expect("a word in SRAM");
        after[tile].land(address, &run).expect("a word in SRAM");
    }
    after
}
