//! Phases built from transfers with chosen start events, for tests that then break one thing.

use std::collections::BTreeMap;

use analytics::units::TileId;

use super::assembler::{self, NEUTRAL, Register, Sent, Write};
use crate::exchange::{self, ExchangeOutcome, PhaseContext, TimedRow, decode_row};
use crate::fault::{Fault, Faults};
use crate::machine::memory::TileMemory;
use crate::machine::topology::{Topology, landing_delay, pair_partner, route};
use crate::package::model::{Address, Delivery};

/// Where rows lie unless a test moves them.
pub(crate) const ROW: Address = 0x5_c000;

/// What one tile's row does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    pub(crate) sent: Vec<Sent>,
    pub(crate) writes: Vec<Write>,
    pub(crate) horizon: u32,
}

/// A phase in the making.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) topology: Topology,
    pub(crate) scripts: BTreeMap<u16, Script>,
    pub(crate) deliveries: Vec<Delivery>,
    pub(crate) context: PhaseContext,
    pub(crate) row_address: Address,
}

impl Scene {
    pub(crate) fn new(tiles: u16) -> Self {
        let context = PhaseContext {
            phase: 9,
            ..PhaseContext::default()
        };
        Self {
            topology: Topology::first_tiles(tiles),
            scripts: BTreeMap::new(),
            deliveries: Vec::new(),
            context,
            row_address: ROW,
        }
    }

    pub(crate) fn script(&mut self, tile: u16) -> &mut Script {
        self.scripts.entry(tile).or_default()
    }

    /// An ordinary transfer at the first start from `earliest` at which the whole phase stays
    /// legal. The transfer must be legal alone, else no start will ever do.
    pub(crate) fn transfer_when_legal(
        &mut self,
        source: u16,
        earliest: u32,
        words: u32,
        from: Address,
        to: &[(u16, Address)],
    ) {
        let next = (earliest..).find_map(|start| self.with(source, start, words, from, to));
        *self = next.expect("a transfer that is legal alone is legal after all others");
    }

    /// The phase with one more ordinary transfer, where that is legal.
    pub(crate) fn with(
        &self,
        source: u16,
        start: u32,
        words: u32,
        from: Address,
        to: &[(u16, Address)],
    ) -> Option<Self> {
        let mut next = self.clone();
        next.try_transfer(source, start, words, from, to)?;
        next.is_legal().then_some(next)
    }

    fn is_legal(&self) -> bool {
        let expressible = |script: &Script| {
            assembler::assemble(&script.sent, &script.writes, script.horizon).is_some()
        };
        if !self.scripts.values().all(expressible) {
            return false;
        }
        let words = self.words();
        self.rows(&words, &self.memories(&words))
            .is_ok_and(|rows| exchange::resolve(self.context, &rows, &self.topology).is_ok())
    }

    fn write(&mut self, tile: u16, event: i64, register: Register, value: u32) -> Option<()> {
        let event = u32::try_from(event).ok().filter(|&event| event > 0)?;
        let rest = if register == Register::Format {
            0
        } else {
            NEUTRAL
        };
        let writes = &mut self.script(tile).writes;
        // A source or format that ends gives way to one that begins at the same event.
        if let Some(at) = writes
            .iter()
            .position(|w| w.event == event && w.register == register)
        {
            if value == rest {
                return Some(());
            }
            if writes[at].value != rest {
                return None;
            }
            writes.remove(at);
        }
        writes.push(Write {
            event,
            register,
            value,
        });
        writes.sort_unstable();
        Some(())
    }

    fn send(&mut self, source: u16, start: u32, words: u32, from: Address, control: u32) {
        let wide = control & 4 != 0;
        let (items, unit) = if wide { (words / 2, 8) } else { (words, 4) };
        let script = self.script(source);
        script.sent.push(Sent {
            event: start,
            items,
            address: from / unit,
            control,
        });
        script.sent.sort_unstable();
        script.horizon = script.horizon.max(start + items).max(6);
    }

