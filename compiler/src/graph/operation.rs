//! Operations: what each computes, which operands it takes, the shape of its result.

use runtime::package::DType;

use super::{Graph, GraphError, Value, ValueId, ValueKind};

/// A finite factor of attention scores, kept by its bits so that operations can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scale(u32);

impl Scale {
    /// A scale; `None` unless it is finite and positive.
    #[must_use]
    pub fn new(scale: f32) -> Option<Self> {
        (scale.is_finite() && scale > 0.0).then_some(Self(scale.to_bits()))
    }

    /// The factor.
    #[must_use]
    pub const fn get(self) -> f32 {
        f32::from_bits(self.0)
    }
}

/// What an operation computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperationKind {
    /// left[.., M, K] · right[1.., K, N], plus bias[N] where there is a third operand: the right
    /// operand is shared by all leading indices.
    Gemm,
    /// ½x(1 + tanh(√(2/π)(x + 0.044715x³))), element by element.
    Gelu,
    /// Sum of two tensors of one shape.
    Add,
    /// (x − mean) / √(variance + 1e-6) · gain + bias over the last axis; gain and bias are its
    /// length.
    LayerNorm,
    /// x[B, T, h·d] as [B·h, T, d].
    SplitHeads {
        /// Heads h.
        heads: u64,
    },
    /// x[B·h, T, d] as [B, T, h·d].
    MergeHeads {
        /// Heads h.
        heads: u64,
    },
    /// softmax(scale · q·kᵀ)·v for q[S, T, d], k[S, U, d], v[S, U, d], without a mask.
    Attention {
        /// Factor of the scores; `None` is 1/√d.
        scale: Option<Scale>,
    },
}

impl OperationKind {
    /// The name in the text form.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gemm => "gemm",
            Self::Gelu => "gelu",
            Self::Add => "add",
            Self::LayerNorm => "layer_norm",
            Self::SplitHeads { .. } => "split_heads",
            Self::MergeHeads { .. } => "merge_heads",
            Self::Attention { .. } => "attention",
        }
    }

    /// Least and most operands.
    #[must_use]
    pub const fn arity(self) -> (usize, usize) {
        match self {
            Self::Gelu | Self::SplitHeads { .. } | Self::MergeHeads { .. } => (1, 1),
            Self::Gemm => (2, 3),
            Self::Add => (2, 2),
            Self::LayerNorm | Self::Attention { .. } => (3, 3),
        }
    }

    /// Whether it only renames elements.
    #[must_use]
    pub const fn is_view(self) -> bool {
        matches!(self, Self::SplitHeads { .. } | Self::MergeHeads { .. })
    }
}

/// An operation of the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// Name shown in profiles, such as `projection.q`.
    pub name: String,
    /// Region label for coarse profiles; empty without one.
    pub region: String,
    /// What it computes.
    pub kind: OperationKind,
    /// Operands in order.
    pub inputs: Vec<ValueId>,
    /// The value it defines.
    pub output: ValueId,
}

impl Operation {
    /// Layer of the model: the first part of the name between dots that is a number, as in
    /// `mlp.3.up`; 0 without one.
    #[must_use]
    pub fn layer(&self) -> u32 {
        let mut parts = self.name.split('.');
        parts.find_map(|part| part.parse().ok()).unwrap_or(0)
    }
}

/// Extents of a GEMM with leading axes folded into the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GemmExtents {
    /// Rows M of the left operand and of the result.
    pub rows: u64,
    /// Contraction extent K.
    pub inner: u64,
    /// Columns N of the right operand and of the result.
    pub columns: u64,
}

impl GemmExtents {
    /// Logical floating-point operations: two for each multiply-add.
    #[must_use]
    pub const fn flops(&self) -> u64 {
        2 * self.rows * self.inner * self.columns
    }
}

