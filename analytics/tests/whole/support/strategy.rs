//! Generated profiles: counter wraps, skewed starts, gaps, zero durations, outliers, equal names,
//! colliding metadata, missing estimates, more useful than physical work.

use analytics::profile::{SampleKind, StepDescriptor, WorkEstimate};
use analytics::units::Work;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::{ModelProfile, ModelSample, ModelTile};

fn kind() -> impl Strategy<Value = SampleKind> {
    select(vec![
        SampleKind::Exchange,
        SampleKind::Compute,
        SampleKind::Compute,
        SampleKind::Synchronization,
        SampleKind::Idle,
        SampleKind::Unknown(9),
    ])
}

fn metadata() -> impl Strategy<Value = Vec<(String, String)>> {
    let name = select(vec!["block", "shape", "active"]);
    let value = select(vec!["1", "2", "10", "false", ""]);
    vec(
        (name, value).prop_map(|(name, value)| (name.to_owned(), value.to_owned())),
        0..4,
    )
}

fn work() -> impl Strategy<Value = Option<WorkEstimate>> {
    option::of(
        (0u64..5_000, 0u64..5_000).prop_map(|(useful, physical)| WorkEstimate {
            useful: Work::from_256ths(useful),
            physical: Work::from_256ths(physical),
            basis: "generated".to_owned(),
        }),
    )
}

fn step() -> impl Strategy<Value = StepDescriptor> {
    let kernel = select(vec!["", "gemm", "gemm ", "gelu"]);
    let operation = select(vec!["", "up", "up.1", "down"]);
    let phase = select(vec![0u32, 1, 2, 7, 1 << 31, (1 << 31) | 7]);
    (
        kind(),
        kernel,
        operation,
        phase,
        0u32..3,
        metadata(),
        work(),
    )
        .prop_map(
            |(kind, kernel, operation, phase, epoch, metadata, estimate)| StepDescriptor {
                kind,
                phase,
                epoch,
                operation: operation.to_owned(),
                kernel: kernel.to_owned(),
                exchange_event_cycles: 0,
                metadata,
                estimate,
            },
        )
}

/// Gap before a sample, its duration, and its step as a fraction of the number of steps. A negative
/// gap is an overlap, of at most the sample before.
fn sample() -> impl Strategy<Value = (i64, u32, prop::sample::Index)> {
    let gap = prop_oneof![
        10 => Just(0i64),
        6 => 0i64..40,
        1 => 0i64..2_000_000_000,
        1 => -50i64..0,
    ];
    let duration = prop_oneof![
        1 => Just(0u32),
        6 => 1u32..40,
        2 => 60_000u32..70_000,
        1 => 0u32..3_000_000_000,
    ];
    (gap, duration, any::<prop::sample::Index>())
}

/// Numbers from a seed: large profiles are made of one, since a value for each sample would be slow
/// to make and to shrink.
struct Dice(u64);

impl Dice {
    /// A number below `below`, by SplitMix64.
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % below
    }

    fn tile(&mut self, physical: u32, base: u64, length: u64, steps: usize) -> ModelTile {
        let mut at = base + self.roll(2_000);
        let mut samples = Vec::new();
        for _ in 0..length {
            let gap = if self.roll(4) == 0 { self.roll(40) } else { 0 };
            let duration = match self.roll(40) {
                0 => 0,
                1 => 60_000 + self.roll(10_000),
                2 => self.roll(1_000_000),
                _ => 1 + self.roll(40),
            };
            samples.push(ModelSample {
                start: at + gap,
                duration: u32::try_from(duration).expect("short"),
                step: usize::try_from(self.roll(steps as u64)).expect("few"),
            });
            at += gap + duration;
        }
        ModelTile { physical, samples }
    }
}

/// A profile of two to four blocks of tiles, in any order of the file. Some tiles have samples of
/// several chunks, the first one always.
pub(crate) fn large_profiles() -> impl Strategy<Value = ModelProfile> {
    let base = prop_oneof![Just(0u64), Just(0xFFFF_FF00)];
    let tiles = (66u32..200).prop_flat_map(|count| {
        let ids: Vec<u32> = (0..count).map(|at| at * 3).collect();
        Just(ids).prop_shuffle()
    });
    (base, vec(step(), 1..40), tiles, any::<u64>()).prop_map(|(base, steps, tiles, seed)| {
        let mut dice = Dice(seed);
        let tiles = tiles.into_iter().enumerate().map(|(at, physical)| {
            let length = match dice.roll(16) {
                _ if at == 0 => 1_100 + dice.roll(1_500),
                0 => dice.roll(2_600),
                1 => 0,
                _ => dice.roll(30),
            };
            dice.tile(physical, base, length, steps.len())
        });
        ModelProfile {
            clock_hz: 1_500_000_000,
            tiles: tiles.collect(),
            steps,
        }
    })
}

/// A profile of up to six tiles. First samples are within 2,000 cycles, samples of a tile ascend.
pub(crate) fn profiles() -> impl Strategy<Value = ModelProfile> {
    let tile = (0u64..2_000, vec(sample(), 0..40));
    let base = prop_oneof![Just(0u64), Just(0xFFFF_FF00), Just(0xFFFF_FFFF_u64 - 1_000)];
    let physical = proptest::sample::subsequence((0..12u32).collect::<Vec<_>>(), 6);
    (
        base,
        vec(step(), 1..12),
        vec(tile, 1..6),
        physical.prop_shuffle(),
    )
        .prop_map(|(base, steps, tiles, physical)| {
            let tile = |((skew, samples), physical): ((u64, Vec<_>), u32)| {
                let mut at = base + skew;
                let mut first = true;
                let mut before = 0u64;
                let place = |(gap, duration, step): (i64, u32, prop::sample::Index)| {
                    let gap = if std::mem::take(&mut first) { 0 } else { gap };
                    at -= before.min(gap.min(0).unsigned_abs());
                    at += gap.max(0).unsigned_abs();
                    let start = at;
                    before = u64::from(duration);
                    at += before;
                    ModelSample {
                        start,
                        duration,
                        step: step.index(steps.len()),
                    }
                };
                ModelTile {
                    physical,
                    samples: samples.into_iter().map(place).collect(),
                }
            };
            let tiles = tiles.into_iter().zip(physical).map(tile).collect();
            ModelProfile {
                clock_hz: 1_500_000_000,
                tiles,
                steps,
            }
        })
}
