//! Attention spread over the tiles: each stream (a head of a batch entry) has a grid of query
//! blocks × key blocks. A tile multiplies its rectangle, takes its softmax and multiplies with its
//! values; the partial results of a query block are then merged by rows.

use analytics::units::Cycles;
use runtime::kernels::{Generation, cycles};
use runtime::package::{
    CopyRows, KernelSpec, MERGE_PARTS_MAX, MemoryClass, Merge, MergeAll, Output, Scalar, Softmax,
};

use crate::graph::{Graph, Operation, OperationKind, Scale, ValueId};
use crate::layout::{Groups, LANES, LineAxis, UNIT_BYTES, View};
use crate::options::{AttentionProducts, AttentionStrategy, Options, PredictedCycles};

use super::candidate::{Lack, Memory, endpoint, phase_overhead};
use super::family::{AttentionPlan, Family};
use super::pick::Pick;
use super::rank::remedy;
use super::shape::fitting;
use super::{OperationPlan, PlanError, products, shared_rows};

/// One of q, k and v, and where each stream of it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Streams {
    pub(crate) value: ValueId,
    pub(crate) view: View,
    /// Streams of a batch entry.
    pub(crate) heads: u32,
    /// Lines and panels from a batch entry to the next, and from a head to the next.
    batch_step: (u32, u32),
    head_step: (u32, u32),
}

impl Streams {
    /// First line and first panel of a stream.
    pub(crate) const fn origin(&self, stream: u32) -> (u32, u32) {
        let (batch, head) = (stream / self.heads, stream % self.heads);
        (
            batch * self.batch_step.0 + head * self.head_step.0,
            batch * self.batch_step.1 + head * self.head_step.1,
        )
    }
}

/// An attention as the tiles see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AttentionProblem {
    pub(crate) streams: u32,
    pub(crate) queries: u32,
    pub(crate) keys: u32,
    pub(crate) width: u32,
    pub(crate) scale: Scalar,
    pub(crate) q: Streams,
    pub(crate) k: Streams,
    pub(crate) v: Streams,
}

impl AttentionProblem {
    pub(crate) fn new(graph: &Graph, operation: &Operation) -> Result<Self, PlanError> {
        let extents = graph.attention_extents(operation);
        let fit = |extent: u64| fitting(extent, &operation.name);
        let OperationKind::Attention { scale } = operation.kind else {
            unreachable!("the operation is an attention");
        };
        let scale = scale.map_or_else(|| extents.default_scale(), Scale::get);
        let source = |position: usize, axis| streams(graph, operation, position, axis);
        Ok(Self {
            streams: fit(extents.streams)?,
            queries: fit(extents.queries)?,
            keys: fit(extents.keys)?,
            width: fit(extents.width)?,
            scale: Scalar::new(scale),
            q: source(0, LineAxis::Rows)?,
            k: source(1, LineAxis::Rows)?,
            v: source(2, LineAxis::Columns)?,
        })
    }

    /// Groups of 16 keys of a stream.
    pub(crate) const fn key_groups(&self) -> u32 {
        self.keys.div_ceil(LANES)
    }

    /// Panels of a head.
    pub(crate) const fn panels(&self) -> u32 {
        self.width.div_ceil(LANES)
    }

    /// Grids of query blocks × key blocks on that many tiles of a stream, without those whose
    /// longest blocks would be as short if there were fewer.
    pub(super) fn even_grids(&self, available: u32) -> Vec<[u32; 2]> {
        let even = |extent: u32, parts: u32| extent.div_ceil(extent.div_ceil(parts)) == parts;
        let mut grids = Vec::new();
        for queries in (1..=self.queries.min(available)).filter(|&it| even(self.queries, it)) {
            let most = self.key_groups().min(available / queries);
            let keys = (1..=most).filter(|&it| even(self.key_groups(), it));
            grids.extend(keys.map(|keys| [queries, keys]));
        }
        grids
    }
}