    fn declare(&mut self, source: u16, from: Address, words: u32, to: &[(u16, Address)]) {
        self.deliveries.push(Delivery {
            source: TileId::new(source),
            source_address: from,
            bytes: words * 4,
            destinations: to
                .iter()
                .map(|&(tile, at)| (TileId::new(tile), at))
                .collect(),
        });
    }

    /// An ordinary transfer of `words` that starts at event `start` of its source.
    pub(crate) fn transfer(
        &mut self,
        source: u16,
        start: u32,
        words: u32,
        from: Address,
        to: &[(u16, Address)],
    ) {
        let placed = self.try_transfer(source, start, words, from, to);
        placed.expect("the transfer starts late enough and meets no other control");
    }

    fn try_transfer(
        &mut self,
        source: u16,
        start: u32,
        words: u32,
        from: Address,
        to: &[(u16, Address)],
    ) -> Option<()> {
        let physical = |tile| self.topology.physical(TileId::new(tile));
        let from_physical = physical(source);
        let routes: Vec<_> = to
            .iter()
            .map(|&(tile, _)| {
                (
                    route(from_physical, physical(tile)),
                    landing_delay(physical(tile)),
                )
            })
            .collect();
        let mut control = 0;
        for (&(tile, address), (route, delay)) in to.iter().zip(routes) {
            control |= u32::from(route.direction.send_bit());
            let select = i64::from(start) + i64::from(route.mux) + 1;
            let lands = select + i64::from(delay);
            self.write(tile, select, Register::Mux, from_physical.get())?;
            self.write(tile, select + i64::from(words), Register::Mux, NEUTRAL)?;
            self.write(tile, lands, Register::Pointer, address / 4)?;
            self.lasts(tile, lands + i64::from(words) + 5);
        }
        self.send(source, start, words, from, control);
        self.declare(source, from, words, to);
        Some(())
    }

    /// A 64-bit transfer to whole pairs; `to` names every member.
    pub(crate) fn paired(
        &mut self,
        source: u16,
        start: u32,
        words: u32,
        from: Address,
        to: &[(u16, Address)],
    ) {
        let placed = self.try_paired(source, start, words, from, to);
        placed.expect("the transfer starts late enough and meets no other control");
    }

    fn try_paired(
        &mut self,
        source: u16,
        start: u32,
        words: u32,
        from: Address,
        to: &[(u16, Address)],
    ) -> Option<()> {
        let from_physical = self.topology.physical(TileId::new(source));
        let items = i64::from(words / 2);
        let mut control = 4;
        for &(tile, address) in to {
            let member = self.topology.physical(TileId::new(tile));
            let (own, other) = (
                route(from_physical, member),
                route(from_physical, pair_partner(member)),
            );
            let direction = u32::from(own.direction.send_bit());
            control |= direction;
            let select = i64::from(start) + i64::from(own.mux.max(other.mux));
            let format = select + 51 + i64::from(landing_delay(member)) - 52;
            if own.mux < other.mux {
                let value = from_physical.get() ^ (member.get() & 2);
                self.write(tile, select, Register::MuxPair, value)?;
                self.write(tile, select + items, Register::MuxPair, NEUTRAL)?;
            }
            self.write(tile, format, Register::Format, direction)?;
            self.write(tile, format + 2, Register::Pointer, address / 4)?;
            self.write(tile, format + items, Register::Format, 0)?;
            self.lasts(tile, format + items + 7);
        }
        self.send(source, start, words, from, control);
        self.declare(source, from, words, to);
        Some(())
    }

    /// The phase with one more 64-bit transfer, where that is legal.
    pub(crate) fn with_paired(
        &self,
        source: u16,
        start: u32,
        words: u32,
        from: Address,
        to: &[(u16, Address)],
    ) -> Option<Self> {
        let mut next = self.clone();
        next.try_paired(source, start, words, from, to)?;
        next.is_legal().then_some(next)
    }

    fn lasts(&mut self, tile: u16, horizon: i64) {
        let horizon = u32::try_from(horizon).expect("rows are short");
        let script = self.script(tile);
        script.horizon = script.horizon.max(horizon);
    }

