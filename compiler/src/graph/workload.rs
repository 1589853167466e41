//! The named workloads: graph, host data and the tolerance that their outputs are checked with.

use runtime::package::{DType, Fill};

use crate::options::OperandPolicy;

use super::check::Tolerance;
use super::siglip::{self, DATA_SEED};
use super::{Graph, GraphError, ValueId, ValueKind};

/// Names of the workloads, each with one line for help texts.
pub const WORKLOADS: [(&str, &str); 10] = [
    (
        "gemm-smoke",
        "left[1,tiles,64] x right[1,64,64*tiles], one-hot rows, checked exactly",
    ),
    (
        "batched-gemm-smoke",
        "the same with batch 3; needs at most about 1,000 tiles",
    ),
    (
        "gemm-benchmark",
        "[131072,64] x [64,64] of constants; rows, inner, columns are flags",
    ),
    (
        "gemm-projections",
        "x[729,1152] times Wq, Wk, Wv [1152,1152], Gaussian: the demo",
    ),
    (
        "mlp-smoke",
        "x[1,tiles,64] through two 64x64 products with GeLU",
    ),
    ("attention-smoke", "4 heads, 17 queries, 19 keys, width 72"),
    (
        "attention-constant-smoke",
        "siglip-attention-benchmark of constants: uniform softmax",
    ),
    (
        "siglip-mlp-benchmark",
        "x[4,729,1152] -> 4304 -> GeLU -> 1152; batch, tokens, dims, blocks are flags",
    ),
    (
        "siglip-attention-benchmark",
        "x[1,729,1152]: Q, K, V projections and attention of 16 heads, width 72",
    ),
    (
        "siglip-block",
        "norms, biased projections, attention, residual adds and MLP",
    ),
];

/// Extents that flags may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkloadExtents {
    /// Tiles in use; the smoke workloads grow with them.
    pub tiles: u16,
    /// Rows of `gemm-benchmark`, `--benchmark-rows`.
    pub rows: u64,
    /// Contraction of `gemm-benchmark`, `--benchmark-inner`; a multiple of 64.
    pub inner: u64,
    /// Columns of `gemm-benchmark`, `--benchmark-columns`; a multiple of 16.
    pub columns: u64,
    /// Tokens of the SigLIP workloads, `--mlp-tokens`.
    pub tokens: u64,
    /// Width of the SigLIP workloads, `--mlp-dim`.
    pub width: u64,
    /// Hidden width of the MLP, `--mlp-hidden-dim`.
    pub hidden: u64,
    /// Batch of `siglip-mlp-benchmark`, `--mlp-batch`.
    pub batch: u64,
    /// Blocks of `siglip-mlp-benchmark` one after another, `--mlp-blocks`.
    pub blocks: u64,
    /// Batch of the attention workloads, `--attention-batch`.
    pub attention_batch: u64,
    /// Heads of the attention workloads, `--attention-heads`.
    pub heads: u64,
}

impl WorkloadExtents {
    /// The published extents on so many tiles.
    #[must_use]
    pub const fn published(tiles: u16) -> Self {
        Self {
            tiles,
            rows: 131_072,
            inner: 64,
            columns: 64,
            tokens: 729,
            width: 1152,
            hidden: 4304,
            batch: 4,
            blocks: 1,
            attention_batch: 1,
            heads: 16,
        }
    }
}

/// The hidden width of an MLP of this width where none is given: 4304 for the published 1152, else
/// four times the width.
#[must_use]
pub const fn hidden_width(width: Option<u64>) -> u64 {
    match width {
        None | Some(1152) => 4304,
        Some(width) => 4 * width,
    }
}

/// How the operands of a workload arrive unless a flag says otherwise. One block of a SigLIP
/// workload at batch 1 is a single inference, whose upload is not in device cycles; batches and
/// blocks in a row pay for what moves, so their operands are uploaded once and exchanged.
#[must_use]
pub fn default_operands(workload: &str, extents: &WorkloadExtents) -> OperandPolicy {
    let is_single = match workload {
        "siglip-mlp-benchmark" => extents.batch == 1 && extents.blocks == 1,
        "siglip-attention-benchmark" | "siglip-block" => extents.attention_batch == 1,
        _ => false,
    };
    if is_single {
        OperandPolicy::Replicated
    } else {
        OperandPolicy::Sharded
    }
}

