//! Where tiles are and how long words travel: logical and physical ids, routes and their events.
//!
//! Route formulas restate the vendor's fabric model. They reproduce assembled rows whose data was
//! checked on hardware; no wire time was ever stamped, so the difference between two events on two
//! tiles is a schedule fact, not a measured latency.

use analytics::units::{PhysicalTile, TileId};

use super::arch::{LANDING_DELAY, ROWS, TILES};

/// Pairs of tiles in one column of the logical order: up one sub-column, then down the next.
const PAIRS_PER_BLOCK: u16 = ROWS;

/// Direction in which a word leaves its tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Send-control bit 0.
    East,
    /// Send-control bit 1.
    West,
}

impl Direction {
    /// The direction's bit in a send control: 1 east, 2 west.
    #[must_use]
    pub const fn send_bit(self) -> u8 {
        match self {
            Self::East => 1,
            Self::West => 2,
        }
    }
}

/// How words of one tile reach another, in events of the two tiles' own clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Direction in which the words leave.
    pub direction: Direction,
    /// A word that leaves at event e is at the receiver's mux at e + mux + 1; −78..=112.
    pub mux: i32,
    /// Signed horizontal displacement, in the fabric model's units.
    pub displacement: i32,
}

/// The logical-to-physical mapping that the vendor's loader configures on a C600.
///
/// `logical` in 0..1472; a larger id has no tile and gives an id outside the device.
#[must_use]
pub const fn default_physical(logical: TileId) -> PhysicalTile {
    let (pair, lane) = (logical.get() / 2, logical.get() % 2);
    let (block, row) = (pair / PAIRS_PER_BLOCK, pair % PAIRS_PER_BLOCK);
    let row = if block % 2 == 1 {
        PAIRS_PER_BLOCK - 1 - row
    } else {
        row
    };
    let physical = 64 * row as u32 + 4 * (block / 2) as u32 + (block % 2) as u32 + 2 * lane as u32;
    PhysicalTile::new(physical)
}

/// The physical tile that can lend `tile` its transmit lane.
#[must_use]
pub const fn pair_partner(tile: PhysicalTile) -> PhysicalTile {
    PhysicalTile::new(tile.get() ^ 2)
}

/// Column id, 0..16; ids from 8 are the opposite half of the same eight columns.
const fn column(tile: PhysicalTile) -> i32 {
    ((tile.get() >> 2) & 15) as i32
}

/// Physical row, 0..23.
#[must_use]
pub const fn row(tile: PhysicalTile) -> u32 {
    tile.get() >> 6
}

/// The vertical column that a column id lies in, 0..8.
const fn fold(column: i32) -> i32 {
    if column <= 7 { column } else { 15 - column }
}

/// Events from a word's selection at a receiver's mux to its landing in SRAM.
#[must_use]
pub const fn landing_delay(receiver: PhysicalTile) -> u32 {
    LANDING_DELAY + 2 * row(receiver)
}

const fn displacement(source: PhysicalTile, destination: PhysicalTile) -> i32 {
    let (from, to) = (column(source), column(destination));
    let (s, d) = (source.get() as i32, destination.get() as i32);
    let source_mux = fold(from) + ((from >> 3) ^ (s & 1));
    let base = 6 * (fold(to) - source_mux);
    let half = to >> 3;
    if (d & 3) > 1 {
        base + if half == (d & 1) { 2 } else { 4 }
    } else {
        base + if half == (d & 3) { 1 } else { 5 }
    }
}

/// The route between two physical tiles of the device.
#[must_use]
pub const fn route(source: PhysicalTile, destination: PhysicalTile) -> Route {
    let displacement = displacement(source, destination);
    let direction = if displacement < 1 {
        Direction::West
    } else {
        Direction::East
    };
    let s = source.get() as i32;
    let slow = (s >> 2) & 7;
    let local = ((s >> 2) & 8) | ((s >> 3) & 3);
    let same_half = (s >> 5) & 1 == ((destination.get() >> 5) & 1) as i32;
    let turn = if same_half { slow + 1 } else { 16 - slow };
    let (from, to) = (column(source), column(destination));
    let rows = row(source) as i32 - row(destination) as i32;
    let mux = local - to + ((slow >> 1) ^ 3) + 4 * fold(from) + turn - 4 * fold(to)
        + 2 * rows
        + displacement.abs()
        - 34;
    Route {
        direction,
        mux,
        displacement,
    }
}

