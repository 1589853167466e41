//! Kernels: what each computes and what it costs, one file a kernel.
//!
//! [`cost`] is the versioned cost table that planner and simulator share. A kernel's cycles run
//! from the supervisor's launch to the rendezvous of its six workers.

mod add;
mod amp;
mod arguments;
mod bias_gelu;
mod cast;
mod copy;
mod gelu;
mod gemm;
mod generation;
mod half_math;
mod kernel;
mod layer_norm;
mod merge;
mod merge_all;
mod operands;
mod pointwise;
mod rearrange;
mod reduce;
mod rules;
pub(crate) mod softmax;
mod tile;
mod workers;
mod zero;

use analytics::units::Cycles;

use crate::package::{CallTemplate, KernelSpec};

pub(crate) use amp::{Engine, Rounder};
pub use arguments::{Arguments, arguments};
pub(crate) use gemm::amp_point_cycles;
pub use generation::{Basis, Cost, Generation, UnknownGeneration};
use kernel::Kernel as _;
pub(crate) use kernel::execute;
pub use operands::{Access, Operand, extent_error, operand_count, operands};
pub use rules::{Violation, check_operands};

/// Cost of one call on one tile, launch to rendezvous, and where it comes from.
#[must_use]
pub fn cost(spec: &KernelSpec, generation: Generation) -> Cost {
    kernel::with_kernel!(spec, kernel => kernel.cost(generation))
}

/// Cycles of one call on one tile, launch to rendezvous.
#[must_use]
pub fn cycles(spec: &KernelSpec, generation: Generation) -> Cycles {
    cost(spec, generation).cycles
}

/// Where the cost of a call comes from: only measured and fitted costs count in a claim.
#[must_use]
pub fn basis(spec: &KernelSpec, generation: Generation) -> Basis {
    cost(spec, generation).basis
}

/// Symbols of the templates whose cost has this basis, sorted.
#[must_use]
pub fn symbols_of(templates: &[CallTemplate], generation: Generation, of: Basis) -> Vec<&str> {
    let such = templates
        .iter()
        .filter(|template| basis(&template.kernel, generation) == of);
    let mut symbols: Vec<&str> = such.map(|template| template.symbol.as_str()).collect();
    symbols.sort_unstable();
    symbols.dedup();
    symbols
}

#[cfg(test)]
mod tests;
