//! Kernel calls from their wire form.

use analytics::memory::package_capnp as schema;

use super::PackageError;
use super::kernel::{
    Add, BiasGelu, Cast, CopyRows, Gelu, Gemm, KernelSpec, LayerNorm, LayerNormApply,
    LayerNormMoments, MemoryClass, Merge, MergeAll, Order, Output, Rearrange, Scalar, Softmax,
};
use super::read::Read;

pub(super) fn kernel(kernel: schema::call_template::kernel::Reader<'_>) -> Read<KernelSpec> {
    use schema::call_template::kernel::Which;
    Ok(match kernel.which()? {
        Which::GemmF16(gemm) => KernelSpec::GemmF16 {
            rows: gemm.get_rows(),
            inner: gemm.get_inner(),
            columns: gemm.get_columns(),
            accumulate: gemm.get_accumulate(),
            coefficients: class(gemm.get_coefficients()?),
        },
        Which::GemmPackedF16(gemm) => KernelSpec::GemmPackedF16(product(gemm?)?),
        Which::GemmF143(it) => KernelSpec::GemmF143 {
            gemm: product(it.get_gemm()?)?,
            scale: it.get_scale(),
        },
        Which::GemmF32(gemm) => KernelSpec::GemmF32(product(gemm?)?),
        Which::ReduceSumF16(sum) => KernelSpec::ReduceSumF16 {
            partials: sum.get_partials(),
            elements: sum.get_elements(),
        },
        Which::Gelu(shape) => {
            let (rows, width, output) = pointwise(shape?)?;
            KernelSpec::Gelu(Gelu {
                rows,
                width,
                output,
            })
        }
        Which::BiasGelu(shape) => {
            let (rows, width, output) = pointwise(shape?)?;
            KernelSpec::BiasGelu(BiasGelu {
                rows,
                width,
                output,
            })
        }
        Which::Add(add) => KernelSpec::Add(Add {
            rows: add.get_rows(),
            width: add.get_width(),
        }),
        Which::AddF32(add) => KernelSpec::AddF32(Add {
            rows: add.get_rows(),
            width: add.get_width(),
        }),
        Which::LayerNorm(norm) => layer_norm(norm)?,
        Which::LayerNormMoments(moments) => KernelSpec::LayerNormMoments(LayerNormMoments {
            rows: moments.get_rows(),
            width: moments.get_width(),
            add: moments.get_add(),
        }),
        Which::LayerNormApply(apply) => KernelSpec::LayerNormApply(LayerNormApply {
            rows: apply.get_rows(),
            width: apply.get_width(),
            total_width: apply.get_total_width(),
            parts: apply.get_parts(),
            epsilon: Scalar::new(apply.get_epsilon()),
        }),
        Which::Softmax(it) => softmax(it)?,
        Which::Merge(it) => merge(it),
        Which::MergeAll(it) => merge_all(it),
        Which::Cast(it) => KernelSpec::Cast(cast(it)?),
        Which::Rearrange(it) => rearrange(it)?,
        Which::ZeroFillBytes(bytes) => KernelSpec::ZeroFill { bytes },
        Which::CopyBytes(bytes) => KernelSpec::Copy { bytes },
        Which::CopyRows(it) => copy_rows(it),
        Which::CopyWordsBytes(bytes) => KernelSpec::CopyWords { bytes },
        Which::CopyHalvesBytes(bytes) => KernelSpec::CopyHalves { bytes },
        Which::StageInterleavedBytes(bytes) => KernelSpec::StageInterleaved { bytes },
    })
}

fn product(gemm: schema::gemm::Reader<'_>) -> Read<Gemm> {
    Ok(Gemm {
        rows: gemm.get_rows(),
        inner: gemm.get_inner(),
        columns: gemm.get_columns(),
        accumulate: gemm.get_accumulate(),
        coefficients: class(gemm.get_coefficients()?),
    })
}

/// Rows, width and element type of a result.
fn pointwise(shape: schema::pointwise::Reader<'_>) -> Read<(u32, u32, Output)> {
    let (scale, packed) = (shape.get_scale(), shape.get_packed());
    let output = match (shape.get_to_f143(), scale, packed) {
        (true, scale, packed) => Output::F143 { scale, packed },
        (false, 0, false) => Output::F16,
        (false, _, _) => {
            let what = format!("an F16 result has scale {scale} and packed {packed}");
            return Err(PackageError::Malformed { what });
        }
    };
    Ok((shape.get_rows(), shape.get_width(), output))
}

