//! Packed columns: unsigned 32-bit values in blocks of 128, as `schemas/profile.capnp` lays down.
//!
//! A block keeps a base, the low bits of each value's distance from it, and apart from those the
//! few values that need more bits, so that one outlier does not widen 127 others.

/// Values of a block.
pub(crate) const BLOCK: usize = 128;
const HEADER: usize = 8;
const LANES: usize = 4;
/// Bytes of one exception: its position and its high bits.
const EXCEPTION: usize = 5;

/// Maps a wrapping difference, read as signed, to a small unsigned number when it is near zero.
pub(crate) const fn zigzag(difference: u32) -> u32 {
    (difference << 1) ^ (difference.cast_signed() >> 31).cast_unsigned()
}

/// The inverse of [`zigzag`].
pub(crate) const fn unzigzag(value: u32) -> u32 {
    (value >> 1) ^ (value & 1).wrapping_neg()
}

/// Appends the packed column of `values` to `out`.
pub(crate) fn pack(values: &[u32], out: &mut Vec<u8>) {
    for chunk in values.chunks(BLOCK) {
        let mut block = [0; BLOCK];
        block[..chunk.len()].copy_from_slice(chunk);
        let frame = Frame::choose(chunk);
        block[chunk.len()..].fill(frame.base);
        pack_block(&block, frame, out);
    }
}

/// As [`pack`], but a column of zeros is empty.
pub(crate) fn pack_sparse(values: &[u32], out: &mut Vec<u8>) {
    if values.iter().any(|&value| value != 0) {
        pack(values, out);
    }
}

/// Where the low bits of a block begin and how many they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    base: u32,
    width: u32,
}

impl Frame {
    /// The frame that takes the fewest bytes; the narrowest of equals, so that the choice is
    /// unique.
    fn choose(values: &[u32]) -> Self {
        let mut sorted = [0; BLOCK];
        let sorted = &mut sorted[..values.len()];
        sorted.copy_from_slice(values);
        sorted.sort_unstable();
        let (lowest, highest) = (sorted[0], sorted[sorted.len() - 1]);
        let full = u32::BITS - (highest - lowest).leading_zeros();
        let mut best = Self {
            base: lowest,
            width: full,
        };
        let mut best_cost = 16 * full as usize;
        for width in 0..full {
            let (base, inside) = widest_window(sorted, width);
            let cost = 16 * width as usize + EXCEPTION * (sorted.len() - inside);
            if cost < best_cost || (cost == best_cost && width < best.width) {
                best = Self { base, width };
                best_cost = cost;
            }
        }
        best
    }
}

/// The base that puts most of the ascending values within `width` bits of it, and how many those
/// are.
fn widest_window(sorted: &[u32], width: u32) -> (u32, usize) {
    let reach = (1u64 << width) - 1;
    let (mut base, mut most, mut first) = (sorted[0], 0, 0);
    for (last, &value) in sorted.iter().enumerate() {
        while u64::from(value - sorted[first]) > reach {
            first += 1;
        }
        if last + 1 - first > most {
            most = last + 1 - first;
            base = sorted[first];
        }
    }
    (base, most)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "widths, counts and positions are below 129"
)]
fn pack_block(block: &[u32; BLOCK], frame: Frame, out: &mut Vec<u8>) {
    let Frame { base, width } = frame;
    let high = |value: u32| u64::from(value.wrapping_sub(base)) >> width;
    let exceptions: Vec<u8> = (0..BLOCK)
        .filter(|&at| high(block[at]) != 0)
        .map(|at| at as u8)
        .collect();
    out.extend_from_slice(&base.to_le_bytes());
    out.extend_from_slice(&[width as u8, exceptions.len() as u8, 0, 0]);
    let mut words = vec![0u32; LANES * width as usize];
    let mask = ((1u64 << width) - 1) as u32;
    for (at, &value) in block.iter().enumerate() {
        let low = u64::from(value.wrapping_sub(base) & mask);
        let bit = (at / LANES) as u32 * width;
        let shifted = low << (bit % 32);
        let word = (bit / 32) as usize * LANES + at % LANES;
        if width > 0 {
            words[word] |= shifted as u32;
        }
        if shifted >> 32 != 0 {
            words[word + LANES] |= (shifted >> 32) as u32;
        }
    }
    words
        .iter()
        .for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    out.extend_from_slice(&exceptions);
    for &at in &exceptions {
        out.extend_from_slice(&(high(block[usize::from(at)]) as u32).to_le_bytes());
    }
}

