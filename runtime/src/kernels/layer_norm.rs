//! Layer norm of rows: whole, or as moments and application of parts; F32 inside, F16 or F143 out.

use half::f16;

use super::generation::{Basis, Cost, Generation};
use super::half_math::Lane;
use super::kernel::Kernel;
use super::operands::{
    Operand, matrix, multiple, output_bytes, output_error, positive, read, write,
};
use super::pointwise::Rows;
use super::rules::Violation;
use super::tile::{F16, F32, Ranges, TileCall, size};
use super::workers::parts;
use crate::package::{LayerNorm, LayerNormApply, LayerNormMoments, Output};

/// Numbers of the two instructions that round to F16: the residual add and the result.
const RESIDUAL: u64 = 0;
const RESULT: u64 = 1;
/// Bytes of a row's moments.
const MOMENTS: usize = 2 * F32;
/// F143 results: each row, and 24 elements of a row, packed or not. Published fit; the pair form of
/// the application is not published, so the sum is assumed.
const F143_ROW: u64 = 270;
const F143_PACKED: u64 = 162;
const F143_PLAIN: u64 = 6;

/// Cycles of one kernel: launch + rows · (row + block48 · ⌈w/48⌉ + block24 · ⌈w/24⌉).
struct Formula {
    launch: u64,
    row: u64,
    block48: u64,
    block24: u64,
}

impl Formula {
    const fn new(launch: u64, row: u64, block48: u64, block24: u64) -> Self {
        Self {
            launch,
            row,
            block48,
            block24,
        }
    }

    fn cycles(&self, rows: u32, width: u32) -> u64 {
        let row = self.row + self.block48 * parts(width, 48) + self.block24 * parts(width, 24);
        self.launch
            .saturating_add(u64::from(rows).saturating_mul(row))
    }
}

/// Widths that the wide kernels take.
const fn is_wide(width: u32) -> bool {
    width.is_multiple_of(8) && width >= 96
}

/// Whole rows. The row constant sums setup, statistics and application. Solved from the published
/// C600 measurements of each set, four shapes each, exact; the older set is taken for the earlier
/// generation.
const fn wide(generation: Generation, add: bool) -> Formula {
    match (generation, add) {
        (Generation::G20260913, false) => Formula::new(129, 1329 + 24 + 66, 12, 30 + 72),
        (Generation::G20260913, true) => Formula::new(132, 1386 + 24 + 66, 30, 42 + 84),
        (Generation::G20260907, false) => Formula::new(129, 1329, 330, 0),
        (Generation::G20260907, true) => Formula::new(132, 1386, 420, 0),
    }
}

/// Moments, as [`wide`]; the residual add is a published fit without points.
const fn moments(generation: Generation, add: bool) -> Formula {
    let (row, block48) = if add { (108, 24) } else { (0, 0) };
    match generation {
        Generation::G20260913 => Formula::new(126, 1098 + 24 + row, 12 + block48, 30),
        Generation::G20260907 => Formula::new(126, 1080 + row, 90 + block48, 0),
    }
}

/// Application of merged moments, as [`wide`]; measured with one part, 54 cycles for each more are
/// a published fit.
const fn apply(generation: Generation) -> Formula {
    match generation {
        Generation::G20260913 => Formula::new(732, 402, 0, 72),
        Generation::G20260907 => Formula::new(558, 324, 240, 0),
    }
}
const APPLY_PART: u64 = 54;

/// Rows narrower than 96 or of irregular width: launch, row, 12 elements. Published fit, no points.
const fn narrow(add: bool) -> (u64, u64, u64) {
    if add {
        (132, 1290, 72 + 72)
    } else {
        (132, 1200, 48 + 60)
    }
}

/// A row as F32.
fn widen(row: &[f16]) -> impl Iterator<Item = f32> + '_ {
    row.iter().map(|x| x.to_f32())
}

/// What a row is normalised with.
struct Moments {
    mean: f32,
    /// (variance + ε)^-½.
    factor: f32,
}

impl Moments {
    fn new(mean: f32, variance: f32, epsilon: f32) -> Self {
        let factor = (variance.max(0.0) + epsilon).sqrt().recip();
        Self { mean, factor }
    }

    /// Mean first, then the squares of what is left: two passes over the row.
    #[expect(
        clippy::cast_precision_loss,
        reason = "a row has fewer than 2^24 elements: SRAM is smaller"
    )]
    fn of(row: &[f16], epsilon: f32) -> Self {
        let count = row.len() as f32;
        let mean = widen(row).sum::<f32>() / count;
        let squares: f32 = widen(row).map(|x| (x - mean) * (x - mean)).sum();
        Self::new(mean, squares / count, epsilon)
    }

    fn apply(&self, x: f16, gain: f16, shift: f16) -> f32 {
        ((x.to_f32() - self.mean) * self.factor) * gain.to_f32() + shift.to_f32()
    }
}

