//! One tile's SRAM: bytes, and which words have been written.
//!
//! Storage is zero-filled and taken from the operating system lazily, so 1,472 tiles cost what they
//! touch. Initialisation is kept per 4-byte word: the loader's zeroes do not count, except ranges
//! that a package declares zero.

use thiserror::Error;

use super::sram::{BASE, BYTES, END};
use crate::package::model::Address;

const WORD: u32 = 4;
/// A NaN in F16 and, twice, in F32; every other F143 of it is one too.
const POISON: [u8; 2] = 0xFF80_u16.to_le_bytes();

/// An access outside SRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{bytes} bytes at {address:#x} leave SRAM ({BASE:#x}..{END:#x})")]
pub struct OutOfRange {
    /// First byte of the access.
    pub address: Address,
    /// Its length.
    pub bytes: u32,
}

/// A range to write and a disjoint one to read.
pub type WriteAndRead<'a> = (&'a mut [u8], &'a [u8]);

/// SRAM of one tile.
#[derive(Clone, Debug)]
pub struct TileMemory {
    bytes: Vec<u8>,
    written: Vec<u64>,
    high_water: Address,
}

impl Default for TileMemory {
    fn default() -> Self {
        Self::new()
    }
}

/// The offset range of an access, checked.
fn span(address: Address, bytes: u32) -> Result<std::ops::Range<usize>, OutOfRange> {
    let end = u64::from(address) + u64::from(bytes);
    if address < BASE || end > u64::from(END) {
        return Err(OutOfRange { address, bytes });
    }
    let start = (address - BASE) as usize;
    Ok(start..start + bytes as usize)
}

impl TileMemory {
    /// Zeroed SRAM, nothing of it initialised.
    #[must_use]
    pub fn new() -> Self {
        let words = (BYTES / WORD) as usize;
        Self {
            bytes: vec![0; BYTES as usize],
            written: vec![0; words.div_ceil(64)],
            high_water: BASE,
        }
    }

    /// SRAM full of NaN, nothing of it initialised: what reads a word that was never written
    /// shows it.
    #[must_use]
    pub fn poisoned() -> Self {
        let bytes = POISON.iter().copied().cycle();
        Self {
            bytes: bytes.take(BYTES as usize).collect(),
            ..Self::new()
        }
    }

    /// The bytes of a range.
    ///
    /// # Errors
    ///
    /// A range that leaves SRAM.
    pub fn read(&self, address: Address, bytes: u32) -> Result<&[u8], OutOfRange> {
        Ok(&self.bytes[span(address, bytes)?])
    }

    /// Writes bytes and marks the words they touch as initialised.
    ///
    /// # Errors
    ///
    /// A range that leaves SRAM.
    pub fn write(&mut self, address: Address, bytes: &[u8]) -> Result<(), OutOfRange> {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.write_with(address, length, |to| to.copy_from_slice(bytes))
    }

    /// Lets `fill` write a range in place and marks the words it touches as initialised.
    ///
    /// # Errors
    ///
    /// A range that leaves SRAM.
    pub fn write_with<R>(
        &mut self,
        address: Address,
        bytes: u32,
        fill: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<R, OutOfRange> {
        let range = span(address, bytes)?;
        let result = fill(&mut self.bytes[range]);
        self.set_written(address, bytes, true);
        self.raise_high_water(address, bytes);
        Ok(result)
    }

    /// Two disjoint ranges at once: the first to write, the second to read. `None` where they
    /// overlap.
    ///
    /// The written range is marked as initialised.
    ///
    /// # Errors
    ///
    /// A range that leaves SRAM.
    pub fn write_and_read(
        &mut self,
        write: (Address, u32),
        read: (Address, u32),
    ) -> Result<Option<WriteAndRead<'_>>, OutOfRange> {
        let (to, from) = (span(write.0, write.1)?, span(read.0, read.1)?);
        if to.start < from.end && from.start < to.end {
            return Ok(None);
        }
        self.set_written(write.0, write.1, true);
        self.raise_high_water(write.0, write.1);
        Ok(Some(if to.end <= from.start {
            let (low, high) = self.bytes.split_at_mut(from.start);
            (&mut low[to], &high[..from.end - from.start])
        } else {
            let (low, high) = self.bytes.split_at_mut(to.start);
            (&mut high[..to.end - to.start], &low[from])
        }))
    }

