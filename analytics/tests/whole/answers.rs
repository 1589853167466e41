//! Answers for people and what they say of the file: warnings, widths, order, shown figures.

use crate::support::{self, estimate, step};
use analytics::barriers::{BarrierSort, barriers, barriers_for};
use analytics::clock::ClockKind;
use analytics::critical::{CriticalOptions, critical_path};
use analytics::diff::{DiffOptions, diff};
use analytics::format::{SliceOptions, open_bytes, slice};
use analytics::inspect::inspect;
use analytics::profile::{Condition, ProfileReport, SampleKind, StepDescriptor};
use analytics::query::{Filter, GroupBy, Query, SortKey, query};
use analytics::report::{
    barriers_json, barriers_text, critical_json, critical_text, diff_json, diff_text, inspect_json,
    inspect_text, query_json, query_text,
};
use analytics::synth::{SynthOptions, generate};
use analytics::text;

/// A generated file of several blocks of tiles without its last third.
fn truncated() -> ProfileReport {
    let mut bytes = Vec::new();
    let options = SynthOptions {
        samples: 30_000,
        tiles: 200,
        ..SynthOptions::default()
    };
    generate(&options, &mut |piece| bytes.extend_from_slice(piece)).expect("generates");
    bytes.truncate(bytes.len() / 3 * 2);
    let report = open_bytes(bytes).expect("what is whole opens");
    let condition = report.condition();
    assert!(
        matches!(condition, Condition::Truncated { .. }),
        "{condition:?}"
    );
    report
}

/// Text and JSON of every answer about a report.
fn answers(report: &ProfileReport) -> Vec<String> {
    let order = BarrierSort::default();
    let answer = query(report, &Query::default()).expect("answers");
    let waits = barriers(report).expect("answers");
    let of_none = barriers_for(report, "no such kernel").expect("answers");
    let path = critical_path(report, &CriticalOptions::default()).expect("answers");
    let figures = inspect(report).expect("answers");
    let compared = diff(report, report, &DiffOptions::default()).expect("answers");
    vec![
        query_text(&answer),
        query_json(&answer),
        barriers_text(&waits, order, 2),
        barriers_json(&waits, order, 2),
        barriers_text(&of_none, order, 2),
        barriers_json(&of_none, order, 2),
        critical_text(&path, 2),
        critical_json(&path, 2),
        inspect_text(&figures),
        inspect_json(&figures),
        diff_text(&compared, 2),
        diff_json(&compared, 2),
    ]
}

#[test]
fn every_answer_from_a_truncated_file_or_a_part_of_one_says_so() {
    let whole = support::profile(vec![step(SampleKind::Compute, "k", 0, 0)], &[(0, 0, 0, 9)]);
    assert_eq!(whole.report().warnings(), [] as [String; 0]);
    let report = truncated();
    let cut = |report: &ProfileReport| {
        let bytes = slice(report, &SliceOptions::default()).expect("cuts");
        open_bytes(bytes).expect("opens")
    };
    let part = cut(&report);
    assert_eq!(part.condition(), Condition::Complete);
    let part_of_part = cut(&part);
    for (report, expected) in [
        (&report, "the file is truncated: samples after byte"),
        (&part, "this is a part of a truncated file"),
        (&part_of_part, "this is a part of a truncated file"),
    ] {
        assert_eq!(report.warnings().len(), 1);
        for answer in answers(report) {
            assert!(answer.contains(expected), "{expected}: {answer}");
        }
    }
}

#[test]
fn a_cycle_past_the_end_is_answered_with_the_end() {
    let steps = vec![step(SampleKind::Compute, "k", 0, 0)];
    // The tile clock ends at 60, where the second tile does; the cropped one at 50.
    let report = support::profile(steps, &[(0, 0, 0, 50), (1, 0, 10, 70)]).report();
    let warnings = |filter| {
        let question = Query {
            filter,
            ..Query::default()
        };
        query(&report, &question).expect("answers").warnings
    };
    let at = |at| Filter {
        at: Some(at),
        ..Filter::default()
    };
    assert_eq!(
        warnings(at(60)),
        ["the timeline ends at 60 on the tile clock"]
    );
    assert_eq!(warnings(at(59)), [] as [String; 0]);
    let at_offset = Filter {
        at_offset: Some(60),
        ..Filter::default()
    };
    assert_eq!(
        warnings(at_offset),
        ["the timeline ends at 60 on the cropped clock"]
    );
}

