//! The exact summary while it is recorded: sums, duration counts and unions by kernel and kind.
//!
//! The initial-sync crop is known only when every tile has begun. The first samples of each tile
//! are therefore kept back and added at the end; where the crop reaches past them the summary would
//! not be exact and is left out.

use std::collections::BTreeMap;

use super::intern::{StepFacts, length};
use super::union::IntervalUnion;
use crate::aggregate::lower_rank;
use crate::format::error::WriteError;
use crate::format::record::{self, kind};
use crate::units::PhysicalTile;

/// Samples of a tile that are kept back.
const HEAD: u64 = 64;
/// Durations below this are counted, others listed.
const COUNTED: u32 = 1 << 16;

/// A sample that may be cut by the crop.
#[derive(Clone, Copy, Debug)]
struct HeadSample {
    tile: usize,
    start: i64,
    duration: u32,
    facts: StepFacts,
}

/// Sums of one kernel and kind.
#[derive(Debug, Default)]
struct Sums {
    samples: u64,
    work_cycles: u64,
    covered_cycles: u64,
    useful: u64,
    physical: u64,
    /// Whether a sum left 64 bits.
    overflow: bool,
    counts: Vec<u32>,
    long: Vec<u32>,
    tiles: Vec<u64>,
    union: IntervalUnion,
}

impl Sums {
    fn add(&mut self, tile: usize, start: i64, duration: u32, estimate: Option<(u64, u64)>) {
        let cycles = u64::from(duration);
        let mut sum = |total: &mut u64, more: u64| {
            let (value, overflow) = total.overflowing_add(more);
            *total = value;
            self.overflow |= overflow;
        };
        self.samples += 1;
        sum(&mut self.work_cycles, cycles);
        if let Some((useful, physical)) = estimate {
            sum(&mut self.covered_cycles, cycles);
            sum(&mut self.useful, useful);
            sum(&mut self.physical, physical);
        }
        if duration < COUNTED {
            let at = duration as usize;
            if at >= self.counts.len() {
                self.counts.resize((at + 1).next_power_of_two(), 0);
            }
            self.counts[at] += 1;
        } else {
            self.long.push(duration);
        }
        if tile / 64 >= self.tiles.len() {
            self.tiles.resize(tile / 64 + 1, 0);
        }
        self.tiles[tile / 64] |= 1 << (tile % 64);
        self.union.add(start, start + i64::from(duration));
    }

    /// The duration at a rank, from 0; `long` is sorted.
    fn ranked(&self, rank: u64) -> u32 {
        let mut before = 0u64;
        for (duration, &count) in (0u32..).zip(&self.counts) {
            before += u64::from(count);
            if before > rank {
                return duration;
            }
        }
        let at = usize::try_from(rank - before).unwrap_or(usize::MAX);
        self.long.get(at).copied().unwrap_or(0)
    }

    /// Lower nearest rank, without interpolation.
    fn percentile(&self, percent: u64) -> u32 {
        self.ranked(lower_rank(self.samples.saturating_sub(1), percent))
    }
}

/// Sums of all kernels.
#[derive(Debug)]
pub(crate) struct SummaryTracker {
    positions: BTreeMap<PhysicalTile, usize>,
    tile: usize,
    ordinal: u64,
    head: Vec<HeadSample>,
    /// By kind, then kernel row.
    sums: BTreeMap<(u16, u32), Sums>,
    /// Latest first sample; earliest sample that is in the sums already; latest end.
    crop: i64,
    body_start: i64,
    end: i64,
}

impl Default for SummaryTracker {
    fn default() -> Self {
        Self {
            positions: BTreeMap::new(),
            tile: 0,
            ordinal: 0,
            head: Vec::new(),
            sums: BTreeMap::new(),
            crop: i64::MIN,
            body_start: i64::MAX,
            end: i64::MIN,
        }
    }
}

