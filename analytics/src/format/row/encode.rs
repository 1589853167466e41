//! A report to row bytes, for tools that read only those.

use capnp::message::{self, HeapAllocator};
use capnp::serialize;

use super::estimate::{self, BASIS, PHYSICAL, USEFUL};
use crate::format::error::DecodeError;
use crate::format::profile_capnp::{cycle_sample, profile, step};
use crate::format::record::Place;
use crate::format::samples;
use crate::profile::{ChunkScratch, ExchangeActivity, ProfileReport, StepRow, TileSpan};
use crate::units::StepId;

/// Samples of a row file: each repeats its step, about 0.6 kB.
const SAMPLES_MAX: u64 = 4_000_000;
/// The schema version of files that were not row files before.
const VERSION: u32 = 5;

/// Writes a report as a row file: of the version it was read from, else of version 5.
///
/// Header fields that the row format has no place for are dropped. Estimates that were recorded
/// apart become the last metadata pairs of their step.
///
/// # Errors
/// Where a page is missing or corrupt, or there are more samples than a row file reasonably holds.
pub fn encode(report: &ProfileReport) -> Result<Vec<u8>, DecodeError> {
    let found = report.sample_count();
    if found > SAMPLES_MAX {
        let what = "samples of a row profile (use the columnar format)";
        return Err(DecodeError::Limit {
            what,
            limit: SAMPLES_MAX,
            found,
        });
    }
    let mut message = message::Builder::new(HeapAllocator::new().first_segment_words(1 << 16));
    let mut root: profile::Builder<'_> = message.init_root();
    let version = report.header().row_schema_version;
    root.set_schema_version(if (1..=VERSION).contains(&version) {
        version
    } else {
        VERSION
    });
    root.set_clock_hz(report.header().clock_hz);
    fill(report, root).map_err(|failure| match failure {
        Failure::Decode(error) => error,
        Failure::Wire(error) => Place {
            record: "row profile",
            at: 0,
        }
        .corrupt(error.to_string()),
    })?;
    Ok(serialize::write_message_to_words(&message))
}

enum Failure {
    Decode(DecodeError),
    Wire(capnp::Error),
}

impl From<DecodeError> for Failure {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}

impl From<capnp::Error> for Failure {
    fn from(error: capnp::Error) -> Self {
        Self::Wire(error)
    }
}

fn fill(report: &ProfileReport, root: profile::Builder<'_>) -> Result<(), Failure> {
    let order = report.tiles_in_file_order();
    let mut tiles = root.init_tiles(u32::try_from(order.len()).unwrap_or(u32::MAX));
    let mut places = vec![0u32; order.len()];
    for (place, &index) in (0u32..).zip(order) {
        let entry = &report.tiles()[index as usize];
        places[index as usize] = place;
        let mut tile = tiles.reborrow().get(place);
        tile.set_physical_tile(entry.tile.get());
        tile.init_samples(u32::try_from(entry.sample_count).unwrap_or(u32::MAX));
    }
    let mut scratch = ChunkScratch::new();
    let mut locals = Vec::new();
    for index in 0..report.chunks().len() {
        report.decode_chunk(index, &mut scratch)?;
        samples::local_index_differences(report, index, scratch.start.len(), &mut locals)?;
        for span in &scratch.spans {
            let tile = tiles.reborrow().get(places[span.tile as usize]);
            let list = tile.get_samples()?;
            fill_span(report, span, &scratch, &locals, list)?;
        }
    }
    Ok(())
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "raw counters and ordinals keep the low bits"
)]
fn fill_span(
    report: &ProfileReport,
    span: &TileSpan,
    scratch: &ChunkScratch,
    locals: &[u32],
    mut list: capnp::struct_list::Builder<'_, cycle_sample::Owned>,
) -> Result<(), Failure> {
    let tile = &report.tiles()[span.tile as usize];
    // Raw counters are the low half of instants that start at the tile's first counter.
    let counter_at_zero = tile
        .first_counter
        .get()
        .wrapping_sub(tile.first_start as u32);
    for (at, ordinal) in
        (span.samples.start as usize..span.samples.end as usize).zip(span.first_ordinal..)
    {
        let start = counter_at_zero.wrapping_add(scratch.start[at] as u32);
        let mut sample = list.reborrow().get(ordinal as u32);
        sample.set_start_cycle(start);
        sample.set_end_cycle(start.wrapping_add(scratch.duration[at]));
        let activities = report.activities(span.tile, ordinal)?;
        let local = (ordinal as u32).wrapping_add(locals[at]);
        let id = StepId::new(scratch.step[at]);
        fill_step(report, id, local, &activities, sample.init_step())?;
    }
    Ok(())
}

fn fill_step(
    report: &ProfileReport,
    id: StepId,
    local_index: u32,
    activities: &[ExchangeActivity],
    mut it: step::Builder<'_>,
) -> Result<(), Failure> {
    let view = report.step(id);
    let row = view.row;
    it.set_local_index(local_index);
    it.set_phase(row.place.phase);
    it.set_epoch(row.place.epoch);
    it.set_kind(row.recorded_kind.to_wire());
    it.set_exchange_event_cycles(row.event_cycles);
    it.set_operation(view.operation);
    it.set_kernel(view.kernel);
    let pairs = pairs(report, row, view.basis);
    let mut list = it
        .reborrow()
        .init_metadata(u32::try_from(pairs.len()).unwrap_or(u32::MAX));
    for (at, (name, value)) in (0..).zip(&pairs) {
        let mut pair = list.reborrow().get(at);
        pair.set_name(*name);
        pair.set_value(&**value);
    }
    let count = u32::try_from(activities.len()).unwrap_or(u32::MAX);
    let mut list = it.init_exchange_activities(count);
    for (at, activity) in (0..).zip(activities) {
        let mut entry = list.reborrow().get(at);
        entry.set_kind(activity.kind.to_wire());
        entry.set_start(activity.start);
        entry.set_end(activity.end);
        entry.set_fanout(activity.fanout);
        entry.set_paired(activity.paired);
    }
    Ok(())
}

/// The metadata of a step, followed by its estimate where that was kept apart.
fn pairs<'a>(
    report: &'a ProfileReport,
    row: &StepRow,
    basis: &'a str,
) -> Vec<(&'a str, std::borrow::Cow<'a, str>)> {
    let mut pairs: Vec<_> = report
        .metadata(row.metadata)
        .map(|(name, value)| (name, value.into()))
        .collect();
    if let Some(it) = row.estimate.filter(|estimate| !estimate.in_metadata) {
        pairs.push((USEFUL, estimate::format(it.useful).into()));
        pairs.push((PHYSICAL, estimate::format(it.physical).into()));
        if !basis.is_empty() {
            pairs.push((BASIS, basis.into()));
        }
    }
    pairs
}
