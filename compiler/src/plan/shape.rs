//! How the consumers of a value want it: heads padded one by one, and units along rows or columns.

use crate::graph::{Graph, Operation, OperationKind, ValueId};
use crate::layout::{Groups, LineAxis};

use super::PlanError;

/// An extent that a tile address can reach.
pub(super) fn fitting(extent: u64, operation: &str) -> Result<u32, PlanError> {
    let fits = u32::try_from(extent)
        .ok()
        .filter(|&extent| extent <= 1 << 30);
    fits.ok_or_else(|| PlanError::NoPlan {
        operation: operation.to_owned(),
        problem: format!("extent {extent} is above the limit of 2^30"),
    })
}

/// How projections lay heads out for the attention that follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HeadLayout {
    /// Each head is padded to whole panels, queries and keys have units along a head.
    #[default]
    Padded,
    /// Heads follow each other without padding and units run along tokens: row-major copies are
    /// unpacked and gathered.
    Packed,
}

/// What an attention asks of the projection that feeds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Heads {
    /// Heads that the columns are split into.
    heads: Option<u32>,
    /// Tokens of a batch entry, where each entry's keys are padded.
    tokens: Option<u32>,
}

impl Heads {
    pub(super) fn of(graph: &Graph, operation: &Operation, layout: HeadLayout) -> Self {
        let mut found = Self::default();
        if layout == HeadLayout::Packed {
            return found;
        }
        for split in consumers(graph, operation.output) {
            let OperationKind::SplitHeads { heads } = split.kind else {
                continue;
            };
            found.heads = u32::try_from(heads).ok();
            let tokens = graph.value(split.output).shape[1];
            let keys = |use_: &&Operation| use_.inputs[1..].contains(&split.output);
            if consumers(graph, split.output).any(|each| keys(&each)) {
                found.tokens = u32::try_from(tokens).ok();
            }
        }
        found
    }

    /// Rows: each batch entry's keys are padded to 16, so that coefficients are whole groups.
    pub(super) fn row_groups(self, rows: u32) -> Groups {
        self.tokens.map_or_else(|| Groups::whole(rows), Groups::of)
    }

    /// Columns: each head is padded to 16.
    pub(super) fn column_groups(self, columns: u32) -> Groups {
        match self.heads {
            Some(heads) => Groups::of(columns / heads),
            None => Groups::whole(columns),
        }
    }

    /// Depth of a left operand: merged heads stay padded one by one.
    pub(super) fn depth_groups(graph: &Graph, left: ValueId, depth: u32) -> Groups {
        let producer = graph.producer(left).map(|index| &graph.operations()[index]);
        match producer.map(|producer| producer.kind) {
            Some(OperationKind::MergeHeads { heads }) => {
                Groups::of(depth / u32::try_from(heads).unwrap_or(1))
            }
            _ => Groups::whole(depth),
        }
    }
}

/// The operations that read a value.
pub(crate) fn consumers(graph: &Graph, value: ValueId) -> impl Iterator<Item = &Operation> {
    let reads = move |operation: &&Operation| operation.inputs.contains(&value);
    graph.operations().iter().filter(reads)
}

/// Whether consumers read units along rows and along columns. What starts or ends a repeated block
/// is read as its next run reads it.
pub(crate) fn wanted_axes(graph: &Graph, value: ValueId, heads: HeadLayout) -> [bool; 2] {
    wanted(graph, value, heads, Next::Run)
}

/// Whether readers in the next run of a repeated block count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Run,
    None,
}

fn wanted(graph: &Graph, value: ValueId, heads: HeadLayout, next: Next) -> [bool; 2] {
    let mut wanted = [false; 2];
    if next == Next::Run
        && let Some(carried) = graph.carried(value)
        && carried.argument != value
    {
        wanted = self::wanted(graph, carried.argument, heads, Next::None);
    }
    for operation in consumers(graph, value) {
        for (position, _) in operation
            .inputs
            .iter()
            .enumerate()
            .filter(|(_, input)| **input == value)
        {
            let more = match (operation.kind, position) {
                (OperationKind::Gemm, 0) | (OperationKind::LayerNorm, 0) => [true, false],
                (OperationKind::Gemm, 1) | (OperationKind::Attention { .. }, 2) => [false, true],
                (OperationKind::Attention { .. }, _) => {
                    let packed = heads == HeadLayout::Packed;
                    [!packed, packed]
                }
                (OperationKind::Add, _) => [true, false],
                (OperationKind::Gemm | OperationKind::LayerNorm, _) => [false, false],
                (
                    OperationKind::Gelu
                    | OperationKind::SplitHeads { .. }
                    | OperationKind::MergeHeads { .. },
                    _,
                ) => self::wanted(graph, operation.output, heads, next),
            };
            wanted = [wanted[0] || more[0], wanted[1] || more[1]];
        }
    }
    wanted
}

/// The axis of the units of a value that is read along one axis only.
pub(crate) fn axis(wanted: [bool; 2]) -> LineAxis {
    match wanted {
        [false, true] => LineAxis::Columns,
        _ => LineAxis::Rows,
    }
}
