//! Tables under construction: equal rows once, and the rows that no record has yet.

use std::collections::HashMap;

use crate::format::column;
use crate::format::error::WriteError;
use crate::format::record::{self, kind};
use crate::format::tables::step_flag;
use crate::profile::{PhaseKey, SampleKind};
use crate::units::{MetadataSetId, StepId, StringId, Work};

/// Longest string in bytes.
const STRING_MAX: usize = 1 << 20;
/// Bytes of text in one dictionary record, at most, apart from its last string.
const TEXT_PER_RECORD: usize = 1 << 20;
/// Rows of other tables in one record.
const ROWS_PER_RECORD: usize = 16_384;
/// Metadata pairs in one record, apart from its last set.
const PAIRS_PER_RECORD: usize = 65_536;
/// Pairs of one set.
const PAIRS_MAX: usize = 65_536;

/// A step as table rows: what two equal steps have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StepKey {
    pub(crate) kind: u16,
    pub(crate) kernel: StringId,
    pub(crate) operation: StringId,
    pub(crate) place: PhaseKey,
    pub(crate) event_cycles: u32,
    pub(crate) metadata: MetadataSetId,
    pub(crate) estimate: Option<EstimateKey>,
}

/// The estimate of a [`StepKey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EstimateKey {
    pub(crate) useful: Work,
    pub(crate) physical: Work,
    pub(crate) basis: StringId,
    pub(crate) rounded: bool,
    pub(crate) in_metadata: bool,
}

/// What the trackers need to know of a step, without its tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepFacts {
    /// After `active=false` computes became idle.
    pub(crate) kind: SampleKind,
    pub(crate) kernel_row: u32,
    pub(crate) estimate: Option<(Work, Work)>,
}

/// A table of values that are compared by equality, in order of first use.
#[derive(Debug)]
struct Interned<K> {
    rows: HashMap<K, u32>,
    list: Vec<K>,
    /// Rows before this one are in records.
    written: usize,
}

impl<K> Default for Interned<K> {
    fn default() -> Self {
        Self {
            rows: HashMap::new(),
            list: Vec::new(),
            written: 0,
        }
    }
}

impl<K: Clone + Eq + std::hash::Hash> Interned<K> {
    fn row(&mut self, key: &K) -> u32 {
        if let Some(&row) = self.rows.get(key) {
            return row;
        }
        let row = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.rows.insert(key.clone(), row);
        self.list.push(key.clone());
        row
    }
}

/// All tables of a profile being written.
#[derive(Debug)]
pub(crate) struct Tables {
    strings: HashMap<Box<str>, u32>,
    text: Vec<Box<str>>,
    text_written: usize,
    kernels: Interned<StringId>,
    operations: Interned<StringId>,
    phases: Interned<PhaseKey>,
    sets: Interned<Box<[(StringId, StringId)]>>,
    steps: Interned<StepKey>,
    pub(crate) facts: Vec<StepFacts>,
    active: StringId,
    no: StringId,
}

impl Tables {
    pub(crate) fn new() -> Self {
        let mut tables = Self {
            strings: HashMap::new(),
            text: Vec::new(),
            text_written: 0,
            kernels: Interned::default(),
            operations: Interned::default(),
            phases: Interned::default(),
            sets: Interned::default(),
            steps: Interned::default(),
            facts: Vec::new(),
            active: StringId::new(0),
            no: StringId::new(0),
        };
        tables.put_string("");
        tables.active = tables.put_string("active");
        tables.no = tables.put_string("false");
        tables.sets.row(&Box::default());
        tables
    }

    pub(crate) fn string(&mut self, text: &str) -> Result<StringId, WriteError> {
        if text.len() > STRING_MAX {
            let (limit, found) = (STRING_MAX as u64, text.len() as u64);
            return Err(WriteError::StringTooLong { limit, found });
        }
        Ok(self.put_string(text))
    }

    fn put_string(&mut self, text: &str) -> StringId {
        if let Some(&id) = self.strings.get(text) {
            return StringId::new(id);
        }
        let id = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        self.strings.insert(text.into(), id);
        self.text.push(text.into());
        StringId::new(id)
    }

