//! The workloads of a SigLIP-So400m layer: MLP, attention and the whole block, of any size.

use runtime::package::{DType, Fill};

use super::check::Tolerance;
use super::operation::OperationKind;
use super::workload::{Workload, WorkloadError, WorkloadExtents};
use super::{Graph, GraphError, ValueId, ValueKind};

/// Seed of the Gaussian workloads, combined with the position of each value.
pub(super) const DATA_SEED: u64 = 0x4449_4147_4e4f_5354;

/// A graph under construction whose Gaussian values get one seed each.
pub(super) struct Model {
    pub(super) graph: Graph,
    seeds: u64,
}

impl Model {
    pub(super) fn new() -> Self {
        Self {
            graph: Graph::default(),
            seeds: 0,
        }
    }

    fn gaussian(&mut self, sigma: f32) -> Fill {
        let seed = DATA_SEED ^ (self.seeds << 56);
        self.seeds += 1;
        Fill::Gaussian { seed, sigma }
    }

    pub(super) fn input(
        &mut self,
        name: &str,
        shape: &[u64],
        sigma: f32,
    ) -> Result<ValueId, GraphError> {
        let kind = ValueKind::Input(self.gaussian(sigma));
        self.graph.add_host(name, DType::F16, shape, kind)
    }

    pub(super) fn parameter(
        &mut self,
        name: &str,
        shape: &[u64],
        sigma: f32,
    ) -> Result<ValueId, GraphError> {
        let kind = ValueKind::Parameter(self.gaussian(sigma));
        self.graph.add_host(name, DType::F16, shape, kind)
    }

    /// Adds an operation under its name in profiles.
    fn operation(
        &mut self,
        (result, name, region): (&str, &str, &str),
        kind: OperationKind,
        inputs: &[ValueId],
    ) -> Result<ValueId, GraphError> {
        let value = self.graph.add_operation(result, kind, inputs)?;
        self.graph.label(value, name, region);
        Ok(value)
    }
}

/// 1/√width, the standard deviation that keeps that of the operand.
#[expect(clippy::cast_precision_loss, reason = "a width is far below 2^24")]
fn fan_in(width: u64) -> f32 {
    1.0 / (width as f32).sqrt()
}

fn suffix(block: u64, blocks: u64) -> String {
    if blocks == 1 {
        String::new()
    } else {
        format!(".{block}")
    }
}

/// x·Wup → GeLU → ·Wdown, without biases, one after another for each block.
pub(super) fn mlp(extents: &WorkloadExtents) -> Result<Workload, WorkloadError> {
    let name = "siglip-mlp-benchmark";
    let WorkloadExtents {
        batch,
        tokens,
        width,
        hidden,
        blocks,
        ..
    } = *extents;
    positive(name, &[batch, tokens, width, hidden, blocks])?;
    let mut model = Model::new();
    let mut x = model.input("x", &[batch, tokens, width], 0.25)?;
    for block in 0..blocks {
        let at = suffix(block, blocks);
        let up = format!("w_up{at}");
        let up = model.parameter(&up, &[1, width, hidden], fan_in(width))?;
        let down = format!("w_down{at}");
        let down = model.parameter(&down, &[1, hidden, width], fan_in(hidden))?;
        x = mlp_block(&mut model, (x, &at, "mlp"), (up, None), (down, None))?;
    }
    finish(name, model, &[x], Tolerance::GAUSSIAN)
}

/// The three operations of an MLP.
fn mlp_block(
    model: &mut Model,
    (x, at, region): (ValueId, &str, &str),
    up: (ValueId, Option<ValueId>),
    down: (ValueId, Option<ValueId>),
) -> Result<ValueId, GraphError> {
    let mut inputs = vec![x, up.0];
    inputs.extend(up.1);
    let labels = (format!("hidden{at}"), format!("mlp{at}.up"));
    let hidden = model.operation((&labels.0, &labels.1, region), OperationKind::Gemm, &inputs)?;
    let labels = (format!("active{at}"), format!("mlp{at}.gelu"));
    let active = model.operation(
        (&labels.0, &labels.1, region),
        OperationKind::Gelu,
        &[hidden],
    )?;
    let mut inputs = vec![active, down.0];
    inputs.extend(down.1);
    let labels = (format!("y{at}"), format!("mlp{at}.down"));
    model.operation((&labels.0, &labels.1, region), OperationKind::Gemm, &inputs)
}