    /// Declares a range initialised without changing its bytes.
    ///
    /// # Errors
    ///
    /// A range that leaves SRAM.
    pub fn mark_initialised(&mut self, address: Address, bytes: u32) -> Result<(), OutOfRange> {
        span(address, bytes)?;
        self.set_written(address, bytes, true);
        self.raise_high_water(address, bytes);
        Ok(())
    }

    /// The first word of a range that was never written, or `None` where all were.
    ///
    /// # Errors
    ///
    /// A range that leaves SRAM.
    pub fn first_uninitialised(
        &self,
        address: Address,
        bytes: u32,
    ) -> Result<Option<Address>, OutOfRange> {
        let range = span(address, bytes)?;
        if range.is_empty() {
            return Ok(None);
        }
        let (first, last) = (range.start / 4, (range.end - 1) / 4);
        for block in first / 64..=last / 64 {
            let missing = !self.written[block] & block_mask(block, first, last);
            if missing != 0 {
                let word = block * 64 + missing.trailing_zeros() as usize;
                return Ok(u32::try_from(word * 4).ok().map(|offset| BASE + offset));
            }
        }
        Ok(None)
    }

    /// Whether the word that holds `address` was written; false outside SRAM.
    #[must_use]
    pub fn is_initialised(&self, address: Address) -> bool {
        let word = (address.wrapping_sub(BASE) / WORD) as usize;
        self.written
            .get(word / 64)
            .is_some_and(|bits| bits >> (word % 64) & 1 == 1)
    }

    /// One past the highest byte that was ever written or declared; [`BASE`] before the first.
    #[must_use]
    pub const fn high_water(&self) -> Address {
        self.high_water
    }

    /// Copies a landed run: bytes, and for each word whether it was initialised at its source.
    ///
    /// # Errors
    ///
    /// A range that leaves SRAM.
    pub fn land(&mut self, address: Address, run: &WordRun) -> Result<(), OutOfRange> {
        let length = u32::try_from(run.bytes.len()).unwrap_or(u32::MAX);
        let range = span(address, length)?;
        self.bytes[range].copy_from_slice(&run.bytes);
        self.raise_high_water(address, length);
        if run.uninitialised.is_empty() {
            self.set_written(address, length, true);
            return Ok(());
        }
        self.set_written(address, length, true);
        for &word in &run.uninitialised {
            self.set_written(address + word * WORD, WORD, false);
        }
        Ok(())
    }

    /// Takes a run of whole words as a send reads it.
    ///
    /// # Errors
    ///
    /// A range that leaves SRAM.
    pub fn take(&self, address: Address, bytes: u32) -> Result<WordRun, OutOfRange> {
        let data = self.read(address, bytes)?.to_vec();
        let mut uninitialised = Vec::new();
        if self.first_uninitialised(address, bytes)?.is_some() {
            let words = 0..bytes.div_ceil(WORD);
            uninitialised = words
                .filter(|w| !self.is_initialised(address + w * WORD))
                .collect();
        }
        Ok(WordRun {
            bytes: data,
            uninitialised,
        })
    }

    fn raise_high_water(&mut self, address: Address, bytes: u32) {
        self.high_water = self.high_water.max(address + bytes);
    }

    fn set_written(&mut self, address: Address, bytes: u32, value: bool) {
        if bytes == 0 {
            return;
        }
        let first = ((address - BASE) / WORD) as usize;
        let last = ((address + bytes - 1 - BASE) / WORD) as usize;
        for block in first / 64..=last / 64 {
            let mask = block_mask(block, first, last);
            if value {
                self.written[block] |= mask;
            } else {
                self.written[block] &= !mask;
            }
        }
    }
}

/// The bits of 64-word block `block` that words `first..=last` cover.
const fn block_mask(block: usize, first: usize, last: usize) -> u64 {
    let low = if block == first / 64 {
        u64::MAX << (first % 64)
    } else {
        u64::MAX
    };
    let high = if block == last / 64 {
        u64::MAX >> (63 - last % 64)
    } else {
        u64::MAX
    };
    low & high
}

/// Words in flight: what a send read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordRun {
    /// The bytes, a whole number of words.
    pub bytes: Vec<u8>,
    /// Positions, in words, of those that were not initialised when they were read; ascending.
    pub uninitialised: Vec<u32>,
}

