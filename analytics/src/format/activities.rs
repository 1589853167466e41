//! Exchange-activity chunks: the transfers scheduled inside exchange samples.

use super::column;
use super::error::DecodeError;
use super::profile_capnp::{activity_chunk, record as body};
use super::record::{Place, Record};
use crate::profile::{ActivityKind, ExchangeActivity, ProfileReport};
use crate::units::PhysicalTile;

/// Activities of a record, unless one sample alone has more.
pub(crate) const ACTIVITIES_PER_CHUNK: usize = 65_536;
/// Activities of one sample that a record still holds whatever their values.
pub(crate) const ACTIVITIES_PER_SAMPLE: usize = 200_000;

/// The activities of one sample, in file order.
pub(crate) fn decode(
    report: &ProfileReport,
    tile: u32,
    ordinal: u64,
) -> Result<Vec<ExchangeActivity>, DecodeError> {
    let physical = report.tiles[tile as usize].tile.get();
    for (index, entry) in report.activity_chunks.iter().enumerate() {
        if !entry.tiles.contains(&tile) {
            continue;
        }
        let record = page(report, index)?;
        let (chunk, place) = (chunk(&record)?, record.place);
        let list = find(chunk, physical, ordinal).map_err(place.wire())?;
        if let Some(list) = list {
            let all = unpack(chunk).map_err(place.wire())?;
            let all = all.map_err(|problem| place.corrupt(problem))?;
            let list = all
                .get(list)
                .ok_or_else(|| place.corrupt("a list passes its end"))?;
            return Ok(list.to_vec());
        }
    }
    Ok(Vec::new())
}

/// Calls `visit` for every sample with activities.
pub(crate) fn visit(
    report: &ProfileReport,
    visit: &mut dyn FnMut(u32, u64, &[ExchangeActivity]),
) -> Result<(), DecodeError> {
    for index in 0..report.activity_chunks.len() {
        visit_chunk(report, index, visit)?;
    }
    Ok(())
}

/// Calls `visit` for every sample of activity chunk `index`.
pub(crate) fn visit_chunk(
    report: &ProfileReport,
    index: usize,
    visit: &mut dyn FnMut(u32, u64, &[ExchangeActivity]),
) -> Result<(), DecodeError> {
    visit_chunk_of(report, index, &|_, _| true, visit)
}

/// The same, and nothing is unpacked of a chunk that holds no sample that `wants` wants by tile and
/// ordinal.
pub(crate) fn visit_chunk_of(
    report: &ProfileReport,
    index: usize,
    wants: &dyn Fn(u32, u64) -> bool,
    visit: &mut dyn FnMut(u32, u64, &[ExchangeActivity]),
) -> Result<(), DecodeError> {
    let record = page(report, index)?;
    let (chunk, place) = (chunk(&record)?, record.place);
    let listed = chunk.get_tiles().map_err(place.wire())?;
    let ordinals = chunk.get_ordinals().map_err(place.wire())?;
    let mut keys = listed.iter().zip(ordinals.iter());
    let is_wanted = |(tile, ordinal)| {
        let tile = report.tile_index(PhysicalTile::new(tile));
        tile.is_none_or(|tile| wants(tile, ordinal))
    };
    if !keys.any(is_wanted) {
        return Ok(());
    }
    let all = unpack(chunk).map_err(place.wire())?;
    let all = all.map_err(|problem| place.corrupt(problem))?;
    let tiles = chunk.get_tiles().map_err(place.wire())?;
    let ordinals = chunk.get_ordinals().map_err(place.wire())?;
    let counts = chunk.get_counts().map_err(place.wire())?;
    let mut rest = &all[..];
    for ((tile, ordinal), count) in tiles.iter().zip(ordinals.iter()).zip(counts.iter()) {
        let list;
        (list, rest) = rest
            .split_at_checked(count as usize)
            .ok_or_else(|| place.corrupt("a list passes its end"))?;
        let tile = report
            .tile_index(PhysicalTile::new(tile))
            .ok_or_else(|| place.corrupt("it names a tile that was not profiled"))?;
        visit(tile, ordinal, list);
    }
    Ok(())
}

