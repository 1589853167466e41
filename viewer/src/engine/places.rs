//! Where in the schedule one tile was over the cycles in view: phases for the ruler, items for what
//! is live as long as they are.

use analytics::clock::ClockKind;
use analytics::profile::ProfileReport;
use analytics::timeline::{item_spans, phase_spans};
use serde::{Deserialize, Serialize};

use super::cause::Failure;
use super::protocol::clock_name;

/// Which tile, when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlacesAsked {
    /// The clock in force.
    #[serde(with = "clock_name")]
    pub(crate) clock: ClockKind,
    /// First cycle.
    pub(crate) from: u64,
    /// One past the last cycle.
    pub(crate) to: u64,
    /// Position of the tile.
    pub(crate) tile: u32,
    /// More than this many are not told apart.
    pub(crate) most: u32,
}

/// The phases in view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RulerAnswer {
    /// What was asked.
    pub(crate) asked: PlacesAsked,
    /// In order; `None` where there are too many.
    pub(crate) phases: Option<Vec<PhaseMark>>,
}

/// One phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PhaseMark {
    /// First cycle in view.
    pub(crate) from: u64,
    /// One past the last cycle in view.
    pub(crate) to: u64,
    /// Phase and epoch; `x` marks exchanges that are numbered apart.
    pub(crate) name: String,
}

/// The items in view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ItemsAnswer {
    /// What was asked.
    pub(crate) asked: PlacesAsked,
    /// Where the tile was.
    pub(crate) found: Items,
}

/// The items that a tile was in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Items {
    /// In order.
    Here(Vec<ItemMark>),
    /// More than are told apart.
    TooMany,
    /// Samples are still to be read.
    Unread,
    /// Samples cannot be decoded; what is wrong with them.
    Broken(String),
}

/// Consecutive items of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ItemMark {
    /// First cycle in view.
    pub(crate) from: u64,
    /// One past the last cycle in view.
    pub(crate) to: u64,
    /// First item.
    pub(crate) first: u32,
    /// One past the last item.
    pub(crate) after: u32,
}

/// The items from a report in memory. What adorns another picture never fails: it says why not.
pub(crate) fn items(report: &ProfileReport, asked: PlacesAsked) -> ItemsAnswer {
    let cycles = asked.from..asked.to;
    let spans = item_spans(report, asked.clock, cycles, asked.tile, asked.most as usize);
    let mark = |it: analytics::timeline::ItemSpan| ItemMark {
        from: it.cycles.start,
        to: it.cycles.end,
        first: it.items.start,
        after: it.items.end,
    };
    ItemsAnswer {
        asked,
        found: match spans {
            Ok(Some(spans)) => Items::Here(spans.into_iter().map(mark).collect()),
            Ok(None) => Items::TooMany,
            Err(error) => Items::Broken(error.to_string()),
        },
    }
}

/// The phases from a report in memory.
pub(crate) fn phases(report: &ProfileReport, asked: PlacesAsked) -> Result<RulerAnswer, Failure> {
    const EXCHANGE: u32 = 1 << 31;
    let cycles = asked.from..asked.to;
    let spans = phase_spans(report, asked.clock, cycles, asked.tile, asked.most as usize)?;
    let mark = |it: analytics::timeline::PhaseSpan| {
        let mark = if it.phase.phase & EXCHANGE == 0 {
            ""
        } else {
            "x"
        };
        let number = it.phase.phase & !EXCHANGE;
        PhaseMark {
            from: it.cycles.start,
            to: it.cycles.end,
            name: format!("{mark}{number}/{}", it.phase.epoch),
        }
    };
    Ok(RulerAnswer {
        asked,
        phases: spans.map(|spans| spans.into_iter().map(mark).collect()),
    })
}
