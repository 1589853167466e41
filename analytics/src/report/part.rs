//! What a part of tiles × time was spent on, as JSON and as text.

use std::fmt::Write as _;

use serde::Serialize;

use super::json::{WorkJson, pretty};
use super::table::{Align, table};
use crate::profile::ProfileReport;
use crate::text;
use crate::timeline::{CellKind, DevicePart, PartQuestion, Spent, Sums, TileSpent};
use crate::units::{Cycles, PhysicalTile};

/// Name and version of the contract.
pub const PART_SCHEMA: &str = "ipu-stack/profile-part/1";

/// What a part of `report` spent as pretty JSON with a final newline.
#[must_use]
pub fn part_json(report: &ProfileReport, asked: &PartQuestion, spent: &Spent) -> String {
    let part = &asked.part;
    let clock_hz = report.header().clock_hz;
    let kind = |(kind, sums): (CellKind, &Sums)| SumsJson {
        kind: Some(kind.name()),
        ..SumsJson::new(sums, spent.share(sums.cycles))
    };
    let tiles = asked.by_tile.then_some(&spent.tiles);
    pretty(&Report {
        schema: PART_SCHEMA,
        clock: part.clock.name(),
        clock_hz: (clock_hz > 0).then_some(clock_hz),
        from: part.cycles.start,
        to: part.cycles.end,
        cycles: part.length(),
        tile_count: part.tile_count(),
        tile_ranges: tile_ranges(&part.ends(report)),
        tile_cycles: spent.whole.get(),
        kinds: spent.present_kinds().into_iter().map(kind).collect(),
        kernels: spent
            .kernels
            .iter()
            .map(|(kernel, sums)| SumsJson {
                kernel: Some(report.string(*kernel)),
                ..SumsJson::new(sums, spent.share(sums.cycles))
            })
            .collect(),
        kernel_of_tiles: asked.kernel.map(|it| report.string(it)),
        tiles: tiles.map(|it| it.iter().map(|it| TileJson::new(it, spent)).collect()),
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    schema: &'static str,
    clock: &'static str,
    clock_hz: Option<u64>,
    from: u64,
    to: u64,
    cycles: u64,
    tile_count: u64,
    tile_ranges: Vec<TileRangeJson>,
    tile_cycles: u64,
    kinds: Vec<SumsJson<'a>>,
    kernels: Vec<SumsJson<'a>>,
    kernel_of_tiles: Option<&'a str>,
    tiles: Option<Vec<TileJson<'a>>>,
}

/// Tiles that are neighbours in the profile.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TileRangeJson {
    first_tile: u32,
    last_tile: u32,
}

/// The tiles of a part.
pub(super) fn tile_ranges(ends: &[(PhysicalTile, PhysicalTile)]) -> Vec<TileRangeJson> {
    let range = |&(first, last): &(PhysicalTile, PhysicalTile)| TileRangeJson {
        first_tile: first.get(),
        last_tile: last.get(),
    };
    ends.iter().map(range).collect()
}

/// Sums, after the name of what they are of.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct SumsJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<&'a str>,
    cycles: u64,
    share: Option<f64>,
    sample_count: u64,
    useful_cycles: Option<WorkJson>,
    physical_work_cycles: Option<WorkJson>,
    estimated_work_cycles: u64,
    useful_utilization: Option<f64>,
    work_cycle_fraction: Option<f64>,
    work_lane_occupancy: Option<f64>,
    coverage: Option<f64>,
}

