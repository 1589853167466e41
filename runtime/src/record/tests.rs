//! Profiles of the four-tile block, read back from their bytes.

use analytics::format::open_bytes;
use analytics::memory::{PackageMap, Recorded};
use analytics::profile::{ActivityKind, ChunkScratch, ProfileReport, SampleKind};
use analytics::units::{RawCounter, StepId};
use expect_test::{Expect, expect};

use super::*;
use crate::package::{Package, ScheduleItem};
use crate::sim::tests::block::{LEFT, OUT, RIGHT, call, package, repeat};
use crate::sim::{RunError, RunOptions, RunReport, TimingParameters, run};

fn record(package: &Package, options: &RunOptions) -> (RunReport, ProfileReport) {
    let report = run(package, options, &mut |_| ()).expect("a valid run");
    let bytes = report.profile.clone().expect("a profile was asked for");
    let profile = open_bytes(bytes).expect("a valid profile");
    (report, profile)
}

fn at(granularity: Granularity) -> RunOptions {
    RunOptions {
        profile: Some(granularity),
        ..RunOptions::default()
    }
}

/// A sample as read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sample {
    start: u64,
    duration: u64,
    step: StepId,
}

/// Samples of each tile, in physical tile order.
fn samples(profile: &ProfileReport) -> Vec<Vec<Sample>> {
    let mut tiles = vec![Vec::new(); profile.tiles().len()];
    let mut scratch = ChunkScratch::new();
    for chunk in 0..profile.chunks().len() {
        profile.decode_chunk(chunk, &mut scratch).unwrap();
        for span in &scratch.spans {
            for index in span.samples.start as usize..span.samples.end as usize {
                tiles[span.tile as usize].push(Sample {
                    start: scratch.start[index],
                    duration: u64::from(scratch.duration[index]),
                    step: StepId::new(scratch.step[index]),
                });
            }
        }
    }
    tiles
}

/// One line a sample: place, interval, kind, operation, kernel, work.
fn lines(profile: &ProfileReport, tile: usize) -> String {
    let line = |sample: &Sample| {
        let step = profile.step(sample.step);
        let work = step.row.estimate.map_or(String::new(), |e| {
            format!(" U {} P {}", e.useful.as_cycles(), e.physical.as_cycles())
        });
        let (kind, at) = (step.row.kind.name(), step.row.place);
        let place = format!("{}/{}", at.phase, at.epoch);
        let (start, length) = (sample.start, sample.duration);
        format!(
            "{place} {start}+{length} {kind} {} [{}]{work}\n",
            step.operation, step.kernel
        )
    };
    samples(profile)[tile].iter().map(line).collect()
}

fn metadata(profile: &ProfileReport, tile: usize, ordinal: usize) -> String {
    let step = profile.step(samples(profile)[tile][ordinal].step);
    profile
        .metadata(step.row.metadata)
        .map(|(name, value)| format!("{name}={value}\n").replace(" { ", " {\n  "))
        .collect()
}

fn check(found: &str, expected: &Expect) {
    expected.assert_eq(found);
}

