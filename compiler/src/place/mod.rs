//! Gives every buffer an address in its tile's SRAM: [`Program`] → [`Placement`].
//!
//! Tiles are independent and placed in parallel. Within a tile buffers of overlapping lifetime do
//! not overlap, buffers that a kernel reads and writes at once lie in different memory elements,
//! and buffers that one exchange sends from and lands in do so where there is room. [`verify()`]
//! re-derives all of it without using the allocator.

mod allocate;
mod arena;
mod verify;

use std::collections::BTreeSet;

use analytics::units::{Bytes, TileId};
use rayon::prelude::*;
use runtime::package::{Address, MemoryClass};

use crate::instrument::class_name;
use crate::program::{Buffer, BufferId, Program};

pub(crate) use allocate::{Request, allocate};
pub use arena::{Arena, ROW_AREA};
pub use verify::{PlacementFault, verify};

/// The address of every buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// First byte of each buffer, by buffer id.
    pub addresses: Vec<Address>,
}

/// Why buffers do not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// A buffer finds no place in its memory class.
    #[error(
        "tile {tile}: no room for {bytes} of {label} in {class} memory beside the {live} that are \
         live with it; use more tiles or a smaller shape"
    )]
    Full {
        /// The tile.
        tile: TileId,
        /// Size of the buffer.
        bytes: Bytes,
        /// What it holds.
        label: String,
        /// `standard` or `interleaved`.
        class: &'static str,
        /// Bytes of the buffers whose lifetime overlaps.
        live: Bytes,
    },
    /// The buffers of a tile that are live at once exceed what plans may use.
    #[error(
        "tile {tile}: {standard} for standard and {interleaved} for interleaved memory are live at \
         once, which exceeds the budget of {budget}"
    )]
    Budget {
        /// The tile.
        tile: TileId,
        /// Buffers that may lie in standard memory.
        standard: Bytes,
        /// Buffers that only interleaved memory may hold.
        interleaved: Bytes,
        /// What the caller allows.
        budget: Bytes,
    },
    /// The exchange rows of a tile need more than is left below 0x80000.
    #[error("tile {tile}: {bytes} of exchange rows exceed the {limit} of standard memory")]
    Rows {
        /// The tile.
        tile: TileId,
        /// Size of the rows.
        bytes: Bytes,
        /// What is left.
        limit: Bytes,
    },
}

/// Places all buffers.
///
/// # Errors
/// [`PlaceError::Full`] for the first tile whose buffers do not fit.
pub fn place(program: &Program, arena: &Arena) -> Result<Placement, PlaceError> {
    let tiles = usize::from(program.tiles);
    let mut by_tile: Vec<Vec<BufferId>> = vec![Vec::new(); tiles];
    for (id, buffer) in (0..).zip(&program.buffers) {
        by_tile[usize::from(buffer.tile)].push(id);
    }
    let apart = by_buffer(program, program.apart.iter().copied());
    let avoid = by_buffer(program, exchange_pairs(program));
    let placed: Vec<Vec<Address>> = by_tile
        .par_iter()
        .map(|ids| place_tile(program, ids, (&apart, &avoid), arena))
        .collect::<Result<_, _>>()?;
    let mut addresses = vec![0; program.buffers.len()];
    for (ids, placed) in by_tile.iter().zip(&placed) {
        for (&id, &address) in ids.iter().zip(placed) {
            addresses[id as usize] = address;
        }
    }
    Ok(Placement { addresses })
}

