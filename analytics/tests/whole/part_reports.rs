//! The JSON of parts and of exchanges against sums over every sample.

use std::collections::BTreeMap;
use std::ops::Range;

use analytics::clock::ClockKind;
use analytics::format::open_bytes;
use analytics::profile::{ActivityKind, ProfileReport, SampleKind};
use analytics::report::{exchange_json, part_json};
use analytics::synth::{SynthOptions, generate_bytes};
use analytics::timeline::{DevicePart, PartQuestion};
use analytics::traffic::{Exchanges, totals, traffic_in};
use analytics::units::PhysicalTile;
use serde_json::Value;

fn report() -> ProfileReport {
    let options = SynthOptions {
        samples: 30_000,
        tiles: 90,
        seed: 11,
        activities: true,
    };
    open_bytes(generate_bytes(&options).expect("valid")).expect("it opens")
}

fn parsed(json: &str) -> Value {
    assert!(json.ends_with("}\n"), "a final newline");
    serde_json::from_str(json).expect("it is JSON")
}

/// Sums of a kind or a kernel, as they are told.
#[derive(Debug, Default, PartialEq)]
struct Sums {
    cycles: u64,
    samples: u64,
    measured: u64,
    useful: f64,
}

impl Sums {
    fn told(row: &Value) -> Self {
        let count = |name: &str| row[name].as_u64().expect("a count");
        Self {
            cycles: count("cycles"),
            samples: count("sampleCount"),
            measured: count("estimatedWorkCycles"),
            useful: row["usefulCycles"].as_f64().unwrap_or(0.0),
        }
    }
}

/// What samples of `tiles` spent in `cycles` of the shared clock, by kind and by kernel.
fn naive(
    report: &ProfileReport,
    cycles: &Range<u64>,
    tiles: &[u32],
) -> (BTreeMap<String, Sums>, BTreeMap<String, Sums>) {
    let (mut kinds, mut kernels) = (BTreeMap::new(), BTreeMap::new());
    report
        .visit_samples(|sample| {
            let id = report.tiles()[sample.tile as usize].tile.get();
            let (start, end) = (sample.start, sample.end());
            let inside = end.min(cycles.end).saturating_sub(start.max(cycles.start));
            if inside == 0 || !tiles.contains(&id) {
                return;
            }
            let step = &report.steps()[sample.step as usize];
            let add = |sums: &mut BTreeMap<String, Sums>, name: &str| {
                let sums = sums.entry(name.to_owned()).or_default();
                sums.cycles += inside;
                sums.samples += 1;
                let estimate = step.estimate.as_ref();
                if let Some(it) = estimate.filter(|_| inside == end - start) {
                    sums.measured += inside;
                    sums.useful += it.useful.as_cycles();
                }
            };
            add(&mut kinds, step.kind.name());
            if step.kind == SampleKind::Compute {
                add(&mut kernels, report.string(step.kernel));
            }
        })
        .expect("decodes");
    (kinds, kernels)
}

#[test]
fn a_part_is_told_as_the_sum_of_its_samples() {
    let report = report();
    let ids: Vec<u32> = report.tiles().iter().map(|it| it.tile.get()).collect();
    let end = report.chunks().iter().map(|it| it.cycles.end).max();
    let end = end.expect("there are samples");
    for (cycles, tiles) in [
        (0..end, ids.clone()),
        (
            end / 5..end / 2,
            [&ids[3..20], &ids[40..41], &ids[66..]].concat(),
        ),
        (end / 3..end / 3 + 700, ids[7..8].to_vec()),
    ] {
        let physical: Vec<_> = tiles.iter().copied().map(PhysicalTile::new).collect();
        let asked = PartQuestion {
            part: DevicePart::new(&report, ClockKind::Shared, cycles.clone(), &physical),
            by_tile: true,
            kernel: None,
        };
        let spent = asked.answer(&report).expect("decodes");
        let told = parsed(&part_json(&report, &asked, &spent));
        let (kinds, kernels) = naive(&report, &cycles, &tiles);
        for (list, name, expected) in [("kinds", "kind", kinds), ("kernels", "kernel", kernels)] {
            let rows = told[list].as_array().expect("a list").iter();
            let name = |row: &Value| row[name].as_str().expect("a name").to_owned();
            let rows: BTreeMap<_, _> = rows.map(|row| (name(row), Sums::told(row))).collect();
            assert_eq!(rows, expected, "{list} of {cycles:?}");
        }
        let length = cycles.end - cycles.start;
        assert_eq!(told["tileCycles"], length * tiles.len() as u64);
        let listed = told["tiles"].as_array().expect("a list");
        let listed = listed.iter().map(|it| it["physicalTile"].as_u64());
        assert!(listed.eq(tiles.iter().map(|&it| Some(u64::from(it)))));
        for row in told["tiles"].as_array().expect("a list") {
            let id = u32::try_from(row["physicalTile"].as_u64().expect("an id")).expect("an id");
            let (kinds, _) = naive(&report, &cycles, &[id]);
            let compute = kinds.get("compute").map_or(0, |it| it.cycles);
            assert_eq!(row["computeCycles"], compute, "tile {id}");
            assert_eq!(row["compute"]["cycles"], compute, "tile {id}");
        }
    }
}

