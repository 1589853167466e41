//! Samples as columns: Parquet and Arrow IPC, one row a sample, sorted by tile and start.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, MapBuilder, MapFieldNames, StringBuilder, UInt32Builder,
    UInt64Builder,
};
use arrow_array::types::UInt32Type;
use arrow_array::{Array as _, ArrayRef, DictionaryArray, RecordBatch, StringArray, UInt32Array};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Metadata, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::ExportError;
use super::select::{Selected, Slice};
use crate::order;
use crate::profile::SampleKind;
use crate::units::StringId;

/// Rows of one record batch, about.
const BATCH: usize = 1 << 17;
/// Rows of one Parquet row group.
const ROW_GROUP: usize = 1 << 20;
/// Kinds by wire value; unknown ones come last.
pub(super) const KINDS: [&str; 5] = ["exchange", "compute", "synchronization", "idle", "unknown"];

impl From<ArrowError> for ExportError {
    fn from(error: ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, error) => Self::Write(error),
            other => Self::Encode(other.to_string()),
        }
    }
}

impl From<ParquetError> for ExportError {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(error) => match error.downcast::<std::io::Error>() {
                Ok(error) => Self::Write(*error),
                Err(other) => Self::Encode(other.to_string()),
            },
            other => Self::Encode(other.to_string()),
        }
    }
}

/// Writes a Parquet file.
pub(super) fn parquet(
    selected: &Selected<'_>,
    out: &mut (dyn Write + Send),
) -> Result<(), ExportError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .build();
    let schema = Arc::new(schema(selected));
    let mut writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties))?;
    for_each_batch(selected, &schema, |batch| Ok(writer.write(&batch)?))?;
    writer.close()?;
    Ok(())
}

/// Writes an Arrow IPC file.
pub(super) fn arrow(
    selected: &Selected<'_>,
    out: &mut (dyn Write + Send),
) -> Result<(), ExportError> {
    let schema = Arc::new(schema(selected));
    let mut writer = FileWriter::try_new_buffered(out, &schema)?;
    for_each_batch(selected, &schema, |batch| Ok(writer.write(&batch)?))?;
    writer.finish()?;
    Ok(())
}

fn schema(selected: &Selected<'_>) -> Schema {
    let text = || DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8));
    let header = selected.report.header();
    let notes = [
        ("clock", selected.frame.kind().name().to_owned()),
        ("clockHz", header.clock_hz.to_string()),
        ("granularity", header.granularity.name().to_owned()),
        ("schema", "ipu-stack/samples/1".to_owned()),
    ];
    let notes = notes
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    let warnings = selected.report.warnings();
    let warnings = warnings.into_iter().map(|it| ("warning".to_owned(), it));
    let provenance = header.provenance.iter().cloned();
    Schema::new(vec![
        Field::new("tile", DataType::UInt32, false),
        Field::new("start", DataType::UInt64, false),
        Field::new("cycles", DataType::UInt64, false),
        Field::new("kind", text(), false),
        Field::new("kernel", text(), false),
        Field::new("operation", text(), false),
        Field::new("phase", DataType::UInt32, false),
        Field::new("epoch", DataType::UInt32, false),
        Field::new("cut", DataType::Boolean, false),
        Field::new("usefulCycles", DataType::Float64, true),
        Field::new("physicalWorkCycles", DataType::Float64, true),
        Field::new("workEstimateBasis", text(), true),
        Field::new("metadata", pairs().finish().data_type().clone(), false),
    ])
    .with_metadata(
        provenance
            .chain(notes)
            .chain(warnings)
            .collect::<Metadata>(),
    )
}

/// Pairs of text by row, under the names that Parquet has for maps.
type Pairs = MapBuilder<StringBuilder, StringBuilder>;

fn pairs() -> Pairs {
    let [entry, key, value] = ["key_value", "key", "value"].map(str::to_owned);
    let names = MapFieldNames { entry, key, value };
    MapBuilder::new(Some(names), StringBuilder::new(), StringBuilder::new())
}

/// Columns under construction.
struct Columns {
    tile: UInt32Builder,
    start: UInt64Builder,
    cycles: UInt64Builder,
    kind: UInt32Builder,
    kernel: UInt32Builder,
    operation: UInt32Builder,
    phase: UInt32Builder,
    epoch: UInt32Builder,
    cut: BooleanBuilder,
    useful: Float64Builder,
    physical: Float64Builder,
    basis: UInt32Builder,
    metadata: Pairs,
    rows: usize,
}

