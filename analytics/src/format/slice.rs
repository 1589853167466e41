//! Some tiles and cycles of a report as a columnar file of their own.
//!
//! Samples that touch the range are kept whole, with their counters, steps and transfers, so no
//! figure of a kept sample changes. The clocks of the new file start anew: its cropped clock at the
//! latest first sample that was kept.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

use super::error::{DecodeError, WriteError};
use super::write::ProfileWriter;
use super::write::intern::{EstimateKey, StepKey};
use crate::clock::{ClockKind, Frame};
use crate::profile::{
    CUT_FROM_TRUNCATED, Condition, ExchangeActivity, ProfileHeader, ProfileReport, Sample,
};
use crate::units::{Cycles, MetadataSetId, PhysicalTile, StepId, StringId};

/// What to keep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SliceOptions {
    /// Physical tiles; empty is all.
    pub tiles: Vec<PhysicalTile>,
    /// Cycles on `clock` that a sample must touch, from the first to before the second; `None` is
    /// all.
    pub range: Option<(u64, u64)>,
    /// The clock of the range.
    pub clock: ClockKind,
}

/// A slice that cannot be cut.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SliceError {
    /// Samples cannot be decoded: the profile's fault.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The slice cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A tile was asked for that was not profiled.
    #[error("tile {0} was not profiled")]
    NoSuchTile(PhysicalTile),
    /// Nothing is left.
    #[error("no sample touches the range on the chosen tiles")]
    Empty,
}

/// Cuts the chosen tiles and cycles of `report` into a columnar file.
///
/// # Errors
/// Where a chunk cannot be decoded, a chosen tile was not profiled, or no sample is left.
pub fn slice(report: &ProfileReport, options: &SliceOptions) -> Result<Vec<u8>, SliceError> {
    let cut = Cut::new(report, options)?;
    let kept = cut.ordinals()?;
    if kept.is_empty() {
        return Err(SliceError::Empty);
    }
    let activities = cut.activities(&kept)?;
    let mut writer = ProfileWriter::new(&header(report, options, cut.tiles.len())).with_catalog();
    if let Some(ending) = report.ending() {
        writer.end(ending);
    }
    for &tile in report.tiles_in_file_order() {
        let entry = &report.tiles()[tile as usize];
        if cut.tiles.contains(&entry.tile) {
            writer.begin_tile(entry.tile);
        }
    }
    let mut steps = Steps {
        report,
        known: vec![None; report.steps().len()],
        sets: HashMap::new(),
        strings: HashMap::new(),
    };
    let mut failure: Option<WriteError> = None;
    report.visit_samples(|sample| {
        if failure.is_some() || !cut.keeps(sample) {
            return;
        }
        match steps.id(&mut writer, sample.step) {
            Ok(step) => {
                let entry = &report.tiles()[sample.tile as usize];
                let since_first = Cycles::new(sample.start.wrapping_sub(entry.first_start));
                let start = entry.first_counter.after(since_first);
                let end = start.after(Cycles::new(sample.duration.into()));
                let own = activities.get(&(sample.tile, sample.ordinal));
                let own = own.map_or(&[][..], Vec::as_slice);
                writer.sample(entry.tile, start, end, step, own);
            }
            Err(error) => failure = Some(error),
        }
    })?;
    match failure {
        Some(error) => Err(error.into()),
        None => Ok(writer.finish()?),
    }
}

/// Transfers by tile index and ordinal.
type Activities = BTreeMap<(u32, u64), Vec<ExchangeActivity>>;
/// Ordinals of the first and last sample kept, by tile index.
type Kept = BTreeMap<u32, RangeInclusive<u64>>;

struct Cut<'a> {
    report: &'a ProfileReport,
    frame: Frame,
    tiles: Vec<PhysicalTile>,
    is_kept: Vec<bool>,
    range: Option<(u64, u64)>,
}

impl<'a> Cut<'a> {
    fn new(report: &'a ProfileReport, options: &SliceOptions) -> Result<Self, SliceError> {
        let all = report.tiles().iter().map(|entry| entry.tile);
        let mut is_kept = vec![options.tiles.is_empty(); report.tiles().len()];
        for &tile in &options.tiles {
            let at = report
                .tile_index(tile)
                .ok_or(SliceError::NoSuchTile(tile))?;
            is_kept[at as usize] = true;
        }
        let kept = all.zip(&is_kept).filter(|(_, kept)| **kept);
        Ok(Self {
            report,
            frame: Frame::new(report, options.clock),
            tiles: kept.map(|(tile, _)| tile).collect(),
            is_kept,
            range: options.range,
        })
    }

