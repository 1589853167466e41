//! F16 arithmetic as the vector unit does it: every instruction rounds its result to F16, to
//! nearest even or stochastically, as the run rounds.
//!
//! Functions of one F16 are tables of all 65,536 values, made once from correctly rounded F64.

use std::sync::LazyLock;

use half::f16;

use super::amp::{Rounder, canonical};
use crate::host::{narrow_f32, nearest_f16 as nearest};

/// Values of an F16.
const CODES: usize = 1 << 16;
/// GeLU's polynomial, as published: tanh(0.7978846·(x + 0.044715·x³)).
const CUBIC: f32 = 0.044_715;
const OUTER: f32 = 0.797_884_6;
/// Bound of the polynomial's input; beyond it the cube would leave F16.
const GELU_BOUND: f32 = 8.0;

/// A function of one F16.
struct Table {
    /// Its values to the nearest F16.
    nearest: Vec<f16>,
    /// Its values to the nearest F32, from which they round stochastically.
    single: Vec<f32>,
}

static EXP: LazyLock<Table> = LazyLock::new(|| Table::new(libm::exp));
static TANH: LazyLock<Table> = LazyLock::new(|| Table::new(libm::tanh));
static GELU: LazyLock<Vec<f16>> = LazyLock::new(|| {
    let nearest = |x| gelu_steps(x, &mut Lane::new(&Rounder::NearestEven, 0, 0));
    codes().map(nearest).map(canonical).collect()
});

fn codes() -> impl Iterator<Item = f16> {
    (0..=u16::MAX).map(f16::from_bits)
}

impl Table {
    fn new(function: impl Fn(f64) -> f64) -> Self {
        let exact = |x: f16| function(x.to_f64());
        Self {
            nearest: codes().map(|x| canonical(nearest(exact(x)))).collect(),
            single: codes().map(|x| narrow_f32(exact(x))).collect(),
        }
    }
}

fn look_up<T: Copy>(table: &[T], value: f16) -> T {
    debug_assert_eq!(table.len(), CODES);
    table[usize::from(value.to_bits())]
}

/// One element of a result on its way through the F16 instructions of a kernel. Each instruction
/// has its own random bits, drawn by its number in the call and the element.
pub(crate) struct Lane<'a> {
    rounder: &'a Rounder,
    element: u64,
    instruction: u64,
}

impl<'a> Lane<'a> {
    /// The lane of an element of the output before the instruction of this number.
    pub(crate) const fn new(rounder: &'a Rounder, instruction: u64, element: usize) -> Self {
        Self {
            rounder,
            element: element as u64,
            instruction,
        }
    }

    /// The result of an instruction, from F32.
    pub(crate) fn round(&mut self, value: f32) -> f16 {
        let instruction = self.instruction;
        self.instruction += 1;
        self.rounder.round_step(value, instruction, self.element)
    }

    /// A sum of two F16; to nearest, the F32 sum rounds to the same F16 as the exact one.
    pub(crate) fn add(&mut self, left: f16, right: f16) -> f16 {
        self.round(left.to_f32() + right.to_f32())
    }

    /// A product of two F16, exact in F32 before it is rounded.
    fn multiply(&mut self, left: f16, right: f16) -> f16 {
        self.round(left.to_f32() * right.to_f32())
    }

    /// e^x.
    pub(crate) fn exp(&mut self, value: f16) -> f16 {
        self.function(&EXP, value)
    }

    /// GeLU in tanh form; nine roundings.
    pub(crate) fn gelu(&mut self, value: f16) -> f16 {
        match self.rounder {
            Rounder::NearestEven => look_up(&GELU, value),
            Rounder::Stochastic { .. } => canonical(gelu_steps(value, self)),
        }
    }

    fn function(&mut self, table: &Table, value: f16) -> f16 {
        match self.rounder {
            Rounder::NearestEven => look_up(&table.nearest, value),
            Rounder::Stochastic { .. } => self.round(look_up(&table.single, value)),
        }
    }
}

/// The instructions of GeLU on one lane: clamp, x², ·c, + 1, ·x, ·√(2/π), tanh, ·½, + ½, ·x. With
/// two halves of tanh and of clamp a vector of four takes twelve.
fn gelu_steps(value: f16, lane: &mut Lane<'_>) -> f16 {
    let constant = f16::from_f32;
    let bound = constant(GELU_BOUND);
    if value.is_nan() {
        return value;
    }
    let x = value.max(-bound).min(bound);
    let square = lane.multiply(x, x);
    let cubic = lane.multiply(square, constant(CUBIC));
    let factor = lane.add(cubic, f16::ONE);
    let scaled = lane.multiply(x, factor);
    let inner = lane.multiply(scaled, constant(OUTER));
    let tanh = lane.function(&TANH, inner);
    let half = constant(0.5);
    let halved = lane.multiply(tanh, half);
    let gate = lane.add(halved, half);
    lane.multiply(value, gate)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lane that rounds to nearest.
    const NEAREST: Lane<'static> = Lane::new(&Rounder::NearestEven, 0, 0);

    fn numbers() -> impl Iterator<Item = f16> {
        codes().filter(|x| !x.is_nan())
    }

    fn exp(value: f16) -> f16 {
        let mut lane = NEAREST;
        lane.exp(value)
    }

    fn gelu(value: f16) -> f16 {
        let mut lane = NEAREST;
        lane.gelu(value)
    }

    #[test]
    fn exp_is_the_nearest_half_to_the_exact_value() {
        for x in numbers() {
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
        for x in numbers().filter(|x| x.is_finite()) {
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
        let mut lane = NEAREST;
        assert_eq!(lane.add(a, b), f16::from_f64(1.0 + b.to_f64()));
        assert_eq!(lane.multiply(b, b), f16::from_f64(b.to_f64() * b.to_f64()));
    }
}
