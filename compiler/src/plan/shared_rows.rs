//! Attention with its query rows shared among the tiles of a stream, as the published runs did it:
//! flash streams keys in blocks of 64, materialised keeps all of them.

use analytics::units::Cycles;
use runtime::kernels::cycles;
use runtime::package::{KernelSpec, MemoryClass};

use crate::layout::LANES;
use crate::options::{AttentionStrategy, Options, PredictedCycles};

use super::OperationPlan;
use super::attention::{AttentionProblem, merge, softmax};
use super::candidate::{Lack, Memory, endpoint, phase_overhead};
use super::family::{AttentionPlan, Family};
use super::pick::Pick;

/// Keys of a block.
pub(crate) const KEY_BLOCK: u32 = 64;

/// The plan with its price, or what has no room: nothing where the streams outnumber the tiles.
pub(super) fn pick(
    problem: &AttentionProblem,
    options: &Options,
    operation: usize,
) -> Result<Pick, Option<Lack>> {
    let queries = problem
        .queries
        .min(u32::from(options.tiles) / problem.streams);
    if queries == 0 {
        return Err(None);
    }
    let family = if options.attention == AttentionStrategy::Flash {
        Family::Flash
    } else {
        Family::Materialized
    };
    let grid = [queries, problem.keys.div_ceil(KEY_BLOCK)];
    let plan = AttentionPlan::of_one_grid(operation, family, grid);
    let memory = memory(problem, &plan);
    memory.check().map_err(Some)?;
    let predicted = predicted(problem, &plan, options);
    Ok(Pick::new(
        OperationPlan::Attention(plan),
        predicted,
        &memory,
    ))
}

/// Keys that a tile holds at once, padding included.
fn resident_keys(plan: &AttentionPlan) -> u32 {
    if plan.family == Family::Flash {
        KEY_BLOCK
    } else {
        KEY_BLOCK * plan.keys
    }
}

/// The core alone: the gathering of the operands depends on how the projections left them.
fn predicted(
    problem: &AttentionProblem,
    plan: &AttentionPlan,
    options: &Options,
) -> PredictedCycles {
    let generation = options.kernel_generation;
    let rows = problem.queries.div_ceil(plan.queries);
    let (keys, width) = (resident_keys(plan), problem.panels() * LANES);
    let (rounds, class) = if plan.family == Family::Flash {
        (plan.keys, MemoryClass::Interleaved)
    } else {
        (1, MemoryClass::Standard)
    };
    let gemm = |inner, columns| {
        let gemm = KernelSpec::GemmF16 {
            rows,
            inner,
            columns,
            accumulate: false,
            coefficients: class,
        };
        cycles(&gemm, generation)
    };
    let block = |round: u32| {
        let valid = problem.keys.min((round + 1) * keys) - round * keys;
        let softmax = KernelSpec::Softmax(softmax(problem, rows, valid, keys));
        let merge = KernelSpec::Merge(merge(problem, rows, (round, rounds)));
        cycles(&softmax, generation) + cycles(&merge, generation)
    };
    let phases = u64::from(rounds.max(2));
    let units = 2 * plan.keys * KEY_BLOCK * problem.panels();
    PredictedCycles {
        operands: endpoint(units, units / LANES) + phase_overhead().times(phases),
        gemm: (gemm(width, keys) + gemm(keys, width)).times(u64::from(rounds)),
        pointwise: (0..rounds).map(block).sum(),
        partials: Cycles::ZERO,
        reduce: Cycles::ZERO,
    }
}

/// The requests of the fullest tile: 1 gathering, 2 keys, 3 scores, 4 values, 5 merge, 6 later.
pub(super) fn memory(problem: &AttentionProblem, plan: &AttentionPlan) -> Memory {
    let (standard, interleaved) = (MemoryClass::Standard, MemoryClass::Interleaved);
    let rows = problem.queries.div_ceil(plan.queries);
    let (keys, panels) = (resident_keys(plan), problem.panels());
    let class = if plan.family == Family::Flash {
        interleaved
    } else {
        standard
    };
    let mut memory = Memory::default();
    let q = memory.add("queries", rows * panels, standard, (1, 5));
    let prepared = (2 * plan.keys * panels).div_ceil(plan.queries) * KEY_BLOCK;
    memory.add("prepared keys and values", prepared, standard, (1, 5));
    memory.add("keys", keys * panels, class, (2, 3));
    let scores = memory.add("scores", rows * (keys / LANES + 1), interleaved, (3, 5));
    memory.add("values", keys * panels, class, (4, 5));
    let sums = memory.add("weighted values", rows * panels, interleaved, (5, 5));
    memory.keep_apart(q, scores);
    memory.keep_apart(scores, sums);
    memory.add(
        "merge state",
        rows * (problem.width + 2) / 8 + 1,
        standard,
        (5, 6),
    );
    memory
}
