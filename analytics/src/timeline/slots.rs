//! What samples count for in a cell: steps in, numbered slots out.

use super::cells::quotient;
use super::raster::CellKind;
use crate::clock::Placed;
use crate::order;
use crate::profile::{ProfileReport, SampleKind, StepRow};
use crate::units::StringId;

/// What the cells of a picture tell apart beside their kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellChoice {
    /// Which names the cells carry.
    pub names: CellNames,
    /// Kernel whose share of each cell is wanted.
    pub focus: Option<StringId>,
    /// Whether the useful efficiency of each cell is wanted: of the kernel in focus, where one is.
    pub efficiency: bool,
    /// Whether lane occupancy, useful over physical work, is wanted in place of efficiency.
    pub occupancy: bool,
}

impl CellChoice {
    /// Whether cells have a level of efficiency or occupancy.
    pub(super) const fn has_levels(self) -> bool {
        self.efficiency || self.occupancy
    }
}

/// Which names cells carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellNames {
    /// Kernel symbols.
    #[default]
    Kernel,
    /// Model-level operations.
    Operation,
}

/// Steps of an efficiency of 100 %: a level is useful efficiency in 1/200, rounded to nearest.
pub const FULL_EFFICIENCY: u8 = 200;
/// The level of a cell without any estimate. The level before it is 127 % or more.
pub const NO_EFFICIENCY: u8 = 255;

/// A kind and a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot {
    pub(super) kind: CellKind,
    /// String id plus one; 0 for the empty name.
    pub(super) name: u32,
    /// Whether it is the kernel in focus.
    pub(super) focused: bool,
}

/// Which slot the samples of each step count for.
pub(super) struct Slots {
    of_step: Vec<u32>,
    slots: Vec<Slot>,
    /// Useful and physical work of each step in 256ths of an issue-cycle; empty where it is not
    /// asked for.
    work: Vec<Option<[u64; 2]>>,
    /// Whether levels are of useful over physical work.
    pub(super) occupancy: bool,
    /// Bits of the levels in a number, below those of its slot.
    shift: u32,
    /// Whether efficiency is of the kernel in focus alone.
    pub(super) has_focus: bool,
    /// Whether no two numbers share a kind and a name.
    pub(super) is_unique: bool,
}

impl Slots {
    pub(super) fn new(report: &ProfileReport, choice: CellChoice) -> Self {
        let keys = Keys::new(report, choice);
        let mut known: Vec<Option<Slot>> = vec![None; keys.count];
        for step in report.steps() {
            known[keys.key(step)].get_or_insert_with(|| keys.slot(report, step));
        }
        let mut slots: Vec<Slot> = known.iter().flatten().copied().collect();
        order::ascending(&mut slots);
        slots.dedup();
        let ids: Vec<u32> = known
            .iter()
            .map(|slot| slot.and_then(|slot| slots.binary_search(&slot).ok()))
            .map(|at| at.and_then(|at| u32::try_from(at).ok()).unwrap_or(0))
            .collect();
        let work = |step: &StepRow| {
            let computes = step.kind == SampleKind::Compute;
            let estimate = step.estimate.filter(|_| computes);
            estimate.map(|it| [it.useful.get_256ths(), it.physical.get_256ths()])
        };
        let has_levels = choice.has_levels();
        let wanted = if has_levels { report.steps() } else { &[] };
        let is_unique = !has_levels
            && slots
                .windows(2)
                .all(|pair| (pair[0].kind, pair[0].name) != (pair[1].kind, pair[1].name));
        Self {
            is_unique,
            of_step: report.steps().iter().map(|it| ids[keys.key(it)]).collect(),
            slots,
            work: wanted.iter().map(work).collect(),
            occupancy: choice.occupancy,
            shift: if choice.occupancy { 16 } else { 8 },
            has_focus: choice.focus.is_some(),
        }
    }

    /// The number that a sample counts for: its slot and, where asked for, its efficiency.
    #[inline]
    pub(super) fn of_sample(&self, step: u32, placed: &Placed) -> u32 {
        let slot = self.of_step[step as usize] << self.shift;
        match self.work.get(step as usize) {
            None => slot,
            Some(work) => {
                let level = |at: usize| u32::from(level(work.map(|it| it[at]), placed));
                let physical = if self.occupancy { level(1) << 8 } else { 0 };
                slot | physical | level(0)
            }
        }
    }

    pub(super) fn slot(&self, number: u32) -> &Slot {
        &self.slots[(number >> self.shift) as usize]
    }

    /// The levels of useful and, for occupancy, of physical work over time in a number; `None`
    /// without an estimate.
    pub(super) fn levels_of(&self, number: u32) -> Option<(u8, u8)> {
        let [.., physical, useful] = number.to_be_bytes();
        let physical = if self.occupancy { physical } else { 0 };
        (!self.work.is_empty() && useful != NO_EFFICIENCY).then_some((useful, physical))
    }
}

/// A cut sample has no estimate: nobody knows which part of its work was left.
fn level(useful: Option<u64>, placed: &Placed) -> u8 {
    let (Some(useful), false) = (useful, placed.cut) else {
        return NO_EFFICIENCY;
    };
    let whole = u128::from(placed.duration) * 256;
    let parts = u128::from(useful) * u128::from(FULL_EFFICIENCY) + whole / 2;
    u8::try_from(quotient(parts, whole))
        .unwrap_or(u8::MAX)
        .min(NO_EFFICIENCY - 1)
}

/// Steps outnumber names by far: the slot of each name row and kind is looked up once.
struct Keys {
    choice: CellChoice,
    count: usize,
}

impl Keys {
    fn new(report: &ProfileReport, choice: CellChoice) -> Self {
        let rows = match choice.names {
            CellNames::Kernel => report.kernels().len(),
            CellNames::Operation => report.operations().len(),
        };
        let count = rows * CellKind::COUNT * 2;
        Self { choice, count }
    }

    fn key(&self, step: &StepRow) -> usize {
        let row = match self.choice.names {
            CellNames::Kernel => step.kernel_row,
            CellNames::Operation => step.operation_row,
        };
        let kind = row as usize * CellKind::COUNT + CellKind::of(step.kind) as usize;
        kind * 2 + usize::from(self.is_focused(step))
    }

    fn is_focused(&self, step: &StepRow) -> bool {
        step.kind == SampleKind::Compute && self.choice.focus == Some(step.kernel)
    }

    fn slot(&self, report: &ProfileReport, step: &StepRow) -> Slot {
        let name = match self.choice.names {
            CellNames::Kernel => step.kernel,
            CellNames::Operation => step.operation,
        };
        Slot {
            kind: CellKind::of(step.kind),
            name: if report.string(name).is_empty() {
                0
            } else {
                name.get() + 1
            },
            focused: self.is_focused(step),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level_at(useful: u64, duration: u64, cut: bool) -> u8 {
        let placed = Placed {
            offset: 0,
            duration,
            cut,
        };
        level(Some(useful * 256), &placed)
    }

    #[test]
    fn levels_are_200ths_and_end_below_the_mark_of_no_estimate() {
        assert_eq!(level_at(50, 100, false), 100);
        assert_eq!(level_at(100, 100, false), FULL_EFFICIENCY);
        assert_eq!(level_at(1, 800, false), 0, "a quarter of a level");
        assert_eq!(level_at(3, 800, false), 1, "three quarters of a level");
        assert_eq!(level_at(9_000, 1, false), NO_EFFICIENCY - 1);
        assert_eq!(level_at(50, 100, true), NO_EFFICIENCY);
    }
}
