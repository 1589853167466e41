//! The command line and the profile variables of the environment.

use std::path::PathBuf;

use analytics::profile::Granularity;
use anyhow::{Result, bail};
use clap::{Parser, ValueEnum};
use compiler::graph::workload::{WorkloadExtents, default_operands, hidden_width};
use compiler::{AttentionStrategy, OperandPolicy, TILES_MAX};
use runtime::kernels::Generation;

use crate::planning::{Planning, Profiling};

/// Compiles a workload, runs it on the simulated device and checks every output element.
#[derive(Debug, Parser)]
#[command(
    name = "ipu-trivial-test",
    version,
    args_override_self = true,
    after_help = "\
Examples:
  ipu-trivial-test --workload gemm-smoke --tiles 64
  ipu-trivial-test --workload gemm-projections --profile-output run.ipuprofile
  ipu-trivial-test --workload siglip-attention-benchmark --attention-strategy flash
  ipu-trivial-test --gemm-plan-constraint 0:368x4x1 --explain

Environment:
  IPU_PROFILE_OUTPUT       the profile to write, when --profile-output is absent
  IPU_PROFILE_GRANULARITY  graph, region, phase (default) or step
  IPU_PROFILE_AGGREGATE    present with any value: granularity graph

Exit status: 0 all elements within the tolerance, 1 otherwise or after an error."
)]
pub(crate) struct Arguments {
    /// Device configuration (IPUCFG1): checked, then unused, since the simulated device needs none.
    pub(crate) config: Option<PathBuf>,
    /// Workload to compile and check.
    #[arg(long, default_value = "gemm-benchmark")]
    pub(crate) workload: String,
    /// Logical tiles to use.
    #[arg(long, default_value_t = TILES_MAX)]
    pub(crate) tiles: u16,
    /// Rows of gemm-benchmark.
    #[arg(long)]
    benchmark_rows: Option<u64>,
    /// Contraction of gemm-benchmark, a multiple of 64.
    #[arg(long)]
    benchmark_inner: Option<u64>,
    /// Columns of gemm-benchmark, a multiple of 16.
    #[arg(long)]
    benchmark_columns: Option<u64>,
    /// Batch of siglip-mlp-benchmark.
    #[arg(long)]
    mlp_batch: Option<u64>,
    /// Tokens of the SigLIP workloads.
    #[arg(long)]
    mlp_tokens: Option<u64>,
    /// Width of the SigLIP workloads.
    #[arg(long)]
    mlp_dim: Option<u64>,
    /// Hidden width of the MLP [default: 4304 for width 1152, else four times the width].
    #[arg(long)]
    mlp_hidden_dim: Option<u64>,
    /// Blocks of siglip-mlp-benchmark, one after another.
    #[arg(long)]
    mlp_blocks: Option<u64>,
    /// Batch of the attention workloads.
    #[arg(long)]
    attention_batch: Option<u64>,
    /// Heads of the attention workloads.
    #[arg(long)]
    attention_heads: Option<u64>,
    /// How operands reach the tiles [default: replicated for one block of siglip-* at batch 1, else
    /// sharded].
    #[arg(long, value_enum)]
    operands: Option<Operands>,
    /// Which plans of attention are considered.
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) attention_strategy: Strategy,
    #[command(flatten)]
    pub(crate) planning: Planning,
    /// Forces the plan of one operation, OP:RxCxK:RRxRC:COLUMNS:MEMORY:ORIENT:REDUCTION:LOCAL;
    /// repeatable.
    #[arg(long, value_name = "PLAN")]
    pub(crate) gemm_plan_constraint: Vec<String>,
    /// Dated set of kernel costs, 2026-09-07 or 2026-09-13.
    #[arg(long, default_value_t)]
    pub(crate) kernel_generation: Generation,
    /// Tile clock in hertz.
    #[arg(long, default_value_t = 1_500_000_000)]
    pub(crate) clock_hz: u64,
    /// Writes the package here, or reads it from here with --reuse-package.
    #[arg(long, value_name = "FILE")]
    pub(crate) package: Option<PathBuf>,
    /// Runs the package of --package instead of compiling.
    #[arg(long, requires = "package")]
    pub(crate) reuse_package: bool,
    /// Writes the profile here.
    #[arg(long, value_name = "FILE")]
    profile_output: Option<PathBuf>,
    /// Records no profile, whatever the environment says.
    #[arg(long, conflicts_with = "profile_output")]
    no_profile: bool,
    /// Prints the ranked candidates of each operation.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Prints the time of each stage of the compiler.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) timings: Option<TimingsFormat>,
    /// Prints the decoded exchange rows of a tile and ends without a run.
    #[arg(long)]
    pub(crate) inspect_exchanges: bool,
    /// The tile of --inspect-exchanges.
    #[arg(long, default_value_t = 0, requires = "inspect_exchanges")]
    pub(crate) inspect_exchange_tile: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TimingsFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Operands {
    Sharded,
    Replicated,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Strategy {
    /// The cheapest.
    Auto,
    /// Shared query rows, keys in blocks of 64.
    Flash,
    /// Shared query rows, all keys at once.
    Materialized,
}

impl From<Strategy> for AttentionStrategy {
    fn from(strategy: Strategy) -> Self {
        match strategy {
            Strategy::Auto => Self::Auto,
            Strategy::Flash => Self::Flash,
            Strategy::Materialized => Self::Materialized,
        }
    }
}

impl Arguments {
    pub(crate) fn extents(&self) -> WorkloadExtents {
        let published = WorkloadExtents::published(self.tiles);
        WorkloadExtents {
            rows: self.benchmark_rows.unwrap_or(published.rows),
            inner: self.benchmark_inner.unwrap_or(published.inner),
            columns: self.benchmark_columns.unwrap_or(published.columns),
            tokens: self.mlp_tokens.unwrap_or(published.tokens),
            width: self.mlp_dim.unwrap_or(published.width),
            hidden: self
                .mlp_hidden_dim
                .unwrap_or_else(|| hidden_width(self.mlp_dim)),
            batch: self.mlp_batch.unwrap_or(published.batch),
            blocks: self.mlp_blocks.unwrap_or(published.blocks),
            attention_batch: self.attention_batch.unwrap_or(published.attention_batch),
            heads: self.attention_heads.unwrap_or(published.heads),
            ..published
        }
    }

    pub(crate) fn operands(&self) -> OperandPolicy {
        match self.operands {
            None => default_operands(&self.workload, &self.extents()),
            Some(Operands::Sharded) => OperandPolicy::Sharded,
            Some(Operands::Replicated) => OperandPolicy::Replicated,
        }
    }

    /// Where the profile goes and how fine it is; `None` records none.
    pub(crate) fn profile(
        &self,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<(PathBuf, Granularity)>> {
        let output = environment("IPU_PROFILE_OUTPUT").map(PathBuf::from);
        let Some(output) = self
            .profile_output
            .clone()
            .or(output)
            .filter(|_| !self.no_profile)
        else {
            return Ok(None);
        };
        match self.planning.profiling.map(Profiling::granularity) {
            None => {}
            Some(level) => return Ok(level.map(|level| (output, level))),
        }
        if environment("IPU_PROFILE_AGGREGATE").is_some() {
            return Ok(Some((output, Granularity::Graph)));
        }
        let granularity = match environment("IPU_PROFILE_GRANULARITY").as_deref() {
            None | Some("phase") => Granularity::Phase,
            Some("graph") => Granularity::Graph,
            Some("region") => Granularity::Region,
            Some("step") => Granularity::Step,
            Some(other) => bail!(
                "IPU_PROFILE_GRANULARITY is `{other}`; set it to graph, region, phase or step"
            ),
        };
        Ok(Some((output, granularity)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(flags: &[&str], variables: &[(&str, &str)]) -> Result<Option<Granularity>> {
        let arguments = Arguments::parse_from([&["ipu-trivial-test"], flags].concat());
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Ok(arguments
            .profile(variable)?
            .map(|(_, granularity)| granularity))
    }

    #[test]
    fn the_environment_turns_profiling_on_and_sets_its_granularity() {
        let output = ("IPU_PROFILE_OUTPUT", "a");
        let level = |name| ("IPU_PROFILE_GRANULARITY", name);
        assert_eq!(profile(&[], &[level("step")]).unwrap(), None);
        assert_eq!(profile(&[], &[output]).unwrap(), Some(Granularity::Phase));
        assert_eq!(
            profile(&[], &[output, level("step")]).unwrap(),
            Some(Granularity::Step)
        );
        let aggregate = [output, level("step"), ("IPU_PROFILE_AGGREGATE", "")];
        assert_eq!(profile(&[], &aggregate).unwrap(), Some(Granularity::Graph));
        assert_eq!(profile(&["--no-profile"], &[output]).unwrap(), None);
        let flags = ["--profile-output", "b"];
        assert_eq!(
            profile(&flags, &[level("region")]).unwrap(),
            Some(Granularity::Region)
        );
        let error = profile(&flags, &[level("fine")]).unwrap_err().to_string();
        assert!(
            error.contains("`fine`; set it to graph, region, phase or step"),
            "{error}"
        );
    }
}
