//! The tiles at the end of one phase: how long each had left when it arrived.

use analytics::clock::ClockKind;
use analytics::critical;
use analytics::profile::ProfileReport;
use serde::{Deserialize, Serialize};

use super::cause::Failure;
use super::list::{List, Press};
use super::phases::options;
use super::protocol::clock_name;
use super::table::Cell;

/// Which phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SlackAsked {
    /// The clock in force; the tile clock stands for the shared one.
    #[serde(with = "clock_name")]
    pub(crate) clock: ClockKind,
    /// (phase, epoch) of the exchange boundary that ends it, as recorded; `None` is the end of the
    /// run.
    pub(crate) boundary: Option<(u32, u32)>,
}

/// Its tiles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SlackAnswer {
    /// What was asked.
    pub(crate) asked: SlackAsked,
    /// The straggler first, then the least slack.
    pub(crate) tiles: List,
}

/// The answer from a report in memory.
pub(crate) fn slack(report: &ProfileReport, asked: SlackAsked) -> Result<SlackAnswer, Failure> {
    let mut list = List::new(&[
        (
            "tile",
            "Tile",
            "Physical id, the straggler first; press to bring it into view",
        ),
        (
            "arrival",
            "Arrives",
            "Cycle of its arrival at the boundary; at the end of the run, of its own end",
        ),
        (
            "slack",
            "Slack",
            "Cycles that it waited for the straggler: what it could have taken longer",
        ),
    ]);
    for it in critical::slack(report, &options(asked.clock), asked.boundary)? {
        let tile = it.tile.get();
        list.push(
            Press::Tile(tile),
            vec![
                Cell::id(tile),
                Cell::count(it.arrival),
                Cell::count(it.slack),
            ],
        );
    }
    Ok(SlackAnswer {
        asked,
        tiles: list.with_bars("slack"),
    })
}
