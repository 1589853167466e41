//! What the hot loop looks up for each sample: a report and a grouping in, one row a step out.

use crate::clock::Frame;
use crate::order;
use crate::profile::{ProfileReport, StepRow, TileEntry};

/// The group of a step whose samples do not match.
pub(crate) const NO_GROUP: u32 = u32::MAX;

/// Which group each matching sample belongs to.
#[derive(Clone, Debug)]
pub(crate) enum Grouping {
    /// By step: the dense group id of each step, or [`NO_GROUP`].
    BySteps {
        /// One for each step of the report.
        group_of_step: Vec<u32>,
        /// One more than the largest group id.
        group_count: u32,
    },
    /// By tile: the group is the tile index. Steps marked `false` do not match.
    ByTile {
        /// One for each step of the report.
        matches: Vec<bool>,
    },
}

/// Which samples match, besides those that the grouping left out.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    /// One for each tile of the report.
    pub(crate) tiles: Vec<bool>,
    /// Only samples that run at this cycle of the tile clock.
    pub(crate) at: Option<u64>,
    /// Only samples that run at this cycle of the clock in force.
    pub(crate) at_offset: Option<u64>,
}

/// A step as the hot loop sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepPlan {
    /// Group, or [`NO_GROUP`]; by tile, 0 for all that match.
    pub(crate) group: u32,
    /// Row in [`Plan::places`].
    pub(crate) place: u32,
    /// Useful work in 256ths.
    pub(crate) useful: u64,
    /// Physical work in 256ths.
    pub(crate) physical: u64,
    /// All ones where the step has an estimate, else zero: a mask for its cycles.
    pub(crate) covered: u64,
}

/// The (phase, epoch) place of one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Row in [`ProfileReport::phases`].
    pub(crate) phase: u32,
    /// Group; by tile, 0.
    pub(crate) group: u32,
}

/// Everything a pass over the samples needs to know.
pub(crate) struct Plan<'a> {
    pub(crate) report: &'a ProfileReport,
    pub(crate) frame: Frame,
    pub(crate) selection: Selection,
    pub(crate) steps: Vec<StepPlan>,
    pub(crate) places: Vec<Place>,
    pub(crate) group_count: usize,
    pub(crate) by_tile: bool,
    /// Whether some phase has several places, so that the totals need sums of their own.
    pub(crate) phases_are_shared: bool,
    /// Longest samples to keep.
    pub(crate) longest: usize,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(
        report: &'a ProfileReport,
        frame: Frame,
        grouping: &Grouping,
        selection: Selection,
        longest: usize,
    ) -> Self {
        let group_of = |step: usize| match grouping {
            Grouping::BySteps { group_of_step, .. } => group_of_step[step],
            Grouping::ByTile { matches } => match matches[step] {
                true => 0,
                false => NO_GROUP,
            },
        };
        let rows = || {
            report
                .steps()
                .iter()
                .enumerate()
                .map(|(at, row)| (group_of(at), row))
        };
        let mut places: Vec<Place> = rows()
            .filter(|(group, _)| *group != NO_GROUP)
            .map(|(group, row)| Place {
                phase: row.phase_row,
                group,
            })
            .collect();
        order::ascending(&mut places);
        places.dedup();
        let steps = rows()
            .map(|(group, row)| step_plan(group, row, &places))
            .collect();
        let (group_count, by_tile) = match grouping {
            Grouping::BySteps { group_count, .. } => (*group_count as usize, false),
            Grouping::ByTile { .. } => (report.tiles().len(), true),
        };
        let phases_are_shared = places.windows(2).any(|pair| pair[0].phase == pair[1].phase);
        Self {
            report,
            frame,
            selection,
            steps,
            places,
            group_count,
            by_tile,
            phases_are_shared,
            longest,
        }
    }

    /// Whether a chunk may hold matching samples.
    pub(crate) fn touches(&self, chunk: usize) -> bool {
        let entry = &self.report.chunks()[chunk];
        let tiles = entry.tiles.start as usize..entry.tiles.end as usize;
        let some_tile = self.selection.tiles[tiles.clone()]
            .iter()
            .any(|&selected| selected);
        let holds = |tile: &TileEntry, at| entry.cycles.contains(&self.shared_cycle(tile, at));
        let at_offset = self.selection.at_offset.is_none_or(|at| {
            self.report.tiles()[tiles]
                .iter()
                .any(|tile| holds(tile, at))
        });
        some_tile && at_offset
    }

    /// The cycles, on the shared clock, that a sample of `tile` must run at to match.
    pub(crate) fn instants(&self, tile: &TileEntry) -> [Option<u64>; 2] {
        let at = self
            .selection
            .at
            .map(|at| tile.first_start.saturating_add(at));
        [
            at,
            self.selection
                .at_offset
                .map(|at| self.shared_cycle(tile, at)),
        ]
    }

    fn shared_cycle(&self, tile: &TileEntry, offset: u64) -> u64 {
        self.frame.origin(tile).saturating_add(offset)
    }
}

/// Whether a sample runs at `cycle`; one of no length runs at no cycle.
pub(crate) fn runs_at(start: u64, duration: u32, cycle: u64) -> bool {
    start <= cycle && cycle - start < u64::from(duration)
}

fn step_plan(group: u32, row: &StepRow, places: &[Place]) -> StepPlan {
    let place = places.binary_search(&Place {
        phase: row.phase_row,
        group,
    });
    let place = place.ok().and_then(|at| u32::try_from(at).ok());
    let (useful, physical, covered) = match &row.estimate {
        Some(it) => (it.useful.get_256ths(), it.physical.get_256ths(), u64::MAX),
        None => (0, 0, 0),
    };
    StepPlan {
        group,
        place: place.unwrap_or(0),
        useful,
        physical,
        covered,
    }
}
