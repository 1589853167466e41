//! The answer of a query as rows of text, each with the JSON value that it stands for.
//!
//! The values are taken from the very JSON that `profile-query` prints and the texts come from the
//! formatting that it shares, so the table and the command line cannot disagree.

use std::collections::BTreeMap;

use analytics::aggregate::Measures;
use analytics::query::{Filter, GroupBy, GroupKey, Query, QueryResult};
use analytics::{report, text};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::protocol::TableAsked;
use crate::browser::quoted;
use crate::state::view::Grouping;

/// A column: its JSON name, its heading, and what it means.
pub(crate) struct Column {
    /// Name of the figure in the query's JSON.
    pub(crate) id: &'static str,
    /// Heading; the first column's depends on the grouping.
    pub(crate) heading: &'static str,
    /// What the figure is.
    pub(crate) meaning: &'static str,
    /// Whether it is shown before somebody asks for all figures.
    pub(crate) is_usual: bool,
}

/// The columns in order: those that are usually shown, then the rest.
pub(crate) const COLUMNS: [Column; 22] = [
    Column::usual("name", "Kernel", "What the samples of the row share"),
    Column::usual("workCycles", "Tile cycles", "Sum of all durations D"),
    Column::usual(
        "usefulUtilization",
        "Useful efficiency",
        "U/D: useful work over the measured cycles that have an estimate",
    ),
    Column::usual(
        "workCycleFraction",
        "Work cycles (P/D)",
        "P/D: physical work over the measured cycles that have an estimate",
    ),
    Column::usual(
        "workLaneOccupancy",
        "Lane occupancy",
        "U/P: useful work over physical work",
    ),
    Column::usual(
        "coverage",
        "Coverage",
        "Measured cycles with an estimate over all measured cycles",
    ),
    Column::usual(
        "deviceUsefulUtilization",
        "Device useful",
        "U over the time in which the row ran on any tile × all profiled tiles; \
         ≥ where some samples have no estimate",
    ),
    Column::usual("sampleCount", "Samples", "Samples of the row"),
    Column::usual("p50Cycles", "p50", "Median duration in cycles"),
    Column::usual("p95Cycles", "p95", "95th percentile of durations in cycles"),
    Column::usual("maximumCycles", "Max", "Longest duration in cycles"),
    Column::more("meanCycles", "Mean", "Mean duration in cycles"),
    Column::more(
        "phaseCycles",
        "Phase cycles",
        "Sum over phases of the longest tile",
    ),
    Column::more(
        "timelineCycles",
        "Timeline cycles",
        "Length of the union of the intervals over all tiles",
    ),
    Column::more(
        "averageActiveTiles",
        "Active tiles",
        "Tile cycles over phase cycles",
    ),
    Column::more("tileCount", "Tiles", "Tiles that take part"),
    Column::more("phaseCount", "Phases", "Phases that take part"),
    Column::more("usefulCycles", "Useful U", "Useful work in issue-cycles"),
    Column::more(
        "physicalWorkCycles",
        "Physical P",
        "Physical work in issue-cycles",
    ),
    Column::more(
        "estimatedWorkCycles",
        "Estimated D",
        "Measured cycles of samples with an estimate",
    ),
    Column::more("firstOffset", "First", "First cycle"),
    Column::more("lastOffset", "Last", "One past the last cycle"),
];

impl Column {
    const fn usual(id: &'static str, heading: &'static str, meaning: &'static str) -> Self {
        Self {
            id,
            heading,
            meaning,
            is_usual: true,
        }
    }

    const fn more(id: &'static str, heading: &'static str, meaning: &'static str) -> Self {
        Self {
            id,
            heading,
            meaning,
            is_usual: false,
        }
    }
}

/// The rows, in the order of the query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableAnswer {
    /// One for each group.
    pub(crate) rows: Vec<Row>,
    /// All matching samples as one row.
    pub(crate) total: Option<Row>,
    /// What a reader should know first.
    pub(crate) warnings: Vec<String>,
    /// Whether the figures are the sums that the file carries, with no sample read.
    pub(crate) is_from_file: bool,
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
pub(crate) fn to_query(asked: &TableAsked) -> Query {
    let filter = Filter {
        kind: asked.kind.to_query(),
        ..Filter::default()
    };
    Query {
        group_by: asked.by.to_query(&asked.key),
        filter,
        clock: asked.clock,
        limit: 0,
        ..Query::default()
    }
}

