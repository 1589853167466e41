//! Exchange problems as files: what `ipu-stack schedule-bench` reads, runs and reports.

use analytics::units::TileId;
use runtime::package::model::Address;
use serde::Deserialize;

use super::transfer::Transfer;

/// One exchange of a problem file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProblemPhase {
    /// Phase number in the file.
    pub phase: u32,
    /// Its transfers in program order.
    pub transfers: Vec<Transfer>,
}

/// A problem file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Logical tiles.
    pub tiles: u16,
    /// Its exchanges.
    pub phases: Vec<ProblemPhase>,
}

/// Why a problem file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// Not JSON, or not of the expected shape.
    #[error("not an exchange problem: {0}")]
    Json(#[from] serde_json::Error),
    /// A form that is not scheduled.
    #[error("phase {phase}, transfer {transfer}: {problem}")]
    Transfer {
        /// Phase number in the file.
        phase: u32,
        /// Position in the phase.
        transfer: usize,
        /// What is wrong.
        problem: String,
    },
    /// A header field out of range.
    #[error("{field} is {value}; expected {expected}")]
    Field {
        /// Name of the field.
        field: &'static str,
        /// Its value.
        value: u64,
        /// What would be right.
        expected: &'static str,
    },
}

#[derive(Deserialize)]
struct FileText {
    schema_version: u32,
    tile_count: u16,
    phases: Vec<PhaseText>,
}

#[derive(Deserialize)]
struct PhaseText {
    phase: u32,
    transfers: Vec<TransferText>,
}

#[derive(Deserialize)]
struct TransferText {
    source: u16,
    source_addresses: Vec<Address>,
    destinations: Vec<(u16, Address)>,
    words: u32,
    width: String,
}

/// Reads a problem file of schema version 4.
///
/// # Errors
/// Text that is no such file, or a transfer form that is not scheduled.
pub fn read(text: &str) -> Result<Problem, ProblemError> {
    let file: FileText = serde_json::from_str(text)?;
    if file.schema_version != 4 {
        return Err(ProblemError::Field {
            field: "schema_version",
            value: u64::from(file.schema_version),
            expected: "4",
        });
    }
    let phases = file
        .phases
        .into_iter()
        .map(phase)
        .collect::<Result<_, _>>()?;
    Ok(Problem {
        tiles: file.tile_count,
        phases,
    })
}

fn phase(text: PhaseText) -> Result<ProblemPhase, ProblemError> {
    let number = text.phase;
    let transfers = text
        .transfers
        .into_iter()
        .enumerate()
        .map(|(position, text)| {
            transfer(text).map_err(|problem| ProblemError::Transfer {
                phase: number,
                transfer: position,
                problem,
            })
        });
    Ok(ProblemPhase {
        phase: number,
        transfers: transfers.collect::<Result<_, _>>()?,
    })
}

fn transfer(text: TransferText) -> Result<Transfer, String> {
    if text.width != "Word32" {
        return Err(format!(
            "width {} is not scheduled, only Word32",
            text.width
        ));
    }
    let &[source_address] = text.source_addresses.as_slice() else {
        let count = text.source_addresses.len();
        return Err(format!(
            "{count} source addresses; one is scheduled at a time"
        ));
    };
    let destinations = text.destinations.into_iter();
    Ok(Transfer {
        source: TileId::new(text.source),
        source_address,
        words: text.words,
        destinations: destinations
            .map(|(tile, at)| (TileId::new(tile), at))
            .collect(),
    })
}
