//! Work estimates as they travel in row files: three metadata pairs of decimal text.

use crate::units::Work;

/// Useful work in issue-cycles.
pub(crate) const USEFUL: &str = "usefulCycles";
/// Physical work in issue-cycles.
pub(crate) const PHYSICAL: &str = "physicalWorkCycles";
/// The rule that gave them.
pub(crate) const BASIS: &str = "workEstimateBasis";

/// Significant digits that are read exactly; later ones only break ties.
const DIGITS_MAX: u32 = 30;
/// Powers of ten that a `u128` holds.
const POWER_MAX: u32 = 38;

/// Work read from decimal text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parsed {
    pub(crate) work: Work,
    /// Whether the text was no multiple of 1/256 and was rounded to nearest, ties to even.
    pub(crate) rounded: bool,
}

/// Reads a non-negative finite decimal, with or without exponent; `None` is no estimate.
pub(crate) fn parse(text: &str) -> Option<Parsed> {
    let (negative, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = Digits::read(whole, fraction)?;
    let parsed = digits.in_256ths(exponent)?;
    (!negative || digits.value == 0).then_some(parsed)
}

/// A decimal integer, the power of ten it is scaled by, and whether smaller digits were dropped.
struct Digits {
    value: u128,
    exponent: i64,
    dropped: bool,
}

impl Digits {
    fn read(whole: &str, fraction: &str) -> Option<Self> {
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let mut digits = Self {
            value: 0,
            exponent: 0,
            dropped: false,
        };
        for (part, places) in [(whole, 0), (fraction, 1)] {
            for digit in part.bytes() {
                let digit = u128::from(char::from(digit).to_digit(10)?);
                if digits.value < 10u128.pow(DIGITS_MAX) {
                    digits.value = digits.value * 10 + digit;
                    digits.exponent -= places;
                } else {
                    digits.dropped |= digit != 0;
                    digits.exponent += 1 - places;
                }
            }
        }
        Some(digits)
    }

    fn in_256ths(&self, exponent: i32) -> Option<Parsed> {
        let scaled = self.value * u128::from(Work::PER_CYCLE);
        let exponent = self.exponent + i64::from(exponent);
        if scaled == 0 {
            return Some(Parsed {
                work: Work::ZERO,
                rounded: self.dropped,
            });
        }
        let power = u32::try_from(exponent.unsigned_abs()).unwrap_or(u32::MAX);
        if exponent >= 0 {
            let factor = 10u128.checked_pow(power)?;
            let value = u64::try_from(scaled.checked_mul(factor)?).ok()?;
            return Some(Parsed {
                work: Work::from_256ths(value),
                rounded: self.dropped,
            });
        }
        if power > POWER_MAX {
            return Some(Parsed {
                work: Work::ZERO,
                rounded: true,
            });
        }
        let divisor = 10u128.pow(power);
        let (quotient, rest) = (scaled / divisor, scaled % divisor);
        let half = rest.cmp(&(divisor - rest));
        let up = match half {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => self.dropped || quotient % 2 == 1,
            std::cmp::Ordering::Greater => true,
        };
        let value = u64::try_from(quotient + u128::from(up)).ok()?;
        Some(Parsed {
            work: Work::from_256ths(value),
            rounded: rest != 0 || self.dropped,
        })
    }
}

/// The shortest decimal of some work: exact, without exponent.
pub(crate) fn format(work: Work) -> String {
    // 1/256 is 0.00390625: eight places hold every multiple.
    const PLACE: u64 = 390_625;
    let (whole, fraction) = (work.get_256ths() / 256, work.get_256ths() % 256 * PLACE);
    if fraction == 0 {
        return whole.to_string();
    }
    let text = format!("{whole}.{fraction:08}");
    text.trim_end_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_become_exact_256ths() {
        for (text, value, rounded) in [
            ("0", 0, false),
            ("-0.0", 0, false),
            ("12", 3_072, false),
            ("12.50", 3_200, false),
            (".00390625", 1, false),
            ("1e3", 256_000, false),
            ("+2.5E-1", 64, false),
            ("1234567890.00390625", 316_049_379_841, false),
            ("0.1", 26, true),
            // Ties: 0.5/256 and 1.5/256 both go to the even neighbour.
            ("0.001953125", 0, true),
            ("0.005859375", 2, true),
            ("0.00195312500000000000000000000000000000001", 1, true),
            ("1e-400", 0, true),
        ] {
            let expected = Parsed {
                work: Work::from_256ths(value),
                rounded,
            };
            assert_eq!(parse(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_finite_non_negative_decimal_is_no_estimate() {
        for text in [
            "", "-", "-1", "nan", "inf", "1e400", "1.2.3", "12 ", "0x10", ".", "1e", "9e18",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn formatted_work_reads_back_exactly() {
        for value in (0..2_000).chain([u64::MAX, u64::MAX / 3]) {
            let work = Work::from_256ths(value);
            assert_eq!(
                parse(&format(work)),
                Some(Parsed {
                    work,
                    rounded: false
                })
            );
        }
        assert_eq!(format(Work::from_256ths(3_200)), "12.5");
    }
}
