//! Sample chunks: a packed page to struct-of-arrays scratch.
//!
//! This is where counters are unwrapped for readers: a chunk carries the 64-bit start of each
//! tile's first sample, and the columns give distances from there.

use std::ops::Range;

use super::column;
use super::error::DecodeError;
use super::profile_capnp::{record as body, sample_chunk};
use super::record::{Place, Record};
use crate::profile::{ChunkScratch, ProfileReport, TileEntry, TileSpan};
use crate::units::PhysicalTile;

/// Tiles of a chunk: an aligned group of this many physical ids.
pub(crate) const TILES_PER_CHUNK: u32 = 64;
/// Samples of one tile in a chunk, at most.
pub(crate) const SAMPLES_PER_TILE: usize = 1_024;
/// Instants past this are refused, so that sums inside a chunk cannot overflow.
const INSTANT_MAX: u64 = 1 << 62;

/// Values of `SampleChunk.durationCoding`.
pub(crate) mod coding {
    pub(crate) const CYCLES: u16 = 0;
    pub(crate) const BY_STEP: u16 = 1;
}

/// How far an end-to-start distance moves a tile's clock: back where the sample starts inside the
/// one before, else forward.
pub(crate) const fn gap_to_step(gap: u32, duration_before: u32) -> i64 {
    let back = gap.wrapping_neg();
    if gap >= 1 << 31 && back <= duration_before {
        -(back as i64)
    } else {
        gap as i64
    }
}

/// Decodes chunk `index` of the report into `scratch`.
pub(crate) fn decode(
    report: &ProfileReport,
    index: usize,
    scratch: &mut ChunkScratch,
) -> Result<(), DecodeError> {
    let range = report.chunks[index].bytes;
    let bytes = report.pages[index]
        .bytes
        .as_ref()
        .ok_or(DecodeError::PageMissing { range })?;
    decode_record(
        bytes,
        range.start,
        &report.tiles,
        report.steps.len(),
        scratch,
    )
}

/// Decodes the bytes of one sample record that starts at byte `at` of the file.
pub(crate) fn decode_record(
    bytes: &[u8],
    at: u64,
    tiles: &[TileEntry],
    steps: usize,
    scratch: &mut ChunkScratch,
) -> Result<(), DecodeError> {
    let record = Record::read(bytes, at)?;
    let place = record.place;
    let Some(body::Samples(chunk)) = record.which()? else {
        return Err(place.corrupt("the index calls it a sample chunk"));
    };
    let chunk = chunk.map_err(place.wire())?;
    let count = read_spans(chunk, place, tiles, scratch)?;
    let columns = |problem: &'static str| place.corrupt(problem);
    let steps_packed = chunk.get_steps().map_err(place.wire())?;
    column::unpack(steps_packed, count, &mut scratch.step).map_err(columns)?;
    let named = steps_from_differences(scratch);
    if named.end as usize > steps {
        return Err(place.corrupt(format!("a sample names a step outside the {steps} steps")));
    }
    let durations = chunk.get_durations().map_err(place.wire())?;
    column::unpack(durations, count, &mut scratch.duration).map_err(columns)?;
    match chunk.get_duration_coding() {
        coding::CYCLES => {}
        coding::BY_STEP => durations_from_differences(scratch, &named),
        other => return Err(place.corrupt(format!("its durations have unknown coding {other}"))),
    }
    let gaps = chunk.get_gaps().map_err(place.wire())?;
    if gaps.is_empty() {
        starts_without_gaps(scratch);
    } else {
        column::unpack(gaps, count, &mut scratch.packed).map_err(columns)?;
        starts_with_gaps(scratch).map_err(columns)?;
    }
    Ok(())
}

/// `Step.localIndex` minus the ordinal of each sample of chunk `index`, wrapping; empty: all zero.
pub(crate) fn local_index_differences(
    report: &ProfileReport,
    index: usize,
    count: usize,
    out: &mut Vec<u32>,
) -> Result<(), DecodeError> {
    let range = report.chunks[index].bytes;
    let bytes = report.pages[index]
        .bytes
        .as_ref()
        .ok_or(DecodeError::PageMissing { range })?;
    let record = Record::read(bytes, range.start)?;
    let place = record.place;
    let Some(body::Samples(chunk)) = record.which()? else {
        return Err(place.corrupt("the index calls it a sample chunk"));
    };
    let packed = chunk
        .map_err(place.wire())?
        .get_local_indices()
        .map_err(place.wire())?;
    column::unpack_sparse(packed, count, out).map_err(|problem| place.corrupt(problem))?;
    out.iter_mut()
        .for_each(|value| *value = column::unzigzag(*value));
    Ok(())
}

