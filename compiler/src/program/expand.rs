//! A plan as a program: (graph, plan) → [`Program`].

use std::ops::Range;

use crate::graph::Graph;
use crate::options::OperandPolicy;
use crate::plan::{Family, GemmPlan, OperationPlan, Plan, PlanError};

use super::Program;
use super::attention::expand_attention;
use super::build::Builder;
use super::gemm::{Residents, expand_gemms};
use super::pointwise::{expand_pointwise, expand_rows};
use super::products::expand_products;
use super::repeat::{expand_repeat, merge};
use super::shared_rows::expand_shared_rows;

/// Expands every operation in order, at once what the plan does at once, and a block that the graph
/// repeats as one.
///
/// # Errors
/// [`PlanError::NoPlan`] for extents that no tile address reaches, [`PlanError::Repeat`] for a
/// block that cannot run on what its last run left.
pub fn expand(graph: &Graph, plan: &Plan, policy: OperandPolicy) -> Result<Program, PlanError> {
    let mut builder = Builder::default();
    builder.program.tiles = plan.tiles;
    let all = 0..plan.operations.len();
    let some = |builder: &mut Builder, range: Range<usize>| {
        expand_operations(builder, (graph, plan, policy), &range)
    };
    let Some(repeat) = graph.repeat() else {
        some(&mut builder, all)?;
        return Ok(builder.program);
    };
    let Range { start, end } = repeat.operations.clone();
    some(&mut builder, 0..start)?;
    let block = (graph, repeat, plan.heads);
    let aliases = expand_repeat(&mut builder, block, |builder| some(builder, start..end))?;
    some(&mut builder, end..all.end)?;
    merge(&mut builder.program, &aliases);
    Ok(builder.program)
}

/// Expands some operations, which start with nothing from before on the tiles.
fn expand_operations(
    builder: &mut Builder,
    (graph, plan, policy): (&Graph, &Plan, OperandPolicy),
    range: &Range<usize>,
) -> Result<(), PlanError> {
    let mut residents = Residents::default();
    let mut rest = plan.operations.as_slice();
    for &count in &plan.groups {
        let (group, later) = rest.split_at(count);
        rest = later;
        if !range.contains(&group[0].operation()) {
            continue;
        }
        builder.layer = graph.operations()[group[0].operation()].layer();
        let gemms: Vec<&GemmPlan> = group.iter().filter_map(OperationPlan::gemm).collect();
        if !gemms.is_empty() {
            residents = expand_gemms(builder, graph, &gemms, &residents)?;
            continue;
        }
        residents = Residents::default();
        for each in group {
            expand_other(builder, (graph, plan, policy), each)?;
        }
    }
    Ok(())
}

/// Expands an operation that is no product.
fn expand_other(
    builder: &mut Builder,
    (graph, plan, policy): (&Graph, &Plan, OperandPolicy),
    each: &OperationPlan,
) -> Result<(), PlanError> {
    let operation = &graph.operations()[each.operation()];
    match each {
        OperationPlan::Attention(plan) => match plan.family {
            Family::Split | Family::SplitOnePass => {
                expand_attention(builder, graph, plan, policy)?;
            }
            Family::Products => expand_products(builder, graph, plan, policy)?,
            Family::Flash | Family::Materialized => expand_shared_rows(builder, graph, plan)?,
        },
        OperationPlan::Pointwise { .. } => expand_pointwise(builder, graph, operation, plan.heads),
        OperationPlan::Rows { .. } => expand_rows(builder, graph, operation, policy),
        OperationPlan::View { .. } | OperationPlan::Gemm(_) => {}
    }
    Ok(())
}
