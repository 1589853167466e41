//! Flags that concern planning, exchanges and checking.

use std::path::{Path, PathBuf};

use analytics::profile::Granularity;
use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use compiler::exchange::problem::ProblemPhase;
use compiler::graph::check::Tolerance;
use compiler::graph::workload::Workload;
use compiler::{AttentionProducts, ExchangeItems, Limits, OperandSlices, RepeatPolicy};

/// How plans are found and what may be used for them.
#[derive(Debug, Args)]
pub(crate) struct Planning {
    /// Which products of attention have a grid of their own.
    #[arg(long, value_enum, default_value = "auto")]
    attention_products: Products,
    /// Which items exchanges may send.
    #[arg(long, value_enum, default_value = "auto")]
    exchange_items: Items,
    /// What becomes of blocks that are alike.
    #[arg(long, value_enum, default_value = "keep")]
    repeats: Repeats,
    /// How products store their results.
    #[arg(long, value_enum, default_value = "auto")]
    gemm_output_packing: Packing,
    /// Partial plans that are carried from one operation to the next.
    #[arg(long, value_name = "N", default_value_t = Limits::STANDARD.beam_width)]
    planning_beam_width: usize,
    /// Plans of the whole graph that are expanded to calls and transfers and priced anew.
    #[arg(long, value_name = "N", default_value_t = Limits::STANDARD.expanded_plans)]
    expanded_plan_finalists: usize,
    /// Plans among them that are placed and scheduled; the fastest stays.
    #[arg(long, value_name = "N", default_value_t = Limits::STANDARD.placed_plans)]
    placement_finalists: usize,
    /// Ways to add the partial sums of a product that are compared; there is one in any case.
    #[arg(long, value_name = "N", default_value_t = 1)]
    max_parallel_reductions: u32,
    /// Exponent that scales FP8 operands, -16 to 15; refused, since no operand is FP8.
    #[arg(
        long,
        value_name = "EXPONENT",
        allow_hyphen_values = true,
        value_parser = clap::value_parser!(i8).range(-16..=15)
    )]
    fp8_scale: Option<i8>,
    /// Products of one operand, such as Q, K and V, are done at once, not one after another.
    #[arg(long)]
    fuse_qkv: bool,
    /// Operands of products are brought in slices of the contraction.
    #[arg(long, conflicts_with = "materialize_conversions")]
    stream_conversions: bool,
    /// Operands of products are brought whole.
    #[arg(long)]
    materialize_conversions: bool,
    /// Data memory of a tile that plans may use, in KiB [default: all of it].
    #[arg(long, value_name = "KIB")]
    tile_memory_budget_kib: Option<u64>,
    /// JSON list: the place on the device, as a logical tile, of each planned tile.
    #[arg(long, value_name = "FILE")]
    tile_mapping: Option<PathBuf>,
    /// Tile mappings that are scheduled beside the plain one.
    #[arg(long, value_name = "N", default_value_t = Limits::STANDARD.mappings)]
    exchange_schedule_finalists: usize,
    /// Encoded rows of a tile, in KiB [default: what its memory holds].
    #[arg(long, value_name = "KIB")]
    exchange_table_budget_kib: Option<u64>,
    /// Transfers of one exchange that one tile may send and receive.
    #[arg(long, value_name = "N", default_value_t = Limits::STANDARD.transfers_per_tile)]
    exchange_transfer_limit_per_tile: u64,
    /// Prints how the times of each exchange were found.
    #[arg(long)]
    pub(crate) exchange_diagnostics: bool,
    /// Writes the exchanges as a problem that --replay-exchange-schedule and schedule-bench read.
    #[arg(long, value_name = "FILE")]
    pub(crate) export_exchange_schedule: Option<PathBuf>,
    /// Writes the exchanges of a placed plan as such a problem, and ends without a run.
    #[arg(long, value_name = "FILE")]
    pub(crate) capture_exchange_schedule: Option<PathBuf>,
    /// Which plan of --placement-finalists that is, from 0 [default: the fastest].
    #[arg(long, value_name = "INDEX", requires = "capture_exchange_schedule")]
    capture_finalist: Option<usize>,
    /// Schedules, encodes and checks the exchanges of a problem file, and ends.
    #[arg(long, value_name = "FILE")]
    pub(crate) replay_exchange_schedule: Option<PathBuf>,
    /// The only phase of --replay-exchange-schedule.
    #[arg(long, value_name = "PHASE", requires = "replay_exchange_schedule")]
    exchange_replay_phase: Option<u32>,
    /// The first transfer of each phase of --replay-exchange-schedule that is kept, from 0.
    #[arg(
        long,
        value_name = "INDEX",
        default_value_t = 0,
        requires = "replay_exchange_schedule"
    )]
    exchange_replay_first_transfer: usize,
    /// Transfers from there on that are kept [default: all].
    #[arg(long, value_name = "N", requires = "replay_exchange_schedule")]
    exchange_replay_transfer_limit: Option<usize>,
    /// Of these, so many at equal distances [default: all].
    #[arg(long, value_name = "N", requires = "replay_exchange_schedule")]
    exchange_replay_samples: Option<usize>,
    /// Checks the result of every operation, not of the last alone; blocks are run one by one.
    #[arg(long)]
    diagnostic_run: bool,
    /// Absolute tolerance of --diagnostic-run.
    #[arg(long, default_value_t = 0.03, requires = "diagnostic_run")]
    diagnostic_atol: f32,
    /// Tolerance of --diagnostic-run relative to the reference.
    #[arg(long, default_value_t = 0.03, requires = "diagnostic_run")]
    diagnostic_rtol: f32,
    /// Elements of each result that --diagnostic-run compares, at equal distances [default: all].
    #[arg(long, value_name = "N", requires = "diagnostic_run")]
    pub(crate) diagnostic_samples: Option<usize>,
    /// Compares with the F32 reference on Gaussian data, which is what happens anyway.
    #[arg(long)]
    reference_run: bool,
    /// How much is recorded where a profile is written.
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub(crate) profiling: Option<Profiling>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Products {
    /// The cheapest.
    Auto,
    /// Query rows are shared in both.
    SharedRows,
    /// The scores.
    QkOnly,
    /// The weighted values.
    PvOnly,
    /// Both.
    Independent,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Items {
    /// 64-bit items too where that makes an exchange shorter.
    Auto,
    /// Words alone, as in the published runs.
    Words,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Repeats {
    /// Planned once, run in a Repeat.
    Keep,
    /// Each planned and run by itself.
    Unroll,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Packing {
    /// The faster one.
    Auto,
    /// As the matrix unit leaves them.
    Native,
    /// In groups of 16 rows: no plan does.
    Packed,
}

/// How much of a run is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profiling {
    /// Nothing.
    None,
    /// One interval a tile.
    Overall,
    /// Every phase.
    Full,
}

impl Profiling {
    pub(crate) const fn granularity(self) -> Option<Granularity> {
        match self {
            Self::None => None,
            Self::Overall => Some(Granularity::Graph),
            Self::Full => Some(Granularity::Phase),
        }
    }
}

impl Planning {
    pub(crate) const fn repeats(&self) -> RepeatPolicy {
        match self.repeats {
            Repeats::Keep => RepeatPolicy::Keep,
            Repeats::Unroll => RepeatPolicy::Unroll,
        }
    }

    pub(crate) const fn products(&self) -> AttentionProducts {
        match self.attention_products {
            Products::Auto => AttentionProducts::Auto,
            Products::SharedRows => AttentionProducts::SharedRows,
            Products::QkOnly => AttentionProducts::QkOnly,
            Products::PvOnly => AttentionProducts::PvOnly,
            Products::Independent => AttentionProducts::Independent,
        }
    }

    pub(crate) const fn items(&self) -> ExchangeItems {
        match self.exchange_items {
            Items::Auto => ExchangeItems::Auto,
            Items::Words => ExchangeItems::Words,
        }
    }

    /// Refuses what no plan does.
    pub(crate) fn check(&self) -> Result<()> {
        if self.gemm_output_packing == Packing::Packed {
            bail!(
                "--gemm-output-packing packed: results that stay as the matrix unit leaves them \
                 feed the next product without a kernel, so no plan packs them; give native"
            );
        }
        if self.max_parallel_reductions == 0 {
            bail!("--max-parallel-reductions 0: partial sums are added in one way; give 1 or more");
        }
        if let Some(scale) = self.fp8_scale {
            bail!(
                "--fp8-scale {scale}: operands of the workloads are F16, so there is nothing to \
                 scale; leave it out"
            );
        }
        Ok(())
    }

    pub(crate) fn limits(&self) -> Limits {
        let bytes = |kib: Option<u64>| kib.map(|kib| kib.saturating_mul(1024));
        Limits {
            beam_width: self.planning_beam_width,
            tile_bytes: bytes(self.tile_memory_budget_kib),
            row_bytes: bytes(self.exchange_table_budget_kib),
            transfers_per_tile: self.exchange_transfer_limit_per_tile,
            expanded_plans: self.expanded_plan_finalists.max(self.placement_finalists),
            placed_plans: self.placement_finalists,
            only_placed: self.capture_finalist,
            mappings: self.exchange_schedule_finalists,
            at_once: self.fuse_qkv,
            slices: match (self.stream_conversions, self.materialize_conversions) {
                (true, _) => OperandSlices::Several,
                (_, true) => OperandSlices::One,
                _ => OperandSlices::Auto,
            },
        }
    }

    pub(crate) fn tile_mapping(&self) -> Result<Option<Vec<u16>>> {
        let read = |path: &PathBuf| -> Result<Vec<u16>> {
            let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
            let list = "expected a JSON list of tiles";
            serde_json::from_str(&text).with_context(|| format!("{}: {list}", path.display()))
        };
        self.tile_mapping.as_ref().map(read).transpose()
    }

    /// The flags that differ from the usual ones, for the manifest.
    pub(crate) fn flags(&self) -> Vec<(String, String)> {
        let usual = Limits::STANDARD;
        let limits = self.limits();
        let kib = |bytes: Option<u64>| bytes.map(|bytes| (bytes / 1024).to_string());
        let other = |value: u64, usual: u64| (value != usual).then(|| value.to_string());
        let repeats = self.repeats();
        let items = self.items();
        let products = self.products();
        let is_usual = products == AttentionProducts::Auto;
        let given = [
            (
                "exchange-items",
                (items != ExchangeItems::Auto).then(|| items.name().to_owned()),
            ),
            (
                "attention-products",
                (!is_usual).then(|| products.name().to_owned()),
            ),
            (
                "repeats",
                (repeats != RepeatPolicy::Keep).then(|| repeats.name().to_owned()),
            ),
            (
                "planning-beam-width",
                other(limits.beam_width as u64, usual.beam_width as u64),
            ),
            ("tile-memory-budget-kib", kib(limits.tile_bytes)),
            (
                "tile-mapping",
                self.tile_mapping.as_ref().map(|_| "given".to_owned()),
            ),
            (
                "exchange-schedule-finalists",
                other(limits.mappings as u64, usual.mappings as u64),
            ),
            ("exchange-table-budget-kib", kib(limits.row_bytes)),
            (
                "expanded-plan-finalists",
                other(limits.expanded_plans as u64, usual.expanded_plans as u64),
            ),
            (
                "placement-finalists",
                other(limits.placed_plans as u64, usual.placed_plans as u64),
            ),
            (
                "capture-finalist",
                limits.only_placed.map(|index| index.to_string()),
            ),
            ("fuse-qkv", limits.at_once.then(|| "given".to_owned())),
            (
                "operand-slices",
                (limits.slices != usual.slices).then(|| limits.slices.name().to_owned()),
            ),
        ];
        let given = given.into_iter();
        given
            .filter_map(|(name, value)| Some((name.to_owned(), value?)))
            .collect()
    }

    /// The workload with every result checked where that is asked for.
    pub(crate) fn diagnosed(&self, mut workload: Workload) -> Result<Workload> {
        if !self.diagnostic_run {
            return Ok(workload);
        }
        let operations = workload.graph.operations().to_vec();
        for operation in operations.iter().filter(|it| !it.kind.is_view()) {
            if !workload.graph.outputs().contains(&operation.output) {
                workload.graph.add_output(operation.output)?;
            }
        }
        workload.tolerance = Tolerance::Mixed {
            absolute: self.diagnostic_atol,
            relative: self.diagnostic_rtol,
        };
        Ok(workload)
    }
}

impl Planning {
    /// Schedules and checks the exchanges of a problem file, as far as they are asked for; gives
    /// the report.
    pub(crate) fn replay(&self, path: &Path) -> Result<String> {
        let place = || path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(place)?;
        let mut problem = compiler::exchange::problem::read(&text).with_context(place)?;
        let wanted = self.exchange_replay_phase;
        problem
            .phases
            .retain(|each| wanted.is_none_or(|phase| phase == each.phase));
        for phase in &mut problem.phases {
            self.cut(phase);
        }
        let reports = problem.run().with_context(place)?;
        if reports.is_empty() {
            bail!("{}: no such phase", path.display());
        }
        Ok(reports.iter().map(|report| format!("{report}\n")).collect())
    }

    /// Keeps the transfers of a phase that are asked for.
    fn cut(&self, phase: &mut ProblemPhase) {
        let first = self.exchange_replay_first_transfer;
        let limit = self.exchange_replay_transfer_limit.unwrap_or(usize::MAX);
        let transfers = std::mem::take(&mut phase.transfers).into_iter();
        let kept: Vec<_> = transfers.skip(first).take(limit).collect();
        let samples = self.exchange_replay_samples.unwrap_or(usize::MAX).max(1);
        let distance = kept.len().div_ceil(samples).max(1);
        phase.transfers = kept.into_iter().step_by(distance).collect();
    }
}
