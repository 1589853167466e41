//! What a compilation gives beside the package.

use analytics::units::{Bytes, Cycles};
use runtime::package::Package;

use crate::exchange::{Transfer, endpoint_bound};
use crate::lower::{self, EncodedExchange};
use crate::options::PredictedCycles;
use crate::plan::Plan;
use crate::program::Program;
use crate::timing::Timings;

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
    /// Most bytes of buffers and rows that are live on one tile at once.
    pub tile_bytes_max: Bytes,
    /// Largest table of encoded rows of one tile.
    pub row_bytes_max: Bytes,
    /// Symbols of the kernels whose cost is assumed; totals of a run with any are no claim.
    pub assumed_kernels: Vec<String>,
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

impl CompileReport {
    pub(crate) fn new(
        plan: &Plan,
        program: &Program,
        exchanges: &[EncodedExchange],
        package: &Package,
    ) -> Self {
        let exchange = |encoded: &EncodedExchange| ExchangeReport {
            operation: program.steps[encoded.step as usize].operation.clone(),
            transfers: encoded.transfers.len() as u64,
            sent: Bytes::new(encoded.transfers.iter().map(sent).sum()),
            horizon: Cycles::new(u64::from(encoded.horizon())),
            bound: endpoint_bound(&encoded.transfers),
        };
        Self {
            plan: plan.operations.iter().map(ToString::to_string).collect(),
            predicted: plan.predicted.clone(),
            explain: plan.explain.clone(),
            exchanges: exchanges.iter().map(exchange).collect(),
            tile_bytes_max: lower::tile_bytes_max(package),
            row_bytes_max: lower::row_bytes_max(package),
            assumed_kernels: Vec::new(),
        }
    }
}

fn sent(transfer: &Transfer) -> u64 {
    u64::from(transfer.words) * 4
}
