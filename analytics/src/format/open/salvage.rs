//! A file without trailer: everything up to the last whole record, read front to back.

use std::ops::Range;

use bytes::Bytes;

use super::assemble;
use super::index::{Directory, Row, TILES_MAX, Tile};
use crate::format::ByteRange;
use crate::format::checksum;
use crate::format::error::DecodeError;
use crate::format::profile_capnp::{record as body, sample_chunk};
use crate::format::record::{self, Place, Record, kind};
use crate::format::samples;
use crate::format::tables::Tables;
use crate::profile::{ChunkScratch, Condition, ProfileReport};

/// What the whole records of a cut file say.
pub(crate) fn salvage(file: &Bytes) -> Result<ProfileReport, DecodeError> {
    let mut found = Found::default();
    let mut at = 0usize;
    // What the record that ended the reading asked for, or what is wrong with it.
    let (mut needed, mut broken) = (record::PEEK, None);
    while let Some(peek) = record::peek(&file[at..]) {
        let Some(end) = usize::try_from(peek.length)
            .ok()
            .and_then(|length| at.checked_add(length))
        else {
            break;
        };
        needed = end as u64;
        let Some(bytes) = file.get(at..end) else {
            break;
        };
        let bytes = record::aligned(file.slice_ref(bytes));
        if peek.major > record::MAJOR {
            return Err(DecodeError::TooNew {
                major: peek.major,
                supported: record::MAJOR,
            });
        }
        let read = Record::read(&bytes, at as u64);
        if let Err(error) = read.and_then(|record| found.add(&record, &bytes)) {
            broken = Some(error);
            break;
        }
        at = end;
    }
    if found.tables.header.is_none() {
        return Err(broken.unwrap_or(DecodeError::Cut {
            what: "the header",
            needed,
            found: file.len() as u64,
        }));
    }
    found.finish(at as u64)
}

#[derive(Default)]
struct Found {
    tables: Tables,
    directory: Directory,
    /// One for each row of the directory.
    pages: Vec<Bytes>,
}

impl Found {
    fn add(&mut self, record: &Record<'_>, bytes: &Bytes) -> Result<(), DecodeError> {
        let place = record.place;
        self.tables.apply(record)?;
        let (kind, tiles, count) = match record.which()? {
            Some(body::Samples(chunk)) => {
                let (tiles, count) = self.add_samples(chunk.map_err(place.wire())?, place)?;
                (kind::SAMPLES, tiles, count)
            }
            Some(body::Activities(chunk)) => {
                let tiles = chunk
                    .map_err(place.wire())?
                    .get_tiles()
                    .map_err(place.wire())?;
                (kind::ACTIVITIES, extent(tiles.iter()), tiles.len().into())
            }
            _ => return Ok(()),
        };
        self.directory.rows.push(Row {
            kind,
            bytes: ByteRange::new(place.at, place.at + bytes.len() as u64),
            checksum: checksum::crc32c(bytes),
            tiles,
            cycles: 0..0,
            count,
        });
        self.pages.push(bytes.clone());
        Ok(())
    }

    /// Extends the tile list by what a chunk says of its tiles; returns those and its sample count.
    fn add_samples(
        &mut self,
        chunk: sample_chunk::Reader<'_>,
        place: Place,
    ) -> Result<(Range<u32>, u64), DecodeError> {
        let wire = place.wire();
        let ids = chunk.get_tiles().map_err(wire)?;
        let counts = chunk.get_counts().map_err(wire)?;
        let ordinals = chunk.get_first_ordinals().map_err(wire)?;
        let bases = chunk.get_bases().map_err(wire)?;
        let counters = chunk.get_first_counters().map_err(wire)?;
        let lists = [counts.len(), ordinals.len(), bases.len(), counters.len()];
        if lists != [ids.len(); 4] {
            return Err(place.corrupt("its tile lists have different lengths"));
        }
        for row in 0..ids.len() {
            let physical = ids.get(row);
            let samples = ordinals.get(row).saturating_add(u64::from(counts.get(row)));
            #[expect(
                clippy::cast_possible_truncation,
                reason = "counters keep the low bits"
            )]
            let first_counter = counters.get(row).wrapping_sub(bases.get(row) as u32);
            match self
                .directory
                .tiles
                .iter_mut()
                .find(|tile| tile.physical == physical)
            {
                Some(tile) => tile.samples = tile.samples.max(samples),
                None => self.directory.tiles.push(Tile {
                    physical,
                    samples,
                    first_counter,
                }),
            }
        }
        let found = self.directory.tiles.len() as u64;
        if found > TILES_MAX {
            return Err(DecodeError::Limit {
                what: "tiles",
                limit: TILES_MAX,
                found,
            });
        }
        Ok((extent(ids.iter()), counts.iter().map(u64::from).sum()))
    }

    /// Decodes every chunk once, since the index that knew their cycles is gone.
    fn finish(mut self, at: u64) -> Result<ProfileReport, DecodeError> {
        let place = Place {
            record: "index",
            at,
        };
        let (tiles, _) = assemble::tiles(&self.directory.tiles, place)?;
        let mut scratch = ChunkScratch::new();
        for (row, bytes) in self.directory.rows.iter_mut().zip(&self.pages) {
            if row.kind == kind::SAMPLES {
                let steps = self.tables.steps.len();
                samples::decode_record(bytes, row.bytes.start, &tiles, steps, &mut scratch)?;
                let first = scratch.start.iter().copied().min().unwrap_or(0);
                let ends = scratch.start.iter().zip(&scratch.duration);
                let end = ends
                    .map(|(&start, &duration)| start + u64::from(duration))
                    .max();
                row.cycles = first..end.unwrap_or(first);
            }
        }
        let condition = Condition::Truncated { at };
        let mut report = assemble::report(&self.directory, self.tables, condition)?;
        let pages = || self.directory.rows.iter().zip(&self.pages);
        let samples = pages().filter(|(row, _)| row.kind == kind::SAMPLES);
        let activities = pages().filter(|(row, _)| row.kind == kind::ACTIVITIES);
        for (page, (_, bytes)) in report.pages.iter_mut().zip(samples.chain(activities)) {
            page.bytes = Some(bytes.clone());
        }
        Ok(report)
    }
}

/// The smallest range of ids that has them all.
fn extent(ids: impl Iterator<Item = u32>) -> Range<u32> {
    let wider = |(first, end): (u32, u32), id: u32| (first.min(id), end.max(id.saturating_add(1)));
    let (first, end) = ids.fold((u32::MAX, 0), wider);
    first.min(end)..end
}
