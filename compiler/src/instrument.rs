//! Call templates: kernel, symbol, metadata and the useful work of one call.
//!
//! Useful work counts logical elements only, so over a program the GEMM estimates add up to the
//! mathematical FLOPs whatever the grid.

use std::ops::Range;

use analytics::units::{Bytes, Elements};
use analytics::work::{Precision, add, fill, gelu, gemm, rearrange, reduction, softmax};
use runtime::package::{
    CallTemplate, CopyRows, KernelSpec, MemoryClass, Merge, MergeAll, Order, Rearrange, Softmax,
};

use crate::layout::{Block, LANES, View, boxes::logical_elements};

/// Metadata under construction.
type Metadata = Vec<(String, String)>;

fn metadata(role: &str, shape: &str) -> Metadata {
    vec![
        ("role".to_owned(), role.to_owned()),
        ("shape".to_owned(), shape.to_owned()),
    ]
}

/// The layer of the model that a call belongs to, as metadata.
pub(crate) fn layer_pair(layer: u32) -> (String, String) {
    ("layer".to_owned(), layer.to_string())
}

/// The blocks that one GEMM call multiplies, with how their values are seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GemmBlocks<'a> {
    /// Panel operand.
    pub(crate) panels: (&'a View, &'a Block),
    /// Coefficient operand.
    pub(crate) coefficients: (&'a View, &'a Block),
    /// Add to the output.
    pub(crate) accumulate: bool,
    /// Where the coefficients lie.
    pub(crate) class: MemoryClass,
}

impl GemmBlocks<'_> {
    /// The extents of the call.
    pub(crate) fn shape(&self) -> GemmShape {
        let (view, block) = self.panels;
        let (coefficient_view, coefficient_block) = self.coefficients;
        let depth = block.panels.start * LANES..block.panels.end * LANES;
        GemmShape {
            physical: [
                block.line_count(),
                block.panel_count() * LANES,
                coefficient_block.line_count(),
            ],
            logical: [
                view.line_groups.count(&block.lines, view.lines),
                view.depth_groups.count(&depth, view.depth),
                coefficient_view
                    .line_groups
                    .count(&coefficient_block.lines, coefficient_view.lines),
            ],
            accumulate: self.accumulate,
            class: self.class,
        }
    }
}

/// Rows, contraction and columns of one GEMM call, with padding and without.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GemmShape {
    /// What the kernel computes.
    pub(crate) physical: [u32; 3],
    /// What is no padding.
    pub(crate) logical: [u32; 3],
    /// Add to the output.
    pub(crate) accumulate: bool,
    /// Where the coefficients lie.
    pub(crate) class: MemoryClass,
}

