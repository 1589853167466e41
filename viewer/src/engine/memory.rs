//! A package: its plan, the memory of its tiles over the schedule, and who sends to whom.

use std::cmp::Reverse;

use analytics::memory::{Allocation, FOREVER, HighWater, MemoryClass, PackageError, PackageMap};
use analytics::order;
use analytics::report::{package_memory_json, package_traffic_json};
use analytics::text;
use analytics::units::PhysicalTile;
use serde::{Deserialize, Serialize};

use super::cause::{Cause, Failure};
use super::list::{List, Press};
use super::protocol::{Fact, Request};
use super::spent::TileShare;
use super::table::Cell;

/// What is true of an open package.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PackageSummary {
    /// File name, or the address.
    pub(crate) name: String,
    /// As [`PackageMap::provenance`].
    pub(crate) provenance: Vec<(String, String)>,
    /// Figures of the whole.
    pub(crate) facts: Vec<Fact>,
    /// Flags that the compiler was given.
    pub(crate) flags: Vec<(String, String)>,
    /// One line an operation.
    pub(crate) plan: Vec<String>,
    /// Part of each tile's memory that is in use at its fullest moment.
    pub(crate) high_water: Vec<TileShare>,
    /// The same as a table.
    pub(crate) tiles: List,
    /// The fullest tile.
    pub(crate) fullest: u32,
}

impl Request {
    /// Whether it asks an open package, for which no profile need be open.
    pub(crate) const fn is_of_package(&self) -> bool {
        matches!(
            self,
            Self::Memory(_) | Self::Matrix(_) | Self::MemoryJson(_) | Self::MatrixJson(_)
        )
    }
}

/// Which tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MemoryAsked {
    /// Number of the package: another one is another question.
    pub(crate) package: u64,
    /// Physical id.
    pub(crate) tile: u32,
}

/// The memory of a tile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MemoryAnswer {
    /// What was asked.
    pub(crate) asked: MemoryAsked,
    /// Figures of the tile; empty where the package does not use it.
    pub(crate) facts: Vec<Fact>,
    /// For the picture.
    pub(crate) blocks: Vec<Block>,
    /// Live bytes at each item.
    pub(crate) live: Vec<u64>,
    /// The allocations as a table.
    pub(crate) allocations: List,
}

/// An allocation in the picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Block {
    /// First byte.
    pub(crate) address: u32,
    /// One past the last byte.
    pub(crate) end: u32,
    /// First item at which it is live.
    pub(crate) first: u32,
    /// One past the last one.
    pub(crate) after: u32,
    /// What it holds.
    pub(crate) label: String,
    /// The allocation in one line.
    pub(crate) said: String,
}

/// How fine a matrix of tiles × tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct MatrixAsked {
    /// Number of the package.
    pub(crate) package: u64,
    /// Cells on each side, at most.
    pub(crate) cells: u32,
}

/// Bytes from tiles to tiles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct MatrixAnswer {
    /// What was asked.
    pub(crate) asked: Option<MatrixAsked>,
    /// Cells on each side.
    pub(crate) cells: u32,
    /// Most bytes of a cell.
    pub(crate) most: u64,
    /// Physical id of the first tile of each cell, then of the last.
    pub(crate) tiles: Vec<(u32, u32)>,
    /// Row-major, four bytes a cell, little-endian: bytes from the row's tiles to the column's, or
    /// the largest number. They travel as a buffer.
    #[serde(skip)]
    pub(crate) plane: Vec<u8>,
}

impl From<PackageError> for Failure {
    fn from(error: PackageError) -> Self {
        let cause = match &error {
            PackageError::TooNew { .. } => Cause::Version,
            _ => Cause::Corrupt,
        };
        Self::new(cause, error.to_string())
    }
}

/// What is true of a package of `bytes` bytes.
pub(crate) fn summary(map: &PackageMap, name: &str, bytes: u64) -> PackageSummary {
    let high_water = map.high_water();
    let mut fullest_first: Vec<&HighWater> = high_water.iter().collect();
    order::by_key(&mut fullest_first, |it| (Reverse(it.bytes), it.tile));
    let part = PackageMap::share_of_tile;
    let mut tiles = List::new(&[
        ("tile", "Tile", "Physical id; press to see its memory"),
        (
            "peak",
            "Peak bytes",
            "Most live bytes at one item of the schedule",
        ),
        (
            "share",
            "Of the SRAM",
            "The same as a part of the tile's 638 976 bytes",
        ),
        (
            "item",
            "At item",
            "The first item of the schedule at which they are live",
        ),
        ("itemName", "which is", "The operation of that item"),
        ("allocations", "Allocations", "Allocations of the tile"),
    ]);
    for it in fullest_first {
        let item = map.items.get(it.item as usize);
        tiles.push(
            Press::Panel,
            vec![
                Cell::id(it.tile.get()),
                Cell::count(it.bytes),
                Cell::share(part(it.bytes)),
                Cell::id(it.item),
                Cell::name(item.map_or("", |it| &it.name)),
                Cell::count(u64::from(it.allocations)),
            ],
        );
    }
    let fullest = PackageMap::fullest(&high_water);
    let share = |it: &HighWater| TileShare {
        tile: it.tile.get(),
        share: part(it.bytes),
    };
    PackageSummary {
        name: name.to_owned(),
        provenance: map.provenance(),
        facts: facts(map, bytes, fullest),
        flags: map.flags.clone(),
        plan: map.plan.clone(),
        high_water: high_water.iter().map(share).collect(),
        fullest: fullest.map_or(0, |it| it.tile.get()),
        tiles: tiles.with_bars("peak"),
    }
}