#[test]
fn a_comparison_says_which_profile_is_not_whole() {
    let steps = vec![step(SampleKind::Compute, "k", 0, 0)];
    let whole = support::profile(steps, &[(0, 0, 0, 9)]).report();
    let compared = diff(&whole, &truncated(), &DiffOptions::default()).expect("compares");
    let says = |it: &&String| it.starts_with("after: the file is truncated");
    assert_eq!(
        compared.warnings.iter().filter(says).count(),
        1,
        "{:?}",
        compared.warnings
    );
}

/// Long names that differ at the start, in the middle, and not at all where names are cut.
const NAMES: [&str; 4] = [
    "gemm_f16_k1152_c16_interleaved_coefficients",
    "gemm_f16_k1152_c32_interleaved_coefficients",
    "gemm_f16_k1152_c16_standard_coefficients",
    "copy",
];

/// Kernels of [`NAMES`] with long times, two of them without an estimate.
fn long_names(scale: u64) -> ProfileReport {
    let described = |(at, name): (usize, &&str)| StepDescriptor {
        estimate: if at % 2 == 0 {
            estimate(at as u64 * 1_001, 3_000)
        } else {
            None
        },
        operation: (*name).to_owned(),
        metadata: vec![("layer".to_owned(), (*name).to_owned())],
        ..step(SampleKind::Compute, name, 0, 0)
    };
    let mut steps: Vec<_> = NAMES.iter().enumerate().map(described).collect();
    steps.push(step(SampleKind::Synchronization, "", 1, 0));
    steps.push(step(SampleKind::Exchange, "", 1, 0));
    let mut samples = Vec::new();
    for tile in 0..4 {
        let mut now = 0;
        for at in 0..NAMES.len() {
            let end = now + scale * (1_000 + 1_234 * at as u64 + u64::from(tile));
            samples.push((tile, at, now, end));
            now = end;
        }
        samples.push((tile, 4, now, 90_000 * scale));
        samples.push((tile, 5, 90_000 * scale, 91_000 * scale));
    }
    support::profile(steps, &samples).report()
}

/// The first words of the lines of the table whose header has these words.
fn names_under(text: &str, header: &[&str]) -> Vec<String> {
    let has_all = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        header.iter().all(|it| words.contains(it))
    };
    let mut lines = text.lines().skip_while(|line| !has_all(line));
    assert!(lines.next().is_some(), "{header:?}: {text}");
    let rows = lines.take_while(|line| !line.is_empty());
    rows.map(|line| line.split("  ").next().expect("a name").to_owned())
        .collect()
}

fn fits(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}\n{text}");
    }
}

#[test]
fn text_fits_eighty_columns_with_unknown_work_and_long_names() {
    let report = long_names(1);
    let groupings = [
        GroupBy::Kernel,
        GroupBy::Operation,
        GroupBy::Phase,
        GroupBy::Tile,
        GroupBy::Kind,
        GroupBy::Metadata("layer".to_owned()),
    ];
    for group_by in groupings {
        for &sort_by in SortKey::ALL {
            let question = Query {
                group_by: group_by.clone(),
                sort_by,
                ..Query::default()
            };
            let text = query_text(&query(&report, &question).expect("answers"));
            fits(&text);
            assert!(!text.contains("unavailable"), "{text}");
        }
    }
    let question = Query {
        sort_by: SortKey::WorkCycles,
        ..Query::default()
    };
    let text = query_text(&query(&report, &question).expect("answers"));
    let work = text
        .lines()
        .skip_while(|line| !line.contains("coverage"))
        .nth(1);
    assert!(work.is_some_and(|it| it.contains("unknown")), "{text}");
}

