//! What can be typed: subcommands, flags, help and its examples.
//!
//! Nothing here has a meaning yet: values are parsed as far as their own text goes, and the
//! subcommands judge combinations.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use super::device::DeviceArgs;
pub use super::fidelity::FidelityArgs;
pub use super::host::args::{FetchArgs, OpenArgs, PublishArgs, ServeArgs, TokenArgs};
pub use super::plan_args::{ItemsArg, OperandArg, ProductsArg, RepeatsArg, StrategyArg};
pub use super::profile_args::{
    BarriersArgs, ChartArg, CriticalPathArgs, DiffArgs, ExportArgs, PartArgs, PlotArgs, ReportArgs,
    SliceArgs, TimeArg,
};

/// Compile a model block for a 1,472-tile IPU21, run it on a simulated device, and see where every
/// cycle went.
#[derive(Debug, Parser)]
#[command(
    name = "ipu-stack",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
#[command(after_help = "\
Examples:
  ipu-stack demo
  ipu-stack compile gemm-benchmark -o gemm.ipuexe
  ipu-stack run gemm.ipuexe -o gemm.ipuprofile
  ipu-stack profile-query gemm.ipuprofile --kind compute
  ipu-stack serve gemm.ipuprofile")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compile a workload or a graph file into an .ipuexe package
    Compile(CompileArgs),
    /// Run a package on the simulated device, check its outputs, record a profile
    Run(RunArgs),
    /// Aggregate a profile: where the cycles went, by kernel, operation, phase, tile, kind or
    /// metadata
    ProfileQuery(QueryArgs),
    /// Show where tiles wait for each other, for which tile, and what it was running
    ProfileBarriers(BarriersArgs),
    /// Show which tiles and kernels the run waited for, and what balancing or speeding one up saves
    ProfileCriticalPath(CriticalPathArgs),
    /// Compare two profiles: what became faster, slower, new or gone
    ProfileDiff(DiffArgs),
    /// Write samples as Parquet, Arrow, CSV, or a timeline of Perfetto and other viewers
    ProfileExport(ExportArgs),
    /// Cut some tiles and cycles out of a profile
    ProfileSlice(SliceArgs),
    /// Draw a chart of a profile as SVG or PNG
    ProfilePlot(PlotArgs),
    /// Write profile, viewer page, figures and chart into one folder
    Report(ReportArgs),
    /// Print what a profile holds and its exchange totals
    ProfileInspect(InspectArgs),
    /// Convert a profile between the columnar and the row format, without loss
    ProfileConvert(ConvertArgs),
    /// Write a profile and its viewer as one HTML file that opens offline
    ProfileRender(RenderArgs),
    /// Generate a synthetic profile of any size from a seed
    ProfileSynth(SynthArgs),
    /// Serve the viewer and shared artifacts, on a laptop or for a team
    Serve(ServeArgs),
    /// Make the token that writing to a shared server needs
    ServeToken(TokenArgs),
    /// Publish a file on a server and print its link
    Publish(PublishArgs),
    /// Open a link of a server in the browser
    Open(OpenArgs),
    /// Download what a link leads to
    Fetch(FetchArgs),
    /// Compile and run the demo workload, print its kernels, and open its profile in the viewer
    Demo(DemoArgs),
    /// Schedule, encode and validate an exchange problem and print its figures
    ScheduleBench(ScheduleBenchArgs),
    /// Compare the simulated machine with every published hardware figure
    Fidelity(FidelityArgs),
}

/// Arguments of `compile`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ipu-stack compile gemm-smoke
  ipu-stack compile gemm-benchmark --rows 4096 --inner 256 --columns 256 -o gemm.ipuexe
  ipu-stack compile block.graph --tiles 64 --explain")]
