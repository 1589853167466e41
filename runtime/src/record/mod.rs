//! The profile recorder: boundaries of the simulated tiles in, samples at a granularity out.
//!
//! On every tile each epoch is `synchronization` (own arrival to release), `exchange` (release to
//! own exit), then per compute phase `compute` (launch to rendezvous) or `idle`. A tile without a
//! kernel reaches its next boundary at once, so its waiting belongs to the synchronization that
//! follows. What a sample costs, nothing by default, is added to its end. A Repeat shows its first
//! iteration in detail and the others as one `repeat-remainder`. Counters are 32 bits and wrap.

mod header;
mod regions;
mod steps;
mod transfers;

use analytics::format::{ProfileWriter, WriteError};
use analytics::profile::{Ending, ExchangeActivity, Granularity, ProfileHeader};
use analytics::units::{Cycles, RawCounter, StepId};

pub(crate) use header::header;

use crate::fault::Faults;
use crate::package::{Call, FlatItem, Package};
use regions::Regions;
use steps::Steps;

/// Where in the schedule a boundary belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Position in the flattened schedule, a Repeat body counted once.
    pub(crate) phase: u32,
    /// Exchange epoch.
    pub(crate) epoch: u32,
}

/// An instant of each logical tile, in cycles since the run began.
pub(crate) type Instants = [u64];

/// Records samples while a run goes on.
pub(crate) struct Recorder<'a> {
    package: &'a Package,
    granularity: Granularity,
    counter_start: RawCounter,
    /// Cycles that taking one sample adds to it.
    sampling: u64,
    writer: ProfileWriter,
    steps: Steps<'a>,
    regions: Regions,
}

impl<'a> Recorder<'a> {
    /// A recorder for a run whose tiles start at these instants.
    pub(crate) fn new(
        package: &'a Package,
        flat: &'a [FlatItem],
        header: &ProfileHeader,
        counter_start: RawCounter,
        sampling: Cycles,
        starts: &Instants,
    ) -> Self {
        let mut writer = ProfileWriter::new(header).with_catalog();
        for &tile in &package.target.tile_mapping {
            writer.begin_tile(tile);
        }
        Self {
            package,
            granularity: header.granularity,
            counter_start,
            sampling: sampling.get(),
            writer,
            steps: Steps::new(package, flat, header.granularity),
            regions: Regions::new(header.granularity, starts),
        }
    }

    /// Cycles that recording an exchange adds to each tile: one synchronization, one exchange.
    pub(crate) const fn exchange_overhead(&self) -> u64 {
        if self.is_detailed() {
            self.sampling.saturating_mul(2)
        } else {
            0
        }
    }

    /// Cycles that recording a tile's calls of a compute phase adds to it.
    pub(crate) fn compute_overhead(&self, calls: &[Call]) -> u64 {
        if !self.is_detailed() {
            return 0;
        }
        let samples = self.steps.merge(calls).count().max(1);
        self.sampling.saturating_mul(samples as u64)
    }

    /// All tiles waited from `arrivals` to `release`, then exchanged until their `exits`.
    pub(crate) fn exchange(
        &mut self,
        place: Place,
        exchange: u32,
        arrivals: &Instants,
        release: u64,
        exits: &Instants,
        activities: &[Vec<ExchangeActivity>],
    ) {
        self.enter_region(place, arrivals);
        if !self.is_detailed() {
            return;
        }
        for tile in 0..arrivals.len() {
            let sync = self
                .steps
                .synchronization(&mut self.writer, place, exchange, tile);
            self.sample(tile, arrivals[tile], release, sync, &[]);
            let step = self.steps.exchange(&mut self.writer, place, exchange, tile);
            let own = activities.get(tile).map_or(&[][..], Vec::as_slice);
            self.sample(tile, release, exits[tile], step, own);
        }
    }

