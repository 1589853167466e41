//! Kernel calls on a tile's memory: operands out, arithmetic, result and its initialisation back.
//!
//! Padding may be uninitialised as long as nothing consumes it: what is computed from nothing but
//! uninitialised words is uninitialised, and a value that mixes them with written words is a fault.

use half::f16;

use super::amp::{Engine, PANEL, Rounder, Shape};
use super::rules::Violation;
use crate::fault::FaultRule;
use crate::machine::memory::{OutOfRange, TileMemory, WordRun};
use crate::package::{Address, KernelSpec};

/// Bytes of an F16.
const F16: usize = 2;
/// F16 in one 4-byte word, the unit of initialisation.
const WORD_ELEMENTS: usize = 2;

impl From<OutOfRange> for Violation {
    fn from(error: OutOfRange) -> Self {
        Self::new(FaultRule::OperandRange, error.address, error.to_string())
    }
}

/// Runs one call; operand addresses are in the order of the spec, output first.
pub(crate) fn execute(
    engine: Engine,
    spec: &KernelSpec,
    operands: &[Address],
    rounder: &Rounder,
    memory: &mut TileMemory,
) -> Result<(), Violation> {
    match (*spec, operands) {
        (
            KernelSpec::GemmF16 {
                rows,
                inner,
                columns,
                accumulate,
                ..
            },
            &[out, left, right],
        ) => {
            let shape = Shape {
                rows: rows as usize,
                inner: inner as usize,
                columns: columns as usize,
            };
            Gemm {
                shape,
                out,
                left,
                right,
                accumulate,
            }
            .execute(engine, rounder, memory)
        }
        (KernelSpec::ReduceSumF16 { partials, elements }, &[out, from]) => {
            reduce(engine, partials, elements as usize, out, from, memory)
        }
        (KernelSpec::ZeroFill { bytes }, &[out]) => {
            Ok(memory.write_with(out, bytes, |to| to.fill(0))?)
        }
        (KernelSpec::Copy { bytes }, &[out, from]) => {
            let run = memory.take(from, bytes)?;
            Ok(memory.land(out, &run)?)
        }
        (_, _) => unreachable!(
            "{spec:?} with {} operands passed validation",
            operands.len()
        ),
    }
}

/// Length of `elements` F16 in bytes; operands were checked to lie in SRAM.
fn bytes_of(elements: usize) -> u32 {
    u32::try_from(elements * F16).unwrap_or(u32::MAX)
}

fn fetch(memory: &TileMemory, address: Address, elements: usize) -> Result<Vec<f16>, OutOfRange> {
    let bytes = memory.read(address, bytes_of(elements))?;
    let (pairs, _) = bytes.as_chunks::<F16>();
    Ok(pairs.iter().map(|&pair| f16::from_le_bytes(pair)).collect())
}

/// Writes a result; words in `uninitialised` count as never written.
fn store(
    memory: &mut TileMemory,
    address: Address,
    values: &[f16],
    uninitialised: Vec<u32>,
) -> Result<(), OutOfRange> {
    let bytes = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    memory.land(
        address,
        &WordRun {
            bytes,
            uninitialised,
        },
    )
}

/// Whether all, none or some words of a set of ranges are initialised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    All,
    None,
    /// The first word that is not.
    Mixed(Address),
}

/// The state of `count` ranges of `bytes` bytes, `stride` bytes apart.
fn state(memory: &TileMemory, first: Address, bytes: u32, stride: u32, count: u32) -> State {
    let (mut written, mut missing) = (false, None);
    for range in 0..count {
        for word in 0..bytes / 4 {
            let address = first + range * stride + word * 4;
            if memory.is_initialised(address) {
                written = true;
            } else if missing.is_none() {
                missing = Some(address);
            }
        }
    }
    match missing {
        None => State::All,
        Some(_) if !written => State::None,
        Some(address) => State::Mixed(address),
    }
}

fn uninitialised(address: Address, detail: String) -> Violation {
    Violation::new(FaultRule::UninitialisedRead, address, detail)
}

/// A matrix product call.
struct Gemm {
    shape: Shape,
    out: Address,
    left: Address,
    right: Address,
    accumulate: bool,
}

impl Gemm {
    fn execute(
        &self,
        engine: Engine,
        rounder: &Rounder,
        memory: &mut TileMemory,
    ) -> Result<(), Violation> {
        let Shape {
            rows,
            inner,
            columns,
        } = self.shape;
        let padding = self.uninitialised_words(memory)?;
        let left = fetch(memory, self.left, rows * inner)?;
        let right = fetch(memory, self.right, inner * columns)?;
        let mut out = if self.accumulate {
            fetch(memory, self.out, rows * columns)?
        } else {
            vec![f16::ZERO; rows * columns]
        };
        engine.multiply(
            self.shape,
            &mut out,
            &left,
            &right,
            self.accumulate,
            rounder,
        );
        Ok(store(memory, self.out, &out, padding)?)
    }

