//! Maps a model block onto the tiles: plan, place, schedule, encode, lower.

mod error;
pub mod exchange;
pub mod graph;
mod instrument;
pub mod layout;
mod options;
pub mod place;
pub mod plan;
pub mod program;
pub mod timing;

pub use error::CompileError;
pub use options::{OperandPolicy, Options, PredictedCycles, Progress, ProgressSink, TILES_MAX};

use analytics::units::{Bytes, Cycles};
use graph::Graph;
use runtime::package::Package;
use timing::Timings;

/// What a compilation gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// What the device runs; equal input gives an equal package.
    pub package: Package,
    /// Wall time of each stage.
    pub timings: Timings,
    /// What was chosen and what it costs.
    pub report: CompileReport,
}

/// What was chosen and what it costs; nothing here varies from run to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompileReport {
    /// The plan in its text form, one line an operation.
    pub plan: Vec<String>,
    /// Predicted cycles of each operation, in order.
    pub predicted: Vec<PredictedCycles>,
    /// Ranked candidates of each operation with their predicted cycles by part, for people.
    pub explain: String,
    /// Each exchange in schedule order.
    pub exchanges: Vec<ExchangeReport>,
    /// Largest end of the buffers and rows over the tiles, in bytes of SRAM used.
    pub tile_bytes_max: Bytes,
    /// Largest table of encoded rows of one tile.
    pub row_bytes_max: Bytes,
}

/// What one exchange moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExchangeReport {
    /// The operation it serves.
    pub operation: String,
    /// Transfers, a multicast counted once.
    pub transfers: u64,
    /// Bytes sent, a multicast counted once.
    pub sent: Bytes,
    /// Longest row in events.
    pub horizon: Cycles,
    /// The least that the busiest endpoint needs.
    pub bound: Cycles,
}

/// Compiles a graph for the device.
///
/// # Errors
/// [`CompileError`] says which stage refused the input and why.
pub fn compile(
    graph: &Graph,
    options: &Options,
    progress: ProgressSink<'_>,
) -> Result<Compiled, CompileError> {
    graph.validate()?;
    let mut timings = Timings::default();
    timings.stage("plan", progress, || ());
    let problem = format!("compiling for {} tiles is not there yet", options.tiles);
    Err(CompileError::Option {
        name: "tiles",
        problem,
    })
}
