//! A query answer for people: a header, one line a group, the samples, the warnings.
//!
//! Every line but names of samples fits 80 columns, long names shortened. All numbers come from
//! [`crate::text`], which the page uses too; only what is unavailable has a shorter word here.

use std::fmt::Write as _;

use crate::query::{
    Filter, Group, GroupBy, GroupKey, QueryResult, SampleDetail, SortKey, place_name,
};
use crate::report::table::{Align, table};
use crate::text;

/// What an unknown figure is called in the narrow columns of a table.
const UNKNOWN: &str = "unknown";

/// The answer as text with a final newline.
#[must_use]
pub fn query_text(result: &QueryResult) -> String {
    let mut out = header(result);
    if !result.groups.is_empty() {
        let work = result.totals.has_estimate().then(|| work_table(result));
        let tables = [sorted_table(result), Some(time_table(result))];
        for table in tables.into_iter().chain([Some(sample_table(result)), work]) {
            out.extend(table.map(|it| format!("\n{it}")));
        }
    }
    if !result.samples.is_empty() {
        let _ = write!(out, "\nlongest samples ({} clock)\n", result.clock.name());
        for sample in &result.samples {
            out.push_str(&sample_lines(sample));
        }
    }
    out.push_str(&warned(&result.warnings));
    out
}

/// Warnings as they end every answer for people: a paragraph each.
pub(super) fn warned(warnings: &[String]) -> String {
    let paragraph = |warning: &String| format!("\nwarning: {warning}\n");
    warnings.iter().map(paragraph).collect()
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
        text::count(result.groups.len() as u64),
        text::count(result.group_count as u64),
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
fn rows(result: &QueryResult, cells: impl Fn(&Group) -> Vec<String>) -> Vec<Vec<String>> {
    let totals = Group {
        name: "all that matches".to_owned(),
        key: GroupKey::Kernel(String::new()),
        measures: result.totals,
    };
    let totals = (result.group_count > 1).then_some(&totals);
    let row = |group: &Group| {
        std::iter::once(group.name.clone())
            .chain(cells(group))
            .collect()
    };
    result.groups.iter().chain(totals).map(row).collect()
}

/// Figures that may be no whole number, one decimal where they are none.
fn decimal(figure: Option<f64>) -> String {
    match figure {
        None => UNKNOWN.to_owned(),
        Some(figure) if text::whole(figure).is_some() => text::decimal(figure, 0),
        Some(figure) => text::decimal(figure, 1),
    }
}

fn known(figure: String) -> String {
    if figure == text::UNAVAILABLE {
        UNKNOWN.to_owned()
    } else {
        figure
    }
}

/// The figures that groups can be sorted by and that no other table has; only where they are.
fn sorted_table(result: &QueryResult) -> Option<String> {
    let columns: [(SortKey, &str); 3] = match result.sort_by {
        SortKey::AverageActiveTiles | SortKey::FirstOffset | SortKey::LastOffset => [
            (SortKey::AverageActiveTiles, "active tiles"),
            (SortKey::FirstOffset, "first offset"),
            (SortKey::LastOffset, "last offset"),
        ],
        SortKey::UsefulCycles | SortKey::PhysicalWorkCycles | SortKey::EstimatedWorkCycles => [
            (SortKey::UsefulCycles, "useful cycles"),
            (SortKey::PhysicalWorkCycles, "physical work"),
            (SortKey::EstimatedWorkCycles, "estimated"),
        ],
        SortKey::PhaseCycles
        | SortKey::WorkCycles
        | SortKey::TimelineCycles
        | SortKey::MaximumCycles
        | SortKey::MeanCycles
        | SortKey::P50Cycles
        | SortKey::P95Cycles
        | SortKey::Samples
        | SortKey::Tiles
        | SortKey::Phases
        | SortKey::WastedCycles
        | SortKey::UsefulEfficiency
        | SortKey::WorkCycleFraction
        | SortKey::LaneOccupancy
        | SortKey::DeviceUseful
        | SortKey::Coverage
        | SortKey::Name => return None,
    };
    let cells = |group: &Group| {
        let cells = columns.iter().map(|(key, _)| decimal(key.figure(group)));
        cells.collect()
    };
    let mut header = vec![(result.group_by.name(), Align::Left)];
    header.extend(columns.iter().map(|&(_, name)| (name, Align::Right)));
    Some(table(&header, &rows(result, cells)))
}

fn time_table(result: &QueryResult) -> String {
    let has_waste = result.totals.has_estimate();
    let cells = |Group { measures: it, .. }: &Group| {
        let mut cells = vec![
            text::cycles(it.phase_cycles),
            text::cycles(it.timeline_cycles),
            text::cycles(it.work_cycles),
        ];
        if has_waste {
            cells.push(known(text::wasted(it.wasted())));
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
    table(&header, &rows(result, cells))
}

fn sample_table(result: &QueryResult) -> String {
    let cells = |Group { measures: it, .. }: &Group| {
        vec![
            text::count(it.sample_count),
            text::count(it.tile_count),
            text::count(it.phase_count),
            decimal(it.mean()),
            text::cycles(it.p50),
            text::cycles(it.p95),
            text::cycles(it.maximum),
        ]
    };
    let header = [
        (result.group_by.name(), Align::Left),
        ("samples", Align::Right),
        ("tiles", Align::Right),
        ("phases", Align::Right),
        ("mean", Align::Right),
        ("p50", Align::Right),
        ("p95", Align::Right),
        ("max", Align::Right),
    ];
    table(&header, &rows(result, cells))
}

fn work_table(result: &QueryResult) -> String {
    let cells = |Group { measures: it, .. }: &Group| {
        let device = text::bounded_percent(it.device_useful(), it.device_useful_is_lower_bound());
        [
            text::percent(it.useful_efficiency()),
            text::percent(it.work_cycle_fraction()),
            text::percent(it.lane_occupancy()),
            device,
            text::percent(it.coverage()),
        ]
        .map(known)
        .to_vec()
    };
    let header = [
        (result.group_by.name(), Align::Left),
        ("useful", Align::Right),
        ("work", Align::Right),
        ("lanes", Align::Right),
        ("device", Align::Right),
        ("coverage", Align::Right),
    ];
    table(&header, &rows(result, cells))
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
        if sample.kernel.is_empty() {
            "(no kernel)"
        } else {
            &sample.kernel
        },
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
