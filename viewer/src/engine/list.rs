//! A table as data: columns, and rows of texts with the JSON values that they stand for.

use analytics::text;
use analytics::units::Cycles;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::table::Cell;

/// Columns and rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct List {
    /// The first one names the row.
    pub(crate) columns: Vec<ListColumn>,
    /// In an order that makes sense unsorted.
    pub(crate) rows: Vec<ListRow>,
}

/// What a column says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ListColumn {
    /// Name in JSON and in links.
    pub(crate) id: String,
    /// Heading.
    pub(crate) heading: String,
    /// What the figure is.
    pub(crate) meaning: String,
}

/// One row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ListRow {
    /// One for each column.
    pub(crate) cells: Vec<Cell>,
    /// What pressing the row does.
    pub(crate) press: Press,
    /// Column of a bar behind its figure, and how long it is, 0..=1.
    pub(crate) bar: Option<(usize, f64)>,
}

/// What pressing a row does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Press {
    /// Nothing.
    #[default]
    Nothing,
    /// What the panel does that is told of it.
    Panel,
    /// Brings cycles of the answer's clock into view.
    Jump(u64, u64),
    /// Focuses a kernel.
    Kernel(String),
    /// Brings a physical tile into view.
    Tile(u32),
}

impl List {
    /// A list with these columns, as id, heading and meaning, and no rows.
    pub(crate) fn new(columns: &[(&str, &str, &str)]) -> Self {
        let column = |&(id, heading, meaning): &(&str, &str, &str)| ListColumn {
            id: id.to_owned(),
            heading: heading.to_owned(),
            meaning: meaning.to_owned(),
        };
        Self {
            columns: columns.iter().map(column).collect(),
            rows: Vec::new(),
        }
    }

    /// Appends a row.
    pub(crate) fn push(&mut self, press: Press, cells: Vec<Cell>) {
        debug_assert_eq!(cells.len(), self.columns.len(), "one cell for each column");
        self.rows.push(ListRow {
            cells,
            press,
            bar: None,
        });
    }

    /// Draws bars behind the figures of a column, the largest at full length.
    pub(crate) fn with_bars(mut self, column: &str) -> Self {
        let Some(at) = self.columns.iter().position(|it| it.id == column) else {
            return self;
        };
        let figure = |row: &ListRow| number(&row.cells[at].raw).map(f64::abs);
        let most = self.rows.iter().filter_map(figure).fold(0.0, f64::max);
        for row in &mut self.rows {
            let figure = figure(row).filter(|_| most > 0.0);
            row.bar = figure.map(|it| (at, it / most));
        }
        self
    }

    /// The rows at `order` as a JSON list of objects, pretty, with a final newline.
    pub(crate) fn json(&self, order: &[usize]) -> String {
        let rows: Vec<Object<'_>> = order
            .iter()
            .map(|&at| Object(&self.columns, &self.rows[at]))
            .collect();
        let text = serde_json::to_string_pretty(&rows).unwrap_or_default();
        format!("{text}\n")
    }

    /// The rows at `order` as comma-separated values with a heading line.
    pub(crate) fn csv(&self, order: &[usize]) -> String {
        let mut text = String::new();
        let heads = self.columns.iter().map(|it| field(&it.id));
        line(&mut text, heads);
        for &at in order {
            let values = self.rows[at].cells.iter();
            line(&mut text, values.map(|it| field(&plain(&it.raw))));
        }
        text
    }
}

/// The number that the JSON text of a cell is. JSON's reader is here in any case; the standard
/// library's own is ten kilobytes of tables.
pub(crate) fn number(raw: &str) -> Option<f64> {
    serde_json::from_str(raw).ok()
}

/// A JSON value without quotes; nothing for `null`.
fn plain(raw: &str) -> String {
    match raw {
        "null" => String::new(),
        text if text.starts_with('"') => serde_json::from_str(text).unwrap_or_default(),
        number => number.to_owned(),
    }
}

