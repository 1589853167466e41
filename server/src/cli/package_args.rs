//! What can be typed after the subcommands that look into packages.

use std::path::PathBuf;

use clap::Args;

/// Arguments of `package-memory`.
#[derive(Debug, Args)]
#[command(after_help = "\
Lifetimes count in items of the schedule, a Repeat body once. The memory of a tile is 638976 bytes.

Examples:
  ipu-stack package-memory gemm.ipuexe
  ipu-stack package-memory gemm.ipuexe --tile 70
  ipu-stack package-memory gemm.ipuexe --json")]
pub struct MemoryArgs {
    /// The package
    pub package: PathBuf,
    /// Physical tile whose allocations are listed [default: the fullest]
    #[arg(long, value_name = "ID")]
    pub tile: Option<u32>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `package-traffic`.
#[derive(Debug, Args)]
#[command(after_help = "\
Bytes that the declared deliveries land on tiles over the whole run, Repeats counted as often as
they run. With fewer cells than tiles, neighbours in the order of physical ids share one.

Examples:
  ipu-stack package-traffic gemm.ipuexe
  ipu-stack package-traffic gemm.ipuexe --cells 23 --limit 0 --json")]
pub struct TrafficArgs {
    /// The package
    pub package: PathBuf,
    /// Cells on each side of the matrix [default: one for each tile]
    #[arg(long, value_name = "N")]
    pub cells: Option<u32>,
    /// Pairs to show; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
