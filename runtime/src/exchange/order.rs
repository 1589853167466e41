//! Deliveries that touch the same bytes of one tile: what the words did against their declaration.
//!
//! Deliveries are declared in program order: each reads what those before it have written. Words
//! move when their events say so. Where nothing lands on bytes that another message of the phase
//! sends or lands on, both mean the same. Elsewhere the accesses to those bytes are compared one
//! piece at a time, a piece being bytes that every access covers whole or not at all.

use analytics::units::TileId;
use rayon::prelude::*;

use super::fabric::{ExchangeOutcome, Landing};
use crate::fault::{Fault, FaultRule};
use crate::package::model::{Address, Delivery};

/// Where the other end of an access is.
type Peer = (TileId, Address);

/// One access to a range of a tile.
#[derive(Clone, Copy)]
struct Access {
    address: Address,
    end: Address,
    /// When it takes effect, as an event or as a position in the declaration.
    at: u32,
    /// Writes from here on come after it; for a write `at` itself.
    after: u32,
    /// The peer's first byte: the source of a write, the destination of a read.
    peer: Peer,
    is_write: bool,
}

/// The bytes on which deliveries do not take effect in their declared order, a fault a tile.
///
/// The deliveries must have been compared with what arrived, whatever the order.
pub(super) fn check(deliveries: &[Delivery], outcome: &ExchangeOutcome) -> Vec<Fault> {
    let tiles = outcome.landings.par_iter().zip(&outcome.messages);
    let shared: Vec<Vec<(Address, Address)>> = tiles
        .map(|(landings, messages)| {
            let written = landings.iter().map(|l| (l.address, l.address + l.bytes()));
            let read = messages.iter().map(|m| (m.address, m.address + m.bytes()));
            shared(written, read)
        })
        .collect();
    if shared.iter().all(Vec::is_empty) {
        return Vec::new();
    }
    let happened = happened(outcome, &shared);
    let declared = declared(deliveries, &shared);
    let sides = happened.into_par_iter().zip(declared).zip(shared);
    let found: Vec<_> = sides
        .map(|((happened, declared), shared)| first_difference(&happened, &declared, &shared))
        .collect();
    let tiles = (0..).map(TileId::new).zip(found);
    tiles
        .filter_map(|(tile, address)| {
            let what = "these bytes are sent and landed on, or landed on twice, in another order \
                than the deliveries are declared in";
            Some(Fault::new(FaultRule::DeliveryOrder, tile, what).at_address(address?))
        })
        .collect()
}

/// Ranges that are written and also read, or written more than once; ascending and disjoint.
fn shared(
    written: impl Iterator<Item = (Address, Address)>,
    read: impl Iterator<Item = (Address, Address)>,
) -> Vec<(Address, Address)> {
    // (address, change of the writes that cover it, change of the reads).
    let mut borders = Vec::new();
    for (start, end) in written {
        borders.extend([(start, 1_i32, 0_i32), (end, -1, 0)]);
    }
    if borders.is_empty() {
        return Vec::new();
    }
    for (start, end) in read {
        borders.extend([(start, 0, 1), (end, 0, -1)]);
    }
    borders.sort_unstable();
    let (mut writes, mut reads) = (0, 0);
    let mut found: Vec<(Address, Address)> = Vec::new();
    for (index, &(address, write, read)) in borders.iter().enumerate() {
        writes += write;
        reads += read;
        let Some(next) = borders.get(index + 1).filter(|next| next.0 > address) else {
            continue;
        };
        if writes < 1 || (writes < 2 && reads < 1) {
            continue;
        }
        match found.last_mut().filter(|last| last.1 == address) {
            Some(last) => last.1 = next.0,
            None => found.push((address, next.0)),
        }
    }
    found
}

fn touches(shared: &[(Address, Address)], address: Address, bytes: u32) -> bool {
    let first = shared.partition_point(|range| range.1 <= address);
    shared
        .get(first)
        .is_some_and(|range| range.0 < address + bytes)
}

