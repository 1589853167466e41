//! The exchange problems of a whole device that `schedule-bench` writes: scheduled, encoded,
//! decoded and checked, with bounds on what comes out.

use compiler::exchange::Synthetic;
use compiler::exchange::problem::{PhaseReport, read};

/// Most bytes of a tile's row.
const ROW_BYTES_MAX: usize = 4096;

fn scheduled(problem: Synthetic) -> PhaseReport {
    let text = problem.text().unwrap();
    let mut reports = read(&text).unwrap().run().unwrap();
    assert_eq!(reports.len(), 1);
    let report = reports.swap_remove(0);
    println!("{}\n{report}", problem.name());
    report
}

#[test]
fn ordering_problems_come_near_the_busiest_endpoint() {
    for (problem, transfers, most) in [
        (Synthetic::Prep62k, 62_342, 3_600),
        (Synthetic::Unicast200k, 200_000, 1_750),
        (Synthetic::Broadcast, 160, 5_400),
    ] {
        let report = scheduled(problem);
        let name = problem.name();
        assert_eq!(report.transfers, transfers, "{name}");
        let (bound, horizon) = (report.schedule.bound.get(), report.schedule.horizon.get());
        assert!((bound..=most).contains(&horizon), "{name}: {horizon}");
        assert!(report.row_words_max * 4 <= ROW_BYTES_MAX, "{name}");
    }
}

#[test]
fn hazards_of_every_kind_are_checked_and_told_apart() {
    let report = scheduled(Synthetic::Mixed);
    assert_eq!(report.transfers, 20_000);
    assert!((2_500..3_500).contains(&report.wide), "{}", report.wide);
    assert!(report.schedule.hazards > 20_000);
    assert!(report.row_words_max * 4 <= ROW_BYTES_MAX);
    let (bound, horizon) = (report.schedule.bound.get(), report.schedule.horizon.get());
    assert!((bound..=60_000).contains(&horizon), "{horizon}");
    // Every rule but alignment, which local splits all but always give, delays some transfer.
    let rules = report.delays.rules.iter();
    let silent: Vec<_> = rules.filter(|rule| rule.forbidden == 0).collect();
    assert!(silent.len() <= 1, "{silent:?}");
}

#[test]
fn problems_are_the_same_each_time() {
    for problem in [Synthetic::Broadcast, Synthetic::Mixed] {
        assert_eq!(problem.text().unwrap(), problem.text().unwrap());
    }
}
