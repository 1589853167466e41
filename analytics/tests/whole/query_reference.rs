//! Queries against a naive reference, over generated profiles and questions.

use std::collections::BTreeMap;

use crate::support::ModelProfile;
use crate::support::naive::{self, Figures, Placed};
use crate::support::strategy::{large_profiles, profiles};
use analytics::aggregate::Measures;
use analytics::clock::ClockKind;
use analytics::profile::{ProfileReport, SampleKind};
use analytics::query::{Filter, GroupBy, MetadataFilter, Query, QueryResult, SortKey, query};
use analytics::units::PhysicalTile;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

fn filters() -> impl Strategy<Value = Filter> {
    let rarely = |p| option::weighted(0.2, p);
    let tiles =
        prop_oneof![4 => Just(vec![]), 1 => vec((0u32..12).prop_map(PhysicalTile::new), 1..4)];
    let phases = prop_oneof![4 => Just(vec![]), 1 => vec(select(vec![0, 7, 1u32 << 31]), 1..3)];
    let condition = (
        select(vec!["block", "active", "none"]),
        option::of(select(vec!["1", "2"])),
    )
        .prop_map(|(name, value)| MetadataFilter {
            name: name.to_owned(),
            value: value.map(str::to_owned),
        });
    let metadata = prop_oneof![4 => Just(vec![]), 1 => vec(condition, 1..3)];
    let text = |words: Vec<&'static str>| select(words).prop_map(str::to_owned);
    let kinds = select(vec![
        SampleKind::Compute,
        SampleKind::Idle,
        SampleKind::Exchange,
    ]);
    let cycle = || prop_oneof![0u64..3_000, 0u64..200_000, 0u64..10_000_000_000];
    (
        (tiles, phases, metadata),
        rarely(text(vec!["gemm", ""]).boxed()),
        rarely(text(vec!["up", "."]).boxed()),
        option::weighted(0.2, kinds),
        option::weighted(0.15, cycle()),
        option::weighted(0.15, cycle()),
    )
        .prop_map(
            |((tiles, phases, metadata), kernel, operation_contains, kind, at, at_offset)| Filter {
                tiles,
                phases,
                kernel,
                operation_contains,
                kind,
                metadata,
                at,
                at_offset,
            },
        )
}

fn queries() -> impl Strategy<Value = Query> {
    let group_by = select(vec![
        GroupBy::Kernel,
        GroupBy::Operation,
        GroupBy::Phase,
        GroupBy::Tile,
        GroupBy::Kind,
        GroupBy::Metadata("block".to_owned()),
    ]);
    let clock = select(ClockKind::ALL.to_vec());
    let limit = prop_oneof![Just(0usize), 1usize..5];
    let shown = (limit, 0usize..4);
    (group_by, filters(), clock, select(SortKey::ALL), shown).prop_map(
        |(group_by, filter, clock, sort_by, (limit, samples))| Query {
            group_by,
            filter,
            clock,
            sort_by,
            limit,
            samples,
        },
    )
}

fn figures_of(it: &Measures) -> Figures {
    let count = |value: u64| usize::try_from(value).expect("small");
    Figures {
        samples: count(it.sample_count),
        tiles: count(it.tile_count),
        phases: count(it.phase_count),
        phase_cycles: it.phase_cycles.get(),
        timeline_cycles: it.timeline_cycles.get(),
        work_cycles: it.work_cycles.get(),
        estimated_cycles: it.estimated_cycles.get(),
        useful_256ths: it.useful_sum.get_256ths(),
        physical_256ths: it.physical_sum.get_256ths(),
        p50: it.p50.get(),
        p95: it.p95.get(),
        maximum: it.maximum.get(),
        first: it.first_offset,
        last: it.last_offset,
    }
}

fn check(profile: &ModelProfile, question: &Query) -> Result<(), TestCaseError> {
    check_report(&profile.report(), profile, question)
}

fn check_report(
    report: &ProfileReport,
    profile: &ModelProfile,
    question: &Query,
) -> Result<(), TestCaseError> {
    let result = query(report, question).expect("a whole profile has an answer");
    let matching = naive::matching(profile, question);
    prop_assert_eq!(result.span.get(), naive::span(profile, question.clock));
    prop_assert_eq!(result.tile_count, profile.tiles.len() as u64);
    let mut groups: BTreeMap<String, Vec<Placed<'_>>> = BTreeMap::new();
    for sample in &matching {
        let name = naive::group_name(&question.group_by, sample);
        groups.entry(name).or_default().push(sample.clone());
    }
    let mut names = naive::ordered(profile, question);
    if question.limit > 0 {
        names.truncate(question.limit);
    }
    let expected: Vec<_> = names
        .into_iter()
        .map(|name| {
            let figures = naive::figures(&groups[&name]);
            (name, figures)
        })
        .collect();
    let found: Vec<_> = result
        .groups
        .iter()
        .map(|it| (it.name.clone(), figures_of(&it.measures)))
        .collect();
    prop_assert_eq!(found, expected);
    prop_assert_eq!(result.group_count, groups.len());
    if matching.is_empty() {
        prop_assert_eq!(result.totals.sample_count, 0);
    } else {
        prop_assert_eq!(figures_of(&result.totals), naive::figures(&matching));
    }
    check_samples(&result, matching, question)
}

fn check_samples(
    result: &QueryResult,
    mut matching: Vec<Placed<'_>>,
    question: &Query,
) -> Result<(), TestCaseError> {
    matching.sort_by_key(|it| (std::cmp::Reverse(it.end - it.start), it.tile, it.start));
    matching.truncate(question.samples);
    prop_assert_eq!(result.samples.len(), matching.len());
    for (found, expected) in result.samples.iter().zip(&matching) {
        prop_assert_eq!(found.tile.get(), expected.tile);
        prop_assert_eq!(found.ordinal, expected.ordinal as u64);
        prop_assert_eq!(found.offset, expected.start);
        prop_assert_eq!(found.duration.get(), expected.end - expected.start);
        prop_assert_eq!(&found.metadata, &expected.step.metadata);
        prop_assert_eq!(&found.operation, &expected.step.operation);
        let useful = expected.step.estimate.as_ref().filter(|_| !expected.cut);
        prop_assert_eq!(found.useful, useful.map(|it| it.useful));
    }
    Ok(())
}

/// Runs `work` with so many threads, where the engine has any.
#[cfg(feature = "native")]
fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().expect("a pool").install(work)
}

#[cfg(not(feature = "native"))]
fn with_threads<T>(_threads: usize, work: impl FnOnce() -> T) -> T {
    work()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn every_figure_equals_the_naive_one(profile in profiles(), question in queries()) {
        check(&profile, &question)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn figures_do_not_depend_on_chunks_blocks_and_threads(
        profile in large_profiles(),
        questions in vec(queries(), 6),
    ) {
        let report = profile.report();
        let blocks: std::collections::BTreeSet<u32> =
            report.chunks().iter().map(|it| it.tiles.start).collect();
        prop_assume!(blocks.len() > 1 && report.chunks().len() > blocks.len());
        for (at, question) in questions.iter().enumerate() {
            with_threads(1 + at % 3, || check_report(&report, &profile, question))?;
        }
    }
}
