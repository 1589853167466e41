//! Who made whom wait: boundaries in, waits of tiles and boundaries and their causes out.

use std::collections::BTreeMap;

use super::boundary::{Arrivals, Boundaries, Boundary, is_member};
use super::late::{Late, Ran};
use super::{Barrier, BarrierReport, Culprit, LateWork, TIE_CYCLES, TileWaits};
use crate::format::DecodeError;
use crate::order;
use crate::profile::{ProfileReport, Sample, SampleKind};

/// What the second pass gathers.
struct Split<'a> {
    report: &'a ProfileReport,
    boundaries: &'a Boundaries,
    /// By boundary: whether it counts.
    counts: &'a [bool],
    /// Whether all of them count, and so what is no boundary.
    all_count: bool,
    tiles: Vec<TileWaits>,
    /// By boundary: tile-cycles of waiting.
    waiting: Vec<u64>,
    /// By boundary: tiles that arrive with the last one, or a tie before it.
    late_tiles: Vec<u64>,
    arrivals: Arrivals,
}

/// Splits the synchronization of every tile at the last arrivals of the boundaries.
pub(super) fn split(
    report: &ProfileReport,
    boundaries: &Boundaries,
) -> Result<BarrierReport, DecodeError> {
    let counts = vec![true; boundaries.list.len()];
    let (split, late) = gathered(report, boundaries, &counts)?;
    Ok(split.finish(&late.most(report, boundaries)?))
}

/// The same at those boundaries alone whose last tile ran `kernel` while the others waited.
/// Synchronization elsewhere does not count.
pub(super) fn split_for(
    report: &ProfileReport,
    boundaries: &Boundaries,
    kernel: &str,
) -> Result<BarrierReport, DecodeError> {
    let all = vec![true; boundaries.list.len()];
    let (_, late) = gathered(report, boundaries, &all)?;
    let late = late.most(report, boundaries)?;
    let name = |ran: &Ran| report.string(report.kernels()[ran.kernel as usize]);
    let is_it = |ran: &Option<Ran>| ran.as_ref().is_some_and(|it| name(it) == kernel);
    let counts: Vec<bool> = late.iter().map(is_it).collect();
    let (split, _) = gathered(report, boundaries, &counts)?;
    Ok(split.finish(&late))
}

/// The part of `from..to` before the last arrival.
pub(super) fn before(last_entry: u64, from: u64, to: u64) -> u64 {
    last_entry.clamp(from, to.max(from)) - from
}

/// One pass over the samples.
fn gathered<'a>(
    report: &'a ProfileReport,
    boundaries: &'a Boundaries,
    counts: &'a [bool],
) -> Result<(Split<'a>, Late), DecodeError> {
    let count = boundaries.list.len();
    let tiles = report.tiles().iter().map(|entry| TileWaits {
        tile: entry.tile,
        ..TileWaits::default()
    });
    let mut split = Split {
        report,
        boundaries,
        counts,
        all_count: counts.iter().all(|&counts| counts),
        tiles: tiles.collect(),
        waiting: vec![0; count],
        late_tiles: vec![0; count],
        arrivals: Arrivals::new(report),
    };
    let mut late = Late::new(report, boundaries);
    report.visit_samples(|sample| split.add(&mut late, sample))?;
    Ok((split, late))
}