/// Where the streams of an operand lie in the value that holds them.
fn streams(
    graph: &Graph,
    operation: &Operation,
    position: usize,
    axis: LineAxis,
) -> Result<Streams, PlanError> {
    let input = operation.inputs[position];
    let producer = graph
        .producer(input)
        .map(|index| &graph.operations()[index]);
    let (value, heads) = match producer.map(|producer| (producer.kind, producer.inputs[0])) {
        Some((OperationKind::SplitHeads { heads }, root)) => (root, heads),
        _ => (input, 1),
    };
    let heads = fitting(heads, &operation.name)?;
    let shape = &graph.value(value).shape;
    let (rows, columns) = graph.value(value).matrix();
    let tokens = fitting(shape[shape.len() - 2], &operation.name)?;
    let rows = fitting(rows, &operation.name)?;
    let columns = fitting(columns, &operation.name)?;
    let row_groups = if position == 0 {
        Groups::whole(rows)
    } else {
        Groups::of(tokens)
    };
    let column_groups = Groups::of(columns / heads);
    let view = View::grouped((rows, row_groups), (columns, column_groups), axis);
    let batch = if position == 0 {
        tokens
    } else {
        row_groups.padded
    };
    let (batch_step, head_step) = match axis {
        LineAxis::Rows => ((batch, 0), (0, column_groups.padded / LANES)),
        LineAxis::Columns => ((0, batch / LANES), (column_groups.padded, 0)),
    };
    Ok(Streams {
        value,
        view,
        heads,
        batch_step,
        head_step,
    })
}

/// Extents of the fullest tile.
#[derive(Clone, Copy, Debug)]
struct Rectangle {
    rows: u32,
    groups: u32,
    panels: u32,
    merged_rows: u32,
}

impl Rectangle {
    fn new(problem: &AttentionProblem, plan: &AttentionPlan) -> Self {
        let rows = problem.queries.div_ceil(plan.queries);
        Self {
            rows,
            groups: problem.key_groups().div_ceil(plan.keys),
            panels: problem.panels(),
            merged_rows: rows.div_ceil(plan.keys),
        }
    }
}

/// Feasible plans, cheapest first, with how many were tried.
///
/// # Errors
/// [`PlanError::NoPlan`] where none fits.
pub(super) fn rank(
    graph: &Graph,
    options: &Options,
    index: usize,
) -> Result<(Vec<Pick>, usize), PlanError> {
    let operation = &graph.operations()[index];
    let problem = AttentionProblem::new(graph, operation)?;
    let tiles = u32::from(options.tiles);
    if options.attention != AttentionStrategy::Auto {
        check_products(operation, options)?;
        let batches = problem.streams / problem.q.heads;
        if batches > 1 && !problem.keys.is_multiple_of(LANES) {
            return Err(PlanError::NoPlan {
                operation: operation.name.clone(),
                problem: format!(
                    "{} needs keys in 16s for a batch of {batches}, found {}; use auto",
                    options.attention.name(),
                    problem.keys
                ),
            });
        }
        let pick = shared_rows::pick(&problem, options, index);
        return pick
            .map(|pick| (vec![pick], 1))
            .map_err(|lack| refusal(operation, &problem, options, lack));
    }
    let families: &[Family] = if options.allow_assumed_kernels {
        &[Family::Split, Family::SplitOnePass]
    } else {
        &[Family::Split]
    };
    let products::Found {
        mut picks,
        mut lacking,
        mut tried,
    } = products::picks(&problem, options, index);
    let grids = if options.products == AttentionProducts::Auto {
        problem.even_grids(tiles / problem.streams.max(1))
    } else {
        Vec::new()
    };
    for [queries, keys] in grids {
        for &family in families {
            if family == Family::SplitOnePass && !(2..=MERGE_PARTS_MAX).contains(&keys) {
                continue;
            }
            tried += 1;
            let plan = AttentionPlan::of_one_grid(index, family, [queries, keys]);
            let memory = memory(&problem, &plan);
            match memory.check() {
                Ok(()) => picks.push(price(&problem, &plan, options.kernel_generation, &memory)),
                Err(lack) => lacking = lacking.into_iter().chain([lack]).min(),
            }
        }
    }
    if picks.is_empty() {
        return Err(refusal(operation, &problem, options, lacking));
    }
    picks.sort_by_key(|pick| (pick.predicted.total(), pick.plan.to_string()));
    Ok((picks, tried))
}

