//! Chooses how each operation is spread over the tiles.

mod constraint;

pub use constraint::PlanConstraint;

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