impl Split<'_> {
    fn add(&mut self, late: &mut Late, sample: &Sample) {
        let step = &self.report.steps()[sample.step as usize];
        if !is_member(step, sample) {
            late.add(step, sample);
            return;
        }
        let is_first = self.arrivals.is_first(sample.tile, step.phase_row);
        let Some(at) = self.boundaries.at(step.phase_row) else {
            if self.all_count {
                let tile = &mut self.tiles[sample.tile as usize];
                tile.synchronization += u64::from(sample.duration);
                tile.elsewhere += u64::from(sample.duration);
            }
            return;
        };
        let boundary = &self.boundaries.list[at];
        if is_first {
            let waiting = boundary.last_entry - sample.start;
            self.waiting[at] += waiting;
            self.late_tiles[at] += u64::from(waiting <= TIE_CYCLES);
            late.arrive(self.boundaries, at, sample.tile);
        }
        if !self.counts[at] {
            return;
        }
        let before = before(boundary.last_entry, sample.start, sample.end());
        let tile = &mut self.tiles[sample.tile as usize];
        if step.kind == SampleKind::Synchronization {
            tile.synchronization += u64::from(sample.duration);
            tile.waiting += before;
            tile.barrier += u64::from(sample.duration) - before;
        } else {
            tile.waiting_in_exchange += before;
        }
    }

    /// With what the last tile of each boundary ran while the others waited.
    fn finish(mut self, late: &[Option<Ran>]) -> BarrierReport {
        let counted = |at: &usize| self.counts[*at];
        let rows: Vec<usize> = (0..self.boundaries.list.len()).filter(counted).collect();
        for &at in &rows {
            let (boundary, waiting) = (&self.boundaries.list[at], self.waiting[at]);
            let tile = &mut self.tiles[boundary.last_tile as usize];
            tile.last_at += 1;
            tile.caused += waiting;
        }
        let barrier = |at| self.barrier(at, &self.boundaries.list[at], late[at]);
        let mut barriers: Vec<Barrier> = rows.into_iter().map(barrier).collect();
        order::by_key(&mut barriers, |row| (row.last_exit, row.epoch, row.phase));
        BarrierReport {
            clock_hz: self.report.header().clock_hz,
            tile_count: self.report.tiles().len() as u64,
            kernel: None,
            culprits: culprits(&barriers),
            barriers,
            tiles: self.tiles,
            warnings: self.report.warnings(),
        }
    }

    fn barrier(&self, at: usize, row: &Boundary, late: Option<Ran>) -> Barrier {
        let report = self.report;
        let place = report.phases()[row.phase_row as usize];
        let late_work = late.map(|ran| LateWork {
            kernel: report
                .string(report.kernels()[ran.kernel as usize])
                .to_owned(),
            operation: report
                .string(report.operations()[ran.operation as usize])
                .to_owned(),
            cycles: ran.cycles,
        });
        Barrier {
            epoch: place.epoch,
            phase: place.phase,
            tiles: row.tiles,
            first_entry: row.first_entry,
            last_entry: row.last_entry,
            last_exit: row.last_exit,
            last_tile: report.tiles()[row.last_tile as usize].tile,
            late_by: row.last_entry - row.second_entry,
            late_tiles: self.late_tiles[at],
            scheduled: (row.horizon > 0).then_some(row.horizon),
            waiting: self.waiting[at],
            late_work,
        }
    }
}

fn culprits(barriers: &[Barrier]) -> Vec<Culprit> {
    let mut by_kernel: BTreeMap<Option<&str>, Vec<&Barrier>> = BTreeMap::new();
    for row in barriers {
        let kernel = row.late_work.as_ref().map(|work| work.kernel.as_str());
        by_kernel.entry(kernel).or_default().push(row);
    }
    let culprit = |(kernel, rows): (Option<&str>, Vec<&Barrier>)| {
        let mut tiles: Vec<_> = rows.iter().map(|row| row.last_tile).collect();
        order::ascending(&mut tiles);
        tiles.dedup();
        Culprit {
            kernel: kernel.map(str::to_owned),
            barriers: rows.len() as u64,
            ties: rows.iter().filter(|row| row.is_tie()).count() as u64,
            tiles: tiles.len() as u64,
            waiting: rows.iter().map(|row| row.waiting).sum(),
        }
    };
    let mut list: Vec<Culprit> = by_kernel.into_iter().map(culprit).collect();
    // The sort is stable, so equal ones stay by kernel.
    order::by_key(&mut list, |it| std::cmp::Reverse(it.waiting));
    list
}
