//! Kernels: what each computes and what it costs, one file a kernel.
//!
//! [`cycles`] is the versioned cost table that planner and simulator share. A kernel's cycles run
//! from the supervisor's launch to the rendezvous of its six workers.

mod amp;
mod copy;
mod execute;
mod gemm;
mod generation;
mod operands;
mod reduce;
mod rules;
mod workers;
mod zero;

use analytics::units::Cycles;

use crate::package::KernelSpec;

pub(crate) use amp::{Engine, Rounder};
pub(crate) use execute::execute;
pub use generation::{Basis, Generation, UnknownGeneration};
pub use operands::{Access, Operand, extent_error, operand_count, operands};
pub use rules::{Violation, check_operands};

/// Cycles of one call on one tile, launch to rendezvous.
#[must_use]
pub fn cycles(spec: &KernelSpec, generation: Generation) -> Cycles {
    cost(spec, generation).0
}

/// Where the cost of a call comes from: only measured and fitted costs count in a claim.
#[must_use]
pub fn basis(spec: &KernelSpec, generation: Generation) -> Basis {
    cost(spec, generation).1
}

fn cost(spec: &KernelSpec, generation: Generation) -> (Cycles, Basis) {
    match *spec {
        KernelSpec::GemmF16 {
            rows,
            inner,
            columns,
            coefficients,
            ..
        } => gemm::cost(generation, rows, inner, columns, coefficients),
        KernelSpec::ReduceSumF16 { partials, elements } => {
            reduce::cost(generation, partials, elements)
        }
        KernelSpec::ZeroFill { bytes } => zero::cost(generation, bytes),
        KernelSpec::Copy { bytes } => copy::cost(generation, bytes),
    }
}

#[cfg(test)]
mod tests;
