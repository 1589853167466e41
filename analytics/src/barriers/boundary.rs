//! Where the tiles of a device meet: a report in, one row an exchange boundary out.
//!
//! A boundary is a place (epoch, phase) with exchange samples. A tile arrives there when its
//! synchronization of the same place starts; where it has none, when its exchange does. A tile that
//! takes no part in the exchange arrives with its synchronization alone.

use crate::format::DecodeError;
use crate::order;
use crate::profile::{ProfileReport, Sample, SampleKind, StepRow};

/// One exchange boundary over all tiles, in cycles on the shared clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Boundary {
    /// Row in [`ProfileReport::phases`].
    pub(crate) phase_row: u32,
    /// Tiles that arrive.
    pub(crate) tiles: u64,
    pub(crate) first_entry: u64,
    pub(crate) last_entry: u64,
    /// The latest arrival but one; the last one where a single tile arrives.
    pub(crate) second_entry: u64,
    pub(crate) last_exit: u64,
    /// Index of the tile that arrives last; of several, the first in file order.
    pub(crate) last_tile: u32,
    /// Longest horizon of the schedule in cycles; 0 is unknown.
    pub(crate) horizon: u64,
}

/// All boundaries of a report.
#[derive(Clone, Debug, Default)]
pub(crate) struct Boundaries {
    /// Ascending by last arrival, then last exit, epoch and phase.
    pub(crate) list: Vec<Boundary>,
    /// By phase row: position in `list`.
    of_phase: Vec<Option<usize>>,
}

/// Follows the tiles and says when one arrives somewhere.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    at: Vec<Option<u32>>,
}

impl Arrivals {
    pub(crate) fn new(report: &ProfileReport) -> Self {
        Self {
            at: vec![None; report.tiles().len()],
        }
    }

    /// Whether a synchronization or exchange of `phase_row` is the first of its visit.
    pub(crate) fn is_first(&mut self, tile: u32, phase_row: u32) -> bool {
        self.at[tile as usize].replace(phase_row) != Some(phase_row)
    }
}

/// Whether a sample belongs to a boundary, where its place is one. An exchange of no length is a
/// row that was not visited.
pub(crate) fn is_member(step: &StepRow, sample: &Sample) -> bool {
    match step.kind {
        SampleKind::Synchronization => true,
        SampleKind::Exchange => sample.duration > 0,
        SampleKind::Compute | SampleKind::Idle | SampleKind::Unknown(_) => false,
    }
}

impl Boundaries {
    /// Finds the boundaries of `report` in one pass.
    pub(crate) fn find(report: &ProfileReport) -> Result<Self, DecodeError> {
        let mut rows: Vec<Option<Boundary>> = vec![None; report.phases().len()];
        let mut exchanges = vec![false; report.phases().len()];
        let mut arrivals = Arrivals::new(report);
        let file_position = file_positions(report);
        report.visit_samples(|sample| {
            let step = &report.steps()[sample.step as usize];
            if !is_member(step, sample) {
                return;
            }
            let row = &mut rows[step.phase_row as usize];
            if arrivals.is_first(sample.tile, step.phase_row) {
                arrive(row, step.phase_row, sample, &file_position);
            }
            if let Some(row) = row {
                row.last_exit = row.last_exit.max(sample.end());
                row.horizon = row.horizon.max(u64::from(step.event_cycles));
            }
            exchanges[step.phase_row as usize] |= step.kind == SampleKind::Exchange;
        })?;
        let mut list: Vec<Boundary> = rows.into_iter().flatten().collect();
        list.retain(|row| exchanges[row.phase_row as usize]);
        order::by_key(&mut list, |row| {
            let place = report.phases()[row.phase_row as usize];
            (row.last_entry, row.last_exit, place.epoch, place.phase)
        });
        let mut of_phase = vec![None; report.phases().len()];
        for (at, row) in list.iter().enumerate() {
            of_phase[row.phase_row as usize] = Some(at);
        }
        Ok(Self { list, of_phase })
    }

    /// Position of the boundary at a place, where there is one.
    pub(crate) fn at(&self, phase_row: u32) -> Option<usize> {
        self.of_phase[phase_row as usize]
    }
}

/// By tile index: position in the file.
pub(crate) fn file_positions(report: &ProfileReport) -> Vec<u32> {
    let mut positions = vec![0; report.tiles().len()];
    for (position, &tile) in (0..).zip(report.tiles_in_file_order()) {
        positions[tile as usize] = position;
    }
    positions
}

fn arrive(row: &mut Option<Boundary>, phase_row: u32, sample: &Sample, file_position: &[u32]) {
    let Some(row) = row else {
        *row = Some(Boundary {
            phase_row,
            tiles: 1,
            first_entry: sample.start,
            last_entry: sample.start,
            second_entry: sample.start,
            last_exit: sample.end(),
            last_tile: sample.tile,
            horizon: 0,
        });
        return;
    };
    let is_earlier_in_file =
        file_position[sample.tile as usize] < file_position[row.last_tile as usize];
    if sample.start > row.last_entry {
        row.second_entry = row.last_entry;
        row.last_entry = sample.start;
        row.last_tile = sample.tile;
    } else {
        // The first arrival stands for both until there is a second one.
        row.second_entry = match row.tiles {
            1 => sample.start,
            _ => row.second_entry.max(sample.start),
        };
        if sample.start == row.last_entry && is_earlier_in_file {
            row.last_tile = sample.tile;
        }
    }
    row.first_entry = row.first_entry.min(sample.start);
    row.tiles += 1;
}
