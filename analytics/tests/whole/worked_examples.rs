//! The worked examples of the measure definitions, by hand.

use crate::support::{ModelProfile, estimate, profile, step};
use analytics::clock::ClockKind;
use analytics::profile::SampleKind::{Compute, Exchange};
use analytics::query::{Filter, Group, GroupBy, Query, QueryResult, query};

/// The time before everything, so that nothing here starts at a counter of zero.
const BASE: u64 = 1_000;

fn ask(profile: &ModelProfile, query_: &Query) -> QueryResult {
    query(&profile.report(), query_).expect("a whole profile has an answer")
}

fn shared(group_by: GroupBy) -> Query {
    Query {
        group_by,
        clock: ClockKind::Shared,
        ..Query::default()
    }
}

fn only(result: &QueryResult) -> &Group {
    assert_eq!(result.groups.len(), 1, "{:?}", result.groups);
    &result.groups[0]
}

#[test]
fn phase_cycles_add_the_longest_tile_of_each_phase() {
    let steps = vec![step(Compute, "add", 0, 0), step(Compute, "add", 1, 0)];
    let samples = [(2, 0, BASE, BASE + 20), (3, 1, BASE, BASE + 30)];
    let result = ask(&profile(steps, &samples), &shared(GroupBy::Kernel));
    let add = only(&result).measures;
    assert_eq!(add.work_cycles.get(), 50);
    assert_eq!(add.phase_cycles.get(), 50);
    assert_eq!(add.timeline_cycles.get(), 30);
    assert_eq!(add.average_active_tiles(), Some(1.0));
    assert_eq!(
        (add.phase_count, add.tile_count, result.span.get()),
        (2, 2, 30)
    );
}

#[test]
fn a_tiles_time_in_a_phase_is_the_sum_of_its_samples() {
    let steps = vec![step(Compute, "add", 0, 0)];
    let samples = [
        (2, 0, BASE, BASE + 10),
        (2, 0, BASE + 10, BASE + 20),
        (3, 0, BASE, BASE + 8),
        (3, 0, BASE + 8, BASE + 16),
    ];
    let result = ask(&profile(steps, &samples), &shared(GroupBy::Kernel));
    let add = only(&result).measures;
    assert_eq!(add.work_cycles.get(), 36);
    assert_eq!(add.phase_cycles.get(), 20);
    assert_eq!(add.timeline_cycles.get(), 20);
    assert_eq!(add.average_active_tiles(), Some(1.8));
    assert_eq!(add.mean(), Some(9.0));
    assert_eq!(
        (add.p50.get(), add.p95.get(), add.maximum.get()),
        (8, 10, 10)
    );
}

fn useful_work() -> ModelProfile {
    let mut gemm = step(Compute, "gemm", 0, 0);
    gemm.estimate = estimate(5, 10);
    profile(
        vec![gemm],
        &[(0, 0, BASE, BASE + 20), (1, 0, BASE + 10, BASE + 50)],
    )
}

#[test]
fn useful_work_is_summed_before_it_is_divided() {
    let result = ask(&useful_work(), &shared(GroupBy::Kernel));
    let gemm = only(&result).measures;
    assert_eq!(gemm.estimated_cycles.get(), 60);
    assert_eq!(gemm.useful_efficiency(), Some(10.0 / 60.0));
    assert_eq!(gemm.lane_occupancy(), Some(0.5));
    assert_eq!(gemm.work_cycle_fraction(), Some(20.0 / 60.0));
    assert_eq!(gemm.device_useful(), Some(0.1));
    assert!(!gemm.device_useful_is_lower_bound());
}

