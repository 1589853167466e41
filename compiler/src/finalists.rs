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
use crate::plan::{EXCHANGE_OVERHEAD, Plan, PlanError, ROUTE};
use crate::program::{self, Move, Program, Work};
use crate::timing::Meter;

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
    meter: &Meter<'_>,
) -> Result<Vec<Finalist>, PlanError> {
    meter.expect(plans.len());
    let (mut finalists, mut refused) = (Vec::new(), None);
    let is_lone = plans.len() == 1;
    let expanded = plans.into_par_iter().map(|plan| {
        let program = program::expand(graph, &plan, options.operands)?;
        let price = if is_lone {
            0
        } else {
            span(&program, options.kernel_generation, |_, moves| {
                busiest(&program, moves) + ROUTE
            })
        };
        Ok((price, Finalist { plan, program }))
    });
    let expanded = expanded.inspect(|_| meter.step());
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
    if let Some(only) = options.limits.only_placed {
        let last = finalists.len() - 1;
        finalists = vec![finalists.swap_remove(only.min(last))];
    }
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

/// Cycles of a program, as often as its steps run: between two exchanges those of the slowest tile,
/// and for each exchange its barrier and the cycles that `exchange` gives by step.
pub(crate) fn span(
    program: &Program,
    generation: Generation,
    exchange: impl Fn(u32, &[Move]) -> u64,
) -> u64 {
    let templates = program.templates.iter();
    let each: Vec<u64> = templates
        .map(|template| cycles(&template.kernel, generation).get())
        .collect();
    let mut total = 0;
    let mut busy: BTreeMap<u16, u64> = BTreeMap::new();
    let mut runs = 1;
    for (index, step) in (0..).zip(&program.steps) {
        let now = u64::from(program.runs(index));
        if now != runs || matches!(step.work, Work::Exchange(_)) {
            total += runs * slowest(&std::mem::take(&mut busy));
            runs = now;
        }
        match &step.work {
            Work::Exchange(moves) => {
                total += runs * (exchange(index, moves) + EXCHANGE_OVERHEAD);
            }
            Work::Compute { calls, .. } => {
                for call in calls {
                    *busy.entry(call.tile).or_default() += each[call.template as usize];
                }
            }
        }
    }
    total + runs * slowest(&busy)
}

fn slowest(busy: &BTreeMap<u16, u64>) -> u64 {
    busy.values().copied().max().unwrap_or(0)
}

/// Words through the busiest endpoint of an exchange.
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
