//! F143: Graphcore's eight-bit float of one sign, four exponent and three mantissa bits.
//!
//! Bias 8, largest finite value 240, no negative zero, one NaN (0x80). The tensor-wide scale is
//! kept apart and is 1 here.

/// The only NaN.
pub const NAN: u8 = 0x80;
/// Mantissa steps of a binade.
const STEPS: i32 = 8;
/// Exponent of the smallest normal value, 2^-7.
const MIN_EXPONENT: i32 = -7;
/// Code of the largest magnitude, 240.
const LARGEST: i32 = 0x7F;

/// Rounds to nearest, ties to even; magnitudes above 240 become 240.
#[must_use]
pub fn encode(value: f64) -> u8 {
    encode_with(value, f64::round_ties_even)
}

/// Rounds to one of the two neighbours, to the farther one with the probability of its share:
/// magnitudes round up where the discarded part, in 2^-32 of a step, is above the low 32 bits of
/// `random`. Magnitudes above 240 become 240.
#[must_use]
pub fn encode_stochastic(value: f64, random: u64) -> u8 {
    let threshold = f64::from(u32::try_from(random & 0xFFFF_FFFF).unwrap_or(0));
    encode_with(value, |steps| {
        let discarded = (steps - steps.floor()) * 2_f64.powi(32);
        steps.floor() + f64::from(u8::from(discarded > threshold))
    })
}

fn encode_with(value: f64, round: impl Fn(f64) -> f64) -> u8 {
    if value.is_nan() {
        return NAN;
    }
    let magnitude = value.abs().min(256.0);
    let exponent = exponent_of(magnitude).max(MIN_EXPONENT);
    let steps = magnitude * f64::from(STEPS) * f64::from(-exponent).exp2();
    // Rounding up to the next binade carries into the exponent by itself.
    let first = (exponent - MIN_EXPONENT) * STEPS;
    let code = (first + small_integer(round(steps))).min(LARGEST);
    let code = u8::try_from(code).unwrap_or(NAN);
    if value < 0.0 && code != 0 {
        code | 0x80
    } else {
        code
    }
}

/// The value of a code.
#[must_use]
pub fn decode(code: u8) -> f32 {
    if code == NAN {
        return f32::NAN;
    }
    let (exponent, mantissa) = (i32::from(code >> 3 & 0xF), f32::from(code & 7));
    let magnitude = if exponent == 0 {
        mantissa / 8.0 * f32::from(-7_i8).exp2()
    } else {
        (1.0 + mantissa / 8.0) * 2_f32.powi(exponent - 8)
    };
    if code & 0x80 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// ⌊log₂⌋ of a positive value; very small for zero.
fn exponent_of(magnitude: f64) -> i32 {
    let biased = i32::try_from(magnitude.to_bits() >> 52).unwrap_or(0);
    biased - 1023
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the caller's value is at most 16"
)]
const fn small_integer(value: f64) -> i32 {
    value as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The nearest code by trying all of them; ties go to the even code.
    fn nearest(value: f64) -> u8 {
        let candidates = (0..=0xFF_u8).filter(|&code| code != NAN);
        let distance = |code: u8| (f64::from(decode(code)) - value).abs();
        candidates
            .min_by(|&a, &b| {
                distance(a)
                    .total_cmp(&distance(b))
                    .then((a & 1).cmp(&(b & 1)))
            })
            .unwrap()
    }

    #[test]
    fn all_codes_are_fixed_points_and_the_largest_is_240() {
        for code in (0..=0xFF_u8).filter(|&code| code != NAN) {
            assert_eq!(encode(f64::from(decode(code))), code, "code {code:#x}");
        }
        assert_eq!(decode(0x7F), 240.0);
        assert_eq!(encode(-0.0), 0);
        assert_eq!(encode(1e9), 0x7F);
        assert_eq!(encode(f64::NEG_INFINITY), 0xFF);
        assert_eq!(encode(f64::NAN), NAN);
    }

    #[test]
    fn rounding_is_to_the_nearest_code_ties_to_even() {
        let mut value = 2e-4;
        while value < 250.0 {
            assert_eq!(encode(value), nearest(value), "{value}");
            assert_eq!(encode(-value), nearest(-value), "-{value}");
            value *= 1.003;
        }
        // Half-way between neighbours.
        for code in 0..0x7F_u8 {
            let middle = f64::midpoint(f64::from(decode(code)), f64::from(decode(code + 1)));
            assert_eq!(encode(middle) & 1, 0, "{middle}");
        }
    }

    /// Lines of an independent implementation, see `f143/vectors.py`.
    const VECTORS: &str = include_str!("f143/vectors.txt");

    fn bits(field: &str) -> f32 {
        f32::from_bits(u32::from_str_radix(field, 16).expect("eight hex digits"))
    }

    fn code(field: &str) -> u8 {
        u8::from_str_radix(field, 16).expect("two hex digits")
    }

    #[test]
    fn all_codes_and_both_roundings_are_those_of_an_independent_implementation() {
        let (mut decoded, mut rounded, mut shared) = (0, 0, 0);
        for line in VECTORS.lines() {
            let fields: Vec<_> = line.split(' ').collect();
            match *fields.as_slice() {
                ["decode", of, value] => {
                    let (found, expected) = (decode(code(of)), bits(value));
                    let same = found.to_bits() == expected.to_bits();
                    assert!(
                        same || found.is_nan() && expected.is_nan(),
                        "{line}: {found}"
                    );
                    decoded += 1;
                }
                ["nearest", value, of] => {
                    assert_eq!(encode(f64::from(bits(value))), code(of), "{line}");
                    rounded += 1;
                }
                ["share", value, low, high, parts] => {
                    let value = f64::from(bits(value));
                    let parts: u64 = parts.parse().expect("a count");
                    // Of 2^32 draws, exactly `parts` round away from zero.
                    for (random, expected) in [(0, high), (parts - 1, high), (parts, low)] {
                        let random = random | 7 << 32;
                        assert_eq!(encode_stochastic(value, random), code(expected), "{line}");
                    }
                    assert_eq!(encode_stochastic(value, u64::MAX), code(low), "{line}");
                    shared += 1;
                }
                _ => panic!("no vector: {line}"),
            }
        }
        assert_eq!((decoded, rounded, shared), (256, 1778, 1016));
    }
}