/// Reads the rows; where a residual is added, adds it and stores the sum at operand 1.
fn rows_of(call: &mut TileCall<'_>, rows: &Rows, add: bool) -> Result<Input, Violation> {
    let sources: &[usize] = if add { &[2, 3] } else { &[1] };
    let row_bytes = rows.width * F16;
    let mut padding = Vec::with_capacity(rows.rows);
    for row in 0..rows.rows {
        let ranges: Vec<Ranges> = sources
            .iter()
            .map(|&source| Ranges {
                first: call.address(source) + size(row * row_bytes),
                bytes: row_bytes,
                stride: 0,
                count: 1,
            })
            .collect();
        padding.push(call.is_padding(row, &ranges)?);
    }
    let mut values = call.halves(sources[0], rows.elements())?;
    if add {
        let residual = call.halves(3, rows.elements())?;
        for (at, (value, residual)) in values.iter_mut().zip(residual).enumerate() {
            *value = Lane::new(&call.rounder, RESIDUAL, at).add(*value, residual);
        }
        let words = padding_words(&padding, row_bytes / 4);
        call.store_halves(1, &values, words)?;
    }
    Ok(Input { values, padding })
}

/// Row-major rows with what is padding of them.
struct Input {
    values: Vec<f16>,
    padding: Vec<bool>,
}

/// The words of padded rows.
fn padding_words(padding: &[bool], row_words: usize) -> Vec<u32> {
    let padded = padding.iter().enumerate().filter(|&(_, &padded)| padded);
    padded
        .flat_map(|(row, _)| (row * row_words..(row + 1) * row_words).map(size))
        .collect()
}

/// Normalises each row with its moments and stores the result at operand 0. Gain and shift are the
/// last two operands.
fn normalise(
    call: &mut TileCall<'_>,
    rows: &Rows,
    input: &Input,
    first_parameter: usize,
    moments: impl Fn(usize, &[f16]) -> Moments,
) -> Result<(), Violation> {
    call.require(first_parameter, rows.width * F16, "gain")?;
    call.require(first_parameter + 1, rows.width * F16, "shift")?;
    let gain = call.halves(first_parameter, rows.width)?;
    let shift = call.halves(first_parameter + 1, rows.width)?;
    let mut out = Vec::with_capacity(rows.elements());
    for (row, values) in input.values.chunks_exact(rows.width).enumerate() {
        let moments = moments(row, values);
        for ((&x, &gain), &shift) in values.iter().zip(&gain).zip(&shift) {
            let value = moments.apply(x, gain, shift);
            out.push(Lane::new(&call.rounder, RESULT, out.len()).round(value));
        }
    }
    let padding = rows.words_of_rows(&input.padding);
    rows.store(call, &out, padding)
}

impl Kernel for LayerNorm {
    fn operands(&self) -> Vec<Operand> {
        let half = matrix(self.rows, self.width, 2);
        let parameter = matrix(1, self.width, 2);
        let out = write(
            "out",
            matrix(self.rows, self.width, output_bytes(self.output)),
        );
        let mut operands = vec![out];
        if self.add {
            operands.push(write("sum", half));
        }
        operands.push(read("source", half));
        if self.add {
            operands.push(read("residual", half));
        }
        operands.extend([read("gain", parameter), read("shift", parameter)]);
        operands
    }

    fn extent_error(&self) -> Option<String> {
        multiple("rows", self.rows, 1)
            .or_else(|| multiple("width", self.width, 2))
            .or_else(|| positive("epsilon", self.epsilon.get()))
            .or_else(|| output_error(self.output, self.width))
    }

    fn cost(&self, generation: Generation) -> Cost {
        let rows = u64::from(self.rows);
        let (cycles, basis) = if is_wide(self.width) {
            let formula = wide(generation, self.add);
            (formula.cycles(self.rows, self.width), Basis::Measured)
        } else {
            let (launch, row, block) = narrow(self.add);
            let row = row + block * parts(self.width, 12);
            (launch + rows.saturating_mul(row), Basis::Fitted)
        };
        let Output::F143 { packed, .. } = self.output else {
            return Cost::new(cycles, basis);
        };
        let block = if packed && self.rows > 1 {
            F143_PACKED
        } else {
            F143_PLAIN
        };
        let row = F143_ROW + block * parts(self.width, 24);
        Cost::assumed(cycles.saturating_add(rows.saturating_mul(row)))
    }

