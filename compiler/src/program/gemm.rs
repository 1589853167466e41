//! Matrix products as steps: operands arrive, tiles multiply, partial sums are scattered and added.
//!
//! With one contraction part: exchange, gemm. With several: exchange, gemm, copy (the tile's own
//! partial), exchange, reduce. A contraction streamed in chunks repeats exchange and gemm. Products
//! on different tiles go through these steps together and share the exchanges.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use runtime::package::MemoryClass;

use crate::graph::{Graph, Operation};
use crate::instrument::{GemmBlocks, copy_call, gemm_call, reduce_call};
use crate::layout::{LineAxis, UNIT_BYTES, View, split};
use crate::plan::{Cell, GemmPlan, Grid, Operand, PlanError, Problem};

use super::build::{Builder, Title};
use super::home::Home;
use super::operand::{Arrival, PANEL_TAIL, Want, arrive, group, host};
use super::{BufferId, Call, HostRange, Move, Place};

pub(crate) use super::operand::Residents;

/// Which operand of a GEMM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    /// Streamed as panels.
    Panels,
    /// Loaded as coefficients.
    Coefficients,
}

impl Side {
    const BOTH: [Self; 2] = [Self::Panels, Self::Coefficients];

    const fn name(self) -> &'static str {
        match self {
            Self::Panels => "panel",
            Self::Coefficients => "coefficient",
        }
    }
}

/// One product that is being expanded.
struct Run<'a> {
    graph: &'a Graph,
    operation: &'a Operation,
    plan: &'a GemmPlan,
    problem: Problem,
    /// By side and chunk: the wanted blocks, and the buffers of those in place.
    wants: Vec<Vec<(Want, Option<Vec<BufferId>>)>>,
    /// The result block of each cell of the grid.
    outputs: Vec<BufferId>,
}

/// Expands products on different tiles together and tells which operands stay on the tiles.
///
/// # Errors
/// [`PlanError::NoPlan`] for extents that no tile address reaches.
pub(crate) fn expand_gemms(
    builder: &mut Builder,
    graph: &Graph,
    plans: &[&GemmPlan],
    residents: &Residents,
) -> Result<Residents, PlanError> {
    let mut runs = Vec::new();
    for &plan in plans {
        runs.push(Run::new(builder, graph, plan)?);
    }
    let operations: Vec<&Operation> = runs.iter().map(|run| run.operation).collect();
    let title = Title::of(&operations);
    let mut next = Residents::default();
    let chunks = plans.iter().map(|plan| plan.chunks).max().unwrap_or(0);
    for chunk in 0..chunks {
        let mut arrival = Arrival::default();
        let mut arrived = Vec::new();
        for run in runs.iter().filter(|run| chunk < run.plan.chunks) {
            let operands =
                Side::BOTH.map(|side| run.arrive(builder, (side, chunk), residents, &mut arrival));
            arrived.push(operands);
        }
        builder.push_arrival(&title, arrival);
        let active = runs.iter_mut().filter(|run| chunk < run.plan.chunks);
        for (run, operands) in active.zip(arrived) {
            run.multiply(builder, chunk, &operands);
            if run.plan.chunks == 1 {
                for (side, buffers) in Side::BOTH.into_iter().zip(operands) {
                    let at = (run.plan.grid, run.plan.first_tile);
                    next.keep(run.resident_key(side), at, buffers);
                }
            }
        }
    }
    finish(builder, &title, &runs);
    Ok(next)
}

impl<'a> Run<'a> {
    fn new(builder: &mut Builder, graph: &'a Graph, plan: &'a GemmPlan) -> Result<Self, PlanError> {
        let operation = &graph.operations()[plan.operation];
        let problem = Problem::new(graph, operation, plan.orientation, plan.heads)?;
        let mut run = Self {
            graph,
            operation,
            plan,
            problem,
            wants: Vec::new(),
            outputs: Vec::new(),
        };
        for side in Side::BOTH {
            let mut wants = Vec::new();
            for chunk in 0..plan.chunks {
                wants.extend(run.chunk_wants(builder, side, chunk));
            }
            let placed = host(builder, graph, &wants, plan.policy);
            run.wants.push(wants.into_iter().zip(placed).collect());
        }
        Ok(run)
    }