pub struct CompileArgs {
    /// A workload name, or a file with a graph in text form
    pub workload: String,
    /// Package to write [default: WORKLOAD.ipuexe]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "clap would print it as the help of the command"
    )]
    pub plan: PlanArgs,
    /// Print the candidate plans with their predicted cycles
    #[arg(long)]
    pub explain: bool,
    /// Print the time of each stage of the compiler
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub timings: Option<TimingsArg>,
    /// Print the decoded exchange rows of a tile
    #[arg(long)]
    pub inspect_exchanges: bool,
    /// The tile of --inspect-exchanges
    #[arg(
        long,
        value_name = "TILE",
        default_value_t = 0,
        requires = "inspect_exchanges"
    )]
    pub inspect_exchange_tile: u16,
}

/// How stage times are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TimingsArg {
    /// One line a stage
    Text,
    /// One object, in a line of its own
    Json,
}

/// How to compile.
#[derive(Clone, Debug, Default, Args)]
pub struct PlanArgs {
    /// Tiles to use [default: all 1,472]
    #[arg(long, value_name = "N")]
    pub tiles: Option<u16>,
    /// How operands reach the tiles that need them
    /// [default: replicated for siglip-*, else sharded]
    #[arg(long, value_enum, value_name = "POLICY")]
    pub operands: Option<OperandArg>,
    /// Dated set of kernel costs [default: the newest]
    #[arg(long, value_name = "DATE")]
    pub kernel_generation: Option<String>,
    /// Plan with kernels whose cost no measurement stands behind
    #[arg(long)]
    pub allow_assumed_kernels: bool,
    /// Force the plan of an operation; repeatable
    #[arg(long, value_name = "PLAN")]
    pub gemm_plan_constraint: Vec<String>,
    /// Rows of gemm-benchmark
    #[arg(long, alias = "benchmark-rows", value_name = "N")]
    pub rows: Option<u64>,
    /// Inner extent of gemm-benchmark
    #[arg(long, alias = "benchmark-inner", value_name = "N")]
    pub inner: Option<u64>,
    /// Columns of gemm-benchmark
    #[arg(long, alias = "benchmark-columns", value_name = "N")]
    pub columns: Option<u64>,
    /// Tokens of the SigLIP workloads
    #[arg(long, alias = "mlp-tokens", value_name = "N")]
    pub tokens: Option<u64>,
    /// Width of the SigLIP workloads
    #[arg(long, alias = "mlp-dim", value_name = "N")]
    pub width: Option<u64>,
    /// Which plans of attention are considered
    #[arg(long, value_enum, value_name = "STRATEGY", default_value = "auto")]
    pub attention_strategy: StrategyArg,
    /// Which products of attention have a grid of their own
    #[arg(long, value_enum, value_name = "PRODUCTS", default_value = "auto")]
    pub attention_products: ProductsArg,
    /// Which items exchanges may send
    #[arg(long, value_enum, value_name = "ITEMS", default_value = "auto")]
    pub exchange_items: ItemsArg,
    /// What becomes of blocks that are alike
    #[arg(long, value_enum, value_name = "POLICY", default_value = "keep")]
    pub repeats: RepeatsArg,
    /// Hidden width of the MLP [default: 4304 for width 1152, else four times the width]
    #[arg(long, alias = "mlp-hidden-dim", value_name = "N")]
    pub hidden: Option<u64>,
    /// Batch of siglip-mlp-benchmark
    #[arg(long, alias = "mlp-batch", value_name = "N")]
    pub batch: Option<u64>,
    /// Blocks of siglip-mlp-benchmark, one after another
    #[arg(long, alias = "mlp-blocks", value_name = "N")]
    pub blocks: Option<u64>,
    /// Batch of the attention workloads
    #[arg(long, value_name = "N")]
    pub attention_batch: Option<u64>,
    /// Heads of the attention workloads
    #[arg(long, alias = "attention-heads", value_name = "N")]
    pub heads: Option<u64>,
}