/// The template of a GEMM call; `indices` say which block of its operation it is.
pub(crate) fn gemm_call(shape: &GemmShape, indices: &[(&'static str, String)]) -> CallTemplate {
    let [rows, inner, columns] = shape.physical;
    let extent = |extents: [u32; 3]| {
        gemm::GemmExtent::new(extents[0].into(), extents[1].into(), extents[2].into())
    };
    let class = class_name(shape.class);
    let mut pairs = metadata("gemm", &format!("{rows}x{inner}x{columns}"));
    let indices = indices.iter();
    pairs.extend(indices.map(|(name, index)| ((*name).to_owned(), index.clone())));
    CallTemplate {
        kernel: KernelSpec::GemmF16 {
            rows,
            inner,
            columns,
            accumulate: shape.accumulate,
            coefficients: shape.class,
        },
        symbol: format!("gemm_f16_k{inner}_c{columns}_{class}"),
        metadata: pairs,
        estimate: Some(gemm::estimate(
            extent(shape.logical),
            extent(shape.physical),
            Precision::F16,
        )),
    }
}

/// The template of the sum of `partials` copies of units `units` of a result block.
pub(crate) fn reduce_call(
    partials: u32,
    view: &View,
    block: &Block,
    units: Range<u32>,
) -> CallTemplate {
    let elements = (units.end - units.start) * LANES;
    let logical = Elements::new(logical_elements(view, block, units));
    let physical = Elements::new(u64::from(elements));
    CallTemplate {
        kernel: KernelSpec::ReduceSumF16 { partials, elements },
        symbol: format!("reduce_sum_f16_p{partials}"),
        metadata: metadata("reduce", &format!("{partials}x{elements}")),
        estimate: Some(reduction::estimate(
            u64::from(partials),
            logical,
            physical,
            Precision::F16,
        )),
    }
}

/// The template of a softmax of a block of scores.
pub(crate) fn softmax_call(spec: &Softmax) -> CallTemplate {
    let Softmax {
        rows, keys, padded, ..
    } = *spec;
    CallTemplate {
        kernel: KernelSpec::Softmax(*spec),
        symbol: format!("softmax_f16_p{padded}"),
        metadata: metadata("softmax", &format!("{rows}x{keys} of {padded}")),
        estimate: Some(softmax::estimate(rows.into(), keys.into())),
    }
}

/// The template of a merge of partial attention results; how much of it is useful is unknown.
pub(crate) fn merge_call(spec: &Merge) -> CallTemplate {
    let Merge { rows, columns, .. } = *spec;
    let step = match (spec.first, spec.last) {
        (true, true) => "only",
        (true, false) => "first",
        (false, false) => "middle",
        (false, true) => "last",
    };
    CallTemplate {
        kernel: KernelSpec::Merge(*spec),
        symbol: format!("attention_merge_{step}_v{columns}"),
        metadata: metadata("merge", &format!("{rows}x{columns}")),
        estimate: None,
    }
}

/// The template of a merge of all partial attention results at once; how much of it is useful is
/// unknown.
pub(crate) fn merge_all_call(spec: &MergeAll) -> CallTemplate {
    let MergeAll {
        rows,
        columns,
        parts,
        ..
    } = *spec;
    CallTemplate {
        kernel: KernelSpec::MergeAll(*spec),
        symbol: format!("attention_merge_all_p{parts}_v{columns}"),
        metadata: metadata("merge", &format!("{rows}x{columns}")),
        estimate: None,
    }
}

/// The template of a GeLU of a flat range, `logical` elements of which are no padding.
pub(crate) fn gelu_call(elements: u32, logical: u64) -> CallTemplate {
    let physical = Elements::new(elements.into());
    CallTemplate {
        kernel: KernelSpec::Gelu(crate::plan::gelu(elements)),
        symbol: "gelu_f16".to_owned(),
        metadata: metadata("gelu", &elements.to_string()),
        estimate: Some(gelu::estimate(Elements::new(logical), physical)),
    }
}

/// The template of a sum of two flat ranges.
pub(crate) fn add_call(elements: u32, logical: u64) -> CallTemplate {
    let physical = Elements::new(elements.into());
    let logical = Elements::new(logical);
    CallTemplate {
        kernel: KernelSpec::Add(crate::plan::add(elements)),
        symbol: "add_f16".to_owned(),
        metadata: metadata("add", &elements.to_string()),
        estimate: Some(add::estimate(logical, physical, Precision::F16)),
    }
}

/// The template of the norm of one row; how much of it is useful is unknown.
pub(crate) fn layer_norm_call(width: u32) -> CallTemplate {
    CallTemplate {
        kernel: KernelSpec::LayerNorm(crate::plan::layer_norm(width)),
        symbol: format!("layer_norm_f16_w{width}"),
        metadata: metadata("norm", &format!("1x{width}")),
        estimate: None,
    }
}

/// The template of a pack of row-major rows into panels.
pub(crate) fn pack_left_call(rows: u32, columns: u32) -> CallTemplate {
    let bytes = |columns: u32| Bytes::new(u64::from(rows) * u64::from(columns) * 2);
    CallTemplate {
        kernel: KernelSpec::Rearrange(Rearrange {
            order: Order::PackLeft,
            matrices: 1,
            rows,
            columns,
            stride: columns,
        }),
        symbol: "pack_left_f16".to_owned(),
        metadata: metadata("pack", &format!("{rows}x{columns}")),
        estimate: Some(rearrange::estimate(
            bytes(columns),
            bytes(columns.next_multiple_of(LANES)),
        )),
    }
}

/// The template of an unpack of transposed panels to row-major rows, `logical` bytes of which are
/// no padding.
pub(crate) fn unpack_call(rows: u32, columns: u32, logical: u64) -> CallTemplate {
    let physical = Bytes::new(u64::from(rows) * u64::from(columns) * 2);
    CallTemplate {
        kernel: KernelSpec::Rearrange(Rearrange {
            order: Order::UnpackTransposed,
            matrices: 1,
            rows,
            columns,
            stride: columns,
        }),
        symbol: "unpack_transposed_f16".to_owned(),
        metadata: metadata("unpack", &format!("{rows}x{columns}")),
        estimate: Some(rearrange::estimate(Bytes::new(logical), physical)),
    }
}

/// The template of a local copy by words; how much of it is useful is unknown.
pub(crate) fn copy_words_call(bytes: u32) -> CallTemplate {
    CallTemplate {
        kernel: KernelSpec::CopyWords { bytes },
        symbol: "copy_u32".to_owned(),
        metadata: vec![
            ("role".to_owned(), "copy".to_owned()),
            ("reason".to_owned(), "LocalCopy".to_owned()),
            ("bytes".to_owned(), bytes.to_string()),
        ],
        estimate: None,
    }
}

/// The template of a local copy of rows; how much of it is useful is unknown.
pub(crate) fn copy_rows_call(spec: &CopyRows) -> CallTemplate {
    let CopyRows { rows, bytes, .. } = *spec;
    CallTemplate {
        kernel: KernelSpec::CopyRows(*spec),
        symbol: "copy_rows_u64".to_owned(),
        metadata: vec![
            ("role".to_owned(), "copy".to_owned()),
            ("reason".to_owned(), "LocalCopy".to_owned()),
            ("bytes".to_owned(), (rows * bytes).to_string()),
        ],
        estimate: None,
    }
}

/// The template of a local copy; how much of it is useful is unknown.
pub(crate) fn copy_call(bytes: u32) -> CallTemplate {
    CallTemplate {
        kernel: KernelSpec::Copy { bytes },
        symbol: "copy_u64".to_owned(),
        metadata: vec![
            ("role".to_owned(), "copy".to_owned()),
            ("reason".to_owned(), "LocalCopy".to_owned()),
            ("bytes".to_owned(), bytes.to_string()),
        ],
        estimate: None,
    }
}

/// The template of a call that clears padding.
pub(crate) fn clear_call(bytes: u32) -> CallTemplate {
    CallTemplate {
        kernel: KernelSpec::ZeroFill { bytes },
        symbol: "zero_fill".to_owned(),
        metadata: vec![
            ("role".to_owned(), "clear".to_owned()),
            ("bytes".to_owned(), bytes.to_string()),
        ],
        estimate: Some(fill::padding_only()),
    }
}

/// The word for a memory class in symbols, plans and errors.
pub(crate) const fn class_name(class: MemoryClass) -> &'static str {
    match class {
        MemoryClass::Standard => "standard",
        MemoryClass::Interleaved => "interleaved",
    }
}
