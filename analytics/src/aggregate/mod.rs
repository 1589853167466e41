//! Sums over samples: a report, a clock and a grouping in, the exact figures of every group out.
//!
//! One pass over the chunks. Samples stay packed; what a pass holds is one decoded chunk a thread
//! (1 MiB), the cycles by tile and phase of one block, and the tallies of the groups: the intervals
//! of the union, and for exact percentiles (`durations.rs`) two to four bytes a sample, at most
//! 384 KiB each and thread, and four bytes for each sample of more than 65,535 cycles.

mod block;
mod durations;
mod grid;
mod intervals;
mod longest;
mod measures;
mod places;
mod plan;
mod steps;
mod visits;
mod worker;

pub use measures::Measures;

pub(crate) use block::{Block, blocks};
pub(crate) use durations::lower_rank;
pub(crate) use longest::SampleRef;
pub(crate) use measures::{float, ratio};
pub(crate) use plan::{Grouping, NO_GROUP, Plan, Selection, runs_at};

use worker::Worker;

use crate::format::DecodeError;
use crate::order;
use crate::units::Cycles;

/// What a pass found.
pub(crate) struct Aggregate {
    /// Groups with matching samples, ascending by group id (by tile: by tile index).
    pub(crate) groups: Vec<(u32, Measures)>,
    /// All matching samples as one group.
    pub(crate) totals: Measures,
    /// The longest matching samples.
    pub(crate) longest: Vec<SampleRef>,
}

/// Runs one pass.
pub(crate) fn aggregate(plan: &Plan<'_>) -> Result<Aggregate, DecodeError> {
    let blocks = blocks(plan.report, |chunk| plan.touches(chunk));
    let worker = tally(plan, &blocks)?;
    Ok(finish(plan, worker))
}

/// Tiles of the widest block.
fn widest(blocks: &[Block]) -> usize {
    let widths = blocks.iter().map(|block| block.tiles.len());
    widths.max().unwrap_or(0)
}

#[cfg(not(feature = "native"))]
fn tally<'p, 'a>(plan: &'p Plan<'a>, blocks: &[Block]) -> Result<Worker<'p, 'a>, DecodeError> {
    let mut worker = Worker::new(plan, widest(blocks));
    for block in blocks {
        worker.run(block)?;
    }
    Ok(worker)
}

/// Each thread takes the next block when it is done with one. Of several errors, the one of the
/// first block is returned, whichever thread met one first.
#[cfg(feature = "native")]
fn tally<'p, 'a>(plan: &'p Plan<'a>, blocks: &[Block]) -> Result<Worker<'p, 'a>, DecodeError> {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use rayon::prelude::*;

    let next = AtomicUsize::new(0);
    let threads = rayon::current_num_threads().min(blocks.len()).max(1);
    let work = |_| {
        let mut worker = Worker::new(plan, widest(blocks));
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            match blocks.get(at).map(|block| worker.run(block)) {
                None => return Ok(worker),
                Some(Ok(())) => {}
                Some(Err(error)) => return Err((at, error)),
            }
        }
    };
    let results: Vec<_> = (0..threads)
        .into_par_iter()
        .with_max_len(1)
        .map(work)
        .collect();
    let mut whole: Option<Worker<'p, 'a>> = None;
    let mut first_error: Option<(usize, DecodeError)> = None;
    for result in results {
        match (result, &mut whole) {
            (Ok(worker), Some(whole)) => whole.merge(worker),
            (Ok(worker), None) => whole = Some(worker),
            (Err(error), _) if first_error.as_ref().is_none_or(|it| error.0 < it.0) => {
                first_error = Some(error);
            }
            (Err(_), _) => {}
        }
    }
    match first_error {
        Some((_, error)) => Err(error),
        None => Ok(whole.unwrap_or_else(|| Worker::new(plan, 0))),
    }
}

fn finish(plan: &Plan<'_>, mut worker: Worker<'_, '_>) -> Aggregate {
    let profiled_tiles = plan.report.tiles().len() as u64;
    let mut groups = std::mem::take(&mut worker.tiles);
    if !plan.by_tile {
        groups = group_measures(plan, &mut worker);
    }
    order::by_key(&mut groups, |(group, _)| *group);
    for (_, measures) in &mut groups {
        measures.profiled_tiles = profiled_tiles;
    }
    let (phase_count, phase_cycles) = phase_totals(plan, &worker);
    let mut all = worker.take_all();
    let totals = Measures {
        tile_count: worker.places.tiles,
        phase_count,
        phase_cycles,
        profiled_tiles,
        ..all.measures()
    };
    Aggregate {
        groups,
        totals,
        longest: worker.longest.into_sorted(),
    }
}

/// The figures of the groups that have samples.
fn group_measures(plan: &Plan<'_>, worker: &mut Worker<'_, '_>) -> Vec<(u32, Measures)> {
    let mut measures: Vec<(u32, Measures)> = (0..)
        .zip(&mut worker.tallies)
        .zip(&worker.places.group_tiles)
        .map(|((group, tally), &tile_count)| {
            (
                group,
                Measures {
                    tile_count,
                    ..tally.measures()
                },
            )
        })
        .collect();
    for (place, &longest) in plan.places.iter().zip(&worker.places.longest) {
        let (_, group) = &mut measures[place.group as usize];
        group.phase_count += u64::from(longest > 0);
        group.phase_cycles += Cycles::new(longest);
    }
    measures.retain(|(_, group)| group.sample_count > 0);
    measures
}

/// Number of phases with matching samples, and the sum of their longest tiles.
fn phase_totals(plan: &Plan<'_>, worker: &Worker<'_, '_>) -> (u64, Cycles) {
    let longest = if plan.phases_are_shared {
        &worker.places.phase_longest
    } else {
        &worker.places.longest
    };
    let count = longest.iter().filter(|&&cycles| cycles > 0).count();
    (
        count as u64,
        longest.iter().map(|&cycles| Cycles::new(cycles)).sum(),
    )
}
