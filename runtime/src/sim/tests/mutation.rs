//! Random damage to whole packages, from one seed: nothing panics or hangs, and what still runs
//! leaves every exchanged word where the package declares it.

use analytics::profile::Granularity;
use analytics::units::{Cycles, TileId};

use super::block::{add_exchange, package, repeat};
use crate::exchange::decode_row;
use crate::exchange::tests::mutation::{Draw, long_run, on_one_thread};
use crate::exchange::tests::plain;
use crate::machine::memory::TileMemory;
use crate::machine::topology::Topology;
use crate::package::{Package, ScheduleItem, read, write};
use crate::sim::{RunOptions, run};

/// Most schedule items that a damaged package may execute here. More is no hang, but long.
const ITEMS: u64 = 64;

/// The block with a Repeat, a paired transfer, a multicast back to its sender and a forward.
fn sound() -> Package {
    let mut package = package();
    add_exchange(&mut package, "pairs", |s| {
        s.paired(0, 40, 32, 0x6_0000, &[(2, 0xB_0000), (3, 0xB_0008)]);
        s.transfer(1, 300, 8, 0x6_0000, &[(1, 0xC_0000), (3, 0xC_0000)]);
    });
    add_exchange(&mut package, "forward", |s| {
        s.transfer(3, 40, 8, 0xB_0008, &[(0, 0xB_0000)]);
        s.transfer(0, 400, 8, 0xB_0000, &[(1, 0xD_0000), (2, 0xD_0000)]);
    });
    package.schedule.push(ScheduleItem::Exchange(3));
    package.schedule.push(ScheduleItem::Exchange(4));
    repeat(&mut package, 2);
    package
}

/// Changes one byte of the file, often one that is not zero.
fn damage_byte(bytes: &mut [u8], draw: &mut Draw) {
    let mut at = draw.index(bytes.len());
    for _ in 0..8 {
        if bytes[at] != 0 {
            break;
        }
        at = draw.index(bytes.len());
    }
    let bit = draw.below(8);
    bytes[at] ^= 1 << bit;
}

/// The numbers of a package that one kind of damage may change.
fn numbers(package: &mut Package, kind: u32) -> Vec<&mut u32> {
    let Package {
        tiles,
        exchanges,
        bindings,
        ..
    } = package;
    let mut numbers = Vec::new();
    match kind {
        0 => numbers.extend(bindings.iter_mut().map(|binding| &mut binding.address)),
        1 => numbers.extend(exchanges.iter_mut().map(|it| &mut it.event_cycles)),
        2 | 3 => {
            for delivery in exchanges.iter_mut().flat_map(|it| &mut it.deliveries) {
                numbers.extend([&mut delivery.source_address, &mut delivery.bytes]);
                numbers.extend(delivery.destinations.iter_mut().map(|to| &mut to.1));
            }
        }
        4 => {
            for row in tiles.iter_mut().flat_map(|tile| &mut tile.rows) {
                numbers.extend([&mut row.address, &mut row.incoming_base]);
                numbers.extend([&mut row.outgoing_base, &mut row.exchange]);
            }
        }
        _ => {
            for call in tiles.iter_mut().flat_map(|tile| &mut tile.calls) {
                numbers.push(&mut call.phase);
                numbers.extend(&mut call.operands);
            }
        }
    }
    numbers
}

/// Changes one number of the package by a little, or one bit of it.
fn damage_number(package: &mut Package, draw: &mut Draw) {
    let (kind, how) = (draw.below(6), draw.below(4));
    let mut numbers = numbers(package, kind);
    let at = draw.index(numbers.len());
    let number = &mut *numbers[at];
    *number = match how {
        0 => *number ^ 1 << draw.below(20),
        1 => number.wrapping_add(4),
        2 => number.wrapping_sub(4),
        _ => number.wrapping_add(1),
    };
}

/// Changes one bit of a loaded row.
fn damage_code(package: &mut Package, draw: &mut Draw) {
    let tiles = &mut package.tiles;
    let mut segments: Vec<_> = tiles
        .iter_mut()
        .flat_map(|tile| &mut tile.segments)
        .collect();
    let at = draw.index(segments.len());
    let bytes = &mut segments[at].bytes;
    let at = draw.index(bytes.len());
    bytes[at] ^= 1 << draw.below(8);
}

