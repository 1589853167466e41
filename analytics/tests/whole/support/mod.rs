//! Profiles as plain values: what the tests measure by hand, and the same as a report.

#![allow(dead_code, reason = "each test uses its own part")]

pub(crate) mod bsp;
pub(crate) mod naive;
pub(crate) mod strategy;

use analytics::format::{ProfileWriter, open_bytes};
use analytics::profile::{ProfileHeader, ProfileReport, SampleKind, StepDescriptor, WorkEstimate};
use analytics::units::{PhysicalTile, RawCounter, Work};

/// A sample in true 64-bit time, before counters lose their high bits.
#[derive(Clone, Debug)]
pub(crate) struct ModelSample {
    pub(crate) start: u64,
    pub(crate) duration: u32,
    pub(crate) step: usize,
}

/// A tile and its samples, ascending.
#[derive(Clone, Debug)]
pub(crate) struct ModelTile {
    pub(crate) physical: u32,
    pub(crate) samples: Vec<ModelSample>,
}

/// A whole profile.
#[derive(Clone, Debug)]
pub(crate) struct ModelProfile {
    pub(crate) clock_hz: u64,
    pub(crate) tiles: Vec<ModelTile>,
    pub(crate) steps: Vec<StepDescriptor>,
}

impl ModelProfile {
    /// The same profile through the writer and the opener.
    pub(crate) fn report(&self) -> ProfileReport {
        let header = ProfileHeader {
            clock_hz: self.clock_hz,
            ..ProfileHeader::default()
        };
        let mut writer = ProfileWriter::new(&header);
        let steps: Vec<_> = self.steps.iter().map(|step| writer.step(step)).collect();
        for tile in &self.tiles {
            let physical = PhysicalTile::new(tile.physical);
            writer.begin_tile(physical);
            for sample in &tile.samples {
                let start = counter(sample.start);
                let end = counter(sample.start + u64::from(sample.duration));
                writer.sample(physical, start, end, steps[sample.step], &[]);
            }
        }
        let bytes = writer.finish().expect("the model is a valid profile");
        open_bytes(bytes).expect("what was written opens")
    }
}

/// The counter at a true time.
fn counter(at: u64) -> RawCounter {
    RawCounter::new(u32::try_from(at & u64::from(u32::MAX)).expect("32 bits"))
}

/// A step with nothing but a kernel, a kind and a place.
pub(crate) fn step(kind: SampleKind, kernel: &str, phase: u32, epoch: u32) -> StepDescriptor {
    StepDescriptor {
        kind,
        phase,
        epoch,
        operation: String::new(),
        kernel: kernel.to_owned(),
        exchange_event_cycles: 0,
        metadata: Vec::new(),
        estimate: None,
    }
}

/// An estimate in whole issue-cycles.
pub(crate) fn estimate(useful: u64, physical: u64) -> Option<WorkEstimate> {
    Some(WorkEstimate {
        useful: Work::from_cycles(useful),
        physical: Work::from_cycles(physical),
        basis: "test".to_owned(),
    })
}

/// A profile from (tile, step, start, end) quadruples.
pub(crate) fn profile(
    steps: Vec<StepDescriptor>,
    samples: &[(u32, usize, u64, u64)],
) -> ModelProfile {
    let mut tiles: Vec<ModelTile> = Vec::new();
    for &(physical, step, start, end) in samples {
        let sample = ModelSample {
            start,
            duration: u32::try_from(end - start).expect("short"),
            step,
        };
        match tiles.iter_mut().find(|tile| tile.physical == physical) {
            Some(tile) => tile.samples.push(sample),
            None => tiles.push(ModelTile {
                physical,
                samples: vec![sample],
            }),
        }
    }
    ModelProfile {
        clock_hz: 1_500_000_000,
        tiles,
        steps,
    }
}
