//! What the caller decides about a compilation. Nothing here has a hidden default: the command line
//! and the tests state every field.

use analytics::units::Cycles;

use crate::error::CompileError;
use crate::plan::{HeadLayout, PlanConstraint};

/// Tiles of an IPU21.
pub const TILES_MAX: u16 = 1472;

/// How operands reach the tiles that need them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperandPolicy {
    /// The host uploads each tensor once, spread over the tiles; multicast exchanges bring it where
    /// it is needed.
    Sharded,
    /// The host writes a copy wherever one is needed. Upload is not in device cycles, so this is
    /// the policy of single-inference comparisons.
    Replicated,
}

impl OperandPolicy {
    /// The name in flags and manifests.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sharded => "sharded",
            Self::Replicated => "replicated",
        }
    }
}

/// Which plans of attention are considered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AttentionStrategy {
    /// The cheapest of all.
    #[default]
    Auto,
    /// Query rows shared among the tiles of a head, keys streamed in blocks of 64.
    Flash,
    /// Query rows shared among the tiles of a head, all keys at once.
    Materialized,
}

impl AttentionStrategy {
    /// The name in flags and manifests.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Flash => "flash",
            Self::Materialized => "materialized",
        }
    }

    /// How projections lay heads out for it.
    #[must_use]
    pub const fn heads(self) -> HeadLayout {
        match self {
            Self::Auto => HeadLayout::Padded,
            Self::Flash | Self::Materialized => HeadLayout::Packed,
        }
    }
}

/// Everything a compilation depends on besides the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Workload name for the manifest; empty for a graph of the caller's own.
    pub workload: String,
    /// Logical tiles to use, 1..=1472.
    pub tiles: u16,
    /// How operands reach the tiles.
    pub operands: OperandPolicy,
    /// Tile clock in hertz for the package; converts cycles to seconds and decides nothing.
    pub clock_hz: u64,
    /// Dated set of kernel costs.
    pub kernel_generation: runtime::kernels::Generation,
    /// Plan with kernels whose cost no measurement stands behind; without it a package that would
    /// call one is refused.
    pub allow_assumed_kernels: bool,
    /// Which plans of attention are considered.
    pub attention: AttentionStrategy,
    /// Forced parts of the plan, at most one an operation.
    pub plan_constraints: Vec<PlanConstraint>,
    /// Flags in effect, for the manifest, in a fixed order.
    pub flags: Vec<(String, String)>,
}

impl Options {
    /// Checks the ranges of the options.
    ///
    /// # Errors
    /// [`CompileError::Option`] naming the option.
    pub(crate) fn validate(&self) -> Result<(), CompileError> {
        if !(1..=TILES_MAX).contains(&self.tiles) {
            let problem = format!("{} is outside 1..={TILES_MAX}", self.tiles);
            return Err(CompileError::Option {
                name: "tiles",
                problem,
            });
        }
        if self.clock_hz == 0 {
            let problem = "must be positive".to_owned();
            return Err(CompileError::Option {
                name: "clock-hz",
                problem,
            });
        }
        Ok(())
    }
}

/// Progress of a stage, reported from any thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Name of the stage, one of [`crate::timing::STAGES`].
    pub stage: &'static str,
    /// Units done.
    pub done: u64,
    /// Units in all; 0 is unknown.
    pub total: u64,
}

/// A place to report progress to. Must be cheap: it is called up to once a unit.
pub type ProgressSink<'a> = &'a (dyn Fn(Progress) + Sync);

/// The cycles that a plan is predicted to take, by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PredictedCycles {
    /// Exchanges that bring operands.
    pub operands: Cycles,
    /// Matrix products at the largest shard.
    pub gemm: Cycles,
    /// Exchanges of partial sums, and the copies of the tile's own.
    pub partials: Cycles,
    /// Summing the partials.
    pub reduce: Cycles,
    /// Softmax, merge, GeLU, norm and add.
    pub pointwise: Cycles,
}

impl PredictedCycles {
    /// The sum of the parts.
    #[must_use]
    pub fn total(&self) -> Cycles {
        self.operands + self.gemm + self.partials + self.reduce + self.pointwise
    }
}
