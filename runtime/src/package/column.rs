//! Columns: lists of integers as zig-zag LEB128 differences, as `package.capnp` defines them.
//!
//! Neighbouring items of a package are alike, so most take one byte. Every item takes at least one,
//! which bounds what a reader allocates by the size of the file.

use super::PackageError;

/// Encodes the items of a column.
pub(super) fn encode(items: impl IntoIterator<Item = i64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut previous = 0_i64;
    for item in items {
        push(&mut bytes, zigzag(item.wrapping_sub(previous)));
        previous = item;
    }
    bytes
}

/// Decodes a column of exactly `count` items; `name` is its name in errors.
pub(super) fn decode(bytes: &[u8], count: u32, name: &str) -> Result<Vec<i64>, PackageError> {
    if bytes.len() < count as usize {
        return Err(malformed(
            name,
            &format!("{} bytes hold no {count} items", bytes.len()),
        ));
    }
    let mut items = Vec::with_capacity(count as usize);
    let mut rest = bytes;
    let mut previous = 0_i64;
    for index in 0..count {
        let (value, tail) = pull(rest)
            .ok_or_else(|| malformed(name, &format!("item {index} is cut or too long")))?;
        previous = previous.wrapping_add(unzigzag(value));
        items.push(previous);
        rest = tail;
    }
    if rest.is_empty() {
        return Ok(items);
    }
    Err(malformed(
        name,
        &format!("{} bytes follow the last of {count} items", rest.len()),
    ))
}

/// Decodes a column whose items have the type `T`.
pub(super) fn decode_as<T: TryFrom<i64>>(
    bytes: &[u8],
    count: u32,
    name: &str,
) -> Result<Vec<T>, PackageError> {
    let items = decode(bytes, count, name)?;
    items.into_iter().map(|item| narrow(item, name)).collect()
}

/// One item in its own type.
pub(super) fn narrow<T: TryFrom<i64>>(item: i64, name: &str) -> Result<T, PackageError> {
    T::try_from(item)
        .ok()
        .ok_or_else(|| malformed(name, &format!("{item} is out of range")))
}

fn malformed(name: &str, what: &str) -> PackageError {
    PackageError::Malformed {
        what: format!("column {name}: {what}"),
    }
}

const fn zigzag(value: i64) -> u64 {
    (value.cast_unsigned() << 1) ^ (value >> 63).cast_unsigned()
}

const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

fn push(bytes: &mut Vec<u8>, mut value: u64) {
    loop {
        let low = u8::try_from(value & 0x7F).unwrap_or(0x7F);
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

fn pull(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for (index, &byte) in bytes.iter().enumerate().take(10) {
        let shift = 7 * index;
        let low = u64::from(byte & 0x7F);
        if shift == 63 && low > 1 {
            return None;
        }
        value |= low << shift;
        if byte & 0x80 == 0 {
            return Some((value, &bytes[index + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    fn check(items: &[i64], expected: &Expect) {
        expected.assert_eq(&format!("{:02x?}", encode(items.iter().copied())));
    }

    #[test]
    fn differences_are_zigzag_leb128() {
        check(&[0, 1, 1, 0], &expect!["[00, 02, 00, 01]"]);
        check(&[300, 44], &expect!["[d8, 04, ff, 03]"]);
        check(
            &[i64::MIN],
            &expect!["[ff, ff, ff, ff, ff, ff, ff, ff, ff, 01]"],
        );
    }

    #[test]
    fn cut_long_and_spare_bytes_are_errors() {
        for (bytes, count) in [(&[0x80][..], 1), (&[0, 0], 1), (&[], 1), (&[0xFF; 11], 1)] {
            assert!(decode(bytes, count, "c").is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn columns_round_trip(items in proptest::collection::vec(any::<i64>(), 0..50)) {
            let bytes = encode(items.iter().copied());
            let count = u32::try_from(items.len()).unwrap();
            prop_assert_eq!(decode(&bytes, count, "c").unwrap(), items);
        }

        #[test]
        fn no_bytes_make_the_decoder_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..64), count in 0_u32..70,
        ) {
            let _ = decode(&bytes, count, "c");
        }
    }
}
