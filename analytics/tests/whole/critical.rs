//! The critical path: worked by hand, and against programs that are really run again.

use crate::support::bsp::{KERNELS, Program, RELEASE, Superstep, programs};
use crate::support::strategy::profiles;
use crate::support::{self, ModelProfile, step};
use analytics::critical::{CriticalOptions, CriticalPath, critical_path, slack};
use analytics::profile::SampleKind;
use analytics::report::{critical_json, critical_text};
use proptest::prelude::*;

fn path(profile: &ModelProfile, options: &CriticalOptions) -> CriticalPath {
    critical_path(&profile.report(), options).expect("decodes")
}

/// Tile 0 runs gemm 100, exchanges 50, runs softmax 30; tile 1 runs copy 40, exchanges 20, runs
/// softmax 90.
fn two_tiles() -> Program {
    Program {
        first: vec![vec![(0, 100)], vec![(2, 40)]],
        supersteps: vec![Superstep {
            exchange: vec![50, 20],
            calls: vec![vec![(1, 30)], vec![(1, 90)]],
        }],
    }
}

#[test]
fn stragglers_their_parts_and_the_slack_of_the_rest_are_named() {
    let found = path(&two_tiles().run(), &CriticalOptions::default());
    assert_eq!(found.run, 100 + RELEASE + 20 + 90);
    let [first, last] = &found.stretches[..] else {
        panic!("{found:?}");
    };
    assert_eq!((first.boundary, last.boundary), (Some((1, 0)), None));
    assert_eq!((first.start, first.end), (0, 100));
    assert_eq!((last.start, last.end), (100, found.run));
    assert_eq!(first.straggler.map(|it| it.get()), Some(0));
    assert_eq!(last.straggler.map(|it| it.get()), Some(1));
    assert_eq!(first.kernel, Some(("gemm".to_owned(), 100)));
    assert_eq!(last.kernel, Some(("softmax".to_owned(), 90)));
    assert_eq!(
        (first.slack, first.maximum_slack, first.saved_if_balanced()),
        (60, 60, 30)
    );
    // Tile 0 ends at 100 + 138 + 50 + 30.
    assert_eq!((last.slack, last.saved_if_balanced()), (30, 15));
    assert_eq!(found.run_if_balanced(), found.run - 45);
    assert_eq!((found.parts.compute, found.parts.exchange), (190, 20));
    assert_eq!(
        (found.parts.barrier, found.parts.unattributed),
        (RELEASE, 0)
    );
    // Half of gemm's 100 cycles: then copy's 40 are not yet in the way.
    let faster = path(
        &two_tiles().run(),
        &CriticalOptions {
            faster: 5_000,
            ..CriticalOptions::default()
        },
    );
    let saved = |name: &str| {
        let it = faster.kernels.iter().find(|it| it.kernel == name);
        it.map(|it| faster.run - it.run_if_faster)
    };
    assert_eq!(saved("gemm"), Some(50));
    assert_eq!(saved("copy"), Some(0));
    // Tile 1 gains 45 of 90, tile 0 gains 15 of 30 and then ends 15 cycles before.
    assert_eq!(saved("softmax"), Some(45));
}

