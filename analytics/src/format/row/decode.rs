//! Row bytes to columnar bytes, sample by sample.

use std::collections::{BTreeSet, HashMap};

use capnp::message::ReaderOptions;
use capnp::serialize;

use super::estimate::{self, BASIS, PHYSICAL, USEFUL};
use super::framing::Framing;
use crate::format::error::{DecodeError, WriteError};
use crate::format::profile_capnp::{metadata, profile, step};
use crate::format::record::{self, Place};
use crate::format::sniff::{FileKind, sniff};
use crate::format::write::ProfileWriter;
use crate::format::write::intern::{EstimateKey, StepKey, Tables};
use crate::profile::{ActivityKind, ExchangeActivity, Granularity, PhaseKey, ProfileHeader};
use crate::units::{MetadataSetId, PhysicalTile, RawCounter, StepId, StringId};

const PLACE: Place = Place {
    record: "row profile",
    at: 0,
};

/// Converts a row file to columnar bytes, losslessly: every field of every sample can be written
/// back by [`super::encode`].
///
/// # Errors
/// Where the bytes are no row profile of schema version 1 to 5, are cut, or contradict the format.
pub fn to_columnar(bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    convert(bytes, ProfileWriter::new)
}

/// As [`to_columnar`], for a file that may be read over a network (see
/// [`ProfileWriter::with_catalog`]).
///
/// # Errors
/// As [`to_columnar`].
pub fn to_file(bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    convert(bytes, |header| ProfileWriter::new(header).with_catalog())
}

fn convert(
    bytes: &[u8],
    writer: impl FnOnce(&ProfileHeader) -> ProfileWriter,
) -> Result<Vec<u8>, DecodeError> {
    let found = sniff(bytes);
    if found != FileKind::RowProfile {
        return Err(DecodeError::NotAProfile { found });
    }
    check_length(bytes)?;
    let aligned;
    let mut rest = if bytes.as_ptr().align_offset(8) == 0 {
        bytes
    } else {
        aligned = record::aligned(bytes::Bytes::copy_from_slice(bytes));
        &aligned[..]
    };
    let mut options = ReaderOptions::new();
    // A tree is walked once; eight times its words refuses a message that points to itself.
    options.traversal_limit_in_words(Some(bytes.len().saturating_add(8_192)));
    let message = serialize::read_message_from_flat_slice(&mut rest, options);
    let message = message.map_err(PLACE.wire())?;
    let root: profile::Reader<'_> = message.get_root().map_err(PLACE.wire())?;
    let version = root.get_schema_version();
    if !(1..=5).contains(&version) {
        return Err(DecodeError::RowVersion { version });
    }
    let writer = writer(&ProfileHeader {
        row_schema_version: version,
        clock_hz: root.get_clock_hz(),
        granularity: Granularity::Unknown,
        ..ProfileHeader::default()
    });
    let mut converter = Converter {
        writer,
        sets: HashMap::new(),
        ids: Vec::new(),
    };
    converter.tiles(root)?;
    Ok(converter.writer.finish()?)
}

fn check_length(bytes: &[u8]) -> Result<(), DecodeError> {
    let found = bytes.len() as u64;
    let needed = Framing::read(bytes).map_or(u64::MAX, |framing| framing.total_bytes());
    if found < needed {
        return Err(DecodeError::Cut {
            what: "the row profile",
            needed,
            found,
        });
    }
    if found > needed {
        let extra = found - needed;
        let place = Place {
            at: needed,
            ..PLACE
        };
        return Err(place.corrupt(format!("{extra} bytes follow the message")));
    }
    Ok(())
}

/// A list of metadata pairs.
type Pairs = Box<[(StringId, StringId)]>;

struct Converter {
    writer: ProfileWriter,
    /// What each list of metadata pairs became.
    sets: HashMap<Pairs, (MetadataSetId, Option<EstimateKey>)>,
    /// Pairs of the step being read.
    ids: Vec<(StringId, StringId)>,
}

impl Converter {
    fn tiles(&mut self, root: profile::Reader<'_>) -> Result<(), DecodeError> {
        let mut seen = BTreeSet::new();
        let mut activities = Vec::new();
        for tile in root.get_tiles().map_err(PLACE.wire())? {
            let physical = tile.get_physical_tile();
            if !seen.insert(physical) {
                return Err(PLACE.corrupt(format!("physical tile {physical} is listed twice")));
            }
            let id = PhysicalTile::new(physical);
            self.writer.begin_tile(id);
            for (ordinal, sample) in tile.get_samples().map_err(PLACE.wire())?.iter().enumerate() {
                let problem = |error: DecodeError| match error {
                    DecodeError::Corrupt { problem, .. } => PLACE.corrupt(format!(
                        "sample {ordinal} of physical tile {physical}: {problem}"
                    )),
                    other => other,
                };
                let step = sample.get_step().map_err(PLACE.wire()).map_err(problem)?;
                let step_id = self.step(step).map_err(problem)?;
                read_activities(step, &mut activities)
                    .map_err(PLACE.wire())
                    .map_err(problem)?;
                let start = RawCounter::new(sample.get_start_cycle());
                let end = RawCounter::new(sample.get_end_cycle());
                let local = Some(step.get_local_index());
                self.writer
                    .sample_indexed(id, start, end, step_id, &activities, local);
            }
        }
        Ok(())
    }

