//! Merge of online softmax blocks into a running result, in F32.

use super::generation::{Cost, Generation};
use super::kernel::Kernel;
use super::operands::{Operand, matrix, multiple, read, update, write};
use super::rules::Violation;
use super::softmax::{STATE, STATE_USED};
use super::tile::{F16, F32, Ranges, TileCall, WORD, size};
use super::workers::{bundles, parts};
use crate::package::Merge;

/// Launch. Published C600 measurements, exact on three shapes; so are all constants below but
/// those of F16 results.
const LAUNCH: u64 = 222;
/// Set-up of 16 columns, once and for each.
const PANELS: u64 = 1;
const PANEL: u64 = 3;
/// A pair of columns that is written, or read and written.
const FIRST_PAIR: u64 = 4;
const NEXT_PAIR: u64 = 6;
/// The division of a last merge, if it is the first or not.
const FIRST_DIVIDE: u64 = 3;
const NEXT_DIVIDE: u64 = 5;
/// F16 results: a row, and each pair. Published fit.
const HALF_ROW: u64 = 3;
const HALF_PAIR: u64 = 1;

/// Row set-up of a first and of another merge, by generation. The earlier set reproduces six
/// published measurements; that of the later one is a published fit without points.
const fn row_setup(generation: Generation, is_first: bool) -> u64 {
    match (generation, is_first) {
        (Generation::G20260907, true) => 27,
        (Generation::G20260907, false) => 34,
        (Generation::G20260913, true) => 24,
        (Generation::G20260913, false) => 31,
    }
}

/// Which operand is which.
struct Operands {
    out: Option<usize>,
    state: Option<usize>,
    block: usize,
    row_state: usize,
}

/// Scaled maximum, sum and accumulators of a row.
pub(super) struct Running {
    pub(super) maximum: f32,
    pub(super) sum: f32,
    pub(super) values: Vec<f32>,
}

impl Running {
    /// Rescales both sides to the larger maximum and adds. Products and sums are rounded apart.
    fn merge(self, other: &Self) -> Self {
        let maximum = self.maximum.max(other.maximum);
        let mine = libm::expf(self.maximum - maximum);
        let theirs = libm::expf(other.maximum - maximum);
        let blend = |a: f32, b: f32| a * mine + b * theirs;
        let values = self.values.iter().zip(&other.values);
        Self {
            maximum,
            sum: blend(self.sum, other.sum),
            values: values.map(|(&a, &b)| blend(a, b)).collect(),
        }
    }
}

impl Merge {
    const fn operand_indices(&self) -> Operands {
        let out = if self.last { Some(0) } else { None };
        let next = if self.last { 1 } else { 0 };
        let has_state = !(self.first && self.last);
        let state = if has_state { Some(next) } else { None };
        let block = next + if has_state { 1 } else { 0 };
        Operands {
            out,
            state,
            block,
            row_state: block + 1,
        }
    }

    /// Bytes of a row of the state.
    const fn state_row(&self) -> usize {
        (self.columns as usize + 2) * F32
    }

    /// Whether a row is padding in the block, its row state and, where it is read, the state.
    fn is_padding(&self, call: &TileCall<'_>, row: usize) -> Result<bool, Violation> {
        let operands = self.operand_indices();
        let mut ranges = self.block().ranges(call, row);
        if let (Some(state), false) = (operands.state, self.first) {
            let bytes = self.state_row();
            ranges.push(Ranges {
                first: call.address(state) + size(row * bytes),
                bytes,
                stride: 0,
                count: 1,
            });
        }
        call.is_padding(row, &ranges)
    }

    const fn block(&self) -> Block {
        let operands = self.operand_indices();
        Block {
            rows: self.rows as usize,
            columns: self.columns as usize,
            padded: self.padded as usize,
            values: operands.block,
            row_state: operands.row_state,
        }
    }

    /// The block's rows with their states, and the running result merged into them.
    fn merged(&self, call: &TileCall<'_>) -> Result<Vec<Running>, Violation> {
        let running = self.block().read(call)?;
        let (Some(state), false) = (self.operand_indices().state, self.first) else {
            return Ok(running);
        };
        let (rows, columns) = (self.rows as usize, self.columns as usize);
        let stored = call.floats(state, rows * (columns + 2))?;
        let stored = stored.chunks_exact(columns + 2).map(|row| Running {
            maximum: row[0],
            sum: row[1],
            values: row[2..].to_vec(),
        });
        Ok(stored
            .zip(&running)
            .map(|(stored, block)| stored.merge(block))
            .collect())
    }
}

/// A block of weights · values with the row states of its softmax, as operands of a call.
pub(super) struct Block {
    pub(super) rows: usize,
    /// Columns that count.
    pub(super) columns: usize,
    pub(super) padded: usize,
    /// Operand with the F16 values, in AMP-left panels.
    pub(super) values: usize,
    /// Operand with the row states.
    pub(super) row_state: usize,
}

impl Block {
    /// What a row occupies, its state included.
    pub(super) fn ranges(&self, call: &TileCall<'_>, row: usize) -> Vec<Ranges> {
        let panel = STATE as usize;
        let lanes = panel / F16;
        let range = |operand, offset: usize, bytes, stride, count| Ranges {
            first: call.address(operand) + size(offset),
            bytes,
            stride,
            count,
        };
        let (full, rest) = (self.columns / lanes, self.columns % lanes);
        vec![
            range(self.values, row * panel, panel, self.rows * panel, full),
            range(
                self.values,
                (full * self.rows + row) * panel,
                rest * F16,
                0,
                usize::from(rest > 0),
            ),
            range(self.row_state, row * panel, STATE_USED, 0, 1),
        ]
    }