/// Time resolution of a recorded profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GranularityArg {
    /// One sample a tile
    Graph,
    /// One sample for each run of a region label on a tile
    Region,
    /// Compute phases, and synchronization and exchange of each epoch
    Phase,
    /// Every kernel call, with operands and transfers
    Step,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Environment:
  IPU_PROFILE_OUTPUT       the profile to write, when -o is absent
  IPU_PROFILE_GRANULARITY  graph, region, phase or step, when --granularity is absent
  IPU_PROFILE_AGGREGATE    present with any value: granularity graph, whatever else is asked

Examples:
  ipu-stack run gemm.ipuexe
  ipu-stack run gemm.ipuexe -o gemm.ipuprofile --granularity step
  IPU_PROFILE_OUTPUT=gemm.ipuprofile ipu-stack run gemm.ipuexe --json")]
pub struct RunArgs {
    /// The package
    #[arg(value_name = "PACKAGE")]
    pub package: PathBuf,
    /// Profile to write
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Time resolution of the profile
    #[arg(long, value_enum, value_name = "LEVEL")]
    pub granularity: Option<GranularityArg>,
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "clap would print it as the help of the command"
    )]
    pub device: DeviceArgs,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `profile-query`.
#[derive(Debug, Args)]
#[command(after_help = "\
Filters combine with AND; a repeated --tile or --phase means any of them. Shares of work need
estimates in the file: where there are none the figure is unavailable, never zero.

Examples:
  ipu-stack profile-query gemm.ipuprofile
  ipu-stack profile-query gemm.ipuprofile --kernel gemm_f16_k64_c16 --group-by phase --limit 20
  ipu-stack profile-query gemm.ipuprofile --at 1000000 --group-by operation --samples 2 --json
  ipu-stack profile-query gemm.ipuprofile --kind compute --metadata role=gemm --group-by tile \\
      --sort-by maximum-cycles --samples 8 --json
  ipu-stack profile-query gemm.ipuprofile --group-by metadata --metadata-key inner_block")]
pub struct QueryArgs {
    /// The profile
    pub profile: PathBuf,
    /// kind, kernel, operation, phase, tile or metadata
    #[arg(long, value_name = "WHAT", default_value = "kernel")]
    pub group_by: String,
    /// Metadata name to group by
    #[arg(long, value_name = "NAME")]
    pub metadata_key: Option<String>,
    /// A figure of the result, such as phase-cycles, work-cycles, maximum-cycles, samples or name
    #[arg(long, value_name = "FIGURE", default_value = "phase-cycles")]
    pub sort_by: String,
    /// Only samples of this kind: exchange, compute, synchronization (sync) or idle
    #[arg(long)]
    pub kind: Option<String>,
    /// Only samples of this kernel, by its exact name
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// Only samples whose operation contains this text, case-sensitive
    #[arg(long, value_name = "TEXT")]
    pub operation_contains: Option<String>,
    /// Only samples of this physical tile; repeatable
    #[arg(long, value_name = "N")]
    pub tile: Vec<u32>,
    /// Only samples of this phase in any epoch; repeatable
    #[arg(long, value_name = "N")]
    pub phase: Vec<u32>,
    /// Only samples with this metadata name, or this value of it; repeatable, all must hold
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub metadata: Vec<String>,
    /// Only samples that cover this offset on the tile clock
    #[arg(long, value_name = "CYCLES")]
    pub at: Option<u64>,
    /// Only samples that cover this offset on the clock in force
    #[arg(long, value_name = "CYCLES", conflicts_with = "at")]
    pub at_offset: Option<u64>,
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "clap would print it as the help of the command"
    )]
    pub clock: ClockArgs,
    /// Groups to show after sorting; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// Also list the N longest matching samples
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub samples: usize,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Fail when a filter matches nothing
    #[arg(long)]
    pub strict: bool,
}