impl Default for Columns {
    fn default() -> Self {
        Self {
            tile: UInt32Builder::new(),
            start: UInt64Builder::new(),
            cycles: UInt64Builder::new(),
            kind: UInt32Builder::new(),
            kernel: UInt32Builder::new(),
            operation: UInt32Builder::new(),
            phase: UInt32Builder::new(),
            epoch: UInt32Builder::new(),
            cut: BooleanBuilder::new(),
            useful: Float64Builder::new(),
            physical: Float64Builder::new(),
            basis: UInt32Builder::new(),
            metadata: pairs(),
            rows: 0,
        }
    }
}

impl Columns {
    fn add(
        &mut self,
        selected: &Selected<'_>,
        names: &Dictionaries,
        tile: u32,
        slice: &Slice,
    ) -> Result<(), ExportError> {
        let step = selected.step(slice);
        let estimate = step.estimate.filter(|_| !slice.cut);
        self.tile.append_value(tile);
        self.start.append_value(slice.start);
        self.cycles.append_value(slice.cycles());
        self.kind.append_value(kind_key(step.kind));
        self.kernel.append_value(step.kernel_row);
        self.operation.append_value(step.operation_row);
        self.phase.append_value(step.place.phase);
        self.epoch.append_value(step.place.epoch);
        self.cut.append_value(slice.cut);
        self.useful
            .append_option(estimate.map(|it| it.useful.as_cycles()));
        self.physical
            .append_option(estimate.map(|it| it.physical.as_cycles()));
        self.basis
            .append_option(estimate.map(|it| names.basis_keys[&it.basis]));
        for (name, value) in selected.metadata(step) {
            self.metadata.keys().append_value(name);
            self.metadata.values().append_value(value);
        }
        self.metadata.append(true)?;
        self.rows += 1;
        Ok(())
    }

    fn finish(
        &mut self,
        schema: &Arc<Schema>,
        names: &Dictionaries,
    ) -> Result<RecordBatch, ExportError> {
        self.rows = 0;
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.tile.finish()),
            Arc::new(self.start.finish()),
            Arc::new(self.cycles.finish()),
            coded(self.kind.finish(), &names.kinds)?,
            coded(self.kernel.finish(), &names.kernels)?,
            coded(self.operation.finish(), &names.operations)?,
            Arc::new(self.phase.finish()),
            Arc::new(self.epoch.finish()),
            Arc::new(self.cut.finish()),
            Arc::new(self.useful.finish()),
            Arc::new(self.physical.finish()),
            coded(self.basis.finish(), &names.bases)?,
            Arc::new(self.metadata.finish()),
        ];
        Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
    }
}

/// Position of a kind in [`KINDS`].
pub(super) const fn kind_key(kind: SampleKind) -> u32 {
    match kind {
        SampleKind::Exchange => 0,
        SampleKind::Compute => 1,
        SampleKind::Synchronization => 2,
        SampleKind::Idle => 3,
        SampleKind::Unknown(_) => 4,
    }
}

fn coded(keys: UInt32Array, values: &Arc<StringArray>) -> Result<ArrayRef, ExportError> {
    let values = Arc::<StringArray>::clone(values);
    Ok(Arc::new(DictionaryArray::<UInt32Type>::try_new(
        keys, values,
    )?))
}

/// The texts that columns refer to by row.
struct Dictionaries {
    kinds: Arc<StringArray>,
    kernels: Arc<StringArray>,
    operations: Arc<StringArray>,
    bases: Arc<StringArray>,
    /// Row of each basis in `bases`.
    basis_keys: BTreeMap<StringId, u32>,
}

impl Dictionaries {
    fn new(selected: &Selected<'_>) -> Self {
        let report = selected.report;
        let texts = |ids: &[StringId]| {
            let texts = ids.iter().map(|&id| Some(report.string(id)));
            Arc::new(texts.collect::<StringArray>())
        };
        let steps = report.steps().iter();
        let bases = order::set(steps.filter_map(|step| Some(step.estimate?.basis)));
        let bases: Vec<StringId> = bases.into_iter().collect();
        Self {
            bases: texts(&bases),
            basis_keys: order::map(bases.into_iter().zip(0..)),
            kinds: Arc::new(KINDS.into_iter().map(Some).collect()),
            kernels: texts(report.kernels()),
            operations: texts(report.operations()),
        }
    }
}

fn for_each_batch(
    selected: &Selected<'_>,
    schema: &Arc<Schema>,
    mut visit: impl FnMut(RecordBatch) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let names = Dictionaries::new(selected);
    let mut columns = Columns::default();
    selected.for_each_tile(|tile, slices| {
        let physical = selected.report.tiles()[tile as usize].tile.get();
        for slice in slices.iter() {
            columns.add(selected, &names, physical, slice)?;
            if columns.rows >= BATCH {
                visit(columns.finish(schema, &names)?)?;
            }
        }
        Ok(())
    })?;
    if columns.rows > 0 {
        visit(columns.finish(schema, &names)?)?;
    }
    Ok(())
}
