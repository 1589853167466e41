//! Reference results in F32, computed without anything of the planner, the layouts or the
//! simulator: [`Graph`] → values of its outputs.
//!
//! Products and sums are F32 in contraction order. A result that feeds another operation is rounded
//! to its storage type first, as the device stores it; an output is left unrounded.

use half::f16;
use half::slice::HalfFloatSliceExt;
use rayon::prelude::*;

use runtime::host::{HostError, TensorValues, values};
use runtime::package::{Tensor, TensorRole};

use super::product::product;
use super::{
    AttentionExtents, GemmExtents, Graph, Operation, OperationKind, Scale, Value, ValueId,
};

/// Values of one output.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The output.
    pub value: ValueId,
    /// Its values, row-major.
    pub values: Vec<f32>,
}

/// Why the reference could not be evaluated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReferenceError {
    /// The host values of a tensor could not be made.
    #[error("value {name}: {source}")]
    Host {
        /// The tensor.
        name: String,
        /// What the host reported.
        source: HostError,
    },
}

/// Evaluates all outputs in graph order.
///
/// # Errors
/// Host values that cannot be made.
pub fn evaluate(graph: &Graph) -> Result<Vec<Reference>, ReferenceError> {
    let mut known: Vec<Option<Vec<f32>>> = vec![None; graph.values().len()];
    let mut references = Vec::new();
    for operation in graph.operations() {
        for input in &operation.inputs {
            if known[input.index()].is_none() {
                known[input.index()] = Some(host_values(graph.value(*input))?);
            }
        }
        let inputs = operation.inputs.iter();
        let inputs: Vec<&[f32]> = inputs
            .map(|input| known[input.index()].as_deref().unwrap_or(&[]))
            .collect();
        let result = result(graph, operation, &inputs);
        let feeds_another = graph
            .operations()
            .iter()
            .any(|other| other.inputs.contains(&operation.output));
        if feeds_another {
            known[operation.output.index()] = Some(stored(&result));
        }
        if graph.outputs().contains(&operation.output) {
            references.push(Reference {
                value: operation.output,
                values: result,
            });
        }
    }
    references.sort_by_key(|reference| reference.value);
    Ok(references)
}

/// The unrounded result of one operation.
fn result(graph: &Graph, operation: &Operation, inputs: &[&[f32]]) -> Vec<f32> {
    match operation.kind {
        OperationKind::Gemm => {
            let extents = graph.gemm_extents(operation);
            let mut out = product(extents, inputs[0], inputs[1]);
            if let Some(bias) = inputs.get(2) {
                add_to_rows(&mut out, bias);
            }
            out
        }
        OperationKind::Gelu => inputs[0].iter().map(|&x| gelu(x)).collect(),
        OperationKind::Add => {
            let pairs = inputs[0].iter().zip(inputs[1]);
            pairs.map(|(one, other)| one + other).collect()
        }
        OperationKind::LayerNorm => layer_norm(inputs[0], inputs[1], inputs[2]),
        OperationKind::SplitHeads { heads } => {
            let shape = &graph.value(operation.inputs[0]).shape;
            let [_, tokens, width] = [0, 1, 2].map(|axis| size(shape[axis]));
            let heads = size(heads);
            swap_middle(inputs[0], [tokens, heads, width / heads])
        }
        OperationKind::MergeHeads { heads } => {
            let shape = &graph.value(operation.inputs[0]).shape;
            let [_, tokens, width] = [0, 1, 2].map(|axis| size(shape[axis]));
            swap_middle(inputs[0], [size(heads), tokens, width])
        }
        OperationKind::Attention { scale } => {
            let extents = graph.attention_extents(operation);
            let scale = scale.map_or_else(|| extents.default_scale(), Scale::get);
            attention(extents, scale, [inputs[0], inputs[1], inputs[2]])
        }
    }
}

fn size(extent: u64) -> usize {
    usize::try_from(extent).unwrap_or(usize::MAX)
}

