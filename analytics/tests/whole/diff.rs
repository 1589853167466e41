//! Comparison: worked by hand, and properties over generated programs.

use crate::support::bsp::{KERNELS, Program, Superstep, programs};
use crate::support::strategy::profiles;
use crate::support::{self, estimate, step};
use analytics::aggregate::Measures;
use analytics::clock::ClockKind;
use analytics::critical::{CriticalOptions, critical_path};
use analytics::diff::{Change, DiffError, DiffOptions, ProfileDiff, Section, Verdict, diff};
use analytics::format::{ProfileWriter, open_bytes};
use analytics::profile::{Granularity, ProfileHeader, ProfileReport, SampleKind};
use analytics::report::{diff_json, diff_markdown, diff_parts, diff_text};
use analytics::units::{PhysicalTile, RawCounter};
use proptest::prelude::*;

const EXACT: DiffOptions = DiffOptions {
    clock: ClockKind::Shared,
    noise: Some(0),
    force: false,
};

/// Calls of one tile: operation, kernel, phase, cycles, useful cycles.
type Call = (&'static str, &'static str, u32, u64, u64);

fn run(calls: &[Call]) -> ProfileReport {
    let mut steps = Vec::new();
    let mut samples = Vec::new();
    let mut now = 0;
    for (at, &(operation, kernel, phase, cycles, useful)) in calls.iter().enumerate() {
        let mut described = step(SampleKind::Compute, kernel, phase, 0);
        described.operation = operation.to_owned();
        described.estimate = estimate(useful, useful);
        steps.push(described);
        samples.push((3, at, now, now + cycles));
        now += cycles;
    }
    support::profile(steps, &samples).report()
}

fn compared(before: &[Call], after: &[Call]) -> ProfileDiff {
    diff(&run(before), &run(after), &EXACT).expect("they compare")
}

fn verdicts(section: &Section) -> Vec<(&str, Verdict)> {
    section
        .changes
        .iter()
        .map(|it| (it.name.as_str(), it.verdict))
        .collect()
}

#[test]
fn kernels_become_faster_slower_new_and_gone() {
    let before = [
        ("up", "gemm", 0, 100, 50),
        ("act", "gelu", 1, 40, 10),
        ("old", "copy", 2, 9, 0),
    ];
    let after = [
        ("up", "gemm", 0, 130, 50),
        ("act", "gelu", 1, 30, 10),
        ("new", "add", 2, 7, 0),
    ];
    let found = compared(&before, &after);
    assert_eq!((found.before.run, found.after.run), (149, 167));
    assert_eq!(found.verdict, Verdict::Slower);
    let expected = [
        ("gemm", Verdict::Slower),
        ("gelu", Verdict::Faster),
        ("copy", Verdict::Gone),
        ("add", Verdict::New),
    ];
    assert_eq!(verdicts(&found.kernels), expected);
    let gemm = &found.kernels.changes[0];
    assert_eq!((gemm.before_cycles(), gemm.after_cycles()), (100, 130));
    assert_eq!(gemm.efficiency_delta(), Some(50.0 / 130.0 - 50.0 / 100.0));
    assert_eq!(found.operations.count(Verdict::New), 1);
    assert_eq!(verdicts(&found.tiles), [("tile 3", Verdict::Slower)]);
    assert!(found.is_slower_by_more_than(1_200));
    // 18 of 149 cycles are 12.08 %.
    assert!(found.is_slower_by_more_than(1_208));
    assert!(!found.is_slower_by_more_than(1_209));
}

#[test]
fn phases_are_aligned_by_what_runs_in_them() {
    let before = [("up", "gemm", 0, 100, 0), ("act", "gelu", 1, 40, 0)];
    let after = [
        ("pack", "copy", 0, 5, 0),
        ("up", "gemm", 1, 90, 0),
        ("act", "gelu", 2, 40, 0),
    ];
    let found = compared(&before, &after);
    let expected = [
        ("phase 0/0 → 1/0", Verdict::Faster),
        ("phase 0/0", Verdict::New),
        ("phase 1/0 → 2/0", Verdict::Same),
    ];
    assert_eq!(verdicts(&found.phases), expected);
}