#[test]
fn names_that_differ_are_never_shown_alike() {
    let (before, after) = (long_names(1), long_names(2));
    let distinct = |mut names: Vec<String>, count: usize| {
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{names:?}");
    };
    let compared = diff(&before, &after, &DiffOptions::default()).expect("compares");
    let text = diff_text(&compared, 10);
    fits(&text);
    distinct(
        names_under(&text, &["kernel", "before", "after"]),
        NAMES.len(),
    );
    // Synchronization and exchange are of no operation.
    distinct(
        names_under(&text, &["operation", "before", "after"]),
        NAMES.len() + 1,
    );
    let path = critical_path(&before, &CriticalOptions::default()).expect("decodes");
    let text = critical_text(&path, 10);
    fits(&text);
    distinct(names_under(&text, &["kernel", "share", "run"]), NAMES.len());
    let answer = query(&before, &Query::default()).expect("answers");
    let all = NAMES.len() + 2;
    for header in [&["phaseCycles"][..], &["p95"], &["coverage"]] {
        distinct(names_under(&query_text(&answer), header), all);
    }
}

#[test]
fn the_figure_that_groups_are_sorted_by_is_shown() {
    let report = long_names(1);
    for &sort_by in SortKey::ALL.iter().filter(|&&it| it != SortKey::Name) {
        let question = Query {
            sort_by,
            ..Query::default()
        };
        let answer = query(&report, &question).expect("answers");
        let figure = sort_by.figure(&answer.groups[0]).expect("is known");
        let shown = match sort_by {
            it if it.is_fraction() => text::percent(Some(figure)),
            SortKey::WastedCycles => text::wasted(Some(figure)),
            _ if figure.fract() == 0.0 => text::decimal(figure, 0),
            _ => text::decimal(figure, 1),
        };
        let text = query_text(&answer);
        let name = answer.groups[0].name.split('_').next().expect("a word");
        let has = |line: &str| line.starts_with(name) && line.contains(&format!(" {shown}"));
        assert!(
            text.lines().any(has),
            "{}: {shown} in {text}",
            sort_by.name()
        );
    }
}

#[test]
fn names_with_numbers_are_in_the_order_of_the_numbers() {
    let layers = ["10", "9", "x", "2"];
    let mut steps: Vec<StepDescriptor> = Vec::new();
    for (at, layer) in (0u32..).zip(layers) {
        let metadata = vec![("layer".to_owned(), layer.to_owned())];
        let phase = [100, 2, 10, 1][at as usize];
        steps.push(StepDescriptor {
            metadata,
            ..step(SampleKind::Compute, "k", phase, 0)
        });
    }
    let samples = [(100, 0, 0, 9), (1, 1, 0, 9), (10, 2, 0, 9), (2, 3, 0, 9)];
    let report = support::profile(steps, &samples).report();
    let names = |group_by: &GroupBy, sort_by| {
        let question = Query {
            group_by: group_by.clone(),
            sort_by,
            clock: ClockKind::Shared,
            ..Query::default()
        };
        let answer = query(&report, &question).expect("answers");
        answer
            .groups
            .into_iter()
            .map(|it| it.name)
            .collect::<Vec<_>>()
    };
    // All figures are equal, so that every order is one of ties.
    for sort_by in [SortKey::Name, SortKey::WorkCycles, SortKey::FirstOffset] {
        let tiles = names(&GroupBy::Tile, sort_by);
        assert_eq!(tiles, ["tile 1", "tile 2", "tile 10", "tile 100"]);
        let phases = names(&GroupBy::Phase, sort_by);
        assert_eq!(
            phases,
            ["phase 1/0", "phase 2/0", "phase 10/0", "phase 100/0"]
        );
        let layers = names(&GroupBy::Metadata("layer".to_owned()), sort_by);
        assert_eq!(layers, ["2", "9", "10", "x"]);
    }
    let compared = diff(&report, &report, &DiffOptions::default()).expect("compares");
    let tiles: Vec<&str> = compared
        .tiles
        .changes
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(tiles, ["tile 1", "tile 2", "tile 10", "tile 100"]);
}