    fn operand(&self, side: Side) -> Operand {
        match side {
            Side::Panels => self.problem.panels,
            Side::Coefficients => self.problem.coefficients,
        }
    }

    fn resident_key(&self, side: Side) -> (crate::graph::ValueId, View, Side) {
        let operand = self.operand(side);
        (operand.value, operand.view, side)
    }

    /// The first cell of each group of cells that share a block.
    fn leaders(&self, side: Side) -> impl Iterator<Item = Cell> + use<> {
        let grid = self.plan.grid;
        grid.cells().filter(move |cell| match side {
            Side::Panels => cell.column == 0,
            Side::Coefficients => cell.row == 0,
        })
    }

    /// The blocks of one chunk.
    fn chunk_wants(&self, builder: &mut Builder, side: Side, chunk: u32) -> Vec<Want> {
        let (plan, part) = (self.plan, (chunk, self.plan.chunks));
        let Operand { value, view, .. } = self.operand(side);
        let name = &self.graph.value(value).name;
        let label = builder.label(&format!("{} operand {name}", side.name()));
        let (class, tail) = match side {
            Side::Panels => (MemoryClass::Standard, PANEL_TAIL),
            Side::Coefficients => (plan.coefficients, 0),
        };
        let want = |cell: Cell| {
            let block = match side {
                Side::Panels => self.problem.panel_block(plan.grid, cell, part),
                Side::Coefficients => self.problem.coefficient_block(plan.grid, cell, part),
            };
            let cells = group(side, plan.grid, cell);
            let tiles = cells.into_iter().map(|cell| plan.tile(cell)).collect();
            Want {
                value,
                view,
                block,
                tiles,
                class,
                tail,
                label,
            }
        };
        self.leaders(side).map(want).collect()
    }

    /// The operand buffer of each cell of the grid for one chunk.
    fn arrive(
        &self,
        builder: &mut Builder,
        (side, chunk): (Side, u32),
        residents: &Residents,
        arrival: &mut Arrival,
    ) -> Vec<BufferId> {
        let at = (self.plan.grid, self.plan.first_tile);
        let wants = &self.wants[side as usize];
        let of_chunk = wants.len() / self.plan.chunks as usize;
        let wants = &wants[chunk as usize * of_chunk..][..of_chunk];
        let is_placed = wants.iter().any(|(_, placed)| placed.is_some());
        if let Some(kept) = residents.find(self.resident_key(side), at)
            && self.plan.chunks == 1
            && !is_placed
        {
            return kept.clone();
        }
        let mut buffers = BTreeMap::new();
        for (cell, (want, placed)) in self.leaders(side).zip(wants) {
            let arrived = arrive(builder, want, placed.as_ref(), arrival);
            let cells = group(side, self.plan.grid, cell);
            let tiles = cells.into_iter().map(|cell| self.plan.grid.tile(cell));
            buffers.extend(tiles.zip(arrived));
        }
        buffers.into_values().collect()
    }

