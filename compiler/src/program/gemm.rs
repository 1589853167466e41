//! One GEMM as steps: operands arrive, tiles multiply, partial sums are scattered and added.
//!
//! With one contraction part: exchange, gemm. With several: exchange, gemm, copy (the tile's own
//! partial), exchange, reduce. A contraction streamed in chunks repeats exchange and gemm.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use runtime::package::MemoryClass;

use crate::graph::{Graph, Operation};
use crate::instrument::{GemmBlocks, copy_call, gemm_call, reduce_call};
use crate::layout::{UNIT_BYTES, split};
use crate::plan::{Cell, GemmPlan, PlanError, Problem};

use super::build::Builder;
use super::home::Home;
use super::operand::{Arrival, Side, arrive, host};
use super::{BufferId, Call, HostRange, Move, Place, Program, Work};

pub(crate) use super::operand::Residents;

/// Everything about the operation that is being expanded.
pub(crate) struct Context<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) operation: &'a Operation,
    pub(crate) plan: &'a GemmPlan,
    pub(crate) problem: Problem,
}

/// Expands one GEMM and tells which operands stay on the tiles.
///
/// # Errors
/// [`PlanError::NoPlan`] for extents that no tile address reaches.
pub(crate) fn expand_gemm(
    builder: &mut Builder,
    graph: &Graph,
    plan: &GemmPlan,
    residents: &Residents,
) -> Result<Residents, PlanError> {
    let operation = &graph.operations()[plan.operation];
    let problem = Problem::new(graph, operation, plan.orientation)?;
    let context = Context {
        graph,
        operation,
        plan,
        problem,
    };
    let mut next = Residents::default();
    let direct = Side::BOTH.map(|side| host(builder, &context, side));
    let mut outputs = Vec::new();
    for chunk in 0..plan.chunks {
        let mut arrivals = Vec::new();
        for (side, direct) in Side::BOTH.into_iter().zip(&direct) {
            arrivals.push(arrive(builder, &context, side, chunk, (direct, residents)));
        }
        push_arrivals(builder, &context, &mut arrivals);
        multiply(builder, &context, chunk, &arrivals, &mut outputs);
        if plan.chunks == 1 {
            for (side, arrival) in Side::BOTH.into_iter().zip(arrivals) {
                next.keep(&context, side, arrival.buffers);
            }
        }
    }
    finish(builder, &context, &outputs);
    Ok(next)
}

/// Clears, transfers and local copies that bring a chunk's operands.
fn push_arrivals(builder: &mut Builder, context: &Context<'_>, arrivals: &mut [Arrival]) {
    let mut take = |part: fn(&mut Arrival) -> &mut Vec<Call>| {
        let mut calls: Vec<Call> = arrivals
            .iter_mut()
            .flat_map(|arrival| std::mem::take(part(arrival)))
            .collect();
        calls.sort_by_key(|call| call.tile);
        calls
    };
    let (clears, copies) = (take(|arrival| &mut arrival.clears), take(|a| &mut a.copies));
    let moves: Vec<Move> = arrivals
        .iter_mut()
        .flat_map(|arrival| std::mem::take(&mut arrival.moves))
        .collect();
    for work in [
        Work::Compute {
            role: "clear",
            calls: clears,
        },
        Work::Exchange(moves),
        Work::Compute {
            role: "copy",
            calls: copies,
        },
    ] {
        touch_work(builder, &work);
        builder.push(context.operation, work);
    }
}

/// Extends the lifetimes of everything that the next step uses.
fn touch_work(builder: &mut Builder, work: &Work) {
    let now = builder.now();
    match work {
        Work::Exchange(moves) => {
            for each in moves {
                builder.touch(each.source.buffer, now);
                for &destination in each.destinations.iter() {
                    builder.touch(destination, now);
                }
            }
        }
        Work::Compute { calls, .. } => {
            for operand in calls.iter().flat_map(|call| &call.operands) {
                builder.touch(operand.buffer, now);
            }
        }
    }
}

/// The compute step of one chunk; the first one makes the output buffers.
fn multiply(
    builder: &mut Builder,
    context: &Context<'_>,
    chunk: u32,
    arrivals: &[Arrival],
    outputs: &mut Vec<BufferId>,
) {
    let (plan, problem) = (context.plan, &context.problem);
    let label = builder.label(&format!("{} result block", context.operation.name));
    let mut calls = Vec::new();
    for (tile, cell) in plan.grid.cells().enumerate() {
        let part = (chunk, plan.chunks);
        let panel_block = problem.panel_block(plan.grid, cell, part);
        let coefficient_block = problem.coefficient_block(plan.grid, cell, part);
        let (left, right) = (arrivals[0].buffers[tile], arrivals[1].buffers[tile]);
        if chunk == 0 {
            let bytes = problem.result_block(plan.grid, cell).bytes();
            let output = builder.buffer(plan.grid.tile(cell), bytes, label);
            builder.buffer_mut(output).class = MemoryClass::Interleaved;
            outputs.push(output);
        }
        builder.program.apart.push((outputs[tile], left));
        let blocks = GemmBlocks {
            panels: (&problem.panels.view, &panel_block),
            coefficients: (&problem.coefficients.view, &coefficient_block),
            accumulate: chunk > 0,
            class: plan.coefficients,
        };
        let template = builder.template(gemm_call(&blocks, &indices(plan, cell, chunk)));
        let operands = [outputs[tile], left, right].map(|buffer| Place { buffer, offset: 0 });
        calls.push(Call {
            tile: plan.grid.tile(cell),
            template,
            operands: operands.to_vec(),
        });
    }
    let work = Work::Compute {
        role: "gemm",
        calls,
    };
    touch_work(builder, &work);
    builder.push(context.operation, work);
}