#[test]
fn phase_granularity_shows_waits_exchanges_kernels_and_idle_tiles() {
    let (_, profile) = record(&package(), &at(Granularity::Phase));
    check(
        &lines(&profile, 1),
        &expect![[r#"
        0/0 0+138 synchronization operands [sync]
        0/0 138+229 exchange operands [exchange]
        1/0 367+258 compute clear [zero]
        2/0 625+462 compute product [gemm] U 8 P 8
        3/1 1087+138 synchronization collect [sync]
        3/1 1225+199 exchange collect [exchange]
        4/2 1424+168 synchronization collect [sync]
        4/2 1592+123 exchange collect [exchange]
    "#]],
    );
    check(
        &lines(&profile, 3),
        &expect![[r#"
        0/0 0+138 synchronization operands [sync]
        0/0 138+123 exchange operands [exchange]
        1/0 261+0 idle clear [idle]
        2/0 261+0 idle product [idle]
        3/1 261+964 synchronization collect [sync]
        3/1 1225+229 exchange collect [exchange]
        4/2 1454+138 synchronization collect [sync]
        4/2 1592+231 exchange collect [exchange]
    "#]],
    );
    let exchange = profile.step(samples(&profile)[1][1].step).row;
    assert_eq!(exchange.event_cycles, package().exchanges[0].event_cycles);
}

#[test]
fn samples_of_a_tile_touch_and_waits_belong_to_the_next_synchronization() {
    let (report, profile) = record(&package(), &at(Granularity::Phase));
    let mut last = 0;
    for tile in samples(&profile) {
        let mut now = 0;
        for sample in &tile {
            assert_eq!(sample.start, now);
            now += sample.duration;
            let is_idle = profile.step(sample.step).row.kind == SampleKind::Idle;
            assert!(
                !is_idle || sample.duration == 0,
                "idle lasts until the next boundary"
            );
        }
        last = last.max(now);
    }
    assert_eq!(last, report.total_cycles.get());
}

#[test]
fn phase_metadata_is_compact() {
    let (_, profile) = record(&package(), &at(Granularity::Phase));
    check(
        &metadata(&profile, 1, 0),
        &expect![[r#"
        active=true
        next_kernel=zero
        next_role=clear
    "#]],
    );
    check(
        &metadata(&profile, 1, 1),
        &expect![[r#"
        active=true
        send_count=0
        receive_count=1
        send_bytes=0
        receive_bytes=64
        bytes=64
        next_kernel=zero
        next_role=clear
    "#]],
    );
    check(
        &metadata(&profile, 1, 3),
        &expect![[r#"
        role=gemm
        shape=gemm shape
        worker_count=6
        active_commands=1
    "#]],
    );
}

#[test]
fn waits_and_exchanges_name_what_follows_them_on_their_tile() {
    let mut package = package();
    let layer = ("layer".to_owned(), "3".to_owned());
    package.call_templates[0].metadata.push(layer);
    let (_, profile) = record(&package, &at(Granularity::Phase));
    // Tile 2 receives and multiplies; tile 3 does neither; tile 1 clears first.
    check(
        &metadata(&profile, 2, 0),
        &expect![[r#"
        active=true
        next_kernel=gemm
        next_role=gemm
        next_layer=3
    "#]],
    );
    assert!(metadata(&profile, 2, 1).ends_with("next_role=gemm\nnext_layer=3\n"));
    assert!(metadata(&profile, 2, 3).contains("layer=3\n"));
    assert_eq!(metadata(&profile, 3, 0), "active=false\n");
    assert!(!metadata(&profile, 1, 0).contains("next_layer"));
}

#[test]
fn step_granularity_adds_operands_and_transfers() {
    let (_, profile) = record(&package(), &at(Granularity::Step));
    check(
        &metadata(&profile, 0, 1),
        &expect![[r#"
        active=true
        send_count=1
        receive_count=0
        send_bytes=64
        receive_bytes=0
        bytes=64
        send_0=destination_tile=1,destinations=2,bytes=64,address=0x88000
    "#]],
    );
    check(
        &metadata(&profile, 1, 3),
        &expect![[r#"
        role=gemm
        shape=gemm shape
        worker_count=6
        active_commands=1
        kernelSpec=GemmF16 {
          rows: 2, inner: 16, columns: 16, accumulate: false, coefficients: Interleaved }
        output_address=0x80000
        output_bytes=64
        output_operand=out
        input_0_address=0x88000
        input_0_bytes=64
        input_0_operand=left
        input_1_address=0x90000
        input_1_bytes=512
        input_1_operand=right
        argument_0=2
        argument_0_name=rows
        argument_1=16
        argument_1_name=inner
        argument_2=16
        argument_2_name=columns
        argument_3=false
        argument_3_name=accumulate
    "#]],
    );
}

#[test]
fn calls_of_one_template_merge_and_their_work_adds_up() {
    let mut package = package();
    package.tiles[1].calls.push(call(1, 0, &[OUT, LEFT, RIGHT]));
    let (_, profile) = record(&package, &at(Granularity::Phase));
    let merged = &samples(&profile)[1][3];
    let step = profile.step(merged.step);
    assert_eq!(merged.duration, 2 * 462);
    assert_eq!(step.row.estimate.unwrap().useful.as_cycles(), 16.0);
    assert!(metadata(&profile, 1, 3).contains("invocations=2\nuniformInvocations=true\n"));
    let (_, fine) = record(&package, &at(Granularity::Step));
    assert_eq!(samples(&fine)[1].len(), samples(&profile)[1].len() + 1);
    // An unknown estimate stays unknown, merged or not.
    package.call_templates[0].estimate = None;
    let (_, unknown) = record(&package, &at(Granularity::Phase));
    assert!(
        unknown
            .step(samples(&unknown)[1][3].step)
            .row
            .estimate
            .is_none()
    );
}

#[test]
fn regions_are_runs_of_one_label_or_of_one_operation() {
    let mut package = package();
    let (_, by_operation) = record(&package, &at(Granularity::Region));
    check(
        &lines(&by_operation, 2),
        &expect![[r#"
        0/0 0+366 compute operands [operands]
        1/0 366+0 compute clear [clear]
        2/0 366+462 compute product [product]
        3/0 828+963 compute collect [collect]
    "#]],
    );
    for label in [
        &mut package.exchanges[0].region,
        &mut package.compute_phases[0].region,
    ] {
        "first".clone_into(label);
    }
    "first".clone_into(&mut package.compute_phases[1].region);
    "second".clone_into(&mut package.exchanges[1].region);
    "second".clone_into(&mut package.exchanges[2].region);
    let (_, by_label) = record(&package, &at(Granularity::Region));
    check(
        &lines(&by_label, 2),
        &expect![[r#"
        0/0 0+828 compute first [first]
        3/0 828+963 compute second [second]
    "#]],
    );
    check(
        &metadata(&by_label, 2, 1),
        &expect![[r#"
        phase_start=3
        phase_end=5
    "#]],
    );
}

/// `phase_start` and `phase_end` of each region of a tile; a Repeat's remainder is no region.
fn extents(profile: &ProfileReport, tile: usize) -> Vec<(u32, u32)> {
    extents_of(profile, tile, false)
}

/// The same of the regions, or of the remainders.
fn extents_of(profile: &ProfileReport, tile: usize, remainders: bool) -> Vec<(u32, u32)> {
    let number = |text: &str, name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name));
        value.expect("regions say where they are").parse().unwrap()
    };
    (0..samples(profile)[tile].len())
        .map(|ordinal| metadata(profile, tile, ordinal))
        .filter(|text| text.starts_with("iterations=") == remainders)
        .map(|text| (number(&text, "phase_start="), number(&text, "phase_end=")))
        .collect()
}

#[test]
fn regions_around_and_in_a_repeat_cover_all_phases_once() {
    let mut package = repeated();
    let (_, by_operation) = record(&package, &at(Granularity::Region));
    check(
        &lines(&by_operation, 2),
        &expect![[r#"
        0/0 0+366 compute operands [operands]
        1/0 366+0 compute clear [clear]
        2/0 366+462 compute product [product]
        0/0 828+2174 compute operands [repeat-remainder]
        3/0 3002+963 compute collect [collect]
    "#]],
    );
    assert_eq!(extents(&by_operation, 2), [(0, 1), (1, 2), (2, 3), (3, 5)]);
    // One label over the body, and over what follows too: the remainder still ends the first run.
    for exchange in &mut package.exchanges {
        "model".clone_into(&mut exchange.region);
    }
    for phase in &mut package.compute_phases {
        "model".clone_into(&mut phase.region);
    }
    let (_, by_label) = record(&package, &at(Granularity::Region));
    assert_eq!(extents(&by_label, 2), [(0, 3), (3, 5)]);
    // What follows is repeated too.
    let mut second = package.clone();
    let body = second.schedule.split_off(1);
    second
        .schedule
        .push(ScheduleItem::Repeat { count: 2, body });
    for granularity in [Granularity::Region, Granularity::Phase] {
        let (_, second) = record(&second, &at(granularity));
        let remainders: Vec<_> = (0..samples(&second)[2].len())
            .map(|ordinal| metadata(&second, 2, ordinal))
            .filter(|text| text.starts_with("iterations="))
            .collect();
        let said = [
            "iterations=2\nphase_start=0\nphase_end=3\n",
            "iterations=1\nphase_start=3\nphase_end=5\n",
        ];
        assert_eq!(remainders, said);
    }
    // The last exchange moves into the Repeat, and another Repeat stands around all.
    let mut nested = package;
    let last = nested.schedule.pop().unwrap();
    let ScheduleItem::Repeat { body, .. } = &mut nested.schedule[0] else {
        panic!("the block's first item is the Repeat");
    };
    body.push(last);
    let body = std::mem::take(&mut nested.schedule);
    nested
        .schedule
        .push(ScheduleItem::Repeat { count: 2, body });
    let (_, nested) = record(&nested, &at(Granularity::Region));
    assert_eq!(extents(&nested, 2), [(0, 4), (4, 5)]);
    assert_eq!(extents_of(&nested, 2, true), [(0, 4), (0, 5)]);
}

#[test]
fn a_region_that_a_fault_cuts_ends_after_its_last_whole_phase() {
    // The bytes that the second iteration sends were never declared: a fault at position 0 again.
    let mut broken = repeated();
    let source = crate::package::SourceStep {
        delivery: 0,
        bytes: 4,
    };
    broken.exchanges[0].source_steps.push(source);
    let error = run(&broken, &at(Granularity::Region), &mut |_| ()).expect_err("a rule is broken");
    let RunError::Stopped { faults, profile } = error else {
        panic!("a profile was asked for: {error:?}");
    };
    assert_eq!(faults.first().phase, Some(0));
    let cut = open_bytes(profile).expect("a valid profile");
    assert_eq!(extents(&cut, 2), [(0, 1), (1, 2), (2, 3)]);
}

#[test]
fn a_region_does_not_reach_into_an_iteration_that_a_fault_cuts() {
    // The exchange comes last, so that the second iteration takes time before it breaks a rule.
    let mut package = repeated();
    let ScheduleItem::Repeat { body, .. } = &mut package.schedule[0] else {
        panic!("the block's first item is the Repeat");
    };
    body.rotate_left(1);
    let (_, whole) = record(&package, &at(Granularity::Region));
    let source = crate::package::SourceStep {
        delivery: 0,
        bytes: 4,
    };
    package.exchanges[0].source_steps.push(source);
    let error = run(&package, &at(Granularity::Region), &mut |_| ()).expect_err("a rule is broken");
    let RunError::Stopped { profile, .. } = error else {
        panic!("a profile was asked for: {error:?}");
    };
    let cut = open_bytes(profile).expect("a valid profile");
    let first = lines(&whole, 2);
    let first: Vec<&str> = first.lines().take(3).collect();
    assert_eq!(lines(&cut, 2).lines().collect::<Vec<_>>(), first);
}

#[test]
fn graph_granularity_is_one_sample_a_tile() {
    let (report, profile) = record(&package(), &at(Granularity::Graph));
    assert!(samples(&profile).iter().all(|samples| samples.len() == 1));
    check(
        &lines(&profile, 3),
        &expect![[r#"
        0/0 0+1823 compute graph []
    "#]],
    );
    check(&metadata(&profile, 3, 0), &expect![""]);
    assert_eq!(samples(&profile)[3][0].duration, report.total_cycles.get());
}

#[test]
fn the_header_says_which_package_it_was() {
    let mut package = package();
    package.manifest.plan = vec!["grid 2 x 2".to_owned(), String::new()];
    let (_, profile) = record(&package, &at(Granularity::Phase));
    let said = &profile.header().provenance;
    let map = |package: &Package| {
        PackageMap::read(&crate::package::write(package).expect("a package")).expect("it is read")
    };
    let own = map(&package).provenance();
    assert_eq!(Recorded::compare(said, &own), Recorded::FromIt);
    package.manifest.plan[0].push('!');
    let other = map(&package).provenance();
    assert_eq!(Recorded::compare(said, &other), Recorded::FromAnother);
}

fn repeated() -> Package {
    let mut package = package();
    repeat(&mut package, 3);
    package
}

#[test]
fn repeats_show_one_iteration_and_the_rest_as_one_sample() {
    let (report, profile) = record(&repeated(), &at(Granularity::Phase));
    check(
        &lines(&profile, 2),
        &expect![[r#"
        0/0 0+138 synchronization operands [sync]
        0/0 138+228 exchange operands [exchange]
        1/0 366+0 idle clear [idle]
        2/0 366+462 compute product [gemm] U 8 P 8
        0/0 828+2174 compute operands [repeat-remainder]
        3/1 3002+397 synchronization collect [sync]
        3/1 3399+123 exchange collect [exchange]
        4/2 3522+244 synchronization collect [sync]
        4/2 3766+199 exchange collect [exchange]
    "#]],
    );
    check(
        &metadata(&profile, 2, 4),
        &expect![[r#"
        iterations=2
        phase_start=0
        phase_end=3
    "#]],
    );
    let last = samples(&profile)[3].last().map(|s| s.start + s.duration);
    assert_eq!(last, Some(report.total_cycles.get()));
    let mut once = repeated();
    if let ScheduleItem::Repeat { count, .. } = &mut once.schedule[0] {
        *count = 1;
    }
    let (_, once) = record(&once, &at(Granularity::Phase));
    let (_, plain) = record(&package(), &at(Granularity::Phase));
    assert_eq!(lines(&once, 2), lines(&plain, 2));
}

#[test]
fn counters_wrap_and_read_back_the_same_times() {
    let start = RawCounter::new(u32::MAX - 400);
    let (_, plain) = record(&package(), &at(Granularity::Phase));
    let options = RunOptions {
        counter_start: start,
        ..at(Granularity::Phase)
    };
    let (_, wrapped) = record(&package(), &options);
    assert_eq!(wrapped.tiles()[0].first_counter, start);
    assert_eq!(samples(&wrapped), samples(&plain));
}

#[test]
fn skewed_tiles_start_apart() {
    let options = RunOptions {
        start_skew: Cycles::new(500),
        seed: 3,
        ..at(Granularity::Phase)
    };
    let (report, profile) = record(&package(), &options);
    let starts: Vec<u64> = profile
        .tiles()
        .iter()
        .map(|tile| tile.first_start)
        .collect();
    assert_eq!(starts.iter().min(), Some(&0));
    assert!(starts.iter().any(|&start| start > 0));
    let end = samples(&profile)
        .iter()
        .flatten()
        .map(|s| s.start + s.duration)
        .max();
    let crop = starts.iter().max().unwrap();
    assert_eq!(end.unwrap() - crop, report.total_cycles.get());
}

#[test]
fn samples_cost_what_the_run_is_told() {
    let costly = |granularity| RunOptions {
        timing: TimingParameters {
            sample: Cycles::new(30),
            ..TimingParameters::default()
        },
        ..at(granularity)
    };
    let (plain, _) = record(&package(), &at(Granularity::Phase));
    let (report, profile) = record(&package(), &costly(Granularity::Phase));
    // Tile 1 is the last at every boundary: it takes two samples an exchange and two kernels.
    assert_eq!(
        lines(&profile, 1).lines().take(4).collect::<Vec<_>>(),
        [
            "0/0 0+138 synchronization operands [sync]",
            "0/0 138+289 exchange operands [exchange]",
            "1/0 427+288 compute clear [zero]",
            "2/0 715+492 compute product [gemm] U 8 P 8",
        ]
    );
    let added = report.total_cycles.get() - plain.total_cycles.get();
    assert_eq!(added, 30 * (2 + 2 + 2 + 2));
    let (coarse, _) = record(&package(), &costly(Granularity::Graph));
    assert_eq!(coarse.total_cycles, plain.total_cycles);
}

#[test]
fn exchanges_carry_their_scheduled_transfers() {
    let (_, profile) = record(&package(), &at(Granularity::Phase));
    let send = profile.activities(0, 1).unwrap();
    assert_eq!(send.len(), 1);
    let send = send[0];
    let interval = (send.kind, send.start, send.end, send.fanout, send.paired);
    assert_eq!(interval, (ActivityKind::Send, 60, 76, 2, false));
    let receive = profile.activities(1, 1).unwrap();
    assert_eq!(
        (receive[0].kind, receive[0].end - receive[0].start),
        (ActivityKind::Receive, 16)
    );
    assert!(profile.activities(0, 0).unwrap().is_empty());
}

#[test]
fn the_header_says_simulated_with_which_constants() {
    let options = RunOptions {
        seed: 9,
        clock_hz: Some(1_850_000_000),
        ..at(Granularity::Phase)
    };
    let (report, profile) = record(&package(), &options);
    let header = profile.header();
    assert_eq!((header.simulated, header.seed), (Some(true), Some(9)));
    assert_eq!(
        (header.clock_hz, header.target.as_str()),
        (1_850_000_000, "ipu21")
    );
    let pairs = &header.provenance;
    assert!(
        report
            .parameters
            .iter()
            .all(|parameter| pairs.contains(parameter))
    );
    let lines: String = pairs
        .iter()
        .map(|(name, value)| format!("{name}={value}\n"))
        .collect();
    check(
        &lines,
        &expect![[r#"
            workload=block
            kernel_generation=2026-09-13
            rounding=nearest-even
            start_skew_cycles=0
            superstep_release_cycles=138
            superstep_exit_cycles=123
            sample_cycles=0
            superstep_basis=mean of eleven published C600 overheads, 229 to 295
            timing_only=false
            poison=false
            untested_encodings=refused
            assumed=split of the superstep overhead into release and exit
            assumed=a sample costs nothing beyond the superstep overhead and sample_cycles
            assumed=route formula of the vendor's fabric model, never time-stamped
            derived_kernels=zero
            assumed_kernels=none
        "#]],
    );
}

#[test]
fn a_run_that_a_fault_ends_leaves_its_profile_and_names_the_fault() {
    for granularity in [Granularity::Step, Granularity::Graph] {
        let mut broken = package();
        broken.exchanges[2].event_cycles += 1;
        let error = run(&broken, &at(granularity), &mut |_| ()).expect_err("a rule is broken");
        let RunError::Stopped { faults, profile } = error else {
            panic!("a profile was asked for: {error:?}");
        };
        let cut = open_bytes(profile).expect("a valid profile");
        let ending = cut.ending().expect("it says why it ended");
        assert_eq!(ending.rule, "horizon-mismatch");
        assert_eq!(ending.message, faults.first().to_string());
        assert_eq!(ending.tile, broken.target.tile_mapping[3]);
        assert_eq!(ending.count, 1);
        let (_, whole) = record(&package(), &at(granularity));
        assert_eq!(whole.ending(), None);
        let (found, all) = (samples(&cut), samples(&whole));
        for (found, all) in found.iter().zip(&all) {
            assert!(!found.is_empty(), "what ran before the fault is there");
            if granularity == Granularity::Step {
                let lengths = |of: &[Sample]| -> Vec<(u64, u64)> {
                    of.iter().map(|it| (it.start, it.duration)).collect()
                };
                assert!(found.len() < all.len());
                assert_eq!(lengths(found), lengths(&all[..found.len()]));
            }
        }
    }
}
