//! Places and items of the schedule that one tile was in, over time.

use std::ops::Range;

use crate::support::strategy::profiles;
use crate::support::{profile, step};
use analytics::clock::ClockKind;
use analytics::profile::{PhaseKey, ProfileReport, Sample, SampleKind, StepDescriptor};
use analytics::timeline::{ItemSpan, item_spans, phase_spans};
use proptest::prelude::*;

const MANY: usize = 1 << 20;

fn extent(step: StepDescriptor, first: u32, after: u32) -> StepDescriptor {
    let pair = |name: &str, value: u32| (name.to_owned(), value.to_string());
    StepDescriptor {
        metadata: vec![
            pair("iterations", 4),
            pair("phase_start", first),
            pair("phase_end", after),
        ],
        ..step
    }
}

fn items(report: &ProfileReport, cycles: Range<u64>, most: usize) -> Option<Vec<ItemSpan>> {
    item_spans(report, ClockKind::Shared, cycles, 0, most).expect("decodes")
}

/// An exchange, a compute phase in two samples, and the later iterations of both.
fn repeated() -> ProfileReport {
    let compute = |kernel| step(SampleKind::Compute, kernel, 3, 1);
    let steps = vec![
        step(SampleKind::Synchronization, "", 2, 1),
        step(SampleKind::Exchange, "", 2, 1),
        compute("a"),
        compute("b"),
        extent(step(SampleKind::Compute, "repeat-remainder", 2, 1), 2, 4),
    ];
    let samples = [
        (0, 0, 0, 10),
        (0, 1, 10, 40),
        (0, 2, 40, 60),
        (0, 3, 60, 100),
        (0, 4, 100, 400),
    ];
    profile(steps, &samples).report()
}

#[test]
fn a_sample_with_an_extent_stands_for_all_its_items() {
    let report = repeated();
    let span = |items, cycles| ItemSpan { items, cycles };
    let found = items(&report, 0..1_000, MANY).expect("they are few");
    let all = [span(2..3, 0..40), span(3..4, 40..100), span(2..4, 100..400)];
    assert_eq!(found, all);
    let part = items(&report, 50..120, MANY).expect("they are few");
    assert_eq!(part, [span(3..4, 50..100), span(2..4, 100..120)]);
    assert_eq!(items(&report, 0..1_000, 2), None, "there are three");
    assert_eq!(items(&report, 400..1_000, MANY), Some(Vec::new()));
}

#[test]
fn an_extent_that_is_none_leaves_the_item_of_the_sample() {
    let backwards = extent(step(SampleKind::Compute, "k", 7, 0), 9, 5);
    let found = items(
        &profile(vec![backwards], &[(0, 0, 5, 8)]).report(),
        0..10,
        MANY,
    );
    assert_eq!(found.expect("there is one")[0].items, 7..8);
    let last = step(SampleKind::Compute, "k", u32::MAX, 0);
    let found = items(&profile(vec![last], &[(0, 0, 5, 8)]).report(), 0..10, MANY);
    let found = found.expect("there is one");
    assert!(!found[0].items.is_empty(), "at least one item");
}

/// Every cycle has the place of the sample that covers it, and so has a gap between two samples of
/// one place: one cycle after another.
fn cycle_by_cycle(report: &ProfileReport, tile: u32, view: &Range<u64>) -> Vec<(PhaseKey, u64)> {
    let mut cycles: Vec<(PhaseKey, u64)> = Vec::new();
    let visit = |sample: &Sample| {
        let seen = sample.start.max(view.start)..sample.end().min(view.end);
        if sample.tile != tile || seen.is_empty() {
            return;
        }
        let place = report.steps()[sample.step as usize].place;
        let from = match cycles.last() {
            Some(&(last, at)) if last == place => at + 1,
            _ => seen.start,
        };
        cycles.extend((from..seen.end).map(|at| (place, at)));
    };
    report.visit_samples(visit).expect("decodes");
    cycles
}

proptest! {
    #[test]
    fn spans_say_of_every_cycle_where_the_tile_was(
        model in profiles(),
        tile in 0u32..4,
        (from, len) in (0u64..300, 1u64..300),
    ) {
        let report = model.report();
        let view = from..from + len;
        let spans = phase_spans(&report, ClockKind::Shared, view.clone(), tile, MANY);
        let spans = spans.expect("decodes").expect("they are few");
        let said = spans.iter().flat_map(|it| it.cycles.clone().map(|at| (it.phase, at)));
        let said: Vec<_> = said.collect();
        prop_assert_eq!(&said, &cycle_by_cycle(&report, tile, &view));
        let items = item_spans(&report, ClockKind::Shared, view, tile, MANY);
        let items = items.expect("decodes").expect("they are few");
        prop_assert!(items.iter().all(|it| it.items.len() == 1));
        let by_item = items.iter().flat_map(|it| it.cycles.clone().map(|at| (it.items.start, at)));
        let by_phase = said.iter().map(|(phase, at)| (phase.phase, *at));
        prop_assert!(by_item.eq(by_phase));
    }
}
