//! Exchanged words against the buffers that a package declares: they lie in some that are live.
//!
//! The declaration never decides what moves; it is compared with what did. A package that declares
//! no buffer at all is not checked; in one that does, a tile without any exchanges nothing.

use rayon::prelude::*;

use super::program::tile_id;
use crate::exchange::ExchangeOutcome;
use crate::fault::{Fault, FaultRule};
use crate::package::{Address, Allocation, Package};

/// Declared buffers of each tile, by address.
pub(crate) struct Buffers<'a> {
    tiles: Vec<Vec<&'a Allocation>>,
    is_declared: bool,
}

impl<'a> Buffers<'a> {
    pub(crate) fn new(package: &'a Package) -> Self {
        let mut tiles = vec![Vec::new(); package.tiles.len()];
        for allocation in &package.allocations {
            tiles[allocation.tile.index()].push(allocation);
        }
        for tile in &mut tiles {
            tile.sort_by_key(|allocation| allocation.range.address);
        }
        Self {
            tiles,
            is_declared: !package.allocations.is_empty(),
        }
    }

    /// For each tile the first range that an exchange at this schedule position sends or lands on
    /// outside the buffers that are live there.
    pub(crate) fn check(&self, position: u32, outcome: &ExchangeOutcome) -> Vec<Fault> {
        if !self.is_declared {
            return Vec::new();
        }
        let exchanged = outcome.messages.par_iter().zip(&outcome.landings);
        let tiles = self.tiles.par_iter().zip(exchanged).enumerate();
        let found = tiles.filter_map(|(tile, (buffers, (messages, landings)))| {
            let live = live(buffers, position);
            let sent = messages
                .iter()
                .map(|m| (m.event, m.address, m.bytes(), "sent"));
            let landed = landings
                .iter()
                .map(|l| (l.event, l.address, l.bytes(), "landed"));
            let mut ranges = sent.chain(landed);
            let (event, address, bytes, what) =
                ranges.find(|&(_, address, bytes, _)| !covers(&live, address, bytes))?;
            let what = format!("{bytes} bytes are {what} outside any live buffer");
            let fault = Fault::new(FaultRule::OutsideBuffer, tile_id(tile), what);
            Some(fault.at_event(event).at_address(address))
        });
        found.collect()
    }
}

/// The ranges that are live at a position, merged, ascending.
fn live(buffers: &[&Allocation], position: u32) -> Vec<(Address, Address)> {
    let mut merged: Vec<(Address, Address)> = Vec::new();
    let live = buffers
        .iter()
        .filter(|it| (it.first..=it.last).contains(&position));
    for allocation in live {
        let range = allocation.range;
        // Validation keeps ranges inside SRAM.
        let end = range.address.saturating_add(range.bytes);
        match merged.last_mut().filter(|last| last.1 >= range.address) {
            Some(last) => last.1 = last.1.max(end),
            None => merged.push((range.address, end)),
        }
    }
    merged
}

fn covers(live: &[(Address, Address)], address: Address, bytes: u32) -> bool {
    let at = live.partition_point(|range| range.1 <= address);
    live.get(at)
        .is_some_and(|range| range.0 <= address && address + bytes <= range.1)
}
