//! The portable form of AMP arithmetic: what the vector form must equal bit by bit.

use half::f16;
use half::slice::HalfFloatSliceExt;

use super::{Coefficients, PANEL, canonical};

/// acc += left · coefficients, inner index in order.
pub(super) fn block(left: &[[f32; PANEL]], coefficients: &Coefficients, acc: &mut [[f32; PANEL]]) {
    for (row, sums) in left.iter().zip(acc) {
        for (&value, coefficients) in row.iter().zip(coefficients) {
            for (sum, &coefficient) in sums.iter_mut().zip(coefficients) {
                *sum += value * coefficient;
            }
        }
    }
}

/// F16 to F32, exactly.
pub(super) fn widen(narrow: &[f16], wide: &mut [f32]) {
    narrow.convert_to_f32_slice(wide);
}

/// F32 to F16, to nearest, ties to even.
pub(super) fn round(wide: &[f32], narrow: &mut [f16]) {
    for (&value, slot) in wide.iter().zip(narrow) {
        *slot = canonical(f16::from_f32(value));
    }
}