    fn step(&mut self, step: step::Reader<'_>) -> Result<StepId, DecodeError> {
        let wire = PLACE.wire();
        let metadata = step.get_metadata().map_err(wire)?;
        self.ids.clear();
        for pair in metadata {
            let pair = self.pair(pair)?;
            self.ids.push(pair);
        }
        let (metadata, estimate) = match self.sets.get(&self.ids[..]) {
            Some(&known) => known,
            None => self.set()?,
        };
        let tables = self.writer.tables();
        let key = StepKey {
            kind: step.get_kind(),
            kernel: intern(tables, step.get_kernel())?,
            operation: intern(tables, step.get_operation())?,
            place: PhaseKey {
                epoch: step.get_epoch(),
                phase: step.get_phase(),
            },
            event_cycles: step.get_exchange_event_cycles(),
            metadata,
            estimate,
        };
        Ok(tables.step(&key)?)
    }

    fn pair(&mut self, pair: metadata::Reader<'_>) -> Result<(StringId, StringId), DecodeError> {
        let tables = self.writer.tables();
        Ok((
            intern(tables, pair.get_name())?,
            intern(tables, pair.get_value())?,
        ))
    }

    /// Interns the pairs in `ids` as a metadata set, and the estimate they carry.
    fn set(&mut self) -> Result<(MetadataSetId, Option<EstimateKey>), DecodeError> {
        let tables = self.writer.tables();
        let (kept, estimate) = split_estimate(&self.ids, tables)?;
        let set = tables.metadata(&self.ids[..kept])?;
        self.sets.insert(self.ids.clone().into(), (set, estimate));
        Ok((set, estimate))
    }
}

/// How many of the pairs to keep as metadata, and the estimate.
///
/// An estimate is kept apart, as recorded ones are, where its pairs can be written back the same:
/// last in the list, in order, and in canonical decimals. Else the pairs stay where they are as
/// well.
fn split_estimate(
    pairs: &[(StringId, StringId)],
    tables: &mut Tables,
) -> Result<(usize, Option<EstimateKey>), WriteError> {
    let first = |name: &str| pairs.iter().position(|&(it, _)| tables.text(it) == name);
    let (useful_at, physical_at, basis_at) = (first(USEFUL), first(PHYSICAL), first(BASIS));
    let (Some(useful_at), Some(physical_at)) = (useful_at, physical_at) else {
        return Ok((pairs.len(), None));
    };
    let texts = [useful_at, physical_at].map(|at| tables.text(pairs[at].1));
    let [Some(useful), Some(physical)] = texts.map(estimate::parse) else {
        return Ok((pairs.len(), None));
    };
    let basis_text = basis_at
        .map_or("", |at| tables.text(pairs[at].1))
        .to_owned();
    let canonical = texts
        == [
            estimate::format(useful.work),
            estimate::format(physical.work),
        ];
    let positions: Vec<usize> = [Some(useful_at), Some(physical_at), basis_at]
        .into_iter()
        .flatten()
        .collect();
    let first_of_them = pairs.len() - positions.len();
    let apart = canonical
        && positions.into_iter().eq(first_of_them..pairs.len())
        && (basis_at.is_none() || !basis_text.is_empty());
    let key = EstimateKey {
        useful: useful.work,
        physical: physical.work,
        basis: tables.string(&basis_text)?,
        rounded: useful.rounded || physical.rounded,
        in_metadata: !apart,
    };
    Ok((if apart { first_of_them } else { pairs.len() }, Some(key)))
}

fn intern(
    tables: &mut Tables,
    text: capnp::Result<capnp::text::Reader<'_>>,
) -> Result<StringId, DecodeError> {
    let text = text.map_err(PLACE.wire())?.to_str().map_err(PLACE.text())?;
    Ok(tables.string(text)?)
}

fn read_activities(step: step::Reader<'_>, out: &mut Vec<ExchangeActivity>) -> capnp::Result<()> {
    out.clear();
    out.extend(
        step.get_exchange_activities()?
            .iter()
            .map(|it| ExchangeActivity {
                kind: ActivityKind::from_wire(it.get_kind()),
                start: it.get_start(),
                end: it.get_end(),
                fanout: it.get_fanout(),
                paired: it.get_paired(),
            }),
    );
    Ok(())
}