/// Grid coordinates of a call, as far as the grid has that axis.
fn indices(plan: &GemmPlan, cell: Cell, chunk: u32) -> Vec<(&'static str, u32)> {
    let axes = [
        ("output_block_row", cell.row, plan.grid.rows),
        ("output_block_column", cell.column, plan.grid.columns),
        ("inner_block", cell.inner, plan.grid.inner),
        ("block", chunk, plan.chunks),
    ];
    axes.iter()
        .filter(|(_, _, count)| *count > 1)
        .map(|&(name, at, _)| (name, at))
        .collect()
}

/// Adds partial sums where there are several, and says where the result lies.
fn finish(builder: &mut Builder, context: &Context<'_>, outputs: &[BufferId]) {
    let (plan, problem) = (context.plan, &context.problem);
    let mut home = Home::new(&problem.result.view);
    let mut results = Vec::new();
    if plan.grid.inner == 1 {
        for (cell, &output) in plan.grid.cells().zip(outputs) {
            let block = problem.result_block(plan.grid, cell);
            results.push((cell, 0..block.units(), output));
        }
    } else {
        results = reduce(builder, context, outputs);
    }
    let is_output = context.graph.outputs().contains(&context.operation.output);
    for (cell, units, buffer) in results {
        let block = problem.result_block(plan.grid, cell);
        home.put(&block, units.clone(), buffer);
        if is_output {
            let Problem { result, .. } = *problem;
            builder.download(HostRange {
                buffer,
                value: result.value,
                view: result.view,
                block,
                units,
            });
        }
    }
    builder
        .homes
        .insert((problem.result.value, problem.result.view.axis), home);
}

/// One piece of a result block and the tile that sums it.
type Piece = (Cell, Range<u32>, BufferId);

/// Scatters the partial sums so that every contraction part owns a piece, and adds them.
fn reduce(builder: &mut Builder, context: &Context<'_>, outputs: &[BufferId]) -> Vec<Piece> {
    let (plan, problem) = (context.plan, &context.problem);
    let (operation, parts) = (context.operation, plan.grid.inner);
    let label = builder.label(&format!("{} partial sums", operation.name));
    let tile_of = |cell: Cell| usize::from(plan.grid.tile(cell));
    let mut partials = BTreeMap::new();
    let (mut copies, mut moves) = (Vec::new(), Vec::new());
    for cell in plan.grid.cells() {
        let units = split(
            problem.result_block(plan.grid, cell).units(),
            parts,
            cell.inner,
        );
        if units.is_empty() {
            continue;
        }
        let bytes = (units.end - units.start) * UNIT_BYTES;
        let partial = builder.buffer(plan.grid.tile(cell), parts * bytes, label);
        partials.insert(cell, (units.clone(), partial));
        let destinations: Arc<[BufferId]> = Arc::from([partial]);
        for inner in 0..parts {
            let from = outputs[tile_of(Cell { inner, ..cell })];
            let source = Place {
                buffer: from,
                offset: units.start * UNIT_BYTES,
            };
            let destination_offset = inner * bytes;
            if inner == cell.inner {
                let template = builder.template(copy_call(bytes));
                let target = Place {
                    buffer: partial,
                    offset: destination_offset,
                };
                let operands = vec![target, source];
                copies.push(Call {
                    tile: plan.grid.tile(cell),
                    template,
                    operands,
                });
            } else {
                let destinations = Arc::clone(&destinations);
                let round = (inner + parts - cell.inner) % parts;
                moves.push((
                    round,
                    Move {
                        source,
                        bytes,
                        destinations,
                        destination_offset,
                    },
                ));
            }
        }
    }
    // In each round every owner receives from another sender, so no endpoint waits.
    moves.sort_by_key(|(round, _)| *round);
    let moves = moves.into_iter().map(|(_, each)| each).collect();
    for work in [
        Work::Compute {
            role: "copy",
            calls: copies,
        },
        Work::Exchange(moves),
    ] {
        touch_work(builder, &work);
        builder.push(operation, work);
    }
    add(builder, context, partials)
}

/// The compute step that adds the scattered partial sums.
fn add(
    builder: &mut Builder,
    context: &Context<'_>,
    partials: BTreeMap<Cell, (Range<u32>, BufferId)>,
) -> Vec<Piece> {
    let (plan, problem) = (context.plan, &context.problem);
    let label = builder.label(&format!("{} result piece", context.operation.name));
    let (mut calls, mut pieces) = (Vec::new(), Vec::new());
    for (cell, (units, partial)) in partials {
        let block = problem.result_block(plan.grid, cell);
        let bytes = (units.end - units.start) * UNIT_BYTES;
        let piece = builder.buffer(plan.grid.tile(cell), bytes, label);
        builder.program.apart.push((piece, partial));
        let call = reduce_call(plan.grid.inner, &problem.result.view, &block, units.clone());
        let template = builder.template(call);
        let operands = [piece, partial].map(|buffer| Place { buffer, offset: 0 });
        calls.push(Call {
            tile: plan.grid.tile(cell),
            template,
            operands: operands.to_vec(),
        });
        pieces.push((cell, units, piece));
    }
    calls.sort_by_key(|call| call.tile);
    let work = Work::Compute {
        role: "reduce",
        calls,
    };
    touch_work(builder, &work);
    builder.push(context.operation, work);
    pieces
}

impl Program {
    /// Steps that exchange, with their index in the program.
    pub fn exchanges(&self) -> impl Iterator<Item = (u32, &[Move])> {
        (0..)
            .zip(&self.steps)
            .filter_map(|(index, step)| match &step.work {
                Work::Exchange(moves) => Some((index, moves.as_slice())),
                Work::Compute { .. } => None,
            })
    }
}
