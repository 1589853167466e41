//! Columns of a package: zig-zag LEB128 differences → integers, as `package.capnp` defines them.

use super::PackageError;

/// The `count` items of a column; `name` is its name in errors. Every item takes a byte at least,
/// so what is allocated is bounded by the bytes.
pub(super) fn decode<T: TryFrom<i64>>(
    bytes: &[u8],
    count: u32,
    name: &str,
) -> Result<Vec<T>, PackageError> {
    let wrong = |what: String| PackageError::malformed(format!("column {name}: {what}"));
    if bytes.len() < count as usize {
        return Err(wrong(format!(
            "{} bytes hold no {count} items",
            bytes.len()
        )));
    }
    let mut items = Vec::with_capacity(count as usize);
    let (mut rest, mut item) = (bytes, 0_i64);
    for at in 0..count {
        let (value, tail) = pull(rest).ok_or_else(|| wrong(format!("item {at} is cut")))?;
        item = item.wrapping_add((value >> 1).cast_signed() ^ -(value & 1).cast_signed());
        let narrow = T::try_from(item);
        items.push(
            narrow
                .ok()
                .ok_or_else(|| wrong(format!("{item} is out of range")))?,
        );
        rest = tail;
    }
    if rest.is_empty() {
        return Ok(items);
    }
    Err(wrong(format!("{} bytes follow its last item", rest.len())))
}

fn pull(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    for (at, &byte) in bytes.iter().enumerate().take(10) {
        let low = u64::from(byte & 0x7f);
        if at == 9 && low > 1 {
            return None;
        }
        value |= low << (7 * at);
        if byte & 0x80 == 0 {
            return Some((value, &bytes[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_summed() {
        // 300, then 256 less, then the same again.
        assert_eq!(
            decode::<u32>(&[0xd8, 0x04, 0xff, 0x03, 0x00], 3, "c"),
            Ok(vec![300, 44, 44])
        );
        assert_eq!(decode::<i64>(&[0x01], 1, "c"), Ok(vec![-1]));
    }

    #[test]
    fn what_is_cut_too_long_or_out_of_range_is_refused() {
        for (bytes, count) in [
            (&[0x80][..], 1),
            (&[0, 0], 1),
            (&[], 1),
            (&[0xff; 11], 1),
            (&[1], 1),
        ] {
            assert!(decode::<u32>(bytes, count, "c").is_err(), "{bytes:?}");
        }
    }
}
