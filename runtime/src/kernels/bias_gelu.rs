//! GeLU after a bias add, in F16 arithmetic; results F16 or F143.

use super::generation::{Cost, Generation};
use super::half_math::Lane;
use super::kernel::Kernel;
use super::operands::{Operand, matrix, multiple, output_bytes, output_error, read, write};
use super::pointwise::Rows;
use super::rules::Violation;
use super::tile::{F16, TileCall};
use super::workers::{WORKERS, parts};
use crate::package::{BiasGelu, Output};

/// Launch, row, and 24 elements of a row whose width is a multiple of four. Published C600
/// measurements, exact on seven shapes.
const LAUNCH: u64 = 222;
const ROW: u64 = 228;
const QUADS: u64 = 90;

/// Other widths: launch, row, a worker's block of eight pairs and a pair of its tail. Solved from
/// the three published shapes, which have at most one block a worker.
const IRREGULAR_LAUNCH: u64 = 216;
const IRREGULAR_ROW: u64 = 276;
const IRREGULAR_BLOCK: u64 = 540;
const IRREGULAR_PAIR: u64 = 138;

/// F143 results: launch, row, 192 elements of a row, and a packed row. Published fit, no points.
const F143_LAUNCH: u64 = 330;
const F143_ROW: u64 = 198;
const F143_BLOCK: u64 = 1104;
const F143_PACKED: u64 = 12;

/// Cycles of a row of irregular width, and whether a worker has more than one block.
fn irregular_row(width: u32) -> (u64, bool) {
    let workers = u64::from(WORKERS);
    let pairs = u64::from(width.div_ceil(2));
    let worker = |worker: u64| {
        let pairs = pairs.saturating_sub(8 * worker);
        let blocks = if pairs < 8 {
            0
        } else {
            (pairs - 8) / (8 * workers) + 1
        };
        let tail = pairs.saturating_sub(8 * workers * blocks);
        (IRREGULAR_BLOCK * blocks + IRREGULAR_PAIR * tail, blocks > 1)
    };
    let busiest = (0..workers).map(worker).max().unwrap_or((0, false));
    (IRREGULAR_ROW + busiest.0, busiest.1)
}

impl Kernel for BiasGelu {
    fn operands(&self) -> Vec<Operand> {
        vec![
            write(
                "out",
                matrix(self.rows, self.width, output_bytes(self.output)),
            ),
            read("source", matrix(self.rows, self.width, 2)),
            read("bias", matrix(1, self.width, 2)),
        ]
    }

    fn extent_error(&self) -> Option<String> {
        multiple("rows", self.rows, 1)
            .or_else(|| multiple("width", self.width, 2))
            .or_else(|| output_error(self.output, self.width))
    }

    /// The same in both generations: one is published.
    fn cost(&self, _generation: Generation) -> Cost {
        let rows = u64::from(self.rows);
        if let Output::F143 { packed, .. } = self.output {
            let packed = if packed { F143_PACKED } else { 0 };
            let row = F143_ROW + F143_BLOCK * parts(self.width, 192) + packed;
            return Cost::fitted(F143_LAUNCH.saturating_add(rows.saturating_mul(row)));
        }
        if self.width.is_multiple_of(4) {
            let row = ROW + QUADS * parts(self.width, 24);
            return Cost::measured(LAUNCH.saturating_add(rows.saturating_mul(row)));
        }
        let (row, is_extrapolated) = irregular_row(self.width);
        let cycles = IRREGULAR_LAUNCH.saturating_add(rows.saturating_mul(row));
        if is_extrapolated {
            Cost::assumed(cycles)
        } else {
            Cost::fitted(cycles)
        }
    }

    fn may_replace(&self, written: &str, other: &str) -> bool {
        self.output == Output::F16 && (written, other) == ("out", "source")
    }

    fn execute(&self, call: &mut TileCall<'_>) -> Result<(), Violation> {
        let rows = Rows::new(self.rows, self.width, self.output);
        call.require(2, rows.width * F16, "bias")?;
        let padding = rows.padding(call, &[1])?;
        let mut values = call.halves(1, rows.elements())?;
        let bias = call.halves(2, rows.width)?;
        for (at, (value, &bias)) in values.iter_mut().zip(bias.iter().cycle()).enumerate() {
            let mut lane = Lane::new(&call.rounder, 0, at);
            let sum = lane.add(*value, bias);
            *value = lane.gelu(sum);
        }
        rows.store(call, &values, padding)
    }
}
