//! Attention with the query rows of a stream shared among its tiles. Queries are gathered by rows;
//! panels of 64 keys × 16 channels of keys and values are prepared once each, on tiles of the
//! stream, and multicast to all of them: block by block (flash) or all at once (materialised).

use std::sync::Arc;

use crate::graph::{Graph, Operation};
use crate::instrument::clear_call;
use crate::layout::{Block, LANES, Order, UNIT_BYTES, split};
use crate::plan::{AttentionPlan, AttentionProblem, KEY_BLOCK, PlanError};

use super::build::{Builder, Title};
use super::operand::{Arrival, PANEL_TAIL, bring_all};
use super::unpack::RowMajor;
use super::{BufferId, Call, Move, Place};

/// Bytes of a prepared panel: 64 keys × 16 channels.
pub(super) const PANEL_BYTES: u32 = KEY_BLOCK * UNIT_BYTES;

/// One tile's query rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    pub(super) stream: u32,
    pub(super) tile: u16,
    pub(super) first_row: u32,
    pub(super) rows: u32,
}

/// An attention that is being expanded.
pub(super) struct Run<'a> {
    pub(super) graph: &'a Graph,
    pub(super) operation: &'a Operation,
    pub(super) plan: &'a AttentionPlan,
    pub(super) problem: AttentionProblem,
    pub(super) title: Title,
    /// Stream by stream.
    pub(super) owners: Vec<Owner>,
    /// Parts by which the tiles of a stream are turned, so that no rows come from their own tile:
    /// the fabric does not bring a tile its own words alone, and a local copy of each is slow.
    turn: u32,
}

/// Prepared panels by stream, block and panel.
pub(super) type Prepared = Vec<BufferId>;

/// Expands an attention.
///
/// # Errors
/// [`PlanError::NoPlan`] for extents that no tile address reaches, or projections that left no
/// whole blocks.
pub(crate) fn expand_shared_rows(
    builder: &mut Builder,
    graph: &Graph,
    plan: &AttentionPlan,
) -> Result<(), PlanError> {
    let operation = &graph.operations()[plan.operation];
    let problem = AttentionProblem::new(graph, operation)?;
    let mut run = Run {
        graph,
        operation,
        plan,
        problem,
        title: Title::of(&[operation]),
        owners: owners(&problem, plan, 0),
        turn: 0,
    };
    let [q, k] = [run.problem.q.value, run.problem.k.value].map(|value| run.home(builder, value));
    let q = RowMajor::unpack(builder, &run.title, &q?, &operation.name)?;
    run.turn_away(builder, &q);
    let queries = run.gather_queries(builder, &q);
    let k = RowMajor::unpack(builder, &run.title, &k?, &operation.name)?;
    let keys = run.prepare_keys(builder, &k);
    let values = run.prepare_values(builder)?;
    let results = run.core(builder, &queries, (&keys, &values));
    run.settle(builder, &results);
    Ok(())
}

fn owners(problem: &AttentionProblem, plan: &AttentionPlan, turn: u32) -> Vec<Owner> {
    let mut owners = Vec::new();
    for stream in 0..problem.streams {
        for part in 0..plan.queries {
            let rows = split(problem.queries, plan.queries, part);
            owners.push(Owner {
                stream,
                tile: plan.shared_tile(problem.streams, stream, (part + turn) % plan.queries),
                first_row: rows.start,
                rows: rows.end - rows.start,
            });
        }
    }
    owners
}