/// Bytes and events by role over the run: every event moves a word, two over a lent lane.
fn naive_ports(report: &ProfileReport) -> BTreeMap<u64, [[u64; 3]; 2]> {
    let mut ports: BTreeMap<u64, [[u64; 3]; 2]> = BTreeMap::new();
    report
        .visit_activities(&mut |tile, _, activities| {
            let id = report.tiles()[tile as usize].tile.get();
            let sums = ports.entry(u64::from(id)).or_default();
            for it in activities {
                let role = match it.kind {
                    ActivityKind::Send => 0,
                    ActivityKind::Receive => 1,
                    ActivityKind::PartnerBusy => 2,
                    ActivityKind::Unknown(_) => continue,
                };
                let events = u64::from(it.end - it.start);
                sums[0][role] += events * if it.paired { 8 } else { 4 };
                sums[1][role] += events;
            }
        })
        .expect("decodes");
    ports
}

#[test]
fn exchanges_are_told_as_the_sum_of_their_transfers() {
    let report = report();
    let exchanges = Exchanges::find(&report).expect("decodes");
    let found = totals(&report, &exchanges, ClockKind::Tile).expect("decodes");
    let told = parsed(&exchange_json(&found, None, 0));
    assert_eq!(
        told["clock"], "shared",
        "the tile clock has no common origin"
    );
    assert_eq!(told["part"], Value::Null);
    let ports = naive_ports(&report);
    let count = |row: &Value, name: &str| row[name].as_u64().expect("a count");
    let rows = told["tiles"].as_array().expect("a list");
    assert_eq!(rows.len(), ports.len());
    for row in rows {
        let bytes = ["sentBytes", "receivedBytes", "partnerBusyBytes"];
        let cycles = ["sendCycles", "receiveCycles", "partnerBusyCycles"];
        let of_row = [bytes, cycles].map(|names| names.map(|name| count(row, name)));
        assert_eq!(
            Some(&of_row),
            ports.get(&count(row, "physicalTile")),
            "{row}"
        );
    }
    let received: u64 = ports.values().map(|it| it[0][1]).sum();
    assert!(received > 0);
    assert_eq!(count(&told, "receivedBytes"), received);
    let of_exchanges = told["exchanges"].as_array().expect("a list").iter();
    let of_exchanges: u64 = of_exchanges.map(|it| count(it, "receivedBytes")).sum();
    assert_eq!(of_exchanges, received);
    let sorted = rows.iter().map(|row| count(row, "receivedBytes"));
    assert!(sorted.is_sorted_by(|a, b| a >= b));
}

#[test]
fn parts_of_the_ports_make_the_whole() {
    let report = report();
    let exchanges = Exchanges::find(&report).expect("decodes");
    let clock = ClockKind::Shared;
    let found = totals(&report, &exchanges, clock).expect("decodes");
    let end = report.chunks().iter().map(|it| it.cycles.end).max();
    let end = end.expect("there are samples");
    let ids: Vec<_> = report.tiles().iter().map(|it| it.tile).collect();
    let told = |cycles: Range<u64>, tiles: &[PhysicalTile]| {
        let part = DevicePart::new(&report, clock, cycles, tiles);
        let part = traffic_in(&report, &exchanges, &part).expect("decodes");
        parsed(&exchange_json(&found, Some(&part), 0))["part"].clone()
    };
    let whole = told(0..end, &[]);
    let apart = [&ids[..11], &ids[30..]].concat();
    for name in [
        "sentBytes",
        "receivedBytes",
        "partnerBusyBytes",
        "receiveCycles",
    ] {
        let mut sum = 0;
        for edges in [0, end / 7, end / 3, end].windows(2) {
            for tiles in [&apart[..], &ids[11..30]] {
                let part = told(edges[0]..edges[1], tiles);
                let of_tiles = part["tiles"].as_array().expect("a list").iter();
                let of_tiles: u64 = of_tiles.map(|it| it[name].as_u64().expect("a count")).sum();
                assert_eq!(part[name], of_tiles);
                sum += of_tiles;
            }
        }
        // The generator lends no lanes.
        assert!(sum > 0 || name == "partnerBusyBytes", "{name}");
        assert_eq!(whole[name], sum, "{name}");
    }
    let few = traffic_in(
        &report,
        &exchanges,
        &DevicePart::new(&report, clock, 0..end, &[]),
    );
    let few = parsed(&exchange_json(&found, few.ok().as_ref(), 3));
    for list in [&few["exchanges"], &few["tiles"], &few["part"]["tiles"]] {
        assert_eq!(list.as_array().map(Vec::len), Some(3));
    }
}
