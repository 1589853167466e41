//! The critical path of a bulk-synchronous run: which tile every stretch waited for, and what the
//! run would take if that changed.
//!
//! The last arrivals at the exchange boundaries cut the run into *stretches*; the last one ends
//! with the run. A stretch is as long as its *straggler* took, the tile that arrives last at its
//! end, so the stragglers' samples, cut at the ends of their stretches, sum to the run: barrier
//! cost, exchange, compute, idle, and what no sample covers.
//!
//! A tile's *slack* is the time from its arrival to the end of the stretch. Every prediction keeps
//! exchanges and barriers as they were and moves nothing between tiles.

mod segments;
mod slack;
mod stretch;

use crate::barriers::boundary::Boundaries;
use crate::clock::ClockKind;
use crate::format::DecodeError;
use crate::order;
use crate::profile::{ProfileReport, SampleKind};
use crate::units::{Cycles, PhysicalTile};

pub use slack::{TileSlack, slack};

/// Hundredths of a percent in one.
pub const WHOLE: u32 = 10_000;

/// A question about the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CriticalOptions {
    /// Whether the run starts on the shared clock, with nothing cropped; else on the cropped one.
    pub shared: bool,
    /// How much of its time a kernel saves in the predictions, in hundredths of a percent, at most
    /// [`WHOLE`].
    pub faster: u32,
}

impl CriticalOptions {
    /// The clock that the run starts on.
    pub(crate) const fn clock(&self) -> ClockKind {
        if self.shared {
            ClockKind::Shared
        } else {
            ClockKind::Cropped
        }
    }
}

impl Default for CriticalOptions {
    fn default() -> Self {
        Self {
            shared: false,
            faster: 1_000,
        }
    }
}

/// The critical path of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// The clock that instants are on: cropped or shared.
    pub clock: ClockKind,
    /// Tile clock in hertz; 0 is unknown.
    pub clock_hz: u64,
    /// Profiled tiles, those without samples included.
    pub tile_count: u64,
    /// The run in cycles: the sum of the stretches, and of their parts.
    pub run: u64,
    /// The assumption of [`KernelOnPath::run_if_faster`], in hundredths of a percent.
    pub faster: u32,
    /// In time order, without gaps.
    pub stretches: Vec<Stretch>,
    /// All stretches together.
    pub parts: Parts,
    /// Kernels of compute samples: most cycles on the path first, then by name.
    pub kernels: Vec<KernelOnPath>,
    /// Steps on the path, ascending by position. With [`Parts::unattributed`] they sum to the run.
    pub steps: Vec<StepOnPath>,
    /// What a reader should know before trusting the figures.
    pub warnings: Vec<String>,
}

/// The time between two last arrivals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// (phase, epoch) of the exchange boundary that ends it, phase as recorded; `None` at the end
    /// of the run.
    pub boundary: Option<(u32, u32)>,
    /// First cycle.
    pub start: u64,
    /// One past the last cycle: the last arrival.
    pub end: u64,
    /// The tile that arrives last; `None` where no tile does.
    pub straggler: Option<PhysicalTile>,
    /// The kernel that took most of the straggler's time, and its cycles.
    pub kernel: Option<(String, u64)>,
    /// What the straggler did.
    pub parts: Parts,
    /// Tiles that arrive.
    pub tiles: u64,
    /// Tile-cycles between the arrivals and the end.
    pub slack: u64,
    /// Longest slack of a tile.
    pub maximum_slack: u64,
}

/// Cycles by what the straggler did; their sum is the length of the stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Synchronization: what the barrier costs after the last arrival.
    pub barrier: u64,
    /// Exchange.
    pub exchange: u64,
    /// Compute.
    pub compute: u64,
    /// Idle, and kinds that are unknown.
    pub idle: u64,
    /// Covered by no sample.
    pub unattributed: u64,
}

impl Parts {
    /// The sum.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.barrier + self.exchange + self.compute + self.idle + self.unattributed
    }

    /// Cycles more of a kind.
    pub(crate) const fn add(&mut self, kind: SampleKind, cycles: u64) {
        let part = match kind {
            SampleKind::Synchronization => &mut self.barrier,
            SampleKind::Exchange => &mut self.exchange,
            SampleKind::Compute => &mut self.compute,
            SampleKind::Idle | SampleKind::Unknown(_) => &mut self.idle,
        };
        *part += cycles;
    }

    const fn plus(self, other: Self) -> Self {
        Self {
            barrier: self.barrier + other.barrier,
            exchange: self.exchange + other.exchange,
            compute: self.compute + other.compute,
            idle: self.idle + other.idle,
            unattributed: self.unattributed + other.unattributed,
        }
    }
}

impl Stretch {
    /// Length in cycles.
    #[must_use]
    pub const fn cycles(&self) -> u64 {
        self.end - self.start
    }

    /// What the stretch would be shorter by if its work were spread evenly over its tiles: the mean
    /// slack, rounded down.
    #[must_use]
    pub const fn saved_if_balanced(&self) -> u64 {
        match self.slack.checked_div(self.tiles) {
            Some(mean) => mean,
            None => 0,
        }
    }
}

/// A kernel and the critical path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelOnPath {
    /// Kernel symbol; may be empty.
    pub kernel: String,
    /// Its cycles on the path: those of the stragglers.
    pub cycles: u64,
    /// Stretches whose straggler ran it.
    pub stretches: u64,
    /// The run if every call took [`CriticalPath::faster`] less time.
    pub run_if_faster: u64,
}

/// A step and the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepOnPath {
    /// Position in [`ProfileReport::steps`].
    pub step: u32,
    /// Its cycles on the path, at least one.
    pub cycles: u64,
}

impl CriticalPath {
    /// The run if every stretch were balanced.
    #[must_use]
    pub fn run_if_balanced(&self) -> u64 {
        let saved: u64 = self.stretches.iter().map(Stretch::saved_if_balanced).sum();
        self.run.saturating_sub(saved)
    }

    /// The first `limit` stretches by what balancing saves; 0 is all, and then in time order.
    #[must_use]
    pub fn listed(&self, limit: usize) -> Vec<&Stretch> {
        let mut rows: Vec<&Stretch> = self.stretches.iter().collect();
        if limit > 0 && limit < rows.len() {
            order::by_key(&mut rows, |row| std::cmp::Reverse(row.saved_if_balanced()));
            rows.truncate(limit);
            order::by_key(&mut rows, |row| row.start);
        }
        rows
    }

    /// The run in cycles as a quantity.
    #[must_use]
    pub const fn run_cycles(&self) -> Cycles {
        Cycles::new(self.run)
    }
}

/// The critical path of `report`. Two passes over the samples; memory grows with tiles, stretches
/// and the steps of their stragglers, not with samples.
///
/// # Errors
/// Where a sample chunk cannot be decoded.
pub fn critical_path(
    report: &ProfileReport,
    options: &CriticalOptions,
) -> Result<CriticalPath, DecodeError> {
    critical_path_at(report, &Boundaries::find(report)?, options)
}

/// As [`critical_path`], where the boundaries are known: one pass.
pub(crate) fn critical_path_at(
    report: &ProfileReport,
    boundaries: &Boundaries,
    options: &CriticalOptions,
) -> Result<CriticalPath, DecodeError> {
    stretch::measure(report, boundaries, options)
}
