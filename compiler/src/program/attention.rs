//! Attention on rectangles of queries × keys: operands arrive, scores, softmax, product with the
//! values, partial results scattered by rows, merge.

use std::sync::Arc;

use runtime::package::MemoryClass;

use crate::graph::{Graph, Operation};
use crate::instrument::{
    GemmShape, copy_rows_call, gemm_call, merge_all_call, merge_call, softmax_call,
};
use crate::layout::{Block, LANES, Order, UNIT_BYTES, split};
use crate::options::OperandPolicy;
use crate::plan::{AttentionPlan, AttentionProblem, Family, PlanError, own_copy};

use super::build::{Builder, Title};
use super::operand::{Arrival, PANEL_TAIL, Want, arrive, host};
use super::results::{ResultRows, settle};
use super::{BufferId, Call, Move, Place};

/// One tile's rectangle.
#[derive(Clone, Copy, Debug)]
struct Rectangle {
    stream: u32,
    query: u32,
    key: u32,
    tile: u16,
    rows: u32,
    first_row: u32,
    /// Groups of 16 keys.
    groups: u32,
    /// Keys that are no padding.
    keys: u32,
}

impl Rectangle {
    const fn padded(&self) -> u32 {
        self.groups * LANES
    }

    /// First byte of the row state in the score buffer, past the weights.
    const fn state_offset(&self) -> u32 {
        self.rows * self.groups * UNIT_BYTES
    }

    fn indices(&self, product: &str) -> Vec<(&'static str, String)> {
        indices(product, [self.stream, self.query, self.key])
    }
}

/// What tells a call of a product of one stream apart from the others.
pub(super) fn indices(
    product: &str,
    [stream, query, key]: [u32; 3],
) -> Vec<(&'static str, String)> {
    vec![
        ("product", product.to_owned()),
        ("stream", stream.to_string()),
        ("output_block_row", query.to_string()),
        ("block", key.to_string()),
    ]
}

/// An attention that is being expanded.
struct Run<'a> {
    graph: &'a Graph,
    operation: &'a Operation,
    plan: &'a AttentionPlan,
    problem: AttentionProblem,
    title: Title,
    /// In tile order.
    rectangles: Vec<Rectangle>,
}

/// Buffers by rectangle.
type Buffers = Vec<BufferId>;

/// Expands an attention.
///
/// # Errors
/// [`PlanError::NoPlan`] for extents that no tile address reaches.
pub(crate) fn expand_attention(
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
        rectangles: rectangles(&problem, plan),
    };
    let [q, k, v] = run.operands(builder, policy);
    let scores = run.scores(builder, &q, &k);
    run.softmax(builder, &scores);
    let sums = run.weighted_values(builder, &scores, &v);
    run.merge(builder, &scores, &sums);
    Ok(())
}

fn rectangles(problem: &AttentionProblem, plan: &AttentionPlan) -> Vec<Rectangle> {
    let mut all = Vec::new();
    for stream in 0..problem.streams {
        for query in 0..plan.queries {
            let rows = split(problem.queries, plan.queries, query);
            for key in 0..plan.keys {
                let groups = split(problem.key_groups(), plan.keys, key);
                all.push(Rectangle {
                    stream,
                    query,
                    key,
                    tile: plan.tile(stream, query, key),
                    rows: rows.end - rows.start,
                    first_row: rows.start,
                    groups: groups.end - groups.start,
                    keys: problem.keys.min(groups.end * LANES) - groups.start * LANES,
                });
            }
        }
    }
    all
}