#[test]
fn a_cut_sample_keeps_its_time_and_loses_its_estimate() {
    let query = Query {
        samples: 5,
        ..Query::default()
    };
    let result = ask(&useful_work(), &query);
    assert_eq!(result.clock, ClockKind::Cropped);
    let gemm = only(&result).measures;
    assert_eq!(gemm.work_cycles.get(), 50);
    assert_eq!(gemm.estimated_cycles.get(), 40);
    assert_eq!(gemm.useful_efficiency(), Some(0.125));
    assert_eq!(gemm.device_useful(), Some(0.0625));
    assert_eq!(gemm.coverage(), Some(0.8));
    assert!(gemm.device_useful_is_lower_bound());
    let samples: Vec<_> = result
        .samples
        .iter()
        .map(|it| {
            (
                it.tile.get(),
                it.offset,
                it.duration.get(),
                it.cut,
                it.useful.is_some(),
            )
        })
        .collect();
    assert_eq!(samples, [(1, 0, 40, false, true), (0, 0, 10, true, false)]);
}

#[test]
fn offsets_are_right_across_the_counter_wrap() {
    let steps = vec![step(Exchange, "", 0, 0), step(Compute, "add", 0, 0)];
    let start = 0xFFFF_FFFB;
    let samples = [(0, 0, start, start + 10), (0, 1, start + 10, start + 20)];
    let at = |filter| {
        let query = Query {
            filter,
            samples: 2,
            ..Query::default()
        };
        let result = ask(&profile(steps.clone(), &samples), &query);
        let found = result
            .samples
            .iter()
            .map(|it| (it.kernel.clone(), it.offset));
        found.collect::<Vec<_>>()
    };
    let add = vec![("add".to_owned(), 10)];
    assert_eq!(
        at(Filter {
            at: Some(12),
            ..Filter::default()
        }),
        add
    );
    assert_eq!(
        at(Filter {
            at_offset: Some(12),
            ..Filter::default()
        }),
        add
    );
    assert_eq!(
        at(Filter {
            at: Some(20),
            ..Filter::default()
        }),
        []
    );
}

#[test]
fn padding_work_is_zero_and_no_estimate_is_unavailable() {
    let mut fill = step(Compute, "fill", 0, 0);
    fill.estimate = estimate(0, 0);
    let steps = vec![fill, step(Compute, "copy", 0, 0)];
    let samples = [(0, 0, BASE, BASE + 10), (0, 1, BASE + 10, BASE + 20)];
    let result = ask(&profile(steps, &samples), &Query::default());
    let measures = |name: &str| {
        result
            .groups
            .iter()
            .find(|it| it.name == name)
            .map(|it| it.measures)
            .expect("a group")
    };
    let (fill, copy) = (measures("fill"), measures("copy"));
    assert_eq!(fill.useful_efficiency(), Some(0.0));
    assert_eq!(fill.device_useful(), Some(0.0));
    assert_eq!(fill.lane_occupancy(), None, "no physical work to be useful");
    assert_eq!(copy.useful(), None);
    assert_eq!(copy.useful_efficiency(), None);
    assert_eq!(copy.device_useful(), None);
    assert_eq!(copy.coverage(), Some(0.0));
    assert_eq!(result.totals.coverage(), Some(0.5));
}

#[test]
fn more_than_the_peak_is_shown_as_it_is() {
    let mut fast = step(Compute, "fast", 0, 0);
    fast.estimate = estimate(30, 15);
    let result = ask(
        &profile(vec![fast], &[(0, 0, BASE, BASE + 10)]),
        &Query::default(),
    );
    let fast = only(&result).measures;
    assert_eq!(fast.useful_efficiency(), Some(3.0));
    assert_eq!(fast.lane_occupancy(), Some(2.0));
    assert!(
        result.warnings[0].contains("more useful than physical"),
        "{:?}",
        result.warnings
    );
}

#[test]
fn inactive_computes_are_idle() {
    let mut inactive = step(Compute, "gemm", 0, 0);
    inactive.metadata = vec![("active".to_owned(), "false".to_owned())];
    let result = ask(
        &profile(vec![inactive], &[(0, 0, BASE, BASE + 10)]),
        &shared(GroupBy::Kind),
    );
    assert_eq!(only(&result).name, "idle");
}
