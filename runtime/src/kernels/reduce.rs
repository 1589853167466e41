//! Sum of packed F16 partials.

use super::generation::{Cost, Generation};
use super::kernel::Kernel;
use super::operands::{Operand, matrix, multiple, read, write};
use super::rules::Violation;
use super::tile::{F16, TileCall, WORD_HALVES, size};
use super::workers::{bundles, busiest_blocks};

/// Elements that a worker sums per iteration.
const BLOCK: u32 = 8;
/// Launch and rendezvous. Published C600 measurement, exact on seven shapes.
const LAUNCH: u64 = 282;
/// Bundles of an iteration beside the adds, and per added partial. Same measurements.
const BLOCK_BUNDLES: u64 = 11;
const PARTIAL_BUNDLES: u64 = 2;

/// out[n] = ((p0 + p1) + p2) + …, each sum rounded to F16 as the run rounds.
pub(crate) struct ReduceSum {
    pub(crate) partials: u32,
    pub(crate) elements: u32,
}

impl Kernel for ReduceSum {
    fn operands(&self) -> Vec<Operand> {
        vec![
            write("out", matrix(1, self.elements, 2)),
            read("partials", matrix(self.partials, self.elements, 2)),
        ]
    }

    fn extent_error(&self) -> Option<String> {
        if self.partials < 2 {
            return Some(format!("partials is {}, fewer than 2", self.partials));
        }
        multiple("elements", self.elements, BLOCK)
    }

    /// The same in both generations.
    fn cost(&self, _generation: Generation) -> Cost {
        if self.partials < 2 {
            return Cost::measured(0);
        }
        let block = BLOCK_BUNDLES + PARTIAL_BUNDLES * u64::from(self.partials - 1);
        let blocks = busiest_blocks(self.elements, BLOCK);
        Cost::measured(LAUNCH.saturating_add(bundles(blocks.saturating_mul(block))))
    }

    /// A sum may replace its first partial.
    fn may_replace(&self, written: &str, other: &str) -> bool {
        (written, other) == ("out", "partials")
    }

    fn execute(&self, call: &mut TileCall<'_>) -> Result<(), Violation> {
        let elements = self.elements as usize;
        let all = elements * self.partials as usize;
        let padding = if call.is_complete(1, all * F16)? {
            Vec::new()
        } else {
            let from = call.address(1);
            call.padding_words(elements / WORD_HALVES, |word, sources| {
                let partial = |p: u32| from + size(word * 4) + p * size(elements * F16);
                sources.extend((0..self.partials).map(partial));
            })?
        };
        let values = call.halves(1, all)?;
        let sum = call.engine.sum(&values, elements, &call.rounder);
        Ok(call.store_halves(0, &sum, padding)?)
    }
}
