//! [`ProfileWriter`]: samples in, columnar bytes out, append-only.
//!
//! Samples wait per tile until a group of 64 tiles has enough for a chunk or too many wait in all;
//! memory is bounded whatever the order of the tiles. The bytes depend on the calls alone.

mod chunk;
mod facts;
mod index;
pub(crate) mod intern;
mod overview;
mod summary;
mod tile;
mod union;

use std::collections::BTreeMap;

use index::Entry;
use intern::{EstimateKey, StepKey, Tables};
use overview::OverviewTracker;
use summary::SummaryTracker;
use tile::Tile;

use super::WriteError;
use super::catalog;
use super::checksum;
use super::open::{TILES_MAX, first_starts};
use super::record::kind;
use super::samples::{SAMPLES_PER_TILE, TILES_PER_CHUNK};
use crate::order;
use crate::profile::{Ending, ExchangeActivity, PhaseKey, ProfileHeader, StepDescriptor};
use crate::units::{PhysicalTile, RawCounter, StepId};

/// Samples that may wait in all: 24 bytes each.
const PENDING_MAX: usize = 1_500_000;

/// Writes a columnar profile while it is recorded.
///
/// Samples of one tile come in time order; tiles may come one after another or interleaved. Calls
/// do not fail: the first problem is kept and returned by [`ProfileWriter::finish`].
#[derive(Debug)]
pub struct ProfileWriter {
    out: Output,
    tables: Tables,
    /// In the order they were begun.
    tiles: Vec<Tile>,
    positions: BTreeMap<PhysicalTile, usize>,
    /// Positions of tiles, ascending by physical id, by `physical / 64`.
    groups: BTreeMap<u32, Group>,
    /// The tile of the last call, which is mostly the tile of the next.
    last: Option<(PhysicalTile, usize)>,
    pending: usize,
    first_counter: Option<RawCounter>,
    overview: OverviewTracker,
    summary: SummaryTracker,
    ending: Option<Ending>,
    /// What packs a catalog of the tables, where one is wanted.
    pack: Option<catalog::Pack>,
    failure: Option<WriteError>,
}

#[derive(Debug, Default)]
struct Group {
    members: Vec<usize>,
    pending: usize,
}

/// Bytes produced and not taken, and the index of all that were produced.
#[derive(Debug, Default)]
struct Output {
    bytes: Vec<u8>,
    written: u64,
    entries: Vec<Entry>,
}

impl Output {
    fn record(
        &mut self,
        kind: u16,
        bytes: &[u8],
        count: u64,
        tiles: std::ops::Range<u32>,
        cycles: std::ops::Range<i64>,
    ) {
        self.entries.push(Entry {
            kind,
            offset: self.written,
            length: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            checksum: checksum::crc32c(bytes),
            tiles,
            cycles,
            count,
        });
        self.bytes.extend_from_slice(bytes);
        self.written += bytes.len() as u64;
    }
}

impl ProfileWriter {
    /// A writer of a profile with this header.
    #[must_use]
    pub fn new(header: &ProfileHeader) -> Self {
        let mut writer = Self {
            out: Output::default(),
            tables: Tables::new(),
            tiles: Vec::new(),
            positions: BTreeMap::new(),
            groups: BTreeMap::new(),
            last: None,
            pending: 0,
            first_counter: None,
            overview: OverviewTracker::default(),
            summary: SummaryTracker::default(),
            ending: None,
            pack: None,
            failure: None,
        };
        let written = facts::header_record(header);
        writer.attempt(|writer| {
            writer.out.record(kind::HEADER, &written?, 1, 0..0, 0..0);
            Ok(())
        });
        writer
    }

    /// The same, of a file that is read over a network: where tables lie between its chunks, they
    /// are repeated at the end in one piece.
    #[must_use]
    pub fn with_catalog(mut self) -> Self {
        self.pack = Some(catalog::pack);
        self
    }

    /// The run ended here, before its program did.
    pub fn end(&mut self, ending: &Ending) {
        self.ending = Some(ending.clone());
    }

