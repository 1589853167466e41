//! Copies inside one tile: contiguous at four widths, and rows.

use super::generation::{Cost, Generation};
use super::kernel::Kernel;
use super::operands::{ATOM, Operand, multiple, read, write};
use super::rules::{Placed, Violation};
use super::tile::TileCall;
use super::workers::{bundles, busiest_blocks, parts};
use crate::package::CopyRows;

/// How a copy moves its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// Six workers, 64 bits at a time.
    Double,
    /// Six workers, 64 bits at a time from standard to interleaved memory: load and store hit
    /// different elements, so they share a bundle.
    Stage,
    /// The supervisor, 32 bits at a time.
    Word,
    /// The supervisor, 16 bits at a time: it reads, changes and writes whole words.
    Half,
}

/// Launch and rendezvous of the 64-bit copy. Fit to published C600 measurements.
const LAUNCH: u64 = 246;
/// Bundles per 64-bit word: a load and a store that may not share a bundle. Same fit.
const DOUBLE_BUNDLES: u64 = 2;
/// Launch of the copy to interleaved memory, with one bundle a word. Derived: the structure is that
/// of the 64-bit copy, the launch makes up for the one published point, 8 KiB in 1,308 cycles.
const STAGE_LAUNCH: u64 = 282;
/// Launch and cycles a word of the supervisor's loops. Published C600 measurements.
const WORD_LAUNCH: u64 = 104;
const WORD_CYCLES: u64 = 23;
const HALF_LAUNCH: u64 = 112;
const HALF_CYCLES: u64 = 129;
/// Launch, and bundles per row and 64-bit word, of the copy of rows. Fit to published C600
/// measurements.
const ROWS_LAUNCH: u64 = 294;
const ROW_BUNDLES: u64 = 6;

/// A contiguous copy.
pub(crate) struct Copy {
    width: Width,
    bytes: u32,
}

impl Copy {
    pub(crate) const fn new(width: Width, bytes: u32) -> Self {
        Self { width, bytes }
    }

    const fn grain(&self) -> u32 {
        match self.width {
            Width::Double | Width::Stage => ATOM,
            Width::Word => 4,
            Width::Half => 2,
        }
    }
}

impl Kernel for Copy {
    fn operands(&self) -> Vec<Operand> {
        let bytes = u64::from(self.bytes);
        [write("out", bytes), read("source", bytes)]
            .map(|operand| Operand {
                alignment: self.grain(),
                ..operand
            })
            .to_vec()
    }

    fn extent_error(&self) -> Option<String> {
        multiple("bytes", self.bytes, self.grain())
    }

    /// The same in both generations.
    fn cost(&self, _generation: Generation) -> Cost {
        let doubles = busiest_blocks(self.bytes, ATOM);
        match self.width {
            Width::Double => Cost::fitted(LAUNCH + bundles(DOUBLE_BUNDLES * doubles)),
            Width::Stage => Cost::derived(STAGE_LAUNCH + bundles(doubles)),
            Width::Word => Cost::fitted(WORD_LAUNCH + WORD_CYCLES * parts(self.bytes, 4)),
            Width::Half => Cost::fitted(HALF_LAUNCH + HALF_CYCLES * parts(self.bytes, 2)),
        }
    }

    fn check_places(&self, placed: &[Placed]) -> Result<(), Violation> {
        match (self.width, placed) {
            (Width::Stage, [out, _]) => {
                out.require_interleaved("its stores share bundles with standard loads")
            }
            _ => Ok(()),
        }
    }

    fn execute(&self, call: &mut TileCall<'_>) -> Result<(), Violation> {
        let (out, source) = (call.address(0), call.address(1));
        if self.width != Width::Half {
            return copy_words(call, out, source, self.bytes);
        }
        let first = source - source % 4;
        let last = source + self.bytes - 1;
        let touched = last - last % 4 + 4 - first;
        if let Some(missing) = call.memory().first_uninitialised(first, touched)? {
            let detail = "a 16-bit copy reads it".to_owned();
            return Err(super::tile::uninitialised(missing, detail));
        }
        let bytes = call.bytes(1, self.bytes as usize)?.to_vec();
        Ok(call.memory().write(out, &bytes)?)
    }
}

/// Copies whole words with their initialisation.
fn copy_words(call: &mut TileCall<'_>, out: u32, source: u32, bytes: u32) -> Result<(), Violation> {
    let run = call.memory().take(source, bytes)?;
    Ok(call.memory().land(out, &run)?)
}

impl Kernel for CopyRows {
    fn operands(&self) -> Vec<Operand> {
        let span = |stride: u32| {
            u64::from(self.rows.saturating_sub(1)) * u64::from(stride) + u64::from(self.bytes)
        };
        vec![
            write("out", span(self.out_stride)),
            read("source", span(self.source_stride)),
        ]
    }

    fn extent_error(&self) -> Option<String> {
        multiple("rows", self.rows, 1)
            .or_else(|| multiple("bytes", self.bytes, ATOM))
            .or_else(|| multiple("out stride", self.out_stride, ATOM))
            .or_else(|| multiple("source stride", self.source_stride, ATOM))
            .or_else(|| {
                let stride = self.out_stride.min(self.source_stride);
                (stride < self.bytes)
                    .then(|| format!("a stride of {stride} is shorter than its {}", self.bytes))
            })
    }

    /// The same in both generations.
    fn cost(&self, _generation: Generation) -> Cost {
        let row = DOUBLE_BUNDLES * parts(self.bytes, ATOM) + ROW_BUNDLES;
        Cost::fitted(ROWS_LAUNCH + bundles(parts(self.rows, 6).saturating_mul(row)))
    }

    fn execute(&self, call: &mut TileCall<'_>) -> Result<(), Violation> {
        for row in 0..self.rows {
            let out = call.address(0) + row * self.out_stride;
            let source = call.address(1) + row * self.source_stride;
            copy_words(call, out, source, self.bytes)?;
        }
        Ok(())
    }
}
