//! Which rows the table shows, in which order.

use std::cmp::Ordering;

use analytics::order;

use super::view::Sort;
use crate::engine::list::number;
use crate::engine::table::{COLUMNS, TableAnswer};

/// Positions of the rows in the order of `sort`: unknown figures last either way, ties by name. An
/// unknown column leaves the query's order.
fn sorted(table: &TableAnswer, sort: &Sort) -> Vec<usize> {
    let mut order: Vec<usize> = (0..table.rows.len()).collect();
    let Some(column) = COLUMNS.iter().position(|it| it.id == sort.column) else {
        return order;
    };
    let rows = &table.rows;
    if column == 0 {
        order::by(&mut order, |&a, &b| {
            directed(order::names(&rows[a].name, &rows[b].name), sort.ascending)
        });
        return order;
    }
    let figures: Vec<Option<f64>> = rows
        .iter()
        .map(|row| number(&row.cells.get(column)?.raw))
        .collect();
    order::by(&mut order, |&a, &b| {
        let by_figure = match (figures[a], figures[b]) {
            (Some(a), Some(b)) => directed(a.total_cmp(&b), sort.ascending),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        };
        by_figure.then_with(|| order::names(&rows[a].name, &rows[b].name))
    });
    order
}

/// Positions of the rows whose name holds `find`, whatever the case, in the order of `sort`.
pub(crate) fn shown(table: &TableAnswer, sort: &Sort, find: &str) -> Vec<usize> {
    let wanted = find.to_lowercase();
    let mut order = sorted(table, sort);
    order.retain(|&at| table.rows[at].name.to_lowercase().contains(&wanted));
    order
}

fn directed(ordering: Ordering, ascending: bool) -> Ordering {
    if ascending {
        ordering
    } else {
        ordering.reverse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::list::Press;
    use crate::engine::table::{Cell, Row};

    fn table() -> TableAnswer {
        let row = |name: &str, work: &str| {
            let mut cells = vec![
                Cell {
                    text: String::new(),
                    raw: "null".to_owned()
                };
                11
            ];
            cells[1].raw = work.to_owned();
            Row {
                name: name.to_owned(),
                press: Press::Nothing,
                cells,
            }
        };
        let rows = [
            ("tile 10", "5"),
            ("tile 9", "null"),
            ("tile 2", "18446744073709551615"),
        ];
        TableAnswer {
            rows: rows.map(|(name, work)| row(name, work)).into(),
            ..TableAnswer::default()
        }
    }

    fn check(sort: &str, expected: [&str; 3]) {
        let table = table();
        let names = sorted(&table, &Sort::parse(sort))
            .into_iter()
            .map(|at| &table.rows[at].name);
        assert_eq!(names.collect::<Vec<_>>(), expected, "{sort}");
    }

    #[test]
    fn figures_sort_both_ways_with_unknown_ones_last() {
        check("workCycles", ["tile 2", "tile 10", "tile 9"]);
        check("workCycles.asc", ["tile 10", "tile 2", "tile 9"]);
    }

    #[test]
    fn names_sort_by_their_number_and_ties_by_name() {
        check("name.asc", ["tile 2", "tile 9", "tile 10"]);
        check("name", ["tile 10", "tile 9", "tile 2"]);
        check("coverage", ["tile 2", "tile 9", "tile 10"]);
    }

    #[test]
    fn a_text_keeps_the_rows_that_hold_it() {
        let table = table();
        let names = |find| {
            let rows = shown(&table, &Sort::parse("name.asc"), find).into_iter();
            rows.map(|at| table.rows[at].name.as_str())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(""), ["tile 2", "tile 9", "tile 10"]);
        assert_eq!(names("LE 1"), ["tile 10"]);
        assert_eq!(names("gemm"), Vec::<&str>::new());
    }

    #[test]
    fn an_unknown_column_leaves_the_order() {
        check("moonPhase", ["tile 10", "tile 9", "tile 2"]);
    }
}