    /// The compute step of one chunk; the first one makes the output buffers.
    fn multiply(&mut self, builder: &mut Builder, chunk: u32, operands: &[Vec<BufferId>; 2]) {
        let (plan, problem) = (self.plan, self.problem);
        let title = Title::of(&[self.operation]);
        if chunk == 0 {
            let mut seeds = Vec::new();
            for cell in plan.grid.cells() {
                let output = self.output(builder, cell, &mut seeds);
                self.outputs.push(output);
            }
            builder.compute(&title, "copy", seeds);
        }
        let mut calls = Vec::new();
        for (tile, cell) in plan.grid.cells().enumerate() {
            let part = (chunk, plan.chunks);
            let panel_block = problem.panel_block(plan.grid, cell, part);
            let coefficient_block = problem.coefficient_block(plan.grid, cell, part);
            let (left, right) = (operands[0][tile], operands[1][tile]);
            builder.program.apart.push((self.outputs[tile], left));
            let blocks = GemmBlocks {
                panels: (&problem.panels.view, &panel_block),
                coefficients: (&problem.coefficients.view, &coefficient_block),
                accumulate: chunk > 0 || self.is_seeded(cell),
                class: plan.coefficients,
            };
            let template = builder.template(gemm_call(&blocks.shape(), &indices(cell, chunk)));
            let operands = [self.outputs[tile], left, right].map(Place::start);
            calls.push(Call {
                tile: plan.tile(cell),
                template,
                operands: operands.to_vec(),
            });
        }
        builder.compute(&title, "gemm", calls);
    }

    /// Whether the accumulators of a cell start with the bias: those of the first contraction part.
    fn is_seeded(&self, cell: Cell) -> bool {
        cell.inner == 0 && self.operation.inputs.len() == 3
    }

    /// The result block of a cell; the host writes the bias into a seeded one. In a repeated block,
    /// where the next run finds sums in it, the bias lies beside it and is copied in, by `seeds`.
    fn output(&self, builder: &mut Builder, cell: Cell, seeds: &mut Vec<Call>) -> BufferId {
        let block = self.problem.result_block(self.plan.grid, cell);
        let label = builder.label(&format!("{} result block", self.operation.name));
        let output = builder.buffer(self.plan.tile(cell), block.bytes(), label);
        builder.buffer_mut(output).class = MemoryClass::Interleaved;
        if self.is_seeded(cell) {
            let (units, bytes) = (0..block.units(), block.bytes());
            let mut buffer = output;
            if builder.iterated.is_some() {
                let tile = self.plan.tile(cell);
                let label = builder.label(&format!("{} bias", self.operation.name));
                buffer = builder.buffer(tile, bytes, label);
                let template = builder.template(copy_call(bytes));
                let operands = [output, buffer].map(Place::start).to_vec();
                seeds.push(Call {
                    tile,
                    template,
                    operands,
                });
            }
            builder.upload(HostRange {
                buffer,
                value: self.operation.inputs[2],
                view: bias_view(&self.problem.result.view),
                block,
                units,
                copy: 0,
            });
        }
        output
    }
}

/// A vector as the columns of every row of a result.
fn bias_view(result: &View) -> View {
    match result.axis {
        LineAxis::Rows => View {
            line_stride: 0,
            ..*result
        },
        LineAxis::Columns => View {
            depth_stride: 0,
            ..*result
        },
    }
}

