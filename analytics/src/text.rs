//! Numbers for people: the only place where a figure becomes text, on the command line and on the
//! page.

use crate::aggregate::{float, ratio};
use crate::order;
use crate::profile::SampleKind;
use crate::units::{Cycles, Work};

/// What an unknown figure is called.
pub const UNAVAILABLE: &str = "unavailable";
/// What stands for a time that needs the clock rate of a profile that has none.
pub const CLOCK_UNKNOWN: &str = "clock unknown";
/// Narrow no-break space, the separator of digit groups: a number is never broken over two lines.
pub const GROUP_SPACE: char = '\u{202f}';

/// `count` with a narrow space between groups of three digits.
#[must_use]
pub fn count(count: u64) -> String {
    grouped(&count.to_string())
}

/// Cycles, grouped, without the unit.
#[must_use]
pub fn cycles(cycles: Cycles) -> String {
    count(cycles.get())
}

/// A change in cycles: grouped, with its sign; zero has none.
#[must_use]
pub fn signed(change: i64) -> String {
    let size = count(change.unsigned_abs());
    match change {
        0 => size,
        change if change > 0 => format!("+{size}"),
        _ => format!("-{size}"),
    }
}

/// A change as a percentage of `before`, one decimal, with its sign; empty where `before` is zero.
#[must_use]
pub fn signed_percent(change: i64, before: u64) -> String {
    let Some(fraction) = ratio(float(change.unsigned_abs()), before) else {
        return String::new();
    };
    let sign = match change {
        0 => "",
        change if change > 0 => "+",
        _ => "-",
    };
    format!("{sign}{}", percent(Some(fraction)))
}

/// Work in issue-cycles, grouped, one decimal where it is not whole.
#[must_use]
pub fn work(work: Option<Work>) -> String {
    let Some(work) = work else {
        return UNAVAILABLE.to_owned();
    };
    let whole = work.get_256ths() / Work::PER_CYCLE;
    if work.get_256ths().is_multiple_of(Work::PER_CYCLE) {
        return count(whole);
    }
    decimal(work.as_cycles(), 1)
}

/// Wasted cycles, to the nearest whole one, grouped.
#[must_use]
pub fn wasted(cycles: Option<f64>) -> String {
    match cycles.map(f64::round_ties_even) {
        Some(cycles) if cycles < 0.0 => format!("-{}", decimal(-cycles, 0)),
        Some(cycles) => decimal(cycles.abs(), 0),
        None => UNAVAILABLE.to_owned(),
    }
}

/// The value as an integer, where it is one that a float holds exactly.
#[expect(
    clippy::cast_possible_truncation,
    reason = "whole and below 2^53 either way"
)]
pub(crate) fn whole(value: f64) -> Option<i64> {
    let is_whole = value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0;
    is_whole.then_some(value as i64)
}

/// A non-negative number with a fixed number of decimals, its whole part grouped.
#[must_use]
pub fn decimal(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    match text.split_once('.') {
        Some((whole, fraction)) => format!("{}.{fraction}", grouped(whole)),
        None => grouped(&text),
    }
}

/// A fraction as a percentage with one decimal, half to even: 0.5625 is `56.2 %`. Above 100 % as it
/// is.
#[must_use]
pub fn percent(fraction: Option<f64>) -> String {
    match fraction {
        Some(fraction) => format!("{} %", decimal(fraction * 100.0, 1)),
        None => UNAVAILABLE.to_owned(),
    }
}

/// A percentage that is a lower bound where `is_lower_bound` says so: `≥ 41.0 %`.
#[must_use]
pub fn bounded_percent(fraction: Option<f64>, is_lower_bound: bool) -> String {
    match fraction {
        Some(_) if is_lower_bound => format!("≥ {}", percent(fraction)),
        _ => percent(fraction),
    }
}

/// Milliseconds of `cycles` at `clock_hz`, or `None` where the clock is unknown (0).
#[must_use]
pub fn milliseconds(cycles: Cycles, clock_hz: u64) -> Option<f64> {
    ratio(float(cycles.get()) * 1e3, clock_hz)
}

/// `cycles` as a duration in a fitting unit, or "clock unknown".
#[must_use]
pub fn time(cycles: Cycles, clock_hz: u64) -> String {
    match milliseconds(cycles, clock_hz) {
        None => CLOCK_UNKNOWN.to_owned(),
        Some(ms) if ms >= 1_000.0 => format!("{} s", decimal(ms / 1e3, 3)),
        Some(ms) if ms >= 0.1 => format!("{} ms", decimal(ms, 3)),
        Some(ms) => format!("{} µs", decimal(ms * 1e3, 3)),
    }
}

/// Thin spaces between groups of three digits, counted from the right.
fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() * 2);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(GROUP_SPACE);
        }
        text.push(digit);
    }
    text
}

