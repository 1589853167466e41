//! Directory and tables to a report: tiles sorted, origin found, chunks placed.

use std::ops::Range;

use super::index::{Directory, Row, Tile};
use crate::format::error::DecodeError;
use crate::format::record::{Place, kind};
use crate::format::tables::Tables;
use crate::order;
use crate::profile::{ChunkEntry, Condition, Page, ProfileReport, TileEntry};
use crate::units::{PhysicalTile, RawCounter};

/// Builds the report; pages are absent.
pub(crate) fn report(
    directory: &Directory,
    tables: Tables,
    condition: Condition,
) -> Result<ProfileReport, DecodeError> {
    let place = Place {
        record: "index",
        at: directory.rows.last().map_or(0, |row| row.bytes.end),
    };
    let (tiles, tile_order) = tiles(&directory.tiles, place)?;
    let entries = |of: u16| {
        let rows = directory.rows.iter().filter(move |row| row.kind == of);
        rows.map(|row| {
            (
                entry(row, &tiles),
                Page {
                    bytes: None,
                    checksum: row.checksum,
                },
            )
        })
    };
    let (chunks, mut pages): (Vec<_>, Vec<_>) = entries(kind::SAMPLES).unzip();
    let (activity_chunks, activity_pages): (Vec<_>, Vec<_>) = entries(kind::ACTIVITIES).unzip();
    pages.extend(activity_pages);
    let header = tables
        .header
        .ok_or_else(|| place.corrupt("the file has no header"))?;
    let rows = tiles.len();
    Ok(ProfileReport {
        header,
        condition,
        strings: tables.strings,
        metadata: tables.metadata,
        kernels: tables.kernels,
        operations: tables.operations,
        phases: tables.phases,
        steps: tables.steps,
        tiles,
        tile_order,
        chunks,
        activity_chunks,
        pages,
        overview: tables
            .overview
            .filter(|overview| overview.rows as usize == rows),
        summary: tables.summary,
        ending: tables.ending,
    })
}

/// Tiles ascending by physical id, each with the start of its first sample on the shared clock, and
/// their positions in file order.
pub(crate) fn tiles(
    listed: &[Tile],
    place: Place,
) -> Result<(Vec<TileEntry>, Vec<u32>), DecodeError> {
    let starts = first_starts(listed);
    let mut order: Vec<u32> = (0u32..).take(listed.len()).collect();
    order::by_key(&mut order, |&at| listed[at as usize].physical);
    let mut tiles: Vec<TileEntry> = Vec::with_capacity(listed.len());
    let mut tile_order = vec![0; listed.len()];
    for (sorted, &at) in (0u32..).zip(&order) {
        let tile = listed[at as usize];
        if tiles
            .last()
            .is_some_and(|last| last.tile.get() == tile.physical)
        {
            return Err(place.corrupt(format!("physical tile {} is listed twice", tile.physical)));
        }
        tiles.push(TileEntry {
            tile: PhysicalTile::new(tile.physical),
            sample_count: tile.samples,
            first_counter: RawCounter::new(tile.first_counter),
            first_start: starts[at as usize],
        });
        tile_order[at as usize] = sorted;
    }
    Ok((tiles, tile_order))
}

/// Start of each tile's first sample on the shared clock.
///
/// Counters wrap, so each first counter is read as a signed 32-bit distance from that of the first
/// tile with samples; the smallest distance is the origin.
pub(crate) fn first_starts(listed: &[Tile]) -> Vec<u64> {
    let with_samples = || listed.iter().filter(|tile| tile.samples > 0);
    let Some(reference) = with_samples().next().map(|tile| tile.first_counter) else {
        return vec![0; listed.len()];
    };
    let distance = |tile: &Tile| tile.first_counter.wrapping_sub(reference).cast_signed();
    let least = with_samples().map(distance).min().unwrap_or(0);
    let start = |tile: &Tile| {
        let cycles = i64::from(distance(tile)) - i64::from(least);
        if tile.samples > 0 {
            cycles.unsigned_abs()
        } else {
            0
        }
    };
    listed.iter().map(start).collect()
}

fn entry(row: &Row, tiles: &[TileEntry]) -> ChunkEntry {
    ChunkEntry {
        tiles: positions(&row.tiles, tiles),
        cycles: row.cycles.clone(),
        sample_count: row.count,
        bytes: row.bytes,
    }
}

/// Positions in `tiles` of a range of physical ids.
fn positions(physical: &Range<u32>, tiles: &[TileEntry]) -> Range<u32> {
    let position = |id: u32| {
        let at = tiles.partition_point(|tile| tile.tile.get() < id);
        u32::try_from(at).unwrap_or(u32::MAX)
    };
    position(physical.start)..position(physical.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_is_the_earliest_first_sample_across_the_wrap() {
        let tile = |samples, first_counter| Tile {
            physical: 0,
            samples,
            first_counter,
        };
        let listed = [tile(0, 7), tile(3, 5), tile(2, 0xFFFF_FFFB), tile(1, 100)];
        assert_eq!(first_starts(&listed), [0, 10, 0, 105]);
        assert_eq!(first_starts(&[tile(0, 9)]), [0]);
    }
}
