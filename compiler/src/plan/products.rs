//! Attention whose two products have grids of their own: the scores of a stream on query blocks ×
//! key blocks, its weighted values on others. Between them every tile of the stream owns some rows:
//! it takes their softmax, adds their partial sums and divides.

use analytics::units::Cycles;
use runtime::kernels::{Generation, cycles};
use runtime::package::{KernelSpec, MemoryClass};

use crate::layout::{LANES, UNIT_BYTES};
use crate::options::{AttentionProducts, Options, PredictedCycles};

use super::OperationPlan;
use super::attention::{AttentionProblem, merge, softmax};
use super::candidate::{Lack, Memory, endpoint, phase_overhead};
use super::family::{AttentionPlan, Family, is_of_owners};
use super::pick::Pick;

/// A grid of one product: query blocks and key blocks.
type Grid = [u32; 2];

/// Grids that are tried for each product, by price.
const KEPT: usize = 6;

/// What came of all plans of the family.
#[derive(Default)]
pub(super) struct Found {
    /// The feasible ones.
    pub(super) picks: Vec<Pick>,
    /// What the others lacked, the least of it.
    pub(super) lacking: Option<Lack>,
    /// How many there were.
    pub(super) tried: usize,
}

/// Prices the plans of the best grids of both products.
pub(super) fn picks(problem: &AttentionProblem, options: &Options, operation: usize) -> Found {
    let available = u32::from(options.tiles) / problem.streams.max(1);
    let owners = available.min(problem.queries);
    if owners == 0 {
        return Found::default();
    }
    let generation = options.kernel_generation;
    let at = |grid: Grid| Part::new(problem, grid, owners);
    let (scores_free, values_free) = match options.products {
        AttentionProducts::SharedRows => (false, false),
        AttentionProducts::QkOnly => (true, false),
        AttentionProducts::PvOnly => (false, true),
        AttentionProducts::Auto | AttentionProducts::Independent => (true, true),
    };
    let scores = grids(problem, (available, owners), scores_free, |grid| {
        let at = at(grid);
        score_moves(problem, &at) + at.gemm(at.panels, at.groups, generation)
    });
    let values = grids(problem, (available, owners), values_free, |grid| {
        let at = at(grid);
        let gemm = at.gemm(at.groups, at.panels, generation);
        value_moves(problem, &at) + gemm + reduce_cycles(&at, generation)
    });
    let mut found = Found::default();
    for &scores in &scores {
        for &values in &values {
            let plan = AttentionPlan {
                operation,
                family: Family::Products,
                queries: scores[0],
                keys: scores[1],
                values,
                owners,
            };
            let memory = memory(problem, &plan);
            found.tried += 1;
            match memory.check() {
                Ok(()) => {
                    let predicted = predicted(problem, &plan, generation);
                    found.picks.push(Pick::new(
                        OperationPlan::Attention(plan),
                        predicted,
                        &memory,
                    ));
                }
                Err(lack) => found.lacking = found.lacking.into_iter().chain([lack]).min(),
            }
        }
    }
    found
}

/// The cheapest grids of a product; the owners' own rows where it is not free to choose.
fn grids(
    problem: &AttentionProblem,
    (available, owners): (u32, u32),
    is_free: bool,
    price: impl Fn(Grid) -> Cycles,
) -> Vec<Grid> {
    if !is_free {
        return vec![[owners, 1]];
    }
    let mut grids = problem.even_grids(available);
    grids.sort_by_cached_key(|&grid| (price(grid), grid));
    grids.truncate(KEPT);
    grids
}

/// Extents of the fullest tile of a product, and of the fullest owner.
struct Part {
    rows: u32,
    groups: u32,
    panels: u32,
    owned: u32,
    /// Key blocks of the grid.
    keys: u32,
    /// Whether the owners do the product themselves.
    is_shared: bool,
}

impl Part {
    fn new(problem: &AttentionProblem, [queries, keys]: Grid, owners: u32) -> Self {
        Self {
            rows: problem.queries.div_ceil(queries),
            groups: problem.key_groups().div_ceil(keys),
            panels: problem.panels(),
            owned: problem.queries.div_ceil(owners),
            keys,
            is_shared: is_of_owners([queries, keys], owners),
        }
    }

    fn gemm(&self, inner: u32, columns: u32, generation: Generation) -> Cycles {
        let gemm = KernelSpec::GemmF16 {
            rows: self.rows,
            inner: inner * LANES,
            columns: columns * LANES,
            accumulate: false,
            coefficients: MemoryClass::Interleaved,
        };
        cycles(&gemm, generation)
    }

