//! Host ranges as affine bindings between tensors and SRAM.

use std::collections::BTreeMap;

use analytics::units::TileId;
use rayon::prelude::*;
use runtime::package::{AffinePattern, Binding, Fill, Tensor, TensorRole};

use crate::graph::{Value, ValueKind};
use crate::layout::boxes::{AffineBox, boxes};
use crate::program::HostRange;

use super::{Lowering, index};

/// What the host holds, and where its parts lie.
pub(super) struct Host {
    pub(super) tensors: Vec<Tensor>,
    pub(super) patterns: Vec<AffinePattern>,
    pub(super) bindings: Vec<Binding>,
    /// Bytes that the bindings write before the run.
    pub(super) written: u64,
}

pub(super) fn bindings(input: &Lowering<'_>) -> Host {
    let (graph, program) = (input.graph, input.program);
    let mut tensor_of = BTreeMap::new();
    let mut tensors = Vec::new();
    for range in &program.host {
        tensor_of.insert(range.value, 0);
    }
    for (position, (value, id)) in tensor_of.iter_mut().enumerate() {
        *id = index(position);
        tensors.push(tensor(graph.value(*value)));
    }
    let shapes: Vec<Vec<AffineBox>> = program.host.par_iter().map(shape).collect();
    let mut patterns: BTreeMap<&AffinePattern, u32> = BTreeMap::new();
    for each in shapes.iter().flatten() {
        patterns.insert(&each.pattern, 0);
    }
    for (position, id) in patterns.values_mut().enumerate() {
        *id = index(position);
    }
    let (mut bindings, mut written) = (Vec::new(), 0);
    for (range, shapes) in program.host.iter().zip(&shapes) {
        let tile = TileId::new(program.buffers[range.buffer as usize].tile);
        let buffer = &program.buffers[range.buffer as usize];
        let start = input.placement.addresses[range.buffer as usize] + range.copy * buffer.bytes;
        let tensor = tensor_of[&range.value];
        for each in shapes {
            let (address, element) = (start + each.offset, each.element);
            let pattern = patterns[&each.pattern];
            bindings.push(Binding {
                tensor,
                tile,
                address,
                element,
                pattern,
            });
            if tensors[tensor as usize].role != TensorRole::Output {
                written += each.elements() * u64::from(tensors[tensor as usize].dtype.bytes());
            }
        }
    }
    bindings.sort_unstable();
    let patterns = patterns.into_keys().cloned().collect();
    Host {
        tensors,
        patterns,
        bindings,
        written,
    }
}

fn shape(range: &HostRange) -> Vec<AffineBox> {
    boxes(&range.view, &range.block, range.units.clone())
}

fn tensor(value: &Value) -> Tensor {
    let (role, fill) = match value.kind {
        ValueKind::Input(fill) => (TensorRole::Input, fill),
        ValueKind::Parameter(fill) => (TensorRole::Parameter, fill),
        ValueKind::Result => (TensorRole::Output, Fill::Constant(0.0)),
    };
    let (name, shape) = (value.name.clone(), value.shape.clone());
    Tensor {
        name,
        dtype: value.dtype,
        shape,
        role,
        fill,
    }
}