/// What the words did to each tile's shared bytes.
fn happened(outcome: &ExchangeOutcome, shared: &[Vec<(Address, Address)>]) -> Vec<Vec<Access>> {
    let mut accesses = vec![Vec::new(); shared.len()];
    for (tile, landings) in (0..).map(TileId::new).zip(&outcome.landings) {
        for landing in landings {
            let Landing {
                source,
                address,
                source_address,
                ..
            } = *landing;
            let bytes = landing.bytes();
            let message = outcome.messages[source.index()][landing.message as usize];
            if touches(&shared[tile.index()], address, bytes) {
                accesses[tile.index()].push(Access {
                    address,
                    end: address + bytes,
                    at: landing.end(),
                    after: landing.end(),
                    peer: (source, source_address),
                    is_write: true,
                });
            }
            if touches(&shared[source.index()], source_address, bytes) {
                accesses[source.index()].push(Access {
                    address: source_address,
                    end: source_address + bytes,
                    at: message.event,
                    // A write that has ended when the message starts comes before it.
                    after: message.event + 1,
                    peer: (tile, address),
                    is_write: false,
                });
            }
        }
    }
    accesses
}

/// What the declaration, taken in order, does to each tile's shared bytes.
fn declared(deliveries: &[Delivery], shared: &[Vec<(Address, Address)>]) -> Vec<Vec<Access>> {
    let mut accesses = vec![Vec::new(); shared.len()];
    for (at, delivery) in (0..).zip(deliveries) {
        let Delivery {
            source,
            source_address,
            bytes,
            ..
        } = *delivery;
        for &(tile, address) in &delivery.destinations {
            if touches(&shared[tile.index()], address, bytes) {
                accesses[tile.index()].push(Access {
                    address,
                    end: address + bytes,
                    at,
                    after: at,
                    peer: (source, source_address),
                    is_write: true,
                });
            }
            if touches(&shared[source.index()], source_address, bytes) {
                accesses[source.index()].push(Access {
                    address: source_address,
                    end: source_address + bytes,
                    at,
                    // A delivery reads before it writes, also where it lands on its own source.
                    after: at,
                    peer: (tile, address),
                    is_write: false,
                });
            }
        }
    }
    accesses
}

/// The first byte of the first piece to which the two sides do not mean the same.
fn first_difference(
    happened: &[Access],
    declared: &[Access],
    shared: &[(Address, Address)],
) -> Option<Address> {
    let both = || happened.iter().chain(declared);
    let mut borders: Vec<_> = both()
        .flat_map(|access| [access.address, access.end])
        .collect();
    borders.extend(shared.iter().flat_map(|range| [range.0, range.1]));
    borders.sort_unstable();
    borders.dedup();
    let pieces = borders.iter().copied();
    pieces
        .filter(|&piece| touches(shared, piece, 1))
        .find(|&piece| meaning(happened, piece) != meaning(declared, piece))
}

/// What happens to the bytes from `piece` on: the sources written in order, and what each reader
/// gets, as the number of writes before it.
fn meaning(accesses: &[Access], piece: Address) -> (Vec<Peer>, Vec<(usize, Peer)>) {
    let here = |access: &&Access| access.address <= piece && piece < access.end;
    let peer = |access: &Access| (access.peer.0, access.peer.1 + (piece - access.address));
    let mut writes: Vec<_> = accesses
        .iter()
        .filter(here)
        .filter(|access| access.is_write)
        .map(|access| (access.at, peer(access)))
        .collect();
    writes.sort_unstable();
    let mut reads: Vec<_> = accesses
        .iter()
        .filter(here)
        .filter(|access| !access.is_write)
        .map(|access| {
            let before = writes.partition_point(|write| write.0 < access.after);
            (before, peer(access))
        })
        .collect();
    reads.sort_unstable();
    (writes.into_iter().map(|write| write.1).collect(), reads)
}
