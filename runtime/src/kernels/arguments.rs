//! The scalar arguments of a call: what follows its operands in the call convention.

use crate::package::{
    Add, BiasGelu, Cast, CopyRows, Gelu, Gemm, KernelSpec as Spec, LayerNorm, LayerNormApply,
    LayerNormMoments, Merge, MergeAll, Output, Rearrange, Softmax,
};

/// Name and value of each argument, in the order in which packages state them.
pub type Arguments = Vec<(&'static str, String)>;

/// Pairs the names of variables with their values as text.
macro_rules! named {
    ($($name:ident),*) => { vec![$((stringify!($name), $name.to_string())),*] };
}

/// The arguments of a call: extents, flags and factors, numbers in decimal.
#[must_use]
pub fn arguments(spec: &Spec) -> Arguments {
    match *spec {
        Spec::GemmF16 {
            rows,
            inner,
            columns,
            accumulate,
            ..
        } => named!(rows, inner, columns, accumulate),
        Spec::GemmPackedF16(gemm) | Spec::GemmF32(gemm) => of_gemm(gemm),
        Spec::GemmF143 { gemm, scale } => joined(of_gemm(gemm), named!(scale)),
        Spec::ReduceSumF16 { partials, elements } => named!(partials, elements),
        Spec::Gelu(Gelu {
            rows,
            width,
            output,
        })
        | Spec::BiasGelu(BiasGelu {
            rows,
            width,
            output,
        }) => joined(named!(rows, width), of_output(output)),
        Spec::Add(Add { rows, width }) | Spec::AddF32(Add { rows, width }) => named!(rows, width),
        Spec::LayerNorm(norm) => of_norm(norm),
        Spec::LayerNormMoments(LayerNormMoments { rows, width, add }) => named!(rows, width, add),
        Spec::LayerNormApply(apply) => of_apply(apply),
        Spec::Softmax(softmax) => of_softmax(softmax),
        Spec::Merge(merge) => of_merge(merge),
        Spec::MergeAll(MergeAll {
            rows,
            columns,
            padded,
            parts,
            half_output,
        }) => named!(rows, columns, padded, parts, half_output),
        Spec::Cast(cast) => of_cast(cast),
        Spec::Rearrange(Rearrange {
            matrices,
            rows,
            columns,
            stride,
            ..
        }) => named!(matrices, rows, columns, stride),
        Spec::CopyRows(CopyRows {
            rows,
            bytes,
            out_stride,
            source_stride,
        }) => named!(rows, bytes, out_stride, source_stride),
        Spec::ZeroFill { bytes }
        | Spec::Copy { bytes }
        | Spec::CopyWords { bytes }
        | Spec::CopyHalves { bytes }
        | Spec::StageInterleaved { bytes } => named!(bytes),
    }
}

fn joined(mut first: Arguments, second: Arguments) -> Arguments {
    first.extend(second);
    first
}

fn of_gemm(gemm: Gemm) -> Arguments {
    let Gemm {
        rows,
        inner,
        columns,
        accumulate,
        ..
    } = gemm;
    named!(rows, inner, columns, accumulate)
}

fn of_output(output: Output) -> Arguments {
    match output {
        Output::F16 => Vec::new(),
        Output::F143 { scale, packed } => named!(scale, packed),
    }
}

fn of_norm(norm: LayerNorm) -> Arguments {
    let LayerNorm {
        rows, width, add, ..
    } = norm;
    let epsilon = norm.epsilon.get();
    joined(named!(rows, width, add, epsilon), of_output(norm.output))
}

fn of_apply(apply: LayerNormApply) -> Arguments {
    let LayerNormApply {
        rows,
        width,
        total_width,
        parts,
        ..
    } = apply;
    let epsilon = apply.epsilon.get();
    named!(rows, width, total_width, parts, epsilon)
}

fn of_softmax(softmax: Softmax) -> Arguments {
    let Softmax {
        rows, keys, padded, ..
    } = softmax;
    let factor = softmax.scale.get();
    joined(
        named!(rows, keys, padded, factor),
        of_output(softmax.output),
    )
}

fn of_merge(merge: Merge) -> Arguments {
    let Merge {
        rows,
        columns,
        padded,
        first,
        last,
        half_output,
    } = merge;
    named!(rows, columns, padded, first, last, half_output)
}

fn of_cast(cast: Cast) -> Arguments {
    match cast {
        Cast::F16ToF32 { elements } | Cast::F32ToF16 { elements } => named!(elements),
        Cast::F16ToF143 { elements, scale } | Cast::F143ToF16 { elements, scale } => {
            named!(elements, scale)
        }
        Cast::F16ToF143Panels {
            rows,
            panels,
            scale,
        } => named!(rows, panels, scale),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::{MemoryClass, Scalar};

    #[test]
    fn arguments_are_the_numbers_of_a_call_in_package_order() {
        let gemm = Gemm {
            rows: 7,
            inner: 32,
            columns: 16,
            accumulate: true,
            coefficients: MemoryClass::Interleaved,
        };
        let found = arguments(&Spec::GemmF143 { gemm, scale: -3 });
        let text = |(name, value): &(&str, String)| format!("{name}={value}");
        let found: Vec<_> = found.iter().map(text).collect();
        assert_eq!(
            found,
            [
                "rows=7",
                "inner=32",
                "columns=16",
                "accumulate=true",
                "scale=-3"
            ]
        );
        let softmax = Softmax {
            rows: 2,
            keys: 25,
            padded: 32,
            scale: Scalar::new(0.125),
            output: Output::F143 {
                scale: 1,
                packed: true,
            },
        };
        let found: Vec<_> = arguments(&Spec::Softmax(softmax))
            .iter()
            .map(text)
            .collect();
        assert_eq!(
            found,
            [
                "rows=2",
                "keys=25",
                "padded=32",
                "factor=0.125",
                "scale=1",
                "packed=true"
            ]
        );
    }
}
