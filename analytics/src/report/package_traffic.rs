//! Who sends to whom, by a package, as JSON and as text.

use serde::Serialize;

use super::json::pretty;
use super::shown;
use super::table::{Align, table};
use crate::aggregate::{float, ratio};
use crate::memory::{PackageMap, TrafficMatrix};
use crate::text;
use crate::units::PhysicalTile;

/// Name and version of the contract.
pub const PACKAGE_TRAFFIC_SCHEMA: &str = "ipu-stack/package-traffic/1";

/// The cells with most bytes as pretty JSON with a final newline: `limit` of them, 0 is all.
#[must_use]
pub fn package_traffic_json(map: &PackageMap, found: &TrafficMatrix, limit: usize) -> String {
    let pairs = found.pairs();
    let total = found.total();
    let listed = &pairs[..shown(pairs.len(), limit)];
    pretty(&Report {
        schema: PACKAGE_TRAFFIC_SCHEMA,
        workload: &map.workload,
        machine: &map.machine,
        tile_count: found.tiles,
        cell_count: found.cells,
        received_bytes: total,
        pair_count: pairs.len(),
        shown_pair_count: listed.len(),
        pairs: listed
            .iter()
            .map(|&(from, to, bytes)| {
                let ends = |cell: u32| found.ends.get(cell as usize).copied().unwrap_or_default();
                let ((first, last), (to_first, to_last)) = (ends(from), ends(to));
                PairJson {
                    from_first_tile: first.get(),
                    from_last_tile: last.get(),
                    to_first_tile: to_first.get(),
                    to_last_tile: to_last.get(),
                    bytes,
                    share: ratio(float(bytes), total),
                }
            })
            .collect(),
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    schema: &'static str,
    workload: &'a str,
    machine: &'a str,
    tile_count: u32,
    cell_count: u32,
    received_bytes: u64,
    pair_count: usize,
    shown_pair_count: usize,
    pairs: Vec<PairJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PairJson {
    from_first_tile: u32,
    from_last_tile: u32,
    to_first_tile: u32,
    to_last_tile: u32,
    bytes: u64,
    share: Option<f64>,
}

/// The same as text with a final newline, in 80 columns with the usual names.
#[must_use]
pub fn package_traffic_text(map: &PackageMap, found: &TrafficMatrix, limit: usize) -> String {
    let pairs = found.pairs();
    let total = found.total();
    let listed = &pairs[..shown(pairs.len(), limit)];
    let header = [
        ("from", Align::Left),
        ("to", Align::Left),
        ("bytes", Align::Right),
        ("share", Align::Right),
    ];
    let ends = |cell: u32| found.ends.get(cell as usize).copied().unwrap_or_default();
    let row = |&(from, to, bytes): &(u32, u32, u64)| {
        vec![
            tiles(ends(from)),
            tiles(ends(to)),
            text::count(bytes),
            text::percent(ratio(float(bytes), total)),
        ]
    };
    let rows: Vec<_> = listed.iter().map(row).collect();
    format!(
        "{} for {}: {} bytes land on {} tiles\n\n{} of {} pairs, most bytes first\n{}",
        map.workload,
        map.machine,
        text::count(total),
        text::count(u64::from(found.tiles)),
        listed.len(),
        text::count(pairs.len() as u64),
        table(&header, &rows)
    )
}

fn tiles((first, last): (PhysicalTile, PhysicalTile)) -> String {
    if first == last {
        format!("tile {first}")
    } else {
        format!("tiles {first}-{last}")
    }
}
