//! Exchange boundaries: who arrives last, and how long the others wait for it.
//!
//! Everything is on the shared clock and nothing is cropped. Arrival spreads of different
//! boundaries say nothing together, since a tile that is late at one may be early at the next:
//! what adds up is waiting, in tile-cycles.

pub(crate) mod boundary;
mod late;
mod waits;

use crate::format::DecodeError;
use crate::order;
use crate::profile::ProfileReport;
use crate::query::missing_kernel;
use crate::units::PhysicalTile;
use boundary::Boundaries;

/// Arrivals that are at most this many cycles apart count as a tie: six worker contexts read the
/// counter in turn, and undisturbed repetitions differ by up to four turns.
pub const TIE_CYCLES: u64 = 24;

/// The boundaries of a profile, and the synchronization of its tiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BarrierReport {
    /// Tile clock in hertz; 0 is unknown.
    pub clock_hz: u64,
    /// Profiled tiles, those without samples included.
    pub tile_count: u64,
    /// The kernel that is asked about: boundaries, and what tiles waited there, are those whose
    /// last tile ran it while the others waited. `None` is all boundaries.
    pub kernel: Option<String>,
    /// Ascending by last exit, then epoch and phase.
    pub barriers: Vec<Barrier>,
    /// One for each profiled tile, ascending by physical id.
    pub tiles: Vec<TileWaits>,
    /// Most waiting first, then by kernel.
    pub culprits: Vec<Culprit>,
    /// What a reader should know before trusting the figures, such as near names of a kernel that
    /// the profile does not have.
    pub warnings: Vec<String>,
}

/// One exchange boundary. Instants are cycles on the shared clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// Exchange epoch, or Repeat body.
    pub epoch: u32,
    /// Phase as recorded: bit 31 marks an exchange id.
    pub phase: u32,
    /// Tiles that arrive.
    pub tiles: u64,
    /// First arrival.
    pub first_entry: u64,
    /// Last arrival.
    pub last_entry: u64,
    /// Latest end of an exchange or synchronization of the boundary.
    pub last_exit: u64,
    /// The tile that arrives last; of several, the first in file order.
    pub last_tile: PhysicalTile,
    /// Cycles by which it is later than any other; at most [`TIE_CYCLES`] is a tie.
    pub late_by: u64,
    /// Tiles that arrive at most [`TIE_CYCLES`] before the last arrival, the last tile included:
    /// with more than one, which of them is called the last says little.
    pub late_tiles: u64,
    /// Cycles that the static schedule takes; `None` is unknown.
    pub scheduled: Option<u64>,
    /// Tile-cycles from each arrival to the last one.
    pub waiting: u64,
    /// What the last tile computed while the others waited; `None` where it computed nothing since
    /// its boundary before, and so left that boundary late.
    pub late_work: Option<LateWork>,
}

impl Barrier {
    /// Whether there is no single late tile.
    #[must_use]
    pub const fn is_tie(&self) -> bool {
        self.late_tiles > 1
    }

    /// Tiles that share the last arrival, the last tile included; 0 where one alone is late.
    #[must_use]
    pub const fn tied(&self) -> u64 {
        if self.is_tie() { self.late_tiles } else { 0 }
    }

    /// Last arrival minus first arrival.
    #[must_use]
    pub const fn arrival_spread(&self) -> u64 {
        self.last_entry - self.first_entry
    }

    /// Last exit minus last arrival.
    #[must_use]
    pub const fn after_last_arrival(&self) -> u64 {
        self.last_exit.saturating_sub(self.last_entry)
    }

    /// The part of a stay in `from..to`, on the shared clock, that was spent waiting for the last
    /// tile, in cycles.
    #[must_use]
    pub fn waiting_within(&self, from: u64, to: u64) -> u64 {
        waits::before(self.last_entry, from, to)
    }

    /// What is left of a synchronization in `from..to`, on the shared clock: the cost of the
    /// barrier itself, in cycles.
    #[must_use]
    pub fn cost_within(&self, from: u64, to: u64) -> u64 {
        to.saturating_sub(from)
            .saturating_sub(self.waiting_within(from, to))
    }

    /// What [`Self::after_last_arrival`] exceeds the schedule by; `None` where that is unknown.
    #[must_use]
    pub fn overhead(&self) -> Option<u64> {
        Some(self.after_last_arrival().saturating_sub(self.scheduled?))
    }
}

/// The kernel that a late tile ran while the others waited for it at a boundary: of several, the
/// one with most of their waiting. Where nobody waited while it computed, the one that took most of
/// its time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LateWork {
    /// Kernel symbol; may be empty.
    pub kernel: String,
    /// Model-level operation; may be empty.
    pub operation: String,
    /// Its cycles since the tile's boundary before.
    pub cycles: u64,
}