/// Two tiles that meet once: calls before, exchanges, and calls after.
fn meeting(gemm: u32, copy: u32, softmax: u32) -> ProfileReport {
    let program = Program {
        first: vec![vec![(0, gemm)], vec![(2, copy)]],
        supersteps: vec![Superstep {
            exchange: vec![50, 20],
            calls: vec![vec![(1, 30)], vec![(1, softmax)]],
        }],
    };
    program.run().report()
}

#[test]
fn what_a_change_made_of_the_run_is_its_change_on_the_critical_path() {
    // gemm is waited for before, and copy after, which was in nobody's way up to 60.
    let found = diff(&meeting(60, 40, 90), &meeting(45, 70, 90), &EXACT).expect("they compare");
    assert_eq!(found.after.run - found.before.run, 10);
    let of = |section: &Section| -> Vec<(String, i64, Option<[u64; 2]>)> {
        let path = |it: &Change| it.path.map(|path| path.map(|it| it.total()));
        let cycles = |it: &Change| Change::delta(it.before_cycles(), it.after_cycles());
        let changes = section.changes.iter();
        changes
            .map(|it| (it.name.clone(), cycles(it), path(it)))
            .collect()
    };
    let named = |name: &str, change, path| (name.to_owned(), change, Some(path));
    // The larger change of the run comes first, not that in phase cycles.
    let expected = [
        named("copy", 30, [0, 70]),
        named("gemm", -15, [60, 0]),
        named("softmax", 0, [90, 90]),
    ];
    assert_eq!(of(&found.kernels), expected);
    let kinds = of(&found.kinds);
    assert_eq!(kinds[0], named("compute", 10, [150, 160]));
    assert!(kinds.contains(&named("exchange", 0, [20, 20])), "{kinds:?}");
    assert_eq!(found.unattributed, Some([0, 0]));
    assert!(found.tiles.changes.iter().all(|it| it.path.is_none()));
    let parts = diff_parts(&found).expect("there is a path");
    assert!(parts.starts_with("compute +10, "), "{parts}");
    // What changed neither itself nor the run is left out, what comes after it is not.
    let text = diff_text(&found, 10);
    let mut rows = text.lines().skip_while(|it| !it.starts_with("by kernel"));
    let expected = "by kernel: 1 slower, 1 faster, 1 same; 2 of 3 shown";
    assert_eq!(rows.next(), Some(expected), "{text}");
    assert!(
        text.contains("\nphase 0/0  compute "),
        "phases say what is done: {text}"
    );
    let options = DiffOptions {
        clock: ClockKind::Tile,
        ..EXACT
    };
    let apart = diff(&meeting(60, 40, 90), &meeting(45, 70, 90), &options).expect("they compare");
    assert_eq!((apart.unattributed, diff_parts(&apart)), (None, None));
}

#[test]
fn an_operation_that_only_waits_is_compared_by_its_work() {
    let run = |works: bool| {
        let of = |kind, kernel: &str| {
            let mut described = step(kind, kernel, 0, 0);
            described.operation = "up".to_owned();
            described
        };
        let steps = vec![
            of(SampleKind::Synchronization, ""),
            of(SampleKind::Compute, "gemm"),
        ];
        let mut samples = vec![(3, 0, 0, 600)];
        samples.extend(works.then_some((3, 1, 600, 700)));
        support::profile(steps, &samples).report()
    };
    let found = diff(&run(false), &run(true), &EXACT).expect("they compare");
    let up = &found.operations.changes[0];
    assert_eq!((up.before_cycles(), up.after_cycles()), (0, 100));
    assert_eq!((up.verdict, up.path_change()), (Verdict::Slower, Some(100)));
}

#[test]
fn changes_within_the_noise_are_none() {
    let [before, after] = [100, 124].map(|cycles| run(&[("up", "gemm", 0, cycles, 0)]));
    let of = |noise| {
        let options = DiffOptions { noise, ..EXACT };
        diff(&before, &after, &options)
            .expect("they compare")
            .verdict
    };
    assert_eq!(of(None), Verdict::Same);
    assert_eq!(of(Some(23)), Verdict::Slower);
}

