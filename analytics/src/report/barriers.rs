//! Exchange boundaries as JSON and as text.

use std::fmt::Write as _;

use serde::Serialize;

use super::json::pretty;
use super::table::{Align, table};
use super::text::warned;
use crate::aggregate::{float, ratio};
use crate::barriers::{
    Barrier, BarrierReport, BarrierSort, Culprit, LateWork, TIE_CYCLES, TileWaits,
};
use crate::order;
use crate::query::place_name;
use crate::text;

/// Name and version of the contract.
pub const BARRIERS_SCHEMA: &str = "ipu-stack/profile-barriers/1";
/// Tiles and kernels listed in text.
const LISTED: usize = 8;

/// The boundaries as pretty JSON with a final newline: the first `limit` of them in the order
/// `sort`, 0 is all; all tiles and all kernels.
#[must_use]
pub fn barriers_json(report: &BarrierReport, sort: BarrierSort, limit: usize) -> String {
    let shown = report.listed(sort, limit);
    pretty(&Report {
        schema: BARRIERS_SCHEMA,
        clock: "shared",
        clock_hz: (report.clock_hz > 0).then_some(report.clock_hz),
        tile_count: report.tile_count,
        sort_by: sort.name(),
        kernel: report.kernel.as_deref(),
        barrier_count: report.barriers.len(),
        shown_barrier_count: shown.len(),
        synchronization_cycles: report.synchronization(),
        waiting_cycles: report.waiting(),
        barrier_cycles: report.barrier(),
        barriers: shown.into_iter().map(BarrierJson::new).collect(),
        culprits: report.culprits.iter().map(CulpritJson::new).collect(),
        tiles: report.tiles.iter().map(TileJson::new).collect(),
        warnings: &report.warnings,
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    schema: &'static str,
    clock: &'static str,
    clock_hz: Option<u64>,
    tile_count: u64,
    sort_by: &'static str,
    kernel: Option<&'a str>,
    barrier_count: usize,
    shown_barrier_count: usize,
    synchronization_cycles: u64,
    waiting_cycles: u64,
    barrier_cycles: u64,
    barriers: Vec<BarrierJson<'a>>,
    culprits: Vec<CulpritJson<'a>>,
    tiles: Vec<TileJson>,
    warnings: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BarrierJson<'a> {
    epoch: u32,
    phase: u32,
    tile_count: u64,
    first_entry: u64,
    last_entry: u64,
    last_exit: u64,
    last_arriving_tile: u32,
    late_by_cycles: u64,
    is_tie: bool,
    late_tile_count: u64,
    arrival_spread_cycles: u64,
    after_last_arrival_cycles: u64,
    scheduled_event_cycles: Option<u64>,
    overhead_cycles: Option<u64>,
    waiting_cycles: u64,
    late_kernel: Option<&'a str>,
    late_operation: Option<&'a str>,
    late_kernel_cycles: Option<u64>,
}

impl<'a> BarrierJson<'a> {
    fn new(row: &'a Barrier) -> Self {
        let work = row.late_work.as_ref();
        Self {
            epoch: row.epoch,
            phase: row.phase,
            tile_count: row.tiles,
            first_entry: row.first_entry,
            last_entry: row.last_entry,
            last_exit: row.last_exit,
            last_arriving_tile: row.last_tile.get(),
            late_by_cycles: row.late_by,
            is_tie: row.is_tie(),
            late_tile_count: row.late_tiles,
            arrival_spread_cycles: row.arrival_spread(),
            after_last_arrival_cycles: row.after_last_arrival(),
            scheduled_event_cycles: row.scheduled,
            overhead_cycles: row.overhead(),
            waiting_cycles: row.waiting,
            late_kernel: work.map(|it| it.kernel.as_str()),
            late_operation: work.map(|it| it.operation.as_str()),
            late_kernel_cycles: work.map(|it| it.cycles),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CulpritJson<'a> {
    kernel: Option<&'a str>,
    barrier_count: u64,
    tie_count: u64,
    tile_count: u64,
    waiting_cycles: u64,
}

impl<'a> CulpritJson<'a> {
    fn new(it: &'a Culprit) -> Self {
        Self {
            kernel: it.kernel.as_deref(),
            barrier_count: it.barriers,
            tie_count: it.ties,
            tile_count: it.tiles,
            waiting_cycles: it.waiting,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TileJson {
    physical_tile: u32,
    synchronization_cycles: u64,
    waiting_cycles: u64,
    barrier_cycles: u64,
    elsewhere_cycles: u64,
    waiting_in_exchange_cycles: u64,
    last_at_count: u64,
    caused_waiting_cycles: u64,
}

impl TileJson {
    const fn new(it: &TileWaits) -> Self {
        Self {
            physical_tile: it.tile.get(),
            synchronization_cycles: it.synchronization,
            waiting_cycles: it.waiting,
            barrier_cycles: it.barrier,
            elsewhere_cycles: it.elsewhere,
            waiting_in_exchange_cycles: it.waiting_in_exchange,
            last_at_count: it.last_at,
            caused_waiting_cycles: it.caused,
        }
    }
}

/// The boundaries as text with a final newline, in 80 columns with the usual names.
#[must_use]
pub fn barriers_text(report: &BarrierReport, sort: BarrierSort, limit: usize) -> String {
    let shown = report.listed(sort, limit);
    let mut out = format!(
        "{} tiles, shared clock\n{} of {} exchange boundaries, sorted by {}\n",
        text::count(report.tile_count),
        text::count(shown.len() as u64),
        text::count(report.barriers.len() as u64),
        sort.name(),
    );
    if let Some(kernel) = &report.kernel {
        let _ = writeln!(out, "only those where the last tile ran `{kernel}` most");
    }
    match (shown.is_empty(), &report.kernel) {
        (false, _) => out.push_str(&tables(report, &shown)),
        (true, None) => out.push_str("no exchange samples: nothing waits at a boundary\n"),
        (true, Some(_)) => {
            out.push_str("no tile waits for it; without --kernel, those that are waited for\n");
        }
    }
    out.push_str(&warned(&report.warnings));
    out
}

fn tables(report: &BarrierReport, shown: &[&Barrier]) -> String {
    let mut out = format!(
        "waiting {} tile-cycles, cost of the barriers {} tile-cycles\n",
        text::count(report.waiting()),
        text::count(report.barrier()),
    );
    out.push_str("arrival spreads of different boundaries must not be added\n\n");
    out.push_str(&times(shown));
    let _ = write!(
        out,
        "\nwho made whom wait (tile-cycles; tied: tiles within {TIE_CYCLES} cycles of the last)\n"
    );
    out.push_str(&late_tiles(shown));
    out.push_str("\nkernels of the last tiles (ties: boundaries with more than one)\n");
    out.push_str(&culprits(report));
    out.push_str("\ntiles that wait most (cycles)\n");
    out.push_str(&waiting_tiles(report));
    out
}

fn times(shown: &[&Barrier]) -> String {
    let header = [
        ("boundary", Align::Left),
        ("first entry", Align::Right),
        ("last entry", Align::Right),
        ("spread", Align::Right),
        ("after", Align::Right),
        ("scheduled", Align::Right),
    ];
    let row = |it: &&Barrier| {
        vec![
            place_name(it.phase, it.epoch),
            text::count(it.first_entry),
            text::count(it.last_entry),
            text::count(it.arrival_spread()),
            text::count(it.after_last_arrival()),
            it.scheduled
                .map_or_else(|| "unknown".to_owned(), text::count),
        ]
    };
    let rows: Vec<_> = shown.iter().map(row).collect();
    table(&header, &rows)
}

fn late_tiles(shown: &[&Barrier]) -> String {
    let header = [
        ("boundary", Align::Left),
        ("waiting", Align::Right),
        ("late tile", Align::Right),
        ("late by", Align::Right),
        ("tied", Align::Right),
        ("kernel", Align::Left),
    ];
    let row = |it: &&Barrier| {
        vec![
            place_name(it.phase, it.epoch),
            text::count(it.waiting),
            it.last_tile.to_string(),
            text::count(it.late_by),
            text::count(it.tied()),
            kernel(
                it.late_work
                    .as_ref()
                    .map(|LateWork { kernel, .. }| kernel.as_str()),
            ),
        ]
    };
    let rows: Vec<_> = shown.iter().map(row).collect();
    table(&header, &rows)
}

/// A kernel that made others wait, for people.
fn kernel(name: Option<&str>) -> String {
    match name {
        None => "(left late)".to_owned(),
        Some("") => "(no kernel)".to_owned(),
        Some(name) => name.to_owned(),
    }
}

fn culprits(report: &BarrierReport) -> String {
    let header = [
        ("kernel", Align::Left),
        ("boundaries", Align::Right),
        ("ties", Align::Right),
        ("tiles", Align::Right),
        ("waiting", Align::Right),
        ("share", Align::Right),
    ];
    let row = |it: &Culprit| {
        vec![
            kernel(it.kernel.as_deref()),
            text::count(it.barriers),
            text::count(it.ties),
            text::count(it.tiles),
            text::count(it.waiting),
            text::percent(ratio(float(it.waiting), report.waiting())),
        ]
    };
    let rows: Vec<_> = report.culprits.iter().take(LISTED).map(row).collect();
    table(&header, &rows) + &rest(report.culprits.len(), "kernels")
}

fn waiting_tiles(report: &BarrierReport) -> String {
    let header = [
        ("tile", Align::Right),
        ("waiting", Align::Right),
        ("barrier", Align::Right),
        ("elsewhere", Align::Right),
        ("in exchange", Align::Right),
        ("last at", Align::Right),
        ("caused", Align::Right),
    ];
    let mut tiles: Vec<&TileWaits> = report.tiles.iter().collect();
    order::by_key(&mut tiles, |it| {
        std::cmp::Reverse(it.waiting + it.waiting_in_exchange)
    });
    let row = |it: &&TileWaits| {
        vec![
            it.tile.to_string(),
            text::count(it.waiting),
            text::count(it.barrier),
            text::count(it.elsewhere),
            text::count(it.waiting_in_exchange),
            text::count(it.last_at),
            text::count(it.caused),
        ]
    };
    let rows: Vec<_> = tiles.iter().take(LISTED).map(row).collect();
    table(&header, &rows) + &rest(tiles.len(), "tiles")
}

/// What a list of [`LISTED`] leaves out.
fn rest(count: usize, what: &str) -> String {
    match count.saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(
            "and {} more {what}; --json lists all\n",
            text::count(more as u64)
        ),
    }
}