/// The waits of one tile, in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TileWaits {
    /// Physical id.
    pub tile: PhysicalTile,
    /// Sum of its synchronization samples: the next three together.
    pub synchronization: u64,
    /// The part before the last tile arrived.
    pub waiting: u64,
    /// The part after: what the barrier itself costs.
    pub barrier: u64,
    /// Synchronization away from exchange boundaries, such as checkpoints.
    pub elsewhere: u64,
    /// Waiting inside exchange samples, in files whose exchanges start at the arrival.
    pub waiting_in_exchange: u64,
    /// Boundaries at which this tile arrived last.
    pub last_at: u64,
    /// Tile-cycles that the others waited there.
    pub caused: u64,
}

/// A kernel that the last tiles ran before boundaries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Culprit {
    /// Kernel symbol; `None` where the last tile computed nothing and left the boundary before
    /// late.
    pub kernel: Option<String>,
    /// Boundaries at which it made the others wait.
    pub barriers: u64,
    /// Those of them at which other tiles arrived as late as the last one, within [`TIE_CYCLES`].
    pub ties: u64,
    /// Distinct tiles that ran it then.
    pub tiles: u64,
    /// Tile-cycles that the others waited.
    pub waiting: u64,
}

impl BarrierReport {
    /// Tile-cycles of waiting over all boundaries.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.barriers.iter().map(|row| row.waiting).sum()
    }

    /// The boundary of a place, phase as recorded; `None` where tiles do not meet there.
    #[must_use]
    pub fn at(&self, phase: u32, epoch: u32) -> Option<&Barrier> {
        let is_there = |row: &&Barrier| (row.phase, row.epoch) == (phase, epoch);
        self.barriers.iter().find(is_there)
    }

    /// Tile-cycles of synchronization over all tiles.
    #[must_use]
    pub fn synchronization(&self) -> u64 {
        self.tiles.iter().map(|tile| tile.synchronization).sum()
    }

    /// Tile-cycles of barrier cost over all tiles.
    #[must_use]
    pub fn barrier(&self) -> u64 {
        self.tiles.iter().map(|tile| tile.barrier).sum()
    }
}

/// The boundaries of `report`. Three passes over the samples; memory grows with tiles, boundaries
/// and what last tiles ran, not with all samples.
///
/// # Errors
/// Where a sample chunk cannot be decoded.
pub fn barriers(report: &ProfileReport) -> Result<BarrierReport, DecodeError> {
    barriers_at(report, &Boundaries::find(report)?)
}

/// As [`barriers`], where the boundaries are known: two passes.
pub(crate) fn barriers_at(
    report: &ProfileReport,
    boundaries: &Boundaries,
) -> Result<BarrierReport, DecodeError> {
    waits::split(report, boundaries)
}

/// The boundaries of `report` at which tiles waited for `kernel`, by its exact name, and what each
/// tile waited there. Synchronization elsewhere is left out. One pass more than [`barriers`].
///
/// # Errors
/// Where a sample chunk cannot be decoded.
pub fn barriers_for(report: &ProfileReport, kernel: &str) -> Result<BarrierReport, DecodeError> {
    let boundaries = Boundaries::find(report)?;
    let mut found = waits::split_for(report, &boundaries, kernel)?;
    found.kernel = Some(kernel.to_owned());
    found.warnings.extend(missing_kernel(report, kernel));
    Ok(found)
}

/// The order of listed boundaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BarrierSort {
    /// By last exit, ascending.
    #[default]
    LastExit,
    /// By arrival spread, descending.
    ArrivalSpread,
    /// By tile-cycles of waiting, descending.
    Waiting,
    /// By cycles after the last arrival, descending.
    AfterLastArrival,
}

impl BarrierSort {
    /// Every order, as help texts list them.
    pub const ALL: [Self; 4] = [
        Self::LastExit,
        Self::ArrivalSpread,
        Self::Waiting,
        Self::AfterLastArrival,
    ];

    /// The name in flags and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LastExit => "last-exit",
            Self::ArrivalSpread => "arrival-spread",
            Self::Waiting => "waiting",
            Self::AfterLastArrival => "after-last-arrival",
        }
    }

    /// The order with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sort| sort.name() == name)
    }
}

impl BarrierReport {
    /// The first `limit` boundaries in an order; 0 is all. Ties are by last exit.
    #[must_use]
    pub fn listed(&self, sort: BarrierSort, limit: usize) -> Vec<&Barrier> {
        let mut rows: Vec<&Barrier> = self.barriers.iter().collect();
        match sort {
            BarrierSort::LastExit => {}
            BarrierSort::ArrivalSpread => {
                order::by_key(&mut rows, |row| std::cmp::Reverse(row.arrival_spread()));
            }
            BarrierSort::Waiting => order::by_key(&mut rows, |row| std::cmp::Reverse(row.waiting)),
            BarrierSort::AfterLastArrival => {
                order::by_key(&mut rows, |row| std::cmp::Reverse(row.after_last_arrival()));
            }
        }
        if limit > 0 {
            rows.truncate(limit);
        }
        rows
    }
}
