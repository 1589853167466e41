//! Whole runs of a small package against arithmetic written here.

pub(crate) mod block;
mod mutation;
mod repeat;
mod rules;

use expect_test::{Expect, expect};
use half::f16;

use super::*;
use crate::host::{TensorValues, values};
use crate::package::ScheduleItem;
use block::{LEFT, OUT, SCRATCH, TILES, add_exchange, package};

fn run(package: &Package, options: &RunOptions) -> Result<RunReport, RunError> {
    super::run(package, options, &mut |_| ())
}

fn report(package: &Package) -> RunReport {
    run(package, &RunOptions::default()).expect("a valid run")
}

/// left · right of the block's tensors: one panel, F32 sums in order, one rounding.
fn product(package: &Package) -> Vec<f16> {
    let (left, right) = (
        values(&package.tensors[0]).unwrap(),
        values(&package.tensors[1]).unwrap(),
    );
    let sum = |row: usize, column: usize| {
        let terms = (0..16).map(|k| left.get(row * 16 + k) * right.get(k * 32 + column));
        f16::from_f32(terms.fold(0.0, |sum, term| sum + term))
    };
    (0..64).map(|i| sum(i / 32, i % 32)).collect()
}

#[test]
fn words_and_kernels_make_the_product() {
    let package = package();
    let report = report(&package);
    assert_eq!(report.outputs.len(), 1);
    assert_eq!(report.outputs[0].name, "out");
    assert_eq!(
        report.outputs[0].values,
        TensorValues::F16(product(&package))
    );
}

/// Row horizons of each exchange, decoded by hand from what the transfers need.
fn horizons(package: &Package) -> Vec<Vec<u64>> {
    use crate::machine::topology::Topology;
    use analytics::units::TileId;
    let topology = Topology::from_mapping(&package.target.tile_mapping).unwrap();
    let horizon = |tile: u16, deliveries: &[crate::package::Delivery]| {
        let mut last = 0_i64;
        for delivery in deliveries {
            let words = i64::from(delivery.bytes / 4);
            if delivery.source.get() == tile {
                last = last.max(60 + words);
            }
            for (destination, _) in &delivery.destinations {
                if destination.get() == tile {
                    let mux = i64::from(topology.route(delivery.source, *destination).mux);
                    let delay = i64::from(topology.landing_delay(*destination));
                    last = last.max(60 + mux + 1 + delay + words + 5);
                }
            }
        }
        u64::try_from(last).unwrap()
    };
    let exchanges = package.exchanges.iter();
    exchanges
        .map(|e| {
            (0..TILES)
                .map(|t| horizon(TileId::new(t).get(), &e.deliveries))
                .collect()
        })
        .collect()
}

/// The schedule of the block on paper: 138 to the release, each row, 123 to the exit, kernels by
/// formula.
fn times(package: &Package, starts: [u64; 4]) -> Vec<[u64; 4]> {
    let horizons = horizons(package);
    let exchange = |now: [u64; 4], index: usize| {
        let release = now.iter().max().unwrap() + 138;
        std::array::from_fn(|t| release + horizons[index][t] + 123)
    };
    // Zero fill of 96 bytes: two bundles of the busiest worker. GEMM: one panel, two rows.
    let (zero, gemm) = (246 + 6 * 2, 294 + (4 * 2 + 160));
    let after_operands: [u64; 4] = exchange(starts, 0);
    let mut computed = after_operands;
    computed[1] += zero + gemm;
    computed[2] += gemm;
    let after_first = exchange(computed, 1);
    vec![
        after_operands,
        computed,
        after_first,
        exchange(after_first, 2),
    ]
}

#[test]
fn cycles_are_those_on_paper() {
    let package = package();
    let report = report(&package);
    let times = times(&package, [0; 4]);
    let end = times[3].iter().max().unwrap();
    assert_eq!(report.total_cycles, Cycles::new(*end));
    let gemm = &report.phases[2];
    assert_eq!((gemm.phase, gemm.epoch, gemm.active_tiles), (2, 0, 2));
    assert_eq!(gemm.cycles, Cycles::new(462));
    let second = &report.phases[3];
    let arrivals = times[1];
    let spread = arrivals.iter().max().unwrap() - arrivals.iter().min().unwrap();
    assert_eq!(
        (second.epoch, second.arrival_spread),
        (1, Cycles::new(spread))
    );
    assert_eq!(second.cycles, Cycles::new(second.horizon.get() + 261));
    assert_eq!(report.phases[0].bytes_sent.get(), 64);
    assert_eq!(report.phases[0].bytes_received.get(), 128);
}

