//! What the page's table must show: the answer of the command line, cell by cell.

use analytics::text;
use analytics::units::Cycles;
use e2e::stack::expect_output;
use e2e::viewer::{Row, Viewer};
use serde_json::Value;

/// Columns that the page shows at first, with how a person reads them.
const USUAL: [(&str, Reading); 11] = [
    ("workCycles", Reading::Count),
    ("wastedCycles", Reading::Wasted),
    ("usefulUtilization", Reading::Share),
    ("workCycleFraction", Reading::Share),
    ("workLaneOccupancy", Reading::Share),
    ("coverage", Reading::Share),
    ("deviceUsefulUtilization", Reading::LowerBound),
    ("sampleCount", Reading::Count),
    ("p50Cycles", Reading::Count),
    ("p95Cycles", Reading::Count),
    ("maximumCycles", Reading::Count),
];

/// The other columns.
const MORE: [(&str, Reading); 11] = [
    ("meanCycles", Reading::Decimal),
    ("phaseCycles", Reading::Count),
    ("timelineCycles", Reading::Count),
    ("averageActiveTiles", Reading::Decimal),
    ("tileCount", Reading::Count),
    ("phaseCount", Reading::Count),
    ("usefulCycles", Reading::Work),
    ("physicalWorkCycles", Reading::Work),
    ("estimatedWorkCycles", Reading::Count),
    ("firstOffset", Reading::Count),
    ("lastOffset", Reading::Count),
];

#[derive(Clone, Copy)]
enum Reading {
    Count,
    Share,
    LowerBound,
    Decimal,
    Work,
    Wasted,
}

/// What the command line answers to a question about a profile.
pub(crate) fn answer_of(profile: &str, question: &[&str]) -> Value {
    let words = [
        &["profile-query", profile][..],
        question,
        &["--limit", "0", "--json"],
    ]
    .concat();
    serde_json::from_str(&expect_output(&words)).expect("it prints JSON")
}

/// The groups of that answer, of which there are some.
pub(crate) fn groups_of(profile: &str, question: &[&str]) -> Vec<Value> {
    let groups = answer_of(profile, question)["groups"]
        .as_array()
        .expect("a list of groups")
        .clone();
    assert!(!groups.is_empty(), "{profile} has samples of {question:?}");
    groups
}

/// The groups of compute kernels that the command line prints for a profile.
pub(crate) fn kernels_of(profile: &str) -> Vec<Value> {
    groups_of(profile, &["--group-by", "kernel", "--kind", "compute"])
}

/// Compares every cell of the page's table with the command line's answer for `profile`.
pub(crate) async fn assert_same_as_command_line(viewer: &Viewer, profile: &str) {
    assert_same(viewer, &kernels_of(profile), &USUAL).await;
}

/// Compares every cell of the page's table, with all figures shown, with the command line's groups.
pub(crate) async fn assert_all_figures(viewer: &Viewer, groups: &[Value]) {
    assert_same(viewer, groups, &[&USUAL[..], &MORE].concat()).await;
}

async fn assert_same(viewer: &Viewer, groups: &[Value], columns: &[(&str, Reading)]) {
    let rows = viewer.rows().await;
    assert_eq!(rows.len(), groups.len(), "one row for each group");
    for group in groups {
        let name = group["name"].as_str().expect("a name");
        let row = rows.iter().find(|row| row.name == name);
        let row = row.unwrap_or_else(|| panic!("the page lacks {name}"));
        for &(column, reading) in columns {
            assert_cell(row, group, column, reading);
        }
        assert_eq!(
            row.cells.len(),
            columns.len() + 1,
            "{name}: every column was compared"
        );
    }
}

fn assert_cell(row: &Row, group: &Value, column: &str, reading: Reading) {
    let value = group
        .get(column)
        .unwrap_or_else(|| panic!("the answer has no {column}"));
    let place = format!("{} {column}", row.name);
    let cell = row
        .cells
        .get(column)
        .unwrap_or_else(|| panic!("the page lacks {place}"));
    assert_eq!(cell.raw, value.to_string(), "{place}");
    let expected = match reading {
        Reading::Count => text::cycles(Cycles::new(value.as_u64().expect("a count"))),
        Reading::Share => text::percent(value.as_f64()),
        Reading::Decimal => text::decimal(value.as_f64().expect("a number"), 1),
        Reading::Work if value.is_null() => text::UNAVAILABLE.to_owned(),
        // Whole cycles are shown whole.
        Reading::Work => match value.as_u64() {
            Some(whole) => text::count(whole),
            None => text::decimal(value.as_f64().expect("a number"), 1),
        },
        Reading::Wasted => text::wasted(value.as_f64()),
        Reading::LowerBound => {
            let is_bound = group["deviceUsefulIsLowerBound"].as_bool().expect("a flag");
            text::bounded_percent(value.as_f64(), is_bound)
        }
    };
    assert_eq!(cell.text, expected, "{place}");
}
