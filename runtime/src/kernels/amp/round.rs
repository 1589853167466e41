//! From the F32 accumulator to F16: to nearest, or stochastically from a hash.

use half::f16;

/// How the sums of one kernel call are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounder {
    /// To nearest, ties to even.
    NearestEven,
    /// Up with the probability of the discarded part. The random bits are a hash of the seed, the
    /// logical tile, the call's number on it, the panel and the element, so that a result depends
    /// neither on the order of the work nor on the number of threads.
    Stochastic {
        /// Hash of seed, tile and call.
        call: u64,
    },
}

impl Rounder {
    /// Stochastic rounding of the `call`th kernel call that a tile makes.
    pub(crate) const fn stochastic(seed: u64, tile: u16, call: u64) -> Self {
        let tile = mix(seed ^ mix(tile as u64 + 1));
        Self::Stochastic {
            call: mix(tile ^ mix(call)),
        }
    }

    /// Random bits of one element of a panel; `None` rounds to nearest.
    pub(crate) const fn draw(&self, panel: u64, element: u64) -> Option<u64> {
        match self {
            Self::NearestEven => None,
            Self::Stochastic { call } => Some(mix(mix(*call ^ mix(panel)) ^ mix(element))),
        }
    }

    /// One F32 result to F16; element `element` of its output.
    pub(crate) fn round(&self, value: f32, element: u64) -> f16 {
        self.round_step(value, 0, element)
    }

    /// The F32 result of one of several instructions that make an output element to F16. The
    /// number of the instruction stands where that of the panel does in products.
    pub(crate) fn round_step(&self, value: f32, instruction: u64, element: u64) -> f16 {
        let random = self.draw(instruction, element);
        let rounded = random.map_or_else(|| f16::from_f32(value), |bits| stochastic(value, bits));
        canonical(rounded)
    }

    /// Rounds part of a panel's sums; `first` is the output index of the first.
    pub(crate) fn round_panel(&self, sums: &[f32], out: &mut [f16], panel: usize, first: usize) {
        let panel = match self {
            Self::NearestEven => None,
            Self::Stochastic { call } => Some(mix(call ^ mix(panel as u64))),
        };
        for (element, (&sum, slot)) in (first as u64..).zip(sums.iter().zip(out)) {
            let rounded = panel.map_or_else(
                || f16::from_f32(sum),
                |panel| stochastic(sum, mix(panel ^ mix(element))),
            );
            *slot = canonical(rounded);
        }
    }
}

/// Every NaN as the one that is stored.
pub(crate) fn canonical(value: f16) -> f16 {
    if value.is_nan() {
        f16::from_bits(0x7E00)
    } else {
        value
    }
}

/// The finaliser of SplitMix64: a bijection that spreads every input bit over all output bits.
const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// Fraction bits of F32 and of F16.
const F32_FRACTION: u32 = 23;
const F16_FRACTION: u32 = 10;
/// Smallest exponent of a normal F16.
const F16_MIN_EXPONENT: i32 = -14;
/// Largest exponent of a finite F16.
const F16_MAX_EXPONENT: i32 = 15;
/// Discarded bits beyond which the chance to round up from zero is below 2^-8 of a random draw.
const MAX_DISCARD: u32 = 31;

/// One of the two F16 neighbours of a value, the farther one with the probability of its share.
fn stochastic(value: f32, random: u64) -> f16 {
    let bits = value.to_bits();
    let exponent = i32::try_from(bits >> F32_FRACTION & 0xFF).unwrap_or(0) - 127;
    if !(F16_MIN_EXPONENT - 18..=F16_MAX_EXPONENT).contains(&exponent) {
        // Beyond the largest value, not a number, or less than 2^-8 of the smallest step.
        return f16::from_f32(value);
    }
    let fraction = u64::from(bits & 0x7F_FFFF | 1 << F32_FRACTION);
    let below = (F16_MIN_EXPONENT - exponent).max(0).unsigned_abs();
    let discard = (F32_FRACTION - F16_FRACTION + below).min(MAX_DISCARD);
    let draw = random >> (64 - discard);
    let kept = (fraction + draw) >> discard;
    let magnitude = if below == 0 {
        let biased = u64::from((exponent + 15).unsigned_abs());
        (biased << F16_FRACTION) + kept - (1 << F16_FRACTION)
    } else {
        kept
    };
    let magnitude = u16::try_from(magnitude.min(0x7C00)).unwrap_or(0x7C00);
    f16::from_bits(magnitude | if value.is_sign_negative() { 0x8000 } else { 0 })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The F16 neighbours of a finite value in range, by search over all F16.
    fn neighbours(value: f32) -> (f32, f32) {
        let finite = || (0..=u16::MAX).map(f16::from_bits).filter(|v| v.is_finite());
        let below = finite()
            .map(f16::to_f32)
            .filter(|&v| v <= value)
            .fold(f32::MIN, f32::max);
        let above = finite()
            .map(f16::to_f32)
            .filter(|&v| v >= value)
            .fold(f32::MAX, f32::min);
        (below, above)
    }

    #[test]
    fn rounding_up_is_as_likely_as_its_share() {
        for (value, share) in [(1.0 + 0.25 / 1024.0, 0.25), (-3.0 - 1.5 / 1024.0, 0.75)] {
            let (below, above) = neighbours(value);
            let far = if value > 0.0 { above } else { below };
            let draws = 20_000_u64;
            let ups = (0..draws)
                .filter(|&i| stochastic(value, mix(i)).to_f32() == far)
                .count();
            let found = ups as f64 / draws as f64;
            assert!(
                (found - share).abs() < 0.02,
                "{value}: {found} instead of {share}"
            );
        }
    }

    #[test]
    fn tiles_calls_panels_and_elements_draw_apart() {
        let sums = [1.0 + 0.5 / 1024.0; 64];
        let draw = |rounder: Rounder, panel, first| {
            let mut out = [f16::ZERO; 64];
            rounder.round_panel(&sums, &mut out, panel, first);
            out
        };
        let base = Rounder::stochastic(1, 2, 3);
        let reference = draw(base, 0, 0);
        assert_eq!(draw(base, 0, 0), reference);
        assert_eq!(draw(base, 0, 32)[..32], reference[32..]);
        for other in [(2, 2, 3), (1, 3, 3), (1, 2, 4)] {
            assert_ne!(
                draw(Rounder::stochastic(other.0, other.1, other.2), 0, 0),
                reference
            );
        }
        assert_ne!(draw(base, 1, 0), reference);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn results_are_neighbours_and_exact_values_stay(
            value in prop_oneof![-70000.0_f32..70000.0, -1e-4_f32..1e-4, -2e-7_f32..2e-7],
            random in any::<u64>(),
        ) {
            let rounded = stochastic(value, random);
            let (below, above) = neighbours(value);
            let ok = [below, above].contains(&rounded.to_f32())
                || (rounded.is_infinite() && value.abs() >= 65504.0);
            prop_assert!(ok, "{} became {}", value, rounded);
            let exact = f16::from_f32(value);
            if exact.is_finite() {
                prop_assert_eq!(stochastic(exact.to_f32(), random), exact);
            }
        }
    }
}
