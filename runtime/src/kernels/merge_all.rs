//! Merge of all blocks of online softmax in one pass, in F32.
//!
//! A kernel that nobody has measured: what it saves against one [`Merge`](crate::package::Merge) a
//! block is that sums stay in registers instead of going to memory and back for each block.

use super::generation::{Cost, Generation};
use super::kernel::Kernel;
use super::merge::{Block, Running, store_quotients};
use super::operands::{Operand, matrix, multiple, read, write};
use super::rules::Violation;
use super::softmax::STATE;
use super::tile::TileCall;
use super::workers::{bundles, parts};
use crate::package::{MERGE_PARTS_MAX, MergeAll};

/// Launch and row set-up, as of the measured merge of the newest set.
const LAUNCH: u64 = 222;
const ROW: u64 = 24;
/// Set-up of 16 columns, once and for each, and the division, as of the same.
const PANELS: u64 = 1;
const PANEL: u64 = 3;
const DIVIDE: u64 = 5;
/// Each part's maximum, exponential and scaled sum. Assumed: two loads, six instructions.
const PART: u64 = 8;
/// A pair of columns: a load that converts and a multiply-add for each part; scaling, conversion
/// and store once. Assumed.
const PART_PAIR: u64 = 2;
const PAIR: u64 = 3;

impl MergeAll {
    /// Parts that operands are counted for; more are refused.
    const fn counted_parts(&self) -> usize {
        if self.parts > MERGE_PARTS_MAX {
            MERGE_PARTS_MAX as usize
        } else {
            self.parts as usize
        }
    }

    const fn block(&self, part: usize) -> Block {
        Block {
            rows: self.rows as usize,
            columns: self.columns as usize,
            padded: self.padded as usize,
            values: 1 + 2 * part,
            row_state: 2 + 2 * part,
        }
    }

    fn blocks(&self) -> impl Iterator<Item = Block> + use<'_> {
        (0..self.counted_parts()).map(|part| self.block(part))
    }
}

/// Row `row` of all blocks: each scaled to the largest maximum, added in the order of the parts.
/// Products and sums are rounded apart.
fn merged(blocks: &[Vec<Running>], row: usize) -> Running {
    let maximum = blocks
        .iter()
        .map(|block| block[row].maximum)
        .fold(f32::NEG_INFINITY, f32::max);
    let columns = blocks.first().map_or(0, |block| block[row].values.len());
    let mut result = Running {
        maximum,
        sum: 0.0,
        values: vec![0.0; columns],
    };
    for block in blocks {
        let part = &block[row];
        let factor = libm::expf(part.maximum - maximum);
        result.sum += part.sum * factor;
        for (sum, value) in result.values.iter_mut().zip(&part.values) {
            *sum += value * factor;
        }
    }
    result
}

impl Kernel for MergeAll {
    fn operands(&self) -> Vec<Operand> {
        let out_bytes = if self.half_output { 2 } else { 4 };
        let mut operands = vec![write("out", matrix(self.rows, self.columns, out_bytes))];
        for _ in self.blocks() {
            operands.push(read("block", matrix(self.rows, self.padded, 2)));
            operands.push(read("row state", matrix(self.rows, STATE, 1)));
        }
        operands
    }

    fn extent_error(&self) -> Option<String> {
        let more = (self.columns > self.padded).then(|| {
            let (columns, padded) = (self.columns, self.padded);
            format!("columns is {columns}, more than the blocks' {padded}")
        });
        let outside = !(2..=MERGE_PARTS_MAX).contains(&self.parts);
        multiple("rows", self.rows, 1)
            .or_else(|| multiple("columns", self.columns, 2))
            .or_else(|| multiple("padded", self.padded, STATE / 2))
            .or(more)
            .or_else(|| {
                outside.then(|| format!("parts is {}, outside 2..={MERGE_PARTS_MAX}", self.parts))
            })
    }

    /// The same in both generations.
    fn cost(&self, _generation: Generation) -> Cost {
        let columns = u64::from(self.columns);
        let count = u64::from(self.parts);
        let panels = if columns >= 16 { PANELS } else { 0 };
        let pair = (PART_PAIR * count).saturating_add(PAIR);
        let row = columns
            .div_ceil(2)
            .saturating_mul(pair)
            .saturating_add(ROW + DIVIDE + PART * count + panels + PANEL * (columns / 16));
        let rows = parts(self.rows, 6).saturating_mul(row);
        Cost::assumed(LAUNCH.saturating_add(bundles(rows)))
    }

    fn execute(&self, call: &mut TileCall<'_>) -> Result<(), Violation> {
        let rows = self.rows as usize;
        let mut padding = Vec::with_capacity(rows);
        for row in 0..rows {
            let ranges: Vec<_> = self
                .blocks()
                .flat_map(|block| block.ranges(call, row))
                .collect();
            padding.push(call.is_padding(row, &ranges)?);
        }
        let blocks = self.blocks().map(|block| block.read(call));
        let blocks = blocks.collect::<Result<Vec<_>, _>>()?;
        let running: Vec<Running> = (0..rows).map(|row| merged(&blocks, row)).collect();
        store_quotients(call, 0, &running, &padding, self.half_output)
    }
}
