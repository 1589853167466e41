//! Bytes to a [`PackageMap`].

use capnp::message::ReaderOptions;

use super::column::decode;
use super::package_capnp as schema;
use super::traffic::{Deliveries, Run};
use super::{Allocation, FORMAT_MAJOR, Item, MAGIC, MemoryClass, PackageError, PackageMap};
use crate::order;
use crate::units::PhysicalTile;

/// Pointers that may nest: the root, a schedule of Repeats, and room.
const NESTING: i32 = 64;
/// Most items of a flattened schedule.
const ITEMS_MAX: usize = 1 << 20;

type Read<T> = Result<T, PackageError>;

pub(super) fn read(bytes: &[u8]) -> Read<PackageMap> {
    let mut options = ReaderOptions::new();
    // Each byte may be visited more than once, but not without end.
    options
        .traversal_limit_in_words(Some(bytes.len() + (1 << 16)))
        .nesting_limit(NESTING);
    let mut rest = bytes;
    let message = capnp::serialize::read_message_from_flat_slice(&mut rest, options)?;
    let root: schema::package::Reader<'_> = message.get_root()?;
    if root.get_magic() != MAGIC {
        return Err(PackageError::malformed("its first word is not IPUEXE02"));
    }
    let major = root.get_format_major();
    if major > FORMAT_MAJOR {
        return Err(PackageError::TooNew {
            major,
            supported: FORMAT_MAJOR,
        });
    }
    package(root)
}

fn package(root: schema::package::Reader<'_>) -> Read<PackageMap> {
    let labels: Vec<String> = root.get_strings()?.iter().map(owned).collect::<Read<_>>()?;
    let target = root.get_target()?;
    let tiles = root.get_tiles()?.len();
    let physical: Vec<u32> = decode(target.get_tile_mapping()?, tiles, "tileMapping")?;
    let manifest = root.get_manifest()?;
    let pair = |pair: schema::pair::Reader<'_>| -> Read<(String, String)> {
        Ok((owned(pair.get_name())?, owned(pair.get_value())?))
    };
    let deliveries = root.get_exchanges()?.iter();
    let mut map = PackageMap {
        machine: owned(target.get_machine())?,
        clock_hz: target.get_clock_hz(),
        workload: owned(manifest.get_workload())?,
        compiler: owned(manifest.get_compiler_version())?,
        kernel_generation: owned(manifest.get_kernel_generation())?,
        flags: manifest
            .get_flags()?
            .iter()
            .map(pair)
            .collect::<Read<_>>()?,
        plan: manifest
            .get_plan()?
            .iter()
            .map(owned)
            .collect::<Read<_>>()?,
        items: items(root, &labels)?,
        physical: physical.into_iter().map(PhysicalTile::new).collect(),
        allocations: allocations(root.get_allocations()?, labels.len(), tiles)?,
        labels,
        deliveries: deliveries
            .map(|it| exchange(it.get_deliveries()?, tiles))
            .collect::<Read<_>>()?,
    };
    for item in &map.items {
        if let Some(index) = item.exchange
            && let Some(it) = map.deliveries.get_mut(index as usize)
        {
            it.times = it.times.saturating_add(item.times);
        }
    }
    Ok(map)
}

fn owned(text: capnp::Result<capnp::text::Reader<'_>>) -> Read<String> {
    Ok(text?.to_str()?.to_owned())
}

/// The flattened schedule with names.
fn items(root: schema::package::Reader<'_>, texts: &[String]) -> Read<Vec<Item>> {
    let text = |at: u32| {
        let text = texts.get(at as usize).cloned();
        text.ok_or_else(|| PackageError::malformed(format!("there is no text {at}")))
    };
    let exchanges: Vec<String> = root
        .get_exchanges()?
        .iter()
        .map(|it| text(it.get_operation()))
        .collect::<Read<_>>()?;
    let phases = root.get_compute_phases()?;
    let count = phases.get_count();
    let operations: Vec<u32> = decode(phases.get_operations()?, count, "operations")?;
    let roles: Vec<u32> = decode(phases.get_roles()?, count, "roles")?;
    let mut computes = Vec::with_capacity(operations.len());
    for (operation, role) in operations.into_iter().zip(roles) {
        computes.push(format!("{} {}", text(operation)?, text(role)?));
    }
    let mut items = Vec::new();
    flatten(root.get_schedule()?, 1, [&exchanges, &computes], &mut items)?;
    Ok(items)
}

