//! The slack of every tile in one stretch: boundaries and samples in, arrivals out.

use super::CriticalOptions;
use crate::barriers::boundary::{Arrivals, Boundaries, file_positions, is_member};
use crate::clock::Frame;
use crate::format::DecodeError;
use crate::order;
use crate::profile::ProfileReport;
use crate::units::PhysicalTile;

/// A tile at the end of a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileSlack {
    /// Physical id.
    pub tile: PhysicalTile,
    /// When it arrived, on the clock of the path; at the end of the run, when its last sample
    /// ended.
    pub arrival: u64,
    /// Cycles of the stretch that were left to it when it arrived; at most the whole stretch.
    pub slack: u64,
}

/// The slack of each tile that arrives at the end of one stretch: the straggler first, then the
/// least slack. `boundary` is the (phase, epoch) of [`super::Stretch::boundary`]; an empty list
/// where no stretch ends there. Two passes over the samples.
///
/// # Errors
/// Where a sample chunk cannot be decoded.
pub fn slack(
    report: &ProfileReport,
    options: &CriticalOptions,
    boundary: Option<(u32, u32)>,
) -> Result<Vec<TileSlack>, DecodeError> {
    let boundaries = Boundaries::find(report)?;
    let place = |row: u32| report.phases()[row as usize];
    let is_it = |row: u32| boundary == Some((place(row).phase, place(row).epoch));
    let at = match boundary {
        None => Some(boundaries.list.len()),
        Some(_) => boundaries.list.iter().position(|it| is_it(it.phase_row)),
    };
    let Some(at) = at else {
        return Ok(Vec::new());
    };
    let origin = Frame::new(report, options.clock()).crop();
    let before = at.checked_sub(1).map(|at| boundaries.list[at].last_entry);
    let from = before.unwrap_or(origin).max(origin);
    let instants = arrivals(report, &boundaries, at)?;
    let longest = instants.iter().flatten().map(|it| it.saturating_sub(from));
    let longest = longest.max().unwrap_or(0);
    let file_position = file_positions(report);
    let tile = |(index, instant): (usize, Option<u64>)| {
        let instant = instant?;
        let slack = TileSlack {
            tile: report.tiles()[index].tile,
            arrival: instant.saturating_sub(origin),
            slack: longest - instant.saturating_sub(from),
        };
        Some((instant, file_position[index], slack))
    };
    let mut tiles: Vec<_> = instants.into_iter().enumerate().filter_map(tile).collect();
    // Of several that arrive last, the first in file order is the straggler.
    order::by_key(&mut tiles, |it| (std::cmp::Reverse(it.0), it.1));
    Ok(tiles.into_iter().map(|it| it.2).collect())
}

/// By tile: when it ends stretch `at`, on the shared clock; `None` where it does not.
fn arrivals(
    report: &ProfileReport,
    boundaries: &Boundaries,
    at: usize,
) -> Result<Vec<Option<u64>>, DecodeError> {
    let is_end_of_run = at == boundaries.list.len();
    let mut instants = vec![None; report.tiles().len()];
    let mut arrivals = Arrivals::new(report);
    report.visit_samples(|sample| {
        let step = &report.steps()[sample.step as usize];
        let instant = &mut instants[sample.tile as usize];
        if is_member(step, sample)
            && arrivals.is_first(sample.tile, step.phase_row)
            && let Some(found) = boundaries.at(step.phase_row)
        {
            if is_end_of_run {
                *instant = None;
            } else if found == at {
                *instant = Some(sample.start);
            }
        }
        if is_end_of_run && sample.duration > 0 {
            *instant = (*instant).max(Some(sample.end()));
        }
    })?;
    Ok(instants)
}
