//! CRC-32C of bytes.
//!
//! A host has an instruction for it. In a browser it is eight bytes at a time by tables, which are
//! made on first use: in the module they would be numbers that do not compress.

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use crc32c::{crc32c, crc32c_append};
#[cfg(target_arch = "wasm32")]
pub(crate) use tables::{crc32c, crc32c_append};

#[cfg(any(target_arch = "wasm32", test))]
mod tables {
    use std::array::from_fn;
    use std::sync::LazyLock;

    /// The polynomial of Castagnoli, reversed.
    const POLYNOMIAL: u32 = 0x82f6_3b78;

    /// What a byte adds to the sum, by the number of bytes that follow it.
    static TABLES: LazyLock<[[u32; 256]; 8]> = LazyLock::new(|| {
        let mut tables = [[0; 256]; 8];
        for byte in 0..=u8::MAX {
            let mut sum = u32::from(byte);
            for table in &mut tables {
                for _ in 0..8 {
                    let odd = (sum & 1).wrapping_neg();
                    sum = (sum >> 1) ^ (POLYNOMIAL & odd);
                }
                table[usize::from(byte)] = sum;
            }
        }
        tables
    });

    /// The sum of `bytes`.
    pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
        crc32c_append(0, bytes)
    }

    /// The sum of bytes whose sum is `sum`, with `bytes` after them.
    pub(crate) fn crc32c_append(sum: u32, bytes: &[u8]) -> u32 {
        let tables = &*TABLES;
        let (words, rest) = bytes.as_chunks::<8>();
        let words = words.iter().fold(!sum, |sum, word| {
            let word = u64::from_le_bytes(*word) ^ u64::from(sum);
            let parts: [u32; 8] = from_fn(|at| tables[7 - at][usize::from(word.to_le_bytes()[at])]);
            parts.into_iter().fold(0, |sum, part| sum ^ part)
        });
        !rest.iter().fold(words, |sum, byte| {
            tables[0][usize::from(sum.to_le_bytes()[0] ^ byte)] ^ (sum >> 8)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_known_sum_of_nine_digits() {
        assert_eq!(tables::crc32c(b"123456789"), 0xe306_9283);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn tables_and_instruction_agree(
            bytes in prop::collection::vec(any::<u8>(), 0..100),
            cut in 0usize..100,
        ) {
            let (first, rest) = bytes.split_at(cut.min(bytes.len()));
            let sum = tables::crc32c_append(tables::crc32c(first), rest);
            prop_assert_eq!(sum, crc32c_append(crc32c(first), rest));
            prop_assert_eq!(sum, crc32c(&bytes));
        }
    }
}