fn flatten(
    list: capnp::struct_list::Reader<'_, schema::schedule_item::Owned>,
    times: u64,
    names: [&[String]; 2],
    items: &mut Vec<Item>,
) -> Read<()> {
    let name = |names: &[String], index: u32| {
        let name = names.get(index as usize).cloned();
        name.ok_or_else(|| PackageError::malformed(format!("the schedule names no item {index}")))
    };
    for item in list {
        if items.len() > ITEMS_MAX {
            return Err(PackageError::malformed("its schedule has no end"));
        }
        match item.which()? {
            schema::schedule_item::Exchange(index) => items.push(Item {
                name: name(names[0], index)?,
                exchange: Some(index),
                times,
            }),
            schema::schedule_item::Compute(index) => items.push(Item {
                name: name(names[1], index)?,
                exchange: None,
                times,
            }),
            schema::schedule_item::Repeat(repeat) => {
                let repeat = repeat?;
                let times = times.saturating_mul(u64::from(repeat.get_count()));
                flatten(repeat.get_body()?, times, names, items)?;
            }
        }
    }
    Ok(())
}

fn allocations(
    columns: schema::allocations::Reader<'_>,
    labels: usize,
    tiles: u32,
) -> Read<Vec<Allocation>> {
    let n = columns.get_count();
    let of_tiles: Vec<u16> = decode(columns.get_tiles()?, n, "allocations.tiles")?;
    let addresses: Vec<u32> = decode(columns.get_addresses()?, n, "allocations.addresses")?;
    let bytes: Vec<u32> = decode(columns.get_bytes()?, n, "allocations.bytes")?;
    let classes: Vec<u16> = decode(columns.get_classes()?, n, "classes")?;
    let names: Vec<u32> = decode(columns.get_labels()?, n, "labels")?;
    let firsts: Vec<u32> = decode(columns.get_firsts()?, n, "firsts")?;
    let lasts: Vec<u32> = decode(columns.get_lasts()?, n, "lasts")?;
    let mut allocations = Vec::with_capacity(n as usize);
    for at in 0..n as usize {
        if u32::from(of_tiles[at]) >= tiles || names[at] as usize >= labels {
            let what = format!("allocation {at} names a tile or a text that is not there");
            return Err(PackageError::malformed(what));
        }
        allocations.push(Allocation {
            tile: of_tiles[at],
            address: addresses[at],
            bytes: bytes[at],
            class: match schema::MemoryClass::try_from(classes[at])? {
                schema::MemoryClass::Standard => MemoryClass::Standard,
                schema::MemoryClass::Interleaved => MemoryClass::Interleaved,
            },
            label: names[at],
            first: firsts[at],
            last: lasts[at],
        });
    }
    order::by_key(&mut allocations, |it| (it.tile, it.address, it.first));
    Ok(allocations)
}

fn exchange(columns: schema::deliveries::Reader<'_>, tiles: u32) -> Read<Deliveries> {
    let n = columns.get_count();
    let sources: Vec<u32> = decode(columns.get_sources()?, n, "sources")?;
    let bytes: Vec<u32> = decode(columns.get_bytes()?, n, "deliveries.bytes")?;
    let counts: Vec<u32> = decode(columns.get_run_counts()?, n, "runCounts")?;
    let total = columns.get_total_runs();
    let lengths: Vec<u32> = decode(columns.get_run_lengths()?, total, "runLengths")?;
    let firsts: Vec<u32> = decode(columns.get_run_tiles()?, total, "runTiles")?;
    let steps: Vec<i64> = decode(columns.get_run_tile_steps()?, total, "runTileSteps")?;
    let mut runs = Vec::with_capacity(total as usize);
    let mut at = 0_usize;
    for ((source, bytes), count) in sources.into_iter().zip(bytes).zip(counts) {
        let end = at.saturating_add(count as usize);
        if end > total as usize || source >= tiles {
            return Err(PackageError::malformed(
                "a delivery passes the end of its runs",
            ));
        }
        for run in at..end {
            runs.push(Run {
                source,
                bytes,
                length: lengths[run],
                first: firsts[run],
                step: steps[run],
            });
        }
        at = end;
    }
    Ok(Deliveries { runs, times: 0 })
}