/// Fills the spans, puts the 64-bit start of each span into `start`, and returns the sample count.
fn read_spans(
    chunk: sample_chunk::Reader<'_>,
    place: Place,
    tiles: &[TileEntry],
    scratch: &mut ChunkScratch,
) -> Result<usize, DecodeError> {
    let ids = chunk.get_tiles().map_err(place.wire())?;
    let counts = chunk.get_counts().map_err(place.wire())?;
    let ordinals = chunk.get_first_ordinals().map_err(place.wire())?;
    let bases = chunk.get_bases().map_err(place.wire())?;
    let listed = ids.len();
    if listed > TILES_PER_CHUNK || [counts.len(), ordinals.len(), bases.len()] != [listed; 3] {
        return Err(place.corrupt("its tile lists have different or excessive lengths"));
    }
    scratch.spans.clear();
    scratch.start.clear();
    let mut samples = 0u32;
    for row in 0..listed {
        let (id, count) = (ids.get(row), u32::from(counts.get(row)));
        let found = tiles.binary_search_by_key(&PhysicalTile::new(id), |entry| entry.tile);
        let tile = found.ok();
        let tile =
            tile.ok_or_else(|| place.corrupt(format!("physical tile {id} is not listed")))?;
        let first_ordinal = ordinals.get(row);
        let base = tiles[tile].first_start.checked_add(bases.get(row));
        let base = base.filter(|&base| base <= INSTANT_MAX);
        let base = base.ok_or_else(|| place.corrupt("a start is past 2^62 cycles"))?;
        let last = first_ordinal.checked_add(u64::from(count));
        if count == 0
            || count as usize > SAMPLES_PER_TILE
            || last.is_none_or(|last| last > tiles[tile].sample_count)
            || scratch
                .spans
                .last()
                .is_some_and(|span| span.tile as usize >= tile)
        {
            return Err(place.corrupt(format!("the samples of physical tile {id} do not fit it")));
        }
        let tile = u32::try_from(tile).unwrap_or(u32::MAX);
        let range = samples..samples + count;
        scratch.spans.push(TileSpan {
            tile,
            samples: range,
            first_ordinal,
        });
        scratch.start.push(base);
        samples += count;
    }
    Ok(samples as usize)
}

/// Spreads the span starts, at the front of `start`, to the starts of all samples, back to front so
/// that no second buffer is needed: span `i` never ends before index `i`.
fn starts_without_gaps(scratch: &mut ChunkScratch) {
    let ChunkScratch {
        spans,
        start,
        duration,
        ..
    } = scratch;
    start.resize(duration.len(), 0);
    for (row, span) in spans.iter().enumerate().rev() {
        let mut at = start[row];
        let samples = span.samples.start as usize..span.samples.end as usize;
        for (start, &duration) in start[samples.clone()].iter_mut().zip(&duration[samples]) {
            *start = at;
            at += u64::from(duration);
        }
    }
}

/// As [`starts_without_gaps`], with the gaps in `packed`.
fn starts_with_gaps(scratch: &mut ChunkScratch) -> Result<(), &'static str> {
    let ChunkScratch {
        spans,
        start,
        duration,
        packed,
        ..
    } = scratch;
    start.resize(duration.len(), 0);
    for (row, span) in spans.iter().enumerate().rev() {
        let mut at = start[row];
        let mut before = 0;
        let samples = span.samples.start as usize..span.samples.end as usize;
        let columns = duration[samples.clone()]
            .iter()
            .zip(&packed[samples.clone()]);
        for (start, (&duration, &gap)) in start[samples].iter_mut().zip(columns) {
            at = at.wrapping_add_signed(gap_to_step(gap, before));
            *start = at;
            at = at.wrapping_add(u64::from(duration));
            before = duration;
        }
        // A first sample's gap moves forward only, so an instant never falls below the span's base.
        if at > 2 * INSTANT_MAX {
            return Err("its instants run backwards");
        }
    }
    Ok(())
}

/// Replaces the zig-zag differences in `step` by step ids; returns the smallest range that has
/// them.
fn steps_from_differences(scratch: &mut ChunkScratch) -> Range<u32> {
    let ChunkScratch { spans, step, .. } = scratch;
    let mut first = 0u32;
    let (mut smallest, mut largest) = (u32::MAX, 0);
    for span in spans.iter() {
        let samples = &mut step[span.samples.start as usize..span.samples.end as usize];
        let mut id = first;
        for value in samples.iter_mut() {
            id = id.wrapping_add(column::unzigzag(*value));
            *value = id;
            largest = largest.max(id);
            smallest = smallest.min(id);
        }
        first = samples.first().copied().unwrap_or(first);
    }
    if step.is_empty() {
        0..0
    } else {
        smallest..largest.saturating_add(1)
    }
}

/// Replaces differences to the last duration of the same step by durations. `named` has all steps.
fn durations_from_differences(scratch: &mut ChunkScratch, named: &Range<u32>) {
    let ChunkScratch {
        step,
        duration,
        packed,
        ..
    } = scratch;
    packed.clear();
    packed.resize((named.end - named.start) as usize, 0);
    for (duration, &step) in duration.iter_mut().zip(step.iter()) {
        let last = &mut packed[(step - named.start) as usize];
        *last = last.wrapping_add(column::unzigzag(*duration));
        *duration = *last;
    }
}
