//! Where the lines of an axis go, and what they say.

use super::viewport::to_float;
use crate::state::view::Span;

/// Multiples of a round step (1, 2 or 5 times a power of ten) inside `span`, at least `spacing`
/// fractions of the span apart; none of an empty one.
pub(crate) fn cycle_ticks(span: Span, spacing: f64) -> Vec<u64> {
    if span.len() == 0 {
        return Vec::new();
    }
    let least = to_float(span.len()) * spacing;
    let mut step = 1_u64;
    while to_float(step) < least {
        let next = [
            step.checked_mul(2),
            step.checked_mul(5),
            step.checked_mul(10),
        ];
        let found = next.into_iter().flatten().find(|&it| to_float(it) >= least);
        match (found, step.checked_mul(10)) {
            (Some(found), _) => {
                step = found;
                break;
            }
            (None, Some(larger)) => step = larger,
            (None, None) => return Vec::new(),
        }
    }
    let first = span.from.div_ceil(step);
    let last = (span.to - 1) / step;
    (first..=last).map(|multiple| multiple * step).collect()
}

/// Positions in `0..count` from `start`, a power of two apart, at least `least` apart.
pub(crate) fn tile_ticks(start: u32, end: u32, least: f64) -> Vec<u32> {
    let mut step = 1_u32;
    while f64::from(step) < least && step < 1 << 30 {
        step *= 2;
    }
    let first = start.div_ceil(step);
    (first..)
        .map(|multiple| multiple * step)
        .take_while(|&tile| tile < end)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_far_enough_apart() {
        for (from, to, spacing, expected) in [
            (0, 100, 0.2, vec![0, 20, 40, 60, 80]),
            (0, 100, 0.21, vec![0, 50]),
            (95, 312, 0.2, vec![100, 150, 200, 250, 300]),
            (7, 9, 0.1, vec![7, 8]),
            (0, u64::MAX, 0.3, vec![0]),
            (0, 0, 0.3, vec![]),
            (8, 8, 0.3, vec![]),
        ] {
            let ticks = cycle_ticks(Span { from, to }, spacing);
            assert_eq!(ticks.first(), expected.first(), "{from}..{to}");
            if to < u64::MAX {
                assert_eq!(ticks, expected, "{from}..{to}");
            }
        }
    }

    #[test]
    fn tiles_are_labelled_at_powers_of_two() {
        assert_eq!(tile_ticks(0, 1_472, 300.0), vec![0, 512, 1_024]);
        assert_eq!(tile_ticks(5, 9, 0.4), vec![5, 6, 7, 8]);
    }
}
