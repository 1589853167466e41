//! What every kernel tells about itself; one implementation a file.

use super::amp::{Engine, Rounder};
use super::generation::{Cost, Generation};
use super::operands::Operand;
use super::rules::{Placed, Violation};
use super::tile::TileCall;
use crate::machine::memory::TileMemory;
use crate::package::{Address, KernelSpec};

/// A kernel with its extents.
pub(crate) trait Kernel {
    /// The operands in call order, output first.
    fn operands(&self) -> Vec<Operand>;

    /// What is wrong with the extents, if anything.
    fn extent_error(&self) -> Option<String>;

    /// Cost of one call.
    fn cost(&self, generation: Generation) -> Cost;

    /// Whether a written operand may lie exactly where another one lies.
    fn may_replace(&self, _written: &str, _other: &str) -> bool {
        false
    }

    /// Rules beside alignment, range and overlap.
    fn check_places(&self, _placed: &[Placed]) -> Result<(), Violation> {
        Ok(())
    }

    /// Computes on a tile's memory.
    fn execute(&self, call: &mut TileCall<'_>) -> Result<(), Violation>;
}

/// Evaluates an expression with the [`Kernel`] of a spec.
macro_rules! with_kernel {
    ($spec:expr, $kernel:ident => $body:expr) => {{
        use $crate::kernels::{add, copy, gemm, reduce, zero};
        use $crate::package::KernelSpec as Spec;
        match *$spec {
            Spec::GemmF16 {
                rows,
                inner,
                columns,
                accumulate,
                coefficients,
            } => {
                let gemm = $crate::package::Gemm {
                    rows,
                    inner,
                    columns,
                    accumulate,
                    coefficients,
                };
                let $kernel = gemm::Product::f16(gemm);
                $body
            }
            Spec::GemmPackedF16(gemm) => {
                let $kernel = gemm::Product::packed_f16(gemm);
                $body
            }
            Spec::GemmF143 { gemm, scale } => {
                let $kernel = gemm::Product::f143(gemm, scale);
                $body
            }
            Spec::GemmF32(gemm) => {
                let $kernel = gemm::Product::f32(gemm);
                $body
            }
            Spec::ReduceSumF16 { partials, elements } => {
                let $kernel = reduce::ReduceSum { partials, elements };
                $body
            }
            Spec::ZeroFill { bytes } => {
                let $kernel = zero::ZeroFill { bytes };
                $body
            }
            Spec::Copy { bytes } => {
                let $kernel = copy::Copy::new(copy::Width::Double, bytes);
                $body
            }
            Spec::CopyWords { bytes } => {
                let $kernel = copy::Copy::new(copy::Width::Word, bytes);
                $body
            }
            Spec::CopyHalves { bytes } => {
                let $kernel = copy::Copy::new(copy::Width::Half, bytes);
                $body
            }
            Spec::StageInterleaved { bytes } => {
                let $kernel = copy::Copy::new(copy::Width::Stage, bytes);
                $body
            }
            Spec::Gelu($kernel) => $body,
            Spec::BiasGelu($kernel) => $body,
            Spec::Add($kernel) => $body,
            Spec::AddF32(it) => {
                let $kernel = add::Single(it);
                $body
            }
            Spec::LayerNorm($kernel) => $body,
            Spec::LayerNormMoments($kernel) => $body,
            Spec::LayerNormApply($kernel) => $body,
            Spec::Softmax($kernel) => $body,
            Spec::Merge($kernel) => $body,
            Spec::MergeAll($kernel) => $body,
            Spec::Cast($kernel) => $body,
            Spec::Rearrange($kernel) => $body,
            Spec::CopyRows($kernel) => $body,
        }
    }};
}
pub(crate) use with_kernel;

/// Runs one call; operand addresses are in the order of the spec, output first.
pub(crate) fn execute(
    engine: Engine,
    spec: &KernelSpec,
    operands: &[Address],
    rounder: &Rounder,
    memory: &mut TileMemory,
) -> Result<(), Violation> {
    let mut call = TileCall::new(engine, *rounder, operands, memory);
    with_kernel!(spec, kernel => kernel.execute(&mut call))
}