fn with_header(header: &ProfileHeader, tiles: u32) -> ProfileReport {
    let mut writer = ProfileWriter::new(header);
    let step = writer.step(&step(SampleKind::Compute, "k", 0, 0));
    for tile in 0..tiles {
        let tile = PhysicalTile::new(tile);
        writer.sample(tile, RawCounter::new(0), RawCounter::new(60), step, &[]);
    }
    open_bytes(writer.finish().expect("writes")).expect("opens")
}

#[test]
fn unlike_profiles_are_refused_or_warned_about() {
    let header = |granularity, clock_hz, simulated| ProfileHeader {
        granularity,
        clock_hz,
        simulated,
        ..ProfileHeader::default()
    };
    let fine = with_header(&header(Granularity::Step, 1_500_000_000, Some(true)), 2);
    let coarse = with_header(&header(Granularity::Phase, 1_330_000_000, Some(false)), 1);
    let refused = diff(&fine, &coarse, &EXACT).expect_err("they differ");
    assert!(
        matches!(
            refused,
            DiffError::Unlike {
                what: "granularity",
                ..
            }
        ),
        "{refused}"
    );
    let forced = DiffOptions {
        force: true,
        ..EXACT
    };
    let found = diff(&fine, &coarse, &forced).expect("it is forced");
    for word in ["granularity", "tiles", "tile clock", "origin"] {
        let says = |it: &String| it.contains(&format!("differ in {word}"));
        assert!(
            found.warnings.iter().any(says),
            "{word}: {:?}",
            found.warnings
        );
    }
    let same = diff(&fine, &fine, &EXACT).expect("they compare");
    assert_eq!(same.warnings, [] as [String; 0]);
}

#[test]
fn text_fits_eighty_columns_and_all_forms_have_the_same_figures() {
    let long = "gemm_f16_k384_c16_with_a_very_long_symbol";
    let found = compared(
        &[("up", long, 0, 1_000_000, 500)],
        &[("up", long, 0, 2_000_000, 500)],
    );
    let text = diff_text(&found, 10);
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let markdown = diff_markdown(&found, 10);
    assert!(markdown.contains(&format!("| {long} | ")), "{markdown}");
    let json: serde_json::Value = serde_json::from_str(&diff_json(&found, 1)).expect("is JSON");
    assert_eq!(json["run"]["changeFraction"], 1.0);
    assert_eq!(json["kernels"]["changes"][0]["name"], long);
    assert_eq!(json["kernels"]["counts"]["slower"], 1);
}

/// Work cycles after less those before, over all changes.
fn summed(section: &Section) -> i128 {
    let cycles = |side: Option<Measures>| side.map_or(0, |it| i128::from(it.work_cycles.get()));
    let changes = section.changes.iter();
    changes.map(|it| cycles(it.after) - cycles(it.before)).sum()
}

