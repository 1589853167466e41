//! Values of a host tensor, made from its [`Fill`] so that packages hold no data.
//!
//! Element i depends on the fill and on i alone, so the compiler's reference and the device see the
//! same numbers, whatever the order or the thread that made them.

use half::f16;
use half::slice::HalfFloatSliceExt;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng;
use rayon::prelude::*;

use super::{HostError, f143};
use crate::package::{DType, Fill, MAX_ELEMENTS, Tensor};

/// Values of a tensor in its element type, row-major.
#[derive(Clone, Debug, PartialEq)]
pub enum TensorValues {
    /// IEEE binary16.
    F16(Vec<f16>),
    /// IEEE binary32.
    F32(Vec<f32>),
    /// F143 codes, scale 1.
    F143(Vec<u8>),
}

impl TensorValues {
    /// Zeroes of an element type.
    #[must_use]
    pub fn zeroes(dtype: DType, elements: usize) -> Self {
        match dtype {
            DType::F16 => Self::F16(vec![f16::ZERO; elements]),
            DType::F32 => Self::F32(vec![0.0; elements]),
            DType::F143 => Self::F143(vec![0; elements]),
        }
    }

    /// Number of elements.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::F16(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::F143(values) => values.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bits of an element, as many as its type has.
    ///
    /// # Panics
    ///
    /// Where there is no such element.
    #[must_use]
    pub fn bits(&self, element: usize) -> u32 {
        match self {
            Self::F16(values) => u32::from(values[element].to_bits()),
            Self::F32(values) => values[element].to_bits(),
            Self::F143(values) => u32::from(values[element]),
        }
    }

    /// An element as F32, exactly.
    ///
    /// # Panics
    ///
    /// Where there is no such element.
    #[must_use]
    pub fn get(&self, element: usize) -> f32 {
        match self {
            Self::F16(values) => values[element].to_f32(),
            Self::F32(values) => values[element],
            Self::F143(values) => f143::decode(values[element]),
        }
    }

    /// All elements as F32, exactly.
    #[must_use]
    pub fn to_f32(&self) -> Vec<f32> {
        match self {
            Self::F16(values) => values.to_f32_vec(),
            Self::F32(values) => values.clone(),
            Self::F143(values) => values.iter().map(|&code| f143::decode(code)).collect(),
        }
    }
}

/// The values that the host gives an input or a parameter.
///
/// # Errors
///
/// A tensor of more elements than a package may hold.
pub fn values(tensor: &Tensor) -> Result<TensorValues, HostError> {
    let elements = tensor
        .shape
        .iter()
        .try_fold(1_u64, |product, &axis| product.checked_mul(axis))
        .filter(|&elements| elements <= MAX_ELEMENTS)
        .ok_or_else(|| HostError::TooLarge {
            tensor: tensor.name.clone(),
            shape: tensor.shape.clone(),
            limit: MAX_ELEMENTS,
        })?;
    let source = Source::new(tensor);
    Ok(match tensor.dtype {
        DType::F16 => TensorValues::F16(collect(elements, |i| nearest_f16(source.at(i)))),
        DType::F32 => TensorValues::F32(collect(elements, |i| narrow_f32(source.at(i)))),
        DType::F143 => TensorValues::F143(collect(elements, |i| f143::encode(source.at(i)))),
    })
}

fn collect<T: Send>(elements: u64, value: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let elements = usize::try_from(elements).unwrap_or(usize::MAX);
    (0..elements)
        .into_par_iter()
        .with_min_len(4096)
        .map(|i| value(i as u64))
        .collect()
}

/// F64 to F16, to nearest, ties to even, rounded once on every processor: `half` may go through
/// F32, where a value just beside a tie becomes the tie.
pub(crate) fn nearest_f16(value: f64) -> f16 {
    let single = narrow_f32(value);
    if !single.is_finite() || f64::from(single) == value {
        return f16::from_f32(single);
    }
    // Rounded to odd, F32 keeps the side of the tie.
    let toward_zero = u32::from(f64::from(single).abs() > value.abs());
    f16::from_f32(f32::from_bits((single.to_bits() - toward_zero) | 1))
}

/// F64 to F32, to nearest, ties to even.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounds to nearest, as F32 tensors do"
)]
pub(crate) const fn narrow_f32(value: f64) -> f32 {
    value as f32
}

/// A fill with the extents it depends on.
struct Source {
    fill: Fill,
    rows: u64,
    columns: u64,
}

impl Source {
    fn new(tensor: &Tensor) -> Self {
        let mut axes = tensor.shape.iter().rev().copied();
        let columns = axes.next().unwrap_or(1).max(1);
        Self {
            fill: tensor.fill,
            rows: axes.next().unwrap_or(1).max(1),
            columns,
        }
    }

