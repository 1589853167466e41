//! A plan as a program: (graph, plan) → [`Program`].

use crate::graph::Graph;
use crate::plan::{Plan, PlanError};

use super::Program;
use super::build::Builder;
use super::gemm::{Residents, expand_gemm};

/// Expands every operation in order.
///
/// # Errors
/// [`PlanError::NoPlan`] for extents that no tile address reaches.
pub fn expand(graph: &Graph, plan: &Plan) -> Result<Program, PlanError> {
    let mut builder = Builder::default();
    builder.program.tiles = plan.tiles;
    let mut residents = Residents::default();
    for gemm in &plan.operations {
        residents = expand_gemm(&mut builder, graph, gemm, &residents)?;
    }
    Ok(builder.program)
}
