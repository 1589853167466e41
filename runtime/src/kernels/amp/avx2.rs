//! AMP arithmetic with AVX2, FMA and F16C: sixteen columns are two registers, six rows share them.
//!
//! The only module with `unsafe`: processor features are checked once by [`available`], and every
//! load and store goes through a fixed-size array or a chunk of exactly its width.
#![expect(
    unsafe_code,
    reason = "vector intrinsics; callers check the processor first"
)]

use std::arch::x86_64::{
    __m128i, __m256, _CMP_UNORD_Q, _MM_FROUND_TO_NEAREST_INT, _mm_blendv_epi8, _mm_loadu_si128,
    _mm_packs_epi32, _mm_set1_epi16, _mm_storeu_si128, _mm256_castps_si256, _mm256_castsi256_si128,
    _mm256_cmp_ps, _mm256_cvtph_ps, _mm256_cvtps_ph, _mm256_extracti128_si256, _mm256_fmadd_ps,
    _mm256_loadu_ps, _mm256_set1_ps, _mm256_storeu_ps,
};

use half::f16;

use super::{Coefficients, PANEL, plain};

/// Elements of a register.
const LANES: usize = 8;
/// Rows per block: twelve accumulators, two coefficient registers and a broadcast fill the register
/// file, and twelve independent sums hide the latency of the multiply-add.
const ROWS: usize = 6;
/// The only NaN that is stored.
const QUIET_NAN: i16 = 0x7E00;

/// Whether this processor has all that the other functions need.
pub(super) fn available() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
}

/// acc += left · coefficients, inner index in order.
pub(super) fn block(left: &[[f32; PANEL]], coefficients: &Coefficients, acc: &mut [[f32; PANEL]]) {
    // SAFETY: an engine with this function is only built when `available`.
    unsafe { rows(left, coefficients, acc) }
}

/// F16 to F32, exactly.
pub(super) fn widen(narrow: &[f16], wide: &mut [f32]) {
    // SAFETY: an engine with this function is only built when `available`.
    unsafe { widen_all(narrow, wide) }
}

/// F32 to F16, to nearest, ties to even.
pub(super) fn round(wide: &[f32], narrow: &mut [f16]) {
    // SAFETY: an engine with this function is only built when `available`.
    unsafe { round_all(wide, narrow) }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn rows(left: &[[f32; PANEL]], coefficients: &Coefficients, acc: &mut [[f32; PANEL]]) {
    let (left_blocks, left_rest) = left.as_chunks::<ROWS>();
    let (acc_blocks, acc_rest) = acc.as_chunks_mut::<ROWS>();
    for (left, acc) in left_blocks.iter().zip(acc_blocks) {
        fixed::<ROWS>(left, coefficients, acc);
    }
    for (left, acc) in left_rest.iter().zip(acc_rest) {
        fixed::<1>(
            std::array::from_ref(left),
            coefficients,
            std::array::from_mut(acc),
        );
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn fixed<const N: usize>(
    left: &[[f32; PANEL]; N],
    coefficients: &Coefficients,
    acc: &mut [[f32; PANEL]; N],
) {
    let mut low = [load(&[0.0; LANES]); N];
    let mut high = low;
    for row in 0..N {
        (low[row], high[row]) = halves(&acc[row]);
    }
    for (inner, coefficients) in coefficients.iter().enumerate() {
        let (first, second) = halves(coefficients);
        for row in 0..N {
            let value = _mm256_set1_ps(left[row][inner]);
            low[row] = _mm256_fmadd_ps(value, first, low[row]);
            high[row] = _mm256_fmadd_ps(value, second, high[row]);
        }
    }
    for row in 0..N {
        let (first, second) = acc[row].split_at_mut(LANES);
        store(low[row], first);
        store(high[row], second);
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn halves(row: &[f32; PANEL]) -> (__m256, __m256) {
    let (first, second) = row.split_at(LANES);
    (load(first), load(second))
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(values: &[f32]) -> __m256 {
    let values: &[f32; LANES] = values.first_chunk().expect("eight lanes");
    // SAFETY: the array is as long as the register.
    unsafe { _mm256_loadu_ps(values.as_ptr()) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(register: __m256, values: &mut [f32]) {
    let values: &mut [f32; LANES] = values.first_chunk_mut().expect("eight lanes");
    // SAFETY: the array is as long as the register.
    unsafe { _mm256_storeu_ps(values.as_mut_ptr(), register) }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn widen_all(narrow: &[f16], wide: &mut [f32]) {
    let (narrow_chunks, narrow_rest) = narrow.as_chunks::<LANES>();
    let (wide_chunks, wide_rest) = wide.as_chunks_mut::<LANES>();
    for (narrow, wide) in narrow_chunks.iter().zip(wide_chunks) {
        // SAFETY: eight F16 are the 16 bytes of the register, and any bits are a valid integer.
        let bits = unsafe { _mm_loadu_si128(narrow.as_ptr().cast::<__m128i>()) };
        store(_mm256_cvtph_ps(bits), wide);
    }
    plain::widen(narrow_rest, wide_rest);
}

#[target_feature(enable = "avx2,fma,f16c")]
fn round_all(wide: &[f32], narrow: &mut [f16]) {
    let nan = _mm_set1_epi16(QUIET_NAN);
    let (wide_chunks, wide_rest) = wide.as_chunks::<LANES>();
    let (narrow_chunks, narrow_rest) = narrow.as_chunks_mut::<LANES>();
    for (wide, narrow) in wide_chunks.iter().zip(narrow_chunks) {
        let values = load(wide);
        let rounded = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(values);
        let unordered = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(values, values));
        let low = _mm256_castsi256_si128(unordered);
        let mask = _mm_packs_epi32(low, _mm256_extracti128_si256::<1>(unordered));
        let bits = _mm_blendv_epi8(rounded, nan, mask);
        // SAFETY: the register is the 16 bytes of eight F16, and any bits are a valid F16.
        unsafe { _mm_storeu_si128(narrow.as_mut_ptr().cast::<__m128i>(), bits) };
    }
    plain::round(wide_rest, narrow_rest);
}