#[test]
fn total_is_cropped_to_the_last_start() {
    let options = RunOptions {
        start_skew: Cycles::new(1000),
        seed: 5,
        ..RunOptions::default()
    };
    let package = package();
    let starts = skew::starts(4, 5, Cycles::new(1000));
    let times = times(&package, starts.clone().try_into().unwrap());
    let total = times[3].iter().max().unwrap() - starts.iter().max().unwrap();
    assert_eq!(
        run(&package, &options).unwrap().total_cycles,
        Cycles::new(total)
    );
    assert_eq!(
        total,
        report(&package).total_cycles.get(),
        "everything waits for the last tile"
    );
}

#[test]
fn timing_only_counts_the_same_cycles_without_numbers() {
    let package = package();
    let full = report(&package);
    let options = RunOptions {
        timing_only: true,
        ..RunOptions::default()
    };
    let timed = run(&package, &options).unwrap();
    assert!(timed.outputs.is_empty());
    assert_eq!(timed.phases, full.phases);
    assert_eq!(timed.total_cycles, full.total_cycles);
}

#[test]
fn one_thread_and_many_give_the_same_report() {
    let package = package();
    let options = RunOptions {
        rounding: Rounding::Stochastic,
        start_skew: Cycles::new(77),
        profile: Some(Granularity::Step),
        ..RunOptions::default()
    };
    let with_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| run(&package, &options)).unwrap()
    };
    assert_eq!(with_threads(1), with_threads(4));
}

#[test]
fn poison_shows_only_where_something_unwritten_is_read() {
    let poison = RunOptions {
        poison: true,
        ..RunOptions::default()
    };
    let sound = package();
    assert_eq!(
        run(&sound, &poison).unwrap().outputs,
        report(&sound).outputs
    );
    // The left operand's last inner lane is left out: its word is written, that half of it not.
    let mut partial = sound;
    partial.patterns[0].loops[1].count = 15;
    let outputs = run(&partial, &poison).unwrap().outputs;
    let TensorValues::F16(values) = &outputs[0].values else {
        panic!("{outputs:?}");
    };
    assert!(values.iter().all(|value| value.is_nan()));
    let TensorValues::F16(values) = &report(&partial).outputs[0].values else {
        panic!("an F16 output");
    };
    assert!(values.iter().all(|value| value.is_finite()));
}

#[test]
fn stochastic_rounding_follows_the_seed() {
    let package = package();
    let outputs = |seed| {
        let rounding = Rounding::Stochastic;
        let options = RunOptions {
            rounding,
            seed,
            ..RunOptions::default()
        };
        run(&package, &options).unwrap().outputs
    };
    assert_eq!(outputs(1), outputs(1));
    assert_ne!(outputs(1), outputs(2));
}

#[test]
fn repeats_run_their_body_again() {
    let once = package();
    let mut thrice = package();
    block::repeat(&mut thrice, 3);
    let (once, thrice) = (report(&once), report(&thrice));
    assert_eq!(thrice.outputs, once.outputs);
    assert_eq!(thrice.phases.len(), 3 * 3 + 2);
    // An iteration lasts from one latest arrival at its barrier to the next.
    let iteration = once.phases[0].cycles.get() + 258 + 462;
    let exits_apart = |r: &RunReport| r.total_cycles.get();
    assert!(exits_apart(&thrice) - exits_apart(&once) <= 2 * iteration);
    assert!(exits_apart(&thrice) - exits_apart(&once) >= 2 * (iteration - 100));
}

/// A message with a line for each part, so that expectations stay narrow.
fn lines(error: &RunError) -> String {
    error.to_string().replace(": ", ":\n").replace("; ", ";\n")
}

fn check(change: impl FnOnce(&mut Package), expected: &Expect) {
    let mut package = package();
    change(&mut package);
    let error = run(&package, &RunOptions::default()).expect_err("a rule is broken");
    expected.assert_eq(&lines(&error));
}

