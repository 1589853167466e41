//! The named workloads: graph, host data and the tolerance that their outputs are checked with.

use runtime::package::{DType, Fill};

use super::check::Tolerance;
use super::{Graph, GraphError, ValueId, ValueKind};

/// Seed of the Gaussian workloads, combined with the position of each value.
const DATA_SEED: u64 = 0x4449_4147_4e4f_5354;

/// Names of the workloads, each with one line for help texts.
pub const WORKLOADS: [(&str, &str); 4] = [
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
    /// Rows of `gemm-projections`, `--mlp-tokens`.
    pub tokens: u64,
    /// Width of `gemm-projections`, `--mlp-dim`.
    pub width: u64,
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
        }
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
