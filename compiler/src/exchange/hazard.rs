//! What messages have to do with each other: shared bytes and shared memory elements.
//!
//! [`Messages`] → [`Hazards`]. Bytes that are read after they were written, written after they were
//! read, or written twice keep program order; each such pair is an [`Edge`] of the later message.
//! Elements that a tile both reads and writes are listed so that only they are watched over time.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::message::{Message, Messages, Receiver, index};

/// Where an [`Access`] is the read of the message's source.
const READ: u32 = u32::MAX;

/// Fewest uses that are put in order by a radix sort (`benches/ordering.rs`).
const RADIX_MIN: usize = 256;

/// One use of a byte range on one tile.
#[derive(Clone, Copy, Debug)]
struct Access {
    start: u32,
    end: u32,
    message: u32,
    /// Index into the receivers, or [`READ`].
    receiver: u32,
}

/// A message that must wait for an earlier one on a tile that both touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    /// The message that waits.
    pub(super) later: u32,
    /// The message it waits for.
    pub(super) earlier: u32,
    /// Receiver entry of the earlier message, `None` if its send is what matters.
    pub(super) landed: Option<u32>,
    /// Receiver entry of the later message, `None` if its send is what waits.
    pub(super) lands: Option<u32>,
}

/// Order constraints of an exchange.
#[derive(Clone, Debug, Default)]
pub(super) struct Hazards {
    /// Sorted by the later message.
    pub(super) edges: Vec<Edge>,
    /// For each tile, the elements that it both reads and writes.
    pub(super) shared_elements: Vec<u32>,
}

/// Finds the order constraints of all tiles.
pub(super) fn hazards(messages: &Messages, tiles: usize) -> Hazards {
    let (accesses, first) = by_tile(messages, tiles);
    let found: Vec<(Vec<Edge>, u32)> = (0..tiles)
        .into_par_iter()
        .map(|tile| on_tile(&accesses[first[tile]..first[tile + 1]], messages))
        .collect();
    let mut hazards = Hazards::default();
    for (edges, shared) in found {
        hazards.edges.extend(edges);
        hazards.shared_elements.push(shared);
    }
    hazards.edges.sort_unstable();
    hazards.edges.dedup();
    hazards
}

/// All accesses grouped by tile, in program order within a tile.
fn by_tile(messages: &Messages, tiles: usize) -> (Vec<Access>, Vec<usize>) {
    let mut first = vec![0_usize; tiles + 1];
    for message in &messages.messages {
        first[usize::from(message.source) + 1] += message.steps.offsets().count();
    }
    for receiver in &messages.receivers {
        first[usize::from(receiver.tile) + 1] += 1;
    }
    for tile in 0..tiles {
        first[tile + 1] += first[tile];
    }
    let mut next = first.clone();
    let nothing = Access {
        start: 0,
        end: 0,
        message: 0,
        receiver: READ,
    };
    let mut accesses = vec![nothing; first[tiles]];
    let mut put = |tile: u16, access: Access| {
        let slot = &mut next[usize::from(tile)];
        accesses[*slot] = access;
        *slot += 1;
    };
    for (number, message) in messages.messages.iter().enumerate() {
        let access = |start: u32, receiver: u32| Access {
            start,
            end: start + message.bytes(),
            message: index(number),
            receiver,
        };
        for offset in message.steps.offsets() {
            put(message.source, access(message.address + offset, READ));
        }
        for (entry, receiver) in (message.first..).zip(messages.receivers(message)) {
            put(receiver.tile, access(receiver.address, entry));
        }
    }
    (accesses, first)
}

fn on_tile(accesses: &[Access], messages: &Messages) -> (Vec<Edge>, u32) {
    let mut read = 0;
    let mut written = 0;
    for access in accesses {
        let message = &messages.messages[access.message as usize];
        if access.receiver == READ {
            read |= Messages::read_elements(message);
        } else {
            let receiver = &messages.receivers[access.receiver as usize];
            written |= Messages::written_elements(message, receiver);
        }
    }
    let edges = if overlaps(accesses) {
        edges(accesses)
    } else {
        Vec::new()
    };
    (edges, read & written)
}