/// Cycles on the critical path of one run, over all changes.
fn on_path(section: &Section, side: usize) -> u64 {
    let paths = section.changes.iter().filter_map(|it| it.path);
    paths.map(|it| it[side].total()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn what_is_on_the_path_sums_to_the_run(
        [before, after] in [profiles(), profiles()],
        shared in any::<bool>(),
    ) {
        let reports = [before, after].map(|it| it.report());
        let clock = if shared { ClockKind::Shared } else { ClockKind::Cropped };
        let options = DiffOptions { clock, force: true, ..EXACT };
        let found = diff(&reports[0], &reports[1], &options).expect("they compare");
        let unattributed = found.unattributed.expect("of runs on one clock");
        let runs = [found.before.run, found.after.run];
        for (side, report) in reports.iter().enumerate() {
            for section in [&found.kinds, &found.operations, &found.phases] {
                prop_assert_eq!(on_path(section, side) + unattributed[side], runs[side]);
            }
            let path = critical_path(report, &CriticalOptions { shared, faster: 0 });
            let path = path.expect("decodes");
            prop_assert_eq!(on_path(&found.kernels, side), path.parts.compute);
            for kernel in &path.kernels {
                let is_it = |it: &&Change| {
                    let name = kernel.kernel.as_str();
                    it.name == if name.is_empty() { "(no kernel)" } else { name }
                };
                let change = found.kernels.changes.iter().find(is_it).expect("it is a kernel");
                prop_assert_eq!(change.path.map(|it| it[side].compute), Some(kernel.cycles));
            }
        }
        let sizes = found.kernels.changes.iter().map(|it| it.path_change().unwrap_or(0).abs());
        prop_assert!(sizes.is_sorted_by(|a, b| a >= b));
    }

    #[test]
    fn a_profile_equals_itself(program in programs()) {
        let report = program.run().report();
        let found = diff(&report, &report, &EXACT).expect("they compare");
        prop_assert_eq!(found.verdict, Verdict::Same);
        for (name, section) in found.sections() {
            prop_assert_eq!(section.count(Verdict::Same), section.changes.len(), "{}", name);
        }
        prop_assert!(!found.is_slower_by_more_than(0));
    }

    #[test]
    fn either_way_round_the_same_things_are_one(
        program in programs(),
        which in 0usize..4,
        [before, after] in [profiles(), profiles()],
    ) {
        let faster = program.faster(which, 5_000);
        let pairs = [
            [program.run().report(), faster.run().report()],
            [before.report(), after.report()],
        ];
        for [before, after] in pairs {
            let options = DiffOptions { force: true, ..EXACT };
            let there = diff(&before, &after, &options).expect("they compare");
            let back = diff(&after, &before, &options).expect("they compare");
            for ((name, there), (_, back)) in there.sections().into_iter().zip(back.sections()) {
                let sorted = |section: &Section, back: bool| {
                    let mut pairs: Vec<_> = section
                        .changes
                        .iter()
                        .map(|it| {
                            let change = Change::delta(it.before_cycles(), it.after_cycles());
                            let run = it.path_change().unwrap_or(0);
                            match back {
                                false => (it.before_place, it.after_place, change, run),
                                true => (it.after_place, it.before_place, -change, -run),
                            }
                        })
                        .collect();
                    pairs.sort_unstable();
                    pairs
                };
                prop_assert_eq!(sorted(there, false), sorted(back, true), "{}", name);
            }
        }
    }

    #[test]
    fn changes_sum_to_the_change_of_the_work(
        program in programs(),
        which in 0usize..4,
        saved in 1u64..=10_000,
    ) {
        let faster = program.faster(which, saved);
        let [before, after] = [&program, &faster].map(|it| it.run().report());
        let found = diff(&before, &after, &EXACT).expect("they compare");
        let work = |program: &Program| -> u64 {
            let of_supersteps = program.supersteps.iter().flat_map(|it| &it.calls);
            let calls = program.first.iter().chain(of_supersteps).flatten();
            calls.map(|&(_, cycles)| u64::from(cycles)).sum()
        };
        let less = i128::from(work(&program)) - i128::from(work(&faster));
        for section in [&found.kernels, &found.tiles] {
            prop_assert_eq!(-summed(section), less);
        }
        let kinds = &found.kinds.changes;
        let computes = kinds.iter().filter(|it| it.name == "compute").cloned().collect();
        prop_assert_eq!(-summed(&Section { changes: computes }), less);
        // Waiting is in no operation and no phase in which a tile works.
        let exchanges = |program: &Program| {
            program.supersteps.iter().all(|it| it.exchange.iter().any(|cycles| *cycles > 0))
        };
        if exchanges(&program) {
            let waits = kinds.iter().filter(|it| it.name != "synchronization");
            let working = Section { changes: waits.cloned().collect() };
            for section in [&found.phases, &found.operations] {
                prop_assert_eq!(summed(section), summed(&working));
            }
        }
        prop_assert!(found.kernels.changes.iter().all(|it| it.verdict != Verdict::Slower));
        let changed = found.kernels.changes.iter().filter(|it| it.verdict != Verdict::Same);
        for change in changed {
            let name = if KERNELS[which].is_empty() { "(no kernel)" } else { KERNELS[which] };
            prop_assert_eq!(change.name.as_str(), name);
        }
        // A call that takes no time left is in no phase, so only those that stay are aligned.
        if saved < 10_000 {
            let unpaired = |it: &Verdict| matches!(it, Verdict::New | Verdict::Gone);
            let phases = &found.phases.changes;
            let pairs = phases.iter().filter(|it| !unpaired(&it.verdict)).count();
            prop_assert!(pairs >= program.supersteps.len(), "{phases:?}");
        }
    }
}
