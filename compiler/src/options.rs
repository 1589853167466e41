//! What the caller decides about a compilation. Nothing here has a hidden default: the command line
//! and the tests state every field.

use analytics::units::Cycles;

use crate::error::CompileError;
use crate::exchange::mapping::Mapping;
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

/// Which products of attention have a grid of their own, where the strategy leaves it open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AttentionProducts {
    /// The cheapest, rectangles of both products included.
    #[default]
    Auto,
    /// None: query rows are shared among the tiles of a head.
    SharedRows,
    /// The scores.
    QkOnly,
    /// The weighted values.
    PvOnly,
    /// Both.
    Independent,
}

impl AttentionProducts {
    /// The name in flags and manifests.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::SharedRows => "shared-rows",
            Self::QkOnly => "qk-only",
            Self::PvOnly => "pv-only",
            Self::Independent => "independent",
        }
    }
}

/// Which items exchanges may send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExchangeItems {
    /// Words, or 64-bit items over a borrowed lane where that makes an exchange shorter.
    #[default]
    Auto,
    /// Words alone, as in the published runs.
    Words,
}

impl ExchangeItems {
    /// The name in flags and manifests.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Words => "words",
        }
    }
}

/// What becomes of blocks of a graph that are alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RepeatPolicy {
    /// They are planned once and run in a Repeat.
    #[default]
    Keep,
    /// Each is planned and run by itself.
    Unroll,
}

impl RepeatPolicy {
    /// The name in flags and manifests.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Unroll => "unroll",
        }
    }
}

/// In how many slices of the contraction the operands of a product are brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperandSlices {
    /// As few as fit the memory.
    #[default]
    Auto,
    /// One: operands lie on the tiles whole.
    One,
    /// Two or more, where the contraction can be cut.
    Several,
}

impl OperandSlices {
    /// The name in manifests.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::One => "one",
            Self::Several => "several",
        }
    }

    /// Whether a contraction of `panels` panels may be brought in `chunks` slices.
    pub(crate) const fn allows(self, chunks: u32, panels: u32) -> bool {
        match self {
            Self::Auto => true,
            Self::One => chunks == 1,
            Self::Several => chunks > 1 || panels == 1,
        }
    }
}

/// How much is tried and how much may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Partial plans that are carried from one operation to the next, at least one.
    pub beam_width: usize,
    /// Bytes of a tile that plans may use; `None` is all of its data memory.
    pub tile_bytes: Option<u64>,
    /// Bytes of encoded rows on one tile; `None` is what its memory holds.
    pub row_bytes: Option<u64>,
    /// Transfers of one exchange that one tile may send and receive.
    pub transfers_per_tile: u64,
    /// Plans of the whole graph that are expanded to calls and transfers and priced anew.
    pub expanded_plans: usize,
    /// Plans among them, by that price, that are placed and scheduled; the fastest stays.
    pub placed_plans: usize,
    /// The one of these that is used, from 0; `None` is the fastest.
    pub only_placed: Option<usize>,
    /// Products of one operand are done at once, never one after another, where both can be.
    pub at_once: bool,
    /// How operands of a product are brought.
    pub slices: OperandSlices,
    /// Tile mappings that are scheduled beside the plain one.
    pub mappings: usize,
}

impl Limits {
    /// What is tried unless a flag says otherwise.
    pub const STANDARD: Self = Self {
        beam_width: 16,
        tile_bytes: None,
        row_bytes: None,
        transfers_per_tile: 16_384,
        expanded_plans: 1,
        placed_plans: 1,
        only_placed: None,
        at_once: false,
        slices: OperandSlices::Auto,
        mappings: 1,
    };
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
    /// Which products of attention have a grid of their own.
    pub products: AttentionProducts,
    /// What becomes of blocks that are alike.
    pub repeats: RepeatPolicy,
    /// Forced parts of the plan, at most one an operation; operations of a repeated block count
    /// once.
    pub plan_constraints: Vec<PlanConstraint>,
    /// Which items exchanges may send.
    pub items: ExchangeItems,
    /// How much is tried and how much may be used.
    pub limits: Limits,
    /// The place on the device, as a logical tile, of each planned tile; `None` lets the compiler
    /// choose.
    pub tile_mapping: Option<Mapping>,
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
        for (name, count) in [
            ("planning-beam-width", self.limits.beam_width),
            ("expanded-plan-finalists", self.limits.expanded_plans),
            ("placement-finalists", self.limits.placed_plans),
        ] {
            if count == 0 {
                let problem = "must be at least 1".to_owned();
                return Err(CompileError::Option { name, problem });
            }
        }
        let Limits {
            only_placed,
            placed_plans,
            ..
        } = self.limits;
        if only_placed.is_some_and(|index| index >= placed_plans) {
            let problem = format!("must be below the {placed_plans} of placement-finalists");
            return Err(CompileError::Option {
                name: "capture-finalist",
                problem,
            });
        }
        if let Some(mapping) = &self.tile_mapping {
            let mut places = mapping.clone();
            places.sort_unstable();
            if places != crate::exchange::mapping::identity(self.tiles) {
                let problem = format!("must name each of the {} tiles once", self.tiles);
                return Err(CompileError::Option {
                    name: "tile-mapping",
                    problem,
                });
            }
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
    /// Name of the stage, one of those in [`crate::timing::STAGES`].
    pub stage: &'static str,
    /// Units of its part in work that are done, such as exchanges that are scheduled; a part is
    /// announced with none and ends with all.
    pub done: u64,
    /// Units in all; 0 is not known yet.
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
    /// The parts of something done `count` times.
    #[must_use]
    pub fn times(&self, count: u64) -> Self {
        Self {
            operands: self.operands.times(count),
            gemm: self.gemm.times(count),
            partials: self.partials.times(count),
            reduce: self.reduce.times(count),
            pointwise: self.pointwise.times(count),
        }
    }

    /// The sum of the parts.
    #[must_use]
    pub fn total(&self) -> Cycles {
        self.operands + self.gemm + self.partials + self.reduce + self.pointwise
    }
}
