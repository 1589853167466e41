//! The memory of a package's tiles as JSON and as text.

use std::fmt::Write as _;

use serde::Serialize;

use super::json::pretty;
use super::shown;
use super::table::{Align, table};
use crate::memory::{Allocation, FOREVER, HighWater, MemoryClass, PackageMap, TileMemory};
use crate::text;
use crate::units::PhysicalTile;

/// Name and version of the contract.
pub const PACKAGE_MEMORY_SCHEMA: &str = "ipu-stack/package-memory/1";

/// Tiles listed in text.
const LISTED: usize = 8;

/// The fullest moment of every tile, and the memory of one where it is given, as pretty JSON with a
/// final newline.
#[must_use]
pub fn package_memory_json(map: &PackageMap, tile: Option<(PhysicalTile, &TileMemory)>) -> String {
    let high_water = map.high_water();
    pretty(&Report {
        schema: PACKAGE_MEMORY_SCHEMA,
        workload: &map.workload,
        machine: &map.machine,
        compiler: &map.compiler,
        tile_count: map.physical.len(),
        item_count: map.items.len(),
        allocation_count: map.allocations.len(),
        tile_bytes: PackageMap::tile_bytes(),
        fullest_tile: PackageMap::fullest(&high_water).map(|it| it.tile.get()),
        tiles: high_water.iter().map(|it| TileJson::new(map, it)).collect(),
        tile: tile.map(|(tile, memory)| MemoryJson::new(map, tile, memory)),
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    schema: &'static str,
    workload: &'a str,
    machine: &'a str,
    compiler: &'a str,
    tile_count: usize,
    item_count: usize,
    allocation_count: usize,
    tile_bytes: u64,
    fullest_tile: Option<u32>,
    tiles: Vec<TileJson<'a>>,
    tile: Option<MemoryJson<'a>>,
}

/// The name of an item of the schedule.
fn item_name(map: &PackageMap, item: u32) -> Option<&str> {
    map.items.get(item as usize).map(|it| it.name.as_str())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TileJson<'a> {
    physical_tile: u32,
    peak_bytes: u64,
    peak_share: Option<f64>,
    peak_item: u32,
    peak_item_name: Option<&'a str>,
    allocation_count: u32,
}

impl<'a> TileJson<'a> {
    fn new(map: &'a PackageMap, it: &HighWater) -> Self {
        Self {
            physical_tile: it.tile.get(),
            peak_bytes: it.bytes,
            peak_share: PackageMap::share_of_tile(it.bytes),
            peak_item: it.item,
            peak_item_name: item_name(map, it.item),
            allocation_count: it.allocations,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MemoryJson<'a> {
    physical_tile: u32,
    peak_bytes: u64,
    peak_share: Option<f64>,
    peak_item: u32,
    peak_item_name: Option<&'a str>,
    standard_end: Option<u32>,
    interleaved_end: Option<u32>,
    live_bytes: &'a [u64],
    allocations: Vec<AllocationJson<'a>>,
}

impl<'a> MemoryJson<'a> {
    fn new(map: &'a PackageMap, tile: PhysicalTile, memory: &'a TileMemory) -> Self {
        let (peak, item) = memory.peak();
        let allocations = memory.allocations.iter();
        Self {
            physical_tile: tile.get(),
            peak_bytes: peak,
            peak_share: PackageMap::share_of_tile(peak),
            peak_item: item,
            peak_item_name: item_name(map, item),
            standard_end: memory.end_of(MemoryClass::Standard),
            interleaved_end: memory.end_of(MemoryClass::Interleaved),
            live_bytes: &memory.live,
            allocations: allocations.map(|it| AllocationJson::new(map, it)).collect(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AllocationJson<'a> {
    label: &'a str,
    address: u32,
    bytes: u32,
    class: &'static str,
    elements: String,
    first_item: u32,
    first_item_name: Option<&'a str>,
    last_item: Option<u32>,
    last_item_name: Option<&'a str>,
    item_count: u32,
}

impl<'a> AllocationJson<'a> {
    fn new(map: &'a PackageMap, it: &Allocation) -> Self {
        let last = (it.last != FOREVER).then_some(it.last);
        Self {
            label: map.label(it),
            address: it.address,
            bytes: it.bytes,
            class: it.class.name(),
            elements: it.elements(),
            first_item: it.first,
            first_item_name: item_name(map, it.first),
            last_item: last,
            last_item_name: last.and_then(|it| item_name(map, it)),
            item_count: map.after(it) - it.first,
        }
    }
}

/// The same as text with a final newline, in 80 columns with the usual names.
#[must_use]
pub fn package_memory_text(map: &PackageMap, tile: Option<(PhysicalTile, &TileMemory)>) -> String {
    let high_water = map.high_water();
    let mut out = format!(
        "{} for {}\n{} tiles, {} items of the schedule, {} allocations\n",
        map.workload,
        map.machine,
        text::count(map.physical.len() as u64),
        text::count(map.items.len() as u64),
        text::count(map.allocations.len() as u64),
    );
    let mut fullest = high_water;
    crate::order::by_key(&mut fullest, |it| (std::cmp::Reverse(it.bytes), it.tile));
    let listed = &fullest[..shown(fullest.len(), LISTED)];
    let _ = write!(
        out,
        "\nfullest moments of the tiles, of {} bytes each\n{}",
        text::count(PackageMap::tile_bytes()),
        tiles(map, listed)
    );
    if listed.len() < fullest.len() {
        let more = text::count((fullest.len() - listed.len()) as u64);
        let _ = writeln!(out, "and {more} more tiles; --json lists all");
    }
    if let Some((tile, memory)) = tile {
        let (peak, item) = memory.peak();
        let _ = write!(
            out,
            "\ntile {tile}: {} bytes at item {item}; {} allocations\n{}",
            text::count(peak),
            text::count(memory.allocations.len() as u64),
            allocations(map, memory)
        );
    }
    out
}

fn tiles(map: &PackageMap, listed: &[HighWater]) -> String {
    let header = [
        ("tile", Align::Right),
        ("peak", Align::Right),
        ("share", Align::Right),
        ("item", Align::Right),
        ("which is", Align::Left),
        ("allocations", Align::Right),
    ];
    let row = |it: &HighWater| {
        vec![
            it.tile.to_string(),
            text::count(it.bytes),
            text::percent(PackageMap::share_of_tile(it.bytes)),
            it.item.to_string(),
            item_name(map, it.item).unwrap_or_default().to_owned(),
            text::count(u64::from(it.allocations)),
        ]
    };
    let rows: Vec<_> = listed.iter().map(row).collect();
    table(&header, &rows)
}

fn allocations(map: &PackageMap, memory: &TileMemory) -> String {
    let header = [
        ("allocation", Align::Left),
        ("address", Align::Right),
        ("bytes", Align::Right),
        ("class", Align::Left),
        ("elements", Align::Left),
        ("from", Align::Right),
        ("to", Align::Right),
    ];
    let row = |it: &Allocation| {
        vec![
            map.label(it).to_owned(),
            format!("{:#x}", it.address),
            text::count(u64::from(it.bytes)),
            it.class.name().to_owned(),
            it.elements(),
            it.first.to_string(),
            match it.last {
                FOREVER => "end".to_owned(),
                last => last.to_string(),
            },
        ]
    };
    let rows: Vec<_> = memory.allocations.iter().map(row).collect();
    table(&header, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Item;

    fn map() -> PackageMap {
        let allocation = |tile, address, bytes, first, last| Allocation {
            tile,
            address,
            bytes,
            first,
            last,
            ..Allocation::default()
        };
        let item = |name: &str| Item {
            name: name.to_owned(),
            ..Item::default()
        };
        PackageMap {
            workload: "gemm".to_owned(),
            machine: "ipu21".to_owned(),
            items: ["load", "gemm", "store"].map(item).to_vec(),
            physical: [9, 2].map(PhysicalTile::new).to_vec(),
            labels: vec!["weights".to_owned()],
            allocations: vec![
                allocation(0, 0x5_0000, 64, 0, FOREVER),
                allocation(0, 0x6_0000, 100, 1, 1),
                allocation(0, 0x7_fff8, 16, 1, 2),
                allocation(1, 0x5_0000, 8, 2, 2),
            ],
            ..PackageMap::default()
        }
    }

    /// Live bytes of a logical tile at an item, allocation by allocation.
    fn naive(map: &PackageMap, tile: u16, item: u32) -> u64 {
        let live = |it: &&Allocation| it.tile == tile && it.first <= item && item <= it.last;
        let live = map.allocations.iter().filter(live);
        live.map(|it| u64::from(it.bytes)).sum()
    }

    #[test]
    fn memory_is_told_as_the_sum_of_what_is_live() {
        let map = map();
        for (logical, physical) in [(0, 9), (1, 2)] {
            let tile = PhysicalTile::new(physical);
            let memory = map.tile(tile).expect("it is used");
            let json = package_memory_json(&map, Some((tile, &memory)));
            let told: serde_json::Value = serde_json::from_str(&json).expect("JSON");
            let live: Vec<u64> = (0..3).map(|item| naive(&map, logical, item)).collect();
            assert_eq!(told["tile"]["liveBytes"], serde_json::json!(live));
            let peak = live.iter().max().expect("three items");
            let tiles = told["tiles"].as_array().expect("a list");
            let row = tiles.iter().find(|it| it["physicalTile"] == physical);
            let row = row.expect("every tile is listed");
            for it in [row, &told["tile"]] {
                assert_eq!(it["peakBytes"], *peak);
                let item = it["peakItem"].as_u64().expect("an item");
                assert_eq!(
                    live.iter().position(|it| it == peak),
                    usize::try_from(item).ok()
                );
            }
            assert_eq!(told["fullestTile"], 9);
        }
    }

    #[test]
    fn allocations_have_lifetimes_and_elements() {
        let map = map();
        let tile = PhysicalTile::new(9);
        let memory = map.tile(tile).expect("it is used");
        let json = package_memory_json(&map, Some((tile, &memory)));
        let told: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        let forever = &told["tile"]["allocations"][0];
        assert_eq!(forever["lastItem"], serde_json::Value::Null);
        assert_eq!(
            (&forever["itemCount"], &forever["label"]),
            (&3.into(), &"weights".into())
        );
        let short = &told["tile"]["allocations"][2];
        assert_eq!(
            (&short["elements"], &short["lastItemName"]),
            (&"e31–p0".into(), &"store".into())
        );
        let text = package_memory_text(&map, Some((tile, &memory)));
        assert!(
            text.contains("tile 9: 180 bytes at item 1; 3 allocations"),
            "{text}"
        );
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
    }
}
