//! Operands of a kernel: how many, how long, how aligned, read or written.

use crate::package::KernelSpec;

use super::gemm::PANEL;

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

/// Alignment of GEMM operands in bytes. Hardware-exercised rule.
const GEMM_ALIGNMENT: u32 = 32;
/// Alignment of all other operands in bytes: 64-bit loads and stores.
const ATOM: u32 = 8;
/// The AMP left stream reads eight elements past its end. Hardware-exercised rule.
const LEFT_TAIL: u64 = 16;
/// Bytes of an F16 element.
const F16: u64 = 2;

/// The operands in call order, output first.
#[must_use]
pub fn operands(spec: &KernelSpec) -> Vec<Operand> {
    match *spec {
        KernelSpec::GemmF16 {
            rows,
            inner,
            columns,
            accumulate,
            ..
        } => {
            let matrix = |a: u32, b: u32| u64::from(a).saturating_mul(u64::from(b)) * F16;
            let access = if accumulate {
                Access::Update
            } else {
                Access::Write
            };
            let operand = |name, bytes, tail, access| Operand {
                name,
                bytes,
                tail,
                alignment: GEMM_ALIGNMENT,
                access,
            };
            vec![
                operand("out", matrix(rows, columns), 0, access),
                operand("left", matrix(rows, inner), LEFT_TAIL, Access::Read),
                operand("right", matrix(inner, columns), 0, Access::Read),
            ]
        }
        KernelSpec::ReduceSumF16 { partials, elements } => {
            let one = u64::from(elements) * F16;
            vec![
                plain("out", one, Access::Write),
                plain(
                    "partials",
                    one.saturating_mul(u64::from(partials)),
                    Access::Read,
                ),
            ]
        }
        KernelSpec::ZeroFill { bytes } => vec![plain("out", u64::from(bytes), Access::Write)],
        KernelSpec::Copy { bytes } => vec![
            plain("out", u64::from(bytes), Access::Write),
            plain("source", u64::from(bytes), Access::Read),
        ],
    }
}

/// How many operands a call has.
#[must_use]
pub const fn operand_count(spec: &KernelSpec) -> usize {
    match spec {
        KernelSpec::GemmF16 { .. } => 3,
        KernelSpec::ReduceSumF16 { .. } | KernelSpec::Copy { .. } => 2,
        KernelSpec::ZeroFill { .. } => 1,
    }
}

/// What is wrong with the extents of a kernel, if anything.
#[must_use]
pub fn extent_error(spec: &KernelSpec) -> Option<String> {
    let multiple = |name: &str, value: u32, of: u32| {
        (value == 0 || !value.is_multiple_of(of))
            .then(|| format!("{name} is {value}, no positive multiple of {of}"))
    };
    match *spec {
        KernelSpec::GemmF16 {
            rows,
            inner,
            columns,
            ..
        } => multiple("rows", rows, 1)
            .or_else(|| multiple("inner", inner, PANEL))
            .or_else(|| multiple("columns", columns, PANEL)),
        KernelSpec::ReduceSumF16 { partials, elements } => {
            if partials < 2 {
                return Some(format!("partials is {partials}, fewer than 2"));
            }
            multiple("elements", elements, 8)
        }
        KernelSpec::ZeroFill { bytes } | KernelSpec::Copy { bytes } => {
            multiple("bytes", bytes, ATOM)
        }
    }
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
