//! What can be typed after the subcommands that analyse profiles.

use std::path::PathBuf;

use clap::Args;

use super::args::ClockArgs;

/// Arguments of `profile-barriers`.
#[derive(Debug, Args)]
#[command(after_help = "\
Instants are on the shared clock. A tile arrives when its synchronization starts; it waits until the
last tile has arrived. The kernel is what the last tile ran while the others waited for it.

Examples:
  ipu-stack profile-barriers gemm.ipuprofile
  ipu-stack profile-barriers gemm.ipuprofile --sort-by waiting --limit 5
  ipu-stack profile-barriers gemm.ipuprofile --kernel gemm_f16_k64_c16
  ipu-stack profile-barriers gemm.ipuprofile --limit 0 --json")]
pub struct BarriersArgs {
    /// The profile
    pub profile: PathBuf,
    /// last-exit, arrival-spread, waiting or after-last-arrival
    #[arg(long, value_name = "FIGURE", default_value = "last-exit")]
    pub sort_by: String,
    /// Only boundaries whose last tile ran this kernel most: who waits for it
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// Boundaries to show after sorting; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Fail when no boundary is left
    #[arg(long)]
    pub strict: bool,
}

/// Arguments of `profile-critical-path`.
#[derive(Debug, Args)]
#[command(after_help = "\
The last arrivals at the exchanges cut the run into stretches, each as long as its last tile took;
the parts of these tiles sum to the run. Predictions keep exchanges and barriers as they were.

Examples:
  ipu-stack profile-critical-path gemm.ipuprofile
  ipu-stack profile-critical-path gemm.ipuprofile --faster 25 --limit 5
  ipu-stack profile-critical-path gemm.ipuprofile --shared-clock --limit 0 --json")]
pub struct CriticalPathArgs {
    /// The profile
    pub profile: PathBuf,
    /// Part of its time that a kernel is supposed to save, in percent, 0 to 100
    #[arg(long, value_name = "PERCENT", default_value = "10")]
    pub faster: String,
    /// Start at the first sample of any tile, with nothing cropped
    #[arg(long)]
    pub shared_clock: bool,
    /// Stretches and kernels to show; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub limit: usize,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `profile-diff`.
#[derive(Debug, Args)]
#[command(after_help = "\
Kernels, operations and tiles are paired by name, phases by what runs in them. A change is judged by
phase cycles: the sum over phases of the longest tile. What it made of the run is its change on the
critical path, \"on path\": by kind, operation and phase these sum to the change of the run, and the
largest come first. Exit status 3 says that a limit was passed.

Examples:
  ipu-stack profile-diff before.ipuprofile after.ipuprofile
  ipu-stack profile-diff before.ipuprofile after.ipuprofile --fail-above 2%
  ipu-stack profile-diff before.ipuprofile after.ipuprofile --markdown --limit 5
  ipu-stack profile-diff before.ipuprofile after.ipuprofile --json --limit 0")]
pub struct DiffArgs {
    /// The profile to compare with
    pub before: PathBuf,
    /// The profile to judge
    pub after: PathBuf,
    /// End with status 3 where the run is longer by more than this
    #[arg(long, value_name = "PERCENT")]
    pub fail_above: Option<String>,
    /// Largest change in cycles that counts as none [default: 24, or 0 between simulated profiles]
    #[arg(long, value_name = "CYCLES")]
    pub noise: Option<u64>,
    /// Compare profiles of different granularity all the same
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "clap would print it as the help of the command"
    )]
    pub clock: ClockArgs,
    /// Changes to show of each kind; 0 shows all, those within the noise too
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub limit: usize,
    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Print Markdown, as for a comment on a change
    #[arg(long)]
    pub markdown: bool,
}

/// Some tiles and cycles of a profile, on a clock.
#[derive(Clone, Debug, Default, Args)]
pub struct PartArgs {
    /// Physical tiles, such as 0-63,100; repeatable [default: all]
    #[arg(long, value_name = "LIST")]
    pub tiles: Vec<String>,
    /// Cycles that a sample must touch, from the first to before the second [default: all]
    #[arg(long, value_name = "FIRST..END")]
    pub range: Option<String>,
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "clap would print it as the help of the command"
    )]
    pub clock: ClockArgs,
}

/// Arguments of `profile-part`.
#[derive(Debug, Args)]
#[command(after_help = "\
Cycles count as far as they lie in the range, work counts of samples that lie inside whole: of one
that an edge cuts nobody knows which part of its work was left.

Examples:
  ipu-stack profile-part gemm.ipuprofile --range 10000..20000
  ipu-stack profile-part gemm.ipuprofile --tiles 0-63,100 --json
  ipu-stack profile-part gemm.ipuprofile --range 10000..10001 --by-tile
  ipu-stack profile-part gemm.ipuprofile --by-tile --kernel gemm_f16_k64_c16 --json")]
pub struct SpentArgs {
    /// The profile
    pub profile: PathBuf,
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "clap would print it as the help of the command"
    )]
    pub part: PartArgs,
    /// Also list the tiles of the part
    #[arg(long)]
    pub by_tile: bool,
    /// Compute figures of the tiles are of this kernel alone
    #[arg(long, value_name = "NAME", requires = "by_tile")]
    pub kernel: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `profile-exchange`.
#[derive(Debug, Args)]
#[command(after_help = "\
Transfers are scheduled, not measured: they are placed in the measured exchanges. An event moves 4
bytes, 8 where the pair partner's lane is borrowed. With --range or --tiles the ports of that part
are listed as well. Only profiles with --granularity step tell of transfers.

