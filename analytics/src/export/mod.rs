//! Samples for other tools: a report and a selection in, bytes in their format out.
//!
//! What is exported is what a query counts: samples of non-zero length on the clock in force. Those
//! that touch the range are exported whole. Tables (Parquet, Arrow, CSV) have one row a sample;
//! timelines (Perfetto, Chrome, speedscope, Firefox) one slice, in lanes in which slices nest, so
//! that no viewer drops one.

mod chrome;
mod csv;
mod firefox;
mod guard;
mod lanes;
mod perfetto;
mod select;
mod speedscope;
mod table;

use std::io::Write;

use crate::clock::ClockKind;
use crate::format::DecodeError;
use crate::profile::ProfileReport;
use crate::units::PhysicalTile;
use select::Selected;

/// A format of another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// Apache Parquet, for query engines.
    Parquet,
    /// Arrow IPC file, for data frames.
    Arrow,
    /// Comma-separated values with a header.
    Csv,
    /// Perfetto's protobuf trace.
    Perfetto,
    /// Chrome's trace event JSON.
    ChromeJson,
    /// speedscope's evented JSON.
    Speedscope,
    /// Firefox Profiler's processed profile.
    Firefox,
}

impl ExportFormat {
    /// Every format, in the order of help texts.
    pub const ALL: [Self; 7] = [
        Self::Parquet,
        Self::Arrow,
        Self::Csv,
        Self::Perfetto,
        Self::ChromeJson,
        Self::Speedscope,
        Self::Firefox,
    ];

    /// The name in flags.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Csv => "csv",
            Self::Perfetto => "perfetto",
            Self::ChromeJson => "chrome-json",
            Self::Speedscope => "speedscope",
            Self::Firefox => "firefox",
        }
    }

    /// The format with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// What one unit of time of a timeline format stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeUnit {
    /// One cycle, exactly, whatever the format calls its unit.
    #[default]
    Cycles,
    /// Real time at the tile clock, rounded down to nanoseconds.
    Clock,
}

/// What to export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportOptions {
    /// Physical tiles; empty is all.
    pub tiles: Vec<PhysicalTile>,
    /// Cycles on `clock` that a sample must touch, from the first to before the second; `None` is
    /// all.
    pub range: Option<(u64, u64)>,
    /// The clock of offsets.
    pub clock: ClockKind,
    /// The unit of timelines.
    pub time: TimeUnit,
    /// Largest output in bytes, estimated before anything is written; `None` is the format's own
    /// limit.
    pub max_bytes: Option<u64>,
}

/// What was exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Samples in the output.
    pub samples: u64,
    /// Samples of the profile that are in the selected tiles and range, those of no length too.
    pub selected: u64,
    /// All samples of the profile.
    pub total: u64,
}

/// An export that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// Samples cannot be decoded: the profile's fault.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The output cannot be written.
    #[error("cannot write: {0}")]
    Write(#[from] std::io::Error),
    /// The encoder of a table format refused.
    #[error("cannot encode: {0}")]
    Encode(String),
    /// The tools that read the format would choke on the output.
    #[error(
        "{samples} samples would take about {estimate} bytes as {format}, more than {limit}: \
         choose tiles or a range, or allow more bytes"
    )]
    TooLarge {
        /// Samples that would be exported.
        samples: u64,
        /// Estimated bytes.
        estimate: u64,
        /// Bytes that are allowed.
        limit: u64,
        /// The format.
        format: &'static str,
    },
    /// The tool that reads the format hangs on so many tracks.
    #[error("{tiles} tiles are more than the {limit} that {format} shows: choose tiles")]
    TooManyTiles {
        /// Tiles that would be exported.
        tiles: u64,
        /// Tiles that are allowed.
        limit: u64,
        /// The format.
        format: &'static str,
    },
    /// Real time was asked for, but the profile does not know its clock.
    #[error("the profile does not know its clock: export cycles instead of time")]
    ClockUnknown,
    /// A tile was asked for that was not profiled.
    #[error("tile {0} was not profiled")]
    NoSuchTile(PhysicalTile),
}

/// Exports the selected samples of `report` to `out`.
///
/// # Errors
/// Where a chunk cannot be decoded, the output cannot be written or would be too large, or the
/// options name a tile or a unit that the profile does not have.
pub fn export(
    report: &ProfileReport,
    format: ExportFormat,
    options: &ExportOptions,
    out: &mut (dyn Write + Send),
) -> Result<Exported, ExportError> {
    let selected = Selected::new(report, options)?;
    let counted = selected.count()?;
    guard::check(format, options, &selected, counted.samples)?;
    match format {
        ExportFormat::Parquet => table::parquet(&selected, out)?,
        ExportFormat::Arrow => table::arrow(&selected, out)?,
        ExportFormat::Csv => csv::write(&selected, out)?,
        ExportFormat::Perfetto => perfetto::write(&selected, out)?,
        ExportFormat::ChromeJson => chrome::write(&selected, out)?,
        ExportFormat::Speedscope => speedscope::write(&selected, out)?,
        ExportFormat::Firefox => firefox::write(&selected, out)?,
    }
    Ok(counted)
}
