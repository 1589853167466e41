//! The run phase by phase: how long each was, for whom the tiles waited, what balance would save.
//!
//! A report in, one row a stretch of the critical path out, joined with the exchange boundary that
//! ends it. Every instant is on one clock; cut by the crop where that is the cropped one.

use crate::barriers::boundary::Boundaries;
use crate::barriers::{Barrier, BarrierReport, barriers_at};
use crate::clock::Frame;
use crate::critical::{CriticalOptions, CriticalPath, Parts, Stretch, critical_path_at};
use crate::format::DecodeError;
use crate::order;
use crate::profile::ProfileReport;
use crate::query::place_name;
use crate::units::PhysicalTile;

/// The phases of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PhaseReport {
    /// The critical path that the rows are the stretches of.
    pub path: CriticalPath,
    /// The boundaries that end them, and the waits of tiles.
    pub barriers: BarrierReport,
    /// In time order, without gaps.
    pub phases: Vec<Phase>,
}

/// The time between two last arrivals. Instants are cycles on [`CriticalPath::clock`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// For people, unique in the report: the place of the boundary that ends it, or `end of the
    /// run`.
    pub name: String,
    /// First cycle.
    pub start: u64,
    /// One past the last cycle: the last arrival.
    pub end: u64,
    /// First arrival; [`Self::end`] where no boundary ends the phase.
    pub first_arrival: u64,
    /// End of the exchange that follows; [`Self::end`] where none does.
    pub exit: u64,
    /// The tile that everybody waited for.
    pub straggler: Option<PhysicalTile>,
    /// The kernel that took most of the straggler's time, and its cycles.
    pub kernel: Option<(String, u64)>,
    /// The kernel that the straggler ran while the others waited for it, and its cycles; `None`
    /// where no boundary ends the phase or it computed nothing.
    pub waited_for: Option<(String, u64)>,
    /// Cycles by which the straggler was later than any other tile; `None` at the end of the run.
    pub late_by: Option<u64>,
    /// Tiles that share the last arrival, see [`Barrier::tied`]; `None` at the end of the run.
    pub tied: Option<u64>,
    /// What the straggler did.
    pub parts: Parts,
    /// Tiles that arrived.
    pub tiles: u64,
    /// Tile-cycles that the others waited.
    pub waiting: u64,
    /// Longest wait of one tile.
    pub maximum_wait: u64,
    /// Cycles that the phase would be shorter by if its work were spread evenly.
    pub saved_if_balanced: u64,
    /// What the exchange that follows exceeds its schedule by; `None` is unknown.
    pub overhead: Option<u64>,
}

impl Phase {
    /// Length in cycles.
    #[must_use]
    pub const fn cycles(&self) -> u64 {
        self.end - self.start
    }

    /// Last arrival minus first arrival.
    #[must_use]
    pub const fn arrival_spread(&self) -> u64 {
        self.end.saturating_sub(self.first_arrival)
    }
}

/// The phases of `report`. Four passes over the samples; memory grows with tiles, phases
/// and what last tiles ran.
///
/// # Errors
/// Where a sample chunk cannot be decoded.
pub fn phases(
    report: &ProfileReport,
    options: &CriticalOptions,
) -> Result<PhaseReport, DecodeError> {
    let boundaries = Boundaries::find(report)?;
    let path = critical_path_at(report, &boundaries, options)?;
    let barriers = barriers_at(report, &boundaries)?;
    let zero = Frame::new(report, path.clock).crop();
    let places = barriers.barriers.iter();
    let of_place = order::map(places.map(|it| ((it.phase, it.epoch), it)));
    let joined = |stretch: &Stretch| {
        let barrier = stretch.boundary.and_then(|it| of_place.get(&it).copied());
        phase(stretch, barrier, zero)
    };
    let phases = path.stretches.iter().map(joined).collect();
    Ok(PhaseReport {
        path,
        barriers,
        phases,
    })
}

fn phase(stretch: &Stretch, barrier: Option<&Barrier>, zero: u64) -> Phase {
    let place = |shared: u64| shared.saturating_sub(zero);
    Phase {
        name: match stretch.boundary {
            Some((phase, epoch)) => place_name(phase, epoch),
            None => "end of the run".to_owned(),
        },
        start: stretch.start,
        end: stretch.end,
        first_arrival: barrier.map_or(stretch.end, |it| place(it.first_entry)),
        exit: barrier.map_or(stretch.end, |it| place(it.last_exit)),
        straggler: stretch.straggler,
        kernel: stretch.kernel.clone(),
        waited_for: barrier
            .and_then(|it| it.late_work.as_ref())
            .map(|it| (it.kernel.clone(), it.cycles)),
        late_by: barrier.map(|it| it.late_by),
        tied: barrier.map(Barrier::tied),
        parts: stretch.parts,
        tiles: stretch.tiles,
        waiting: stretch.slack,
        maximum_wait: stretch.maximum_slack,
        saved_if_balanced: stretch.saved_if_balanced(),
        overhead: barrier.and_then(Barrier::overhead),
    }
}
