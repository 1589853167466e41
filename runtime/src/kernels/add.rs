//! F16 and F32 add, dense or with a right operand that the rows share.

use super::generation::{Cost, Generation};
use super::half_math::Lane;
use super::kernel::Kernel;
use super::operands::{Operand, matrix, multiple, read, write};
use super::pointwise::Rows;
use super::rules::Violation;
use super::tile::{F16, F32, TileCall, WORD, size};
use super::workers::{area_parts, parts};
use crate::package::{Add, Output};

/// Each further row. Published C600 measurements.
const NEXT_ROW: u64 = 234;
/// Extents that are no multiple of four: launch and 12 elements. Published fit, no points.
const IRREGULAR_LAUNCH: u64 = 450;
const IRREGULAR_BLOCK: u64 = 54;

/// F32 adds two lanes a bundle, not four, so a block is half as long. No point, no published fit:
/// assumed.
const SINGLE_BLOCK: u32 = 12;

/// Launch, and 24 elements of a row, where all extents are multiples of four. Published C600
/// measurements; those of the older set are taken for the earlier generation.
const fn regular(generation: Generation) -> (u64, u64) {
    match generation {
        Generation::G20260907 => (492, 24),
        Generation::G20260913 => (504, 18),
    }
}

impl Add {
    /// Cycles of rows in blocks of this many elements.
    fn blocks(&self, elements: u32, generation: Generation) -> u64 {
        let (launch, block) = regular(generation);
        let row = block * parts(self.width, elements);
        let rows = u64::from(self.rows);
        let further = NEXT_ROW * rows.saturating_sub(1);
        rows.saturating_mul(row).saturating_add(launch + further)
    }

    fn operands_of(&self, element_bytes: u64) -> Vec<Operand> {
        let rows = matrix(self.rows, self.width, element_bytes);
        vec![
            write("out", rows),
            read("left", rows),
            read("right", matrix(1, self.width, element_bytes)),
        ]
    }
}

impl Kernel for Add {
    fn operands(&self) -> Vec<Operand> {
        self.operands_of(2)
    }

    fn extent_error(&self) -> Option<String> {
        multiple("rows", self.rows, 1).or_else(|| multiple("width", self.width, 2))
    }

    fn cost(&self, generation: Generation) -> Cost {
        if !self.width.is_multiple_of(4) {
            let blocks = area_parts(self.rows, self.width, 12);
            let cycles = IRREGULAR_BLOCK.saturating_mul(blocks);
            return Cost::fitted(cycles.saturating_add(IRREGULAR_LAUNCH));
        }
        Cost::measured(self.blocks(24, generation))
    }

    fn may_replace(&self, written: &str, other: &str) -> bool {
        (written, other) == ("out", "left")
    }

    /// One row is dense: its right operand may be padding where its left one is. Several rows share
    /// the right operand, which then has no padding.
    fn execute(&self, call: &mut TileCall<'_>) -> Result<(), Violation> {
        let rows = Rows::new(self.rows, self.width, Output::F16);
        let padding = if self.rows == 1 {
            rows.padding(call, &[1, 2])?
        } else {
            call.require(2, rows.width * F16, "right")?;
            rows.padding(call, &[1])?
        };
        let mut values = call.halves(1, rows.elements())?;
        let right = call.halves(2, rows.width)?;
        for (at, (value, &right)) in values.iter_mut().zip(right.iter().cycle()).enumerate() {
            *value = Lane::new(&call.rounder, 0, at).add(*value, right);
        }
        rows.store(call, &values, padding)
    }
}

/// The F32 add.
pub(crate) struct Single(pub(crate) Add);

impl Kernel for Single {
    fn operands(&self) -> Vec<Operand> {
        self.0.operands_of(4)
    }

    fn extent_error(&self) -> Option<String> {
        self.0.extent_error()
    }

    fn cost(&self, generation: Generation) -> Cost {
        Cost::assumed(self.0.blocks(SINGLE_BLOCK, generation))
    }

    fn may_replace(&self, written: &str, other: &str) -> bool {
        self.0.may_replace(written, other)
    }

    /// Padding as in the F16 add.
    fn execute(&self, call: &mut TileCall<'_>) -> Result<(), Violation> {
        let (rows, width) = (self.0.rows as usize, self.0.width as usize);
        if rows > 1 {
            call.require(2, width * F32, "right")?;
        }
        let (left, right) = (call.address(1), call.address(2));
        let padding = call.padding_words(rows * width, |word, from| {
            from.push(left + size(word * WORD));
            from.extend((rows == 1).then_some(right + size(word * WORD)));
        })?;
        let mut values = call.floats(1, rows * width)?;
        let right = call.floats(2, width)?;
        for (value, right) in values.iter_mut().zip(right.iter().cycle()) {
            *value += right;
        }
        Ok(call.store_floats(0, &values, padding)?)
    }
}