impl SummaryTracker {
    /// Adds what follows to this tile, whose first sample starts at `origin`, from this ordinal on.
    pub(crate) fn begin(&mut self, tile: PhysicalTile, origin: i64, first_ordinal: u64) {
        let next = self.positions.len();
        self.tile = *self.positions.entry(tile).or_insert(next);
        self.ordinal = first_ordinal;
        self.crop = self.crop.max(origin);
    }

    /// Adds a sample.
    pub(crate) fn add(&mut self, start: i64, duration: u32, facts: &StepFacts) {
        let (tile, ordinal) = (self.tile, self.ordinal);
        self.ordinal += 1;
        self.end = self.end.max(start + i64::from(duration));
        if ordinal < HEAD {
            self.head.push(HeadSample {
                tile,
                start,
                duration,
                facts: *facts,
            });
        } else {
            self.body_start = self.body_start.min(start);
            self.add_whole(tile, start, duration, facts);
        }
    }

    fn add_whole(&mut self, tile: usize, start: i64, duration: u32, facts: &StepFacts) {
        if duration > 0 {
            let estimate = facts
                .estimate
                .map(|(useful, it)| (useful.get_256ths(), it.get_256ths()));
            let sums = self
                .sums
                .entry((facts.kind.to_wire(), facts.kernel_row))
                .or_default();
            sums.add(tile, start, duration, estimate);
        }
    }

    /// Adds the samples kept back, cut by the crop; a cut sample has no estimate.
    fn add_head(&mut self) {
        for sample in std::mem::take(&mut self.head) {
            let end = sample.start + i64::from(sample.duration);
            if sample.start >= self.crop {
                self.add_whole(sample.tile, sample.start, sample.duration, &sample.facts);
            } else if end > self.crop {
                let rest = u32::try_from(end - self.crop).unwrap_or(u32::MAX);
                let facts = StepFacts {
                    estimate: None,
                    ..sample.facts
                };
                self.add_whole(sample.tile, self.crop, rest, &facts);
            }
        }
    }

    /// The record and its number of rows, where it is exact and not empty. `to_shared` moves
    /// instants to the shared clock.
    pub(crate) fn record(
        &mut self,
        samples: u64,
        tiles: u32,
        to_shared: i64,
    ) -> Result<Option<(Vec<u8>, u64)>, WriteError> {
        if samples == 0 || samples > u32::MAX.into() || self.body_start < self.crop {
            return Ok(None);
        }
        self.add_head();
        for sums in self.sums.values_mut() {
            sums.long.sort_unstable();
        }
        if self.sums.values().any(|sums| sums.overflow) {
            return Ok(None);
        }
        let lengths: Vec<u64> = self
            .sums
            .values_mut()
            .map(|sums| sums.union.length())
            .collect();
        let crop = (self.crop + to_shared).max(0).unsigned_abs();
        let span = (self.end - self.crop).max(0).unsigned_abs();
        let record = record::build(kind::SUMMARY, 96 * lengths.len() + 256, |root| {
            let mut it = root.init_summary();
            it.set_sample_count(samples);
            it.set_tile_count(tiles);
            it.set_crop_cycles(crop);
            it.set_span_cycles(span);
            let mut rows = it.init_rows(length(&lengths));
            let all = self.sums.iter().zip(&lengths);
            for (at, ((&(kind, kernel), sums), &timeline)) in (0..).zip(all) {
                let mut row = rows.reborrow().get(at);
                row.set_kind(kind);
                row.set_kernel(kernel);
                row.set_tile_count(sums.tiles.iter().map(|word| word.count_ones()).sum());
                row.set_sample_count(sums.samples);
                row.set_work_cycles(sums.work_cycles);
                row.set_covered_cycles(sums.covered_cycles);
                row.set_useful(sums.useful);
                row.set_physical(sums.physical);
                row.set_p50_cycles(sums.percentile(50));
                row.set_p95_cycles(sums.percentile(95));
                row.set_maximum_cycles(sums.ranked(sums.samples - 1));
                row.set_timeline_cycles(timeline);
            }
            Ok(())
        });
        match record {
            Ok(bytes) => Ok(Some((bytes, lengths.len() as u64))),
            Err(WriteError::RecordTooLong { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
