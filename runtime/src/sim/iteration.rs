//! What an iteration of a Repeat moves: operands, the sources of deliveries, and row words.
//!
//! Iterations count from 0 in the innermost Repeat; outside any it is iteration 0.

use std::borrow::Cow;

use crate::machine::memory::{OutOfRange, TileMemory};
use crate::package::{Address, Delivery, Exchange, Package, ScheduleItem, Segment, TileProgram};

/// Iterations of the innermost Repeat around each position of the flattened schedule.
pub(crate) fn counts(schedule: &[ScheduleItem]) -> Vec<u32> {
    fn add(items: &[ScheduleItem], count: u32, counts: &mut Vec<u32>) {
        for item in items {
            match item {
                ScheduleItem::Exchange(_) | ScheduleItem::Compute(_) => counts.push(count),
                ScheduleItem::Repeat { count, body } => add(body, *count, counts),
            }
        }
    }
    let mut found = Vec::new();
    add(schedule, 1, &mut found);
    found
}

/// An address some steps on; one outside 32 bits is none of SRAM.
fn moved(address: Address, step: i32, iteration: u32) -> Address {
    let at = i64::from(address) + i64::from(step) * i64::from(iteration);
    Address::try_from(at).unwrap_or(Address::MAX)
}

/// Operand addresses of the tile's call with this index.
pub(crate) fn operands(tile: &TileProgram, call: usize, iteration: u32) -> Cow<'_, [Address]> {
    let own = tile.calls[call].operands.as_slice();
    if iteration == 0 || tile.operand_steps.is_empty() {
        return Cow::Borrowed(own);
    }
    let mut addresses = own.to_vec();
    let first = tile
        .operand_steps
        .partition_point(|step| (step.call as usize) < call);
    for step in &tile.operand_steps[first..] {
        if step.call as usize != call {
            break;
        }
        let address = &mut addresses[step.operand as usize];
        *address = moved(*address, step.bytes, iteration);
    }
    Cow::Owned(addresses)
}

/// Whether the tile's call with this index has an operand that moves.
pub(crate) fn is_moving(tile: &TileProgram, call: usize) -> bool {
    let steps = &tile.operand_steps;
    steps
        .binary_search_by_key(&call, |step| step.call as usize)
        .is_ok()
}

/// What an exchange has to deliver.
pub(crate) fn deliveries(exchange: &Exchange, iteration: u32) -> Cow<'_, [Delivery]> {
    if iteration == 0 || exchange.source_steps.is_empty() {
        return Cow::Borrowed(&exchange.deliveries);
    }
    let mut deliveries = exchange.deliveries.clone();
    for step in &exchange.source_steps {
        let delivery = &mut deliveries[step.delivery as usize];
        delivery.source_address = moved(delivery.source_address, step.bytes, iteration);
    }
    Cow::Owned(deliveries)
}

/// Which iteration the row words that change are for.
pub(crate) struct Patches {
    /// Whether an exchange has a word that changes, on any tile.
    changes: Vec<bool>,
    iterations: Vec<u32>,
}

impl Patches {
    /// Everything as loaded.
    pub(crate) fn new(package: &Package) -> Self {
        let mut changes = vec![false; package.exchanges.len()];
        for patch in package.tiles.iter().flat_map(|tile| &tile.row_patches) {
            changes[patch.exchange as usize] = true;
        }
        Self {
            iterations: vec![0; changes.len()],
            changes,
        }
    }

    /// Whether an exchange does the same in every iteration.
    pub(crate) fn is_fixed(&self, package: &Package, exchange: u32) -> bool {
        let exchange = exchange as usize;
        !self.changes[exchange] && package.exchanges[exchange].source_steps.is_empty()
    }

    /// Notes that an exchange comes to an iteration; tells whether words have to be rewritten.
    pub(crate) fn turn(&mut self, exchange: u32, iteration: u32) -> bool {
        let exchange = exchange as usize;
        let before = std::mem::replace(&mut self.iterations[exchange], iteration);
        self.changes[exchange] && before != iteration
    }

    /// Rewrites a tile's words for an exchange as [`Patches::turn`] has noted; counts them.
    pub(crate) fn rewrite(
        &self,
        tile: &TileProgram,
        exchange: u32,
        memory: &mut TileMemory,
    ) -> Result<u64, OutOfRange> {
        let mut words = 0;
        for (address, word) in self.words(tile, exchange..exchange + 1) {
            memory.write(address, &word)?;
            words += 1;
        }
        Ok(words)
    }

    /// The words of some exchanges that change, as they are now.
    fn words(
        &self,
        tile: &TileProgram,
        exchanges: std::ops::Range<u32>,
    ) -> impl Iterator<Item = (Address, [u8; 4])> {
        let patches = tile.row_patches.iter();
        let patches = patches.filter(move |patch| exchanges.contains(&patch.exchange));
        patches.filter_map(|patch| {
            let after = tile
                .segments
                .partition_point(|s| s.address <= patch.address);
            let segment = tile.segments[..after].last()?;
            let offset = (patch.address - segment.address) as usize;
            let loaded = segment.bytes.get(offset..offset + 4)?.try_into().ok()?;
            let steps = patch
                .step
                .wrapping_mul(self.iterations[patch.exchange as usize]);
            let word = u32::from_le_bytes(loaded).wrapping_add(steps);
            Some((patch.address, word.to_le_bytes()))
        })
    }

    /// The bytes of a segment as loading and rewriting have left them.
    pub(crate) fn code<'s>(&self, tile: &TileProgram, segment: &'s Segment) -> Cow<'s, [u8]> {
        if tile.row_patches.is_empty() {
            return Cow::Borrowed(&segment.bytes);
        }
        let mut bytes = segment.bytes.clone();
        for (address, word) in self.words(tile, 0..u32::MAX) {
            let offset = address.checked_sub(segment.address);
            let slot = offset.and_then(|at| bytes.get_mut(at as usize..at as usize + 4));
            if let Some(slot) = slot {
                slot.copy_from_slice(&word);
            }
        }
        Cow::Owned(bytes)
    }
}