/// Replaces `out` by the `count` values of a packed column.
///
/// Allocates only once the bytes are known to be enough for `count` values.
///
/// # Errors
/// What contradicts the layout.
pub(crate) fn unpack(packed: &[u8], count: usize, out: &mut Vec<u32>) -> Result<(), &'static str> {
    let blocks = count.div_ceil(BLOCK);
    if packed.len() / HEADER < blocks {
        return Err("a column is shorter than its samples");
    }
    out.resize(blocks * BLOCK, 0);
    let mut rest = packed;
    let (chunks, _) = out.as_chunks_mut::<BLOCK>();
    for block in chunks {
        rest = unpack_block(rest, block)?;
    }
    out.truncate(count);
    if rest.is_empty() {
        Ok(())
    } else {
        Err("a column is longer than its samples")
    }
}

/// As [`unpack`], but an empty column stands for zeros.
///
/// # Errors
/// What contradicts the layout.
pub(crate) fn unpack_sparse(
    packed: &[u8],
    count: usize,
    out: &mut Vec<u32>,
) -> Result<(), &'static str> {
    if packed.is_empty() {
        out.clear();
        out.resize(count, 0);
        return Ok(());
    }
    unpack(packed, count, out)
}

/// Unpacks one block and returns the bytes after it.
fn unpack_block<'a>(packed: &'a [u8], out: &mut [u32; BLOCK]) -> Result<&'a [u8], &'static str> {
    const SHORT: &str = "a column ends inside a block";
    let (header, rest) = packed.split_first_chunk::<HEADER>().ok_or(SHORT)?;
    let base = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
    let (width, exceptions) = (usize::from(header[4]), usize::from(header[5]));
    if width > 32 || exceptions > BLOCK {
        return Err("a block has more than 32 bits or 128 exceptions");
    }
    let (words, rest) = rest.split_at_checked(16 * width).ok_or(SHORT)?;
    unpack_words(words, width, base, out);
    let (positions, rest) = rest.split_at_checked(exceptions).ok_or(SHORT)?;
    let (highs, rest) = rest.split_at_checked(4 * exceptions).ok_or(SHORT)?;
    let (highs, _) = highs.as_chunks::<4>();
    for (&at, high) in positions.iter().zip(highs) {
        let value = out
            .get_mut(usize::from(at))
            .ok_or("an exception is outside its block")?;
        let high = u64::from(u32::from_le_bytes(*high)) << width;
        *value = value.wrapping_add(low_half(high));
    }
    Ok(rest)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "values are taken modulo 2^32"
)]
const fn low_half(value: u64) -> u32 {
    value as u32
}

/// Spreads the lanes of `words`, `width` of them, over a block.
///
/// A row reads one word, and the next one where it straddles: the four lanes are one vector. A body
/// a width would save the shifts that are not constant, and be a fortieth of what the page loads.
fn unpack_words(words: &[u8], width: usize, base: u32, out: &mut [u32; BLOCK]) {
    let (words, _) = words.as_chunks::<16>();
    let Some(words) = words.get(..width).filter(|it| !it.is_empty()) else {
        out.fill(base);
        return;
    };
    let mask = u32::MAX >> (32 - width);
    let (rows, _) = out.as_chunks_mut::<LANES>();
    for (row, out) in rows.iter_mut().enumerate() {
        let (word, shift) = (row * width / 32, row * width % 32);
        let mut lanes = lanes(&words[word]).map(|lane| lane >> shift);
        if shift + width > 32 {
            let next = self::lanes(&words[word + 1]);
            for (lane, next) in lanes.iter_mut().zip(next) {
                *lane |= next << (32 - shift);
            }
        }
        *out = lanes.map(|lane| base.wrapping_add(lane & mask));
    }
}

