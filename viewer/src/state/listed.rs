//! Which rows of a panel's table are shown, in which order.

use std::cmp::Ordering;

use analytics::order;
use analytics::text::GROUP_SPACE;

use super::view::Sort;
use crate::engine::list::{List, ListRow, number};

/// Positions of the rows that hold `find` in one of their texts, whatever the case and with or
/// without spaces between groups of digits, in the order of `order`: unknown figures last either
/// way, rows alike as they came. Without an order, or under one of a column that is not there, as
/// they came.
pub(crate) fn shown(list: &List, order: Option<&Sort>, find: &str) -> Vec<usize> {
    // Nobody types the narrow space that groups digits.
    let wanted = find.to_lowercase().replace(GROUP_SPACE, " ");
    let holds = |row: &ListRow| {
        let mut texts = row.cells.iter().map(|it| it.text.to_lowercase());
        texts.any(|text| {
            let holds = |space| text.replace(GROUP_SPACE, space).contains(&wanted);
            holds("") || holds(" ")
        })
    };
    let mut rows: Vec<usize> = (0..list.rows.len())
        .filter(|&at| holds(&list.rows[at]))
        .collect();
    let column = order.and_then(|order| {
        let at = list.columns.iter().position(|it| it.id == order.column)?;
        Some((at, order.ascending))
    });
    if let Some((column, ascending)) = column {
        order::by(&mut rows, |&a, &b| {
            compared(&list.rows[a], &list.rows[b], column, ascending)
        });
    }
    rows
}

fn compared(a: &ListRow, b: &ListRow, column: usize, ascending: bool) -> Ordering {
    let directed = |it: Ordering| if ascending { it } else { it.reverse() };
    let (a, b) = (&a.cells[column], &b.cells[column]);
    match (number(&a.raw), number(&b.raw)) {
        (Some(a), Some(b)) => directed(a.total_cmp(&b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => match (a.raw == "null", b.raw == "null") {
            (false, false) => directed(order::names(&a.text, &b.text)),
            (a, b) => a.cmp(&b),
        },
    }
}

/// The order after a press on the heading of `column`: largest first, then smallest first, then as
/// the rows came.
pub(crate) fn pressed(order: Option<&Sort>, column: &str) -> Option<Sort> {
    let ascending = match order.filter(|it| it.column == column) {
        None => false,
        Some(it) if !it.ascending => true,
        Some(_) => return None,
    };
    Some(Sort {
        column: column.to_owned(),
        ascending,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::list::Press;
    use crate::engine::table::Cell;

    fn list() -> List {
        let mut list = List::new(&[("name", "", ""), ("cycles", "", "")]);
        for (name, cycles) in [
            ("b", Some(5)),
            ("a", None),
            ("Gemm", Some(40)),
            ("d", Some(5)),
        ] {
            let cells = vec![Cell::name(name), Cell::count_or_unknown(cycles)];
            list.push(Press::Nothing, cells);
        }
        list
    }

    #[test]
    fn figures_sort_both_ways_with_unknown_last() {
        let by = |order: &str| shown(&list(), Some(&Sort::parse(order)), "");
        assert_eq!(by("cycles"), [2, 0, 3, 1]);
        assert_eq!(by("cycles.asc"), [0, 3, 2, 1]);
        assert_eq!(by("name.asc"), [2, 1, 0, 3]);
        assert_eq!(by("moon"), [0, 1, 2, 3]);
    }

    #[test]
    fn a_text_keeps_the_rows_that_hold_it() {
        assert_eq!(shown(&list(), None, "gem"), [2]);
        assert_eq!(shown(&list(), None, ""), [0, 1, 2, 3]);
    }

    #[test]
    fn a_number_is_found_with_and_without_its_groups() {
        let mut list = List::new(&[("tile", "", ""), ("cycles", "", "")]);
        for (tile, cycles) in [(1_001, 7), (9, 21_001), (10, 555_010)] {
            list.push(Press::Nothing, vec![Cell::id(tile), Cell::count(cycles)]);
        }
        assert_eq!(list.rows[0].cells[0].text, "1001");
        assert_eq!(shown(&list, None, "1001"), [0, 1]);
        assert_eq!(shown(&list, None, "1 001"), [1]);
        assert_eq!(shown(&list, None, "1\u{202f}001"), [1]);
        assert_eq!(shown(&list, None, "555 010"), [2]);
    }

    #[test]
    fn a_second_press_turns_the_order_and_a_third_takes_it_back() {
        let after = |order: &str, column| {
            let order = Some(Sort::parse(order)).filter(|it| !it.column.is_empty());
            pressed(order.as_ref(), column).map(|it| it.to_string())
        };
        assert_eq!(after("", "cycles").as_deref(), Some("cycles"));
        assert_eq!(after("cycles", "cycles").as_deref(), Some("cycles.asc"));
        assert_eq!(after("cycles.asc", "cycles"), None);
        assert_eq!(after("cycles.asc", "name").as_deref(), Some("name"));
    }
}