impl WordRun {
    /// Replaces the words of this run, read at `address`, that `landed` wrote at `landed_address`.
    pub fn overlay(&mut self, address: Address, landed_address: Address, landed: &Self) {
        let end = |address: Address, run: &Self| address as usize + run.bytes.len();
        let start = (address as usize).max(landed_address as usize);
        let stop = end(address, self).min(end(landed_address, landed));
        if start >= stop {
            return;
        }
        let to = start - address as usize..stop - address as usize;
        let from = start - landed_address as usize..stop - landed_address as usize;
        self.bytes[to.clone()].copy_from_slice(&landed.bytes[from.clone()]);
        let words = |range: &std::ops::Range<usize>| range.start / 4..range.end / 4;
        let (to, from) = (words(&to), words(&from));
        self.uninitialised
            .retain(|&word| !to.contains(&(word as usize)));
        let carried = landed.uninitialised.iter().map(|&word| word as usize);
        let carried = carried.filter(|word| from.contains(word));
        let moved = carried.filter_map(|word| u32::try_from(word - from.start + to.start).ok());
        self.uninitialised.extend(moved);
        self.uninitialised.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_as_initialised_once_written() {
        let mut memory = TileMemory::new();
        assert_eq!(memory.first_uninitialised(0x6_0000, 8), Ok(Some(0x6_0000)));
        memory.write(0x6_0000, &[1, 2, 3, 4]).expect("in range");
        assert_eq!(memory.first_uninitialised(0x6_0000, 4), Ok(None));
        assert_eq!(memory.first_uninitialised(0x6_0000, 8), Ok(Some(0x6_0004)));
        memory.mark_initialised(0x6_0004, 4096).expect("in range");
        assert_eq!(memory.first_uninitialised(0x6_0000, 4100), Ok(None));
        assert_eq!(
            memory.first_uninitialised(0x6_0000, 4104),
            Ok(Some(0x6_1004))
        );
        assert_eq!(memory.high_water(), 0x6_1004);
    }

    #[test]
    fn runs_carry_what_was_not_initialised() {
        let mut source = TileMemory::new();
        source.write(0x6_0004, &[9; 4]).expect("in range");
        let run = source.take(0x6_0000, 12).expect("in range");
        assert_eq!(run.uninitialised, [0, 2]);
        let mut destination = TileMemory::new();
        destination.write(0x9_0000, &[7; 12]).expect("in range");
        destination.land(0x9_0000, &run).expect("in range");
        assert!(!destination.is_initialised(0x9_0000));
        assert!(destination.is_initialised(0x9_0004));
        assert_eq!(destination.read(0x9_0004, 4), Ok(&[9_u8; 4][..]));
    }

    #[test]
    fn accesses_outside_sram_are_refused() {
        let mut memory = TileMemory::new();
        for (address, bytes) in [(BASE - 4, 4), (END - 4, 8), (u32::MAX, 4), (0, 0)] {
            assert_eq!(
                memory.read(address, bytes).err(),
                Some(OutOfRange { address, bytes })
            );
        }
        assert!(memory.write(END, &[1]).is_err());
        assert!(memory.read(END, 0).is_ok());
    }

    #[test]
    fn disjoint_ranges_can_be_written_and_read_together() {
        let mut memory = TileMemory::new();
        memory.write(0x6_0000, &[5; 8]).expect("in range");
        for to in [0x5_0000, 0x7_0000] {
            let pair = memory
                .write_and_read((to, 8), (0x6_0000, 8))
                .expect("in range");
            let (out, from) = pair.expect("disjoint");
            out.copy_from_slice(from);
            assert_eq!(memory.read(to, 8), Ok(&[5_u8; 8][..]));
        }
        assert_eq!(
            memory.write_and_read((0x6_0004, 8), (0x6_0000, 8)),
            Ok(None)
        );
    }

    #[test]
    fn poisoned_words_are_nan_in_every_type_and_not_initialised() {
        let memory = TileMemory::poisoned();
        assert_eq!(
            memory.first_uninitialised(BASE, BYTES),
            Ok(Some(BASE)),
            "poison is no content"
        );
        let (words, rest) = memory.read(BASE, BYTES).expect("in range").as_chunks::<4>();
        assert!(rest.is_empty());
        for &[a, b, c, d] in words {
            assert!(f32::from_le_bytes([a, b, c, d]).is_nan());
            assert!(half::f16::from_le_bytes([a, b]).is_nan());
            assert_eq!((a, c), (0x80, 0x80), "the only NaN of F143");
        }
    }
}
