//! Who made whom wait: boundaries in, waits of tiles and boundaries and their causes out.

use std::collections::BTreeMap;

use super::boundary::{Arrivals, Boundaries, Boundary, is_member};
use super::{Barrier, BarrierReport, Culprit, LateWork, TIE_CYCLES, TileWaits};
use crate::format::DecodeError;
use crate::order;
use crate::profile::{ProfileReport, Sample, SampleKind, StepRow};

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
    /// By boundary: what the last tile ran, as rows of the kernel and operation tables.
    late: Vec<Option<Ran>>,
    /// By tile: what it ran since its boundary before; only for tiles that are last somewhere.
    ran: Vec<Option<Vec<Ran>>>,
    arrivals: Arrivals,
}

/// Cycles of one kernel for one operation.
#[derive(Clone, Copy, Debug)]
struct Ran {
    kernel: u32,
    operation: u32,
    cycles: u64,
}

/// Splits the synchronization of every tile at the last arrivals of the boundaries that count.
/// Synchronization elsewhere counts where all of them do.
pub(super) fn split(
    report: &ProfileReport,
    boundaries: &Boundaries,
    counts: &[bool],
) -> Result<BarrierReport, DecodeError> {
    Ok(Split::new(report, boundaries, counts)?.finish())
}

/// By boundary: the kernel that its last tile ran most.
pub(super) fn kernels<'r>(
    report: &'r ProfileReport,
    boundaries: &Boundaries,
) -> Result<Vec<Option<&'r str>>, DecodeError> {
    let counts = vec![true; boundaries.list.len()];
    let late = Split::new(report, boundaries, &counts)?.late;
    let name = |ran: Ran| report.string(report.kernels()[ran.kernel as usize]);
    Ok(late.into_iter().map(|ran| ran.map(name)).collect())
}

impl<'a> Split<'a> {
    /// Visits all samples.
    fn new(
        report: &'a ProfileReport,
        boundaries: &'a Boundaries,
        counts: &'a [bool],
    ) -> Result<Self, DecodeError> {
        let count = boundaries.list.len();
        let tiles = report.tiles().iter().map(|entry| TileWaits {
            tile: entry.tile,
            ..TileWaits::default()
        });
        let mut split = Self {
            report,
            boundaries,
            counts,
            all_count: counts.iter().all(|&counts| counts),
            tiles: tiles.collect(),
            waiting: vec![0; count],
            late_tiles: vec![0; count],
            late: vec![None; count],
            ran: vec![None; report.tiles().len()],
            arrivals: Arrivals::new(report),
        };
        for boundary in &boundaries.list {
            split.ran[boundary.last_tile as usize] = Some(Vec::new());
        }
        report.visit_samples(|sample| split.add(sample))?;
        Ok(split)
    }
}

impl Split<'_> {
    fn add(&mut self, sample: &Sample) {
        let step = &self.report.steps()[sample.step as usize];
        if !is_member(step, sample) {
            self.add_work(step, sample);
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
            self.end_segment(at, sample.tile);
        }
        if !self.counts[at] {
            return;
        }
        let before = boundary.last_entry.clamp(sample.start, sample.end()) - sample.start;
        let tile = &mut self.tiles[sample.tile as usize];
        if step.kind == SampleKind::Synchronization {
            tile.synchronization += u64::from(sample.duration);
            tile.waiting += before;
            tile.barrier += u64::from(sample.duration) - before;
        } else {
            tile.waiting_in_exchange += before;
        }
    }

    fn add_work(&mut self, step: &StepRow, sample: &Sample) {
        let Some(ran) = &mut self.ran[sample.tile as usize] else {
            return;
        };
        if step.kind != SampleKind::Compute || sample.duration == 0 {
            return;
        }
        let cycles = u64::from(sample.duration);
        let same =
            |it: &&mut Ran| (it.kernel, it.operation) == (step.kernel_row, step.operation_row);
        match ran.iter_mut().find(same) {
            Some(it) => it.cycles += cycles,
            None => ran.push(Ran {
                kernel: step.kernel_row,
                operation: step.operation_row,
                cycles,
            }),
        }
    }

    /// A tile arrives at a boundary: what it ran before is over.
    fn end_segment(&mut self, at: usize, tile: u32) {
        let Some(ran) = &mut self.ran[tile as usize] else {
            return;
        };
        if self.boundaries.list[at].last_tile == tile {
            // Of equally long ones, the one that ran first.
            self.late[at] = ran.iter().copied().rev().max_by_key(|it| it.cycles);
        }
        ran.clear();
    }

    fn finish(mut self) -> BarrierReport {
        let counted = |at: &usize| self.counts[*at];
        let rows: Vec<usize> = (0..self.boundaries.list.len()).filter(counted).collect();
        for &at in &rows {
            let (boundary, waiting) = (&self.boundaries.list[at], self.waiting[at]);
            let tile = &mut self.tiles[boundary.last_tile as usize];
            tile.last_at += 1;
            tile.caused += waiting;
        }
        let barrier = |at| self.barrier(at, &self.boundaries.list[at]);
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

    fn barrier(&self, at: usize, row: &Boundary) -> Barrier {
        let report = self.report;
        let place = report.phases()[row.phase_row as usize];
        let late_work = self.late[at].map(|ran| LateWork {
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
