//! F16 arithmetic as the vector unit does it: every instruction rounds to F16, to nearest even.
//!
//! Functions of one F16 are tables of all 65,536 values, made once from correctly rounded F64.

use std::sync::LazyLock;

use half::f16;

use super::amp::canonical;
use crate::host::nearest_f16 as nearest;

/// Values of an F16.
const CODES: usize = 1 << 16;
/// GeLU's polynomial, as published: tanh(0.7978846·(x + 0.044715·x³)).
const CUBIC: f32 = 0.044_715;
const OUTER: f32 = 0.797_884_6;
/// Bound of the polynomial's input; beyond it the cube would leave F16.
const GELU_BOUND: f32 = 8.0;

static EXP: LazyLock<Vec<f16>> = LazyLock::new(|| table(|x| nearest(libm::exp(x.to_f64()))));
static TANH: LazyLock<Vec<f16>> = LazyLock::new(|| table(|x| nearest(libm::tanh(x.to_f64()))));
static GELU: LazyLock<Vec<f16>> = LazyLock::new(|| table(gelu_steps));

fn table(function: impl Fn(f16) -> f16) -> Vec<f16> {
    (0..=u16::MAX)
        .map(|bits| canonical(function(f16::from_bits(bits))))
        .collect()
}

fn look_up(table: &[f16], value: f16) -> f16 {
    debug_assert_eq!(table.len(), CODES);
    table[usize::from(value.to_bits())]
}

/// F32 to F16, to nearest, ties to even; one NaN.
pub(crate) fn rounded(value: f32) -> f16 {
    canonical(f16::from_f32(value))
}

/// A sum of two F16; the F32 sum rounds to the same F16 as the exact one.
pub(crate) fn add(left: f16, right: f16) -> f16 {
    rounded(left.to_f32() + right.to_f32())
}

/// A product of two F16, exact in F32 before it is rounded.
fn multiply(left: f16, right: f16) -> f16 {
    rounded(left.to_f32() * right.to_f32())
}

/// e^x.
pub(crate) fn exp(value: f16) -> f16 {
    look_up(&EXP, value)
}

/// GeLU in tanh form.
pub(crate) fn gelu(value: f16) -> f16 {
    look_up(&GELU, value)
}

/// The instructions of GeLU on one lane: clamp, x², ·c + 1, ·x, ·√(2/π), tanh, ·½ + ½, ·x. With two
/// halves of tanh and of clamp a vector of four takes twelve.
fn gelu_steps(value: f16) -> f16 {
    let constant = f16::from_f32;
    let bound = constant(GELU_BOUND);
    if value.is_nan() {
        return value;
    }
    let x = value.max(-bound).min(bound);
    let square = multiply(x, x);
    let factor = add(multiply(square, constant(CUBIC)), f16::ONE);
    let inner = multiply(multiply(x, factor), constant(OUTER));
    let tanh = look_up(&TANH, inner);
    let half = constant(0.5);
    let gate = add(multiply(tanh, half), half);
    multiply(value, gate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes() -> impl Iterator<Item = f16> {
        (0..=u16::MAX).map(f16::from_bits).filter(|x| !x.is_nan())
    }

    #[test]
    fn exp_is_the_nearest_half_to_the_exact_value() {
        for x in codes() {
            let (found, exact) = (exp(x), x.to_f64().exp());
            let gap = (found.to_f64() - exact).abs();
            let neighbours = [found.to_bits().wrapping_sub(1), found.to_bits() + 1];
            for neighbour in neighbours.map(f16::from_bits) {
                if neighbour.is_finite() && found.is_finite() {
                    assert!(
                        gap <= (neighbour.to_f64() - exact).abs(),
                        "exp({x}) = {found}"
                    );
                }
            }
            assert!(found.is_finite() || exact >= 65_520.0, "exp({x}) = {found}");
        }
    }

    #[test]
    fn gelu_follows_the_exact_function_within_its_instructions_rounding() {
        let mut worst = 0_f64;
        for x in codes().filter(|x| x.is_finite()) {
            let value = x.to_f64();
            let inner = f64::from(OUTER) * (value + f64::from(CUBIC) * value.powi(3));
            let exact = 0.5 * value * (1.0 + inner.tanh());
            let error = (gelu(x).to_f64() - exact).abs();
            worst = worst.max(error / (value.abs() + 1e-3));
        }
        // Half a step of the gate near one is 2^-11; a few instructions add their own.
        println!("worst error {worst:.6} of the magnitude");
        assert!(worst < 0.0015, "{worst}");
        assert_eq!(gelu(f16::from_f32(20.0)), f16::from_f32(20.0));
        assert_eq!(gelu(f16::from_f32(-20.0)).to_f32(), 0.0);
        assert!(gelu(f16::NAN).is_nan());
    }

    #[test]
    fn sums_and_products_round_once() {
        let (a, b) = (f16::from_f32(1.0), f16::from_bits(0x1001));
        assert_eq!(add(a, b), f16::from_f64(1.0 + b.to_f64()));
        assert_eq!(multiply(b, b), f16::from_f64(b.to_f64() * b.to_f64()));
    }
}
