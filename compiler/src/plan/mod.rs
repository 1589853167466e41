//! Chooses how each operation is spread over the tiles: (graph, options) → [`Plan`].
//!
//! A plan is data: for each GEMM a grid, an orientation, where coefficients lie, how operands
//! arrive and in how many chunks the contraction is streamed. Candidates that do not fit the memory
//! of the fullest tile are dropped before any ranking; the rest are ranked by predicted cycles, and
//! operations are chosen together so that an operand which the next one needs in the same place
//! counts once.

mod attention;
mod candidate;
mod constraint;
mod explain;
mod family;
mod pick;
mod pointwise;
mod problem;
mod products;
mod rank;
mod select;
mod shape;
mod shared_rows;

use std::fmt;

use runtime::package::MemoryClass;

use crate::graph::Graph;
use crate::instrument::class_name;
use crate::layout::LANES;
use crate::options::{OperandPolicy, PredictedCycles};

pub(crate) use attention::{AttentionProblem, merge, merge_all, own_copy, softmax};
pub(crate) use candidate::{EXCHANGE_OVERHEAD, ROUTE};
pub use constraint::PlanConstraint;
pub use family::{AttentionPlan, Family};
pub(crate) use pointwise::{add, gelu, layer_norm};
pub use problem::{Cell, Grid, Operand, Orientation, Problem};
pub(crate) use select::plans_counted;
pub use select::{plan, plans};
pub use shape::HeadLayout;
pub(crate) use shape::{axis, consumers, wanted_axes};
pub(crate) use shared_rows::KEY_BLOCK;

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A plan text that does not parse or names a part that is not supported.
    #[error("constraint {text}: field {field}: {problem}")]
    Constraint {
        /// The text as given.
        text: String,
        /// The field, such as `grid`.
        field: &'static str,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// A repeated block that cannot run on what its last run left; its runs have to be planned one
    /// after another.
    #[error("the repeated block of {operation}: {problem}")]
    Repeat {
        /// The first operation of the block.
        operation: String,
        /// Why not.
        problem: String,
    },
    /// Every grid of an operation was infeasible.
    #[error("operation {operation}: {problem}")]
    NoPlan {
        /// The operation.
        operation: String,
        /// How many grids were tried and what the best lacked.
        problem: String,
    },
}

/// How one GEMM is spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GemmPlan {
    /// Graph operation index.
    pub operation: usize,
    /// Which operand is streamed.
    pub orientation: Orientation,
    /// The grid of tiles.
    pub grid: Grid,
    /// Groups of 16 columns of the fullest tile.
    pub groups: u32,
    /// Where coefficients lie.
    pub coefficients: MemoryClass,
    /// How operands arrive.
    pub policy: OperandPolicy,
    /// Parts that the contraction of a tile is streamed in.
    pub chunks: u32,
    /// Owners of a result block, each of a linear piece: at most the contraction parts.
    pub pieces: u32,
    /// First logical tile of the grid.
    pub first_tile: u16,
    /// How the heads of a projection are laid out.
    pub heads: HeadLayout,
}

impl GemmPlan {
    /// Logical tile of a cell.
    #[must_use]
    pub const fn tile(&self, cell: Cell) -> u16 {
        self.first_tile + self.grid.tile(cell)
    }
}

impl fmt::Display for GemmPlan {
    /// The text that [`PlanConstraint::parse`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Grid {
            rows,
            columns,
            inner,
        } = self.grid;
        let memory = class_name(self.coefficients);
        let local = match self.policy {
            OperandPolicy::Sharded => "match-remote",
            OperandPolicy::Replicated => "direct",
        };
        let pieces = self.pieces;
        write!(f, "{}:{rows}x{columns}x{inner}:{pieces}x1", self.operation)?;
        write!(f, ":{}:{memory}", self.groups * LANES)?;
        write!(f, ":{}:complete:{local}", self.orientation.name())?;
        if self.chunks > 1 {
            write!(f, ":chunks={}", self.chunks)?;
        }
        if self.first_tile > 0 {
            write!(f, ":tile={}", self.first_tile)?;
        }
        Ok(())
    }
}