    pub(crate) fn metadata(
        &mut self,
        pairs: &[(StringId, StringId)],
    ) -> Result<MetadataSetId, WriteError> {
        if pairs.len() > PAIRS_MAX {
            return Err(WriteError::TooMany {
                what: "metadata pairs",
                limit: PAIRS_MAX as u64,
            });
        }
        if let Some(&row) = self.sets.rows.get(pairs) {
            return Ok(MetadataSetId::new(row));
        }
        Ok(MetadataSetId::new(self.sets.row(&pairs.into())))
    }

    pub(crate) fn step(&mut self, key: &StepKey) -> Result<StepId, WriteError> {
        let row = self.steps.row(key);
        if row as usize == self.facts.len() {
            if row == u32::MAX {
                return Err(WriteError::TooMany {
                    what: "steps",
                    limit: u32::MAX.into(),
                });
            }
            let kernel_row = self.kernels.row(&key.kernel);
            self.operations.row(&key.operation);
            self.phases.row(&key.place);
            let estimate = key.estimate.map(|it| (it.useful, it.physical));
            self.facts.push(StepFacts {
                kind: self.effective_kind(key),
                kernel_row,
                estimate,
            });
        }
        Ok(StepId::new(row))
    }

    /// As the reader decides it: the first pair named `active` rules.
    fn effective_kind(&self, key: &StepKey) -> SampleKind {
        let kind = SampleKind::from_wire(key.kind);
        let pairs = &self.sets.list[key.metadata.index()];
        let active = pairs.iter().find(|pair| pair.0 == self.active);
        let inactive = active.is_some_and(|pair| pair.1 == self.no);
        if kind == SampleKind::Compute && inactive {
            SampleKind::Idle
        } else {
            kind
        }
    }