    /// The rows with their states.
    pub(super) fn read(&self, call: &TileCall<'_>) -> Result<Vec<Running>, Violation> {
        let (rows, lanes) = (self.rows, STATE as usize / F16);
        let block = call.halves(self.values, rows * self.padded)?;
        let states = call.floats(self.row_state, rows * STATE as usize / F32)?;
        let running = (0..rows).map(|row| {
            let value = |column: usize| {
                block[(column / lanes * rows + row) * lanes + column % lanes].to_f32()
            };
            Running {
                maximum: states[row * STATE as usize / F32],
                sum: states[row * STATE as usize / F32 + 1],
                values: (0..self.columns).map(value).collect(),
            }
        });
        Ok(running.collect())
    }
}

/// Writes the quotients of rows, row-major [R, V], as F16 or F32.
pub(super) fn store_quotients(
    call: &mut TileCall<'_>,
    operand: usize,
    running: &[Running],
    padding: &[bool],
    half_output: bool,
) -> Result<(), Violation> {
    let quotients = running
        .iter()
        .flat_map(|row| row.values.iter().map(|value| value / row.sum));
    let columns = running.first().map_or(0, |row| row.values.len());
    let element = if half_output { F16 } else { F32 };
    let words = padding_words(padding, columns * element);
    if half_output {
        let rounder = call.rounder;
        let values: Vec<_> = (0..)
            .zip(quotients)
            .map(|(at, value)| rounder.round(value, at))
            .collect();
        return Ok(call.store_halves(operand, &values, words)?);
    }
    let values: Vec<f32> = quotients.collect();
    Ok(call.store_floats(operand, &values, words)?)
}

/// The words of padded rows.
fn padding_words(padding: &[bool], row_bytes: usize) -> Vec<u32> {
    let words = row_bytes / WORD;
    let padded = padding.iter().enumerate().filter(|&(_, &padded)| padded);
    padded
        .flat_map(|(row, _)| (row * words..(row + 1) * words).map(size))
        .collect()
}

impl Kernel for Merge {
    fn operands(&self) -> Vec<Operand> {
        let out_bytes = if self.half_output { 2 } else { 4 };
        let state_bytes = matrix(self.rows, self.columns.saturating_add(2), 4);
        let mut operands = Vec::new();
        if self.last {
            operands.push(write("out", matrix(self.rows, self.columns, out_bytes)));
        }
        match (self.first, self.last) {
            (true, false) => operands.push(write("state", state_bytes)),
            (false, false) => operands.push(update("state", state_bytes)),
            (false, true) => operands.push(read("state", state_bytes)),
            (true, true) => {}
        }
        operands.push(read("block", matrix(self.rows, self.padded, 2)));
        operands.push(read("row state", matrix(self.rows, STATE, 1)));
        operands
    }

    fn extent_error(&self) -> Option<String> {
        multiple("rows", self.rows, 1)
            .or_else(|| multiple("columns", self.columns, 2))
            .or_else(|| multiple("padded", self.padded, STATE / 2))
            .or_else(|| {
                (self.columns > self.padded).then(|| {
                    format!(
                        "columns is {}, more than the block's {}",
                        self.columns, self.padded
                    )
                })
            })
            .or_else(|| {
                (self.half_output && !self.last)
                    .then(|| "half output is asked of a merge that is not the last".to_owned())
            })
    }

    fn cost(&self, generation: Generation) -> Cost {
        let when = |condition: bool, cycles: u64| if condition { cycles } else { 0 };
        let columns = u64::from(self.columns);
        let pair = if self.first { FIRST_PAIR } else { NEXT_PAIR };
        let divide = if self.first {
            FIRST_DIVIDE
        } else {
            NEXT_DIVIDE
        };
        let row = row_setup(generation, self.first)
            + when(self.half_output, HALF_ROW)
            + when(columns >= 16, PANELS)
            + PANEL * (columns / 16)
            + columns.div_ceil(2) * (pair + when(self.half_output, HALF_PAIR))
            + when(self.last, divide);
        let cycles = LAUNCH.saturating_add(bundles(parts(self.rows, 6).saturating_mul(row)));
        match generation {
            Generation::G20260907 if !self.half_output => Cost::measured(cycles),
            Generation::G20260907 | Generation::G20260913 => Cost::fitted(cycles),
        }
    }

    fn execute(&self, call: &mut TileCall<'_>) -> Result<(), Violation> {
        let padding = (0..self.rows as usize)
            .map(|row| self.is_padding(call, row))
            .collect::<Result<Vec<_>, _>>()?;
        let running = self.merged(call)?;
        let operands = self.operand_indices();
        let Some(out) = operands.out else {
            let values: Vec<f32> = running
                .into_iter()
                .flat_map(|row| [row.maximum, row.sum].into_iter().chain(row.values))
                .collect();
            let words = padding_words(&padding, self.state_row());
            return Ok(call.store_floats(operands.state.unwrap_or(0), &values, words)?);
        };
        store_quotients(call, out, &running, &padding, self.half_output)
    }
}