Examples:
  ipu-stack profile-exchange gemm.ipuprofile
  ipu-stack profile-exchange gemm.ipuprofile --limit 0 --json
  ipu-stack profile-exchange gemm.ipuprofile --range 10000..20000 --tiles 0-63")]
pub struct ExchangeArgs {
    /// The profile
    pub profile: PathBuf,
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "clap would print it as the help of the command"
    )]
    pub part: PartArgs,
    /// Exchanges and tiles to show; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
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

/// Arguments of `profile-export`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exported are the samples that profile-query counts. Tables have one row a sample. Timelines show one
cycle as one unit of time, exactly, whatever the format calls it; --time clock gives real time.

  parquet, arrow, csv   DuckDB, polars, Spark, pandas
  perfetto, chrome-json ui.perfetto.dev
  speedscope            speedscope.app: the only one that knows cycles
  firefox               profiler.firefox.com, up to 256 tiles

Examples:
  ipu-stack profile-export gemm.ipuprofile --format parquet -o gemm.parquet
  ipu-stack profile-export gemm.ipuprofile --format perfetto -o gemm.pftrace
  ipu-stack profile-export gemm.ipuprofile --format chrome-json --tiles 0-63 -o gemm.json
  ipu-stack profile-export gemm.ipuprofile --format csv --range 1000..2000 -o gemm.csv")]
pub struct ExportArgs {
    /// The profile
    pub profile: PathBuf,
    /// parquet, arrow, csv, perfetto, chrome-json, speedscope or firefox
    #[arg(long, value_name = "FORMAT")]
    pub format: String,
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "clap would print it as the help of the command"
    )]
    pub part: PartArgs,
    /// Unit of timelines: cycles, or clock for real time
    #[arg(long, value_enum, value_name = "UNIT", default_value = "cycles")]
    pub time: TimeArg,
    /// Largest output in bytes, estimated before anything is written [default: what the tools bear]
    #[arg(long, value_name = "BYTES")]
    pub max_bytes: Option<u64>,
    /// File to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// The unit of timelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TimeArg {
    /// One cycle is one unit of the format
    Cycles,
    /// Nanoseconds at the tile clock
    Clock,
}

/// Arguments of `profile-slice`.
#[derive(Debug, Args)]
#[command(after_help = "\
Samples that touch the range are kept whole. The clocks of the new file start anew, and its header
says what was cut.

Examples:
  ipu-stack profile-slice gemm.ipuprofile --range 10000..20000 -o part.ipuprofile
  ipu-stack profile-slice gemm.ipuprofile --tiles 0-63,100 -o part.ipuprofile")]
pub struct SliceArgs {
    /// The profile
    pub profile: PathBuf,
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "clap would print it as the help of the command"
    )]
    pub part: PartArgs,
    /// Profile to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Arguments of `profile-plot`.
#[derive(Debug, Args)]
#[command(after_help = "\
The extension of the output decides: .svg is vector, .png is rasterised from it. The data of a chart
over kernels, phases or tiles is what profile-query prints.

Examples:
  ipu-stack profile-plot gemm.ipuprofile -o kernel-work.svg
  ipu-stack profile-plot gemm.ipuprofile --chart tiles --figure useful-efficiency -o tiles.png
  ipu-stack profile-plot gemm.ipuprofile --chart durations --kernel gelu_f16 -o gelu.svg
  ipu-stack profile-plot gemm.ipuprofile --chart phases --size 1600x900 --dark -o phases.png
  ipu-stack profile-plot gemm.ipuprofile --chart roofline -o roofline.svg
  ipu-stack profile-plot gemm.ipuprofile --chart cumulative --json")]
pub struct PlotArgs {
    /// The profile
    pub profile: PathBuf,
    /// What to draw
    #[arg(long, value_enum, value_name = "CHART", default_value = "kernel-work")]
    pub chart: ChartArg,
    /// Colour of a tile: a figure of profile-query
    #[arg(long, value_name = "FIGURE", default_value = "work-cycles")]
    pub figure: String,
    /// Only samples of this kind; all for --chart phases [default: compute]
    #[arg(long)]
    pub kind: Option<String>,
    /// Only samples of this kernel, by its exact name
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    #[command(flatten)]
    #[expect(
        missing_docs,
        reason = "clap would print it as the help of the command"
    )]
    pub clock: ClockArgs,
    /// Width and height in pixels
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "960x540")]
    pub size: String,
    /// Light on dark
    #[arg(long)]
    pub dark: bool,
    /// File to write: .svg or .png
    #[arg(short, long, value_name = "FILE", required_unless_present = "json")]
    pub output: Option<PathBuf>,
    /// Print the data of the chart as JSON
    #[arg(long)]
    pub json: bool,
}

/// The charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ChartArg {
    /// Work cycles of each kernel, and their useful part
    KernelWork,
    /// How many samples took how long
    Durations,
    /// A map of the tiles
    Tiles,
    /// Phases from their first to their last sample
    Phases,
    /// Useful efficiency of each kernel under the roof of its lane occupancy
    Roofline,
    /// How measured, physical and useful work add up over the run
    Cumulative,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Writes profile.ipuprofile, viewer.html, summary.json, barriers.json, critical-path.json and
kernel-work.png.

Examples:
  ipu-stack report gemm.ipuprofile -o gemm-report
  ipu-stack report gemm.ipuprofile -o gemm-report --title gemm")]
pub struct ReportArgs {
    /// The profile
    pub profile: PathBuf,
    /// Title of the viewer page [default: the name of the file]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Folder to write into; made where there is none
    #[arg(short, long, value_name = "FOLDER")]
    pub output: PathBuf,
}
