//! Operands of a kernel: how many, how long, how aligned, read or written.

use super::kernel::{Kernel as _, with_kernel};
use crate::package::{KernelSpec, Output};

/// How a kernel uses an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read only.
    Read,
    /// Overwritten without being read.
    Write,
    /// Read, then overwritten.
    Update,
}

/// One operand of a kernel call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Name in messages and step metadata, such as `left`.
    pub name: &'static str,
    /// Length in bytes.
    pub bytes: u64,
    /// Bytes past the end that the kernel may read and ignores.
    pub tail: u64,
    /// Alignment in bytes.
    pub alignment: u32,
    /// How it is used.
    pub access: Access,
}

/// Alignment of operands in bytes: 64-bit loads and stores.
pub(crate) const ATOM: u32 = 8;

/// The operands in call order, output first.
#[must_use]
pub fn operands(spec: &KernelSpec) -> Vec<Operand> {
    with_kernel!(spec, kernel => kernel.operands())
}

/// How many operands a call has.
#[must_use]
pub fn operand_count(spec: &KernelSpec) -> usize {
    operands(spec).len()
}

/// What is wrong with the extents of a kernel, if anything.
#[must_use]
pub fn extent_error(spec: &KernelSpec) -> Option<String> {
    with_kernel!(spec, kernel => kernel.extent_error())
}

/// An operand that is read.
pub(crate) const fn read(name: &'static str, bytes: u64) -> Operand {
    plain(name, bytes, Access::Read)
}

/// An operand that is overwritten.
pub(crate) const fn write(name: &'static str, bytes: u64) -> Operand {
    plain(name, bytes, Access::Write)
}

/// An operand that is read and overwritten.
pub(crate) const fn update(name: &'static str, bytes: u64) -> Operand {
    plain(name, bytes, Access::Update)
}

const fn plain(name: &'static str, bytes: u64, access: Access) -> Operand {
    Operand {
        name,
        bytes,
        tail: 0,
        alignment: ATOM,
        access,
    }
}

/// Bytes of `a` × `b` elements.
pub(crate) fn matrix(a: u32, b: u32, element_bytes: u64) -> u64 {
    (u64::from(a) * u64::from(b)).saturating_mul(element_bytes)
}

/// Bytes of an element of a pointwise result.
pub(crate) const fn output_bytes(output: Output) -> u64 {
    match output {
        Output::F16 => 2,
        Output::F143 { .. } => 1,
    }
}

/// An extent that is no positive multiple.
pub(crate) fn multiple(name: &str, value: u32, of: u32) -> Option<String> {
    (value == 0 || !value.is_multiple_of(of))
        .then(|| format!("{name} is {value}, no positive multiple of {of}"))
}

/// An argument that is not positive and finite.
pub(crate) fn positive(name: &str, value: f32) -> Option<String> {
    (!value.is_finite() || value <= 0.0)
        .then(|| format!("{name} is {value}, not positive and finite"))
}

/// A tensor-wide F143 scale that the machine cannot hold.
pub(crate) fn scale_error(scale: i8) -> Option<String> {
    (!(-16..=15).contains(&scale)).then(|| format!("scale is {scale}, outside -16..=15"))
}

/// What an element type of a result asks of its extents.
pub(crate) fn output_error(output: Output, width: u32) -> Option<String> {
    match output {
        Output::F16 => None,
        Output::F143 { scale, packed } => {
            scale_error(scale).or_else(|| multiple("width", width, if packed { 32 } else { 4 }))
        }
    }
}
