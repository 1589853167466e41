//! Index pages and trailer: the last records of a file.

use std::ops::Range;

use super::intern::length;
use crate::format::checksum;
use crate::format::error::WriteError;
use crate::format::open::Tile;
use crate::format::record::{self, kind};

/// Rows of one index page: about 2.5 MB.
const ROWS_PER_PAGE: usize = 49_152;

/// One record as it will be indexed; cycles relative to the first counter recorded.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) kind: u16,
    pub(crate) offset: u64,
    pub(crate) length: u32,
    pub(crate) checksum: u32,
    pub(crate) tiles: Range<u32>,
    pub(crate) cycles: Range<i64>,
    pub(crate) count: u64,
}

/// The index of `entries` and `tiles`, and the trailer. `shift` moves cycles to the shared clock.
pub(crate) fn index_and_trailer(
    entries: &[Entry],
    tiles: &[Tile],
    index_offset: u64,
    shift: i64,
) -> Result<Vec<u8>, WriteError> {
    let mut bytes = Vec::new();
    let mut pages = entries.chunks(ROWS_PER_PAGE);
    bytes.extend(page(pages.next().unwrap_or_default(), tiles, shift)?);
    for rows in pages {
        bytes.extend(page(rows, &[], shift)?);
    }
    let index_length = u32::try_from(bytes.len()).ok();
    let index_length = index_length.ok_or_else(|| WriteError::RecordTooLong {
        record: "index",
        limit: u32::MAX.into(),
        found: bytes.len() as u64,
    })?;
    let mut trailer = record::build(kind::TRAILER, 64, |root| {
        let mut it = root.init_trailer();
        it.set_index_offset(index_offset);
        it.set_index_length(index_length);
        it.set_file_length(index_offset + u64::from(index_length) + 64);
        Ok(())
    })?;
    assert_eq!(trailer.len(), 64, "the schema fixes the trailer's length");
    let checksum = checksum::crc32c_append(checksum::crc32c(&bytes), &trailer[..60]);
    trailer[60..].copy_from_slice(&checksum.to_le_bytes());
    bytes.extend(trailer);
    Ok(bytes)
}

fn page(entries: &[Entry], tiles: &[Tile], shift: i64) -> Result<Vec<u8>, WriteError> {
    let shared = |at: i64| (at.saturating_add(shift)).max(0).unsigned_abs();
    let long = |of: &dyn Fn(&Entry) -> u64| entries.iter().map(of).collect::<Vec<u64>>();
    let short = |of: &dyn Fn(&Entry) -> u32| entries.iter().map(of).collect::<Vec<u32>>();
    let kinds: Vec<u16> = entries.iter().map(|entry| entry.kind).collect();
    let offsets = long(&|entry| entry.offset);
    let lengths = short(&|entry| entry.length);
    let checksums = short(&|entry| entry.checksum);
    let tile_first = short(&|entry| entry.tiles.start);
    let tile_end = short(&|entry| entry.tiles.end);
    let cycle_first = long(&|entry| shared(entry.cycles.start));
    let cycle_end = long(&|entry| shared(entry.cycles.end));
    let counts = long(&|entry| entry.count);
    record::build(
        kind::INDEX,
        56 * entries.len() + 16 * tiles.len() + 512,
        |root| {
            let mut it = root.init_index();
            it.set_kinds(&kinds[..])?;
            it.set_offsets(&offsets[..])?;
            it.set_lengths(&lengths[..])?;
            it.set_checksums(&checksums[..])?;
            it.set_tile_first(&tile_first[..])?;
            it.set_tile_end(&tile_end[..])?;
            it.set_cycle_first(&cycle_first[..])?;
            it.set_cycle_end(&cycle_end[..])?;
            it.set_counts(&counts[..])?;
            let mut ids = it.reborrow().init_tiles(length(tiles));
            (0..)
                .zip(tiles)
                .for_each(|(row, tile)| ids.set(row, tile.physical));
            let mut samples = it.reborrow().init_tile_samples(length(tiles));
            (0..)
                .zip(tiles)
                .for_each(|(row, tile)| samples.set(row, tile.samples));
            let mut counters = it.reborrow().init_tile_counters(length(tiles));
            (0..)
                .zip(tiles)
                .for_each(|(row, tile)| counters.set(row, tile.first_counter));
            Ok(())
        },
    )
}