#[test]
fn the_slack_of_each_tile_is_listed_from_the_straggler_on() {
    let report = two_tiles().run().report();
    let of = |boundary| {
        let found = slack(&report, &CriticalOptions::default(), boundary).expect("decodes");
        let row = |it: &analytics::critical::TileSlack| (it.tile.get(), it.arrival, it.slack);
        found.iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(of(Some((1, 0))), [(0, 100, 0), (1, 40, 60)]);
    let run = 100 + RELEASE + 20 + 90;
    assert_eq!(of(None), [(1, run, 0), (0, run - 30, 30)]);
    assert_eq!(of(Some((7, 7))), []);
}

#[test]
fn gaps_are_unattributed_and_a_run_without_exchanges_is_one_stretch() {
    let steps = vec![
        step(SampleKind::Compute, "k", 0, 0),
        step(SampleKind::Idle, "", 1, 0),
    ];
    let profile = support::profile(steps, &[(3, 0, 0, 10), (3, 1, 25, 40), (8, 0, 0, 20)]);
    let found = path(&profile, &CriticalOptions::default());
    let [only] = &found.stretches[..] else {
        panic!("{found:?}");
    };
    assert_eq!((only.boundary, only.slack), (None, 20));
    assert_eq!(
        (
            found.parts.compute,
            found.parts.idle,
            found.parts.unattributed
        ),
        (10, 15, 15)
    );
    assert!(
        found.warnings[0].contains("one stretch"),
        "{:?}",
        found.warnings
    );
}

#[test]
fn text_fits_eighty_columns_and_json_says_how_much_it_shows() {
    let found = path(&two_tiles().run(), &CriticalOptions::default());
    let text = critical_text(&found, 1);
    assert!(text.contains("1 of 2 stretches"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let json: serde_json::Value = serde_json::from_str(&critical_json(&found, 1)).expect("is JSON");
    assert_eq!(
        (&json["stretchCount"], &json["shownStretchCount"]),
        (&2.into(), &1.into())
    );
    assert_eq!(json["stretches"][0]["straggler"], 0);
    assert_eq!(json["fasterFraction"], 0.1);
}

/// Predictions against the program run again.
fn check_program(program: &Program, faster: u32) -> Result<(), TestCaseError> {
    let options = CriticalOptions {
        shared: true,
        faster,
    };
    let found = path(&program.run(), &options);
    let end = |program: &Program| {
        let profile = program.run();
        let ends = profile.tiles.iter().flat_map(|tile| &tile.samples);
        ends.map(|it| it.start + u64::from(it.duration))
            .max()
            .unwrap_or(0)
    };
    prop_assert_eq!(found.run, end(program));
    for kernel in &found.kernels {
        let which = KERNELS.iter().position(|name| *name == kernel.kernel);
        let again = program.faster(which.expect("a known kernel"), u64::from(faster));
        prop_assert_eq!(
            kernel.run_if_faster,
            end(&again),
            "{} faster",
            kernel.kernel
        );
    }
    prop_assert_eq!(
        found.warnings.len(),
        usize::from(program.supersteps.is_empty())
    );
    prop_assert_eq!(
        found.parts.barrier,
        RELEASE * program.supersteps.len() as u64
    );
    prop_assert_eq!(found.parts.unattributed, 0);
    let of_kernels: u64 = found.kernels.iter().map(|it| it.cycles).sum();
    prop_assert_eq!(of_kernels, found.parts.compute);
    check_sums(&found)
}

fn check_sums(found: &CriticalPath) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.parts.total(), found.run);
    let mut at = 0;
    for stretch in &found.stretches {
        prop_assert_eq!(stretch.start, at);
        prop_assert_eq!(stretch.parts.total(), stretch.cycles());
        prop_assert!(stretch.saved_if_balanced() <= stretch.cycles());
        at = stretch.end;
    }
    prop_assert_eq!(at, found.run);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn a_faster_kernel_shortens_the_run_as_predicted(
        program in programs(),
        faster in 0u32..=10_000,
    ) {
        check_program(&program, faster)?;
    }

    #[test]
    fn the_slack_of_the_tiles_sums_to_that_of_their_stretch(program in programs()) {
        let report = program.run().report();
        let options = CriticalOptions::default();
        for stretch in critical_path(&report, &options).expect("decodes").stretches {
            let tiles = slack(&report, &options, stretch.boundary).expect("decodes");
            prop_assert_eq!(tiles.len() as u64, stretch.tiles);
            prop_assert_eq!(tiles.first().map(|it| it.tile), stretch.straggler);
            prop_assert_eq!(tiles.iter().map(|it| it.slack).sum::<u64>(), stretch.slack);
            let most = tiles.last().map(|it| it.slack);
            prop_assert_eq!(most.unwrap_or(0), stretch.maximum_slack);
        }
    }

    #[test]
    fn the_parts_of_any_profile_sum_to_its_run(profile in profiles(), shared in any::<bool>()) {
        let options = CriticalOptions { shared, ..CriticalOptions::default() };
        check_sums(&path(&profile, &options))?;
    }
}
