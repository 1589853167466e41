//! Records other than chunks, index and trailer: the tables that samples refer to.
//!
//! Rows are appended record by record; a reference to a row that no earlier record has is corrupt.

use super::column;
use super::error::DecodeError;
use super::profile_capnp::{
    dictionary, ending, header, kernel_summary, metadata_page, overview, record as body, step_page,
    summary,
};
use super::record::{Place, Record};
use crate::profile::{
    Ending, EstimateRow, Granularity, KernelSummary, MetadataTable, Overview, PhaseKey,
    ProfileHeader, SampleKind, StepRow, StringTable, Summary,
};
use crate::units::{Cycles, MetadataSetId, PhysicalTile, StringId, Work};

/// Cells of an overview, at most: a screen of 4,096 columns on 1,472 tiles.
const CELLS_MAX: u64 = 4_096 * 1_472;

/// Flags of a step row.
pub(crate) mod step_flag {
    pub(crate) const ESTIMATE: u8 = 1;
    pub(crate) const IN_METADATA: u8 = 2;
    pub(crate) const ROUNDED: u8 = 4;
}

/// The tables read so far.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(crate) header: Option<ProfileHeader>,
    pub(crate) strings: StringTable,
    pub(crate) kernels: Vec<StringId>,
    pub(crate) operations: Vec<StringId>,
    pub(crate) phases: Vec<PhaseKey>,
    pub(crate) metadata: MetadataTable,
    pub(crate) steps: Vec<StepRow>,
    pub(crate) overview: Option<Overview>,
    pub(crate) summary: Option<Summary>,
    pub(crate) ending: Option<Ending>,
}

impl Tables {
    /// Appends the rows of one record; records of other kinds are skipped.
    pub(crate) fn apply(&mut self, record: &Record<'_>) -> Result<(), DecodeError> {
        let place = record.place;
        let wire = place.wire();
        match record.which()? {
            Some(body::Header(it)) => self.apply_header(it.map_err(wire)?, place),
            Some(body::Dictionary(it)) => self.apply_dictionary(it.map_err(wire)?, place),
            Some(body::Metadata(it)) => self.apply_metadata(it.map_err(wire)?, place),
            Some(body::Steps(it)) => self.apply_steps(it.map_err(wire)?, place),
            Some(body::Overview(it)) => self.apply_overview(it.map_err(wire)?, place),
            Some(body::Summary(it)) => self.apply_summary(it.map_err(wire)?, place),
            Some(body::Ending(it)) => self.apply_ending(it.map_err(wire)?, place),
            _ => Ok(()),
        }
    }