/// Grid coordinates of a call, and the chunk of its contraction as `block`.
fn indices(cell: Cell, chunk: u32) -> [(&'static str, String); 4] {
    [
        ("output_block_row", cell.row),
        ("output_block_column", cell.column),
        ("inner_block", cell.inner),
        ("block", chunk),
    ]
    .map(|(name, at)| (name, at.to_string()))
}

/// Adds partial sums where there are several, and says where the results lie.
fn finish(builder: &mut Builder, title: &Title, runs: &[Run<'_>]) {
    let mut scatter = Arrival::default();
    let mut partials = Vec::new();
    for run in runs {
        let parts = run.plan.grid.inner;
        partials.push((parts > 1).then(|| run.scatter(builder, &mut scatter)));
    }
    builder.push_arrival(title, scatter);
    for (run, partials) in runs.iter().zip(partials) {
        let pieces = match partials {
            Some(partials) => run.add(builder, partials),
            None => run.whole_blocks(),
        };
        let view = run.problem.result.view;
        let mut home = Home::new(&view);
        for (cell, units, buffer) in pieces {
            let block = run.problem.result_block(run.plan.grid, cell);
            home.put(&block, units, buffer);
        }
        builder.settle(run.graph, run.operation.output, home);
    }
}

/// One piece of a result block and the buffer that holds it.
type Piece = (Cell, Range<u32>, BufferId);

/// The partial sums of each owner: its units, and the buffer with one copy for each part.
type Partials = BTreeMap<Cell, (Range<u32>, BufferId)>;

impl Run<'_> {
    fn whole_blocks(&self) -> Vec<Piece> {
        let grid: Grid = self.plan.grid;
        let piece = |(cell, &output): (Cell, &BufferId)| {
            let units = 0..self.problem.result_block(grid, cell).units();
            (cell, units, output)
        };
        grid.cells().zip(&self.outputs).map(piece).collect()
    }

    /// Scatters the partial sums so that every contraction part owns a piece.
    fn scatter(&self, builder: &mut Builder, scatter: &mut Arrival) -> Partials {
        let (plan, problem, parts) = (self.plan, &self.problem, self.plan.grid.inner);
        let label = builder.label(&format!("{} partial sums", self.operation.name));
        let mut partials = Partials::new();
        let mut moves = Vec::new();
        for cell in plan.grid.cells() {
            let block = problem.result_block(plan.grid, cell);
            if cell.inner >= plan.pieces {
                continue;
            }
            let units = split(block.units(), plan.pieces, cell.inner);
            if units.is_empty() {
                continue;
            }
            let bytes = (units.end - units.start) * UNIT_BYTES;
            let partial = builder.buffer(plan.tile(cell), parts * bytes, label);
            partials.insert(cell, (units.clone(), partial));
            let destinations: Arc<[BufferId]> = Arc::from([partial]);
            for inner in 0..parts {
                let from = plan.grid.tile(Cell { inner, ..cell });
                let source = Place {
                    buffer: self.outputs[usize::from(from)],
                    offset: units.start * UNIT_BYTES,
                };
                let destination_offset = inner * bytes;
                if inner == cell.inner {
                    let target = Place {
                        buffer: partial,
                        offset: destination_offset,
                    };
                    scatter.copies.push(Call {
                        tile: plan.tile(cell),
                        template: builder.template(copy_call(bytes)),
                        operands: vec![target, source],
                    });
                    continue;
                }
                let round = (inner + parts - cell.inner) % parts;
                let each = Move {
                    source,
                    bytes,
                    destinations: Arc::clone(&destinations),
                    destination_offset,
                };
                moves.push((round, each));
            }
        }
        // In each round every owner receives from another sender, so no endpoint waits.
        moves.sort_by_key(|(round, _)| *round);
        scatter
            .moves
            .extend(moves.into_iter().map(|(_, each)| each));
        partials
    }

    /// The compute step that adds the scattered partial sums.
    fn add(&self, builder: &mut Builder, partials: Partials) -> Vec<Piece> {
        let (plan, problem) = (self.plan, &self.problem);
        let label = builder.label(&format!("{} result piece", self.operation.name));
        let (mut calls, mut pieces) = (Vec::new(), Vec::new());
        for (cell, (units, partial)) in partials {
            let block = problem.result_block(plan.grid, cell);
            let bytes = (units.end - units.start) * UNIT_BYTES;
            let piece = builder.buffer(plan.tile(cell), bytes, label);
            builder.program.apart.push((piece, partial));
            let view = &problem.result.view;
            let call = reduce_call(plan.grid.inner, view, &block, units.clone());
            let template = builder.template(call);
            let operands = [piece, partial].map(Place::start);
            calls.push(Call {
                tile: plan.tile(cell),
                template,
                operands: operands.to_vec(),
            });
            pieces.push((cell, units, piece));
        }
        builder.compute(&Title::of(&[self.operation]), "reduce", calls);
        pieces
    }
}
