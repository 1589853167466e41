//! What a compilation gives beside the package.

use analytics::units::{Bytes, Cycles};
use runtime::package::Package;

use crate::exchange::Transfer;
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

/// What a stage went through, and how fast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// What was counted: `candidates`, `transfers` or `rows`.
    pub what: &'static str,
    /// How many.
    pub count: u64,
    /// The stage that they are counted against.
    pub stage: &'static str,
    /// How many a second of the stage; 0 where it took no time.
    pub per_second: f64,
}

impl Compiled {
    /// Candidates, transfers and rows a second of the stages that plan, schedule and encode them.
    /// Where a stage ran more than once, its times add up and what it gave counts once.
    #[must_use]
    pub fn rates(&self) -> [Rate; 3] {
        let report = &self.report;
        let transfers = report.exchanges.iter().map(|each| each.transfers).sum();
        [
            ("candidates", report.candidates, "plan"),
            ("transfers", transfers, "schedule"),
            ("rows", report.rows, "encode"),
        ]
        .map(|(what, count, stage)| {
            let stages = self.timings.stages.iter();
            let of_stage = stages.filter(|(name, _)| *name == stage);
            let seconds: f64 = of_stage.map(|(_, time)| time.as_secs_f64()).sum();
            #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
            let per_second = count as f64 / seconds;
            let per_second = if seconds > 0.0 { per_second } else { 0.0 };
            Rate {
                what,
                count,
                stage,
                per_second,
            }
        })
    }

    /// Times of the stages, then rates, one a line.
    #[must_use]
    pub fn timings_text(&self) -> String {
        let rate = |it: Rate| {
            let (what, count, stage) = (it.what, it.count, it.stage);
            format!("{count} {what}, {:.0} a second of {stage}\n", it.per_second)
        };
        let rates: String = self.rates().into_iter().map(rate).collect();
        self.timings.text() + &rates
    }

    /// Times of the stages and rates as JSON in one line, by
    /// `schemas/json/compile-timings-1.schema.json`.
    #[must_use]
    pub fn timings_json(&self) -> String {
        let rate = |it: &Rate| {
            let (what, count, stage) = (it.what, it.count, it.stage);
            let per_second = it.per_second;
            serde_json::json!({
                "what": what, "count": count, "stage": stage, "perSecond": per_second,
            })
        };
        let mut all = self.timings.value();
        all["schema"] = "ipu-stack/compile-timings/1".into();
        all["rates"] = self.rates().iter().map(rate).collect();
        all.to_string()
    }
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
    /// Plans of single operations that were priced or found not to fit.
    pub candidates: u64,
    /// Encoded rows.
    pub rows: u64,
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
    /// How the times were found, `replayed` for those of another exchange.
    pub order: &'static str,
    /// Messages sent, a multicast counted once.
    pub messages: usize,
    /// Messages of 64-bit items among them.
    pub paired: usize,
    /// Pairs of messages in a fixed order.
    pub ordered: usize,
    /// How often it runs.
    pub runs: u32,
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
            bound: encoded.schedule.bound,
            order: encoded.schedule.order,
            messages: encoded.schedule.messages,
            paired: encoded.schedule.paired,
            ordered: encoded.schedule.hazards,
            runs: program.runs(encoded.step),
        };
        Self {
            plan: plan.operations.iter().map(ToString::to_string).collect(),
            predicted: plan.predicted.clone(),
            explain: plan.explain.clone(),
            candidates: plan.tried,
            rows: exchanges.iter().map(rows).sum(),
            exchanges: exchanges.iter().map(exchange).collect(),
            tile_bytes_max: lower::tile_bytes_max(package),
            row_bytes_max: lower::row_bytes_max(package),
            assumed_kernels: Vec::new(),
        }
    }
}

fn rows(exchange: &EncodedExchange) -> u64 {
    exchange.rows.iter().flatten().count() as u64
}

fn sent(transfer: &Transfer) -> u64 {
    u64::from(transfer.words) * 4
}
