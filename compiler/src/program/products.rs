//! Attention whose two products have grids of their own: operands arrive, scores, scores to the
//! owners of the rows, softmax, weights to the other grid, product with the values, partial sums
//! back to the owners, sum, division.

use std::ops::Range;

use runtime::package::MemoryClass;

use crate::graph::{Graph, Operation};
use crate::instrument::{GemmShape, gemm_call, merge_call, reduce_call, softmax_call};
use crate::layout::{Block, LANES, LineAxis, Order, UNIT_BYTES, View, split};
use crate::options::OperandPolicy;
use crate::plan::{AttentionPlan, AttentionProblem, PlanError};

use super::attention::indices;
use super::build::{Builder, Title};
use super::home::{Home, Segment};
use super::operand::{Arrival, PANEL_TAIL, Want, arrive, bring_all, host};
use super::results::{ResultRows, settle};
use super::{BufferId, Call, Place};

/// A tile's block of a product of one stream.
#[derive(Clone, Debug)]
struct Cell {
    stream: u32,
    query: u32,
    key: u32,
    tile: u16,
    /// Rows within the stream.
    rows: Range<u32>,
    /// Groups of 16 keys within the stream.
    groups: Range<u32>,
}

impl Cell {
    const fn row_count(&self) -> u32 {
        self.rows.end - self.rows.start
    }

    const fn group_count(&self) -> u32 {
        self.groups.end - self.groups.start
    }

    /// Keys that are no padding.
    fn keys(&self, problem: &AttentionProblem) -> u32 {
        problem.keys.min(self.groups.end * LANES) - self.groups.start * LANES
    }

    fn indices(&self, product: &str) -> Vec<(&'static str, String)> {
        indices(product, [self.stream, self.query, self.key])
    }

    fn block(&self, panels: Range<u32>) -> Block {
        Block {
            lines: self.rows.clone(),
            panels,
            order: Order::Panels,
        }
    }
}

/// An attention that is being expanded.
struct Run<'a> {
    graph: &'a Graph,
    operation: &'a Operation,
    plan: &'a AttentionPlan,
    problem: AttentionProblem,
    title: Title,
    scores: Vec<Cell>,
    values: Vec<Cell>,
    owners: Vec<Cell>,
}

/// Expands an attention of two grids.
///
/// # Errors
/// [`PlanError::NoPlan`] for extents that no tile address reaches.
pub(super) fn expand_products(
    builder: &mut Builder,
    graph: &Graph,
    plan: &AttentionPlan,
    policy: OperandPolicy,
) -> Result<(), PlanError> {
    let operation = &graph.operations()[plan.operation];
    let problem = AttentionProblem::new(graph, operation)?;
    let run = Run {
        graph,
        operation,
        plan,
        problem,
        title: Title::of(&[operation]),
        scores: cells(&problem, plan, [plan.queries, plan.keys]),
        values: cells(&problem, plan, plan.values),
        owners: cells(&problem, plan, [plan.owners, 1]),
    };
    let [q, k, v] = run.operands(builder, policy);
    let weights = run.weights(builder, &q, &k);
    let left = run.spread_weights(builder, &weights);
    let sums = run.product(builder, &left, &v);
    let totals = run.totals(builder, &sums);
    run.divide(builder, &weights, &totals);
    Ok(())
}

fn cells(problem: &AttentionProblem, plan: &AttentionPlan, [queries, keys]: [u32; 2]) -> Vec<Cell> {
    let cell = |stream: u32, query: u32, key: u32| Cell {
        stream,
        query,
        key,
        tile: plan.owner_tile(stream, query * keys + key),
        rows: split(problem.queries, queries, query),
        groups: split(problem.key_groups(), keys, key),
    };
    (0..problem.streams)
        .flat_map(|stream| {
            (0..queries).flat_map(move |query| (0..keys).map(move |key| (stream, query, key)))
        })
        .map(|(stream, query, key)| cell(stream, query, key))
        .collect()
}

/// Cells of one stream.
fn of_stream(cells: &[Cell], streams: u32, stream: u32) -> Range<usize> {
    let count = cells.len() / streams as usize;
    stream as usize * count..(stream as usize + 1) * count
}