fn add_to_rows(values: &mut [f32], bias: &[f32]) {
    values.par_chunks_mut(bias.len()).for_each(|row| {
        for (value, bias) in row.iter_mut().zip(bias) {
            *value += bias;
        }
    });
}

/// The tanh form, in F32.
fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + (0.797_884_6 * (x + 0.044_715 * x * x * x)).tanh())
}

/// Variance that is added before the root, the model's own.
const EPSILON: f32 = 1e-6;

fn layer_norm(x: &[f32], gain: &[f32], bias: &[f32]) -> Vec<f32> {
    let mut out = x.to_vec();
    out.par_chunks_mut(gain.len()).for_each(|row| {
        let count = row.iter().map(|_| 1.0_f32).sum::<f32>();
        let mean = row.iter().sum::<f32>() / count;
        let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / count;
        let factor = 1.0 / (variance + EPSILON).sqrt();
        for (x, (gain, bias)) in row.iter_mut().zip(gain.iter().zip(bias)) {
            *x = (*x - mean) * factor * gain + bias;
        }
    });
    out
}

/// [.., A, B, C] → [.., B, A, C].
fn swap_middle(x: &[f32], [a, b, c]: [usize; 3]) -> Vec<f32> {
    let mut out = Vec::with_capacity(x.len());
    for outer in x.chunks(a * b * c) {
        for second in 0..b {
            for first in 0..a {
                out.extend_from_slice(&outer[(first * b + second) * c..][..c]);
            }
        }
    }
    out
}

/// One stream after another; products and softmax in F32.
fn attention(extents: AttentionExtents, scale: f32, [q, k, v]: [&[f32]; 3]) -> Vec<f32> {
    let AttentionExtents {
        queries,
        keys,
        width,
        ..
    } = extents;
    let scores = GemmExtents {
        rows: queries,
        inner: width,
        columns: keys,
    };
    let sums = GemmExtents {
        rows: queries,
        inner: keys,
        columns: width,
    };
    let (query_stream, key_stream) = (size(queries * width), size(keys * width));
    let mut out = Vec::with_capacity(q.len());
    for (q, (k, v)) in q
        .chunks(query_stream)
        .zip(k.chunks(key_stream).zip(v.chunks(key_stream)))
    {
        let transposed = swap_middle(k, [size(keys), size(width), 1]);
        let mut weights = product(scores, q, &transposed);
        weights
            .par_chunks_mut(size(keys))
            .for_each(|row| softmax(row, scale));
        out.extend(product(sums, &weights, v));
    }
    out
}

fn softmax(row: &mut [f32], scale: f32) {
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for x in row.iter_mut() {
        *x = ((*x - largest) * scale).exp();
        sum += *x;
    }
    for x in row {
        *x /= sum;
    }
}

fn host_values(value: &Value) -> Result<Vec<f32>, ReferenceError> {
    let Some(fill) = value.fill() else {
        return Ok(Vec::new());
    };
    let tensor = Tensor {
        name: value.name.clone(),
        dtype: value.dtype,
        shape: value.shape.clone(),
        role: TensorRole::Input,
        fill,
    };
    match values(&tensor) {
        Ok(TensorValues::F16(halves)) => Ok(widened(&halves)),
        Ok(TensorValues::F32(floats)) => Ok(floats),
        Ok(TensorValues::F143(_)) => Ok(Vec::new()),
        Err(source) => Err(ReferenceError::Host {
            name: value.name.clone(),
            source,
        }),
    }
}

fn widened(halves: &[f16]) -> Vec<f32> {
    let mut floats = vec![0.0; halves.len()];
    halves.convert_to_f32_slice(&mut floats);
    floats
}

/// The values as a device that stores F16 hands them on.
fn stored(values: &[f32]) -> Vec<f32> {
    values
        .iter()
        .map(|&value| f16::from_f32(value).to_f32())
        .collect()
}