/// Extents of an attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionExtents {
    /// Independent streams S: batch entries times heads.
    pub streams: u64,
    /// Queries T of a stream.
    pub queries: u64,
    /// Keys U of a stream.
    pub keys: u64,
    /// Width d of queries, keys and values.
    pub width: u64,
}

impl AttentionExtents {
    /// Logical floating-point operations of q·kᵀ and of the product with v; the softmax between
    /// them counts none.
    #[must_use]
    pub const fn flops(&self) -> u64 {
        4 * self.streams * self.queries * self.keys * self.width
    }

    /// The factor of the scores where the graph gives none: 1/√d.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a head is narrower than 2^24")]
    pub fn default_scale(&self) -> f32 {
        1.0 / (self.width as f32).sqrt()
    }
}

impl Graph {
    /// Adds an operation whose F16 result is called `result`. All operands are F16.
    ///
    /// # Errors
    /// [`GraphError::Operands`] where number, ranks, extents or types do not fit, and those of the
    /// result.
    pub fn add_operation(
        &mut self,
        result: &str,
        kind: OperationKind,
        inputs: &[ValueId],
    ) -> Result<ValueId, GraphError> {
        let operands: Vec<&Value> = inputs.iter().map(|&input| self.value(input)).collect();
        let shape = result_shape(kind, &operands).map_err(|problem| GraphError::Operands {
            name: result.to_owned(),
            problem,
        })?;
        let output = self.add_value(Value {
            name: result.to_owned(),
            dtype: DType::F16,
            shape,
            kind: ValueKind::Result,
        })?;
        self.operations.push(Operation {
            name: result.to_owned(),
            region: String::new(),
            kind,
            inputs: inputs.to_vec(),
            output,
        });
        Ok(output)
    }

    /// Adds a GEMM without bias; see [`Self::add_operation`].
    ///
    /// # Errors
    /// Those of [`Self::add_operation`].
    pub fn add_gemm(
        &mut self,
        result: &str,
        left: ValueId,
        right: ValueId,
    ) -> Result<ValueId, GraphError> {
        self.add_operation(result, OperationKind::Gemm, &[left, right])
    }

    /// Folded extents of a GEMM.
    #[must_use]
    pub fn gemm_extents(&self, operation: &Operation) -> GemmExtents {
        let (rows, inner) = self.value(operation.inputs[0]).matrix();
        let (_, columns) = self.value(operation.inputs[1]).matrix();
        GemmExtents {
            rows,
            inner,
            columns,
        }
    }

    /// Extents of an attention.
    #[must_use]
    pub fn attention_extents(&self, operation: &Operation) -> AttentionExtents {
        let (queries, keys) = (&self.value(operation.inputs[0]).shape, operation.inputs[1]);
        AttentionExtents {
            streams: queries[0],
            queries: queries[1],
            keys: self.value(keys).shape[1],
            width: queries[2],
        }
    }

    /// Logical floating-point operations of the products of the whole graph.
    #[must_use]
    pub fn flops(&self) -> u64 {
        let flops = |operation: &Operation| match operation.kind {
            OperationKind::Gemm => self.gemm_extents(operation).flops(),
            OperationKind::Attention { .. } => self.attention_extents(operation).flops(),
            OperationKind::Gelu
            | OperationKind::Add
            | OperationKind::LayerNorm
            | OperationKind::SplitHeads { .. }
            | OperationKind::MergeHeads { .. } => 0,
        };
        self.operations.iter().map(flops).sum()
    }
}

