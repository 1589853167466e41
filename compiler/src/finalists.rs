//! Whole plans that are compared by what becomes of them: plans → expanded programs, by price →
//! the fastest of those that were placed and scheduled.
//!
//! A planner's price is that of the fullest tile of each operation; an expanded program has every
//! call and every transfer, so its price knows which tiles are busy at once.

use std::collections::BTreeMap;

use rayon::prelude::*;
use runtime::kernels::{Generation, cycles};

use crate::error::CompileError;
use crate::graph::Graph;
use crate::options::Options;
use crate::plan::{Plan, PlanError};
use crate::program::{self, Call, Move, Program, Work};

/// A plan and the program that it expands to.
pub(crate) struct Finalist {
    pub(crate) plan: Plan,
    pub(crate) program: Program,
}

/// Expands plans and keeps as many as are to be placed, cheapest first, ties in order.
///
/// # Errors
/// The error of the first plan where none can be expanded.
pub(crate) fn expand(
    graph: &Graph,
    plans: Vec<Plan>,
    options: &Options,
) -> Result<Vec<Finalist>, PlanError> {
    let (mut finalists, mut refused) = (Vec::new(), None);
    let is_lone = plans.len() == 1;
    let expanded = plans.into_par_iter().map(|plan| {
        let program = program::expand(graph, &plan, options.operands)?;
        let price = if is_lone {
            0
        } else {
            compute_cycles(&program, options.kernel_generation) + endpoint_cycles(&program)
        };
        Ok((price, Finalist { plan, program }))
    });
    for result in expanded.collect::<Vec<_>>() {
        match result {
            Ok(finalist) => finalists.push(finalist),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    if let Some(error) = refused.filter(|_| finalists.is_empty()) {
        return Err(error);
    }
    finalists.sort_by_key(|(price, _)| *price);
    finalists.truncate(options.limits.placed_plans);
    Ok(finalists
        .into_iter()
        .map(|(_, finalist)| finalist)
        .collect())
}

/// The finalist that comes out fastest, ties in order.
///
/// # Errors
/// The error of the first finalist where none comes out.
pub(crate) fn fastest<T>(
    finalists: Vec<Finalist>,
    mut scheduled: impl FnMut(Finalist) -> Result<T, CompileError>,
    cycles: impl Fn(&T) -> u64,
) -> Result<T, CompileError> {
    let (mut best, mut refused): (Option<(u64, T)>, _) = (None, None);
    for finalist in finalists {
        match scheduled(finalist) {
            Ok(result) => {
                let cycles = cycles(&result);
                if best.as_ref().is_none_or(|(least, _)| cycles < *least) {
                    best = Some((cycles, result));
                }
            }
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    match (best, refused) {
        (Some((_, best)), _) => Ok(best),
        (None, Some(error)) => Err(error),
        (None, None) => unreachable!("there is at least one finalist"),
    }
}

/// Kernel cycles of the slowest tile of each step, as often as the steps run.
pub(crate) fn compute_cycles(program: &Program, generation: Generation) -> u64 {
    let each: Vec<u64> = program
        .templates
        .iter()
        .map(|template| cycles(&template.kernel, generation).get())
        .collect();
    let slowest = |calls: &[Call]| {
        let mut tiles: BTreeMap<u16, u64> = BTreeMap::new();
        for call in calls {
            *tiles.entry(call.tile).or_default() += each[call.template as usize];
        }
        tiles.into_values().max().unwrap_or(0)
    };
    let steps = (0..).zip(&program.steps);
    let steps = steps.map(|(index, step)| match &step.work {
        Work::Compute { calls, .. } => slowest(calls) * u64::from(program.runs(index)),
        Work::Exchange(_) => 0,
    });
    steps.sum()
}

/// Words through the busiest endpoint of each exchange, as often as they run, and what the barrier
/// before it takes.
fn endpoint_cycles(program: &Program) -> u64 {
    let exchanges = program.exchanges();
    let all = exchanges.map(|(step, moves)| {
        (busiest(program, moves) + crate::plan::phase_cycles()) * u64::from(program.runs(step))
    });
    all.sum()
}

fn busiest(program: &Program, moves: &[Move]) -> u64 {
    let tiles = usize::from(program.tiles);
    let (mut sent, mut received) = (vec![0_u64; tiles], vec![0_u64; tiles]);
    let tile = |buffer: u32| usize::from(program.buffers[buffer as usize].tile);
    for each in moves {
        let words = u64::from(each.bytes / 4);
        sent[tile(each.source.buffer)] += words;
        for &destination in each.destinations.iter() {
            received[tile(destination)] += words;
        }
    }
    sent.into_iter().chain(received).max().unwrap_or(0)
}