/// GEMM 64×64 → GeLU → GEMM → GeLU on as many rows as tiles.
pub(super) fn mlp_smoke(extents: &WorkloadExtents) -> Result<Workload, WorkloadError> {
    let tiles = u64::from(extents.tiles);
    positive("mlp-smoke", &[tiles])?;
    let mut model = Model::new();
    let mut x = model.input("x", &[1, tiles, 64], 0.5)?;
    for (layer, name) in [("first", "up"), ("second", "down")] {
        let weights = model.parameter(&format!("w_{layer}"), &[1, 64, 64], 0.125)?;
        let labels = (format!("product_{layer}"), format!("mlp.{name}"));
        let product = (labels.0.as_str(), labels.1.as_str(), "");
        let product = model.operation(product, OperationKind::Gemm, &[x, weights])?;
        let labels = (format!("active_{layer}"), format!("mlp.{name}.gelu"));
        let active = (labels.0.as_str(), labels.1.as_str(), "");
        x = model.operation(active, OperationKind::Gelu, &[product])?;
    }
    let tolerance = Tolerance::Mixed {
        absolute: 0.02,
        relative: 0.0,
    };
    finish("mlp-smoke", model, &[x], tolerance)
}

/// attention(q, k, v) of four heads, 17 queries, 19 keys, width 72.
pub(super) fn attention_smoke() -> Result<Workload, WorkloadError> {
    let mut graph = Graph::default();
    let mut host = |name: &str, tokens: u64, seed: u64| {
        let sigma = 0.25;
        let kind = ValueKind::Input(Fill::Gaussian { seed, sigma });
        graph.add_host(name, DType::F16, &[4, tokens, 72], kind)
    };
    // The seeds are the letters attn_q, attn_k and attn_v.
    let q = host("q", 17, 0x6174_746e_5f71)?;
    let k = host("k", 19, 0x6174_746e_5f6b)?;
    let v = host("v", 19, 0x6174_746e_5f76)?;
    let kind = OperationKind::Attention { scale: None };
    let y = graph.add_operation("y", kind, &[q, k, v])?;
    graph.label(y, "attention", "");
    graph.add_output(y)?;
    Ok(Workload {
        name: "attention-smoke".to_owned(),
        graph,
        tolerance: Tolerance::WithRms {
            absolute: 0.012,
            relative: 0.0,
            rms_absolute: 0.003,
            rms_relative: 0.0,
        },
        constraints: Vec::new(),
    })
}

/// Standard deviation of queries and keys: scaled scores then have 2, so that a softmax weighs
/// about a dozen keys. With 2 instead of √2, rounding products to F16 every 16 terms, as the
/// machine does, alone moves 0.1 % of the elements of a plain emulation past the tolerance below;
/// with √2, none.
const SHARPNESS: f32 = std::f32::consts::SQRT_2;

/// The tolerance of attention on Gaussian data.
const ATTENTION: Tolerance = Tolerance::WithRms {
    absolute: 0.01,
    relative: 0.02,
    rms_absolute: 0.0,
    rms_relative: 0.01,
};

/// Q, K, V projections without bias, heads, attention; no output projection.
pub(super) fn attention(extents: &WorkloadExtents) -> Result<Workload, WorkloadError> {
    let name = "siglip-attention-benchmark";
    let WorkloadExtents {
        attention_batch,
        tokens,
        width,
        heads,
        ..
    } = *extents;
    positive(name, &[attention_batch, tokens, width, heads])?;
    let mut model = Model::new();
    let x = model.input("x", &[attention_batch, tokens, width], 1.0)?;
    let sigma = fan_in(width);
    let sharp = SHARPNESS * sigma;
    let sigmas = [sharp, sharp, sigma];
    let mut weights = Vec::new();
    for (letter, sigma) in ["q", "k", "v"].into_iter().zip(sigmas) {
        let name = format!("w{letter}");
        weights.push((model.parameter(&name, &[1, width, width], sigma)?, None));
    }
    let y = heads_block(&mut model, x, &weights, heads)?;
    finish(name, model, &[y], ATTENTION)
}

/// Projections, split heads and attention: [B·h, T, d].
fn heads_block(
    model: &mut Model,
    x: ValueId,
    weights: &[(ValueId, Option<ValueId>)],
    heads: u64,
) -> Result<ValueId, GraphError> {
    let letters = ["q", "k", "v"];
    let mut projected = Vec::new();
    for (letter, &(weights, bias)) in letters.into_iter().zip(weights) {
        let mut inputs = vec![x, weights];
        inputs.extend(bias);
        let label = format!("projection.{letter}");
        projected.push(model.operation(
            (letter, &label, "projections"),
            OperationKind::Gemm,
            &inputs,
        )?);
    }
    let mut split = Vec::new();
    for (letter, value) in letters.into_iter().zip(projected) {
        let kind = OperationKind::SplitHeads { heads };
        let labels = (format!("{letter}_heads"), format!("heads.{letter}"));
        split.push(model.operation((&labels.0, &labels.1, "attention"), kind, &[value])?);
    }
    let kind = OperationKind::Attention { scale: None };
    model.operation(("attended", "attention", "attention"), kind, &split)
}

