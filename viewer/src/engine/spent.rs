//! What the part in view spent its cycles on: rows of text for a table, a share for each tile.

use analytics::clock::ClockKind;
use analytics::order;
use analytics::profile::ProfileReport;
use analytics::text;
use analytics::timeline::{self, CellKind, Spent, Sums, TileSpent};
use analytics::units::StringId;
use serde::{Deserialize, Serialize};

use super::cause::Failure;
use super::protocol::clock_name;
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
    pub(crate) rows: Vec<SpentRow>,
    /// A figure for each tile of the part.
    pub(crate) tiles: Vec<TileShare>,
}

/// Sums of a kind or a kernel inside the part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SpentRow {
    /// Name of the kind or symbol of the kernel.
    pub(crate) name: String,
    /// Whether it is a kernel.
    pub(crate) is_kernel: bool,
    /// Part of cycles × tiles of the part.
    pub(crate) share: Option<f64>,
    /// Texts of cycles, share, samples, useful efficiency, work cycles and coverage.
    pub(crate) cells: [String; 6],
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
    let tiles = asked.tile_from..asked.tile_to;
    let focus = asked.focus.map(StringId::new);
    let spent = timeline::spent(report, asked.clock, asked.from..asked.to, tiles, focus)?;
    let mut rows = kinds(&spent);
    rows.extend(spent.kernels.iter().map(|(kernel, sums)| {
        let name = report.string(*kernel);
        let name = if name.is_empty() { "(no kernel)" } else { name };
        row(&spent, name, true, sums)
    }));
    let share = |it: &TileSpent| TileShare {
        tile: it.tile.get(),
        share: figure(&spent, it, asked.metric),
    };
    Ok(SpentAnswer {
        asked,
        tiles: spent.tiles.iter().map(share).collect(),
        rows,
    })
}

/// What the kind with this [`CellKind`] is called.
pub(crate) fn kind_name(kind: usize) -> &'static str {
    const NAMES: [&str; CellKind::COUNT] = [
        "exchange",
        "compute",
        "synchronization",
        "idle",
        "unknown kind",
    ];
    NAMES.get(kind).copied().unwrap_or_default()
}

fn kinds(spent: &Spent) -> Vec<SpentRow> {
    let named = spent.kinds.iter().enumerate();
    let mut kinds: Vec<(&str, &Sums)> = named.map(|(at, sums)| (kind_name(at), sums)).collect();
    kinds.retain(|(_, sums)| sums.samples > 0);
    order::by_key(&mut kinds, |(_, sums)| std::cmp::Reverse(sums.cycles));
    kinds
        .into_iter()
        .map(|(name, sums)| row(spent, name, false, sums))
        .collect()
}

fn row(spent: &Spent, name: &str, is_kernel: bool, sums: &Sums) -> SpentRow {
    let share = spent.share(sums.cycles);
    SpentRow {
        name: name.to_owned(),
        is_kernel,
        share,
        cells: [
            text::cycles(sums.cycles),
            text::percent(share),
            text::count(sums.samples),
            text::percent(sums.useful_efficiency()),
            text::percent(sums.work_cycle_fraction()),
            text::percent(sums.coverage()),
        ],
    }
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
