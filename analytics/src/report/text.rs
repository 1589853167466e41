//! A query answer for people: a header, one line a group, the samples, the warnings.
//!
//! Every line but names of samples fits 80 columns with the usual names. All numbers come from
//! [`crate::text`], which the page uses too.

use std::fmt::Write as _;

use crate::aggregate::Measures;
use crate::query::{Filter, Group, GroupBy, QueryResult, SampleDetail, place_name};
use crate::report::table::{Align, table};
use crate::text;

/// Longest group name shown in full.
const NAME_WIDTH: usize = 30;

/// The answer as text with a final newline.
#[must_use]
pub fn query_text(result: &QueryResult) -> String {
    let mut out = header(result);
    if !result.groups.is_empty() {
        out.push('\n');
        out.push_str(&time_table(result));
        out.push('\n');
        out.push_str(&sample_table(result));
        if result.totals.has_estimate() {
            out.push('\n');
            out.push_str(&work_table(result));
        }
    }
    if !result.samples.is_empty() {
        let _ = write!(out, "\nlongest samples ({} clock)\n", result.clock.name());
        for sample in &result.samples {
            out.push_str(&sample_lines(sample));
        }
    }
    for warning in &result.warnings {
        let _ = write!(out, "\nwarning: {warning}\n");
    }
    out
}

fn header(result: &QueryResult) -> String {
    let matched = text::count(result.totals.sample_count);
    let mut out = format!(
        "{} tiles, {matched} of {} samples match, {} clock\nspan {} cycles, {}\n",
        text::count(result.tile_count),
        text::count(result.sample_count),
        result.clock.name(),
        text::cycles(result.span),
        text::time(result.span, result.clock_hz),
    );
    let conditions = conditions(&result.filter);
    if !conditions.is_empty() {
        let _ = writeln!(out, "only {}", conditions.join(", "));
    }
    let _ = writeln!(
        out,
        "{} of {} groups by {}, sorted by {}",
        result.groups.len(),
        result.group_count,
        group_by(&result.group_by),
        result.sort_by.name(),
    );
    out
}

fn group_by(group_by: &GroupBy) -> String {
    match group_by {
        GroupBy::Metadata(key) => format!("metadata {key}"),
        GroupBy::Kernel | GroupBy::Operation | GroupBy::Phase | GroupBy::Tile | GroupBy::Kind => {
            group_by.name().to_owned()
        }
    }
}

/// The conditions in force, in words.
fn conditions(filter: &Filter) -> Vec<String> {
    let mut words = Vec::new();
    let list = |numbers: Vec<String>| numbers.join(" or ");
    if !filter.tiles.is_empty() {
        let tiles = filter.tiles.iter().map(ToString::to_string).collect();
        words.push(format!("tile {}", list(tiles)));
    }
    if !filter.phases.is_empty() {
        let phases = filter.phases.iter().map(ToString::to_string).collect();
        words.push(format!("phase {}", list(phases)));
    }
    words.extend(filter.kernel.iter().map(|it| format!("kernel `{it}`")));
    words.extend(
        filter
            .operation_contains
            .iter()
            .map(|it| format!("operation with `{it}`")),
    );
    words.extend(filter.kind.map(|it| format!("kind {}", text::kind(it))));
    words.extend(filter.metadata.iter().map(|it| match &it.value {
        Some(value) => format!("metadata {}={value}", it.name),
        None => format!("metadata {}", it.name),
    }));
    words.extend(filter.at.map(|at| format!("at {at} (tile clock)")));
    words.extend(filter.at_offset.map(|at| format!("at offset {at}")));
    words
}

/// A row for each group and, where there are several, one for all that matches.
fn rows(result: &QueryResult, cells: impl Fn(&Measures) -> Vec<String>) -> Vec<Vec<String>> {
    let row = |name: &str, measures: &Measures| {
        std::iter::once(name.to_owned())
            .chain(cells(measures))
            .collect()
    };
    let groups = result
        .groups
        .iter()
        .map(|Group { name, measures, .. }| row(name, measures));
    let totals = (result.group_count > 1).then(|| row("all that matches", &result.totals));
    groups.chain(totals).collect()
}

fn time_table(result: &QueryResult) -> String {
    let has_waste = result.totals.has_estimate();
    let cells = |it: &Measures| {
        let mut cells = vec![
            text::cycles(it.phase_cycles),
            text::cycles(it.timeline_cycles),
            text::cycles(it.work_cycles),
        ];
        if has_waste {
            cells.push(text::wasted(it.wasted()));
        }
        cells
    };
    let mut header = vec![
        (result.group_by.name(), Align::Left),
        ("phaseCycles", Align::Right),
        ("timeline", Align::Right),
        ("workCycles", Align::Right),
    ];
    if has_waste {
        header.push(("wasted", Align::Right));
    }
    table(&header, &rows(result, cells), NAME_WIDTH)
}

fn sample_table(result: &QueryResult) -> String {
    let cells = |it: &Measures| {
        vec![
            text::count(it.sample_count),
            text::count(it.tile_count),
            text::cycles(it.p50),
            text::cycles(it.p95),
            text::cycles(it.maximum),
        ]
    };
    let header = [
        (result.group_by.name(), Align::Left),
        ("samples", Align::Right),
        ("tiles", Align::Right),
        ("p50", Align::Right),
        ("p95", Align::Right),
        ("max", Align::Right),
    ];
    table(&header, &rows(result, cells), NAME_WIDTH)
}

fn work_table(result: &QueryResult) -> String {
    let cells = |it: &Measures| {
        vec![
            text::percent(it.useful_efficiency()),
            text::percent(it.work_cycle_fraction()),
            text::percent(it.lane_occupancy()),
            text::bounded_percent(it.device_useful(), it.device_useful_is_lower_bound()),
            text::percent(it.coverage()),
        ]
    };
    let header = [
        (result.group_by.name(), Align::Left),
        ("useful", Align::Right),
        ("work", Align::Right),
        ("lanes", Align::Right),
        ("device", Align::Right),
        ("coverage", Align::Right),
    ];
    table(&header, &rows(result, cells), NAME_WIDTH)
}

fn sample_lines(sample: &SampleDetail) -> String {
    let mut out = format!(
        "  tile {}  {} + {} cycles{}  {}  {}  {}\n",
        sample.tile,
        text::count(sample.offset),
        text::cycles(sample.duration),
        if sample.cut { " (cut)" } else { "" },
        text::kind(sample.kind),
        place_name(sample.phase, sample.epoch),
        named(&sample.kernel),
    );
    if !sample.operation.is_empty() {
        let _ = writeln!(out, "    operation {}", sample.operation);
    }
    if sample.useful.is_some() {
        let _ = writeln!(
            out,
            "    useful {}, work {}, lanes {}  ({})",
            text::percent(sample.useful_efficiency()),
            text::percent(sample.work_cycle_fraction()),
            text::percent(sample.lane_occupancy()),
            sample.basis,
        );
    }
    for (name, value) in &sample.metadata {
        let _ = writeln!(out, "    {name}={value}");
    }
    out
}

/// A kernel for people.
pub(super) const fn named(kernel: &str) -> &str {
    if kernel.is_empty() {
        "(no kernel)"
    } else {
        kernel
    }
}