fn layer_norm(norm: schema::call_template::kernel::layer_norm::Reader<'_>) -> Read<KernelSpec> {
    let (rows, width, output) = pointwise(norm.get_shape()?)?;
    Ok(KernelSpec::LayerNorm(LayerNorm {
        rows,
        width,
        add: norm.get_add(),
        epsilon: Scalar::new(norm.get_epsilon()),
        output,
    }))
}

fn softmax(it: schema::call_template::kernel::softmax::Reader<'_>) -> Read<KernelSpec> {
    let (rows, padded, output) = pointwise(it.get_shape()?)?;
    Ok(KernelSpec::Softmax(Softmax {
        rows,
        keys: it.get_keys(),
        padded,
        scale: Scalar::new(it.get_scale()),
        output,
    }))
}

fn merge(it: schema::call_template::kernel::merge::Reader<'_>) -> KernelSpec {
    KernelSpec::Merge(Merge {
        rows: it.get_rows(),
        columns: it.get_columns(),
        padded: it.get_padded(),
        first: it.get_first(),
        last: it.get_last(),
        half_output: it.get_half_output(),
    })
}

fn merge_all(it: schema::call_template::kernel::merge_all::Reader<'_>) -> KernelSpec {
    KernelSpec::MergeAll(MergeAll {
        rows: it.get_rows(),
        columns: it.get_columns(),
        padded: it.get_padded(),
        parts: it.get_parts(),
        half_output: it.get_half_output(),
    })
}

fn cast(it: schema::call_template::kernel::cast::Reader<'_>) -> Read<Cast> {
    use schema::CastKind;
    let (kind, rows, elements, scale) = (
        it.get_kind()?,
        it.get_rows(),
        it.get_count(),
        it.get_scale(),
    );
    let misfit = |what: String| Err(PackageError::Malformed { what });
    if kind != CastKind::F16ToF143Panels && rows != 1 {
        return misfit(format!("a flat cast has {rows} rows, not 1"));
    }
    if matches!(kind, CastKind::F16ToF32 | CastKind::F32ToF16) && scale != 0 {
        return misfit(format!(
            "a cast between F16 and F32 has scale {scale}, not 0"
        ));
    }
    Ok(match kind {
        CastKind::F16ToF32 => Cast::F16ToF32 { elements },
        CastKind::F32ToF16 => Cast::F32ToF16 { elements },
        CastKind::F16ToF143 => Cast::F16ToF143 { elements, scale },
        CastKind::F16ToF143Panels => Cast::F16ToF143Panels {
            rows,
            panels: elements,
            scale,
        },
        CastKind::F143ToF16 => Cast::F143ToF16 { elements, scale },
    })
}

fn rearrange(it: schema::call_template::kernel::rearrange::Reader<'_>) -> Read<KernelSpec> {
    Ok(KernelSpec::Rearrange(Rearrange {
        order: match it.get_order()? {
            schema::Order::PackLeft => Order::PackLeft,
            schema::Order::PackRight => Order::PackRight,
            schema::Order::PackTransposedRight => Order::PackTransposedRight,
            schema::Order::UnpackTransposed => Order::UnpackTransposed,
            schema::Order::UnpackLeft => Order::UnpackLeft,
            schema::Order::LeftToRight => Order::LeftToRight,
        },
        matrices: it.get_matrices(),
        rows: it.get_rows(),
        columns: it.get_columns(),
        stride: it.get_stride(),
    }))
}

fn copy_rows(it: schema::call_template::kernel::copy_rows::Reader<'_>) -> KernelSpec {
    KernelSpec::CopyRows(CopyRows {
        rows: it.get_rows(),
        bytes: it.get_bytes(),
        out_stride: it.get_out_stride(),
        source_stride: it.get_source_stride(),
    })
}

pub(super) const fn class(class: schema::MemoryClass) -> MemoryClass {
    match class {
        schema::MemoryClass::Standard => MemoryClass::Standard,
        schema::MemoryClass::Interleaved => MemoryClass::Interleaved,
    }
}
