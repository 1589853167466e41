//! Chooses how each operation is spread over the tiles: (graph, options) → [`Plan`].
//!
//! A plan is data: for each GEMM a grid, an orientation, where coefficients lie, how operands
//! arrive and in how many chunks the contraction is streamed. Candidates that do not fit the memory
//! of the fullest tile are dropped before any ranking; the rest are ranked by predicted cycles, and
//! operations are chosen together so that an operand which the next one needs in the same place
//! counts once.

mod candidate;
mod constraint;
mod explain;
mod problem;
mod select;

use std::fmt;

use runtime::package::MemoryClass;

use crate::instrument::class_name;
use crate::layout::LANES;
use crate::options::{OperandPolicy, PredictedCycles};

pub use constraint::PlanConstraint;
pub use problem::{Cell, Grid, Operand, Orientation, Problem};
pub use select::plan;

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
        write!(f, "{}:{rows}x{columns}x{inner}:{inner}x1", self.operation)?;
        write!(f, ":{}:{memory}", self.groups * LANES)?;
        write!(f, ":{}:complete:{local}", self.orientation.name())?;
        if self.chunks > 1 {
            write!(f, ":chunks={}", self.chunks)?;
        }
        Ok(())
    }
}

/// A plan of the whole graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Logical tiles of the device that are in use.
    pub tiles: u16,
    /// One plan an operation, in graph order.
    pub operations: Vec<GemmPlan>,
    /// Predicted cycles of each.
    pub predicted: Vec<PredictedCycles>,
    /// The best candidates of each operation with their cycles by part, for people.
    pub explain: String,
}