/// Whether any byte is written and used otherwise too.
fn overlaps(accesses: &[Access]) -> bool {
    let mut sorted: Vec<(u32, u32, bool)> = accesses
        .iter()
        .map(|access| (access.start, access.end, access.receiver != READ))
        .collect();
    // Only the starts need to be in order: of two uses that start together, either finds the other.
    if !sorted.is_sorted_by_key(|it| it.0) {
        if sorted.len() < RADIX_MIN {
            sorted.sort_unstable();
        } else {
            radsort::sort_by_key(&mut sorted, |it| it.0);
        }
    }
    let (mut read_end, mut write_end) = (0, 0);
    sorted.into_iter().any(|(start, end, write)| {
        let meets = start < write_end || (write && start < read_end);
        let reached = if write { &mut write_end } else { &mut read_end };
        *reached = end.max(*reached);
        meets
    })
}

/// Who used a byte range last.
#[derive(Clone, Debug, Default)]
struct LastUse {
    end: u32,
    writer: Option<Access>,
    readers: Vec<Access>,
}

/// Order pairs of one tile: each access against the last writer of its bytes, and a write against
/// the readers since then. Older pairs follow from these.
fn edges(accesses: &[Access]) -> Vec<Edge> {
    let mut uses: BTreeMap<u32, LastUse> = BTreeMap::new();
    let mut edges = Vec::new();
    for access in accesses {
        split(&mut uses, access.start);
        split(&mut uses, access.end);
        let starts: Vec<u32> = uses
            .range(access.start..access.end)
            .map(|(&at, _)| at)
            .collect();
        for at in &starts {
            let last = &uses[at];
            let write = access.receiver != READ;
            let before = last
                .writer
                .iter()
                .chain(last.readers.iter().filter(|_| write));
            let waits = before.filter(|earlier| earlier.message != access.message);
            edges.extend(waits.map(|earlier| edge(earlier, access)));
        }
        record(&mut uses, access, &starts);
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

fn edge(earlier: &Access, later: &Access) -> Edge {
    let landing = |access: &Access| (access.receiver != READ).then_some(access.receiver);
    Edge {
        later: later.message,
        earlier: earlier.message,
        landed: landing(earlier),
        lands: landing(later),
    }
}

/// Cuts the range that holds `at` so that one starts there.
fn split(uses: &mut BTreeMap<u32, LastUse>, at: u32) {
    let Some((_, last)) = uses.range_mut(..at).next_back() else {
        return;
    };
    if last.end > at {
        let rest = last.clone();
        last.end = at;
        uses.insert(at, rest);
    }
}

/// Enters an access into the ranges it covers, `starts`, and the gaps between them.
fn record(uses: &mut BTreeMap<u32, LastUse>, access: &Access, starts: &[u32]) {
    if access.receiver != READ {
        for at in starts {
            uses.remove(at);
        }
        let writer = Some(*access);
        uses.insert(
            access.start,
            LastUse {
                end: access.end,
                writer,
                readers: Vec::new(),
            },
        );
        return;
    }
    let mut free = access.start;
    for &at in starts {
        if free < at {
            let readers = vec![*access];
            uses.insert(
                free,
                LastUse {
                    end: at,
                    writer: None,
                    readers,
                },
            );
        }
        if let Some(last) = uses.get_mut(&at) {
            last.readers.push(*access);
            free = last.end;
        }
    }
    if free < access.end {
        let readers = vec![*access];
        uses.insert(
            free,
            LastUse {
                end: access.end,
                writer: None,
                readers,
            },
        );
    }
}

/// Earliest start of the later message of an edge, given the start of the earlier one.
///
/// `landing` gives the events from a receiver's selection to its landing.
pub(super) fn earliest(
    edge: &Edge,
    messages: &Messages,
    earlier_start: u32,
    landing: impl Fn(&Receiver) -> i64,
) -> i64 {
    let to_landing = |entry: Option<u32>, message: &Message| {
        entry.map_or(0, |entry| {
            let receiver = &messages.receivers[entry as usize];
            i64::from(receiver.select) + landing(receiver) + i64::from(message.width.delay())
        })
    };
    let [earlier, later] = [edge.earlier, edge.later].map(|it| &messages.messages[it as usize]);
    let landed = to_landing(edge.landed, earlier);
    let done = i64::from(earlier_start) + landed + i64::from(earlier.items);
    done - to_landing(edge.lands, later)
}