/// Whether no tile has more bytes of buffers live at once than plans may use.
///
/// # Errors
/// [`PlaceError::Budget`] for the fullest tile.
pub fn check_budget(program: &Program, budget: Option<u64>) -> Result<(), PlaceError> {
    let Some(budget) = budget else {
        return Ok(());
    };
    let mut by_tile: Vec<Vec<&Buffer>> = vec![Vec::new(); usize::from(program.tiles)];
    for buffer in &program.buffers {
        by_tile[usize::from(buffer.tile)].push(buffer);
    }
    let fullest = |buffers: &Vec<&Buffer>| {
        let at = |step: u32| {
            [MemoryClass::Standard, MemoryClass::Interleaved].map(|class| {
                let live = buffers
                    .iter()
                    .filter(|it| it.class == class && it.first <= step && step <= it.last);
                live.map(|it| u64::from(it.total_bytes())).sum::<u64>()
            })
        };
        let moments = buffers.iter().map(|buffer| at(buffer.first));
        moments.max_by_key(|bytes| bytes[0] + bytes[1])
    };
    let peaks: Vec<[u64; 2]> = by_tile
        .par_iter()
        .map(|buffers| fullest(buffers).unwrap_or_default())
        .collect();
    let worst = (0_u16..).zip(peaks).max_by_key(|(_, it)| it[0] + it[1]);
    match worst {
        Some((tile, [standard, interleaved])) if standard + interleaved > budget => {
            Err(PlaceError::Budget {
                tile: TileId::new(tile),
                standard: Bytes::new(standard),
                interleaved: Bytes::new(interleaved),
                budget: Bytes::new(budget),
            })
        }
        _ => Ok(()),
    }
}

/// Partners of each buffer among pairs, sorted, without repeats.
fn by_buffer(
    program: &Program,
    pairs: impl Iterator<Item = (BufferId, BufferId)>,
) -> Vec<Vec<BufferId>> {
    let mut partners = vec![Vec::new(); program.buffers.len()];
    for (one, other) in pairs {
        partners[one as usize].push(other);
        partners[other as usize].push(one);
    }
    for list in &mut partners {
        list.sort_unstable();
        list.dedup();
    }
    partners
}

/// Pairs of buffers on one tile that an exchange reads from and lands in.
fn exchange_pairs(program: &Program) -> impl Iterator<Item = (BufferId, BufferId)> {
    let tile_of = |id: BufferId| usize::from(program.buffers[id as usize].tile);
    program.exchanges().flat_map(move |(_, moves)| {
        let tiles = usize::from(program.tiles);
        let mut sends = vec![BTreeSet::new(); tiles];
        let mut landings = vec![BTreeSet::new(); tiles];
        for each in moves {
            sends[tile_of(each.source.buffer)].insert(each.source.buffer);
            for &destination in each.destinations.iter() {
                landings[tile_of(destination)].insert(destination);
            }
        }
        let pairs: Vec<(BufferId, BufferId)> = sends
            .iter()
            .zip(&landings)
            .flat_map(|(sends, landings)| {
                sends
                    .iter()
                    .flat_map(|&send| landings.iter().map(move |&landing| (send, landing)))
            })
            .collect();
        pairs
    })
}

type Partners<'a> = (&'a [Vec<BufferId>], &'a [Vec<BufferId>]);

fn place_tile(
    program: &Program,
    ids: &[BufferId],
    (apart, avoid): Partners<'_>,
    arena: &Arena,
) -> Result<Vec<Address>, PlaceError> {
    let local = |list: &[BufferId]| {
        list.iter()
            .filter_map(|partner| ids.binary_search(partner).ok())
            .collect()
    };
    let requests: Vec<Request> = ids
        .iter()
        .map(|&id| {
            let buffer = &program.buffers[id as usize];
            Request {
                bytes: buffer.total_bytes(),
                tail: buffer.tail,
                class: buffer.class,
                lifetime: (buffer.first, buffer.last),
                apart: local(&apart[id as usize]),
                avoid: local(&avoid[id as usize]),
            }
        })
        .collect();
    allocate(&requests, arena).map_err(|failure| {
        let buffer = &program.buffers[ids[failure.request] as usize];
        PlaceError::Full {
            tile: TileId::new(buffer.tile),
            bytes: Bytes::new(u64::from(buffer.total_bytes())),
            label: program.labels[buffer.label as usize].clone(),
            class: class_name(buffer.class),
            live: Bytes::new(failure.live),
        }
    })
}
