//! What a part of tiles × time spent its cycles on: sums over the part of each sample inside.
//!
//! Time counts as far as it lies inside. Work counts of samples that lie inside whole: of one that
//! an edge or the crop cuts nobody knows which part of its work was left. A part one cycle long is
//! an instant: there, work counts of the samples that hold it, so that they tell how efficient they
//! are.

use std::ops::Range;

use super::gather::{TileSamples, for_each_tile};
use super::groups::{Member, RowGroups};
use super::part::DevicePart;
use super::raster::CellKind;
use crate::aggregate::ratio;
use crate::clock::{ClockKind, Frame, Placed};
use crate::format::DecodeError;
use crate::order;
use crate::profile::{ProfileReport, SampleKind, StepRow};
use crate::units::{Cycles, PhysicalTile, StringId, Work};

/// Sums over samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Cycles inside.
    pub cycles: Cycles,
    /// Samples that touch the inside.
    pub samples: u64,
    /// Cycles inside of the samples whose work counts and is known.
    pub covered: Cycles,
    /// Measured cycles of these samples; at an instant more than are inside.
    pub estimated: Cycles,
    /// Useful work of these samples.
    pub useful: Work,
    /// Physical work of these samples.
    pub physical: Work,
}

impl Sums {
    /// Useful work over the measured cycles that have an estimate; `None` where none has.
    #[must_use]
    pub fn useful_efficiency(&self) -> Option<f64> {
        ratio(self.useful.as_cycles(), self.estimated.get())
    }

    /// Physical work over the measured cycles that have an estimate; `None` where none has.
    #[must_use]
    pub fn work_cycle_fraction(&self) -> Option<f64> {
        ratio(self.physical.as_cycles(), self.estimated.get())
    }

    /// Useful work over physical work; `None` without any.
    #[must_use]
    pub fn lane_occupancy(&self) -> Option<f64> {
        let physical = self.physical.as_cycles();
        (physical > 0.0).then(|| self.useful.as_cycles() / physical)
    }

    /// Cycles with an estimate over all cycles inside; `None` without any.
    #[must_use]
    pub fn coverage(&self) -> Option<f64> {
        share(self.covered, self.cycles)
    }

    fn add(&mut self, part: &Part) {
        self.cycles += part.cycles;
        self.samples += 1;
        if let Some((useful, physical)) = part.work {
            self.covered += part.cycles;
            self.estimated += part.measured;
            self.useful += useful;
            self.physical += physical;
        }
    }
}

/// What one tile spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileSpent {
    /// The tile.
    pub tile: PhysicalTile,
    /// Cycles of each kind, by [`CellKind`].
    pub kinds: [Cycles; CellKind::COUNT],
    /// Compute: of the kernel in focus, where one is.
    pub compute: Sums,
}

/// What a part of tiles × time spent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Cycles × tiles of the part.
    pub whole: Cycles,
    /// Cycles of the part, in each of its tiles.
    pub length: Cycles,
    /// All samples of each kind, by [`CellKind`].
    pub kinds: [Sums; CellKind::COUNT],
    /// Kernels that compute inside, most cycles first, then by string id.
    pub kernels: Vec<(StringId, Sums)>,
    /// The tiles of the part, in the order of the profile.
    pub tiles: Vec<TileSpent>,
}

/// `part` of `whole` as a ratio; `None` where the whole is nothing.
#[must_use]
fn share(part: Cycles, whole: Cycles) -> Option<f64> {
    let part = Work::from_cycles(part.get()).as_cycles();
    ratio(part, whole.get())
}

impl Spent {
    /// Takes over the sums of the kernels of `report`.
    fn name_kernels(&mut self, report: &ProfileReport, kernels: Vec<Sums>) {
        let named = report.kernels().iter().copied().zip(kernels);
        self.kernels = named.filter(|(_, sums)| sums.samples > 0).collect();
        order::by_key(&mut self.kernels, |(id, sums)| {
            (std::cmp::Reverse(sums.cycles), id.get())
        });
    }

    /// Sums of the kinds that samples inside have, most cycles first, then in the order of
    /// [`CellKind`].
    #[must_use]
    pub fn present_kinds(&self) -> Vec<(CellKind, &Sums)> {
        let kinds = (0..).zip(&self.kinds);
        let kinds = kinds.filter(|(_, sums)| sums.samples > 0);
        let mut kinds: Vec<_> = kinds
            .map(|(kind, sums)| (CellKind::from_byte(kind), sums))
            .collect();
        order::by_key(&mut kinds, |(_, sums)| std::cmp::Reverse(sums.cycles));
        kinds
    }

    /// Part of all cycles × tiles that a sum took.
    #[must_use]
    pub fn share(&self, part: Cycles) -> Option<f64> {
        share(part, self.whole)
    }

    /// Part of the cycles of one tile.
    #[must_use]
    pub fn share_of_tile(&self, part: Cycles) -> Option<f64> {
        share(part, self.length)
    }
}

