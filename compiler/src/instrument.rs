//! Call templates: kernel, symbol, metadata and the useful work of one call.
//!
//! Useful work counts logical elements only, so over a program the GEMM estimates add up to the
//! mathematical FLOPs whatever the grid.

use std::ops::Range;

use analytics::units::Elements;
use analytics::work::{Precision, fill, gemm, reduction};
use runtime::package::{CallTemplate, KernelSpec, MemoryClass};

use crate::layout::{Block, LANES, View, boxes::logical_elements};

/// Metadata under construction.
type Metadata = Vec<(String, String)>;

fn metadata(role: &str, shape: &str) -> Metadata {
    vec![
        ("role".to_owned(), role.to_owned()),
        ("shape".to_owned(), shape.to_owned()),
    ]
}

/// Logical extent of a padded range.
fn clipped(range: &Range<u32>, limit: u32) -> u64 {
    u64::from(range.end.min(limit).saturating_sub(range.start.min(limit)))
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

/// The template of a GEMM call; `indices` are the block's coordinates in its grid.
pub(crate) fn gemm_call(blocks: &GemmBlocks<'_>, indices: &[(&str, u32)]) -> CallTemplate {
    let (view, block) = blocks.panels;
    let (coefficient_view, coefficient_block) = blocks.coefficients;
    let (rows, columns) = (block.line_count(), coefficient_block.line_count());
    let inner = block.panel_count() * LANES;
    let depth = block.panels.start * LANES..block.panels.end * LANES;
    let logical = gemm::GemmExtent::new(
        clipped(&block.lines, view.lines),
        clipped(&depth, view.depth),
        clipped(&coefficient_block.lines, coefficient_view.lines),
    );
    let physical = gemm::GemmExtent::new(u64::from(rows), u64::from(inner), u64::from(columns));
    let class = class_name(blocks.class);
    let mut pairs = metadata("gemm", &format!("{rows}x{inner}x{columns}"));
    pairs.extend(
        indices
            .iter()
            .map(|(name, index)| ((*name).to_owned(), index.to_string())),
    );
    CallTemplate {
        kernel: KernelSpec::GemmF16 {
            rows,
            inner,
            columns,
            accumulate: blocks.accumulate,
            coefficients: blocks.class,
        },
        symbol: format!("gemm_f16_k{inner}_c{columns}_{class}"),
        metadata: pairs,
        estimate: Some(gemm::estimate(logical, physical, Precision::F16)),
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
