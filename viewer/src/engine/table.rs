//! The answer of a query as rows of text, each with the JSON value that it stands for.
//!
//! The values are taken from the very JSON that `profile-query` prints and the texts come from the
//! formatting that it shares, so the table and the command line cannot disagree.

use analytics::aggregate::Measures;
use analytics::query::{Filter, GroupBy, GroupKey, Query, QueryResult};
use analytics::{report, text};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::protocol::TableAsked;

/// A column: its JSON name, its heading, and what it means.
pub(crate) struct Column {
    /// Name of the figure in the query's JSON.
    pub(crate) id: &'static str,
    /// Heading; the first column's depends on the grouping.
    pub(crate) heading: &'static str,
    /// What the figure is.
    pub(crate) meaning: &'static str,
}

/// The columns in order.
pub(crate) const COLUMNS: [Column; 11] = [
    Column {
        id: "name",
        heading: "Kernel",
        meaning: "What the samples of the row share",
    },
    Column {
        id: "workCycles",
        heading: "Tile cycles",
        meaning: "Sum of all durations D",
    },
    Column {
        id: "usefulUtilization",
        heading: "Useful efficiency",
        meaning: "U/D: useful work over the measured cycles that have an estimate",
    },
    Column {
        id: "workCycleFraction",
        heading: "Work cycles (P/D)",
        meaning: "P/D: physical work over the measured cycles that have an estimate",
    },
    Column {
        id: "workLaneOccupancy",
        heading: "Lane occupancy",
        meaning: "U/P: useful work over physical work",
    },
    Column {
        id: "coverage",
        heading: "Coverage",
        meaning: "Measured cycles with an estimate over all measured cycles",
    },
    Column {
        id: "deviceUsefulUtilization",
        heading: "Device useful",
        meaning: "U over the time in which the row ran on any tile × all profiled tiles; \
                  ≥ where some samples have no estimate",
    },
    Column {
        id: "sampleCount",
        heading: "Samples",
        meaning: "Samples of the row",
    },
    Column {
        id: "p50Cycles",
        heading: "p50",
        meaning: "Median duration in cycles",
    },
    Column {
        id: "p95Cycles",
        heading: "p95",
        meaning: "95th percentile of durations in cycles",
    },
    Column {
        id: "maximumCycles",
        heading: "Max",
        meaning: "Longest duration in cycles",
    },
];

/// The rows, in the order of the query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableAnswer {
    /// One for each group.
    pub(crate) rows: Vec<Row>,
    /// All matching samples as one row.
    pub(crate) total: Option<Row>,
    /// What a reader should know first.
    pub(crate) warnings: Vec<String>,
}

/// One group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// Its name, unique in the table.
    pub(crate) name: String,
    /// The kernel that selecting the row focuses; `None` where it cannot.
    pub(crate) kernel: Option<String>,
    /// One for each of [`COLUMNS`].
    pub(crate) cells: Vec<Cell>,
}

/// One figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cell {
    /// For people.
    pub(crate) text: String,
    /// The JSON value.
    pub(crate) raw: String,
}

/// The query behind a table: `profile-query --group-by BY --kind KIND --clock CLOCK --limit 0`.
pub(crate) fn to_query(asked: TableAsked) -> Query {
    let filter = Filter {
        kind: asked.kind.to_query(),
        ..Filter::default()
    };
    Query {
        group_by: asked.by.to_query(),
        filter,
        clock: asked.clock,
        limit: 0,
        ..Query::default()
    }
}

/// The same query as a command.
pub(crate) fn to_command(asked: TableAsked, file: &str) -> String {
    let kind = match asked.kind.to_query() {
        Some(kind) => format!(" --kind {}", kind.name()),
        None => String::new(),
    };
    let (by, clock) = (asked.by.name(), asked.clock.name());
    format!("ipu-stack profile-query {file} --group-by {by}{kind} --clock {clock} --limit 0 --json")
}

/// Rows of a query's answer.
pub(crate) fn rows(result: &QueryResult) -> TableAnswer {
    let json: Value = serde_json::from_str(&report::query_json(result)).unwrap_or(Value::Null);
    let rows = result.groups.iter().enumerate().map(|(index, group)| {
        let values = &json["groups"][index];
        let kernel = match (&group.key, &result.group_by) {
            (GroupKey::Kernel(kernel), GroupBy::Kernel) if !kernel.is_empty() => {
                Some(kernel.clone())
            }
            _ => None,
        };
        Row {
            name: group.name.clone(),
            kernel,
            cells: cells(&group.name, &group.measures, values),
        }
    });
    TableAnswer {
        rows: rows.collect(),
        total: Some(Row {
            name: "All".to_owned(),
            kernel: None,
            cells: cells("All", &result.totals, &json["totals"]),
        }),
        warnings: result.warnings.clone(),
    }
}

fn cells(name: &str, measures: &Measures, values: &Value) -> Vec<Cell> {
    let cell = |column: &Column| {
        let text = figure(column.id, name, measures);
        Cell {
            text,
            raw: values[column.id].to_string(),
        }
    };
    COLUMNS.iter().map(cell).collect()
}

fn figure(id: &str, name: &str, measures: &Measures) -> String {
    match id {
        "name" => name.to_owned(),
        "workCycles" => text::cycles(measures.work_cycles),
        "usefulUtilization" => text::percent(measures.useful_efficiency()),
        "workCycleFraction" => text::percent(measures.work_cycle_fraction()),
        "workLaneOccupancy" => text::percent(measures.lane_occupancy()),
        "coverage" => text::percent(measures.coverage()),
        "deviceUsefulUtilization" => {
            let bound = measures.device_useful_is_lower_bound();
            text::bounded_percent(measures.device_useful(), bound)
        }
        "sampleCount" => text::count(measures.sample_count),
        "p50Cycles" => text::cycles(measures.p50),
        "p95Cycles" => text::cycles(measures.p95),
        "maximumCycles" => text::cycles(measures.maximum),
        other => unreachable!("the table has no column {other}"),
    }
}