/// The record of activity chunk `index`.
fn page(report: &ProfileReport, index: usize) -> Result<Record<'_>, DecodeError> {
    let range = report.activity_chunks[index].bytes;
    let page = &report.pages[report.chunks.len() + index];
    let bytes = page.bytes.as_ref();
    Record::read(
        bytes.ok_or(DecodeError::PageMissing { range })?,
        range.start,
    )
}

/// What an activity record holds.
fn chunk<'r>(record: &'r Record<'_>) -> Result<activity_chunk::Reader<'r>, DecodeError> {
    let place = record.place;
    match record.which()? {
        Some(body::Activities(chunk)) => chunk.map_err(place.wire()),
        _ => Err(place.corrupt("the index calls it an activity chunk")),
    }
}

/// Which activities of the chunk belong to a sample.
fn find(
    chunk: activity_chunk::Reader<'_>,
    physical: u32,
    ordinal: u64,
) -> capnp::Result<Option<std::ops::Range<usize>>> {
    let (tiles, ordinals) = (chunk.get_tiles()?, chunk.get_ordinals()?);
    let counts = chunk.get_counts()?;
    let mut first = 0usize;
    for ((tile, at), count) in tiles.iter().zip(ordinals.iter()).zip(counts.iter()) {
        let end = first.saturating_add(count as usize);
        if (tile, at) == (physical, ordinal) {
            return Ok(Some(first..end));
        }
        first = end;
    }
    Ok(None)
}

/// Checks a chunk that is not kept: its columns decode and its lists have equal lengths.
pub(crate) fn check(chunk: activity_chunk::Reader<'_>, place: Place) -> Result<(), DecodeError> {
    let wire = place.wire();
    let lists = [
        chunk.get_tiles().map_err(wire)?.len(),
        chunk.get_counts().map_err(wire)?.len(),
    ];
    if lists != [chunk.get_ordinals().map_err(wire)?.len(); 2] {
        return Err(place.corrupt("its lists have different lengths"));
    }
    let unpacked = unpack(chunk).map_err(wire)?;
    unpacked
        .map(|_| ())
        .map_err(|problem| place.corrupt(problem))
}

/// All activities of a chunk, in order.
fn unpack(
    chunk: activity_chunk::Reader<'_>,
) -> capnp::Result<Result<Vec<ExchangeActivity>, &'static str>> {
    let counts = chunk.get_counts()?;
    let total = counts
        .iter()
        .map(|count| count as usize)
        .fold(0, usize::saturating_add);
    if total > ACTIVITIES_PER_CHUNK + ACTIVITIES_PER_SAMPLE {
        return Ok(Err("it has more activities than a record may"));
    }
    let [mut kinds, mut starts, mut lengths, mut fanouts] = [const { Vec::new() }; 4];
    let unpacked = column::unpack(chunk.get_kinds()?, total, &mut kinds)
        .and(column::unpack(chunk.get_starts()?, total, &mut starts))
        .and(column::unpack(chunk.get_lengths()?, total, &mut lengths));
    let fanouts_packed = chunk.get_fanouts()?;
    if let Err(problem) = unpacked {
        return Ok(Err(problem));
    }
    if let Err(problem) = column::unpack_sparse(fanouts_packed, total, &mut fanouts) {
        return Ok(Err(problem));
    }
    let mut activities = Vec::with_capacity(total);
    let mut at = 0;
    for count in counts.iter() {
        let mut start = 0u32;
        for _ in 0..count {
            start = start.wrapping_add(column::unzigzag(starts[at]));
            let end = start.wrapping_add(column::unzigzag(lengths[at]));
            let Some(kind) = half(kinds[at] >> 1) else {
                return Ok(Err("an unknown kind"));
            };
            let Some(fanout) = half(fanouts[at]) else {
                return Ok(Err("a fanout over 65,535"));
            };
            let (kind, paired) = (ActivityKind::from_wire(kind), kinds[at] & 1 != 0);
            activities.push(ExchangeActivity {
                kind,
                start,
                end,
                fanout,
                paired,
            });
            at += 1;
        }
    }
    Ok(Ok(activities))
}

fn half(value: u32) -> Option<u16> {
    u16::try_from(value).ok()
}