    /// Output words that come from padding only. Padded inner lanes must be initialised: a row or a
    /// column that is so in part is a fault.
    fn uninitialised_words(&self, memory: &TileMemory) -> Result<Vec<u32>, Violation> {
        let Shape {
            rows,
            inner,
            columns,
        } = self.shape;
        let is_complete = |address, elements| -> Result<bool, OutOfRange> {
            Ok(memory
                .first_uninitialised(address, bytes_of(elements))?
                .is_none())
        };
        if is_complete(self.left, rows * inner)?
            && is_complete(self.right, inner * columns)?
            && (!self.accumulate || is_complete(self.out, rows * columns)?)
        {
            return Ok(Vec::new());
        }
        let row_is_padding = self.row_padding(memory)?;
        let column_is_padding = self.column_padding(memory)?;
        let mut words = Vec::new();
        for group in 0..columns / PANEL {
            for (row, &row_is_padding) in row_is_padding.iter().enumerate() {
                for pair in 0..PANEL / WORD_ELEMENTS {
                    let column = group * PANEL + pair * WORD_ELEMENTS;
                    let of_column = column_is_padding[column] && column_is_padding[column + 1];
                    let word = (group * rows + row) * (PANEL / WORD_ELEMENTS) + pair;
                    let word = u32::try_from(word).unwrap_or(u32::MAX);
                    if row_is_padding || of_column {
                        words.push(word);
                        continue;
                    }
                    let address = self.out + word * 4;
                    if self.accumulate && !memory.is_initialised(address) {
                        let detail = format!("output row {row} column {column} is added to");
                        return Err(uninitialised(address, detail));
                    }
                }
            }
        }
        Ok(words)
    }

    fn row_padding(&self, memory: &TileMemory) -> Result<Vec<bool>, Violation> {
        let Shape { rows, inner, .. } = self.shape;
        let (row_bytes, panels) = (bytes_of(PANEL), inner / PANEL);
        let panels = u32::try_from(panels).unwrap_or(u32::MAX);
        (0..rows)
            .map(|row| {
                let first = self.left + bytes_of(row * PANEL);
                match state(memory, first, row_bytes, bytes_of(rows * PANEL), panels) {
                    State::All => Ok(false),
                    State::None => Ok(true),
                    State::Mixed(address) => Err(uninitialised(
                        address,
                        format!("left row {row} is written in part; its inner padding must be too"),
                    )),
                }
            })
            .collect()
    }

    fn column_padding(&self, memory: &TileMemory) -> Result<Vec<bool>, Violation> {
        let Shape { inner, columns, .. } = self.shape;
        let (column_bytes, panels) = (bytes_of(PANEL), inner / PANEL);
        let stride = bytes_of(PANEL * PANEL);
        (0..columns)
            .map(|column| {
                let block = column / PANEL * panels * PANEL * PANEL;
                let first = self.right + bytes_of(block + column % PANEL * PANEL);
                let panels = u32::try_from(panels).unwrap_or(u32::MAX);
                match state(memory, first, column_bytes, stride, panels) {
                    State::All => Ok(false),
                    State::None => Ok(true),
                    State::Mixed(address) => Err(uninitialised(
                        address,
                        format!("right column {column} is written in part"),
                    )),
                }
            })
            .collect()
    }
}

/// out = ((p0 + p1) + p2) + …, each sum rounded to F16.
fn reduce(
    engine: Engine,
    partials: u32,
    elements: usize,
    out: Address,
    from: Address,
    memory: &mut TileMemory,
) -> Result<(), Violation> {
    let all = elements * partials as usize;
    let mut padding = Vec::new();
    if memory.first_uninitialised(from, bytes_of(all))?.is_some() {
        for word in 0..u32::try_from(elements / WORD_ELEMENTS).unwrap_or(u32::MAX) {
            match state(memory, from + word * 4, 4, bytes_of(elements), partials) {
                State::All => {}
                State::None => padding.push(word),
                State::Mixed(address) => {
                    let detail = format!("element {} has some partials only", word * 2);
                    return Err(uninitialised(address, detail));
                }
            }
        }
    }
    let values = fetch(memory, from, all)?;
    let sum = engine.sum(&values, elements);
    Ok(store(memory, out, &sum, padding)?)
}

#[cfg(test)]
mod tests;