    /// Index of the nth write of a register in a tile's script.
    pub(crate) fn position(&mut self, tile: u16, register: Register, nth: usize) -> usize {
        let writes = self.script(tile).writes.iter().enumerate();
        let mut of_register = writes.filter(|(_, write)| write.register == register);
        of_register.nth(nth).expect("the transfer writes it").0
    }

    /// Changes the value of the nth write of a register.
    pub(crate) fn set(&mut self, tile: u16, register: Register, nth: usize, value: u32) {
        let at = self.position(tile, register, nth);
        self.script(tile).writes[at].value = value;
    }

    /// Moves the nth write of a register in time.
    pub(crate) fn shift(&mut self, tile: u16, register: Register, nth: usize, by: i32) {
        let at = self.position(tile, register, nth);
        let writes = &mut self.script(tile).writes;
        let event = writes[at].event.checked_add_signed(by);
        writes[at].event = event.expect("small shifts");
        writes.sort_unstable();
    }

    /// Takes out the nth write of a register.
    pub(crate) fn remove(&mut self, tile: u16, register: Register, nth: usize) {
        let at = self.position(tile, register, nth);
        self.script(tile).writes.remove(at);
    }

    /// The words of each tile's row.
    pub(crate) fn words(&self) -> BTreeMap<u16, Vec<u32>> {
        let of = |script: &Script| {
            let row = assembler::assemble(&script.sent, &script.writes, script.horizon);
            row.expect("the instructions can express the row")
        };
        self.scripts
            .iter()
            .map(|(&tile, script)| (tile, of(script)))
            .collect()
    }

    /// Runs the phase; an error is the first fault.
    pub(crate) fn run(&self) -> Result<Ran, Fault> {
        self.run_words(&self.words())
            .map_err(|faults| faults.first().clone())
    }

    /// Loads the words and source data, runs the phase and compares the deliveries.
    pub(crate) fn run_words(&self, words: &BTreeMap<u16, Vec<u32>>) -> Result<Ran, Faults> {
        let before = self.memories(words);
        let rows = self.rows(words, &before)?;
        let mut memories = before.clone();
        let outcome = exchange::execute(self.context, &rows, &mut memories, &self.topology)?;
        exchange::compare_deliveries(&self.deliveries, &outcome)?;
        Ok(Ran {
            before,
            rows,
            memories,
            outcome,
        })
    }

    pub(crate) fn memories(&self, words: &BTreeMap<u16, Vec<u32>>) -> Vec<TileMemory> {
        let mut memories = vec![TileMemory::new(); self.topology.tiles()];
        for (&tile, words) in words {
            load(&mut memories[usize::from(tile)], self.row_address, words);
        }
        for delivery in &self.deliveries {
            let memory = &mut memories[delivery.source.index()];
            let tag = u32::from(delivery.source.get()) << 20;
            let first = delivery.source_address;
            let data: Vec<_> = (0..delivery.bytes / 4)
                .map(|word| tag | (first / 4 + word))
                .collect();
            load(memory, first, &data);
        }
        memories
    }

    pub(crate) fn rows(
        &self,
        words: &BTreeMap<u16, Vec<u32>>,
        memories: &[TileMemory],
    ) -> Result<Vec<Option<TimedRow>>, Fault> {
        let decode = |tile: TileId, memory| {
            let known = words.contains_key(&tile.get());
            known
                .then(|| decode_row(tile, memory, self.row_address, 0, 0))
                .transpose()
        };
        (0..)
            .map(TileId::new)
            .zip(memories)
            .map(|(tile, memory)| decode(tile, memory))
            .collect()
    }
}

pub(crate) fn load(memory: &mut TileMemory, address: Address, words: &[u32]) {
    let bytes: Vec<_> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    memory
        .write(address, &bytes)
        .expect("tests load inside SRAM");
}

/// A phase that ran without a fault.
pub(crate) struct Ran {
    pub(crate) before: Vec<TileMemory>,
    pub(crate) rows: Vec<Option<TimedRow>>,
    pub(crate) memories: Vec<TileMemory>,
    pub(crate) outcome: ExchangeOutcome,
}
