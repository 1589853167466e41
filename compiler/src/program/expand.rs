//! A plan as a program: (graph, plan) → [`Program`].

use crate::graph::Graph;
use crate::options::OperandPolicy;
use crate::plan::{Family, GemmPlan, OperationPlan, Plan, PlanError};

use super::Program;
use super::attention::expand_attention;
use super::build::Builder;
use super::gemm::{Residents, expand_gemms};
use super::pointwise::{expand_pointwise, expand_rows};
use super::shared_rows::expand_shared_rows;

/// Expands every operation in order, and at once what the plan does at once.
///
/// # Errors
/// [`PlanError::NoPlan`] for extents that no tile address reaches.
pub fn expand(graph: &Graph, plan: &Plan, policy: OperandPolicy) -> Result<Program, PlanError> {
    let mut builder = Builder::default();
    builder.program.tiles = plan.tiles;
    let mut residents = Residents::default();
    let plan_heads = plan.heads;
    let mut rest = plan.operations.as_slice();
    for &count in &plan.groups {
        let (group, later) = rest.split_at(count);
        rest = later;
        let gemms: Vec<&GemmPlan> = group.iter().filter_map(OperationPlan::gemm).collect();
        if !gemms.is_empty() {
            residents = expand_gemms(&mut builder, graph, &gemms, &residents)?;
            continue;
        }
        for each in group {
            residents = Residents::default();
            let operation = &graph.operations()[each.operation()];
            match each {
                OperationPlan::Attention(plan) => {
                    if matches!(plan.family, Family::Split | Family::SplitOnePass) {
                        expand_attention(&mut builder, graph, plan, policy)?;
                    } else {
                        expand_shared_rows(&mut builder, graph, plan)?;
                    }
                }
                OperationPlan::Pointwise { .. } => {
                    expand_pointwise(&mut builder, graph, operation, plan_heads);
                }
                OperationPlan::Rows { .. } => expand_rows(&mut builder, graph, operation, policy),
                OperationPlan::View { .. } | OperationPlan::Gemm(_) => {}
            }
        }
    }
    Ok(builder.program)
}