#[inline(always)]
fn lanes(word: &[u8; 16]) -> [u32; LANES] {
    std::array::from_fn(|lane| {
        let at = 4 * lane;
        u32::from_le_bytes([word[at], word[at + 1], word[at + 2], word[at + 3]])
    })
}

#[cfg(test)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "values are taken modulo 2^32 on purpose"
)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads bit by bit, straight from the words of the schema: shares nothing with the fast path.
    fn plain(packed: &[u8], count: usize) -> Vec<u32> {
        let word = |at: usize| u32::from_le_bytes(packed[at..at + 4].try_into().unwrap());
        let (mut values, mut at) = (Vec::new(), 0);
        while values.len() < count {
            let (base, width) = (word(at), usize::from(packed[at + 4]));
            let exceptions = usize::from(packed[at + 5]);
            let payload = at + 8;
            let positions = payload + 16 * width;
            let highs = positions + exceptions;
            for value in 0..128 {
                let mut distance = 0u64;
                for bit in 0..width {
                    let place = (value / 4) * width + bit;
                    let lane_word = word(payload + 4 * (4 * (place / 32) + value % 4));
                    distance |= u64::from(lane_word >> (place % 32) & 1) << bit;
                }
                for exception in 0..exceptions {
                    if usize::from(packed[positions + exception]) == value {
                        distance |= u64::from(word(highs + 4 * exception)) << width;
                    }
                }
                values.push(base.wrapping_add(distance as u32));
            }
            at = highs + 4 * exceptions;
        }
        assert_eq!(at, packed.len(), "bytes after the last block");
        values.truncate(count);
        values
    }

    fn check(values: &[u32]) {
        let mut packed = Vec::new();
        pack(values, &mut packed);
        assert_eq!(plain(&packed, values.len()), values);
        let mut out = vec![7; 3];
        unpack(&packed, values.len(), &mut out).unwrap();
        assert_eq!(out, values);
    }

    #[test]
    fn every_width_comes_back() {
        for width in 0..=32u32 {
            let top = ((1u64 << width) - 1) as u32;
            let values: Vec<u32> = (0..300u32)
                .map(|at| at.wrapping_mul(0x9E37_79B9) & top)
                .collect();
            check(&values);
        }
    }

    #[test]
    fn an_outlier_does_not_widen_its_block() {
        let mut values = [1_000u32; 128];
        values[7] = u32::MAX;
        values[9] = 3;
        let mut packed = Vec::new();
        pack(&values, &mut packed);
        assert_eq!(packed.len(), HEADER + 2 * EXCEPTION);
        check(&values);
    }

    #[test]
    fn a_column_of_zeros_is_empty_where_it_may_be() {
        let mut packed = Vec::new();
        pack_sparse(&[0; 500], &mut packed);
        assert!(packed.is_empty());
        let mut out = Vec::new();
        unpack_sparse(&packed, 500, &mut out).unwrap();
        assert_eq!(out, [0; 500]);
    }

    #[test]
    fn zigzag_keeps_small_differences_small() {
        for (difference, code) in [
            (0, 0),
            (1, 2),
            (u32::MAX, 1),
            (2, 4),
            (0x8000_0000, u32::MAX),
        ] {
            assert_eq!(zigzag(difference), code);
            assert_eq!(unzigzag(code), difference);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn any_values_come_back(
            values in prop::collection::vec(
                prop_oneof![8 => 0u32..60, 4 => 900u32..5_000, 1 => any::<u32>()], 1..600)
        ) {
            check(&values);
        }

        #[test]
        fn any_bytes_are_refused_or_read_without_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..400), count in 0usize..2_000_000_000,
        ) {
            let mut out = Vec::new();
            let _ = unpack(&bytes, count, &mut out);
        }
    }
}