impl Run<'_> {
    /// The operand blocks of the cells.
    fn operands(&self, builder: &mut Builder, policy: OperandPolicy) -> [Vec<BufferId>; 3] {
        let wants = [0, 1, 2].map(|position| self.wants(builder, position));
        let mut arrival = Arrival::default();
        let buffers = wants.map(|wants| {
            let (wants, cells): (Vec<Want>, Vec<Vec<usize>>) = wants.into_iter().unzip();
            let placed = host(builder, self.graph, &wants, policy);
            let count = cells.iter().map(Vec::len).sum();
            let mut buffers = vec![0; count];
            for ((want, cells), placed) in wants.iter().zip(cells).zip(placed) {
                let arrived = arrive(builder, want, placed.as_ref(), &mut arrival);
                for (cell, buffer) in cells.into_iter().zip(arrived) {
                    buffers[cell] = buffer;
                }
            }
            buffers
        });
        builder.push_arrival(&self.title, arrival);
        buffers
    }

    /// The blocks of q, k or v, each with the cells that need it, in the order of their tiles.
    fn wants(&self, builder: &mut Builder, position: usize) -> Vec<(Want, Vec<usize>)> {
        let streams = [self.problem.q, self.problem.k, self.problem.v][position];
        let name = ["query", "key", "value"][position];
        let label = builder.label(&format!("{} {name} block", self.operation.name));
        let panels = self.problem.panels();
        let cells = if position == 2 {
            &self.values
        } else {
            &self.scores
        };
        let leads = |cell: &&Cell| match position {
            0 => cell.key == 0,
            _ => cell.query == 0,
        };
        let want = |lead: &Cell| {
            let (line, panel) = streams.origin(lead.stream);
            let keys = lead.groups.start * LANES..lead.groups.end * LANES;
            let (lines, depth, order) = match position {
                0 => (lead.rows.clone(), 0..panels, Order::Panels),
                1 => (keys, 0..panels, Order::Coefficients),
                _ => (0..panels * LANES, lead.groups.clone(), Order::Coefficients),
            };
            let range = of_stream(cells, self.problem.streams, lead.stream);
            let alike = |&index: &usize| match position {
                0 => cells[index].query == lead.query,
                _ => cells[index].key == lead.key,
            };
            let members: Vec<usize> = range.filter(alike).collect();
            let block = Block {
                lines: line + lines.start..line + lines.end,
                panels: panel + depth.start..panel + depth.end,
                order,
            };
            let (class, tail) = match position {
                0 => (MemoryClass::Standard, PANEL_TAIL),
                _ => (MemoryClass::Interleaved, 0),
            };
            let want = Want {
                value: streams.value,
                view: streams.view,
                block,
                tiles: members.iter().map(|&index| cells[index].tile).collect(),
                class,
                tail,
                label,
            };
            (want, members)
        };
        cells.iter().filter(leads).map(want).collect()
    }

    /// The view of a matrix of one stream with rows of so many panels.
    fn view(&self, panels: u32) -> View {
        View::new(self.problem.queries, panels * LANES, LineAxis::Rows)
    }

    /// Scores and their softmax, at the owners of the rows, each followed by its row states.
    fn weights(&self, builder: &mut Builder, q: &[BufferId], k: &[BufferId]) -> Vec<BufferId> {
        let label = builder.label(&format!("{} scores", self.operation.name));
        let is_shared = self.plan.shares_scores();
        let mut blocks = Vec::new();
        let mut calls = Vec::new();
        for (index, cell) in self.scores.iter().enumerate() {
            let units = cell.row_count() * (cell.group_count() + u32::from(is_shared));
            let buffer = builder.buffer(cell.tile, units * UNIT_BYTES, label);
            builder.buffer_mut(buffer).class = MemoryClass::Interleaved;
            builder.program.apart.push((buffer, q[index]));
            blocks.push(buffer);
            let shape = GemmShape {
                physical: [
                    cell.row_count(),
                    self.problem.panels() * LANES,
                    cell.group_count() * LANES,
                ],
                logical: [
                    cell.row_count(),
                    self.problem.width,
                    cell.keys(&self.problem),
                ],
                accumulate: false,
                class: MemoryClass::Interleaved,
            };
            let template = builder.template(gemm_call(&shape, &cell.indices("scores")));
            calls.push(call(cell.tile, template, [buffer, q[index], k[index]]));
        }
        builder.compute(&self.title, "gemm", calls);
        let weights = if is_shared {
            blocks
        } else {
            self.own_scores(builder, &blocks)
        };
        let (keys, padded) = (self.problem.keys, self.problem.key_groups() * LANES);
        let mut calls = Vec::new();
        for (cell, &buffer) in self.owners.iter().zip(&weights) {
            let spec = crate::plan::softmax(&self.problem, cell.row_count(), keys, padded);
            let template = builder.template(softmax_call(&spec));
            calls.push(call(cell.tile, template, [buffer, buffer]));
        }
        builder.compute(&self.title, "softmax", calls);
        weights
    }

    /// Brings the scores of whole rows to their owners.
    fn own_scores(&self, builder: &mut Builder, blocks: &[BufferId]) -> Vec<BufferId> {
        let label = builder.label(&format!("{} weights", self.operation.name));
        let groups = self.problem.key_groups();
        let homes = self.homes((&self.scores, blocks), groups, |cell| cell.groups.clone());
        let mut arrival = Arrival::default();
        let mut owned = Vec::new();
        for cell in &self.owners {
            let units = cell.row_count() * (groups + 1);
            let buffer = builder.buffer(cell.tile, units * UNIT_BYTES, label);
            builder.buffer_mut(buffer).class = MemoryClass::Interleaved;
            let home = &homes[cell.stream as usize];
            let wanted = (&cell.block(0..groups), &self.view(groups));
            gather(builder, &mut arrival, home, wanted, (buffer, 0));
            owned.push(buffer);
        }
        builder.push_arrival(&self.title, arrival);
        owned
    }

    /// Where the rows of each stream lie, in blocks of cells.
    fn homes(
        &self,
        (cells, buffers): (&[Cell], &[BufferId]),
        panels: u32,
        range: impl Fn(&Cell) -> Range<u32>,
    ) -> Vec<Home> {
        let home = |stream: u32| {
            let mut home = Home::new(&self.view(panels));
            for index in of_stream(cells, self.problem.streams, stream) {
                let block = cells[index].block(range(&cells[index]));
                home.put(&block, 0..block.units(), buffers[index]);
            }
            home
        };
        (0..self.problem.streams).map(home).collect()
    }

    /// The left operands of the value product.
    fn spread_weights(&self, builder: &mut Builder, weights: &[BufferId]) -> Vec<BufferId> {
        if self.plan.shares_values() {
            return weights.to_vec();
        }
        let label = builder.label(&format!("{} weight block", self.operation.name));
        let groups = self.problem.key_groups();
        let homes = self.homes((&self.owners, weights), groups, |_| 0..groups);
        let mut arrival = Arrival::default();
        let mut left = Vec::new();
        for cell in &self.values {
            let units = cell.row_count() * cell.group_count();
            let buffer = builder.buffer(cell.tile, units * UNIT_BYTES, label);
            builder.buffer_mut(buffer).tail = PANEL_TAIL;
            let home = &homes[cell.stream as usize];
            let wanted = (&cell.block(cell.groups.clone()), &self.view(groups));
            gather(builder, &mut arrival, home, wanted, (buffer, 0));
            left.push(buffer);
        }
        builder.push_arrival(&self.title, arrival);
        left
    }

    /// Weights times values, by cell.
    fn product(&self, builder: &mut Builder, left: &[BufferId], v: &[BufferId]) -> Vec<BufferId> {
        let label = builder.label(&format!("{} weighted values", self.operation.name));
        let panels = self.problem.panels();
        let (mut calls, mut sums) = (Vec::new(), Vec::new());
        for (index, cell) in self.values.iter().enumerate() {
            let bytes = cell.row_count() * panels * UNIT_BYTES;
            let buffer = builder.buffer(cell.tile, bytes, label);
            builder.buffer_mut(buffer).class = MemoryClass::Interleaved;
            builder.program.apart.push((buffer, left[index]));
            sums.push(buffer);
            let shape = GemmShape {
                physical: [cell.row_count(), cell.group_count() * LANES, panels * LANES],
                logical: [
                    cell.row_count(),
                    cell.keys(&self.problem),
                    self.problem.width,
                ],
                accumulate: false,
                class: MemoryClass::Interleaved,
            };
            let template = builder.template(gemm_call(&shape, &cell.indices("values")));
            calls.push(call(cell.tile, template, [buffer, left[index], v[index]]));
        }
        builder.compute(&self.title, "gemm", calls);
        sums
    }

    /// The sums over all keys at the owners of the rows.
    fn totals(&self, builder: &mut Builder, sums: &[BufferId]) -> Vec<BufferId> {
        if self.plan.shares_values() {
            return sums.to_vec();
        }
        let label = builder.label(&format!("{} partial results", self.operation.name));
        let (panels, parts) = (self.problem.panels(), self.plan.values[1]);
        let mut arrival = Arrival::default();
        let mut partials = Vec::new();
        let view = self.view(panels);
        let homes: Vec<Vec<Home>> = (0..parts).map(|part| self.part_homes(sums, part)).collect();
        for cell in &self.owners {
            let bytes = cell.row_count() * panels * UNIT_BYTES;
            let buffer = builder.buffer(cell.tile, parts * bytes, label);
            for round in 0..parts {
                // In each round every owner receives from other parts than its neighbours.
                let part = (cell.query + round) % parts;
                let home = &homes[part as usize][cell.stream as usize];
                let wanted = (&cell.block(0..panels), &view);
                gather(builder, &mut arrival, home, wanted, (buffer, part * bytes));
            }
            partials.push(buffer);
        }
        builder.push_arrival(&self.title, arrival);
        if parts == 1 {
            return partials;
        }
        let label = builder.label(&format!("{} sums", self.operation.name));
        let (mut calls, mut totals) = (Vec::new(), Vec::new());
        for (cell, &partial) in self.owners.iter().zip(&partials) {
            let block = cell.block(0..panels);
            let total = builder.buffer(cell.tile, block.bytes(), label);
            builder.program.apart.push((total, partial));
            let template = builder.template(reduce_call(parts, &view, &block, 0..block.units()));
            calls.push(call(cell.tile, template, [total, partial]));
            totals.push(total);
        }
        builder.compute(&self.title, "reduce", calls);
        totals
    }

    /// Where the partial sums over one key block lie.
    fn part_homes(&self, sums: &[BufferId], part: u32) -> Vec<Home> {
        let panels = self.problem.panels();
        let mut homes: Vec<Home> = (0..self.problem.streams)
            .map(|_| Home::new(&self.view(panels)))
            .collect();
        for (cell, &buffer) in self.values.iter().zip(sums) {
            if cell.key == part {
                let block = cell.block(0..panels);
                homes[cell.stream as usize].put(&block, 0..block.units(), buffer);
            }
        }
        homes
    }

    /// Divides the sums by the row sums of the softmax.
    fn divide(&self, builder: &mut Builder, weights: &[BufferId], totals: &[BufferId]) {
        let width = self.problem.width;
        let label = builder.label(&format!("{} result rows", self.operation.name));
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        let groups = self.problem.key_groups();
        for (index, cell) in self.owners.iter().enumerate() {
            let rows = cell.row_count();
            let bytes = (rows * width * 2).next_multiple_of(UNIT_BYTES);
            let buffer = builder.buffer(cell.tile, bytes, label);
            let state = Place {
                buffer: weights[index],
                offset: rows * groups * UNIT_BYTES,
            };
            let spec = crate::plan::merge(&self.problem, rows, (0, 1));
            calls.push(Call {
                tile: cell.tile,
                template: builder.template(merge_call(&spec)),
                operands: vec![Place::start(buffer), Place::start(totals[index]), state],
            });
            results.push(ResultRows {
                stream: cell.stream,
                first_row: cell.rows.start,
                rows,
                tile: cell.tile,
                buffer,
            });
        }
        builder.compute(&self.title, "merge", calls);
        settle(
            builder,
            self.graph,
            (self.operation, &self.problem),
            &results,
        );
    }
}

/// Brings a block to a place in a buffer on one tile.
fn gather(
    builder: &mut Builder,
    arrival: &mut Arrival,
    home: &Home,
    (block, view): (&Block, &View),
    (buffer, offset): (BufferId, u32),
) {
    let segments = home.segments(view, block).into_iter();
    let moved = segments.map(|segment| Segment {
        offset: segment.offset + offset,
        ..segment
    });
    bring_all(builder, arrival, moved, [buffer]);
}

fn call<const N: usize>(tile: u16, template: u32, buffers: [BufferId; N]) -> Call {
    Call {
        tile,
        template,
        operands: buffers.map(Place::start).to_vec(),
    }
}