    fn keeps(&self, sample: &Sample) -> bool {
        let origin = self
            .frame
            .origin(&self.report.tiles()[sample.tile as usize]);
        let touches = |(from, to): (u64, u64)| {
            let (from, to) = (origin.saturating_add(from), origin.saturating_add(to));
            // One of no length touches the cycle it is at.
            sample.start < to && sample.end().max(sample.start + 1) > from
        };
        self.is_kept[sample.tile as usize] && self.range.is_none_or(touches)
    }

    fn ordinals(&self) -> Result<Kept, DecodeError> {
        let mut kept = Kept::new();
        self.report.visit_samples(|sample| {
            if self.keeps(sample) {
                let range = kept
                    .entry(sample.tile)
                    .or_insert(sample.ordinal..=sample.ordinal);
                *range = *range.start()..=sample.ordinal;
            }
        })?;
        Ok(kept)
    }

    fn activities(&self, kept: &Kept) -> Result<Activities, DecodeError> {
        let mut found = Activities::new();
        self.report.visit_activities(&mut |tile, ordinal, list| {
            if kept
                .get(&tile)
                .is_some_and(|range| range.contains(&ordinal))
            {
                found.insert((tile, ordinal), list.to_vec());
            }
        })?;
        Ok(found)
    }
}

fn header(report: &ProfileReport, options: &SliceOptions, tiles: usize) -> ProfileHeader {
    let mut header = report.header().clone();
    let mut note = |name: &str, value: String| header.provenance.push((name.to_owned(), value));
    if let Some((from, to)) = options.range {
        let clock = options.clock.name();
        note("slice_range", format!("{from}..{to} on the {clock} clock"));
    }
    note(
        "slice_tiles",
        format!("{tiles} of {}", report.tiles().len()),
    );
    if let Condition::Truncated { at } = report.condition() {
        note(CUT_FROM_TRUNCATED, at.to_string());
    }
    header
}

/// Steps of the report as steps of the slice.
struct Steps<'a> {
    report: &'a ProfileReport,
    known: Vec<Option<StepId>>,
    sets: HashMap<MetadataSetId, MetadataSetId>,
    strings: HashMap<StringId, StringId>,
}

impl Steps<'_> {
    fn id(&mut self, writer: &mut ProfileWriter, step: u32) -> Result<StepId, WriteError> {
        if let Some(known) = self.known[step as usize] {
            return Ok(known);
        }
        let row = self.report.steps()[step as usize];
        let estimate = match row.estimate {
            Some(it) => Some(EstimateKey {
                useful: it.useful,
                physical: it.physical,
                basis: self.string(writer, it.basis)?,
                rounded: it.rounded,
                in_metadata: it.in_metadata,
            }),
            None => None,
        };
        let key = StepKey {
            kind: row.recorded_kind.to_wire(),
            kernel: self.string(writer, row.kernel)?,
            operation: self.string(writer, row.operation)?,
            place: row.place,
            event_cycles: row.event_cycles,
            metadata: self.set(writer, row.metadata)?,
            estimate,
        };
        let id = writer.tables().step(&key)?;
        self.known[step as usize] = Some(id);
        Ok(id)
    }

    fn string(&mut self, writer: &mut ProfileWriter, id: StringId) -> Result<StringId, WriteError> {
        if let Some(&known) = self.strings.get(&id) {
            return Ok(known);
        }
        let written = writer.tables().string(self.report.string(id))?;
        self.strings.insert(id, written);
        Ok(written)
    }

    fn set(
        &mut self,
        writer: &mut ProfileWriter,
        id: MetadataSetId,
    ) -> Result<MetadataSetId, WriteError> {
        if let Some(&known) = self.sets.get(&id) {
            return Ok(known);
        }
        let mut pairs = Vec::new();
        for &(name, value) in self.report.metadata_ids(id) {
            pairs.push((self.string(writer, name)?, self.string(writer, value)?));
        }
        let written = writer.tables().metadata(&pairs)?;
        self.sets.insert(id, written);
        Ok(written)
    }
}
