//! GeLU, tanh form, in F16 arithmetic; results F16 or F143.

use super::generation::{Basis, Cost, Generation};
use super::half_math::Lane;
use super::kernel::Kernel;
use super::operands::{Operand, matrix, multiple, output_bytes, output_error, read, write};
use super::pointwise::Rows;
use super::rules::Violation;
use super::tile::TileCall;
use super::workers::{WORKERS, area_parts, parts};
use crate::package::{Gelu, Output};

/// Elements of a block of one worker; six of them are 96.
const BLOCK: u64 = 16;
/// Launch where no tail follows, and with one. Published C600 measurements.
const LAUNCH: u64 = 330;
const TAIL_LAUNCH: u64 = 342;
/// A tail of pairs, each. Published C600 measurements.
const TAIL_PAIR: u64 = 120;

/// A whole round of six blocks and a block before a tail. Published C600 measurements of the two
/// generations.
const fn block(generation: Generation) -> (u64, u64) {
    match generation {
        Generation::G20260907 => (510, 528),
        Generation::G20260913 => (462, 480),
    }
}

/// F143 results: launch, row, and 192 elements of a row. Published fit, no points.
const F143_LAUNCH: u64 = 138;
const F143_ROW: u64 = 372;
const F143_BLOCK: u64 = 1002;

/// Cycles for n elements that are no multiple of 16: the busiest of six workers, which take blocks
/// of eight pairs in turn and the last of them pair by pair.
fn irregular(generation: Generation, elements: u64) -> u64 {
    let (pairs, workers) = (elements.div_ceil(2), u64::from(WORKERS));
    let (half_block, stride) = (BLOCK / 2, BLOCK / 2 * workers);
    let worker = |worker: u64| {
        let pairs = pairs.saturating_sub(half_block * worker);
        if pairs == 0 {
            return 0;
        }
        let blocks = if pairs < half_block {
            0
        } else {
            (pairs - half_block) / stride + 1
        };
        let tail = pairs.saturating_sub(stride * blocks);
        let launch = if tail > 0 { TAIL_LAUNCH } else { LAUNCH };
        block(generation).1 * blocks + TAIL_PAIR * tail + launch
    };
    (0..workers).map(worker).max().unwrap_or(0)
}

impl Kernel for Gelu {
    fn operands(&self) -> Vec<Operand> {
        vec![
            write(
                "out",
                matrix(self.rows, self.width, output_bytes(self.output)),
            ),
            read("source", matrix(self.rows, self.width, 2)),
        ]
    }

    fn extent_error(&self) -> Option<String> {
        multiple("rows", self.rows, 1)
            .or_else(|| multiple("width", self.width, 2))
            .or_else(|| output_error(self.output, self.width))
    }

    fn cost(&self, generation: Generation) -> Cost {
        if self.output != Output::F16 {
            let row = F143_ROW + F143_BLOCK * parts(self.width, 192);
            let cycles = F143_LAUNCH + u64::from(self.rows).saturating_mul(row);
            return Cost::new(cycles, Basis::Fitted);
        }
        let elements = u64::from(self.rows) * u64::from(self.width);
        if !elements.is_multiple_of(BLOCK) {
            return Cost::measured(irregular(generation, elements));
        }
        let rounds = area_parts(self.rows, self.width, BLOCK * u64::from(WORKERS));
        let cycles = rounds.saturating_mul(block(generation).0);
        Cost::measured(cycles.saturating_add(LAUNCH))
    }

    fn may_replace(&self, written: &str, other: &str) -> bool {
        self.output == Output::F16 && (written, other) == ("out", "source")
    }

    fn execute(&self, call: &mut TileCall<'_>) -> Result<(), Violation> {
        let rows = Rows::new(self.rows, self.width, self.output);
        let padding = rows.padding(call, &[1])?;
        let mut values = call.halves(1, rows.elements())?;
        for (at, value) in values.iter_mut().enumerate() {
            *value = Lane::new(&call.rounder, 0, at).gelu(*value);
        }
        rows.store(call, &values, padding)
    }
}
