//! A profile in memory: header, tables and packed sample chunks.
//!
//! Samples stay packed as they are in the columnar file and are decoded chunk by chunk into
//! scratch, so a profile costs at most four bytes a sample however it was opened.

mod chunk;
mod overview;
mod report;
pub mod step;
mod tables;
mod walk;
mod warn;

pub use chunk::{ChunkEntry, ChunkScratch, TileSpan};
pub use overview::{Ending, KernelSummary, Overview, Summary};
pub(crate) use report::Page;
pub(crate) use report::in_file_order;
pub use report::{Condition, ProfileReport};
pub use step::{ActivityKind, ExchangeActivity, SampleKind, StepDescriptor, WorkEstimate};
pub use tables::{EstimateRow, PhaseKey, StepRow, StepView, TileEntry};
pub(crate) use tables::{MetadataTable, StringTable};
pub use walk::Sample;
pub(crate) use walk::visit_chunk;
pub(crate) use warn::CUT_FROM_TRUNCATED;

/// How finely a run was sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Granularity {
    /// One sample a tile for the whole run.
    Graph,
    /// One sample a tile for each run of one region label.
    Region,
    /// Compute phases, and synchronization and exchange of each epoch.
    #[default]
    Phase,
    /// Every lowered call, with operands and transfers.
    Step,
    /// Not recorded in the file.
    Unknown,
}

impl Granularity {
    /// The name in flags, environment variables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Graph => "graph",
            Self::Region => "region",
            Self::Phase => "phase",
            Self::Step => "step",
            Self::Unknown => "unknown",
        }
    }
}

/// What is true of the whole profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileHeader {
    /// Schema version of the row file this came from (1..=5), or 0 for one we recorded.
    pub row_schema_version: u32,
    /// Tile clock in hertz; 0 is unknown.
    pub clock_hz: u64,
    /// How finely the run was sampled.
    pub granularity: Granularity,
    /// The machine, such as `ipu21`; empty is unknown.
    pub target: String,
    /// Whether a simulator, not hardware, produced the counters; `None` is unknown.
    pub simulated: Option<bool>,
    /// Seed of the run; `None` is unknown.
    pub seed: Option<u64>,
    /// Provenance in order: workload, plan, kernel generation, cost parameters, assumed constants.
    pub provenance: Vec<(String, String)>,
}
