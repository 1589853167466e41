//! What the last tile ran while the others waited for it: boundaries in, a kernel each out.
//!
//! Before a boundary every tile may run the same long kernel, and one of them a short one more. The
//! others wait for the short one: it has most of their waiting, not most of the last tile's time.

use super::boundary::{Boundaries, is_member};
use crate::format::DecodeError;
use crate::profile::{ProfileReport, Sample, SampleKind, StepRow};

/// One kernel for one operation, on the last tile since its boundary before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ran {
    /// Rows of the kernel and operation tables.
    pub(super) kernel: u32,
    pub(super) operation: u32,
    /// Its cycles.
    pub(super) cycles: u64,
    /// Tile-cycles that the others waited meanwhile.
    waiting: u64,
}

/// A sample of the last tile that ends after somebody waits.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// Position in [`Before::ran`].
    ran: usize,
    from: u64,
    to: u64,
}

/// What a tile did since its boundary before.
#[derive(Clone, Debug, Default)]
struct Before {
    /// In order of first use.
    ran: Vec<Ran>,
    stretches: Vec<Stretch>,
}

/// Gathers what last tiles run, then who waited meanwhile.
pub(super) struct Late {
    /// By tile: since its boundary before; only for tiles that are last somewhere.
    open: Vec<Option<Before>>,
    /// By tile: the latest arrival at which it is last; what it runs afterwards nobody waits for.
    until: Vec<u64>,
    /// By boundary: of its last tile.
    of_boundary: Vec<Before>,
}

impl Late {
    pub(super) fn new(report: &ProfileReport, boundaries: &Boundaries) -> Self {
        let mut open = vec![None; report.tiles().len()];
        let mut until = vec![0; report.tiles().len()];
        for boundary in &boundaries.list {
            let tile = boundary.last_tile as usize;
            open[tile] = Some(Before::default());
            until[tile] = boundary.last_entry.max(until[tile]);
        }
        Self {
            open,
            until,
            of_boundary: vec![Before::default(); boundaries.list.len()],
        }
    }

    /// A sample that belongs to no boundary.
    pub(super) fn add(&mut self, step: &StepRow, sample: &Sample) {
        let Some(before) = &mut self.open[sample.tile as usize] else {
            return;
        };
        let is_late = sample.start >= self.until[sample.tile as usize];
        if step.kind != SampleKind::Compute || sample.duration == 0 || is_late {
            return;
        }
        let row = (step.kernel_row, step.operation_row);
        let known = before
            .ran
            .iter()
            .position(|it| (it.kernel, it.operation) == row);
        let ran = known.unwrap_or_else(|| {
            before.ran.push(Ran {
                kernel: row.0,
                operation: row.1,
                cycles: 0,
                waiting: 0,
            });
            before.ran.len() - 1
        });
        before.ran[ran].cycles += u64::from(sample.duration);
        let (from, to) = (sample.start, sample.end());
        match before.stretches.last_mut() {
            Some(last) if last.ran == ran && last.to == from => last.to = to,
            _ => before.stretches.push(Stretch { ran, from, to }),
        }
    }

    /// A tile arrives at a boundary: what it ran before is over.
    pub(super) fn arrive(&mut self, boundaries: &Boundaries, at: usize, tile: u32) {
        let Some(open) = &mut self.open[tile as usize] else {
            return;
        };
        let boundary = &boundaries.list[at];
        if boundary.last_tile == tile {
            open.stretches.retain(|it| it.to > boundary.first_entry);
            self.of_boundary[at] = std::mem::take(open);
        } else {
            open.ran.clear();
            open.stretches.clear();
        }
    }

    /// By boundary: what its last tile ran while the others waited most; where nobody waited while
    /// it computed, what it ran most; `None` where it computed nothing. One pass over the samples.
    pub(super) fn most(
        mut self,
        report: &ProfileReport,
        boundaries: &Boundaries,
    ) -> Result<Vec<Option<Ran>>, DecodeError> {
        report.visit_samples(|sample| {
            let step = &report.steps()[sample.step as usize];
            if !is_member(step, sample) {
                return;
            }
            if let Some(at) = boundaries.at(step.phase_row) {
                let last_entry = boundaries.list[at].last_entry;
                self.of_boundary[at].wait(sample.start, sample.end().min(last_entry));
            }
        })?;
        Ok(self.of_boundary.iter().map(Before::most).collect())
    }
}

impl Before {
    /// A tile waits.
    fn wait(&mut self, from: u64, to: u64) {
        if from >= to {
            return;
        }
        for it in &self.stretches {
            self.ran[it.ran].waiting += it.to.min(to).saturating_sub(it.from.max(from));
        }
    }

    /// Of equal ones, the one that ran first.
    fn most(&self) -> Option<Ran> {
        let ran = self.ran.iter().copied().rev();
        ran.max_by_key(|it| (it.waiting, it.cycles))
    }
}