impl SumsJson<'_> {
    fn new(sums: &Sums, share: Option<f64>) -> Self {
        let is_known = sums.estimated.get() > 0;
        Self {
            kind: None,
            kernel: None,
            cycles: sums.cycles.get(),
            share,
            sample_count: sums.samples,
            useful_cycles: is_known.then_some(WorkJson(sums.useful)),
            physical_work_cycles: is_known.then_some(WorkJson(sums.physical)),
            estimated_work_cycles: sums.estimated.get(),
            useful_utilization: sums.useful_efficiency(),
            work_cycle_fraction: sums.work_cycle_fraction(),
            work_lane_occupancy: sums.lane_occupancy(),
            coverage: sums.coverage(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TileJson<'a> {
    physical_tile: u32,
    exchange_cycles: u64,
    compute_cycles: u64,
    synchronization_cycles: u64,
    idle_cycles: u64,
    unknown_cycles: u64,
    compute: SumsJson<'a>,
}

impl TileJson<'_> {
    fn new(it: &TileSpent, spent: &Spent) -> Self {
        let [exchange, compute, synchronization, idle, unknown] = it.kinds.map(Cycles::get);
        Self {
            physical_tile: it.tile.get(),
            exchange_cycles: exchange,
            compute_cycles: compute,
            synchronization_cycles: synchronization,
            idle_cycles: idle,
            unknown_cycles: unknown,
            compute: SumsJson::new(&it.compute, spent.share_of_tile(it.compute.cycles)),
        }
    }
}

/// The same as text with a final newline, in 80 columns with the usual names.
#[must_use]
pub fn part_text(report: &ProfileReport, asked: &PartQuestion, spent: &Spent) -> String {
    let mut out = extent(&asked.part, report.header().clock_hz);
    let kinds = spent.present_kinds();
    if kinds.is_empty() {
        out.push_str("no sample touches it; profile-query prints the span\n");
        return out;
    }
    out.push('\n');
    let named: Vec<(&str, &Sums)> = kinds.iter().map(|it| (it.0.name(), it.1)).collect();
    out.push_str(&times("kind", &named, spent));
    let kernels = spent.kernels.iter();
    let named: Vec<(&str, &Sums)> = kernels
        .map(|(kernel, sums)| (super::text::named(report.string(*kernel)), sums))
        .collect();
    if !named.is_empty() {
        out.push('\n');
        out.push_str(&times("kernel", &named, spent));
    }
    if named.iter().any(|it| it.1.estimated.get() > 0) {
        out.push('\n');
        out.push_str(&work(&named));
    }
    if asked.by_tile {
        let of = asked.kernel.map_or_else(String::new, |it| {
            format!("; work of {}", super::text::named(report.string(it)))
        });
        let _ = write!(out, "\ntiles, cycles by kind{of}\n");
        out.push_str(&tiles(spent));
    }
    out
}

/// What the part is, in two lines.
pub(super) fn extent(part: &DevicePart, clock_hz: u64) -> String {
    let length = Cycles::new(part.length());
    format!(
        "cycles {} to {} of the {} clock: {} cycles, {}\n{} tiles\n",
        text::count(part.cycles.start),
        text::count(part.cycles.end),
        part.clock.name(),
        text::cycles(length),
        text::time(length, clock_hz),
        text::count(part.tile_count()),
    )
}

fn times(what: &str, named: &[(&str, &Sums)], spent: &Spent) -> String {
    let header = [
        (what, Align::Left),
        ("tile cycles", Align::Right),
        ("share", Align::Right),
        ("samples", Align::Right),
    ];
    let row = |(name, sums): &(&str, &Sums)| {
        vec![
            (*name).to_owned(),
            text::cycles(sums.cycles),
            text::percent(spent.share(sums.cycles)),
            text::count(sums.samples),
        ]
    };
    let rows: Vec<_> = named.iter().map(row).collect();
    table(&header, &rows)
}

fn work(named: &[(&str, &Sums)]) -> String {
    let header = [
        ("kernel", Align::Left),
        ("useful", Align::Right),
        ("work", Align::Right),
        ("lanes", Align::Right),
        ("coverage", Align::Right),
    ];
    let row = |(name, sums): &(&str, &Sums)| {
        vec![
            (*name).to_owned(),
            text::percent(sums.useful_efficiency()),
            text::percent(sums.work_cycle_fraction()),
            text::percent(sums.lane_occupancy()),
            text::percent(sums.coverage()),
        ]
    };
    let rows: Vec<_> = named.iter().map(row).collect();
    table(&header, &rows)
}

fn tiles(spent: &Spent) -> String {
    let header = [
        ("tile", Align::Right),
        ("exchange", Align::Right),
        ("compute", Align::Right),
        ("sync", Align::Right),
        ("idle", Align::Right),
        ("useful", Align::Right),
        ("work", Align::Right),
    ];
    let row = |it: &TileSpent| {
        let cycles = |kind: CellKind| text::cycles(it.kinds[kind as usize]);
        vec![
            it.tile.to_string(),
            cycles(CellKind::Exchange),
            cycles(CellKind::Compute),
            cycles(CellKind::Synchronization),
            cycles(CellKind::Idle),
            text::percent(it.compute.useful_efficiency()),
            text::percent(it.compute.work_cycle_fraction()),
        ]
    };
    let rows: Vec<_> = spent.tiles.iter().map(row).collect();
    table(&header, &rows)
}
