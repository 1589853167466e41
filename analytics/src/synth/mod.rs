//! Deterministic profiles of any size, for benchmarks, demonstrations and tests.
//!
//! A pretended bulk-synchronous program runs on pretended tiles: in each superstep every tile waits
//! for the last one, exchanges, and computes or idles. Steps are shared by the tiles as in a real
//! program. Durations are those of undisturbed kernels plus seeded disturbances, a few of them
//! large; some tiles leave gaps; counters start shortly before they wrap. The same options give the
//! same bytes.

mod program;

use program::{BLOCK, BLOCK_STEPS, KERNELS, PROGRAM, Superstep};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::format::{ProfileWriter, WriteError};
use crate::profile::{ActivityKind, ExchangeActivity, Granularity, ProfileHeader};
use crate::units::{Cycles, PhysicalTile, RawCounter, StepId};

/// Tiles of the machine that is pretended.
pub const TILES: u32 = 1_472;
/// Cycles from the last arrival at a barrier to the release of all tiles: the same constant as the
/// simulator's (a choice that splits the published mean exchange overhead of 261).
const RELEASE: u64 = 138;
/// Cycles of a tile's exchange beside its schedule: the rest of those 261.
const EXCHANGE_OVERHEAD: u64 = 123;
/// Cycles that a tile without kernel stays in a compute phase.
const IDLE: u64 = 30;

/// Shape of a generated profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SynthOptions {
    /// Samples in all, at least; the last superstep is completed on every tile.
    pub samples: u64,
    /// Tiles, 1..=1,472.
    pub tiles: u32,
    /// Seed of every random choice.
    pub seed: u64,
    /// Whether exchange samples list scheduled transfers.
    pub activities: bool,
}

impl Default for SynthOptions {
    fn default() -> Self {
        Self {
            samples: 1_000_000,
            tiles: TILES,
            seed: 1,
            activities: false,
        }
    }
}

/// Generates a profile and hands its columnar bytes to `sink`, piece by piece.
///
/// # Errors
/// Where the options ask for no tile, for more than the machine has, or for more than a profile
/// holds.
pub fn generate(options: &SynthOptions, sink: &mut dyn FnMut(&[u8])) -> Result<(), WriteError> {
    if options.tiles == 0 || options.tiles > TILES {
        return Err(WriteError::TooMany {
            what: "tiles",
            limit: TILES.into(),
        });
    }
    let mut run = Run::new(options);
    let mut number = 0;
    while run.samples < options.samples {
        run.superstep(number, options);
        number += 1;
        let ready = run.writer.take_bytes();
        if !ready.is_empty() {
            sink(&ready);
        }
    }
    sink(&run.writer.finish()?);
    Ok(())
}

/// As [`generate`], into one buffer.
///
/// # Errors
/// As [`generate`].
pub fn generate_bytes(options: &SynthOptions) -> Result<Vec<u8>, WriteError> {
    let mut bytes = Vec::new();
    generate(options, &mut |piece| bytes.extend_from_slice(piece))?;
    Ok(bytes)
}

/// The steps of one compute phase, calls with their undisturbed cycles.
struct ComputePhase {
    main: (StepId, u32),
    other: Option<(StepId, u32)>,
    idle: StepId,
}

impl ComputePhase {
    /// What a tile of this class calls: three classes of 64 idle, one in six calls the other
    /// kernel.
    const fn call(&self, class: u32) -> Option<(StepId, u32)> {
        match class {
            0..3 => None,
            3..53 => Some(self.main),
            _ => self.other,
        }
    }
}

struct Run {
    writer: ProfileWriter,
    random: Xoshiro256PlusPlus,
    /// Counter of every tile at cycle 0 of the run.
    counter: RawCounter,
    /// Cycle at which each tile is free.
    free: Vec<u64>,
    samples: u64,
}

impl Run {
    fn new(options: &SynthOptions) -> Self {
        let header = ProfileHeader {
            row_schema_version: 0,
            clock_hz: 1_500_000_000,
            granularity: Granularity::Phase,
            target: "ipu21".to_owned(),
            simulated: Some(true),
            seed: Some(options.seed),
            provenance: vec![("workload".to_owned(), "synthetic".to_owned())],
        };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(options.seed);
        let skew = |_| u64::from(random.next_u32() % 400);
        let free: Vec<u64> = (0..options.tiles).map(skew).collect();
        let mut writer = ProfileWriter::new(&header).with_catalog();
        (0..options.tiles).for_each(|tile| writer.begin_tile(PhysicalTile::new(tile)));
        Self {
            writer,
            random,
            counter: RawCounter::new(0xFFFF_0000),
            free,
            samples: 0,
        }
    }

