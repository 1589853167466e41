//! The rounds of attention with shared rows: keys and values multicast, scores, softmax, weighted
//! values, merge.

use std::sync::Arc;

use runtime::package::MemoryClass;

use crate::instrument::{GemmShape, gemm_call, merge_call, softmax_call};
use crate::layout::{LANES, UNIT_BYTES};
use crate::plan::{Family, KEY_BLOCK};

use super::build::Builder;
use super::results::{ResultRows, settle};
use super::shared_rows::{Owner, PANEL_BYTES, Prepared, Run};
use super::{BufferId, Call, Move, Place};

/// Bytes of 16 × 16 elements.
const TILE_BYTES: u32 = LANES * UNIT_BYTES;

/// Keys of one round and where they start.
#[derive(Clone, Copy, Debug)]
struct Round {
    index: u32,
    count: u32,
    /// Blocks of 64 keys of each round.
    blocks: u32,
}

impl Run<'_> {
    /// Scores, softmax, weighted values and merge of every round; gives the result rows.
    pub(super) fn core(
        &self,
        builder: &mut Builder,
        queries: &[BufferId],
        (keys, values): (&Prepared, &Prepared),
    ) -> Vec<BufferId> {
        let is_flash = self.plan.family == Family::Flash;
        let (count, blocks) = if is_flash {
            (self.plan.keys, 1)
        } else {
            (1, self.plan.keys)
        };
        let state_label = builder.label(&format!("{} merge state", self.operation.name));
        let width = self.problem.width;
        let mut states = Vec::new();
        let mut results = Vec::new();
        for index in 0..count {
            let round = Round {
                index,
                count,
                blocks,
            };
            let k = self.key_blocks(builder, round, keys, "keys");
            let late_values = is_flash.then(|| {
                let mut moves = Vec::new();
                let v = self.value_blocks(builder, round, values, &mut moves);
                (v, moves)
            });
            let (k, mut moves) = k;
            let early = late_values.map(|(v, more)| {
                moves.extend(more);
                v
            });
            builder.exchange(&self.title, moves);
            let scores = self.scores(builder, round, queries, &k);
            let v = early.unwrap_or_else(|| {
                let mut moves = Vec::new();
                let v = self.value_blocks(builder, round, values, &mut moves);
                builder.exchange(&self.title, moves);
                v
            });
            let sums = self.weighted_values(builder, round, &scores, &v);
            if index == 0 && count > 1 {
                for owner in &self.owners {
                    let bytes = (owner.rows * (width + 2) * 4).next_multiple_of(UNIT_BYTES);
                    states.push(builder.buffer(owner.tile, bytes, state_label));
                }
            }
            results = self.merge(builder, round, (&scores, &sums), &states);
        }
        results
    }

    /// Padded keys of a round.
    fn padded(round: Round) -> u32 {
        round.blocks * KEY_BLOCK
    }

    /// Keys of a round that are no padding.
    fn valid(&self, round: Round) -> u32 {
        let first = round.index * Self::padded(round);
        self.problem.keys.min(first + Self::padded(round)) - first
    }

    fn class(&self) -> MemoryClass {
        if self.plan.family == Family::Flash {
            MemoryClass::Interleaved
        } else {
            MemoryClass::Standard
        }
    }

    /// One coefficient buffer an owner, and which owners a stream has.
    fn coefficients(&self, builder: &mut Builder, round: Round, what: &str) -> Vec<BufferId> {
        let label = builder.label(&format!("{} {what}", self.operation.name));
        let bytes = Self::padded(round) * self.panels() * UNIT_BYTES;
        let class = self.class();
        let mut buffers = Vec::new();
        for owner in &self.owners {
            let buffer = builder.buffer(owner.tile, bytes, label);
            builder.buffer_mut(buffer).class = class;
            buffers.push(buffer);
        }
        buffers
    }

    fn of_stream<'b>(&self, buffers: &'b [BufferId], stream: u32) -> &'b [BufferId] {
        let parts = self.plan.queries as usize;
        &buffers[stream as usize * parts..][..parts]
    }

    /// Sends one prepared range to all owners of its stream.
    fn multicast(
        builder: &mut Builder,
        moves: &mut Vec<Move>,
        (source, bytes): (Place, u32),
        (destinations, offset): (&Arc<[BufferId]>, u32),
    ) {
        let tile = |id: BufferId| builder.program.buffers[id as usize].tile;
        let own = destinations
            .iter()
            .find(|&&each| tile(each) == tile(source.buffer));
        if let Some(&own) = own {
            builder.program.apart.push((source.buffer, own));
        }
        moves.push(Move {
            source,
            bytes,
            destinations: Arc::clone(destinations),
            destination_offset: offset,
        });
    }

    fn key_blocks(
        &self,
        builder: &mut Builder,
        round: Round,
        prepared: &Prepared,
        what: &str,
    ) -> (Vec<BufferId>, Vec<Move>) {
        let buffers = self.coefficients(builder, round, what);
        let mut moves = Vec::new();
        for (stream, block, panel, source) in self.round_panels(round, prepared) {
            let to: Arc<[BufferId]> = Arc::from(self.of_stream(&buffers, stream));
            for group in 0..KEY_BLOCK / LANES {
                let row = block * (KEY_BLOCK / LANES) + group;
                let offset = (row * self.panels() + panel) * TILE_BYTES;
                let from = Self::place(source, group * TILE_BYTES);
                Self::multicast(builder, &mut moves, (from, TILE_BYTES), (&to, offset));
            }
        }
        (buffers, moves)
    }

    fn value_blocks(
        &self,
        builder: &mut Builder,
        round: Round,
        prepared: &Prepared,
        moves: &mut Vec<Move>,
    ) -> Vec<BufferId> {
        let buffers = self.coefficients(builder, round, "values");
        for (stream, block, panel, source) in self.round_panels(round, prepared) {
            let to: Arc<[BufferId]> = Arc::from(self.of_stream(&buffers, stream));
            let offset = (panel * round.blocks + block) * PANEL_BYTES;
            let from = Self::place(source, 0);
            Self::multicast(builder, moves, (from, PANEL_BYTES), (&to, offset));
        }
        buffers
    }

    /// Stream, block within the round, panel and buffer of the panels of a round.
    fn round_panels(&self, round: Round, prepared: &Prepared) -> Vec<(u32, u32, u32, BufferId)> {
        let first = round.index * round.blocks;
        let in_round = |block: u32| (first..first + round.blocks).contains(&block);
        let panels = self.prepared_panels().into_iter().zip(prepared);
        panels
            .filter(|((_, block, _), _)| in_round(*block))
            .map(|((stream, block, panel), &buffer)| (stream, block - first, panel, buffer))
            .collect()
    }

    fn scores(
        &self,
        builder: &mut Builder,
        round: Round,
        queries: &[BufferId],
        keys: &[BufferId],
    ) -> Vec<BufferId> {
        let label = builder.label(&format!("{} scores and weights", self.operation.name));
        let (padded, valid) = (Self::padded(round), self.valid(round));
        let mut scores = Vec::new();
        let (mut products, mut softmaxes) = (Vec::new(), Vec::new());
        for (index, owner) in self.owners.iter().enumerate() {
            let bytes = owner.rows * (padded + LANES) * 2;
            let buffer = builder.buffer(owner.tile, bytes, label);
            builder.buffer_mut(buffer).class = MemoryClass::Interleaved;
            builder.program.apart.push((buffer, queries[index]));
            scores.push(buffer);
            let shape = GemmShape {
                physical: [owner.rows, self.panels() * LANES, padded],
                logical: [owner.rows, self.problem.width, valid],
                accumulate: false,
                class: self.class(),
            };
            let template = builder.template(gemm_call(&shape, &Self::indices(round, "scores")));
            let operands = [buffer, queries[index], keys[index]];
            products.push(self.call(owner, template, &operands));
            let spec = crate::plan::softmax(&self.problem, owner.rows, valid, padded);
            let template = builder.template(softmax_call(&spec));
            softmaxes.push(self.call(owner, template, &[buffer, buffer]));
        }
        builder.compute(&self.title, "gemm", products);
        builder.compute(&self.title, "softmax", softmaxes);
        scores
    }

    fn indices(round: Round, product: &str) -> Vec<(&'static str, String)> {
        let mut indices = vec![("product", product.to_owned())];
        if round.count > 1 {
            indices.push(("block", round.index.to_string()));
        }
        indices
    }

    fn call(&self, owner: &Owner, template: u32, operands: &[BufferId]) -> Call {
        Call {
            tile: owner.tile,
            template,
            operands: operands.iter().map(|&each| Self::place(each, 0)).collect(),
        }
    }

    fn weighted_values(
        &self,
        builder: &mut Builder,
        round: Round,
        weights: &[BufferId],
        values: &[BufferId],
    ) -> Vec<BufferId> {
        let label = builder.label(&format!("{} weighted values", self.operation.name));
        let mut sums = Vec::new();
        let mut calls = Vec::new();
        for (index, owner) in self.owners.iter().enumerate() {
            let bytes = owner.rows * self.panels() * UNIT_BYTES;
            let buffer = builder.buffer(owner.tile, bytes, label);
            builder.buffer_mut(buffer).class = MemoryClass::Interleaved;
            builder.program.apart.push((buffer, weights[index]));
            sums.push(buffer);
            let shape = GemmShape {
                physical: [owner.rows, Self::padded(round), self.panels() * LANES],
                logical: [owner.rows, self.valid(round), self.problem.width],
                accumulate: false,
                class: self.class(),
            };
            let template = builder.template(gemm_call(&shape, &Self::indices(round, "values")));
            calls.push(self.call(owner, template, &[buffer, weights[index], values[index]]));
        }
        builder.compute(&self.title, "gemm", calls);
        sums
    }

    /// Merges a round into the states; the last one gives the result rows.
    fn merge(
        &self,
        builder: &mut Builder,
        round: Round,
        (weights, sums): (&[BufferId], &[BufferId]),
        states: &[BufferId],
    ) -> Vec<BufferId> {
        let label = builder.label(&format!("{} result rows", self.operation.name));
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for (index, owner) in self.owners.iter().enumerate() {
            let part = (round.index, round.count);
            let spec = crate::plan::merge(&self.problem, owner.rows, part);
            let mut operands = Vec::new();
            if spec.last {
                let bytes = (owner.rows * self.problem.width * 2).next_multiple_of(UNIT_BYTES);
                let result = builder.buffer(owner.tile, bytes, label);
                results.push(result);
                operands.push(Self::place(result, 0));
            }
            operands.extend(states.get(index).map(|&state| Self::place(state, 0)));
            let state_offset = owner.rows * Self::padded(round) * 2;
            operands.push(Self::place(sums[index], 0));
            operands.push(Self::place(weights[index], state_offset));
            calls.push(Call {
                tile: owner.tile,
                template: builder.template(merge_call(&spec)),
                operands,
            });
        }
        builder.compute(&self.title, "merge", calls);
        results
    }

    /// The result rows of each owner, for the host or the product that follows.
    pub(super) fn settle(&self, builder: &mut Builder, results: &[BufferId]) {
        let rows: Vec<ResultRows> = self
            .owners
            .iter()
            .zip(results)
            .map(|(owner, &buffer)| ResultRows {
                stream: owner.stream,
                first_row: owner.first_row,
                rows: owner.rows,
                tile: owner.tile,
                buffer,
            })
            .collect();
        settle(builder, self.graph, (self.operation, &self.problem), &rows);
    }
}