    /// The id of a step; equal descriptors have one id.
    pub fn step(&mut self, step: &StepDescriptor) -> StepId {
        self.attempt(|writer| {
            let tables = &mut writer.tables;
            let mut pairs = Vec::with_capacity(step.metadata.len());
            for (name, value) in &step.metadata {
                pairs.push((tables.string(name)?, tables.string(value)?));
            }
            let estimate = match &step.estimate {
                Some(it) => Some(EstimateKey {
                    useful: it.useful,
                    physical: it.physical,
                    basis: tables.string(&it.basis)?,
                    rounded: false,
                    in_metadata: false,
                }),
                None => None,
            };
            let key = StepKey {
                kind: step.kind.to_wire(),
                kernel: tables.string(&step.kernel)?,
                operation: tables.string(&step.operation)?,
                place: PhaseKey {
                    epoch: step.epoch,
                    phase: step.phase,
                },
                event_cycles: step.exchange_event_cycles,
                metadata: tables.metadata(&pairs)?,
                estimate,
            };
            tables.step(&key)
        })
        .unwrap_or_default()
    }

    /// Lists a tile, in the order of the calls, even if it never has a sample. Optional before
    /// [`Self::sample`].
    pub fn begin_tile(&mut self, tile: PhysicalTile) {
        self.position(tile);
    }

    /// Appends a sample to a tile. `activities` are the transfers scheduled inside it.
    pub fn sample(
        &mut self,
        tile: PhysicalTile,
        start: RawCounter,
        end: RawCounter,
        step: StepId,
        activities: &[ExchangeActivity],
    ) {
        self.sample_indexed(tile, start, end, step, activities, None);
    }

    /// As [`Self::sample`], with the local index that a row file gives the step; `None` is the
    /// sample's ordinal.
    pub(crate) fn sample_indexed(
        &mut self,
        tile: PhysicalTile,
        start: RawCounter,
        end: RawCounter,
        step: StepId,
        activities: &[ExchangeActivity],
        local_index: Option<u32>,
    ) {
        if step.get() >= self.tables.step_count() {
            let steps = self.tables.step_count();
            let (tile, step) = (tile.get(), step.get());
            self.failure
                .get_or_insert(WriteError::UnknownStep { tile, step, steps });
            return;
        }
        let position = match self.last {
            Some((last, position)) if last == tile => position,
            _ => self.position(tile),
        };
        self.last = Some((tile, position));
        self.first_counter.get_or_insert(start);
        let recording = &mut self.tiles[position];
        recording.push(start, end, step.get(), local_index);
        let activities = recording.push_activities(activities);
        let full = recording.activities_fill_a_record();
        let group_key = tile.get() / TILES_PER_CHUNK;
        if let Some(group) = self.groups.get_mut(&group_key) {
            group.pending += 1;
        }
        self.pending += 1;
        if full || activities.is_err() || self.pending >= PENDING_MAX {
            self.attempt(|writer| {
                activities?;
                if full {
                    writer.write_activities(group_key)?;
                }
                writer.relieve()
            });
        }
    }

