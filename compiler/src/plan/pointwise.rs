//! Operations that are no products: where they are done and what they cost.

use analytics::units::Cycles;
use runtime::kernels::cycles;
use runtime::package::{Add, Gelu, KernelSpec, LayerNorm, Output, Scalar};

use crate::graph::{Graph, OperationKind, ValueId};
use crate::layout::{LANES, UNIT_BYTES};
use crate::options::{Options, PredictedCycles};

use super::candidate::{endpoint, phase_overhead};
use super::pick::Pick;
use super::shape::{consumers, fitting};
use super::{OperationPlan, PlanError, Problem};

/// Variance that layer norms add before the root.
pub(crate) const EPSILON: f32 = 1e-6;

/// Most bytes of a row that one norm keeps on a tile, a quarter of the memory.
const ROW_BYTES_MAX: u64 = 128 * 1024;

/// The plan of an operation after `picks`.
///
/// # Errors
/// [`PlanError::NoPlan`] for a view that nothing can read, or a row that is too wide.
pub(super) fn pick(
    graph: &Graph,
    options: &Options,
    operation: usize,
    picks: &[Pick],
) -> Result<Pick, PlanError> {
    let each = &graph.operations()[operation];
    let generation = options.kernel_generation;
    let none = PredictedCycles::default();
    match each.kind {
        OperationKind::SplitHeads { .. } | OperationKind::MergeHeads { .. } => {
            check_view(graph, operation)?;
            Ok(Pick::light(OperationPlan::View { operation }, none))
        }
        OperationKind::LayerNorm => {
            let (rows, width) = graph.value(each.output).matrix();
            if width * 2 > ROW_BYTES_MAX {
                let problem = format!("rows of {width} exceed {} elements", ROW_BYTES_MAX / 2);
                return Err(refusal(&each.name, problem));
            }
            let width = fitting(width, &each.name)?;
            let rows = rows.div_ceil(u64::from(options.tiles));
            let units = width.div_ceil(LANES);
            let norm = KernelSpec::LayerNorm(layer_norm(width));
            let predicted = PredictedCycles {
                operands: endpoint(units, units).times(rows) + phase_overhead(),
                pointwise: cycles(&norm, generation).times(rows),
                ..none
            };
            Ok(Pick::light(OperationPlan::Rows { operation }, predicted))
        }
        _ => {
            let units = piece_units(graph, options, picks, each.inputs[0]);
            let elements = units * LANES;
            let (kernel, operands) = if each.kind == OperationKind::Gelu {
                (KernelSpec::Gelu(gelu(elements)), Cycles::ZERO)
            } else {
                (
                    KernelSpec::Add(add(elements)),
                    endpoint(units, units) + phase_overhead(),
                )
            };
            let predicted = PredictedCycles {
                operands,
                pointwise: cycles(&kernel, generation),
                ..none
            };
            Ok(Pick::light(
                OperationPlan::Pointwise { operation },
                predicted,
            ))
        }
    }
}

/// GeLU of a flat range.
pub(crate) const fn gelu(elements: u32) -> Gelu {
    Gelu {
        rows: 1,
        width: elements,
        output: Output::F16,
    }
}

/// The sum of two flat ranges.
pub(crate) const fn add(elements: u32) -> Add {
    Add {
        rows: 1,
        width: elements,
    }
}

/// The norm of one row.
pub(crate) const fn layer_norm(width: u32) -> LayerNorm {
    LayerNorm {
        rows: 1,
        width,
        add: false,
        epsilon: Scalar::new(EPSILON),
        output: Output::F16,
    }
}

/// Units of the largest piece of a value.
fn piece_units(graph: &Graph, options: &Options, picks: &[Pick], value: ValueId) -> u32 {
    let spread = || {
        let bytes = graph.value(value).elements() * 2 / u64::from(options.tiles);
        u32::try_from(bytes)
            .unwrap_or(u32::MAX)
            .div_ceil(UNIT_BYTES)
    };
    let Some(producer) = graph.producer(value) else {
        return spread();
    };
    let operation = &graph.operations()[producer];
    match picks.get(producer).map(|pick| pick.plan) {
        Some(OperationPlan::Gemm(plan)) => {
            let Ok(problem) = Problem::new(graph, operation, plan.orientation, plan.heads) else {
                return spread();
            };
            let lines = problem.most_lines(plan.grid);
            (lines * plan.groups).div_ceil(plan.pieces)
        }
        Some(OperationPlan::Pointwise { .. }) => {
            piece_units(graph, options, picks, operation.inputs[0])
        }
        _ => spread(),
    }
}

/// Whether what surrounds a view is what can read it.
fn check_view(graph: &Graph, index: usize) -> Result<(), PlanError> {
    let operation = &graph.operations()[index];
    let is_split = matches!(operation.kind, OperationKind::SplitHeads { .. });
    let is_output = graph.outputs().contains(&operation.output);
    let readers_fit = consumers(graph, operation.output).all(|reader| match reader.kind {
        OperationKind::Attention { .. } => is_split,
        OperationKind::Gemm => !is_split && reader.inputs[0] == operation.output,
        _ => false,
    });
    let source = graph.producer(operation.inputs[0]);
    let source = source.map(|index| graph.operations()[index].kind);
    let is_attended = matches!(source, Some(OperationKind::Attention { .. }));
    let alone = consumers(graph, operation.inputs[0]).all(|each| each.kind == operation.kind);
    if is_output || !readers_fit || (!is_split && !is_attended) || !alone {
        let problem = "split_heads only between a projection and attention, merge_heads only \
                       between attention and the left side of a product, alone at each place";
        return Err(refusal(&operation.name, problem.to_owned()));
    }
    Ok(())
}

fn refusal(operation: &str, problem: String) -> PlanError {
    PlanError::NoPlan {
        operation: operation.to_owned(),
        problem,
    }
}