/// A damaged package, where it still reads.
fn damaged(sound: &Package, bytes: &[u8], draw: &mut Draw) -> Option<Package> {
    if draw.below(2) == 0 {
        let mut bytes = bytes.to_vec();
        for _ in 0..1 + draw.below(4) {
            damage_byte(&mut bytes, draw);
        }
        return read(&bytes).ok();
    }
    let mut package = sound.clone();
    for _ in 0..1 + draw.below(2) {
        if draw.below(2) == 0 {
            damage_number(&mut package, draw);
        } else {
            damage_code(&mut package, draw);
        }
    }
    read(&write(&package).ok()?).ok()
}

fn executed(items: &[ScheduleItem]) -> u64 {
    let of = |item: &ScheduleItem| match item {
        ScheduleItem::Exchange(_) | ScheduleItem::Compute(_) => 1,
        ScheduleItem::Repeat { count, body } => u64::from(*count) * executed(body),
    };
    items.iter().map(of).sum()
}

fn options(draw: &mut Draw) -> RunOptions {
    let granularity = [
        Granularity::Graph,
        Granularity::Region,
        Granularity::Phase,
        Granularity::Step,
    ];
    RunOptions {
        seed: u64::from(draw.below(9)),
        start_skew: Cycles::new(u64::from(draw.below(300))),
        timing_only: draw.below(8) == 0,
        poison: draw.below(64) == 0,
        profile: granularity.get(draw.index(8)).copied(),
        ..RunOptions::default()
    }
}

/// Every scheduled exchange leaves words as declared, by the fabric that goes word by word.
fn delivers_what_is_declared(package: &Package) -> bool {
    fn scheduled(items: &[ScheduleItem], found: &mut Vec<u32>) {
        for item in items {
            match item {
                ScheduleItem::Exchange(index) => found.push(*index),
                ScheduleItem::Compute(_) => {}
                ScheduleItem::Repeat { body, .. } => scheduled(body, found),
            }
        }
    }
    let mut exchanges = Vec::new();
    scheduled(&package.schedule, &mut exchanges);
    let topology = Topology::from_mapping(&package.target.tile_mapping).expect("it ran");
    exchanges.into_iter().all(|exchange| {
        let row = |(tile, program): (u16, &crate::package::TileProgram)| {
            let row = program.rows.iter().find(|row| row.exchange == exchange)?;
            let mut memory = TileMemory::new();
            for segment in &program.segments {
                memory
                    .write(segment.address, &segment.bytes)
                    .expect("it ran");
            }
            let (incoming, outgoing) = (row.incoming_base, row.outgoing_base);
            let row = decode_row(TileId::new(tile), &memory, row.address, incoming, outgoing);
            Some(row.expect("it ran"))
        };
        let rows: Vec<_> = (0..).zip(&package.tiles).map(row).collect();
        let declared = &package.exchanges[exchange as usize].deliveries;
        plain::origins(&rows, &topology) == plain::declared(declared)
    })
}

/// Damages packages `count` times; returns how many still ran.
fn mutate(seed: u64, count: u32) -> u32 {
    println!("seed {seed}, {count} mutations");
    let mut draw = Draw::new(seed);
    let sound = sound();
    let bytes = write(&sound).expect("well formed");
    assert!(delivers_what_is_declared(&sound));
    run(&sound, &RunOptions::default(), &mut |_| ()).expect("legal before any damage");
    let mut ran = 0;
    for mutation in 0..count {
        let Some(package) = damaged(&sound, &bytes, &mut draw) else {
            continue;
        };
        let options = options(&mut draw);
        if executed(&package.schedule) > ITEMS {
            continue;
        }
        if run(&package, &options, &mut |_| ()).is_ok() {
            ran += 1;
            assert!(
                delivers_what_is_declared(&package),
                "seed {seed}, mutation {mutation}: {package:?}"
            );
        }
    }
    println!("{ran} of {count} still ran and deliver what they declare");
    ran
}

#[test]
fn damaged_packages_are_refused_or_deliver_what_they_declare() {
    let ran = on_one_thread(|| mutate(1, 1000));
    assert!((1..1000).contains(&ran));
}

#[test]
#[ignore = "half a million mutations take a minute"]
fn half_a_million_damaged_packages_are_refused_or_deliver_what_they_declare() {
    let (seed, count) = long_run();
    on_one_thread(|| mutate(seed, count));
}
