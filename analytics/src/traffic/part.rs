//! What the ports did in a part of the device, tile by tile.

use super::{Exchanges, LanesAsked, Role, TileTraffic, lanes};
use crate::format::DecodeError;
use crate::order;
use crate::profile::ProfileReport;
use crate::timeline::DevicePart;
use crate::units::PhysicalTile;

/// The ports of a part. Cycles and bytes count as far as they lie in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartTraffic {
    /// The part.
    pub part: DevicePart,
    /// Physical ids of the first and the last tile of each of its ranges.
    pub ends: Vec<(PhysicalTile, PhysicalTile)>,
    /// The tiles that something is told of, those first on which most bytes land, then by id.
    pub tiles: Vec<TileTraffic>,
}

/// What the ports of `report` did in a part.
///
/// # Errors
/// Where a chunk cannot be decoded.
pub fn traffic_in(
    report: &ProfileReport,
    exchanges: &Exchanges,
    part: &DevicePart,
) -> Result<PartTraffic, DecodeError> {
    let mut tiles = Vec::new();
    for range in &part.tiles {
        // One cell: what is wanted are the sums, which no picture changes.
        let asked = LanesAsked {
            clock: part.clock,
            cycles: part.cycles.clone(),
            columns: 1,
            tiles: range.clone(),
            rows: 1,
        };
        tiles.append(&mut lanes(report, exchanges, &asked)?.tiles);
    }
    tiles.retain(|it| it.cycles != [0; Role::COUNT]);
    order::by_key(&mut tiles, |it| {
        let received = it.bytes[Role::Receive as usize];
        (std::cmp::Reverse(received), it.tile)
    });
    Ok(PartTraffic {
        part: part.clone(),
        ends: part.ends(report),
        tiles,
    })
}

impl PartTraffic {
    /// Bytes of a role over the part.
    #[must_use]
    pub fn bytes(&self, role: Role) -> u64 {
        self.tiles.iter().map(|it| it.bytes[role as usize]).sum()
    }

    /// Tile-cycles of a role over the part.
    #[must_use]
    pub fn cycles(&self, role: Role) -> u64 {
        self.tiles.iter().map(|it| it.cycles[role as usize]).sum()
    }
}