    /// Takes the bytes that are ready, so that a long recording needs little memory. The file is
    /// the bytes of all calls, in order, then those of [`Self::finish`].
    #[must_use]
    pub fn take_bytes(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out.bytes)
    }

    /// Writes what is pending, overview, summary, index and trailer, and returns the rest of the
    /// file: all of it where [`Self::take_bytes`] was never called.
    ///
    /// # Errors
    /// The first problem of any call.
    pub fn finish(mut self) -> Result<Vec<u8>, WriteError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let groups: Vec<u32> = self.groups.keys().copied().collect();
        for group in groups {
            while self.groups.get(&group).is_some_and(|it| it.pending > 0) {
                self.write_window(group)?;
            }
            self.write_activities(group)?;
        }
        self.write_tables()?;
        self.write_ending()?;
        self.write_catalog()?;
        let listed: Vec<super::open::Tile> = self.tiles.iter().map(listed).collect();
        let shift = self.shift_to_shared(&listed);
        if let Some(shift) = shift {
            self.write_overview(shift)?;
            self.write_summary(shift)?;
        } else {
            // Tiles more than half a counter apart: no chunk's cycles are known to be on one clock.
            self.out
                .entries
                .iter_mut()
                .for_each(|entry| entry.cycles = 0..i64::MAX);
        }
        let (entries, at) = (&self.out.entries, self.out.written);
        let tail = index::index_and_trailer(entries, &listed, at, shift.unwrap_or(0))?;
        self.out.bytes.extend(tail);
        Ok(self.out.bytes)
    }

    /// Runs a fallible call unless one failed before, and keeps its failure.
    fn attempt<T>(&mut self, call: impl FnOnce(&mut Self) -> Result<T, WriteError>) -> Option<T> {
        if self.failure.is_some() {
            return None;
        }
        match call(self) {
            Ok(value) => Some(value),
            Err(failure) => {
                self.failure = Some(failure);
                None
            }
        }
    }

    /// The position of a tile, listed now if it was not.
    fn position(&mut self, tile: PhysicalTile) -> usize {
        if let Some(&position) = self.positions.get(&tile) {
            return position;
        }
        let position = self.tiles.len();
        if position as u64 >= TILES_MAX {
            self.failure.get_or_insert(WriteError::TooMany {
                what: "tiles",
                limit: TILES_MAX,
            });
        }
        self.tiles.push(Tile::new(tile));
        self.positions.insert(tile, position);
        let tiles = &self.tiles;
        let group = self.groups.entry(tile.get() / TILES_PER_CHUNK).or_default();
        let at = group
            .members
            .partition_point(|&other| tiles[other].physical < tile);
        group.members.insert(at, position);
        position
    }

    /// Writes chunks until fewer samples wait: whole windows of the group that has most.
    fn relieve(&mut self) -> Result<(), WriteError> {
        while self.pending >= PENDING_MAX {
            let fullest = self.groups.iter().max_by_key(|(_, group)| group.pending);
            let Some((&key, _)) = fullest else {
                return Ok(());
            };
            self.write_window(key)?;
            while self.has_whole_window(key) {
                self.write_window(key)?;
            }
            self.write_activities(key)?;
        }
        Ok(())
    }

    fn has_whole_window(&self, key: u32) -> bool {
        self.groups.get(&key).is_some_and(|group| {
            group
                .members
                .iter()
                .any(|&at| self.tiles[at].pending() >= SAMPLES_PER_TILE)
        })
    }

    /// Writes one chunk of a group that has pending samples.
    fn write_window(&mut self, key: u32) -> Result<(), WriteError> {
        self.write_tables()?;
        let reference = self.first_counter.unwrap_or_default();
        let Some(group) = self.groups.get_mut(&key) else {
            return Ok(());
        };
        let members = group.members.iter().map(|&at| &self.tiles[at]);
        let windows: Vec<_> = members
            .filter(|tile| tile.pending() > 0)
            .map(Tile::window)
            .collect();
        let bytes = chunk::samples_record(&windows)?;
        let (mut first, mut end, mut count) = (i64::MAX, i64::MIN, 0);
        for window in &windows {
            let origin = relative(window.first_counter, reference);
            self.overview.begin(window.physical, origin);
            self.summary
                .begin(window.physical, origin, window.first_ordinal);
            for sample in window.samples {
                let start = origin + sample.start.cast_signed();
                let facts = &self.tables.facts[sample.step as usize];
                self.overview.add(start, sample.duration, facts);
                self.summary.add(start, sample.duration, facts);
                first = first.min(start);
                end = end.max(start + i64::from(sample.duration));
            }
            count += window.samples.len();
        }
        let tiles = extent(&windows);
        self.out
            .record(kind::SAMPLES, &bytes, count as u64, tiles, first..end);
        group.pending -= count;
        self.pending -= count;
        for &at in &group.members {
            self.tiles[at].take_window();
        }
        Ok(())
    }

    fn write_activities(&mut self, key: u32) -> Result<(), WriteError> {
        let Some(group) = self.groups.get(&key) else {
            return Ok(());
        };
        let members = &group.members;
        let mut tiles: Vec<&mut Tile> = self
            .tiles
            .iter_mut()
            .enumerate()
            .filter(|(at, tile)| !tile.lists.is_empty() && members.contains(at))
            .map(|(_, tile)| tile)
            .collect();
        order::by_key(&mut tiles, |tile| tile.physical);
        for it in chunk::activity_records(&mut tiles)? {
            self.out
                .record(kind::ACTIVITIES, &it.bytes, it.count, it.tiles, 0..0);
        }
        Ok(())
    }

    /// Writes the table rows that no record has.
    fn write_tables(&mut self) -> Result<(), WriteError> {
        while let Some((kind, count, bytes)) = self.tables.next_record()? {
            self.out.record(kind, &bytes, count, 0..0, 0..0);
        }
        Ok(())
    }

    fn write_ending(&mut self) -> Result<(), WriteError> {
        if let Some(ending) = &self.ending {
            let bytes = facts::ending_record(ending)?;
            self.out.record(kind::ENDING, &bytes, 1, 0..0, 0..0);
        }
        Ok(())
    }

    /// Repeats the tables, where chunks lie between them.
    fn write_catalog(&mut self) -> Result<(), WriteError> {
        let kinds = self.out.entries.iter().map(|entry| entry.kind);
        let mut after_chunks = kinds.skip_while(|&kind| kind != kind::SAMPLES);
        let Some(pack) = self.pack else { return Ok(()) };
        if !after_chunks.any(kind::is_table) {
            return Ok(());
        }
        self.tables.rewind();
        match catalog::build(|| self.tables.next_record(), pack) {
            Ok(catalogs) => {
                for (bytes, rows) in catalogs {
                    self.out.record(kind::CATALOG, &bytes, rows, 0..0, 0..0);
                }
                Ok(())
            }
            // Rows that cannot be packed are where they were written all the same.
            Err(WriteError::RecordTooLong { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// What moves instants relative to the first counter to the shared clock, where one number does
    /// for all tiles.
    fn shift_to_shared(&self, listed: &[super::open::Tile]) -> Option<i64> {
        let reference = self.first_counter.unwrap_or_default();
        let starts = first_starts(listed);
        let tiles = self
            .tiles
            .iter()
            .zip(starts)
            .filter(|(tile, _)| tile.samples > 0);
        let mut shifts = tiles
            .map(|(tile, start)| start.cast_signed() - relative(tile.first_counter, reference));
        let shift = shifts.next().unwrap_or(0);
        shifts.all(|other| other == shift).then_some(shift)
    }

    fn write_overview(&mut self, shift: i64) -> Result<(), WriteError> {
        let rows: Vec<PhysicalTile> = self.positions.keys().copied().collect();
        let samples: u64 = self.tiles.iter().map(|tile| tile.samples).sum();
        if let Some((bytes, cells)) = self.overview.record(&rows, samples, shift)? {
            self.out.record(kind::OVERVIEW, &bytes, cells, 0..0, 0..0);
        }
        Ok(())
    }

    fn write_summary(&mut self, shift: i64) -> Result<(), WriteError> {
        let samples: u64 = self.tiles.iter().map(|tile| tile.samples).sum();
        let tiles = intern::length(&self.tiles);
        if let Some((bytes, rows)) = self.summary.record(samples, tiles, shift)? {
            self.out.record(kind::SUMMARY, &bytes, rows, 0..0, 0..0);
        }
        Ok(())
    }

    /// The tables, for the row reader, which interns names itself.
    pub(crate) fn tables(&mut self) -> &mut Tables {
        &mut self.tables
    }
}

fn relative(counter: RawCounter, reference: RawCounter) -> i64 {
    i64::from(counter.get().wrapping_sub(reference.get()).cast_signed())
}

fn extent(windows: &[tile::Window<'_>]) -> std::ops::Range<u32> {
    let first = windows.first().map_or(0, |window| window.physical.get());
    first
        ..windows
            .last()
            .map_or(0, |window| window.physical.get().saturating_add(1))
}

fn listed(tile: &Tile) -> super::open::Tile {
    super::open::Tile {
        physical: tile.physical.get(),
        samples: tile.samples,
        first_counter: tile.first_counter.get(),
    }
}