/// The JSON text of a value.
fn raw<T: Serialize>(value: T) -> String {
    serde_json::to_string(&value).unwrap_or_else(|_| "null".to_owned())
}

/// A row as a JSON object, in the order of its columns.
struct Object<'a>(&'a [ListColumn], &'a ListRow);

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pairs = self.0.iter().zip(&self.1.cells);
        serializer.collect_map(pairs.map(|(column, cell)| {
            (
                &column.id,
                serde_json::from_str::<&RawValue>(&cell.raw).ok(),
            )
        }))
    }
}

fn line(text: &mut String, values: impl Iterator<Item = String>) {
    text.push_str(&values.collect::<Vec<_>>().join(","));
    text.push('\n');
}

/// A text as RFC 4180 writes it.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

impl Cell {
    /// A name.
    pub(crate) fn name(name: &str) -> Self {
        Self {
            text: name.to_owned(),
            raw: raw(name),
        }
    }

    /// A number that names a thing, as a tile or an item: nothing to add up, so its digits are
    /// written without groups, as everywhere else.
    pub(crate) fn id(id: u32) -> Self {
        Self {
            text: id.to_string(),
            raw: id.to_string(),
        }
    }

    /// A number of things, cycles or bytes.
    pub(crate) fn count(count: u64) -> Self {
        Self {
            text: text::count(count),
            raw: count.to_string(),
        }
    }

    /// A number that may be unknown.
    pub(crate) fn count_or_unknown(count: Option<u64>) -> Self {
        count.map_or_else(Self::unknown, Self::count)
    }

    /// A figure of something that is not there.
    pub(crate) fn absent() -> Self {
        Self {
            text: "–".to_owned(),
            raw: "null".to_owned(),
        }
    }

    /// A difference in cycles.
    pub(crate) fn signed(change: i64) -> Self {
        Self {
            text: text::signed(change),
            raw: change.to_string(),
        }
    }

    /// A fraction.
    pub(crate) fn share(share: Option<f64>) -> Self {
        Self {
            text: text::percent(share),
            raw: raw(share),
        }
    }

    /// A number with decimals.
    pub(crate) fn decimal(value: Option<f64>, decimals: usize) -> Self {
        Self {
            text: value.map_or_else(
                || text::UNAVAILABLE.to_owned(),
                |it| text::decimal(it, decimals),
            ),
            raw: raw(value),
        }
    }

    /// A figure that is not known.
    pub(crate) fn unknown() -> Self {
        Self {
            text: text::UNAVAILABLE.to_owned(),
            raw: "null".to_owned(),
        }
    }
}

/// `Run` and the like: a figure of cycles with its time.
pub(crate) fn cycles_with_time(cycles: u64, clock_hz: u64) -> String {
    let cycles = Cycles::new(cycles);
    format!(
        "{} cycles · {}",
        text::cycles(cycles),
        text::time(cycles, clock_hz)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> List {
        let mut list = List::new(&[("name", "Name", ""), ("cycles", "Cycles", "")]);
        list.push(Press::Nothing, vec![Cell::name("a,\"b\""), Cell::count(10)]);
        list.push(Press::Tile(3), vec![Cell::name("c"), Cell::unknown()]);
        list
    }

    #[test]
    fn rows_are_written_as_json_and_csv() {
        let json = "[\n  {\n    \"name\": \"c\",\n    \"cycles\": null\n  }\n]\n";
        assert_eq!(list().json(&[1]), json);
        assert_eq!(list().csv(&[0, 1]), "name,cycles\n\"a,\"\"b\"\"\",10\nc,\n");
    }

    #[test]
    fn the_longest_bar_is_full_and_unknown_has_none() {
        let mut list = list();
        list.push(Press::Nothing, vec![Cell::name("d"), Cell::count(5)]);
        let bars: Vec<_> = list
            .with_bars("cycles")
            .rows
            .iter()
            .map(|it| it.bar)
            .collect();
        assert_eq!(bars, [Some((1, 1.0)), None, Some((1, 0.5))]);
    }
}
