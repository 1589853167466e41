//! The ranked candidates of an operation as a table for people, at most 80 columns wide.

use std::fmt::Write as _;

use crate::graph::Operation;
use crate::options::PredictedCycles;

use super::pick::Pick;

/// Candidates shown.
const SHOWN: usize = 8;
/// Columns of a line; a plan that does not fit beside its figures stands below them.
const COLUMNS: usize = 80;

/// One table: predicted cycles by part, cheapest first, each operation priced alone.
pub(super) fn explain(
    name: &str,
    feasible: impl ExactSizeIterator<Item = Pick>,
    tried: usize,
) -> String {
    let count = feasible.len();
    let (shown, infeasible) = (count.min(SHOWN), tried - count);
    let title = format!("{name}: {shown} of {count} feasible plans shown, {infeasible} infeasible");
    table(&title, feasible.take(SHOWN))
}

/// The plans of an operation that is done where others left its operand, cheapest first.
pub(super) fn explain_others(operation: &Operation, picks: &[Pick]) -> String {
    let mut shown: Vec<Pick> = Vec::new();
    for pick in picks.iter().take(SHOWN) {
        if !shown.iter().any(|known| known.plan == pick.plan) {
            shown.push(*pick);
        }
    }
    table(&format!("{}:", operation.name), shown.into_iter())
}

/// The plans of products that may be done at once on different tiles, each with its own parts.
pub(super) fn explain_at_once(operations: &[Operation], picks: &[Pick]) -> String {
    let names: Vec<&str> = operations.iter().map(|each| each.name.as_str()).collect();
    let names = names.join(" + ");
    if picks.is_empty() {
        return format!("{names} at once: a share of the tiles has no room\n");
    }
    table(&format!("{names} at once:"), picks.iter().copied())
}

fn table(title: &str, picks: impl Iterator<Item = Pick>) -> String {
    let heading = figures(&[
        "cycles",
        "operands",
        "gemm",
        "partials",
        "reduce",
        "pointwise",
    ]);
    let mut text = format!("{title}\n{heading}  plan\n");
    for pick in picks {
        let PredictedCycles {
            operands,
            gemm,
            partials,
            reduce,
            pointwise,
        } = pick.predicted;
        let total = pick.predicted.total();
        let parts = [total, operands, gemm, partials, reduce, pointwise];
        let parts = parts.map(|cycles| cycles.get().to_string());
        let (line, plan) = (figures(&parts), pick.plan.to_string());
        let is_short = line.len() + 2 + plan.len() <= COLUMNS;
        let between = if is_short { "  " } else { "\n    " };
        let written = writeln!(text, "{line}{between}{plan}");
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
    text
}

/// Six right-aligned cells.
fn figures<T: std::fmt::Display>(cells: &[T; 6]) -> String {
    let [total, operands, gemm, partials, reduce, pointwise] = cells;
    format!("{total:>8} {operands:>8} {gemm:>8} {partials:>8} {reduce:>8} {pointwise:>9}")
}
