//! The ranked candidates of an operation as a table for people.

use std::fmt::Write as _;

use crate::graph::Operation;

use super::select::Ranked;

/// Candidates shown.
const SHOWN: usize = 8;

/// One table: predicted cycles by part, cheapest first, each operation priced alone.
pub(super) fn explain(operation: &Operation, ranked: &Ranked) -> String {
    let mut text = String::new();
    let (shown, feasible) = (ranked.feasible.len().min(SHOWN), ranked.feasible.len());
    let infeasible = ranked.tried - feasible;
    let mut line = |args: std::fmt::Arguments<'_>| {
        let written = text.write_fmt(args);
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
        text.push('\n');
    };
    line(format_args!(
        "{}: {shown} of {feasible} feasible plans shown, {infeasible} infeasible",
        operation.name
    ));
    line(format_args!(
        "{:>9} {:>9} {:>9} {:>9} {:>9}  plan",
        "cycles", "operands", "gemm", "partials", "reduce"
    ));
    for candidate in ranked.feasible.iter().take(SHOWN) {
        let parts = &candidate.predicted;
        line(format_args!(
            "{:>9} {:>9} {:>9} {:>9} {:>9}  {}",
            parts.total().get(),
            parts.operands.get(),
            parts.gemm.get(),
            parts.partials.get(),
            parts.reduce.get(),
            candidate.plan
        ));
    }
    text
}
