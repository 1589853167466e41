//! `package-memory` and `package-traffic`: what a package says of memory and of who sends to whom.

use analytics::memory::PackageMap;
use analytics::report::{
    package_memory_json, package_memory_text, package_traffic_json, package_traffic_text,
};
use analytics::units::PhysicalTile;

use super::args::{MemoryArgs, TrafficArgs};
use super::output::print;
use super::{Io, Outcome};
use crate::error::CliError;
use crate::open;

/// `package-memory`.
pub(super) fn memory(args: &MemoryArgs, io: &mut Io<'_>) -> Outcome {
    let map = open::package_map(&args.package)?;
    let fullest = || PackageMap::fullest(&map.high_water()).map(|it| it.tile);
    let tile = args.tile.map(PhysicalTile::new).or_else(fullest);
    let memory = tile.and_then(|tile| Some((tile, map.tile(tile)?)));
    if let (Some(tile), None) = (args.tile, &memory) {
        let what = format!("the package does not use tile {tile}");
        let hint = "package-memory --json lists the tiles that it uses";
        return Err(CliError::user(what, "--tile", hint).into());
    }
    let memory = memory.as_ref().map(|(tile, memory)| (*tile, memory));
    let text = if args.json {
        package_memory_json(&map, memory)
    } else {
        package_memory_text(&map, memory)
    };
    print(io.stdout, &text)
}

/// `package-traffic`.
pub(super) fn traffic(args: &TrafficArgs, io: &mut Io<'_>) -> Outcome {
    let map = open::package_map(&args.package)?;
    let found = map.traffic(args.cells.unwrap_or(u32::MAX));
    let text = if args.json {
        package_traffic_json(&map, &found, args.limit)
    } else {
        package_traffic_text(&map, &found, args.limit)
    };
    print(io.stdout, &text)
}
