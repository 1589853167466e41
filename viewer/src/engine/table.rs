//! The answer of a query as rows of text, each with the JSON value that it stands for.
//!
//! The values are taken from the very JSON that `profile-query` prints and the texts come from the
//! formatting that it shares, so the table and the command line cannot disagree.

use std::collections::BTreeMap;

use analytics::aggregate::Measures;
use analytics::profile::SampleKind;
use analytics::query::{Filter, Group, GroupKey, Query, QueryResult, SortKey};
use analytics::{report, text};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::command::flag;
use super::list::Press;
use super::protocol::TableAsked;
use crate::state::kind_choice::kind_counted;
use crate::state::view::{Grouping, Sort};

/// A column: its JSON name, its heading, and what it means.
pub(crate) struct Column {
    /// Name of the figure in the query's JSON.
    pub(crate) id: &'static str,
    /// The query's order by it.
    key: SortKey,
    /// Heading; the first column's depends on the grouping.
    pub(crate) heading: &'static str,
    /// What the figure is.
    pub(crate) meaning: &'static str,
    /// Whether it is shown before somebody asks for all figures.
    pub(crate) is_usual: bool,
}

/// The columns in order: those that are usually shown, then the rest.
pub(crate) const COLUMNS: [Column; 23] = [
    Column::usual(
        "name",
        SortKey::Name,
        "Kernel",
        "What the samples of the row share",
    ),
    Column::usual(
        "workCycles",
        SortKey::WorkCycles,
        "Tile cycles",
        "Sum of all durations D",
    ),
    Column::usual(
        "wastedCycles",
        SortKey::WastedCycles,
        "Wasted",
        "D − U: measured cycles that have an estimate and did no useful work",
    ),
    Column::usual(
        "usefulUtilization",
        SortKey::UsefulEfficiency,
        "Useful efficiency",
        "U/D: useful work over the measured cycles that have an estimate",
    ),
    Column::usual(
        "workCycleFraction",
        SortKey::WorkCycleFraction,
        "Work cycles (P/D)",
        "P/D: physical work over the measured cycles that have an estimate",
    ),
    Column::usual(
        "workLaneOccupancy",
        SortKey::LaneOccupancy,
        "Lane occupancy",
        "U/P: useful work over physical work",
    ),
    Column::usual(
        "coverage",
        SortKey::Coverage,
        "Coverage",
        "Measured cycles with an estimate over all measured cycles",
    ),
    Column::usual(
        "deviceUsefulUtilization",
        SortKey::DeviceUseful,
        "Device useful",
        "U over the time in which the row ran on any tile × all profiled tiles; \
         ≥ where some samples have no estimate",
    ),
    Column::usual(
        "sampleCount",
        SortKey::Samples,
        "Samples",
        "Samples of the row",
    ),
    Column::usual(
        "p50Cycles",
        SortKey::P50Cycles,
        "p50",
        "Median duration in cycles",
    ),
    Column::usual(
        "p95Cycles",
        SortKey::P95Cycles,
        "p95",
        "95th percentile of durations in cycles",
    ),
    Column::usual(
        "maximumCycles",
        SortKey::MaximumCycles,
        "Max",
        "Longest duration in cycles",
    ),
    Column::more(
        "meanCycles",
        SortKey::MeanCycles,
        "Mean",
        "Mean duration in cycles",
    ),
    Column::more(
        "phaseCycles",
        SortKey::PhaseCycles,
        "Phase cycles",
        "Sum over phases of the longest tile",
    ),
    Column::more(
        "timelineCycles",
        SortKey::TimelineCycles,
        "Timeline cycles",
        "Length of the union of the intervals over all tiles",
    ),
    Column::more(
        "averageActiveTiles",
        SortKey::AverageActiveTiles,
        "Active tiles",
        "Tile cycles over phase cycles",
    ),
    Column::more("tileCount", SortKey::Tiles, "Tiles", "Tiles that take part"),
    Column::more(
        "phaseCount",
        SortKey::Phases,
        "Phases",
        "Phases that take part",
    ),
    Column::more(
        "usefulCycles",
        SortKey::UsefulCycles,
        "Useful U",
        "Useful work in issue-cycles",
    ),
    Column::more(
        "physicalWorkCycles",
        SortKey::PhysicalWorkCycles,
        "Physical P",
        "Physical work in issue-cycles",
    ),
    Column::more(
        "estimatedWorkCycles",
        SortKey::EstimatedWorkCycles,
        "Estimated D",
        "Measured cycles of samples with an estimate",
    ),
    Column::more("firstOffset", SortKey::FirstOffset, "First", "First cycle"),
    Column::more(
        "lastOffset",
        SortKey::LastOffset,
        "Last",
        "One past the last cycle",
    ),
];

impl Column {
    const fn usual(
        id: &'static str,
        key: SortKey,
        heading: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self {
            id,
            key,
            heading,
            meaning,
            is_usual: true,
        }
    }

    const fn more(
        id: &'static str,
        key: SortKey,
        heading: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self {
            id,
            key,
            heading,
            meaning,
            is_usual: false,
        }
    }
}

