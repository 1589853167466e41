//! The figures of a group of samples: exact sums first, ratios last.

use crate::units::{Cycles, Work};

/// Exact figures of a group of samples on one clock. Ratios are methods: they are taken from the
/// sums, never averaged and never clipped, and `None` is "unavailable".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// Samples that match: those of non-zero length on the clock.
    pub sample_count: u64,
    /// Distinct tiles of these samples.
    pub tile_count: u64,
    /// Distinct (phase, epoch) places of these samples.
    pub phase_count: u64,
    /// Sum over places of the longest tile, a tile's time being the sum of its samples there.
    pub phase_cycles: Cycles,
    /// Length of the union of the intervals, touching ones merged.
    pub timeline_cycles: Cycles,
    /// Sum of the durations.
    pub work_cycles: Cycles,
    /// The part of `work_cycles` in uncut samples with an estimate.
    pub estimated_cycles: Cycles,
    /// Useful work of the covered samples; see [`Self::useful`].
    pub useful_sum: Work,
    /// Physical work of the covered samples; see [`Self::physical`].
    pub physical_sum: Work,
    /// Median duration, lower nearest rank.
    pub p50: Cycles,
    /// 95th percentile of the durations, lower nearest rank.
    pub p95: Cycles,
    /// Longest duration.
    pub maximum: Cycles,
    /// First cycle of the earliest sample.
    pub first_offset: u64,
    /// One past the last cycle of the latest sample.
    pub last_offset: u64,
    /// All profiled tiles of the file, the width of the device in [`Self::device_useful`].
    pub profiled_tiles: u64,
}

impl Measures {
    /// Whether any sample carries an estimate; without one, useful and physical work are unknown.
    #[must_use]
    pub fn has_estimate(&self) -> bool {
        self.estimated_cycles > Cycles::ZERO
    }

    /// Useful work U; `None` where no sample carries an estimate.
    #[must_use]
    pub fn useful(&self) -> Option<Work> {
        self.has_estimate().then_some(self.useful_sum)
    }

    /// Physical work P; `None` where no sample carries an estimate.
    #[must_use]
    pub fn physical(&self) -> Option<Work> {
        self.has_estimate().then_some(self.physical_sum)
    }

    /// Wasted cycles: the measured cycles with estimates that were no useful work; below zero where
    /// the estimate is above what was measured. `None` where no sample carries an estimate.
    #[must_use]
    pub fn wasted(&self) -> Option<f64> {
        Some(float(self.estimated_cycles.get()) - self.useful()?.as_cycles())
    }

    /// Mean duration in cycles.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        ratio(float(self.work_cycles.get()), self.sample_count)
    }

    /// Work cycles over phase cycles.
    #[must_use]
    pub fn average_active_tiles(&self) -> Option<f64> {
        ratio(float(self.work_cycles.get()), self.phase_cycles.get())
    }

    /// Useful efficiency: useful work over the measured cycles with estimates.
    #[must_use]
    pub fn useful_efficiency(&self) -> Option<f64> {
        ratio(self.useful()?.as_cycles(), self.estimated_cycles.get())
    }

    /// Work-cycle fraction: physical work over the measured cycles with estimates.
    #[must_use]
    pub fn work_cycle_fraction(&self) -> Option<f64> {
        ratio(self.physical()?.as_cycles(), self.estimated_cycles.get())
    }

    /// Lane occupancy: useful over physical work; `None` where there is no physical work.
    #[must_use]
    pub fn lane_occupancy(&self) -> Option<f64> {
        let physical = self.physical()?.as_cycles();
        (physical > 0.0).then(|| self.useful_sum.as_cycles() / physical)
    }

    /// Device useful utilisation: useful work over the interval union on all profiled tiles.
    #[must_use]
    pub fn device_useful(&self) -> Option<f64> {
        let tile_cycles = float(self.timeline_cycles.get()) * float(self.profiled_tiles);
        let useful = self.useful()?.as_cycles();
        (tile_cycles > 0.0).then(|| useful / tile_cycles)
    }

    /// Whether samples without an estimate make [`Self::device_useful`] a lower bound.
    #[must_use]
    pub fn device_useful_is_lower_bound(&self) -> bool {
        self.has_estimate() && self.estimated_cycles < self.work_cycles
    }

    /// Coverage: measured cycles with estimates over measured cycles.
    #[must_use]
    pub fn coverage(&self) -> Option<f64> {
        ratio(float(self.estimated_cycles.get()), self.work_cycles.get())
    }
}

/// `numerator / denominator`, or `None` where the denominator is zero.
pub(crate) fn ratio(numerator: f64, denominator: u64) -> Option<f64> {
    (denominator > 0).then(|| numerator / float(denominator))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "ratios are taken last, from exact sums"
)]
pub(crate) fn float(value: u64) -> f64 {
    value as f64
}