    fn apply_header(&mut self, it: header::Reader<'_>, place: Place) -> Result<(), DecodeError> {
        let text = |it: capnp::Result<capnp::text::Reader<'_>>| {
            it.map_err(place.wire())?.to_string().map_err(place.text())
        };
        let pairs = it.get_provenance().map_err(place.wire())?;
        let provenance = pairs
            .iter()
            .map(|pair| Ok((text(pair.get_name())?, text(pair.get_value())?)));
        self.header = Some(ProfileHeader {
            row_schema_version: it.get_row_schema_version(),
            clock_hz: it.get_clock_hz(),
            granularity: granularity_from_wire(it.get_granularity()),
            target: text(it.get_target())?,
            simulated: match it.get_simulated() {
                1 => Some(false),
                2 => Some(true),
                _ => None,
            },
            seed: it.get_has_seed().then(|| it.get_seed()),
            provenance: provenance.collect::<Result<_, DecodeError>>()?,
        });
        Ok(())
    }

    fn apply_dictionary(
        &mut self,
        it: dictionary::Reader<'_>,
        place: Place,
    ) -> Result<(), DecodeError> {
        for text in it.get_strings().map_err(place.wire())? {
            let text = text.map_err(place.wire())?;
            self.strings.push(text.to_str().map_err(place.text())?);
        }
        for id in it.get_kernels().map_err(place.wire())? {
            self.kernels.push(self.string(id, place)?);
        }
        for id in it.get_operations().map_err(place.wire())? {
            self.operations.push(self.string(id, place)?);
        }
        for key in it.get_phases().map_err(place.wire())? {
            self.phases.push(PhaseKey {
                epoch: key.get_epoch(),
                phase: key.get_phase(),
            });
        }
        Ok(())
    }

    fn apply_metadata(
        &mut self,
        it: metadata_page::Reader<'_>,
        place: Place,
    ) -> Result<(), DecodeError> {
        let names = it.get_names().map_err(place.wire())?;
        let values = it.get_values().map_err(place.wire())?;
        let mut pairs = names.iter().zip(values.iter());
        for count in it.get_counts().map_err(place.wire())? {
            let mut set = Vec::new();
            for _ in 0..count {
                let pair = pairs
                    .next()
                    .ok_or_else(|| place.corrupt("a set passes its pairs"))?;
                set.push((self.string(pair.0, place)?, self.string(pair.1, place)?));
            }
            self.metadata.push(set);
        }
        Ok(())
    }

    fn apply_steps(&mut self, it: step_page::Reader<'_>, place: Place) -> Result<(), DecodeError> {
        let wire = place.wire();
        let kinds = it.get_kinds().map_err(wire)?;
        let [kernels, operations, phases, events, sets, bases] = [
            it.get_kernels().map_err(wire)?,
            it.get_operations().map_err(wire)?,
            it.get_phases().map_err(wire)?,
            it.get_event_cycles().map_err(wire)?,
            it.get_metadata().map_err(wire)?,
            it.get_bases().map_err(wire)?,
        ];
        let flags = it.get_flags().map_err(wire)?;
        let (useful, physical) = (
            it.get_useful().map_err(wire)?,
            it.get_physical().map_err(wire)?,
        );
        let lists = [kernels, operations, phases, events, sets, bases].map(|list| list.len());
        let rows = kinds.len();
        if lists != [rows; 6] || [flags.len(), useful.len(), physical.len()] != [rows; 3] {
            return Err(place.corrupt("its lists have different lengths"));
        }
        self.steps.reserve(rows as usize);
        for row in 0..rows {
            let estimate = EstimateRow {
                useful: Work::from_256ths(useful.get(row)),
                physical: Work::from_256ths(physical.get(row)),
                basis: self.string(bases.get(row), place)?,
                rounded: flags.get(row) & step_flag::ROUNDED != 0,
                in_metadata: flags.get(row) & step_flag::IN_METADATA != 0,
            };
            let (kernel_row, operation_row) = (kernels.get(row), operations.get(row));
            let phase_row = phases.get(row);
            let metadata = MetadataSetId::new(sets.get(row));
            let missing = || place.corrupt("a step refers to a row that was not written");
            if metadata.index() >= self.metadata.len() {
                return Err(missing());
            }
            let recorded_kind = SampleKind::from_wire(kinds.get(row));
            self.steps.push(StepRow {
                kind: self.effective_kind(recorded_kind, metadata),
                recorded_kind,
                kernel: *self.kernels.get(kernel_row as usize).ok_or_else(missing)?,
                kernel_row,
                operation: *self
                    .operations
                    .get(operation_row as usize)
                    .ok_or_else(missing)?,
                operation_row,
                place: *self.phases.get(phase_row as usize).ok_or_else(missing)?,
                phase_row,
                event_cycles: events.get(row),
                metadata,
                estimate: (flags.get(row) & step_flag::ESTIMATE != 0).then_some(estimate),
            });
        }
        Ok(())
    }

    /// Computes with `active=false` are idle: decided here, once, for everyone.
    fn effective_kind(&self, recorded: SampleKind, metadata: MetadataSetId) -> SampleKind {
        let pairs = self.metadata.get(metadata);
        let text = |id| self.strings.get(id);
        let first = pairs.iter().find(|&&(name, _)| text(name) == "active");
        match (recorded, first) {
            (SampleKind::Compute, Some(&(_, value))) if text(value) == "false" => SampleKind::Idle,
            _ => recorded,
        }
    }

    fn apply_overview(
        &mut self,
        it: overview::Reader<'_>,
        place: Place,
    ) -> Result<(), DecodeError> {
        let (rows, columns) = (it.get_rows(), it.get_columns());
        let cells = u64::from(rows) * u64::from(columns);
        if cells > CELLS_MAX {
            let limit = CELLS_MAX;
            return Err(DecodeError::Limit {
                what: "overview cells",
                limit,
                found: cells,
            });
        }
        let cells = usize::try_from(cells).unwrap_or(usize::MAX);
        let [mut kinds, mut kernels, mut busy] = [const { Vec::new() }; 3];
        let layout = |problem: &'static str| place.corrupt(problem);
        for (packed, out) in [
            (it.get_kinds(), &mut kinds),
            (it.get_kernels(), &mut kernels),
            (it.get_busy(), &mut busy),
        ] {
            column::unpack(packed.map_err(place.wire())?, cells, out).map_err(layout)?;
        }
        if kernels
            .iter()
            .any(|&kernel| kernel as usize > self.kernels.len())
        {
            return Err(place.corrupt("a cell names a kernel that was not written"));
        }
        let byte = |value: &u32| u8::try_from(*value).unwrap_or(u8::MAX);
        self.overview = Some(Overview {
            first_cycle: it.get_first_cycle(),
            cell_cycles: it.get_cell_cycles().max(1),
            columns,
            rows,
            kinds: kinds.iter().map(byte).collect(),
            kernels,
            busy: busy.iter().map(byte).collect(),
        });
        Ok(())
    }

    fn apply_summary(&mut self, it: summary::Reader<'_>, place: Place) -> Result<(), DecodeError> {
        let rows = it.get_rows().map_err(place.wire())?;
        let rows = rows.iter().map(|row| self.kernel_summary(row, place));
        self.summary = Some(Summary {
            sample_count: it.get_sample_count(),
            tile_count: it.get_tile_count(),
            crop: Cycles::new(it.get_crop_cycles()),
            span: Cycles::new(it.get_span_cycles()),
            rows: rows.collect::<Result<_, _>>()?,
        });
        Ok(())
    }

    fn kernel_summary(
        &self,
        it: kernel_summary::Reader<'_>,
        place: Place,
    ) -> Result<KernelSummary, DecodeError> {
        let kernel = self.kernels.get(it.get_kernel() as usize);
        let kernel = kernel.ok_or_else(|| place.corrupt("a row names no kernel"))?;
        Ok(KernelSummary {
            kernel: *kernel,
            kind: SampleKind::from_wire(it.get_kind()),
            tile_count: it.get_tile_count(),
            sample_count: it.get_sample_count(),
            work_cycles: Cycles::new(it.get_work_cycles()),
            covered_cycles: Cycles::new(it.get_covered_cycles()),
            useful: Work::from_256ths(it.get_useful()),
            physical: Work::from_256ths(it.get_physical()),
            p50_cycles: Cycles::new(it.get_p50_cycles().into()),
            p95_cycles: Cycles::new(it.get_p95_cycles().into()),
            maximum_cycles: Cycles::new(it.get_maximum_cycles().into()),
            timeline_cycles: Cycles::new(it.get_timeline_cycles()),
        })
    }

    fn apply_ending(&mut self, it: ending::Reader<'_>, place: Place) -> Result<(), DecodeError> {
        let text = |it: capnp::Result<capnp::text::Reader<'_>>| {
            it.map_err(place.wire())?.to_string().map_err(place.text())
        };
        self.ending = Some(Ending {
            rule: text(it.get_rule())?,
            message: text(it.get_message())?,
            tile: PhysicalTile::new(it.get_tile()),
            count: it.get_count(),
        });
        Ok(())
    }

    /// Whether another set of tables has the same rows, those of overview and sums aside.
    pub(crate) fn has_rows_of(&self, other: &Self) -> bool {
        self.strings == other.strings
            && self.kernels == other.kernels
            && self.operations == other.operations
            && self.phases == other.phases
            && self.metadata == other.metadata
            && self.steps == other.steps
    }

    fn string(&self, id: u32, place: Place) -> Result<StringId, DecodeError> {
        if (id as usize) < self.strings.len() {
            return Ok(StringId::new(id));
        }
        Err(place.corrupt(format!("string {id} was not written")))
    }
}

const fn granularity_from_wire(value: u16) -> Granularity {
    match value {
        1 => Granularity::Graph,
        2 => Granularity::Region,
        3 => Granularity::Phase,
        4 => Granularity::Step,
        _ => Granularity::Unknown,
    }
}

/// The wire value of a granularity.
pub(crate) const fn granularity_to_wire(value: Granularity) -> u16 {
    match value {
        Granularity::Unknown => 0,
        Granularity::Graph => 1,
        Granularity::Region => 2,
        Granularity::Phase => 3,
        Granularity::Step => 4,
    }
}