/// A graph with the check of its outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// One of [`WORKLOADS`].
    pub name: String,
    /// What to compute.
    pub graph: Graph,
    /// How far an output element may be from the reference.
    pub tolerance: Tolerance,
    /// Plan constraints that fix the layouts, in the text form.
    pub constraints: Vec<String>,
}

/// Why a workload cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// No workload has this name.
    #[error("unknown workload {name}; known are {known}")]
    Unknown {
        /// The name given.
        name: String,
        /// The known names.
        known: String,
    },
    /// An extent that the workload does not take.
    #[error("workload {name}: {problem}")]
    Extent {
        /// The workload.
        name: &'static str,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// The extents make a graph that breaks a rule of the IR.
    #[error(transparent)]
    Graph(#[from] GraphError),
}

/// Builds a workload.
///
/// # Errors
/// An unknown name, or extents that the workload does not take.
pub fn workload(name: &str, extents: &WorkloadExtents) -> Result<Workload, WorkloadError> {
    match name {
        "gemm-smoke" => smoke("gemm-smoke", 1, extents),
        "batched-gemm-smoke" => smoke("batched-gemm-smoke", 3, extents),
        "gemm-benchmark" => benchmark(extents),
        "gemm-projections" => projections(extents),
        "mlp-smoke" => siglip::mlp_smoke(extents),
        "attention-smoke" => siglip::attention_smoke(),
        "attention-constant-smoke" => siglip::attention_constant(extents),
        "siglip-mlp-benchmark" => siglip::mlp(extents),
        "siglip-attention-benchmark" => siglip::attention(extents),
        "siglip-block" => siglip::block(extents),
        _ => {
            let known: Vec<&str> = WORKLOADS.iter().map(|(name, _)| *name).collect();
            let (name, known) = (name.to_owned(), known.join(", "));
            Err(WorkloadError::Unknown { name, known })
        }
    }
}

/// The layouts of the smoke workloads are fixed: every tile owns 64 columns and sees all rows, so
/// the left operand is spread over all tiles and multicast to all.
fn smoke(
    name: &'static str,
    batch: u64,
    extents: &WorkloadExtents,
) -> Result<Workload, WorkloadError> {
    let tiles = u64::from(extents.tiles);
    if tiles == 0 {
        return Err(WorkloadError::Extent {
            name,
            problem: "needs at least one tile".to_owned(),
        });
    }
    let mut graph = Graph::default();
    let left = ValueKind::Input(Fill::OneHot { batch_step: 7 });
    let left = graph.add_host("left", DType::F16, &[batch, tiles, 64], left)?;
    let right = ValueKind::Input(Fill::Cycle { row_step: 3 });
    let right = graph.add_host("right", DType::F16, &[1, 64, 64 * tiles], right)?;
    let product = graph.add_gemm("product", left, right)?;
    graph.label(product, "gemm", "");
    graph.add_output(product)?;
    let constraint = format!("0:1x{tiles}x1:1x1:64:interleaved:normal:complete:match-remote");
    Ok(Workload {
        name: name.to_owned(),
        graph,
        tolerance: Tolerance::Exact,
        constraints: vec![constraint],
    })
}

fn benchmark(extents: &WorkloadExtents) -> Result<Workload, WorkloadError> {
    let WorkloadExtents {
        rows,
        inner,
        columns,
        ..
    } = *extents;
    let name = "gemm-benchmark";
    if rows == 0 || inner == 0 || !inner.is_multiple_of(64) {
        let problem = format!("rows {rows} and inner {inner} must be positive, inner in 64s");
        return Err(WorkloadError::Extent { name, problem });
    }
    if columns == 0 || !columns.is_multiple_of(16) {
        let problem = format!("columns {columns} must be a positive multiple of 16");
        return Err(WorkloadError::Extent { name, problem });
    }
    let mut graph = Graph::default();
    let one = ValueKind::Input(Fill::Constant(1.0));
    let left = graph.add_host("left", DType::F16, &[rows, inner], one)?;
    let quarter = ValueKind::Parameter(Fill::Constant(0.25));
    let right = graph.add_host("right", DType::F16, &[inner, columns], quarter)?;
    let product = graph.add_gemm("product", left, right)?;
    graph.label(product, "gemm", "");
    graph.add_output(product)?;
    let tolerance = Tolerance::Mixed {
        absolute: 0.01,
        relative: 0.002,
    };
    Ok(Workload {
        name: name.to_owned(),
        graph,
        tolerance,
        constraints: Vec::new(),
    })
}

fn projections(extents: &WorkloadExtents) -> Result<Workload, WorkloadError> {
    let WorkloadExtents { tokens, width, .. } = *extents;
    let mut graph = Graph::default();
    let x = ValueKind::Input(Fill::Gaussian {
        seed: DATA_SEED,
        sigma: 1.0,
    });
    let x = graph.add_host("x", DType::F16, &[tokens, width], x)?;
    let letters = ["q", "k", "v"];
    let mut weights = Vec::new();
    for (index, letter) in (1_u64..).zip(letters) {
        weights.push(projection_weights(
            &mut graph,
            letter,
            width,
            DATA_SEED ^ (index << 56),
        )?);
    }
    for (letter, weights) in letters.into_iter().zip(weights) {
        let product = graph.add_gemm(letter, x, weights)?;
        graph.label(product, &format!("projection.{letter}"), "projections");
        graph.add_output(product)?;
    }
    let tolerance = Tolerance::GAUSSIAN;
    let name = "gemm-projections".to_owned();
    Ok(Workload {
        name,
        graph,
        tolerance,
        constraints: Vec::new(),
    })
}

/// Weights with standard deviation 1/√fan-in, so that results have the input's.
#[expect(clippy::cast_precision_loss, reason = "a width is far below 2^24")]
fn projection_weights(
    graph: &mut Graph,
    letter: &str,
    width: u64,
    seed: u64,
) -> Result<ValueId, GraphError> {
    let sigma = 1.0 / (width as f32).sqrt();
    let kind = ValueKind::Parameter(Fill::Gaussian { seed, sigma });
    graph.add_host(&format!("w{letter}"), DType::F16, &[width, width], kind)
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::*;

    #[test]
    fn every_listed_workload_exists_and_survives_its_text_form() {
        for (name, _) in WORKLOADS {
            let workload = workload(name, &WorkloadExtents::published(64)).unwrap();
            let text = workload.graph.to_string();
            assert_eq!(parse(&text).unwrap(), workload.graph, "{text}");
        }
    }

    #[test]
    fn projections_have_the_published_flops() {
        let workload = workload("gemm-projections", &WorkloadExtents::published(1472)).unwrap();
        assert_eq!(workload.graph.flops(), 5_804_752_896);
    }

    #[test]
    fn mlp_and_attention_have_the_published_flops() {
        let one = WorkloadExtents {
            batch: 1,
            ..WorkloadExtents::published(1472)
        };
        let flops = |name, extents| workload(name, extents).unwrap().graph.flops();
        assert_eq!(flops("siglip-mlp-benchmark", &one), 14_458_134_528);
        let four = WorkloadExtents::published(1472);
        assert_eq!(flops("siglip-mlp-benchmark", &four), 57_832_538_112);
        assert_eq!(flops("siglip-attention-benchmark", &four), 8_253_633_024);
    }

    #[test]
    fn only_a_single_inference_has_its_operands_replicated_for_nothing() {
        use OperandPolicy::{Replicated, Sharded};
        let one = WorkloadExtents {
            batch: 1,
            ..WorkloadExtents::published(1472)
        };
        let blocks = WorkloadExtents { blocks: 4, ..one };
        let batch = WorkloadExtents {
            attention_batch: 2,
            ..one
        };
        for (name, extents, expected) in [
            ("siglip-mlp-benchmark", one, Replicated),
            ("siglip-mlp-benchmark", blocks, Sharded),
            (
                "siglip-mlp-benchmark",
                WorkloadExtents::published(1472),
                Sharded,
            ),
            ("siglip-attention-benchmark", one, Replicated),
            ("siglip-attention-benchmark", batch, Sharded),
            ("siglip-block", one, Replicated),
            ("siglip-block", batch, Sharded),
            ("gemm-benchmark", one, Sharded),
        ] {
            assert_eq!(default_operands(name, &extents), expected, "{name}");
        }
    }

    #[test]
    fn unknown_names_and_extents_are_refused() {
        let extents = WorkloadExtents {
            inner: 65,
            ..WorkloadExtents::published(8)
        };
        let error = workload("gemm-benchmark", &extents)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("inner 65 must be positive, inner in 64s"),
            "{error}"
        );
        let error = workload("gemm", &extents).unwrap_err().to_string();
        assert!(
            error.starts_with("unknown workload gemm; known are gemm-smoke,"),
            "{error}"
        );
    }
}
