//! Bulk-synchronous programs that can be run again with other kernels: what a profile of one should
//! say is known from its construction.

use analytics::profile::{SampleKind, StepDescriptor};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{ModelProfile, ModelSample, ModelTile, step};

/// Cycles from the last arrival to the release.
pub(crate) const RELEASE: u64 = 138;

/// Names that calls choose from.
pub(crate) const KERNELS: [&str; 4] = ["gemm", "softmax", "copy", ""];

/// One superstep: the exchange time of every tile, then its calls as (kernel, cycles).
#[derive(Clone, Debug)]
pub(crate) struct Superstep {
    pub(crate) exchange: Vec<u32>,
    pub(crate) calls: Vec<Vec<(usize, u32)>>,
}

/// A program: work before the first exchange, then supersteps.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) first: Vec<Vec<(usize, u32)>>,
    pub(crate) supersteps: Vec<Superstep>,
}

impl Program {
    /// Tiles.
    pub(crate) fn tiles(&self) -> usize {
        self.first.len()
    }

    /// The program with every call of `kernel` taking `basis_points`/10,000 less of its time, the
    /// saving rounded down call by call.
    pub(crate) fn faster(&self, kernel: usize, basis_points: u64) -> Self {
        let scale = |calls: &mut Vec<(usize, u32)>| {
            for (which, cycles) in calls {
                if *which == kernel {
                    let saved = u64::from(*cycles) * basis_points / 10_000;
                    *cycles -= u32::try_from(saved).expect("less than the call");
                }
            }
        };
        let mut program = self.clone();
        program.first.iter_mut().for_each(scale);
        for superstep in &mut program.supersteps {
            superstep.calls.iter_mut().for_each(scale);
        }
        program
    }

    /// Runs the program: every tile starts at zero.
    pub(crate) fn run(&self) -> ModelProfile {
        let mut steps = Vec::new();
        let mut tiles: Vec<ModelTile> = (0..self.tiles())
            .map(|tile| ModelTile {
                physical: u32::try_from(tile).expect("few"),
                samples: Vec::new(),
            })
            .collect();
        let mut now = vec![0u64; self.tiles()];
        let mut place = 0;
        compute(&mut steps, &mut tiles, &mut now, &self.first, place);
        for superstep in &self.supersteps {
            place += 1;
            let sync = add(&mut steps, step(SampleKind::Synchronization, "", place, 0));
            let exchange = add(&mut steps, step(SampleKind::Exchange, "", place, 0));
            let release = now.iter().max().copied().unwrap_or(0) + RELEASE;
            for (at, tile) in tiles.iter_mut().enumerate() {
                push(tile, sync, &mut now[at], release);
                let exit = release + u64::from(superstep.exchange[at]);
                push(tile, exchange, &mut now[at], exit);
            }
            place += 1;
            compute(&mut steps, &mut tiles, &mut now, &superstep.calls, place);
        }
        ModelProfile {
            clock_hz: 0,
            tiles,
            steps,
        }
    }
}

fn add(steps: &mut Vec<StepDescriptor>, step: StepDescriptor) -> usize {
    steps.push(step);
    steps.len() - 1
}

fn push(tile: &mut ModelTile, step: usize, now: &mut u64, end: u64) {
    let duration = u32::try_from(end - *now).expect("short");
    tile.samples.push(ModelSample {
        start: *now,
        duration,
        step,
    });
    *now = end;
}

fn compute(
    steps: &mut Vec<StepDescriptor>,
    tiles: &mut [ModelTile],
    now: &mut [u64],
    calls: &[Vec<(usize, u32)>],
    place: u32,
) {
    for (at, calls) in calls.iter().enumerate() {
        for &(kernel, cycles) in calls {
            let step = add(steps, step(SampleKind::Compute, KERNELS[kernel], place, 0));
            let end = now[at] + u64::from(cycles);
            push(&mut tiles[at], step, &mut now[at], end);
        }
        if calls.is_empty() {
            let step = add(steps, step(SampleKind::Idle, "", place, 0));
            let end = now[at];
            push(&mut tiles[at], step, &mut now[at], end);
        }
    }
}

/// Programs of up to five tiles and six supersteps; calls of a segment have different kernels.
pub(crate) fn programs() -> impl Strategy<Value = Program> {
    (1usize..=5).prop_flat_map(|tiles| {
        let calls = || {
            proptest::sample::subsequence(vec![0usize, 1, 2, 3], 0..=3).prop_flat_map(|kernels| {
                kernels
                    .into_iter()
                    .map(|kernel| (Just(kernel), 0u32..3_000))
                    .collect::<Vec<_>>()
            })
        };
        let superstep = (vec(1u32..900, tiles), vec(calls(), tiles))
            .prop_map(|(exchange, calls)| Superstep { exchange, calls });
        (vec(calls(), tiles), vec(superstep, 0..6))
            .prop_map(|(first, supersteps)| Program { first, supersteps })
    })
}
