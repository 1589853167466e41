//! Trailer and index: where every record is, and what its bytes must sum to.

use std::ops::Range;

use crate::format::ByteRange;
use crate::format::checksum;
use crate::format::error::DecodeError;
use crate::format::profile_capnp::{index_page, record as body};
use crate::format::record::{self, Place, Record, kind};

/// Bytes of the trailer, always the last of the file.
pub(crate) const TRAILER: u64 = 64;
/// Tiles of a profile, at most.
pub(crate) const TILES_MAX: u64 = 65_536;

/// One record, as the index describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) kind: u16,
    pub(crate) bytes: ByteRange,
    pub(crate) checksum: u32,
    /// Physical ids.
    pub(crate) tiles: Range<u32>,
    /// Shared clock.
    pub(crate) cycles: Range<u64>,
    pub(crate) count: u64,
}

/// One profiled tile, as the index describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tile {
    pub(crate) physical: u32,
    pub(crate) samples: u64,
    pub(crate) first_counter: u32,
}

/// All records but index and trailer, in file order, and all tiles in the order they were begun.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Directory {
    pub(crate) rows: Vec<Row>,
    pub(crate) tiles: Vec<Tile>,
}

impl Directory {
    /// Whether catalogs repeat the rows of the table records.
    pub(crate) fn has_catalog(&self) -> bool {
        self.rows.iter().any(|row| row.kind == kind::CATALOG)
    }
}

/// Where the index is, as a valid trailer says; `None` where the file does not end in one.
pub(crate) fn read_trailer(bytes: &[u8], total_len: u64) -> Option<(ByteRange, u32)> {
    let at = total_len.checked_sub(TRAILER)?;
    let record = Record::read(bytes, at).ok()?;
    let Ok(Some(body::Trailer(Ok(trailer)))) = record.which() else {
        return None;
    };
    let start = trailer.get_index_offset();
    let end = start.checked_add(u64::from(trailer.get_index_length()))?;
    let whole = trailer.get_file_length() == total_len && end == at && start < end;
    whole.then(|| (ByteRange::new(start, end), trailer.get_checksum()))
}

/// Reads the index pages in `index`, which are the bytes of `range`; `trailer` are those after
/// them.
pub(crate) fn read_index(
    index: &[u8],
    trailer: &[u8],
    range: ByteRange,
    expected: u32,
) -> Result<Directory, DecodeError> {
    let at = range.start;
    let summed = &trailer[..trailer.len().saturating_sub(4)];
    let found = checksum::crc32c_append(checksum::crc32c(index), summed);
    if found != expected {
        return Err(DecodeError::Checksum {
            record: "index",
            at,
            expected,
            found,
        });
    }
    let mut directory = Directory::default();
    let mut offset = 0usize;
    while offset < index.len() {
        let at = range.start + offset as u64;
        let place = Place {
            record: "index",
            at,
        };
        let rest = &index[offset..];
        let peek = record::peek(rest).ok_or_else(|| place.corrupt("a page has no magic"))?;
        let length = usize::try_from(peek.length).unwrap_or(usize::MAX);
        let page = rest
            .get(..length)
            .ok_or_else(|| place.corrupt("a page passes the index"))?;
        let page = record::aligned(bytes::Bytes::copy_from_slice(page));
        let record = Record::read(&page, at)?;
        if let Some(body::Index(page)) = record.which()? {
            read_page(page.map_err(place.wire())?, place, &mut directory)?;
        }
        offset += length;
    }
    check(
        &directory,
        range.start,
        Place {
            record: "index",
            at,
        },
    )?;
    Ok(directory)
}

fn read_page(
    page: index_page::Reader<'_>,
    place: Place,
    directory: &mut Directory,
) -> Result<(), DecodeError> {
    let wire = place.wire();
    let kinds = page.get_kinds().map_err(wire)?;
    let [lengths, checksums, tile_first, tile_end] = [
        page.get_lengths().map_err(wire)?,
        page.get_checksums().map_err(wire)?,
        page.get_tile_first().map_err(wire)?,
        page.get_tile_end().map_err(wire)?,
    ];
    let [offsets, cycle_first, cycle_end, counts] = [
        page.get_offsets().map_err(wire)?,
        page.get_cycle_first().map_err(wire)?,
        page.get_cycle_end().map_err(wire)?,
        page.get_counts().map_err(wire)?,
    ];
    let short = [lengths, checksums, tile_first, tile_end].map(|list| list.len());
    let long = [offsets, cycle_first, cycle_end, counts].map(|list| list.len());
    if short != [kinds.len(); 4] || long != [kinds.len(); 4] {
        return Err(place.corrupt("its lists have different lengths"));
    }
    for row in 0..kinds.len() {
        let start = offsets.get(row);
        let end = start.checked_add(u64::from(lengths.get(row)));
        let end = end.ok_or_else(|| place.corrupt("a record ends past 64 bits"))?;
        directory.rows.push(Row {
            kind: kinds.get(row),
            bytes: ByteRange::new(start, end),
            checksum: checksums.get(row),
            tiles: tile_first.get(row)..tile_end.get(row),
            cycles: cycle_first.get(row)..cycle_end.get(row),
            count: counts.get(row),
        });
    }
    let ids = page.get_tiles().map_err(wire)?;
    let samples = page.get_tile_samples().map_err(wire)?;
    let counters = page.get_tile_counters().map_err(wire)?;
    if [samples.len(), counters.len()] != [ids.len(); 2] {
        return Err(place.corrupt("its tile lists have different lengths"));
    }
    let tiles = ids.iter().zip(samples.iter()).zip(counters.iter());
    directory
        .tiles
        .extend(tiles.map(|((physical, samples), first_counter)| Tile {
            physical,
            samples,
            first_counter,
        }));
    Ok(())
}

/// Every byte before the index belongs to exactly one record, and the counts agree.
fn check(directory: &Directory, index_start: u64, place: Place) -> Result<(), DecodeError> {
    let mut at = 0;
    for row in &directory.rows {
        if row.bytes.start != at || row.bytes.len() > record::RECORD_MAX || row.bytes.is_empty() {
            return Err(place.corrupt(format!("no record follows byte {at} of the file")));
        }
        at = row.bytes.end;
    }
    if at != index_start {
        return Err(place.corrupt(format!("the records end at byte {at}")));
    }
    let found = directory.tiles.len() as u64;
    if found > TILES_MAX {
        return Err(DecodeError::Limit {
            what: "tiles",
            limit: TILES_MAX,
            found,
        });
    }
    let chunks = directory
        .rows
        .iter()
        .filter(|row| row.kind == kind::SAMPLES);
    let in_chunks = total(chunks.map(|row| row.count));
    let in_tiles = total(directory.tiles.iter().map(|tile| tile.samples));
    if in_chunks.is_none() || in_chunks != in_tiles {
        return Err(place.corrupt("its chunks and its tiles have different numbers of samples"));
    }
    Ok(())
}

fn total(mut counts: impl Iterator<Item = u64>) -> Option<u64> {
    counts.try_fold(0u64, |total, count| total.checked_add(count))
}
