//! What the part in view spent its cycles on: rows of text for a table, a share for each tile.

use analytics::clock::ClockKind;
use analytics::profile::ProfileReport;
use analytics::report::part_json;
use analytics::timeline::{CellKind, DevicePart, PartQuestion, Spent, Sums, TileSpent};
use analytics::units::StringId;
use serde::{Deserialize, Serialize};

use super::cause::Failure;
use super::list::{List, Press};
use super::protocol::clock_name;
use super::table::Cell;
use crate::state::view::Metric;

/// Which part, and what the map of tiles says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SpentAsked {
    /// The clock in force.
    #[serde(with = "clock_name")]
    pub(crate) clock: ClockKind,
    /// First cycle.
    pub(crate) from: u64,
    /// One past the last cycle.
    pub(crate) to: u64,
    /// First tile position.
    pub(crate) tile_from: u32,
    /// One past the last tile position.
    pub(crate) tile_to: u32,
    /// String id of the kernel that the figures of tiles are about; `None` is all of them.
    pub(crate) focus: Option<u32>,
    /// Figure of the tiles.
    pub(crate) metric: Metric,
}

/// What the part spent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SpentAnswer {
    /// What was asked.
    pub(crate) asked: SpentAsked,
    /// Kinds, then kernels, each with most cycles first.
    pub(crate) rows: List,
    /// A figure for each tile of the part.
    pub(crate) tiles: Vec<TileShare>,
}

/// What the JSON of a part tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Told {
    /// Its sums.
    Sums,
    /// Its tiles one by one, too.
    Tiles,
}

/// The figure of one tile; a ratio, `None` where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TileShare {
    /// Physical id.
    pub(crate) tile: u32,
    /// The figure.
    pub(crate) share: Option<f64>,
}

/// The answer from a report in memory.
pub(crate) fn spent(report: &ProfileReport, asked: SpentAsked) -> Result<SpentAnswer, Failure> {
    let spent = question(report, asked, Told::Sums).answer(report)?;
    let share = |it: &TileSpent| TileShare {
        tile: it.tile.get(),
        share: figure(&spent, it, asked.metric),
    };
    Ok(SpentAnswer {
        asked,
        tiles: spent.tiles.iter().map(share).collect(),
        rows: rows(report, &spent),
    })
}

/// What `profile-part --json` prints.
pub(crate) fn spent_json(
    report: &ProfileReport,
    asked: SpentAsked,
    told: Told,
) -> Result<String, Failure> {
    let mut question = question(report, asked, told);
    question.kernel = question.kernel.filter(|_| question.by_tile);
    let spent = question.answer(report)?;
    Ok(part_json(report, &question, &spent))
}

fn question(report: &ProfileReport, asked: SpentAsked, told: Told) -> PartQuestion {
    let tiles = asked.tile_from..asked.tile_to;
    PartQuestion {
        part: DevicePart::neighbours(report, asked.clock, asked.from..asked.to, tiles),
        by_tile: told == Told::Tiles,
        kernel: asked.focus.map(StringId::new),
    }
}

/// Position of the column with the share of the part.
const SHARE: usize = 2;

fn rows(report: &ProfileReport, spent: &Spent) -> List {
    let mut list = List::new(&[
        (
            "name",
            "Kind or kernel",
            "Kinds first, then the kernels that compute inside; press a kernel to focus it",
        ),
        (
            "cycles",
            "Tile cycles",
            "Cycles inside, summed over the tiles",
        ),
        ("share", "Of the part", "Of all cycles × tiles inside"),
        ("sampleCount", "Samples", "Samples that touch the inside"),
        (
            "usefulUtilization",
            "Useful efficiency",
            "U/D over samples that are inside whole and have an estimate",
        ),
        (
            "workCycleFraction",
            "Work cycles (P/D)",
            "P/D over samples that are inside whole and have an estimate",
        ),
        (
            "coverage",
            "Coverage",
            "Cycles of samples that are inside whole and have an estimate",
        ),
    ]);
    let mut push = |name: &str, press, sums: &Sums| {
        let share = spent.share(sums.cycles);
        let cells = vec![
            Cell::name(name),
            Cell::count(sums.cycles.get()),
            Cell::share(share),
            Cell::count(sums.samples),
            Cell::share(sums.useful_efficiency()),
            Cell::share(sums.work_cycle_fraction()),
            Cell::share(sums.coverage()),
        ];
        list.push(press, cells);
        if let Some(row) = list.rows.last_mut() {
            row.bar = share.map(|it| (SHARE, it.min(1.0)));
        }
    };
    for (kind, sums) in spent.present_kinds() {
        push(kind.name(), Press::Nothing, sums);
    }
    for (kernel, sums) in &spent.kernels {
        match report.string(*kernel) {
            "" => push("(no kernel)", Press::Nothing, sums),
            name => push(name, Press::Kernel(name.to_owned()), sums),
        }
    }
    list
}

fn figure(spent: &Spent, tile: &TileSpent, metric: Metric) -> Option<f64> {
    let of_kind = |kind: CellKind| spent.share_of_tile(tile.kinds[kind as usize]);
    match metric {
        Metric::Compute => spent.share_of_tile(tile.compute.cycles),
        Metric::Efficiency => tile.compute.useful_efficiency(),
        Metric::Work => tile.compute.work_cycle_fraction(),
        Metric::Occupancy => tile.compute.lane_occupancy(),
        Metric::Coverage => tile.compute.coverage(),
        Metric::Exchange => of_kind(CellKind::Exchange),
        Metric::Waiting => of_kind(CellKind::Synchronization),
        Metric::Idle => of_kind(CellKind::Idle),
    }
}
