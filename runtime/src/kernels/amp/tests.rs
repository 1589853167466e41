//! The vector form against the portable one, and both against a product written from the rule.

use proptest::prelude::*;

use super::*;

/// The rule, element by element, sharing nothing with the engines: indices from the layout, sums in
/// F64 rounded to F32 after every step, as exact products allow.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the rounding that the rule asks for"
)]
fn from_the_rule(
    shape: Shape,
    out: &[f16],
    left: &[f16],
    right: &[f16],
    accumulate: bool,
) -> Vec<f16> {
    let Shape {
        rows,
        inner,
        columns,
    } = shape;
    let mut result = out.to_vec();
    for row in 0..rows {
        for column in 0..columns {
            let at = column / 16 * rows * 16 + row * 16 + column % 16;
            let mut kept = if accumulate { out[at] } else { f16::ZERO };
            for panel in 0..inner / 16 {
                let mut acc = kept.to_f32();
                for k in 0..16 {
                    let a = left[panel * rows * 16 + row * 16 + k].to_f64();
                    let block = (column / 16 * (inner / 16) + panel) * 256;
                    let b = right[block + column % 16 * 16 + k].to_f64();
                    acc = (f64::from(acc) + a * b) as f32;
                }
                kept = f16::from_f32(acc);
            }
            result[at] = kept;
        }
    }
    result
}

fn shapes() -> impl Strategy<Value = Shape> {
    (1_usize..20, 1_usize..4, 1_usize..4).prop_map(|(rows, k, c)| Shape {
        rows,
        inner: 16 * k,
        columns: 16 * c,
    })
}

/// Operands of a shape; `bits` makes any F16, otherwise values of ordinary size.
fn operands(bits: bool) -> impl Strategy<Value = (Shape, Vec<f16>, Vec<f16>, Vec<f16>)> {
    shapes().prop_flat_map(move |shape| {
        let value = if bits {
            any::<u16>().prop_map(f16::from_bits).boxed()
        } else {
            (-4.0_f32..4.0).prop_map(f16::from_f32).boxed()
        };
        let many = |count| proptest::collection::vec(value.clone(), count);
        let Shape {
            rows,
            inner,
            columns,
        } = shape;
        (
            Just(shape),
            many(rows * columns),
            many(rows * inner),
            many(inner * columns),
        )
    })
}

fn bits(values: &[f16]) -> Vec<u16> {
    values.iter().map(|value| value.to_bits()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn vector_and_portable_forms_agree_on_any_bits(
        (shape, out, left, right) in operands(true), accumulate in any::<bool>(),
        seed in any::<Option<u64>>(),
    ) {
        let rounder = seed.map_or(Rounder::NearestEven, |s| Rounder::stochastic(s, 1, 2));
        let (mut fast, mut slow) = (out.clone(), out);
        Engine::detect().multiply(shape, &mut fast, &left, &right, accumulate, &rounder);
        Engine::plain().multiply(shape, &mut slow, &left, &right, accumulate, &rounder);
        prop_assert_eq!(bits(&fast), bits(&slow));
    }

    #[test]
    fn products_follow_the_rule(
        (shape, out, left, right) in operands(false), accumulate in any::<bool>(),
    ) {
        let expected = from_the_rule(shape, &out, &left, &right, accumulate);
        let mut found = out;
        let rounder = Rounder::NearestEven;
        Engine::detect().multiply(shape, &mut found, &left, &right, accumulate, &rounder);
        prop_assert_eq!(bits(&found), bits(&expected));
    }
}

#[test]
fn sums_are_rounded_once_a_panel_not_once_a_step_nor_at_the_end() {
    let shape = Shape {
        rows: 1,
        inner: 32,
        columns: 16,
    };
    // 2048 + 1 + 1: within a panel the ones add up to 2050; across panels each 1 is a tie that is
    // lost.
    let product = |ones: [usize; 2]| {
        let mut left = vec![f16::ZERO; 32];
        left[0] = f16::from_f32(2048.0);
        for one in ones {
            left[one] = f16::ONE;
        }
        let mut out = vec![f16::ZERO; 16];
        let right = vec![f16::ONE; 32 * 16];
        let rounder = Rounder::NearestEven;
        Engine::detect().multiply(shape, &mut out, &left, &right, false, &rounder);
        out[0].to_f32()
    };
    assert_eq!(product([1, 2]), 2050.0);
    assert_eq!(product([1, 16]), 2048.0);
}