/// Shape of a result, or what does not fit.
fn result_shape(kind: OperationKind, operands: &[&Value]) -> Result<Vec<u64>, String> {
    let (least, most) = kind.arity();
    if !(least..=most).contains(&operands.len()) {
        let (name, found) = (kind.name(), operands.len());
        return Err(format!(
            "{name} takes {least} to {most} operands, found {found}"
        ));
    }
    for value in operands {
        if value.dtype != DType::F16 {
            let (name, dtype) = (&value.name, value.dtype.name());
            return Err(format!(
                "operand {name} is {dtype}; {} takes f16",
                kind.name()
            ));
        }
    }
    let shapes: Vec<&[u64]> = operands
        .iter()
        .map(|value| value.shape.as_slice())
        .collect();
    match kind {
        OperationKind::Gemm => gemm_shape(&shapes),
        OperationKind::Gelu => Ok(shapes[0].to_vec()),
        OperationKind::Add if shapes[0] == shapes[1] => Ok(shapes[0].to_vec()),
        OperationKind::Add => {
            let (left, right) = (shapes[0], shapes[1]);
            Err(format!(
                "shapes {left:?} and {right:?} differ; add takes equal ones"
            ))
        }
        OperationKind::LayerNorm => layer_norm_shape(&shapes),
        OperationKind::SplitHeads { heads } => split_shape(shapes[0], heads),
        OperationKind::MergeHeads { heads } => merge_shape(shapes[0], heads),
        OperationKind::Attention { .. } => attention_shape(&shapes),
    }
}

fn gemm_shape(shapes: &[&[u64]]) -> Result<Vec<u64>, String> {
    let (l, r) = (shapes[0], shapes[1]);
    if l.len() < 2 || r.len() < 2 || r.len() > l.len() {
        return Err(format!(
            "left {l:?} and right {r:?} need two axes, right no more than left"
        ));
    }
    let (inner, depth) = (l[l.len() - 1], r[r.len() - 2]);
    if inner != depth {
        return Err(format!(
            "contraction of left {l:?} ({inner}) and right {r:?} ({depth}) differ"
        ));
    }
    if r[..r.len() - 2].iter().any(|&extent| extent != 1) {
        return Err(format!(
            "leading axes of right {r:?} must be 1: weights are shared"
        ));
    }
    let columns = r[r.len() - 1];
    if let Some(bias) = shapes.get(2).filter(|&&bias| bias != [columns]) {
        return Err(format!("bias {bias:?} must be [{columns}]"));
    }
    let mut shape = l[..l.len() - 1].to_vec();
    shape.push(columns);
    Ok(shape)
}

fn layer_norm_shape(shapes: &[&[u64]]) -> Result<Vec<u64>, String> {
    let width = shapes[0][shapes[0].len() - 1];
    for (name, shape) in [("gain", shapes[1]), ("bias", shapes[2])] {
        if shape != [width] {
            return Err(format!("{name} {shape:?} must be [{width}], the last axis"));
        }
    }
    Ok(shapes[0].to_vec())
}

fn split_shape(shape: &[u64], heads: u64) -> Result<Vec<u64>, String> {
    match *shape {
        [batch, tokens, width] if heads > 0 && width.is_multiple_of(heads) => {
            Ok(vec![batch * heads, tokens, width / heads])
        }
        _ => Err(format!(
            "{shape:?} needs three axes, the last one in {heads} equal heads"
        )),
    }
}

fn merge_shape(shape: &[u64], heads: u64) -> Result<Vec<u64>, String> {
    match *shape {
        [streams, tokens, width] if heads > 0 && streams.is_multiple_of(heads) => {
            Ok(vec![streams / heads, tokens, width * heads])
        }
        _ => Err(format!(
            "{shape:?} needs three axes, the first one a multiple of {heads} heads"
        )),
    }
}

fn attention_shape(shapes: &[&[u64]]) -> Result<Vec<u64>, String> {
    let (q, k, v) = (shapes[0], shapes[1], shapes[2]);
    let fits = q.len() == 3 && k == v && k.len() == 3 && q[0] == k[0] && q[2] == k[2];
    if fits {
        return Ok(q.to_vec());
    }
    Err(format!(
        "q {q:?}, k {k:?}, v {v:?} must be [S, T, d], [S, U, d] and [S, U, d]"
    ))
}
