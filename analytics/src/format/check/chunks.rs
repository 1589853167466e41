//! Sample chunks as they pass: each is decoded, and what it says of its tiles is kept until the
//! index can be asked.

use std::collections::BTreeMap;

use crate::format::error::DecodeError;
use crate::format::open::{TILES_MAX, Tile, first_starts};
use crate::format::profile_capnp::sample_chunk;
use crate::format::record::Place;
use crate::format::samples;
use crate::profile::{ChunkScratch, TileEntry};
use crate::units::{Cycles, PhysicalTile, RawCounter};

/// What the chunks said of one tile.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// One past the largest ordinal.
    samples: u64,
    /// Samples that passed.
    count: u64,
    /// Latest end of a sample in cycles since the tile's first.
    end: u64,
}

#[derive(Debug, Default)]
pub(super) struct Chunks {
    seen: BTreeMap<u32, Seen>,
    scratch: ChunkScratch,
}

impl Chunks {
    /// Decodes a chunk and returns its number of samples.
    pub(super) fn add(
        &mut self,
        chunk: sample_chunk::Reader<'_>,
        bytes: &[u8],
        place: Place,
        steps: usize,
    ) -> Result<u64, DecodeError> {
        let tiles = listed(chunk, place)?;
        samples::decode_record(bytes, place.at, &tiles, steps, &mut self.scratch)?;
        let scratch = &self.scratch;
        for span in &scratch.spans {
            let range = span.samples.start as usize..span.samples.end as usize;
            let samples = scratch.start[range.clone()]
                .iter()
                .zip(&scratch.duration[range]);
            let count = u64::from(span.samples.end - span.samples.start);
            let end = samples.map(|(&start, &duration)| start.saturating_add(duration.into()));
            let id = tiles[span.tile as usize].tile.get();
            let seen = self.seen.entry(id).or_default();
            seen.samples = seen.samples.max(span.first_ordinal.saturating_add(count));
            seen.count = seen.count.saturating_add(count);
            seen.end = seen.end.max(end.max().unwrap_or(0));
        }
        let found = self.seen.len() as u64;
        super::limit_u64("tiles", TILES_MAX, found)?;
        Ok(scratch.start.len() as u64)
    }

    /// The index lists these tiles with these samples; returns the end of the cropped timeline.
    pub(super) fn agree(&self, tiles: &[Tile], place: Place) -> Result<Cycles, DecodeError> {
        let mut ids: Vec<u32> = tiles.iter().map(|tile| tile.physical).collect();
        ids.sort_unstable();
        if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(place.corrupt(format!("physical tile {} is listed twice", pair[0])));
        }
        if let Some(id) = self.seen.keys().find(|id| ids.binary_search(id).is_err()) {
            return Err(place.corrupt(format!("physical tile {id} is not listed")));
        }
        let starts = first_starts(tiles);
        let (mut crop, mut end) = (0, 0);
        for (tile, &start) in tiles.iter().zip(&starts) {
            let seen = self.seen.get(&tile.physical).copied().unwrap_or_default();
            if [seen.samples, seen.count] != [tile.samples; 2] {
                let id = tile.physical;
                return Err(
                    place.corrupt(format!("the samples of physical tile {id} do not fit it"))
                );
            }
            if tile.samples > 0 {
                crop = crop.max(start);
                end = end.max(seen.end.saturating_add(start));
            }
        }
        Ok(Cycles::new(end.saturating_sub(crop)))
    }
}

/// The tiles of a chunk, ascending, with no bound on their samples, which only the index knows.
fn listed(chunk: sample_chunk::Reader<'_>, place: Place) -> Result<Vec<TileEntry>, DecodeError> {
    let ids = chunk.get_tiles().map_err(place.wire())?;
    if ids.len() > samples::TILES_PER_CHUNK {
        return Err(place.corrupt("its tile lists have different or excessive lengths"));
    }
    let mut ids: Vec<u32> = ids.iter().collect();
    ids.sort_unstable();
    ids.dedup();
    let entry = |id| TileEntry {
        tile: PhysicalTile::new(id),
        sample_count: u64::MAX,
        first_counter: RawCounter::new(0),
        first_start: 0,
    };
    Ok(ids.into_iter().map(entry).collect())
}