#[test]
fn deliveries_and_horizons_are_compared_with_what_the_words_did() {
    check(
        |p| p.exchanges[1].deliveries[0].destinations[0].1 += 64,
        &expect![[r#"
            the program broke a rule of the machine:
            delivery-mismatch:
            tile 3, phase 3, address 0x80000:
            64 bytes from tile 1 at 0x80000 arrived and were not declared so"#]],
    );
    check(
        |p| p.exchanges[2].event_cycles += 1,
        &expect![[r#"
        the program broke a rule of the machine:
        horizon-mismatch:
        tile 3, phase 4, event 108:
        the longest row has 108 events, the package declares 109"#]],
    );
    check(
        |p| {
            let byte = &mut p.tiles[0].segments[0].bytes[0];
            *byte ^= 1;
        },
        &expect![[r#"
            the program broke a rule of the machine:
            mux-window:
            tile 1, phase 0, event 33:
            a message is selected in part:
            16 items leave tile 0 at its events 60..76 of 59..75
              also mux-window:
            tile 2, phase 0, event 30:
            a message is selected in part:
            16 items leave tile 0 at its events 60..76 of 59..75"#]],
    );
}

#[test]
fn calls_that_break_a_machine_rule_are_faults_before_the_run() {
    check(
        |p| p.tiles[2].calls[0].operands[1] += 16,
        &expect![[r#"
        the program broke a rule of the machine:
        operand-alignment:
        tile 2, phase 2, address 0x88010:
        gemm:
        operand left is not 32-byte aligned"#]],
    );
    check(
        |p| p.tiles[1].calls[0].operands[0] = 0x5_0000,
        &expect![[r#"
        the program broke a rule of the machine:
        code-overwrite:
        tile 1, phase 1, address 0x50000:
        zero:
        operand out overwrites loaded code"#]],
    );
    check(
        |p| p.tiles[1].calls[1].operands[0] = LEFT + 0x400,
        &expect![[r#"
        the program broke a rule of the machine:
        operand-element:
        tile 1, phase 2, address 0x88400:
        gemm:
        output at 0x88400 and left operand at 0x88000 share a memory element"#]],
    );
}

#[test]
fn reading_what_no_one_wrote_is_a_fault() {
    check(
        |p| p.bindings[1].tile = analytics::units::TileId::new(3),
        &expect![[r#"
        the program broke a rule of the machine:
        uninitialised-read:
        tile 3, address 0x80000:
        output out from element 0 on"#]],
    );
    check(
        |p| p.bindings[3].address = SCRATCH,
        &expect![[r#"
        the program broke a rule of the machine:
        uninitialised-read:
        tile 3, address 0xa0000:
        output out from element 0 on"#]],
    );
}

#[test]
fn landings_on_loaded_code_are_noticed() {
    check(
        |p| {
            add_exchange(p, "overwrite", |s| {
                s.transfer(1, 60, 4, OUT, &[(3, 0x5_0400)])
            });
            p.schedule.insert(3, ScheduleItem::Exchange(3));
        },
        &expect![[r#"
            the program broke a rule of the machine:
            row-element-conflict:
            tile 3, phase 3, event 85, address 0x50400:
            the row at 0x50c00 is fetched from the same element"#]],
    );
    // A binding of the host has no row to be fetched meanwhile.
    check(
        |p| {
            p.bindings[0].tile = analytics::units::TileId::new(3);
            p.bindings[0].address = 0x5_0800;
        },
        &expect![[r#"
            the program broke a rule of the machine:
            code-overwrite:
            tile 3, phase 0, address 0x50800:
            32 loaded bytes have changed"#]],
    );
}

#[test]
fn options_that_cannot_be_honoured_are_named() {
    let package = package();
    let options = RunOptions {
        profile: Some(Granularity::Unknown),
        ..RunOptions::default()
    };
    expect![[r#"
        run option profile:
        unknown is no granularity;
        choose graph, region, phase or step"#]]
    .assert_eq(&lines(&run(&package, &options).unwrap_err()));
    let mut old = package;
    old.manifest.kernel_generation = "2025-01-01".to_owned();
    expect![[r#"
        run option generation:
        the package asks for one:
        unknown kernel generation "2025-01-01";
        known are 2026-09-07 and 2026-09-13"#]]
    .assert_eq(&report_error(&old));
}

fn report_error(package: &Package) -> String {
    lines(&run(package, &RunOptions::default()).unwrap_err())
}

#[test]
fn stages_are_told_in_order_and_items_counted() {
    let mut told = Vec::new();
    super::run(&package(), &RunOptions::default(), &mut |p| told.push(p)).unwrap();
    let names: Vec<_> = told.iter().map(|p| (p.stage.name(), p.done)).collect();
    assert_eq!(names.first(), Some(&("validate", 0)));
    assert_eq!(
        names[names.len() - 3..],
        [("execute", 5), ("outputs", 0), ("record", 0)]
    );
    assert!(told.iter().all(|p| p.done <= p.total && p.total > 0));
}

#[test]
fn the_footprint_counts_each_byte_of_a_tile_once() {
    let report = report(&package());
    // Tile 2: two rows, the product (64), the left operand with nothing else in it, the
    // coefficients.
    let rows: usize = package().tiles[2]
        .segments
        .iter()
        .map(|s| s.bytes.len())
        .sum();
    assert_eq!(
        report.memory_high_water[2].get(),
        rows as u64 + 64 + 64 + 512
    );
}