    fn superstep(&mut self, number: u32, options: &SynthOptions) {
        let plan = PROGRAM[number as usize % BLOCK];
        let horizon = 240 + self.below(12) * 96;
        let synchronization = self.writer.step(&program::synchronization(number));
        let exchange = self.writer.step(&program::exchange(number, horizon));
        let phases = self.compute_phases(number, &plan);
        let release = self.free.iter().copied().max().unwrap_or(0) + RELEASE;
        for tile in 0..options.tiles {
            let arrival = self.free[tile as usize];
            self.sample(tile, arrival, release, synchronization, &[]);
            let class = tile_class(tile, number);
            let own = horizon - 24 * (class % 4);
            let mut at = release + u64::from(own) + EXCHANGE_OVERHEAD;
            let activities = transfers(tile, own, options.activities);
            self.sample(tile, release, at, exchange, &activities);
            for phase in phases.iter().flatten() {
                let (step, cycles) = match phase.call(class) {
                    Some((step, cycles)) => (step, self.disturbed(cycles)),
                    None => (phase.idle, IDLE),
                };
                self.sample(tile, at, at + cycles, step, &[]);
                at += cycles;
            }
            self.free[tile as usize] = at + self.gap();
        }
    }

    /// The one or two compute phases of a superstep.
    fn compute_phases(&mut self, number: u32, plan: &Superstep) -> [Option<ComputePhase>; 2] {
        let mut call = |of_phase: u32, kernel: usize| {
            let kernel = &KERNELS[kernel];
            let step = self
                .writer
                .step(&program::compute(number, of_phase, kernel));
            (step, kernel.cycles)
        };
        let calls = [
            Some((0, plan.main, Some(plan.other))),
            plan.then.map(|then| (1, then, None)),
        ];
        let calls = calls.map(|phase| {
            let (of_phase, main, other) = phase?;
            Some((
                of_phase,
                call(of_phase, main),
                other.map(|other| call(of_phase, other)),
            ))
        });
        calls.map(|phase| {
            let (of_phase, main, other) = phase?;
            let idle = self.writer.step(&program::idle(number, of_phase));
            Some(ComputePhase { main, other, idle })
        })
    }

    fn sample(
        &mut self,
        tile: u32,
        from: u64,
        until: u64,
        step: StepId,
        activities: &[ExchangeActivity],
    ) {
        let counter = |cycle| self.counter.after(Cycles::new(cycle));
        let tile = PhysicalTile::new(tile);
        self.writer
            .sample(tile, counter(from), counter(until), step, activities);
        self.samples += 1;
    }

    /// A call's cycles: up to five slots of six cycles late, and one call in 2,000 much later.
    fn disturbed(&mut self, cycles: u32) -> u64 {
        let late = 6 * self.below(6);
        let outlier = if self.below(2_000) == 0 {
            cycles * (1 + self.below(6))
        } else {
            0
        };
        u64::from(cycles + late + outlier)
    }

    /// Unrecorded cycles after a tile's last call: one tile in 100 has some.
    fn gap(&mut self) -> u64 {
        if self.below(100) == 0 {
            u64::from(20 + self.below(180))
        } else {
            0
        }
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.random.next_u32() % limit
    }
}

/// Which of 64 parts of the device a tile is in during a superstep; steady over a block.
const fn tile_class(tile: u32, number: u32) -> u32 {
    let block = number / BLOCK_STEPS;
    let mixed = (tile ^ block.wrapping_mul(7)).wrapping_mul(0x9E37_79B1);
    mixed >> 26
}

/// A send and two receptions inside an exchange of `horizon` events.
fn transfers(tile: u32, horizon: u32, wanted: bool) -> Vec<ExchangeActivity> {
    if !wanted {
        return Vec::new();
    }
    let third = horizon / 3;
    let lag = tile % 17;
    let activity = |kind, start, end, fanout, paired| ExchangeActivity {
        kind,
        start,
        end,
        fanout,
        paired,
    };
    vec![
        activity(
            ActivityKind::Send,
            lag,
            lag + third,
            3,
            tile.is_multiple_of(5),
        ),
        activity(ActivityKind::Receive, 20 + lag, 20 + lag + third, 1, false),
        activity(ActivityKind::Receive, 2 * third, 3 * third, 0, false),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_options_give_the_same_bytes() {
        let options = SynthOptions {
            samples: 20_000,
            tiles: 70,
            seed: 3,
            activities: true,
        };
        let bytes = generate_bytes(&options).unwrap();
        assert_eq!(bytes, generate_bytes(&options).unwrap());
        let other = SynthOptions { seed: 4, ..options };
        assert_ne!(bytes, generate_bytes(&other).unwrap());
    }

    #[test]
    fn every_kernel_of_the_table_is_called() {
        let called = |kernel| {
            PROGRAM
                .iter()
                .any(|it| [Some(it.main), Some(it.other), it.then].contains(&Some(kernel)))
        };
        assert_eq!(
            (0..KERNELS.len()).filter(|&kernel| !called(kernel)).count(),
            0
        );
    }
}
