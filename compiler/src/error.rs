//! What can go wrong while compiling, by stage. Bad input ends here, never in a panic.

use crate::graph::GraphError;
use crate::place::PlaceError;
use crate::plan::PlanError;

/// Why a graph could not be compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The graph breaks a rule of the IR. The caller's graph is at fault.
    #[error("graph: {0}")]
    Graph(#[from] GraphError),
    /// An option is out of range or contradicts another. The caller is at fault.
    #[error("option {name}: {problem}")]
    Option {
        /// Name of the option as on the command line.
        name: &'static str,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// No legal plan, or a forced plan that is illegal.
    #[error("plan: {0}")]
    Plan(#[from] PlanError),
    /// The tile memory does not hold what the plan needs.
    #[error("place: {0}")]
    Place(#[from] PlaceError),
    /// An exchange could not be scheduled or encoded.
    #[error("exchange of {operation}: {problem}")]
    Exchange {
        /// The operation that the exchange serves.
        operation: String,
        /// What the exchange back end reported.
        problem: String,
    },
    /// A stage's result failed its independent check: a bug in this crate.
    #[error("internal check of {stage} failed: {problem}")]
    Verify {
        /// The stage whose result is wrong.
        stage: &'static str,
        /// What the check found.
        problem: String,
    },
}
