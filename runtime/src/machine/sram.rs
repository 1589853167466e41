//! The SRAM map of a tile: two regions, their elements, and what may be where.
//!
//! Region 0 (208 KiB, executable, 16 KiB elements) is followed by region 1 (416 KiB, data only,
//! two-way interleaved, treated as 32 KiB element pairs). Source: vendor memory map, exercised on
//! hardware. The bounds stand in [`analytics::memory`], since the page draws the same map.

use analytics::memory;

use crate::package::model::Address;

/// First byte of SRAM.
pub const BASE: Address = memory::SRAM.start;
/// One past the last byte of SRAM.
pub const END: Address = memory::SRAM.end;
/// First byte of the interleaved region, one past the executable one.
pub const INTERLEAVED: Address = memory::INTERLEAVED;
/// Bytes of one element of region 0.
pub const ELEMENT_BYTES: u32 = memory::ELEMENT;
/// Bytes of one element pair of region 1.
pub const ELEMENT_PAIR_BYTES: u32 = memory::ELEMENT_PAIR;
/// Bytes of a tile's SRAM.
pub const BYTES: u32 = END - BASE;
/// Unit of 64-bit access.
pub const ATOM_BYTES: u32 = 8;
/// Bytes that the supervisor may fetch past the last instruction of a row (assumed guard).
pub const FETCH_GUARD_BYTES: u32 = 64;
/// One past the last byte that the loader reaches; what is above is uninitialised memory only.
pub const LOADER_END: Address = 0xe_7bb0;
/// First byte for general data, past the runtime's state (software convention).
pub const DATA_BASE: Address = 0x5_86e0;
/// First byte of the runtime's and kernels' code (software convention).
pub const CODE_BASE: Address = 0x5_c000;
/// Bytes reserved for the runtime's and kernels' code in every plan.
pub const CODE_RESERVE_BYTES: u32 = 48 * 1024;

/// Elements of region 0.
pub const REGION0_ELEMENTS: u32 = (INTERLEAVED - BASE) / ELEMENT_BYTES;

const _: () = assert!(BYTES == 0x9_c000, "624 KiB");
const _: () = assert!((INTERLEAVED - BASE).is_multiple_of(ELEMENT_BYTES));
const _: () = assert!((END - INTERLEAVED).is_multiple_of(ELEMENT_PAIR_BYTES));
const _: () = assert!(REGION0_ELEMENTS + (END - INTERLEAVED) / ELEMENT_PAIR_BYTES < 32);

/// The element of a byte, 0..26, or `None` outside SRAM: 13 single elements, then 13 pairs.
///
/// Elements of region 0 are `address div 0x4000` apart, counted from [`BASE`].
#[must_use]
pub const fn element(address: Address) -> Option<u32> {
    if address < BASE || address >= END {
        None
    } else if address < INTERLEAVED {
        Some((address - BASE) / ELEMENT_BYTES)
    } else {
        Some(REGION0_ELEMENTS + (address - INTERLEAVED) / ELEMENT_PAIR_BYTES)
    }
}

/// One bit for each element that `bytes` bytes from `address` touch; `None` where the range leaves
/// SRAM or wraps. An empty range touches nothing.
#[must_use]
pub const fn elements(address: Address, bytes: u32) -> Option<u32> {
    if bytes == 0 {
        return Some(0);
    }
    let Some(last) = address.checked_add(bytes - 1) else {
        return None;
    };
    match (element(address), element(last)) {
        (Some(low), Some(high)) => Some(((1 << (high + 1)) - 1) & !((1_u32 << low) - 1)),
        _ => None,
    }
}

/// Whether the whole range lies in SRAM.
#[must_use]
pub const fn contains(address: Address, bytes: u32) -> bool {
    elements(address, bytes).is_some()
}

/// Whether the whole range lies in the interleaved region.
#[must_use]
pub const fn is_interleaved(address: Address, bytes: u32) -> bool {
    address >= INTERLEAVED && contains(address, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_singles_below_the_interleaved_region_and_pairs_above() {
        assert_eq!(element(BASE - 1), None);
        assert_eq!(element(BASE), Some(0));
        assert_eq!(element(0x4_ffff), Some(0));
        assert_eq!(element(0x5_0000), Some(1));
        assert_eq!(element(INTERLEAVED - 1), Some(12));
        assert_eq!(element(INTERLEAVED), Some(13));
        assert_eq!(element(0x8_7fff), Some(13));
        assert_eq!(element(END - 1), Some(25));
        assert_eq!(element(END), None);
    }

    #[test]
    fn a_range_touches_every_element_between_its_ends() {
        assert_eq!(elements(0x4_fffc, 8), Some(0b11));
        assert_eq!(elements(0x7_fffc, 8), Some(0b11 << 12));
        assert_eq!(elements(BASE, BYTES), Some((1 << 26) - 1));
        assert_eq!(elements(BASE, BYTES + 1), None);
        assert_eq!(elements(u32::MAX, 2), None);
        assert_eq!(elements(BASE, 0), Some(0));
    }
}