    /// Element i before it is rounded to its type.
    fn at(&self, element: u64) -> f64 {
        let (row, column) = (element / self.columns, element % self.columns);
        match self.fill {
            Fill::Constant(value) => f64::from(value),
            Fill::Gaussian { seed, sigma } => {
                let mut random = SplitMix64::seed_from_u64(seed ^ element);
                let draw: f64 = StandardNormal.sample(&mut random);
                draw * f64::from(sigma)
            }
            Fill::OneHot { batch_step } => {
                let (batch, row) = (row / self.rows, row % self.rows);
                let hot = batch_step.wrapping_mul(batch).wrapping_add(row) % self.columns;
                f64::from(u8::from(column == hot))
            }
            Fill::Cycle { row_step } => {
                const CYCLE: [f64; 5] = [-1.0, -0.5, 0.0, 0.5, 1.0];
                let index = row_step.wrapping_mul(row % self.rows).wrapping_add(column) % 5;
                CYCLE
                    .get(usize::try_from(index).unwrap_or(0))
                    .copied()
                    .unwrap_or(0.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::package::TensorRole;

    fn tensor(dtype: DType, shape: &[u64], fill: Fill) -> Tensor {
        let (name, role) = ("t".to_owned(), TensorRole::Input);
        Tensor {
            name,
            dtype,
            shape: shape.into(),
            role,
            fill,
        }
    }

    fn check(dtype: DType, shape: &[u64], fill: Fill, expected: &Expect) {
        let values = values(&tensor(dtype, shape, fill)).unwrap();
        expected.assert_eq(&format!("{:?}", values.to_f32()));
    }

    #[test]
    fn one_hot_rows_shift_with_row_and_batch() {
        check(
            DType::F16,
            &[2, 2, 3],
            Fill::OneHot { batch_step: 2 },
            &expect!["[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]"],
        );
    }

    #[test]
    fn cycle_steps_by_row_and_starts_again_in_each_batch() {
        check(
            DType::F32,
            &[2, 2, 3],
            Fill::Cycle { row_step: 3 },
            &expect!["[-1.0, -0.5, 0.0, 0.5, 1.0, -1.0, -1.0, -0.5, 0.0, 0.5, 1.0, -1.0]"],
        );
    }

    #[test]
    fn constants_are_rounded_to_the_element_type() {
        let third = Fill::Constant(1.0 / 3.0);
        check(DType::F16, &[1], third, &expect!["[0.33325195]"]);
        check(DType::F143, &[1], third, &expect!["[0.34375]"]);
    }

    #[test]
    fn gaussian_elements_depend_on_seed_and_index_alone() {
        let fill = Fill::Gaussian {
            seed: 0x444941474e4f5354,
            sigma: 0.25,
        };
        check(
            DType::F16,
            &[4],
            fill,
            &expect!["[0.17041016, 0.37402344, -0.18640137, -0.34814453]"],
        );
        let long = values(&tensor(DType::F16, &[300, 300], fill)).unwrap();
        let short = values(&tensor(DType::F16, &[300], fill)).unwrap();
        assert_eq!(long.to_f32()[..300], short.to_f32()[..]);
        let count = 90_000.0;
        let values: Vec<f64> = long.to_f32().into_iter().map(f64::from).collect();
        let mean = values.iter().sum::<f64>() / count;
        let deviation = (values.iter().map(|v| v * v).sum::<f64>() / count).sqrt();
        assert!(
            mean.abs() < 0.005 && (deviation - 0.25).abs() < 0.005,
            "{mean} {deviation}"
        );
    }

    #[test]
    fn halves_are_rounded_once() {
        // Just below and above the middle between 1 + 7/1024 and 1 + 8/1024.
        let middle = 1.0 + 7.5 / 1024.0;
        for (value, expected) in [
            (middle - 1e-12, 1.0 + 7.0 / 1024.0),
            (middle, 1.0 + 8.0 / 1024.0),
            (middle + 1e-12, 1.0 + 8.0 / 1024.0),
            (1.0 + 6.5 / 1024.0 + 1e-12, 1.0 + 7.0 / 1024.0),
            (65_519.999, 65_504.0),
            (65_520.0, f64::INFINITY),
            (1e-300, 0.0),
            (2_f64.powi(-25), 0.0),
            (2_f64.powi(-25) * (1.0 + 1e-12), 2_f64.powi(-24)),
            (1e300, f64::INFINITY),
        ] {
            assert_eq!(nearest_f16(value).to_f64(), expected, "{value}");
            assert_eq!(nearest_f16(-value).to_f64(), -expected, "-{value}");
        }
        assert!(nearest_f16(f64::NAN).is_nan());
    }

    #[test]
    fn absurd_shapes_are_an_error() {
        let huge = tensor(DType::F16, &[u64::MAX, 3], Fill::Constant(0.0));
        expect!["tensor t of shape [18446744073709551615, 3] has more than 2147483648 elements"]
            .assert_eq(&values(&huge).unwrap_err().to_string());
    }
}
