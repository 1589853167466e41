//! Phases: the critical path and the boundaries, joined on one clock.

use crate::support::bsp::{Program, RELEASE, Superstep, programs};
use crate::support::strategy::profiles;
use crate::support::{profile, step};
use analytics::critical::CriticalOptions;
use analytics::phases::phases;
use analytics::profile::SampleKind;
use proptest::prelude::*;

fn shared() -> CriticalOptions {
    CriticalOptions {
        shared: true,
        ..CriticalOptions::default()
    }
}

#[test]
fn a_phase_names_its_straggler_and_what_the_others_waited() {
    let program = Program {
        first: vec![vec![(0, 100)], vec![(2, 40)]],
        supersteps: vec![Superstep {
            exchange: vec![50, 20],
            calls: vec![vec![(1, 30)], vec![(1, 90)]],
        }],
    };
    let found = phases(&program.run().report(), &shared()).expect("decodes");
    let [first, last] = &found.phases[..] else {
        panic!("{found:?}");
    };
    assert_eq!(
        (first.name.as_str(), last.name.as_str()),
        ("phase 1/0", "end of the run")
    );
    assert_eq!((first.start, first.end, first.first_arrival), (0, 100, 40));
    assert_eq!(first.exit, 100 + RELEASE + 50);
    assert_eq!(
        (first.arrival_spread(), first.waiting, first.late_by),
        (60, 60, Some(60))
    );
    assert_eq!(first.kernel, Some(("gemm".to_owned(), 100)));
    assert_eq!((last.late_by, last.overhead), (None, None));
}

#[test]
fn every_instant_is_on_the_clock_of_the_path() {
    let steps = vec![
        step(SampleKind::Compute, "k", 0, 0),
        step(SampleKind::Exchange, "", 1, 0),
    ];
    // Tile 1 begins 30 cycles late, which the crop takes away.
    let samples = [
        (0, 0, 10, 60),
        (0, 1, 60, 90),
        (1, 0, 40, 70),
        (1, 1, 70, 90),
    ];
    let report = profile(steps, &samples).report();
    let found = phases(&report, &CriticalOptions::default()).expect("decodes");
    let first = &found.phases[0];
    assert_eq!(
        (first.start, first.first_arrival, first.end, first.exit),
        (0, 20, 30, 50)
    );
    let found = phases(&report, &shared()).expect("decodes");
    let first = &found.phases[0];
    assert_eq!(
        (first.start, first.first_arrival, first.end, first.exit),
        (0, 50, 60, 80)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn phases_follow_each_other_and_sum_to_the_run(program in programs()) {
        let found = phases(&program.run().report(), &shared()).expect("decodes");
        let mut at = 0;
        for phase in &found.phases {
            prop_assert_eq!(phase.start, at);
            prop_assert!(phase.first_arrival <= phase.end && phase.end <= phase.exit);
            prop_assert!(phase.saved_if_balanced <= phase.maximum_wait);
            at = phase.end;
        }
        prop_assert_eq!(at, found.path.run);
        let waiting: u64 = found.phases.iter().rev().skip(1).map(|it| it.waiting).sum();
        prop_assert_eq!(waiting, found.barriers.waiting());
    }

    #[test]
    fn no_profile_is_in_the_way(profile in profiles()) {
        let report = profile.report();
        let found = phases(&report, &CriticalOptions::default()).expect("decodes");
        prop_assert_eq!(found.phases.len(), found.path.stretches.len());
    }
}