/// The names in at most `most` characters, with an ellipsis for the middle of longer ones. Names
/// that differ still do: where they would not, all are cut elsewhere, or less.
#[must_use]
pub fn shortened(names: &[&str], most: usize) -> Vec<String> {
    let length = |name: &&str| name.chars().count();
    let longest = names.iter().map(length).max().unwrap_or(0);
    let distinct = order::set(names.iter().copied()).len();
    // Where many names are alike, finding the best cut is not worth the time.
    let tries = if names.len() > 100 { 8 } else { usize::MAX };
    for kept in most.saturating_sub(1).max(2)..longest.saturating_sub(1) {
        let usual = kept / 3;
        let tails = (0..kept).flat_map(|by| [usual.saturating_sub(by), usual + by]);
        let tails = tails.filter(|tail| (1..kept).contains(tail));
        for tail in tails.take(tries) {
            let elide = |name: &&str| elided(name, kept - tail, tail);
            let short: Vec<String> = names.iter().map(elide).collect();
            if order::set(short.iter().map(String::as_str)).len() == distinct {
                return short;
            }
        }
    }
    names.iter().map(|&name| name.to_owned()).collect()
}

/// The first and last characters of a name that is longer than these and an ellipsis.
fn elided(name: &str, head: usize, tail: usize) -> String {
    let length = name.chars().count();
    if length <= head + tail + 1 {
        return name.to_owned();
    }
    let start: String = name.chars().take(head).collect();
    let end: String = name.chars().skip(length - tail).collect();
    format!("{start}…{end}")
}

/// A sample kind; unknown ones with their number.
#[must_use]
pub fn kind(kind: SampleKind) -> String {
    match kind {
        SampleKind::Unknown(value) => format!("unknown ({value})"),
        known => known.name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_from_the_right() {
        let thin = |text: &str| text.replace(GROUP_SPACE, "_");
        for (value, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1_000"),
            (355_320, "355_320"),
        ] {
            assert_eq!(thin(&count(value)), text);
        }
        assert_eq!(thin(&count(u64::MAX)), "18_446_744_073_709_551_615");
        assert_eq!(thin(&decimal(1234.5, 1)), "1_234.5");
    }

    #[test]
    fn waste_is_whole_and_may_be_below_zero() {
        let thin = |text: &str| text.replace(GROUP_SPACE, "_");
        for (cycles, text) in [
            (Some(1_234.25), "1_234"),
            (Some(-1_234.75), "-1_235"),
            (Some(-0.25), "0"),
            (None, UNAVAILABLE),
        ] {
            assert_eq!(thin(&wasted(cycles)), text);
        }
        assert_eq!(whole(-7.0), Some(-7));
        assert_eq!([whole(0.5), whole(1e300), whole(f64::NAN)], [None; 3]);
    }

    #[test]
    fn changes_have_a_sign() {
        assert_eq!(signed(0), "0");
        assert_eq!(signed(12), "+12");
        assert_eq!(signed(-12), "-12");
        assert_eq!(signed_percent(-5, 100), "-5.0 %");
        assert_eq!(signed_percent(5, 100), "+5.0 %");
        assert_eq!(signed_percent(5, 0), "");
    }

    #[test]
    fn percentages_round_half_to_even_and_are_never_clipped() {
        for (fraction, text) in [
            (Some(0.5625), "56.2 %"),
            (Some(0.0), "0.0 %"),
            (Some(1.234), "123.4 %"),
            (None, UNAVAILABLE),
        ] {
            assert_eq!(percent(fraction), text);
        }
        assert_eq!(bounded_percent(Some(0.0625), true), "≥ 6.2 %");
        assert_eq!(bounded_percent(Some(0.0625), false), "6.2 %");
        assert_eq!(bounded_percent(None, true), UNAVAILABLE);
    }

    #[test]
    fn times_come_from_the_clock_or_say_that_it_is_unknown() {
        let time = |cycles, hz| time(Cycles::new(cycles), hz);
        assert_eq!(time(355_320, 1_500_000_000), "0.237 ms");
        assert_eq!(time(1_500, 1_500_000_000), "1.000 µs");
        assert_eq!(time(3_000_000_000, 1_500_000_000), "2.000 s");
        assert_eq!(time(1, 0), CLOCK_UNKNOWN);
        assert_eq!(
            milliseconds(Cycles::new(355_320), 1_500_000_000),
            Some(0.236_88)
        );
    }

    #[test]
    fn shortened_names_keep_what_tells_them_apart() {
        assert_eq!(shortened(&["gemm", "gelu"], 4), ["gemm", "gelu"]);
        assert_eq!(shortened(&["abcdefghij", "b"], 6), ["abcd…j", "b"]);
        // Different in the last third, in the first half, and in the middle.
        let names = ["gemm_f16_k384_c16", "gemm_f16_k384_c32"];
        assert_eq!(shortened(&names, 10), ["gemm_f…c16", "gemm_f…c32"]);
        let names = ["a_bcdef_xxxx_0000_yyyy", "a_bcdeg_xxxx_0000_yyyy"];
        assert_eq!(shortened(&names, 10), ["a_bcdef…yy", "a_bcdeg…yy"]);
        let names = [
            "aaaaaaaa1aaaaaaaa",
            "aaaaaaaa2aaaaaaaa",
            "aaaaaaaa1aaaaaaaa",
        ];
        let short = shortened(&names, 5);
        assert_ne!(short[0], short[1]);
        assert_eq!(short[0], short[2]);
        assert_eq!(shortened(&[], 3), [] as [String; 0]);
    }

    #[test]
    fn work_shows_a_decimal_only_where_it_is_not_whole() {
        assert_eq!(work(Some(Work::from_cycles(12))), "12");
        assert_eq!(work(Some(Work::from_256ths(640))), "2.5");
        assert_eq!(work(None), UNAVAILABLE);
    }
}