/// A logical-to-physical permutation with its inverse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    physical: Vec<PhysicalTile>,
    logical: Vec<Option<TileId>>,
}

/// Why a tile mapping is no mapping.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MappingError {
    /// More tiles than the device has.
    #[error("tile mapping has {tiles} tiles; the device has {TILES}")]
    TooMany {
        /// Tiles in the mapping.
        tiles: usize,
    },
    /// A physical id that is not on the device.
    #[error(
        "logical tile {logical} maps to physical tile {physical}, which the device does not have"
    )]
    OutOfRange {
        /// Position in the mapping.
        logical: u16,
        /// The physical id.
        physical: u32,
    },
    /// Two logical tiles on one physical tile.
    #[error("logical tiles {first} and {second} both map to physical tile {physical}")]
    Duplicate {
        /// First user of the physical tile.
        first: u16,
        /// Second user.
        second: u16,
        /// The physical id.
        physical: u32,
    },
}

impl Topology {
    /// The default mapping of the first `tiles` logical tiles, at most 1,472.
    #[must_use]
    pub fn first_tiles(tiles: u16) -> Self {
        let physical: Vec<_> = (0..tiles.min(TILES))
            .map(|l| default_physical(TileId::new(l)))
            .collect();
        let mut logical = vec![None; usize::from(TILES)];
        for (l, p) in (0..).zip(&physical) {
            logical[p.index()] = Some(TileId::new(l));
        }
        Self { physical, logical }
    }

    /// The mapping `physical[logical]`.
    ///
    /// # Errors
    ///
    /// Physical ids that are not on the device or are used twice.
    pub fn from_mapping(physical: &[PhysicalTile]) -> Result<Self, MappingError> {
        if physical.len() > usize::from(TILES) {
            return Err(MappingError::TooMany {
                tiles: physical.len(),
            });
        }
        let mut logical: Vec<Option<TileId>> = vec![None; usize::from(TILES)];
        for (l, p) in (0..TILES).zip(physical) {
            let slot = logical.get_mut(p.index()).ok_or(MappingError::OutOfRange {
                logical: l,
                physical: p.get(),
            })?;
            if let Some(first) = *slot {
                let (first, physical) = (first.get(), p.get());
                return Err(MappingError::Duplicate {
                    first,
                    second: l,
                    physical,
                });
            }
            *slot = Some(TileId::new(l));
        }
        Ok(Self {
            physical: physical.to_vec(),
            logical,
        })
    }

    /// Number of logical tiles.
    #[must_use]
    pub fn tiles(&self) -> usize {
        self.physical.len()
    }

    /// Physical tile of each logical tile.
    #[must_use]
    pub fn mapping(&self) -> &[PhysicalTile] {
        &self.physical
    }

    /// Physical id of a logical tile.
    ///
    /// # Panics
    ///
    /// If the mapping has no such logical tile.
    #[must_use]
    pub fn physical(&self, tile: TileId) -> PhysicalTile {
        self.physical[tile.index()]
    }

    /// Logical id of a physical tile, or `None` where the mapping does not use it.
    #[must_use]
    pub fn logical(&self, tile: PhysicalTile) -> Option<TileId> {
        self.logical.get(tile.index()).copied().flatten()
    }

    /// The logical tile whose transmit lane `tile` can borrow, if the mapping uses it.
    #[must_use]
    pub fn partner(&self, tile: TileId) -> Option<TileId> {
        self.logical(pair_partner(self.physical(tile)))
    }

    /// The route between two logical tiles.
    #[must_use]
    pub fn route(&self, source: TileId, destination: TileId) -> Route {
        route(self.physical(source), self.physical(destination))
    }

    /// Events from selection to landing at a logical tile.
    #[must_use]
    pub fn landing_delay(&self, receiver: TileId) -> u32 {
        landing_delay(self.physical(receiver))
    }
}

#[cfg(test)]
mod tests;
