//! A call's view of its tile's memory: operands in, results and their initialisation out.
//!
//! Padding may be uninitialised as long as nothing consumes it: what is computed from nothing but
//! uninitialised words is uninitialised, and a value that mixes them with written words is a fault.

use half::f16;

use super::amp::{Engine, Rounder};
use super::rules::Violation;
use crate::fault::FaultRule;
use crate::machine::memory::{OutOfRange, TileMemory, WordRun};
use crate::package::Address;

/// Bytes of an F16.
pub(crate) const F16: usize = 2;
/// Bytes of an F32.
pub(crate) const F32: usize = 4;
/// Bytes of a word, the unit of initialisation.
pub(crate) const WORD: usize = 4;
/// F16 in a word.
pub(crate) const WORD_HALVES: usize = WORD / F16;

impl From<OutOfRange> for Violation {
    fn from(error: OutOfRange) -> Self {
        Self::new(FaultRule::OperandRange, error.address, error.to_string())
    }
}

/// Whether all, none or some words of a set of ranges are initialised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    All,
    None,
    /// The first word that is not.
    Mixed(Address),
}

/// Ranges of equal length at equal distances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranges {
    pub(crate) first: Address,
    /// Bytes of a range; the words it touches count.
    pub(crate) bytes: usize,
    /// Bytes from one range to the next.
    pub(crate) stride: usize,
    pub(crate) count: usize,
}

/// Operands are checked to lie in SRAM, so their sizes fit.
pub(crate) fn size(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// A read of something that was never written.
pub(crate) fn uninitialised(address: Address, detail: String) -> Violation {
    Violation::new(FaultRule::UninitialisedRead, address, detail)
}

/// One kernel call on one tile.
pub(crate) struct TileCall<'a> {
    pub(crate) engine: Engine,
    pub(crate) rounder: Rounder,
    operands: &'a [Address],
    memory: &'a mut TileMemory,
}

impl<'a> TileCall<'a> {
    pub(crate) const fn new(
        engine: Engine,
        rounder: Rounder,
        operands: &'a [Address],
        memory: &'a mut TileMemory,
    ) -> Self {
        Self {
            engine,
            rounder,
            operands,
            memory,
        }
    }

    /// Address of an operand; validation has counted them.
    pub(crate) fn address(&self, operand: usize) -> Address {
        self.operands[operand]
    }

    pub(crate) fn memory(&mut self) -> &mut TileMemory {
        self.memory
    }

    pub(crate) fn bytes(&self, operand: usize, bytes: usize) -> Result<&[u8], OutOfRange> {
        self.memory.read(self.address(operand), size(bytes))
    }

    /// The first `elements` F16 of an operand.
    pub(crate) fn halves(&self, operand: usize, elements: usize) -> Result<Vec<f16>, OutOfRange> {
        let (pairs, _) = self.bytes(operand, elements * F16)?.as_chunks::<F16>();
        Ok(pairs.iter().map(|&pair| f16::from_le_bytes(pair)).collect())
    }

    /// The first `elements` F32 of an operand.
    pub(crate) fn floats(&self, operand: usize, elements: usize) -> Result<Vec<f32>, OutOfRange> {
        let (words, _) = self.bytes(operand, elements * F32)?.as_chunks::<F32>();
        Ok(words.iter().map(|&word| f32::from_le_bytes(word)).collect())
    }

    /// Whether the first bytes of an operand were all written.
    pub(crate) fn is_complete(&self, operand: usize, bytes: usize) -> Result<bool, OutOfRange> {
        let missing = self
            .memory
            .first_uninitialised(self.address(operand), size(bytes))?;
        Ok(missing.is_none())
    }

    /// A fault where the first bytes of an operand were not all written.
    pub(crate) fn require(
        &self,
        operand: usize,
        bytes: usize,
        name: &str,
    ) -> Result<(), Violation> {
        let address = self.address(operand);
        match self.memory.first_uninitialised(address, size(bytes))? {
            None => Ok(()),
            Some(missing) => Err(uninitialised(
                missing,
                format!("operand {name} is written in part; every row needs it"),
            )),
        }
    }

    pub(crate) fn is_written(&self, address: Address) -> bool {
        self.memory.is_initialised(address)
    }

    /// The state of all words that some ranges touch.
    pub(crate) fn state(&self, ranges: &[Ranges]) -> State {
        let (mut written, mut missing) = (false, None);
        for range in ranges {
            for at in 0..range.count {
                let first = range.first + size(at * range.stride);
                let start = first - first % 4;
                let end = first + size(range.bytes);
                for address in (start..end).step_by(WORD) {
                    if self.is_written(address) {
                        written = true;
                    } else {
                        missing = missing.or(Some(address));
                    }
                }
            }
        }
        match missing {
            None => State::All,
            Some(_) if !written => State::None,
            Some(address) => State::Mixed(address),
        }
    }

    /// Whether a row that these ranges make is padding; a fault where it is written in part.
    pub(crate) fn is_padding(&self, row: usize, ranges: &[Ranges]) -> Result<bool, Violation> {
        match self.state(ranges) {
            State::All => Ok(false),
            State::None => Ok(true),
            State::Mixed(address) => Err(uninitialised(
                address,
                format!("row {row} is written in part"),
            )),
        }
    }

    /// Output words, of the first `count`, that come from padding only. `sources` gives the words
    /// that an output word is computed from.
    pub(crate) fn padding_words(
        &self,
        count: usize,
        sources: impl Fn(usize, &mut Vec<Address>),
    ) -> Result<Vec<u32>, Violation> {
        let (mut padding, mut from) = (Vec::new(), Vec::new());
        for word in 0..count {
            from.clear();
            sources(word, &mut from);
            let missing = from.iter().find(|&&address| !self.is_written(address));
            match missing {
                None => {}
                Some(_) if !from.iter().any(|&address| self.is_written(address)) => {
                    padding.push(size(word));
                }
                Some(&address) => {
                    let detail = format!("output word {word} mixes written and unwritten words");
                    return Err(uninitialised(address, detail));
                }
            }
        }
        Ok(padding)
    }

    /// Writes a result; words in `padding` count as never written.
    pub(crate) fn store(
        &mut self,
        operand: usize,
        bytes: Vec<u8>,
        padding: Vec<u32>,
    ) -> Result<(), OutOfRange> {
        let run = WordRun {
            bytes,
            uninitialised: padding,
        };
        self.memory.land(self.operands[operand], &run)
    }

    /// Writes an F16 result.
    pub(crate) fn store_halves(
        &mut self,
        operand: usize,
        values: &[f16],
        padding: Vec<u32>,
    ) -> Result<(), OutOfRange> {
        let bytes = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.store(operand, bytes, padding)
    }

    /// Writes an F32 result.
    pub(crate) fn store_floats(
        &mut self,
        operand: usize,
        values: &[f32],
        padding: Vec<u32>,
    ) -> Result<(), OutOfRange> {
        let bytes = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.store(operand, bytes, padding)
    }
}