    /// Bringing rows of `panels` panels between a block of the grid and the owners.
    fn regroup(&self, panels: u32, parts: u32) -> Cycles {
        let owner = endpoint(self.owned * panels * parts, 2 * panels * parts);
        let meeting = self.rows.div_ceil(self.owned) + 1;
        let block = endpoint(self.rows * panels, panels * meeting);
        owner.max(block) + phase_overhead()
    }
}

/// The operands of the score product, and the way of its result to the owners of the rows.
fn score_moves(problem: &AttentionProblem, at: &Part) -> Cycles {
    let operands = endpoint(
        (at.rows + at.groups * LANES) * at.panels,
        at.panels * (at.groups + 1),
    );
    if at.is_shared {
        return operands;
    }
    let owner = endpoint(at.owned * problem.key_groups(), 2 * problem.key_groups());
    operands + at.regroup(at.groups, 1).max(owner + phase_overhead())
}

/// The operands of the value product, with the weights, and the way of its result back.
fn value_moves(problem: &AttentionProblem, at: &Part) -> Cycles {
    let operands = endpoint(at.groups * LANES * at.panels, at.panels * at.groups);
    if at.is_shared {
        return operands;
    }
    let owner = endpoint(at.owned * problem.key_groups(), problem.key_groups());
    let out = at.regroup(at.groups, 1).max(owner + phase_overhead());
    operands + out + at.regroup(at.panels, at.keys)
}

fn reduce_cycles(at: &Part, generation: Generation) -> Cycles {
    if at.keys == 1 || at.is_shared {
        return Cycles::ZERO;
    }
    let sum = KernelSpec::ReduceSumF16 {
        partials: at.keys,
        elements: at.owned * at.panels * LANES,
    };
    cycles(&sum, generation)
}

fn predicted(
    problem: &AttentionProblem,
    plan: &AttentionPlan,
    generation: Generation,
) -> PredictedCycles {
    let scores = Part::new(problem, [plan.queries, plan.keys], plan.owners);
    let values = Part::new(problem, plan.values, plan.owners);
    let gemm = scores.gemm(scores.panels, scores.groups, generation)
        + values.gemm(values.groups, values.panels, generation);
    let padded = problem.key_groups() * LANES;
    let softmax = softmax(problem, scores.owned, problem.keys, padded);
    let merge = merge(problem, scores.owned, (0, 1));
    PredictedCycles {
        operands: score_moves(problem, &scores) + value_moves(problem, &values) + phase_overhead(),
        gemm,
        partials: Cycles::ZERO,
        reduce: reduce_cycles(&values, generation),
        pointwise: cycles(&KernelSpec::Softmax(softmax), generation)
            + cycles(&KernelSpec::Merge(merge), generation),
    }
}

/// The requests of the fullest tile in the order of its steps: 1 operands arrive, 2 scores,
/// 3 scores move, 4 softmax, 5 weights move, 6 product with the values, 7 partial sums move, 8 sum,
/// 9 division, 10 later.
pub(super) fn memory(problem: &AttentionProblem, plan: &AttentionPlan) -> Memory {
    let (standard, interleaved) = (MemoryClass::Standard, MemoryClass::Interleaved);
    let scores = Part::new(problem, [plan.queries, plan.keys], plan.owners);
    let values = Part::new(problem, plan.values, plan.owners);
    let mut memory = Memory::default();
    let (panels, groups) = (scores.panels, problem.key_groups());
    let q = memory.add("queries", scores.rows * panels, standard, (1, 2));
    memory.add("keys", scores.groups * LANES * panels, interleaved, (1, 2));
    memory.add(
        "values",
        values.groups * LANES * panels,
        interleaved,
        (1, 6),
    );
    let own = scores.owned * (groups + 1);
    let weights = if scores.is_shared {
        let weights = memory.add("scores", own, interleaved, (2, 9));
        memory.keep_apart(q, weights);
        weights
    } else {
        let block = memory.add("scores", scores.rows * scores.groups, interleaved, (2, 3));
        memory.keep_apart(q, block);
        memory.add("weights", own, interleaved, (3, 9))
    };
    let left = if values.is_shared {
        weights
    } else {
        memory.add("weights", values.rows * values.groups, standard, (5, 6))
    };
    let sums = memory.add("weighted values", values.rows * panels, interleaved, (6, 9));
    memory.keep_apart(left, sums);
    if !values.is_shared {
        let partial = values.keys * values.owned * panels;
        let partials = memory.add("partial results", partial, standard, (7, 9));
        if values.keys > 1 {
            let sum = memory.add("sums", values.owned * panels, standard, (8, 9));
            memory.keep_apart(partials, sum);
        }
    }
    let out = (scores.owned * problem.width * 2).div_ceil(UNIT_BYTES);
    memory.add("result rows", out, standard, (9, 10));
    memory
}
