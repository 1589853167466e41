//! Kernel calls to their wire form.

use analytics::memory::package_capnp as schema;

use super::kernel::{
    Cast, Gemm, KernelSpec, LayerNorm, MemoryClass, Merge, MergeAll, Order, Output, Rearrange,
    Softmax,
};

type Kernel<'a> = schema::call_template::kernel::Builder<'a>;

pub(super) fn kernel(mut out: Kernel<'_>, spec: &KernelSpec) {
    match *spec {
        KernelSpec::GemmF16 {
            rows,
            inner,
            columns,
            accumulate,
            coefficients,
        } => {
            let mut gemm = out.init_gemm_f16();
            gemm.set_rows(rows);
            gemm.set_inner(inner);
            gemm.set_columns(columns);
            gemm.set_accumulate(accumulate);
            gemm.set_coefficients(class(coefficients));
        }
        KernelSpec::GemmPackedF16(gemm) => product(out.init_gemm_packed_f16(), gemm),
        KernelSpec::GemmF143 { gemm, scale } => {
            let mut slot = out.init_gemm_f143();
            slot.set_scale(scale);
            product(slot.init_gemm(), gemm);
        }
        KernelSpec::GemmF32(gemm) => product(out.init_gemm_f32(), gemm),
        KernelSpec::ReduceSumF16 { partials, elements } => {
            let mut reduce = out.init_reduce_sum_f16();
            reduce.set_partials(partials);
            reduce.set_elements(elements);
        }
        KernelSpec::Gelu(it) => pointwise(out.init_gelu(), it.rows, it.width, it.output),
        KernelSpec::BiasGelu(it) => pointwise(out.init_bias_gelu(), it.rows, it.width, it.output),
        KernelSpec::Add(it) => {
            let mut add = out.init_add();
            add.set_rows(it.rows);
            add.set_width(it.width);
        }
        KernelSpec::AddF32(it) => {
            let mut add = out.init_add_f32();
            add.set_rows(it.rows);
            add.set_width(it.width);
        }
        KernelSpec::LayerNorm(_)
        | KernelSpec::LayerNormMoments(_)
        | KernelSpec::LayerNormApply(_) => norm(out, spec),
        KernelSpec::Softmax(it) => softmax(out.init_softmax(), it),
        KernelSpec::Merge(it) => merge(out.init_merge(), it),
        KernelSpec::MergeAll(it) => merge_all(out.init_merge_all(), it),
        KernelSpec::Cast(it) => cast(out.init_cast(), it),
        KernelSpec::Rearrange(it) => rearrange(out.init_rearrange(), it),
        KernelSpec::ZeroFill { bytes } => out.set_zero_fill_bytes(bytes),
        KernelSpec::Copy { bytes } => out.set_copy_bytes(bytes),
        KernelSpec::CopyRows(it) => {
            let mut copy = out.init_copy_rows();
            copy.set_rows(it.rows);
            copy.set_bytes(it.bytes);
            copy.set_out_stride(it.out_stride);
            copy.set_source_stride(it.source_stride);
        }
        KernelSpec::CopyWords { bytes } => out.set_copy_words_bytes(bytes),
        KernelSpec::CopyHalves { bytes } => out.set_copy_halves_bytes(bytes),
        KernelSpec::StageInterleaved { bytes } => out.set_stage_interleaved_bytes(bytes),
    }
}

fn product(mut out: schema::gemm::Builder<'_>, gemm: Gemm) {
    out.set_rows(gemm.rows);
    out.set_inner(gemm.inner);
    out.set_columns(gemm.columns);
    out.set_accumulate(gemm.accumulate);
    out.set_coefficients(class(gemm.coefficients));
}

fn pointwise(mut out: schema::pointwise::Builder<'_>, rows: u32, width: u32, output: Output) {
    out.set_rows(rows);
    out.set_width(width);
    if let Output::F143 { scale, packed } = output {
        out.set_to_f143(true);
        out.set_scale(scale);
        out.set_packed(packed);
    }
}