/// The rows, in the order of the query.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableAnswer {
    /// The question.
    pub(crate) asked: TableAsked,
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
    /// What pressing the row does.
    pub(crate) press: Press,
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
        kind: kind(asked),
        kernel: asked.kernel.clone(),
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

/// The kind of the samples that count; that of the kernel that they are of, where that is no kernel
/// but a word for a kind.
fn kind(asked: &TableAsked) -> Option<SampleKind> {
    kind_counted(asked.kernel.as_deref(), asked.kind.to_query())
}

/// The same query in the order of `sort`, in the words of `profile-query`: both the command and the
/// JSON ask it. An order by no column of the table is left out.
pub(crate) fn words(asked: &TableAsked, sort: &Sort) -> Vec<(String, String)> {
    let key = (asked.by == Grouping::Metadata).then_some(asked.key.as_str());
    let column = COLUMNS.iter().find(|it| it.id == sort.column);
    let words = [
        ("group-by", Some(asked.by.name())),
        ("metadata-key", key),
        ("kind", kind(asked).map(|it| it.name())),
        ("kernel", asked.kernel.as_deref()),
        ("clock", Some(asked.clock.name())),
        ("sort-by", column.map(|it| it.key.name())),
        ("limit", Some("0")),
    ];
    let said = words
        .into_iter()
        .filter_map(|(word, value)| Some((word, value?)));
    said.map(|(word, value)| (word.to_owned(), value.to_owned()))
        .collect()
}

/// The query of `words` about a file, as a command after `ipu-stack`.
pub(crate) fn to_command(words: &[(String, String)], file: &str) -> String {
    let mut command = format!("profile-query {file}");
    for (word, value) in words {
        command.push_str(&flag(&format!("--{word}"), Some(value)));
    }
    command.push_str(" --json");
    command
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

/// Rows of a query's answer; who answers a question of the table says which.
pub(crate) fn rows(result: &QueryResult) -> TableAnswer {
    let json = report::query_json(result);
    let json: Printed<'_> = serde_json::from_str(&json).unwrap_or_default();
    let nothing = Figures::new();
    let rows = result.groups.iter().enumerate().map(|(index, group)| {
        let values = json.groups.get(index).unwrap_or(&nothing);
        Row {
            name: group.name.clone(),
            press: press(group),
            cells: cells(&group.name, &group.measures, values),
        }
    });
    TableAnswer {
        asked: TableAsked::default(),
        rows: rows.collect(),
        total: Some(Row {
            name: "All".to_owned(),
            press: Press::Nothing,
            cells: cells("All", &result.totals, &json.totals),
        }),
        warnings: result.warnings.clone(),
        is_from_file: false,
    }
}

/// What pressing a row does. A kind is all over the run: there is nothing to bring into view.
fn press(group: &Group) -> Press {
    let Measures {
        first_offset,
        last_offset,
        ..
    } = group.measures;
    match &group.key {
        GroupKey::Kernel(kernel) if kernel.is_empty() => Press::Nothing,
        GroupKey::Kernel(kernel) => Press::Kernel(kernel.clone()),
        GroupKey::Tile(tile) => Press::Tile(tile.get()),
        GroupKey::Operation(_) | GroupKey::Phase { .. } | GroupKey::Metadata(_) => {
            Press::Jump(first_offset, last_offset)
        }
        GroupKey::Kind(_) => Press::Nothing,
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
        "wastedCycles" => text::wasted(measures.wasted()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::view::KindFilter;

    fn by_metadata(key: &str) -> TableAsked {
        TableAsked {
            by: Grouping::Metadata,
            key: key.to_owned(),
            ..TableAsked::default()
        }
    }

    #[test]
    fn the_words_of_every_order_ask_the_tables_question() {
        let of_kernel = TableAsked {
            kind: KindFilter::Focus,
            kernel: Some("-a kernel".to_owned()),
            ..TableAsked::default()
        };
        for asked in [TableAsked::default(), by_metadata("layer"), of_kernel] {
            for column in &COLUMNS {
                let words = words(&asked, &Sort::parse(column.id));
                let pairs = words.iter().map(|(word, value)| (&word[..], &value[..]));
                let expected = Query {
                    sort_by: column.key,
                    ..to_query(&asked)
                };
                assert_eq!(Query::from_words(pairs), Ok(expected), "{}", column.id);
            }
        }
        let of_exchanges = TableAsked {
            kind: KindFilter::Focus,
            kernel: Some("exchange".to_owned()),
            ..TableAsked::default()
        };
        let filter = to_query(&of_exchanges).filter;
        assert_eq!(
            filter.kind,
            Some(SampleKind::Exchange),
            "it computes nothing"
        );
        let words = words(&TableAsked::default(), &Sort::parse("moonPhase"));
        assert!(words.iter().all(|(word, _)| word != "sort-by"));
    }

    #[test]
    fn a_command_quotes_what_a_shell_or_a_flag_would_mistake() {
        let words = words(&by_metadata("-a b"), &Sort::default());
        assert_eq!(
            to_command(&words, "'a b'"),
            "profile-query 'a b' --group-by metadata --metadata-key='-a b' --kind compute \
             --clock cropped --sort-by work-cycles --limit 0 --json"
        );
    }
}