impl Run<'_> {
    fn home(
        &self,
        builder: &Builder,
        value: crate::graph::ValueId,
    ) -> Result<super::home::Home, PlanError> {
        let key = (value, crate::layout::LineAxis::Columns);
        builder
            .homes
            .get(&key)
            .cloned()
            .ok_or_else(|| PlanError::NoPlan {
                operation: self.operation.name.clone(),
                problem: "shared rows need projections of swapped orientation before them"
                    .to_owned(),
            })
    }

    pub(super) fn panels(&self) -> u32 {
        self.problem.panels()
    }

    /// First row and first column of a stream in the folded projections.
    fn origin(&self, stream: u32) -> (u32, u32) {
        let heads = self.problem.q.heads;
        let (batch, head) = (stream / heads, stream % heads);
        (batch * self.problem.queries, head * self.problem.width)
    }

    /// Channels of a panel that are no padding.
    fn channels(&self, panel: u32) -> u32 {
        (self.problem.width - panel * LANES).min(LANES)
    }

    pub(super) fn place(buffer: BufferId, offset: u32) -> Place {
        Place { buffer, offset }
    }

    /// Query rows as panels on their owners.
    fn gather_queries(&self, builder: &mut Builder, q: &RowMajor) -> Vec<BufferId> {
        let label = builder.label(&format!("{} query rows", self.operation.name));
        let mut arrival = Arrival::default();
        let mut buffers = Vec::new();
        for owner in &self.owners {
            let (row, column) = self.origin(owner.stream);
            let panel_bytes = owner.rows * UNIT_BYTES;
            let buffer = builder.buffer(owner.tile, self.panels() * panel_bytes, label);
            builder.buffer_mut(buffer).tail = PANEL_TAIL;
            buffers.push(buffer);
            for panel in 0..self.panels() {
                let channels = self.channels(panel);
                if channels < LANES {
                    self.clear(
                        builder,
                        &mut arrival,
                        Self::place(buffer, panel * panel_bytes),
                        panel_bytes,
                    );
                }
                for line in 0..owner.rows {
                    let at = panel * panel_bytes + line * UNIT_BYTES;
                    let first = column + panel * LANES;
                    let rows = (q, row + owner.first_row + line);
                    self.row(
                        builder,
                        &mut arrival,
                        rows,
                        (first, channels),
                        Self::place(buffer, at),
                    );
                }
            }
        }
        builder.push_arrival(&self.title, arrival);
        buffers
    }

    /// Brings columns of a row to a unit.
    fn row(
        &self,
        builder: &mut Builder,
        arrival: &mut Arrival,
        (rows, row): (&RowMajor, u32),
        (first, count): (u32, u32),
        to: Place,
    ) {
        let tile_of = |builder: &Builder, id: BufferId| builder.program.buffers[id as usize].tile;
        for run in rows.runs(row, first, count) {
            let offset = to.offset + (run.column - first) * 2;
            if tile_of(builder, run.source.buffer) == tile_of(builder, to.buffer) {
                let template = builder.template(crate::instrument::copy_words_call(run.bytes));
                arrival.copies.push(Call {
                    tile: tile_of(builder, to.buffer),
                    template,
                    operands: vec![Self::place(to.buffer, offset), run.source],
                });
                continue;
            }
            arrival.moves.push(Move {
                source: run.source,
                bytes: run.bytes,
                destinations: Arc::from([to.buffer]),
                destination_offset: offset,
            });
        }
    }

    fn clear(&self, builder: &mut Builder, arrival: &mut Arrival, at: Place, bytes: u32) {
        let tile = builder.program.buffers[at.buffer as usize].tile;
        let template = builder.template(clear_call(bytes));
        let operands = vec![at];
        arrival.clears.push(Call {
            tile,
            template,
            operands,
        });
    }

    /// Turns the tiles of the streams until no queries come from the tile that needs them, or as
    /// few as can be.
    fn turn_away(&mut self, builder: &Builder, q: &RowMajor) {
        let own_rows = |turn: u32| {
            let owners = owners(&self.problem, self.plan, turn);
            let own = |owner: &&Owner| {
                let (row, column) = self.origin(owner.stream);
                let rows = row + owner.first_row..row + owner.first_row + owner.rows;
                let tiles = q.tiles(builder, rows, (column, self.problem.width));
                tiles.contains(&owner.tile)
            };
            owners.iter().filter(own).count()
        };
        let mut best = (usize::MAX, 0);
        for turn in 0..self.plan.queries {
            best = best.min((own_rows(turn), turn));
            if best.0 == 0 {
                break;
            }
        }
        self.turn = best.1;
        self.owners = owners(&self.problem, self.plan, self.turn);
    }

    /// The tile of a stream that prepares its `index`-th panel, none of `sources` if it can be.
    fn preparer(&self, stream: u32, index: u32, sources: &[u16]) -> u16 {
        let parts = self.plan.queries;
        let tile = |part: u32| {
            let part = part % parts;
            self.plan.shared_tile(self.problem.streams, stream, part)
        };
        let free = (index..index + parts)
            .map(tile)
            .find(|tile| !sources.contains(tile));
        free.unwrap_or_else(|| tile(index))
    }

    /// Panels of keys: 64 keys × 16 channels, key by key.
    fn prepare_keys(&self, builder: &mut Builder, k: &RowMajor) -> Prepared {
        let label = builder.label(&format!("{} key panels", self.operation.name));
        let mut arrival = Arrival::default();
        let mut prepared = Prepared::new();
        for (stream, block, panel) in self.prepared_panels() {
            let keys = self.problem.keys.min((block + 1) * KEY_BLOCK) - block * KEY_BLOCK;
            let channels = self.channels(panel);
            let (_, column) = self.origin(stream);
            let first_key = stream / self.problem.q.heads * self.problem.keys + block * KEY_BLOCK;
            let columns = (column + panel * LANES, channels);
            let sources = k.tiles(builder, first_key..first_key + keys, columns);
            let tile = self.preparer(stream, block * self.panels() + panel, &sources);
            let buffer = builder.buffer(tile, PANEL_BYTES, label);
            prepared.push(buffer);
            if keys < KEY_BLOCK || channels < LANES {
                self.clear(builder, &mut arrival, Self::place(buffer, 0), PANEL_BYTES);
            }
            for key in 0..keys {
                let to = Self::place(buffer, key * UNIT_BYTES);
                self.row(builder, &mut arrival, (k, first_key + key), columns, to);
            }
        }
        builder.push_arrival(&self.title, arrival);
        prepared
    }

    pub(super) fn prepared_panels(&self) -> Vec<(u32, u32, u32)> {
        let mut all = Vec::new();
        for stream in 0..self.problem.streams {
            for block in 0..self.plan.keys {
                all.extend((0..self.panels()).map(|panel| (stream, block, panel)));
            }
        }
        all
    }

    /// Panels of values: 16 channels × 64 keys, 16 keys after 16 keys.
    fn prepare_values(&self, builder: &mut Builder) -> Result<Prepared, PlanError> {
        let streams = self.problem.v;
        let home = self.home(builder, streams.value)?;
        let label = builder.label(&format!("{} value panels", self.operation.name));
        let mut arrival = Arrival::default();
        let mut prepared = Prepared::new();
        let first_index = self.plan.keys * self.panels();
        for (stream, block, panel) in self.prepared_panels() {
            let index = first_index + block * self.panels() + panel;
            let tile = self.preparer(stream, index, &[]);
            let buffer = builder.buffer(tile, PANEL_BYTES, label);
            prepared.push(buffer);
            let (line, depth) = streams.origin(stream);
            let (line, first) = (line + panel * LANES, block * KEY_BLOCK / LANES);
            let last = (first + KEY_BLOCK / LANES).min(self.problem.key_groups());
            let wanted = Block {
                lines: line..line + LANES,
                panels: depth + first..depth + last,
                order: Order::Coefficients,
            };
            let segments = home.segments(&streams.view, &wanted);
            let is_whole = wanted.bytes() == PANEL_BYTES;
            if !is_whole || segments.iter().any(|segment| segment.source.is_none()) {
                self.clear(builder, &mut arrival, Self::place(buffer, 0), PANEL_BYTES);
            }
            let filled = segments.into_iter().filter(|each| each.source.is_some());
            bring_all(builder, &mut arrival, filled, [buffer]);
        }
        builder.push_arrival(&self.title, arrival);
        Ok(prepared)
    }
}