    fn may_replace(&self, written: &str, other: &str) -> bool {
        match (written, other) {
            ("out", "source") => self.output == Output::F16 && !self.add,
            ("sum", "source" | "residual") => true,
            _ => false,
        }
    }

    fn execute(&self, call: &mut TileCall<'_>) -> Result<(), Violation> {
        let rows = Rows::new(self.rows, self.width, self.output);
        let input = rows_of(call, &rows, self.add)?;
        let first_parameter = if self.add { 4 } else { 2 };
        let epsilon = self.epsilon.get();
        normalise(call, &rows, &input, first_parameter, |_, row| {
            Moments::of(row, epsilon)
        })
    }
}

impl Kernel for LayerNormMoments {
    fn operands(&self) -> Vec<Operand> {
        let half = matrix(self.rows, self.width, 2);
        let moments = write("moments", matrix(self.rows, 1, MOMENTS as u64));
        if self.add {
            return vec![
                moments,
                write("sum", half),
                read("source", half),
                read("residual", half),
            ];
        }
        vec![moments, read("source", half)]
    }

    fn extent_error(&self) -> Option<String> {
        multiple("rows", self.rows, 1).or_else(|| multiple("width", self.width, 2))
    }

    fn cost(&self, generation: Generation) -> Cost {
        let cycles = moments(generation, self.add).cycles(self.rows, self.width);
        if self.add {
            return Cost::fitted(cycles);
        }
        Cost::measured(cycles)
    }

    fn may_replace(&self, written: &str, other: &str) -> bool {
        matches!((written, other), ("sum", "source" | "residual"))
    }

    fn execute(&self, call: &mut TileCall<'_>) -> Result<(), Violation> {
        let rows = Rows::new(self.rows, self.width, Output::F16);
        let input = rows_of(call, &rows, self.add)?;
        let moments = |row: &[f16]| {
            let squares: f32 = widen(row).map(|x| x * x).sum();
            [widen(row).sum(), squares]
        };
        let values: Vec<f32> = input
            .values
            .chunks_exact(rows.width)
            .flat_map(moments)
            .collect();
        let padding = padding_words(&input.padding, MOMENTS / 4);
        Ok(call.store_floats(0, &values, padding)?)
    }
}

impl Kernel for LayerNormApply {
    fn operands(&self) -> Vec<Operand> {
        let half = matrix(self.rows, self.width, 2);
        let parameter = matrix(1, self.width, 2);
        vec![
            write("out", half),
            read("source", half),
            read("moments", matrix(self.rows, self.parts, MOMENTS as u64)),
            read("gain", parameter),
            read("shift", parameter),
        ]
    }

    fn extent_error(&self) -> Option<String> {
        multiple("rows", self.rows, 1)
            .or_else(|| multiple("width", self.width, 2))
            .or_else(|| multiple("total width", self.total_width, 1))
            .or_else(|| multiple("parts", self.parts, 1))
            .or_else(|| positive("epsilon", self.epsilon.get()))
    }

    fn cost(&self, generation: Generation) -> Cost {
        let mut formula = apply(generation);
        formula.row += APPLY_PART * u64::from(self.parts);
        let cycles = formula.cycles(self.rows, self.width);
        if self.parts > 1 {
            return Cost::fitted(cycles);
        }
        Cost::measured(cycles)
    }

    fn may_replace(&self, written: &str, other: &str) -> bool {
        (written, other) == ("out", "source")
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "the mean is F32 whatever the width"
    )]
    fn execute(&self, call: &mut TileCall<'_>) -> Result<(), Violation> {
        let rows = Rows::new(self.rows, self.width, Output::F16);
        let parts = self.parts as usize;
        let input = rows_of(call, &rows, false)?;
        for row in (0..rows.rows).filter(|&row| !input.padding[row]) {
            let ranges = Ranges {
                first: call.address(2) + size(row * MOMENTS),
                bytes: MOMENTS,
                stride: rows.rows * MOMENTS,
                count: parts,
            };
            if call.is_padding(row, &[ranges])? {
                let detail = format!("row {row} has no moments");
                return Err(super::tile::uninitialised(ranges.first, detail));
            }
        }
        let moments = call.floats(2, parts * rows.rows * 2)?;
        let total = self.total_width as f32;
        normalise(call, &rows, &input, 3, |row, _| {
            let sum_of = |word: usize| -> f32 {
                let at = |part: usize| moments[(part * rows.rows + row) * 2 + word];
                (0..parts).map(at).sum()
            };
            let mean = sum_of(0) / total;
            Moments::new(mean, sum_of(1) / total - mean * mean, self.epsilon.get())
        })
    }
}