fn facts(map: &PackageMap, bytes: u64, fullest: Option<&HighWater>) -> Vec<Fact> {
    let mut facts = vec![
        Fact::new("workload", "Workload", map.workload.clone()),
        Fact::new("machine", "Machine", map.machine.clone()),
        Fact::new("tiles", "Tiles", text::count(map.physical.len() as u64)),
        Fact::new(
            "items",
            "Items of the schedule",
            text::count(map.items.len() as u64),
        ),
        Fact::new(
            "allocations",
            "Allocations",
            text::count(map.allocations.len() as u64),
        ),
        Fact::new("bytes", "File", format!("{} bytes", text::count(bytes))),
        Fact::new("compiler", "Compiler", map.compiler.clone()),
    ];
    if let Some(it) = fullest {
        let said = format!("{}: {} bytes", it.tile, text::count(it.bytes));
        facts.insert(3, Fact::new("fullest", "Fullest tile", said));
    }
    facts
}

/// The memory of a tile.
pub(crate) fn memory(map: &PackageMap, asked: MemoryAsked) -> MemoryAnswer {
    let tile = map.tile(PhysicalTile::new(asked.tile)).unwrap_or_default();
    let (peak, at) = tile.peak();
    let share = PackageMap::share_of_tile(peak);
    let top = |it: Option<u32>| it.map_or_else(|| "none".to_owned(), |it| format!("{it:#x}"));
    let name = map.items.get(at as usize).map_or("", |it| it.name.as_str());
    let facts = vec![
        Fact::new("tile", "Tile", asked.tile.to_string()),
        Fact::new(
            "peak",
            "Peak",
            format!("{} bytes · {}", text::count(peak), text::percent(share)),
        ),
        Fact::new("at", "At item", format!("{at}, {name}")),
        Fact::new(
            "standard",
            "Standard up to",
            top(tile.end_of(MemoryClass::Standard)),
        ),
        Fact::new(
            "interleaved",
            "Interleaved up to",
            top(tile.end_of(MemoryClass::Interleaved)),
        ),
        Fact::new(
            "count",
            "Allocations",
            text::count(tile.allocations.len() as u64),
        ),
    ];
    MemoryAnswer {
        asked,
        facts: if tile.live.is_empty() {
            Vec::new()
        } else {
            facts
        },
        blocks: tile.allocations.iter().map(|it| block(map, it)).collect(),
        allocations: allocations(map, &tile.allocations),
        live: tile.live,
    }
}

/// What `package-memory --json` prints.
pub(crate) fn memory_json(map: &PackageMap, asked: MemoryAsked) -> String {
    let tile = PhysicalTile::new(asked.tile);
    let memory = map.tile(tile);
    package_memory_json(map, memory.as_ref().map(|it| (tile, it)))
}

fn block(map: &PackageMap, it: &Allocation) -> Block {
    let label = map.label(it);
    let until = match it.last {
        FOREVER => "the end".to_owned(),
        last => last.to_string(),
    };
    Block {
        address: it.address,
        end: it.end(),
        first: it.first,
        after: map.after(it),
        label: label.to_owned(),
        said: format!(
            "{label}: {} bytes at {:#x}, {}, items {} to {until}",
            text::count(u64::from(it.bytes)),
            it.address,
            it.class.name(),
            it.first
        ),
    }
}

fn allocations(map: &PackageMap, list: &[Allocation]) -> List {
    let mut table = List::new(&[
        ("label", "Allocation", "What it holds"),
        ("address", "Address", "First byte"),
        ("bytes", "Bytes", "Length"),
        (
            "class",
            "Class",
            "standard, or interleaved for 128-bit loads",
        ),
        ("elements", "Elements", "Memory elements that it touches"),
        (
            "first",
            "From item",
            "First item of the schedule at which it is live",
        ),
        ("firstName", "which is", "The operation of that item"),
        (
            "last",
            "To item",
            "Last one, or the end where it lives as long as the program",
        ),
        ("items", "Items", "How many items it is live for"),
    ]);
    for it in list {
        let name = map.items.get(it.first as usize);
        let last = match it.last {
            FOREVER => Cell {
                text: "the end".to_owned(),
                ..Cell::unknown()
            },
            last => Cell::id(last),
        };
        table.push(
            Press::Nothing,
            vec![
                Cell::name(map.label(it)),
                Cell {
                    text: format!("{:#x}", it.address),
                    raw: it.address.to_string(),
                },
                Cell::count(u64::from(it.bytes)),
                Cell::name(it.class.name()),
                Cell::name(&it.elements()),
                Cell::id(it.first),
                Cell::name(name.map_or("", |it| &it.name)),
                last,
                Cell::count(u64::from(map.after(it) - it.first)),
            ],
        );
    }
    table.with_bars("bytes")
}

/// Pairs of cells that are copied: those with most bytes. All of them may be half a million.
pub(crate) const PAIRS_MAX: usize = 1_000;

/// What `package-traffic --json --limit 1000` prints.
pub(crate) fn matrix_json(map: &PackageMap, asked: MatrixAsked) -> String {
    package_traffic_json(map, &map.traffic(asked.cells), PAIRS_MAX)
}

/// Bytes from tiles to tiles.
pub(crate) fn matrix(map: &PackageMap, asked: MatrixAsked) -> MatrixAnswer {
    let found = map.traffic(asked.cells);
    let ends = found.ends.iter();
    let narrow = |&it: &u64| u32::try_from(it).unwrap_or(u32::MAX).to_le_bytes();
    MatrixAnswer {
        asked: Some(asked),
        cells: found.cells,
        most: found.most(),
        tiles: ends
            .map(|(first, last)| (first.get(), last.get()))
            .collect(),
        plane: found.bytes.iter().flat_map(narrow).collect(),
    }
}
