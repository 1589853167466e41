//! What the page's table must show: the answer of the command line, cell by cell.

use analytics::text;
use analytics::units::Cycles;
use e2e::stack::expect_output;
use e2e::viewer::{Row, Viewer};
use serde_json::Value;

/// Columns of the page with how a person reads them.
const COLUMNS: [(&str, Reading); 10] = [
    ("workCycles", Reading::Count),
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

#[derive(Clone, Copy)]
enum Reading {
    Count,
    Share,
    LowerBound,
}

/// The groups of compute kernels that the command line prints for a profile.
pub(crate) fn kernels_of(profile: &str) -> Vec<Value> {
    let flags = [
        "--group-by",
        "kernel",
        "--kind",
        "compute",
        "--limit",
        "0",
        "--json",
    ];
    let words = [&["profile-query", profile][..], &flags].concat();
    let answer: Value = serde_json::from_str(&expect_output(&words)).expect("it prints JSON");
    let groups = answer["groups"]
        .as_array()
        .expect("a list of groups")
        .clone();
    assert!(!groups.is_empty(), "{profile} has compute kernels");
    groups
}

/// Compares every cell of the page's table with the command line's answer for `profile`.
pub(crate) async fn assert_same_as_command_line(viewer: &Viewer, profile: &str) {
    let groups = kernels_of(profile);
    let rows = viewer.rows().await;
    assert_eq!(rows.len(), groups.len(), "one row for each group");
    for group in &groups {
        let name = group["name"].as_str().expect("a name");
        let row = rows.iter().find(|row| row.name == name);
        let row = row.unwrap_or_else(|| panic!("the page lacks {name}"));
        for (column, reading) in COLUMNS {
            assert_cell(row, group, column, reading);
        }
        assert_eq!(
            row.cells.len(),
            COLUMNS.len() + 1,
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
        Reading::LowerBound => {
            let is_bound = group["deviceUsefulIsLowerBound"].as_bool().expect("a flag");
            text::bounded_percent(value.as_f64(), is_bound)
        }
    };
    assert_eq!(cell.text, expected, "{place}");
}