/// The clock in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub struct ClockArgs {
    /// The clock of offsets
    #[arg(long, value_enum, value_name = "CLOCK", default_value = "cropped")]
    pub clock: ClockArg,
    /// Short for --clock shared
    #[arg(long, conflicts_with = "clock")]
    pub shared_clock: bool,
}

/// The three clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ClockArg {
    /// Each tile's first sample is zero
    Tile,
    /// One common origin, minus the initial-sync crop
    #[default]
    Cropped,
    /// One common origin, nothing cropped
    Shared,
}

/// Arguments of `profile-inspect`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ipu-stack profile-inspect gemm.ipuprofile
  ipu-stack profile-inspect gemm.ipuprofile --json")]
pub struct InspectArgs {
    /// The profile
    pub profile: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `profile-convert`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ipu-stack profile-convert old.capnp -o new.ipuprofile
  ipu-stack profile-convert new.ipuprofile --to row -o old.capnp")]
pub struct ConvertArgs {
    /// The profile
    pub profile: PathBuf,
    /// Profile to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Format to write
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "columnar")]
    pub to: FormatArg,
}

/// The two generations of profile files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// Packed chunks with an index
    Columnar,
    /// One message with a list of samples a tile
    Row,
}

/// Arguments of `profile-render`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ipu-stack profile-render gemm.ipuprofile -o gemm.html")]
pub struct RenderArgs {
    /// The profile
    pub profile: PathBuf,
    /// HTML file to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Title of the page [default: the file name]
    #[arg(long)]
    pub title: Option<String>,
}

/// Arguments of `profile-synth`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ipu-stack profile-synth --samples 1000000 -o million.ipuprofile
  ipu-stack profile-synth --samples 10000000 --seed 7 -o ten-million.ipuprofile")]
pub struct SynthArgs {
    /// Samples at least; the last epoch is completed
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub samples: u64,
    /// Tiles
    #[arg(long, value_name = "N", default_value_t = 1_472)]
    pub tiles: u32,
    /// Seed of the generator
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Profile to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Arguments of `demo`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ipu-stack demo
  ipu-stack demo --no-open --exit
  ipu-stack demo --workload gemm-benchmark --output target/gemm")]
pub struct DemoArgs {
    /// Workload to compile and run
    #[arg(long, value_name = "NAME", default_value = "gemm-projections")]
    pub workload: String,
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "clap would print it as the help of the command"
    )]
    pub plan: PlanArgs,
    /// Folder for the package and the profile
    #[arg(long, value_name = "FOLDER", default_value = "target/demo")]
    pub output: PathBuf,
    /// Loopback port; 0 picks a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
    /// Do not open a browser
    #[arg(long)]
    pub no_open: bool,
    /// Stop after printing instead of serving
    #[arg(long)]
    pub exit: bool,
}

/// Arguments of `schedule-bench`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  ipu-stack schedule-bench prep62k.json")]
pub struct ScheduleBenchArgs {
    /// The exchange problem
    pub problem: PathBuf,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    /// Examples of a help text as commands, continued lines joined, variables in front dropped.
    fn examples(help: &str) -> Vec<String> {
        let joined = help.replace("\\\n", " ");
        let (_, examples) = joined
            .split_once("Examples:")
            .expect("the help has examples");
        let command = |line: &str| line.find("ipu-stack").map(|at| line[at..].to_owned());
        examples.lines().filter_map(command).collect()
    }

    #[test]
    fn every_subcommand_has_examples_that_it_understands() {
        let mut count = 0;
        for command in Cli::command().get_subcommands_mut() {
            let help = command.render_long_help().to_string();
            let found = examples(&help);
            assert!(!found.is_empty(), "{}: {help}", command.get_name());
            for example in found {
                let parsed = Cli::try_parse_from(example.split_whitespace());
                assert!(
                    parsed.is_ok(),
                    "{example}: {}",
                    parsed.expect_err("refused")
                );
                count += 1;
            }
        }
        assert!(count >= 20, "only {count} examples were found");
    }

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