/// The published plans share rows in both products.
fn check_products(operation: &Operation, options: &Options) -> Result<(), PlanError> {
    use AttentionProducts::{Auto, SharedRows};
    if matches!(options.products, Auto | SharedRows) {
        return Ok(());
    }
    let (strategy, products) = (options.attention.name(), options.products.name());
    Err(PlanError::NoPlan {
        operation: operation.name.clone(),
        problem: format!("{strategy} shares rows in both products, not {products}; use auto"),
    })
}

fn refusal(
    operation: &Operation,
    problem: &AttentionProblem,
    options: &Options,
    lacking: Option<Lack>,
) -> PlanError {
    let (tiles, remedy) = (options.tiles, remedy(options));
    let problem = match lacking {
        Some(lack) => format!("tile 0, the fullest, has no room for {}", lack.what),
        None => format!(
            "its {} streams need a tile each, the device has {tiles}; {remedy}",
            problem.streams
        ),
    };
    refusal_of(operation, problem)
}

/// No plan leaves the memory free that the caller or other operations ask for.
pub(super) fn over_budget(
    graph: &Graph,
    options: &Options,
    index: usize,
    ranked: &[Pick],
) -> PlanError {
    let operation = &graph.operations()[index];
    let leanest = ranked.iter().min_by_key(|pick| pick.bytes);
    let plan = leanest.and_then(|pick| match pick.plan {
        OperationPlan::Attention(plan) => Some(plan),
        _ => None,
    });
    let problem = AttentionProblem::new(graph, operation);
    let (Some(plan), Ok(problem)) = (plan, problem) else {
        return refusal_of(operation, "no plan fits the memory".to_owned());
    };
    let memory = match plan.family {
        Family::Split | Family::SplitOnePass => memory(&problem, &plan),
        Family::Products => products::memory(&problem, &plan),
        Family::Flash | Family::Materialized => shared_rows::memory(&problem, &plan),
    };
    let [standard, interleaved] = memory.fullest_by_class();
    let budget = options.limits.tile_bytes.unwrap_or(0);
    let count = ranked.len();
    let problem = format!(
        "tile 0, the fullest, needs {standard} bytes of standard and {interleaved} of interleaved \
         memory for {plan}, the leanest of {count} plans; with what other operations keep there \
         that exceeds the budget of {budget} bytes"
    );
    refusal_of(operation, problem)
}

fn refusal_of(operation: &Operation, problem: String) -> PlanError {
    PlanError::NoPlan {
        operation: operation.name.clone(),
        problem,
    }
}

fn price(
    problem: &AttentionProblem,
    plan: &AttentionPlan,
    generation: Generation,
    memory: &Memory,
) -> Pick {
    let at = Rectangle::new(problem, plan);
    let gemm = |inner, columns| {
        let gemm = KernelSpec::GemmF16 {
            rows: at.rows,
            inner,
            columns,
            accumulate: false,
            coefficients: MemoryClass::Interleaved,
        };
        cycles(&gemm, generation)
    };
    let (padded, width) = (at.groups * LANES, at.panels * LANES);
    let operands = at.rows * at.panels + 2 * padded * at.panels;
    let messages = at.panels * at.rows.div_ceil(RUN_LINES) + 2 * at.groups * at.panels;
    let predicted = PredictedCycles {
        operands: endpoint(operands, messages) + phase_overhead(),
        gemm: gemm(width, padded) + gemm(padded, width),
        partials: partial_cycles(plan, &at, generation),
        reduce: Cycles::ZERO,
        pointwise: softmax_cycles(problem, plan, &at, generation)
            + merge_cycles(problem, plan, &at, generation),
    };
    Pick::new(OperationPlan::Attention(*plan), predicted, memory)
}

/// Lines that a run of a projection's result has on average.
const RUN_LINES: u32 = 32;

fn partial_cycles(plan: &AttentionPlan, at: &Rectangle, generation: Generation) -> Cycles {
    if plan.keys == 1 {
        return Cycles::ZERO;
    }
    let others = plan.keys - 1;
    let units = others * at.merged_rows * (at.panels + 1);
    let copy = KernelSpec::CopyRows(own_copy(at.merged_rows, at.panels, at.rows));
    endpoint(units, others * (at.panels + 1)) + phase_overhead() + cycles(&copy, generation)
}