/// How one operation is spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationPlan {
    /// A matrix product.
    Gemm(GemmPlan),
    /// An attention.
    Attention(AttentionPlan),
    /// Element by element, where the operand lies.
    Pointwise {
        /// Graph operation index.
        operation: usize,
    },
    /// Whole rows, one tile after another.
    Rows {
        /// Graph operation index.
        operation: usize,
    },
    /// Another name for the same elements.
    View {
        /// Graph operation index.
        operation: usize,
    },
}

impl OperationPlan {
    /// Graph operation index.
    #[must_use]
    pub const fn operation(&self) -> usize {
        match *self {
            Self::Gemm(GemmPlan { operation, .. })
            | Self::Attention(AttentionPlan { operation, .. })
            | Self::Pointwise { operation }
            | Self::Rows { operation }
            | Self::View { operation } => operation,
        }
    }

    /// The plan of a matrix product.
    #[must_use]
    pub const fn gemm(&self) -> Option<&GemmPlan> {
        match self {
            Self::Gemm(plan) => Some(plan),
            _ => None,
        }
    }
}

impl fmt::Display for OperationPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gemm(plan) => plan.fmt(f),
            Self::Attention(plan) => plan.fmt(f),
            Self::Pointwise { operation } => write!(f, "{operation}:in-place"),
            Self::Rows { operation } => write!(f, "{operation}:rows"),
            Self::View { operation } => write!(f, "{operation}:view"),
        }
    }
}

/// A plan of the whole graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Logical tiles of the device that are in use.
    pub tiles: u16,
    /// How projections lay heads out.
    pub heads: HeadLayout,
    /// One plan an operation, in graph order.
    pub operations: Vec<OperationPlan>,
    /// Lengths of the runs of operations that are done at once on different tiles, in order; they
    /// add up to the operations.
    pub groups: Vec<usize>,
    /// Predicted cycles of each.
    pub predicted: Vec<PredictedCycles>,
    /// The best candidates of each operation with their cycles by part, for people.
    pub explain: String,
    /// Plans of single operations that were priced or found not to fit.
    pub tried: u64,
}

impl Plan {
    /// Lengths of the runs of tiles that work alike in the plan of a graph: strides of the grids,
    /// and grids.
    pub(crate) fn blocks(&self, graph: &Graph) -> Vec<u16> {
        let lengths = self
            .operations
            .iter()
            .flat_map(|operation| match operation {
                OperationPlan::Gemm(plan) => {
                    let Grid { columns, inner, .. } = plan.grid;
                    vec![columns, columns * inner, plan.grid.tiles()]
                }
                OperationPlan::Attention(plan) => {
                    let operation = &graph.operations()[plan.operation];
                    plan.blocks(graph.attention_extents(operation).streams)
                }
                _ => Vec::new(),
            });
        lengths
            .filter_map(|length| u16::try_from(length).ok())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_the_strides_of_the_tiles_of_attention() {
        let plan = |family| AttentionPlan::of_one_grid(0, family, [92, 12]);
        for family in [Family::Flash, Family::Materialized] {
            let plan = plan(family);
            assert_eq!(plan.blocks(16), [16, 1472]);
            // From a part of the rows to the next, and past the last part of the last stream.
            assert_eq!(plan.shared_tile(16, 3, 5) - plan.shared_tile(16, 3, 4), 16);
            assert_eq!(plan.shared_tile(16, 15, 91), 1471);
        }
        let plan = AttentionPlan {
            queries: 4,
            keys: 23,
            values: [9, 10],
            owners: 92,
            ..plan(Family::Products)
        };
        assert_eq!(plan.blocks(16), [23, 10, 92]);
        assert_eq!(plan.tile(1, 0, 0) - plan.tile(0, 0, 0), 92);
    }
}