    /// Tiles ran their calls of a compute phase from `starts` on, each call as long as `cycles`
    /// says.
    pub(crate) fn compute(
        &mut self,
        place: Place,
        phase: u32,
        starts: &Instants,
        calls: &[&'a [Call]],
        cycles: impl Fn(&Call) -> Cycles,
    ) {
        self.enter_region(place, starts);
        if !self.is_detailed() {
            return;
        }
        for (tile, own) in calls.iter().enumerate() {
            let mut now = starts[tile];
            if own.is_empty() {
                let step = self.steps.idle(&mut self.writer, place);
                self.sample(tile, now, now + self.sampling, step, &[]);
            }
            for merged in self.steps.merge(own) {
                let length: Cycles = merged.iter().map(&cycles).sum();
                let step = self.steps.compute(&mut self.writer, place, phase, merged);
                let end = now + length.get() + self.sampling;
                self.sample(tile, now, end, step, &[]);
                now = end;
            }
        }
    }

    /// The first iteration of a Repeat is over: what is open ends with it, whatever becomes of the
    /// later ones.
    pub(crate) fn later_iterations(&mut self, now: &Instants) {
        if self.granularity != Granularity::Graph {
            self.leave_region(now);
        }
    }

    /// The later `iterations` of a Repeat, whose body goes on to the schedule position `end`, from
    /// the end of the first to the end of the last.
    pub(crate) fn remainder(
        &mut self,
        place: Place,
        end: u32,
        iterations: u32,
        starts: &Instants,
        ends: &Instants,
    ) {
        if self.granularity == Granularity::Graph {
            return;
        }
        let step = self
            .steps
            .remainder(&mut self.writer, place, end, iterations);
        for tile in 0..starts.len() {
            self.sample(tile, starts[tile], ends[tile], step, &[]);
        }
        self.regions.resume(ends);
    }

    /// The file of a run whose tiles ended at these instants.
    pub(crate) fn finish(mut self, ends: &Instants) -> Result<Vec<u8>, WriteError> {
        self.leave_region(ends);
        self.writer.finish()
    }

    /// The file of a run that these faults ended when its tiles were at these instants.
    pub(crate) fn stop(
        mut self,
        faults: &Faults,
        package: &Package,
        now: &Instants,
    ) -> Result<Vec<u8>, WriteError> {
        let first = faults.first();
        let tile = package.target.tile_mapping.get(first.tile.index());
        self.writer.end(&Ending {
            rule: first.rule.name().to_owned(),
            message: first.to_string(),
            tile: tile.copied().unwrap_or_default(),
            count: u32::try_from(faults.total()).unwrap_or(u32::MAX),
        });
        self.finish(now)
    }

    const fn is_detailed(&self) -> bool {
        matches!(self.granularity, Granularity::Phase | Granularity::Step)
    }

    fn enter_region(&mut self, place: Place, now: &Instants) {
        let label = self.steps.region_label(place.phase);
        if self.regions.prolong(place, label) {
            return;
        }
        self.leave_region(now);
        self.regions.open(place, label);
    }

    fn leave_region(&mut self, now: &Instants) {
        let Some(region) = self.regions.close() else {
            return;
        };
        let step = if self.granularity == Granularity::Graph {
            Steps::graph(&mut self.writer)
        } else {
            self.steps.region(&mut self.writer, &region)
        };
        let starts = self.regions.starts().to_vec();
        for (tile, (&start, &end)) in starts.iter().zip(now).enumerate() {
            self.sample(tile, start, end, step, &[]);
        }
        self.regions.resume(now);
    }

    fn sample(
        &mut self,
        tile: usize,
        start: u64,
        end: u64,
        step: StepId,
        activities: &[ExchangeActivity],
    ) {
        let counter = |instant| self.counter_start.after(Cycles::new(instant));
        let physical = self.package.target.tile_mapping[tile];
        self.writer
            .sample(physical, counter(start), counter(end), step, activities);
    }
}

#[cfg(test)]
mod tests;