/// The constant form: every softmax is uniform, so it only shows that data flows at all.
pub(super) fn attention_constant(extents: &WorkloadExtents) -> Result<Workload, WorkloadError> {
    let Workload { mut graph, .. } = attention(extents)?;
    for value in &mut graph.values {
        let weight = fan_in(extents.width) * fan_in(extents.width);
        match &mut value.kind {
            ValueKind::Input(fill) => *fill = Fill::Constant(1.0),
            ValueKind::Parameter(fill) => *fill = Fill::Constant(weight),
            ValueKind::Result => {}
        }
    }
    Ok(Workload {
        name: "attention-constant-smoke".to_owned(),
        graph,
        tolerance: Tolerance::Mixed {
            absolute: 0.02,
            relative: 0.0,
        },
        constraints: Vec::new(),
    })
}

/// A whole encoder block: norms, biased projections, attention, residual adds and MLP.
pub(super) fn block(extents: &WorkloadExtents) -> Result<Workload, WorkloadError> {
    let name = "siglip-block";
    let WorkloadExtents {
        attention_batch,
        tokens,
        width,
        hidden,
        heads,
        ..
    } = *extents;
    positive(name, &[attention_batch, tokens, width, hidden, heads])?;
    let mut model = Model::new();
    let x = model.input("x", &[attention_batch, tokens, width], 1.0)?;
    let normed = norm(&mut model, x, "norm1", width)?;
    let mut weights = Vec::new();
    for (letter, factor) in [("q", SHARPNESS), ("k", SHARPNESS), ("v", 1.0)] {
        let weight = (factor * fan_in(width), [1, width, width]);
        let matrix = model.parameter(&format!("w{letter}"), &weight.1, weight.0)?;
        let bias = model.parameter(&format!("b{letter}"), &[width], 0.1)?;
        weights.push((matrix, Some(bias)));
    }
    let attended = heads_block(&mut model, normed, &weights, heads)?;
    let kind = OperationKind::MergeHeads { heads };
    let merged = model.operation(("merged", "heads.merge", "attention"), kind, &[attended])?;
    let wo = model.parameter("wo", &[1, width, width], fan_in(width))?;
    let bo = model.parameter("bo", &[width], 0.1)?;
    let labels = ("projected", "projection.out", "attention");
    let projected = model.operation(labels, OperationKind::Gemm, &[merged, wo, bo])?;
    let labels = ("middle", "residual1", "residual");
    let middle = model.operation(labels, OperationKind::Add, &[x, projected])?;
    let normed = norm(&mut model, middle, "norm2", width)?;
    let up = model.parameter("w_up", &[1, width, hidden], fan_in(width))?;
    let up_bias = model.parameter("b_up", &[hidden], 0.1)?;
    let down = model.parameter("w_down", &[1, hidden, width], fan_in(hidden))?;
    let down_bias = model.parameter("b_down", &[width], 0.1)?;
    let (up, down) = ((up, Some(up_bias)), (down, Some(down_bias)));
    let out = mlp_block(&mut model, (normed, "", "mlp"), up, down)?;
    let labels = ("out", "residual2", "residual");
    let out = model.operation(labels, OperationKind::Add, &[middle, out])?;
    finish(name, model, &[out], Tolerance::GAUSSIAN)
}

fn norm(model: &mut Model, x: ValueId, name: &str, width: u64) -> Result<ValueId, GraphError> {
    let gain = model.parameter(&format!("{name}_gain"), &[width], 1.0)?;
    let bias = model.parameter(&format!("{name}_bias"), &[width], 0.1)?;
    let result = format!("{name}_out");
    let kind = OperationKind::LayerNorm;
    model.operation((&result, name, name), kind, &[x, gain, bias])
}

fn positive(name: &'static str, extents: &[u64]) -> Result<(), WorkloadError> {
    if extents.contains(&0) {
        let problem = format!("extents {extents:?} must all be at least 1");
        return Err(WorkloadError::Extent { name, problem });
    }
    Ok(())
}

fn finish(
    name: &str,
    model: Model,
    outputs: &[ValueId],
    tolerance: Tolerance,
) -> Result<Workload, WorkloadError> {
    let mut graph = model.graph;
    for &output in outputs {
        graph.add_output(output)?;
    }
    Ok(Workload {
        name: name.to_owned(),
        graph,
        tolerance,
        constraints: Vec::new(),
    })
}