    pub(crate) fn step_count(&self) -> u32 {
        u32::try_from(self.facts.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn text(&self, id: StringId) -> &str {
        &self.text[id.index()]
    }

    /// The next record of rows that no record has, with its kind and row count; dictionaries come
    /// before metadata sets and those before steps, so that references point back.
    pub(crate) fn next_record(&mut self) -> Result<Option<(u16, u64, Vec<u8>)>, WriteError> {
        if self.text_written < self.text.len() || self.named_rows_pending() {
            let count = self.text.len() - self.text_written;
            let bytes = self.dictionary_record()?;
            return Ok(Some((kind::DICTIONARY, count as u64, bytes)));
        }
        if self.sets.written < self.sets.list.len() {
            let before = self.sets.written;
            let bytes = self.metadata_record()?;
            return Ok(Some((
                kind::METADATA,
                (self.sets.written - before) as u64,
                bytes,
            )));
        }
        if self.steps.written < self.steps.list.len() {
            let before = self.steps.written;
            let bytes = self.steps_record()?;
            return Ok(Some((
                kind::STEPS,
                (self.steps.written - before) as u64,
                bytes,
            )));
        }
        Ok(None)
    }

    /// Has [`Self::next_record`] give all rows again, from the first.
    pub(crate) fn rewind(&mut self) {
        self.text_written = 0;
        self.kernels.written = 0;
        self.operations.written = 0;
        self.phases.written = 0;
        self.sets.written = 0;
        self.steps.written = 0;
    }

    fn named_rows_pending(&self) -> bool {
        self.kernels.written < self.kernels.list.len()
            || self.operations.written < self.operations.list.len()
            || self.phases.written < self.phases.list.len()
    }

    /// Strings first: the names and phases wait for the record in which the last string is.
    fn dictionary_record(&mut self) -> Result<Vec<u8>, WriteError> {
        let mut end = self.text_written;
        let mut bytes = 0;
        while end < self.text.len()
            && bytes < TEXT_PER_RECORD
            && end - self.text_written < ROWS_PER_RECORD
        {
            bytes += self.text[end].len() + 16;
            end += 1;
        }
        let strings = &self.text[self.text_written..end];
        let all = end == self.text.len();
        let take = |written: usize, len: usize| {
            written..if all {
                len.min(written + ROWS_PER_RECORD)
            } else {
                written
            }
        };
        let kernels = take(self.kernels.written, self.kernels.list.len());
        let operations = take(self.operations.written, self.operations.list.len());
        let phases = take(self.phases.written, self.phases.list.len());
        let room = bytes + 8 * (kernels.len() + operations.len() + phases.len()) + 256;
        let record = record::build(kind::DICTIONARY, room, |root| {
            let mut it = root.init_dictionary();
            let mut list = it.reborrow().init_strings(length(strings));
            for (row, text) in (0..).zip(strings) {
                list.set(row, &**text);
            }
            let ids = |range: &std::ops::Range<usize>, table: &Interned<StringId>| -> Vec<u32> {
                table.list[range.clone()]
                    .iter()
                    .map(|id| id.get())
                    .collect()
            };
            it.set_kernels(&ids(&kernels, &self.kernels)[..])?;
            it.set_operations(&ids(&operations, &self.operations)[..])?;
            let keys = &self.phases.list[phases.clone()];
            let mut list = it.init_phases(length(keys));
            for (row, key) in (0..).zip(keys) {
                let mut place = list.reborrow().get(row);
                place.set_phase(key.phase);
                place.set_epoch(key.epoch);
            }
            Ok(())
        })?;
        self.text_written = end;
        self.kernels.written = kernels.end;
        self.operations.written = operations.end;
        self.phases.written = phases.end;
        Ok(record)
    }

    fn metadata_record(&mut self) -> Result<Vec<u8>, WriteError> {
        let first = self.sets.written;
        let (mut end, mut pairs) = (first, 0);
        while end < self.sets.list.len()
            && pairs < PAIRS_PER_RECORD
            && end - first < ROWS_PER_RECORD
        {
            pairs += self.sets.list[end].len();
            end += 1;
        }
        let sets = &self.sets.list[first..end];
        let counts: Vec<u32> = sets.iter().map(|set| length(set)).collect();
        let flat = || sets.iter().flat_map(|set| set.iter());
        let names: Vec<u32> = flat().map(|pair| pair.0.get()).collect();
        let values: Vec<u32> = flat().map(|pair| pair.1.get()).collect();
        let room = 4 * (counts.len() + 2 * names.len()) + 256;
        let record = record::build(kind::METADATA, room, |root| {
            let mut it = root.init_metadata();
            it.set_counts(&counts[..])?;
            it.set_names(&names[..])?;
            it.set_values(&values[..])
        })?;
        self.sets.written = end;
        Ok(record)
    }

    fn steps_record(&mut self) -> Result<Vec<u8>, WriteError> {
        let first = self.steps.written;
        let end = self.steps.list.len().min(first + ROWS_PER_RECORD);
        let steps = self.steps.list[first..end].to_vec();
        let column =
            |of: &mut dyn FnMut(&StepKey) -> u32| -> Vec<u32> { steps.iter().map(of).collect() };
        let kernels = column(&mut |step| self.kernels.row(&step.kernel));
        let operations = column(&mut |step| self.operations.row(&step.operation));
        let phases = column(&mut |step| self.phases.row(&step.place));
        let events = column(&mut |step| step.event_cycles);
        let metadata = column(&mut |step| step.metadata.get());
        let bases = column(&mut |step| step.estimate.map_or(0, |it| it.basis.get()));
        let kinds: Vec<u16> = steps.iter().map(|step| step.kind).collect();
        let flags: Vec<u8> = steps.iter().map(|step| flags(step.estimate)).collect();
        let work = |of: fn(EstimateKey) -> Work| -> Vec<u64> {
            steps
                .iter()
                .map(|step| step.estimate.map_or(0, |it| of(it).get_256ths()))
                .collect()
        };
        let (useful, physical) = (work(|it| it.useful), work(|it| it.physical));
        let record = record::build(kind::STEPS, 48 * steps.len() + 256, |root| {
            let mut it = root.init_steps();
            it.set_kinds(&kinds[..])?;
            it.set_kernels(&kernels[..])?;
            it.set_operations(&operations[..])?;
            it.set_phases(&phases[..])?;
            it.set_event_cycles(&events[..])?;
            it.set_metadata(&metadata[..])?;
            it.set_flags(&flags[..])?;
            it.set_useful(&useful[..])?;
            it.set_physical(&physical[..])?;
            it.set_bases(&bases[..])
        })?;
        self.steps.written = end;
        Ok(record)
    }
}

fn flags(estimate: Option<EstimateKey>) -> u8 {
    let Some(it) = estimate else { return 0 };
    let bit = |set: bool, flag: u8| if set { flag } else { 0 };
    step_flag::ESTIMATE
        | bit(it.in_metadata, step_flag::IN_METADATA)
        | bit(it.rounded, step_flag::ROUNDED)
}

/// The length of a list that page sizes keep below 2^32.
pub(crate) fn length<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}

/// Packs a column into fresh bytes.
pub(crate) fn packed(values: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(values.len() * 2);
    column::pack(values, &mut bytes);
    bytes
}