impl Run<'_> {
    /// Brings queries, keys and values: one buffer of each a rectangle.
    fn operands(&self, builder: &mut Builder, policy: OperandPolicy) -> [Buffers; 3] {
        let wants = [0, 1, 2].map(|position| self.wants(builder, position));
        let mut arrival = Arrival::default();
        let buffers = wants.map(|wants| {
            let placed = host(builder, self.graph, &wants, policy);
            let mut buffers = vec![0; self.rectangles.len()];
            for (want, placed) in wants.iter().zip(placed) {
                let arrived = arrive(builder, want, placed.as_ref(), &mut arrival);
                for (&tile, buffer) in want.tiles.iter().zip(arrived) {
                    buffers[usize::from(tile)] = buffer;
                }
            }
            buffers
        });
        builder.push_arrival(&self.title, arrival);
        buffers
    }

    /// The blocks of q, k or v, each with the rectangles that need it.
    fn wants(&self, builder: &mut Builder, position: usize) -> Vec<Want> {
        let streams = [self.problem.q, self.problem.k, self.problem.v][position];
        let name = ["query", "key", "value"][position];
        let label = builder.label(&format!("{} {name} block", self.operation.name));
        let panels = self.problem.panels();
        let leads = |at: &&Rectangle| match position {
            0 => at.key == 0,
            _ => at.query == 0,
        };
        let want = |at: &Rectangle| {
            let (line, panel) = streams.origin(at.stream);
            let groups = split(self.problem.key_groups(), self.plan.keys, at.key);
            let (lines, depth, order) = match position {
                0 => (
                    at.first_row..at.first_row + at.rows,
                    0..panels,
                    Order::Panels,
                ),
                1 => (
                    groups.start * LANES..groups.end * LANES,
                    0..panels,
                    Order::Coefficients,
                ),
                _ => (0..panels * LANES, groups, Order::Coefficients),
            };
            let tiles = match position {
                0 => (0..self.plan.keys)
                    .map(|key| self.plan.tile(at.stream, at.query, key))
                    .collect(),
                _ => (0..self.plan.queries)
                    .map(|query| self.plan.tile(at.stream, query, at.key))
                    .collect(),
            };
            Want {
                value: streams.value,
                view: streams.view,
                block: Block {
                    lines: line + lines.start..line + lines.end,
                    panels: panel + depth.start..panel + depth.end,
                    order,
                },
                tiles,
                class: if position == 0 {
                    MemoryClass::Standard
                } else {
                    MemoryClass::Interleaved
                },
                tail: if position == 0 { PANEL_TAIL } else { 0 },
                label,
            }
        };
        self.rectangles.iter().filter(leads).map(want).collect()
    }

    /// Calls of one kernel on every rectangle.
    fn calls(
        &self,
        builder: &mut Builder,
        role: &'static str,
        mut call: impl FnMut(&mut Builder, usize, &Rectangle) -> (u32, Vec<Place>),
    ) {
        let mut calls = Vec::new();
        for (index, at) in self.rectangles.iter().enumerate() {
            let (template, operands) = call(builder, index, at);
            calls.push(Call {
                tile: at.tile,
                template,
                operands,
            });
        }
        builder.compute(&self.title, role, calls);
    }

    /// q·kᵀ; the buffers have room for the row state that the softmax appends.
    fn scores(&self, builder: &mut Builder, q: &Buffers, k: &Buffers) -> Buffers {
        let label = builder.label(&format!("{} scores and weights", self.operation.name));
        let mut scores = Vec::new();
        self.calls(builder, "gemm", |builder, index, at| {
            let bytes = at.state_offset() + at.rows * UNIT_BYTES;
            let buffer = builder.buffer(at.tile, bytes, label);
            builder.buffer_mut(buffer).class = MemoryClass::Interleaved;
            builder.program.apart.push((buffer, q[index]));
            scores.push(buffer);
            let shape = GemmShape {
                physical: [at.rows, self.problem.panels() * LANES, at.padded()],
                logical: [at.rows, self.problem.width, at.keys],
                accumulate: false,
                class: MemoryClass::Interleaved,
            };
            let template = builder.template(gemm_call(&shape, &at.indices("scores")));
            (template, places([buffer, q[index], k[index]]))
        });
        scores
    }

    fn softmax(&self, builder: &mut Builder, scores: &Buffers) {
        self.calls(builder, "softmax", |builder, index, at| {
            let spec = crate::plan::softmax(&self.problem, at.rows, at.keys, at.padded());
            let template = builder.template(softmax_call(&spec));
            (template, places([scores[index], scores[index]]))
        });
    }

    fn weighted_values(&self, builder: &mut Builder, weights: &Buffers, v: &Buffers) -> Buffers {
        let label = builder.label(&format!("{} weighted values", self.operation.name));
        let mut sums = Vec::new();
        self.calls(builder, "gemm", |builder, index, at| {
            let bytes = at.rows * self.problem.panels() * UNIT_BYTES;
            let buffer = builder.buffer(at.tile, bytes, label);
            builder.buffer_mut(buffer).class = MemoryClass::Interleaved;
            builder.program.apart.push((buffer, weights[index]));
            sums.push(buffer);
            let shape = GemmShape {
                physical: [at.rows, at.padded(), self.problem.panels() * LANES],
                logical: [at.rows, at.keys, self.problem.width],
                accumulate: false,
                class: MemoryClass::Interleaved,
            };
            let template = builder.template(gemm_call(&shape, &at.indices("values")));
            (template, places([buffer, weights[index], v[index]]))
        });
        sums
    }

    /// Scatters the partial results so that each rectangle owns some rows, and merges them.
    fn merge(&self, builder: &mut Builder, weights: &Buffers, sums: &Buffers) {
        let mut arrival = Arrival::default();
        let mut owned = Vec::new();
        for (index, at) in self.rectangles.iter().enumerate() {
            let rows = split(at.rows, self.plan.keys, at.key);
            if !rows.is_empty() {
                owned.push(self.gather(builder, (index, rows), (weights, sums), &mut arrival));
            }
        }
        builder.push_arrival(&self.title, arrival);
        let results = self.merge_calls(builder, &owned);
        self.settle(builder, &owned, &results);
    }

    /// Brings the partial results of some rows of a query block to one of its tiles.
    fn gather(
        &self,
        builder: &mut Builder,
        (index, rows): (usize, std::ops::Range<u32>),
        (weights, sums): (&Buffers, &Buffers),
        arrival: &mut Arrival,
    ) -> Owned {
        let (at, panels, parts) = (
            self.rectangles[index],
            self.problem.panels(),
            self.plan.keys,
        );
        let count = rows.end - rows.start;
        let mut owned = Owned {
            at,
            rows: rows.clone(),
            blocks: Vec::new(),
            states: Vec::new(),
        };
        if parts == 1 {
            let offset = at.state_offset();
            let buffer = weights[index];
            owned.blocks.push(Place::start(sums[index]));
            owned.states.push(Place { buffer, offset });
            return owned;
        }
        let part_bytes = count * panels * UNIT_BYTES;
        let state_bytes = count * UNIT_BYTES;
        let label = builder.label(&format!("{} partial results", self.operation.name));
        let blocks = builder.buffer(at.tile, parts * part_bytes, label);
        let states = builder.buffer(at.tile, parts * state_bytes, label);
        let [to_blocks, to_states] = [blocks, states].map(|id| Arc::<[BufferId]>::from([id]));
        for round in 0..parts {
            // In each round every owner receives from another sender.
            let key = (at.key + round) % parts;
            let from = index + key as usize - at.key as usize;
            let place = |buffer, offset| Place { buffer, offset };
            let block = place(blocks, key * part_bytes);
            let (line, source_rows) = (rows.start * UNIT_BYTES, self.rectangles[from].rows);
            let state = place(weights[from], self.rectangles[from].state_offset() + line);
            owned.blocks.push(block);
            if from == index {
                let copy = own_copy(count, panels, at.rows);
                builder.program.apart.push((blocks, sums[index]));
                arrival.copies.push(Call {
                    tile: at.tile,
                    template: builder.template(copy_rows_call(&copy)),
                    operands: vec![block, place(sums[index], line)],
                });
                owned.states.push(state);
                continue;
            }
            for panel in 0..panels {
                arrival.moves.push(Move {
                    source: place(sums[from], panel * source_rows * UNIT_BYTES + line),
                    bytes: count * UNIT_BYTES,
                    destinations: Arc::clone(&to_blocks),
                    destination_offset: block.offset + panel * count * UNIT_BYTES,
                });
            }
            arrival.moves.push(Move {
                source: state,
                bytes: state_bytes,
                destinations: Arc::clone(&to_states),
                destination_offset: key * state_bytes,
            });
            owned.states.push(place(states, key * state_bytes));
        }
        owned
    }

    /// The merges of each owner, one partial result after another; gives the result rows.
    fn merge_calls(&self, builder: &mut Builder, owned: &[Owned]) -> Buffers {
        let width = self.problem.width;
        let state_label = builder.label(&format!("{} merge state", self.operation.name));
        let label = builder.label(&format!("{} result rows", self.operation.name));
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for each in owned {
            let count = each.rows.end - each.rows.start;
            let state_bytes = (count * (width + 2) * 4).next_multiple_of(UNIT_BYTES);
            let bytes = (count * width * 2).next_multiple_of(UNIT_BYTES);
            let result = builder.buffer(each.at.tile, bytes, label);
            results.push(result);
            let parts = self.plan.keys;
            if self.plan.family == Family::SplitOnePass {
                let spec = crate::plan::merge_all(&self.problem, count, parts);
                let each_part = each.blocks.iter().zip(&each.states);
                let operands = each_part.flat_map(|(&block, &state)| [block, state]);
                calls.push(Call {
                    tile: each.at.tile,
                    template: builder.template(merge_all_call(&spec)),
                    operands: std::iter::once(Place::start(result))
                        .chain(operands)
                        .collect(),
                });
                continue;
            }
            let state = builder.buffer(each.at.tile, state_bytes, state_label);
            for (part, (&block, &row_state)) in (0..).zip(each.blocks.iter().zip(&each.states)) {
                let spec = crate::plan::merge(&self.problem, count, (part, parts));
                let mut operands = Vec::new();
                operands.extend(spec.last.then(|| Place::start(result)));
                operands.extend((!(spec.first && spec.last)).then(|| Place::start(state)));
                operands.extend([block, row_state]);
                calls.push(Call {
                    tile: each.at.tile,
                    template: builder.template(merge_call(&spec)),
                    operands,
                });
            }
        }
        builder.compute(&self.title, "merge", calls);
        results
    }

    /// Says where the result rows lie.
    fn settle(&self, builder: &mut Builder, owned: &[Owned], results: &Buffers) {
        let rows: Vec<ResultRows> = owned
            .iter()
            .zip(results)
            .map(|(each, &buffer)| ResultRows {
                stream: each.at.stream,
                first_row: each.first_row(),
                rows: each.rows.end - each.rows.start,
                tile: each.at.tile,
                buffer,
            })
            .collect();
        settle(builder, self.graph, (self.operation, &self.problem), &rows);
    }
}

/// The rows that one tile merges, with the places of their partial results.
struct Owned {
    at: Rectangle,
    /// Rows within the query block.
    rows: std::ops::Range<u32>,
    blocks: Vec<Place>,
    states: Vec<Place>,
}

impl Owned {
    /// First row within the stream.
    const fn first_row(&self) -> u32 {
        self.at.first_row + self.rows.start
    }
}

fn places<const N: usize>(buffers: [BufferId; N]) -> Vec<Place> {
    buffers.map(Place::start).to_vec()
}