/// The copy of a tile's own partial result: its rows of each panel.
pub(crate) const fn own_copy(merged_rows: u32, panels: u32, rows: u32) -> CopyRows {
    CopyRows {
        rows: panels,
        bytes: merged_rows * UNIT_BYTES,
        out_stride: merged_rows * UNIT_BYTES,
        source_stride: rows * UNIT_BYTES,
    }
}

/// The slowest softmax: of a full block, or of the last one with its masked keys.
fn softmax_cycles(
    problem: &AttentionProblem,
    plan: &AttentionPlan,
    at: &Rectangle,
    generation: Generation,
) -> Cycles {
    let block = |key: u32| {
        let groups = crate::layout::split(problem.key_groups(), plan.keys, key);
        let keys = problem.keys.min(groups.end * LANES) - groups.start * LANES;
        let padded = (groups.end - groups.start) * LANES;
        let softmax = softmax(problem, at.rows, keys, padded);
        cycles(&KernelSpec::Softmax(softmax), generation)
    };
    block(0).max(block(plan.keys - 1))
}

/// The softmax of a block of scores.
pub(crate) const fn softmax(
    problem: &AttentionProblem,
    rows: u32,
    keys: u32,
    padded: u32,
) -> Softmax {
    Softmax {
        rows,
        keys,
        padded,
        scale: problem.scale,
        output: Output::F16,
    }
}

/// The merge of the `part`-th of `parts` partial results.
pub(crate) const fn merge(
    problem: &AttentionProblem,
    rows: u32,
    (part, parts): (u32, u32),
) -> Merge {
    Merge {
        rows,
        columns: problem.width,
        padded: problem.panels() * LANES,
        first: part == 0,
        last: part + 1 == parts,
        half_output: part + 1 == parts,
    }
}

/// The merge of all partial results at once.
pub(crate) const fn merge_all(problem: &AttentionProblem, rows: u32, parts: u32) -> MergeAll {
    MergeAll {
        rows,
        columns: problem.width,
        padded: problem.panels() * LANES,
        parts,
        half_output: true,
    }
}

fn merge_cycles(
    problem: &AttentionProblem,
    plan: &AttentionPlan,
    at: &Rectangle,
    generation: Generation,
) -> Cycles {
    if plan.family == Family::SplitOnePass {
        let merge = merge_all(problem, at.merged_rows, plan.keys);
        return cycles(&KernelSpec::MergeAll(merge), generation);
    }
    let one = |part| {
        let merge = merge(problem, at.merged_rows, (part, plan.keys));
        cycles(&KernelSpec::Merge(merge), generation)
    };
    (0..plan.keys).map(one).sum()
}

/// The requests of the fullest tile in the order of its steps: 1 operands arrive, 2 scores,
/// 3 softmax, 4 product with the values, 5 copy, 6 partial results arrive, 7 merge, 8 later.
fn memory(problem: &AttentionProblem, plan: &AttentionPlan) -> Memory {
    let at = Rectangle::new(problem, plan);
    let (standard, interleaved) = (MemoryClass::Standard, MemoryClass::Interleaved);
    let mut memory = Memory::default();
    let padded = at.groups * LANES;
    let q = memory.add("queries", at.rows * at.panels, standard, (1, 2));
    memory.add("keys", padded * at.panels, interleaved, (1, 2));
    memory.add("values", padded * at.panels, interleaved, (1, 4));
    let scores = memory.add("scores", at.rows * (at.groups + 1), interleaved, (2, 7));
    let sums = memory.add("weighted values", at.rows * at.panels, interleaved, (4, 6));
    memory.keep_apart(q, scores);
    memory.keep_apart(scores, sums);
    let rows = at.merged_rows;
    let partial = plan.keys * rows * (at.panels + 1);
    memory.add("partial results", partial, standard, (5, 7));
    let state = (rows * (problem.width + 2) * 4).div_ceil(UNIT_BYTES);
    memory.add("merge state", state, standard, (7, 7));
    let out = (rows * problem.width * 2).div_ceil(UNIT_BYTES);
    memory.add("result rows", out, standard, (7, 8));
    memory
}
