//! The parts of a tile's SRAM that buffers and rows may use.
//!
//! ```text
//! 0x4c000  runtime image, host window, runtime state up to 0x586e0
//! 0x586e0  exchange rows, first part, up to 0x5c000
//! 0x5c000  runtime and kernel code, 48 KiB
//! 0x68000  standard buffers; their last elements hold rows that do not fit the first part
//! 0x80000  interleaved buffers, up to the last byte that the loader reaches, 0xe7bb0
//! ```

use std::ops::Range;

use runtime::machine::sram;
use runtime::package::Address;

/// Rows that fit here cost no buffer space: the elements belong to runtime state and hold no data.
pub const ROW_AREA: Range<Address> = sram::DATA_BASE..sram::CODE_BASE;
/// First byte after the code reserve.
const STANDARD_START: Address = sram::CODE_BASE + sram::CODE_RESERVE_BYTES;

/// Address ranges that buffers may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arena {
    /// Standard memory.
    pub standard: Range<Address>,
    /// Interleaved memory.
    pub interleaved: Range<Address>,
}

impl Arena {
    /// The whole arena less `row_elements` elements of 16 KiB at the top of standard memory.
    #[must_use]
    pub const fn with_rows(row_elements: u32) -> Self {
        let taken = row_elements * sram::ELEMENT_BYTES;
        let end = sram::INTERLEAVED.saturating_sub(taken);
        let end = if end < STANDARD_START {
            STANDARD_START
        } else {
            end
        };
        Self {
            standard: STANDARD_START..end,
            interleaved: sram::INTERLEAVED..sram::LOADER_END,
        }
    }

    /// The most row elements that [`Self::with_rows`] can take.
    pub const ROW_ELEMENTS_MAX: u32 = (sram::INTERLEAVED - STANDARD_START) / sram::ELEMENT_BYTES;

    /// Where the rows lie: the first part, or the top of standard memory.
    #[must_use]
    pub const fn rows(&self) -> Range<Address> {
        if self.standard.end == sram::INTERLEAVED {
            ROW_AREA
        } else {
            self.standard.end..sram::INTERLEAVED
        }
    }
}

/// Index of the memory element of an address in the arena; elements are numbered in address order.
pub(crate) const fn element(address: Address) -> u32 {
    match sram::element(address) {
        Some(element) => element,
        None => u32::MAX,
    }
}

/// First byte of the element after the one that holds `address`.
pub(crate) const fn next_element(address: Address) -> Address {
    let size = if address < sram::INTERLEAVED {
        sram::ELEMENT_BYTES
    } else {
        sram::ELEMENT_PAIR_BYTES
    };
    (address / size + 1) * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_never_share_an_element_with_buffers() {
        for row_elements in 0..=Arena::ROW_ELEMENTS_MAX {
            let arena = Arena::with_rows(row_elements);
            let rows = element(arena.rows().start)..=element(arena.rows().end - 1);
            for area in [&arena.standard, &arena.interleaved] {
                if !area.is_empty() {
                    assert!(!rows.contains(&element(area.start)), "{arena:x?}");
                    assert!(!rows.contains(&element(area.end - 1)), "{arena:x?}");
                }
            }
        }
    }

    #[test]
    fn the_next_element_starts_one_element_later() {
        for address in (0x68000..0xe0000).step_by(0x1230) {
            assert_eq!(element(next_element(address)), element(address) + 1);
            assert_eq!(element(next_element(address) - 1), element(address));
        }
    }
}
