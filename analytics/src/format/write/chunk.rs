//! Pending samples and activities of a group of tiles to records.

use super::intern::{length, packed};
use super::tile::{Pending, Tile, Window};
use crate::format::activities::ACTIVITIES_PER_CHUNK;
use crate::format::column::{self, zigzag};
use crate::format::error::WriteError;
use crate::format::record::{self, kind};
use crate::format::samples::coding;
use crate::profile::ExchangeActivity;

/// Distance of step ids within a chunk up to which durations are coded by step: a table of 256 KiB.
const STEPS_NEAR: u32 = 1 << 16;

/// One sample chunk of `windows`, tiles ascending, none empty.
pub(crate) fn samples_record(windows: &[Window<'_>]) -> Result<Vec<u8>, WriteError> {
    let total: usize = windows.iter().map(|window| window.samples.len()).sum();
    let mut columns = [const { Vec::new() }; 4];
    columns
        .iter_mut()
        .for_each(|column: &mut Vec<u32>| column.reserve(total));
    let [gaps, durations, steps, locals] = &mut columns;
    let mut first_step = 0u32;
    for window in windows {
        let mut end = window.samples[0].start;
        let mut step = first_step;
        for sample in window.samples {
            gaps.push(low_half(sample.start.wrapping_sub(end)));
            durations.push(sample.duration);
            steps.push(zigzag(sample.step.wrapping_sub(step)));
            locals.push(zigzag(sample.local));
            end = sample.start + u64::from(sample.duration);
            step = sample.step;
        }
        first_step = window.samples[0].step;
    }
    let [mut gaps_packed, mut locals_packed] = [const { Vec::new() }; 2];
    column::pack_sparse(gaps, &mut gaps_packed);
    column::pack_sparse(locals, &mut locals_packed);
    let by_step = durations_by_step(windows);
    let (mut durations, mut coding) = (packed(durations), coding::CYCLES);
    if let Some(by_step) = by_step.map(|values| packed(&values))
        && by_step.len() < durations.len()
    {
        (durations, coding) = (by_step, coding::BY_STEP);
    }
    let steps = packed(steps);
    let column_bytes = gaps_packed.len() + durations.len() + steps.len() + locals_packed.len();
    let counters = |window: &Window<'_>| {
        window
            .first_counter
            .get()
            .wrapping_add(low_half(window.samples[0].start))
    };
    record::build(
        kind::SAMPLES,
        column_bytes + 32 * windows.len() + 512,
        |root| {
            let mut it = root.init_samples();
            let rows = length(windows);
            let mut counts = it.reborrow().init_counts(rows);
            for (row, window) in (0..).zip(windows) {
                counts.set(row, u16::try_from(window.samples.len()).unwrap_or(u16::MAX));
            }
            let list =
                |of: &dyn Fn(&Window<'_>) -> u64| windows.iter().map(of).collect::<Vec<u64>>();
            let half =
                |of: &dyn Fn(&Window<'_>) -> u32| windows.iter().map(of).collect::<Vec<u32>>();
            it.set_tiles(&half(&|window| window.physical.get())[..])?;
            it.set_first_ordinals(&list(&|window| window.first_ordinal)[..])?;
            it.set_bases(&list(&|window| window.samples[0].start)[..])?;
            it.set_first_counters(&half(&counters)[..])?;
            it.set_gaps(&gaps_packed);
            it.set_durations(&durations);
            it.set_duration_coding(coding);
            it.set_steps(&steps);
            it.set_local_indices(&locals_packed);
            Ok(())
        },
    )
}

/// Zig-zag differences of the durations to the last duration of the same step, where the steps are
/// near enough to each other for a reader's table.
fn durations_by_step(windows: &[Window<'_>]) -> Option<Vec<u32>> {
    let samples = || windows.iter().flat_map(|window| window.samples);
    let first = samples().map(|sample| sample.step).min()?;
    let last = samples().map(|sample| sample.step).max()?;
    if last - first >= STEPS_NEAR {
        return None;
    }
    let mut latest = vec![0u32; (last - first) as usize + 1];
    let difference = |sample: &Pending| {
        let latest = &mut latest[(sample.step - first) as usize];
        let difference = sample.duration.wrapping_sub(*latest);
        *latest = sample.duration;
        zigzag(difference)
    };
    Some(samples().map(difference).collect())
}

/// One activity chunk and the number of its activities.
pub(crate) struct ActivityRecord {
    pub(crate) tiles: std::ops::Range<u32>,
    pub(crate) count: u64,
    pub(crate) bytes: Vec<u8>,
}

/// All pending activities of `tiles`, ascending by physical id, as records.
pub(crate) fn activity_records(tiles: &mut [&mut Tile]) -> Result<Vec<ActivityRecord>, WriteError> {
    let mut records = Vec::new();
    let mut chunk = ActivityChunk::default();
    for tile in tiles {
        let activities = std::mem::take(&mut tile.activities);
        let mut rest = &activities[..];
        for list in std::mem::take(&mut tile.lists) {
            let (these, others) = rest.split_at(list.count);
            rest = others;
            if chunk.activities.len() + these.len() > ACTIVITIES_PER_CHUNK {
                records.extend(std::mem::take(&mut chunk).record()?);
            }
            chunk.tiles.push(tile.physical.get());
            chunk.ordinals.push(list.ordinal);
            chunk.counts.push(length(these));
            chunk.activities.extend_from_slice(these);
        }
    }
    records.extend(chunk.record()?);
    Ok(records)
}

#[derive(Default)]
struct ActivityChunk {
    tiles: Vec<u32>,
    ordinals: Vec<u64>,
    counts: Vec<u32>,
    activities: Vec<ExchangeActivity>,
}

impl ActivityChunk {
    fn record(self) -> Result<Option<ActivityRecord>, WriteError> {
        let (Some(&first), Some(&last)) = (self.tiles.first(), self.tiles.last()) else {
            return Ok(None);
        };
        let mut starts = Vec::with_capacity(self.activities.len());
        let mut at = 0;
        for &count in &self.counts {
            let mut before = 0u32;
            for activity in &self.activities[at..at + count as usize] {
                starts.push(zigzag(activity.start.wrapping_sub(before)));
                before = activity.start;
            }
            at += count as usize;
        }
        let column = |of: fn(&ExchangeActivity) -> u32| -> Vec<u32> {
            self.activities.iter().map(of).collect()
        };
        let kinds = column(|it| u32::from(it.kind.to_wire()) * 2 + u32::from(it.paired));
        let lengths = column(|it| zigzag(it.end.wrapping_sub(it.start)));
        let fanouts = column(|it| it.fanout.into());
        let mut fanouts_packed = Vec::new();
        column::pack_sparse(&fanouts, &mut fanouts_packed);
        let [kinds, starts, lengths] = [packed(&kinds), packed(&starts), packed(&lengths)];
        let room = kinds.len() + starts.len() + lengths.len() + fanouts_packed.len();
        let room = room + 16 * self.counts.len() + 512;
        let bytes = record::build(kind::ACTIVITIES, room, |root| {
            let mut it = root.init_activities();
            it.set_tiles(&self.tiles[..])?;
            it.set_ordinals(&self.ordinals[..])?;
            it.set_counts(&self.counts[..])?;
            it.set_kinds(&kinds);
            it.set_starts(&starts);
            it.set_lengths(&lengths);
            it.set_fanouts(&fanouts_packed);
            Ok(())
        })?;
        let count = self.activities.len() as u64;
        Ok(Some(ActivityRecord {
            tiles: first..last + 1,
            count,
            bytes,
        }))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "raw counters keep the low bits"
)]
const fn low_half(value: u64) -> u32 {
    value as u32
}