/// The three layer norm kernels.
fn norm(out: Kernel<'_>, spec: &KernelSpec) {
    match *spec {
        KernelSpec::LayerNorm(LayerNorm {
            rows,
            width,
            add,
            epsilon,
            output,
        }) => {
            let mut norm = out.init_layer_norm();
            norm.set_add(add);
            norm.set_epsilon(epsilon.get());
            pointwise(norm.init_shape(), rows, width, output);
        }
        KernelSpec::LayerNormMoments(it) => {
            let mut moments = out.init_layer_norm_moments();
            moments.set_rows(it.rows);
            moments.set_width(it.width);
            moments.set_add(it.add);
        }
        KernelSpec::LayerNormApply(it) => {
            let mut apply = out.init_layer_norm_apply();
            apply.set_rows(it.rows);
            apply.set_width(it.width);
            apply.set_total_width(it.total_width);
            apply.set_parts(it.parts);
            apply.set_epsilon(it.epsilon.get());
        }
        _ => unreachable!("{spec:?} is no layer norm"),
    }
}

fn softmax(mut out: schema::call_template::kernel::softmax::Builder<'_>, it: Softmax) {
    out.set_keys(it.keys);
    out.set_scale(it.scale.get());
    pointwise(out.init_shape(), it.rows, it.padded, it.output);
}

fn merge(mut out: schema::call_template::kernel::merge::Builder<'_>, it: Merge) {
    out.set_rows(it.rows);
    out.set_columns(it.columns);
    out.set_padded(it.padded);
    out.set_first(it.first);
    out.set_last(it.last);
    out.set_half_output(it.half_output);
}

fn merge_all(mut out: schema::call_template::kernel::merge_all::Builder<'_>, it: MergeAll) {
    out.set_rows(it.rows);
    out.set_columns(it.columns);
    out.set_padded(it.padded);
    out.set_parts(it.parts);
    out.set_half_output(it.half_output);
}

fn cast(mut out: schema::call_template::kernel::cast::Builder<'_>, cast: Cast) {
    use schema::CastKind;
    let (kind, rows, count, scale) = match cast {
        Cast::F16ToF32 { elements } => (CastKind::F16ToF32, 1, elements, 0),
        Cast::F32ToF16 { elements } => (CastKind::F32ToF16, 1, elements, 0),
        Cast::F16ToF143 { elements, scale } => (CastKind::F16ToF143, 1, elements, scale),
        Cast::F16ToF143Panels {
            rows,
            panels,
            scale,
        } => (CastKind::F16ToF143Panels, rows, panels, scale),
        Cast::F143ToF16 { elements, scale } => (CastKind::F143ToF16, 1, elements, scale),
    };
    out.set_kind(kind);
    out.set_rows(rows);
    out.set_count(count);
    out.set_scale(scale);
}

fn rearrange(mut out: schema::call_template::kernel::rearrange::Builder<'_>, it: Rearrange) {
    out.set_order(match it.order {
        Order::PackLeft => schema::Order::PackLeft,
        Order::PackRight => schema::Order::PackRight,
        Order::PackTransposedRight => schema::Order::PackTransposedRight,
        Order::UnpackTransposed => schema::Order::UnpackTransposed,
        Order::UnpackLeft => schema::Order::UnpackLeft,
        Order::LeftToRight => schema::Order::LeftToRight,
    });
    out.set_matrices(it.matrices);
    out.set_rows(it.rows);
    out.set_columns(it.columns);
    out.set_stride(it.stride);
}

pub(super) const fn class(class: MemoryClass) -> schema::MemoryClass {
    match class {
        MemoryClass::Standard => schema::MemoryClass::Standard,
        MemoryClass::Interleaved => schema::MemoryClass::Interleaved,
    }
}