/// The same query as a command.
pub(crate) fn to_command(asked: &TableAsked, file: &str) -> String {
    let kind = match asked.kind.to_query() {
        Some(kind) => format!(" --kind {}", kind.name()),
        None => String::new(),
    };
    let key = match asked.by {
        Grouping::Metadata => format!(" --metadata-key {}", quoted(&asked.key)),
        _ => String::new(),
    };
    let (by, clock) = (asked.by.name(), asked.clock.name());
    let file = quoted(file);
    format!(
        "ipu-stack profile-query {file} --group-by {by}{key}{kind} --clock {clock} --limit 0 --json"
    )
}

/// Figures of a group by their names in JSON.
type Figures<'a> = BTreeMap<&'a str, &'a RawValue>;

/// What is shown of a printed answer.
#[derive(Default, Deserialize)]
struct Printed<'a> {
    #[serde(borrow)]
    groups: Vec<Figures<'a>>,
    #[serde(borrow)]
    totals: Figures<'a>,
}

/// Rows of a query's answer.
pub(crate) fn rows(result: &QueryResult) -> TableAnswer {
    let json = report::query_json(result);
    let json: Printed<'_> = serde_json::from_str(&json).unwrap_or_default();
    let nothing = Figures::new();
    let rows = result.groups.iter().enumerate().map(|(index, group)| {
        let values = json.groups.get(index).unwrap_or(&nothing);
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
            cells: cells("All", &result.totals, &json.totals),
        }),
        warnings: result.warnings.clone(),
        is_from_file: false,
    }
}

/// Rows of an answer of [`analytics::query::query_summary`]: what that lacks is unknown, not zero.
pub(crate) fn rows_from_file(result: &QueryResult) -> TableAnswer {
    const NOT_IN_ROWS: [&str; 5] = [
        "phaseCycles",
        "averageActiveTiles",
        "phaseCount",
        "firstOffset",
        "lastOffset",
    ];
    const NOT_IN_TOTALS: [&str; 5] = [
        "deviceUsefulUtilization",
        "p50Cycles",
        "p95Cycles",
        "timelineCycles",
        "tileCount",
    ];
    let mut table = rows(result);
    table.is_from_file = true;
    let blank = |row: &mut Row, lacks: &dyn Fn(&str) -> bool| {
        let cells = COLUMNS.iter().zip(&mut row.cells);
        for (_, cell) in cells.filter(|(column, _)| lacks(column.id)) {
            *cell = Cell {
                text: "in the samples".to_owned(),
                raw: "null".to_owned(),
            };
        }
    };
    for row in &mut table.rows {
        blank(row, &|id| NOT_IN_ROWS.contains(&id));
    }
    if let Some(total) = &mut table.total {
        blank(total, &|id| {
            NOT_IN_ROWS.contains(&id) || NOT_IN_TOTALS.contains(&id)
        });
    }
    table
}

fn cells(name: &str, measures: &Measures, values: &Figures<'_>) -> Vec<Cell> {
    let cell = |column: &Column| {
        let raw = values.get(column.id).map_or("null", |it| it.get());
        Cell {
            text: figure(column.id, name, measures),
            raw: raw.to_owned(),
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
        "meanCycles" => decimal(measures.mean()),
        "phaseCycles" => text::cycles(measures.phase_cycles),
        "timelineCycles" => text::cycles(measures.timeline_cycles),
        "averageActiveTiles" => decimal(measures.average_active_tiles()),
        "tileCount" => text::count(measures.tile_count),
        "phaseCount" => text::count(measures.phase_count),
        "usefulCycles" => text::work(measures.useful()),
        "physicalWorkCycles" => text::work(measures.physical()),
        "estimatedWorkCycles" => text::cycles(measures.estimated_cycles),
        "firstOffset" => text::count(measures.first_offset),
        "lastOffset" => text::count(measures.last_offset),
        other => unreachable!("the table has no column {other}"),
    }
}

fn decimal(figure: Option<f64>) -> String {
    figure.map_or_else(|| text::UNAVAILABLE.to_owned(), |it| text::decimal(it, 1))
}