/// What the tiles at positions `tiles` spent in `cycles` of `clock`; with `focus`, the compute sums
/// of each tile are of that kernel alone.
///
/// # Errors
/// Where a chunk that the part touches cannot be decoded.
pub fn spent(
    report: &ProfileReport,
    clock: ClockKind,
    cycles: Range<u64>,
    tiles: Range<u32>,
    focus: Option<StringId>,
) -> Result<Spent, DecodeError> {
    let part = DevicePart::neighbours(report, clock, cycles, tiles);
    spent_in(report, &part, focus)
}

/// What a part spent; with `focus`, the compute sums of each tile are of that kernel alone.
///
/// # Errors
/// Where a chunk that the part touches cannot be decoded.
pub fn spent_in(
    report: &ProfileReport,
    inside: &DevicePart,
    focus: Option<StringId>,
) -> Result<Spent, DecodeError> {
    let frame = Frame::new(report, inside.clock);
    let (cycles, length) = (&inside.cycles, inside.length());
    let mut kernels = vec![Sums::default(); report.kernels().len()];
    let mut found = Spent {
        whole: Cycles::new(length.saturating_mul(inside.tile_count())),
        length: Cycles::new(length),
        ..Spent::default()
    };
    let mut visit = |tile: u32, samples: &TileSamples| {
        let entry = &report.tiles()[tile as usize];
        let mut of_tile = TileSpent {
            tile: entry.tile,
            kinds: Default::default(),
            compute: Sums::default(),
        };
        for (start, duration, step) in samples.iter() {
            let step = &report.steps()[step as usize];
            let placed = frame.place(entry, start, duration);
            let Some(part) = placed.and_then(|it| Part::of(&it, cycles, step)) else {
                continue;
            };
            let kind = CellKind::of(step.kind) as usize;
            of_tile.kinds[kind] += part.cycles;
            found.kinds[kind].add(&part);
            if step.kind == SampleKind::Compute {
                kernels[step.kernel_row as usize].add(&part);
                if focus.is_none_or(|focus| focus == step.kernel) {
                    of_tile.compute.add(&part);
                }
            }
        }
        found.tiles.push(of_tile);
    };
    for tiles in &inside.tiles {
        for_each_tile(report, frame, tiles.clone(), cycles.clone(), &mut visit)?;
    }
    found.name_kernels(report, kernels);
    Ok(found)
}

/// What the group at position `group` of `groups` spent in `cycles` of `clock`; nothing is told
/// tile by tile.
///
/// # Errors
/// Where a chunk that the cycles touch cannot be decoded.
///
/// # Panics
/// Where there is no such group, or the groups are not of this profile.
pub fn spent_of_group(
    report: &ProfileReport,
    clock: ClockKind,
    cycles: Range<u64>,
    groups: &RowGroups,
    group: u32,
) -> Result<Spent, DecodeError> {
    let frame = Frame::new(report, clock);
    let length = cycles.end.saturating_sub(cycles.start);
    let members = groups.tiles[group as usize];
    let mut kernels = vec![Sums::default(); report.kernels().len()];
    let mut found = Spent {
        whole: Cycles::new(length.saturating_mul(u64::from(members))),
        length: Cycles::new(length),
        ..Spent::default()
    };
    let tiles = groups.extent(group, report);
    for_each_tile(report, frame, tiles, cycles.clone(), |tile, samples| {
        let entry = &report.tiles()[tile as usize];
        let is_member = match &groups.member {
            Member::OfTile(of) => of[tile as usize] == group,
            Member::OfOperation(_) => true,
        };
        for (start, duration, step) in samples.iter().filter(|_| is_member) {
            let step = &report.steps()[step as usize];
            if let Member::OfOperation(of) = &groups.member
                && of[step.operation_row as usize] != group
            {
                continue;
            }
            let placed = frame.place(entry, start, duration);
            if let Some(part) = placed.and_then(|it| Part::of(&it, &cycles, step)) {
                found.kinds[CellKind::of(step.kind) as usize].add(&part);
                if step.kind == SampleKind::Compute {
                    kernels[step.kernel_row as usize].add(&part);
                }
            }
        }
    })?;
    found.name_kernels(report, kernels);
    Ok(found)
}

/// The inside of one sample.
struct Part {
    cycles: Cycles,
    /// Cycles of the whole sample.
    measured: Cycles,
    /// Useful and physical work, where it counts and is known.
    work: Option<(Work, Work)>,
}

impl Part {
    fn of(placed: &Placed, inside: &Range<u64>, step: &StepRow) -> Option<Self> {
        let start = placed.offset.max(inside.start);
        let end = placed.end().min(inside.end);
        let is_instant = inside.end - inside.start == 1;
        let is_whole = is_instant || end.saturating_sub(start) == placed.duration;
        (end > start).then(|| Self {
            cycles: Cycles::new(end - start),
            measured: Cycles::new(placed.duration),
            work: step
                .estimate
                .filter(|_| is_whole && !placed.cut)
                .map(|it| (it.useful, it.physical)),
        })
    }
}
