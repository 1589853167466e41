//! The ranked candidates of an operation as a table for people.

use std::fmt::Write as _;

use crate::graph::Operation;

use super::pick::Pick;
use super::rank::Ranked;

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

/// The plans of an operation that is no product, cheapest first.
pub(super) fn explain_others(operation: &Operation, picks: &[Pick]) -> String {
    let mut text = format!("{}:\n", operation.name);
    let mut shown: Vec<String> = Vec::new();
    for pick in picks.iter().take(SHOWN) {
        let plan = pick.plan.to_string();
        if !shown.contains(&plan) {
            let cycles = pick.predicted.total().get();
            let written = writeln!(text, "{cycles:>9}  {plan}");
            debug_assert!(written.is_ok(), "writing to a string cannot fail");
            shown.push(plan);
        }
    }
    text
}

/// The plans of products that may be done at once on different tiles.
pub(super) fn explain_at_once(operations: &[Operation], picks: &[Pick]) -> String {
    let names: Vec<&str> = operations.iter().map(|each| each.name.as_str()).collect();
    if picks.is_empty() {
        return format!(
            "{} at once: a share of the tiles has no room\n",
            names.join(" + ")
        );
    }
    let line = |pick: &Pick| {
        let cycles = pick.predicted.total().get();
        format!("{cycles:>9}  {}\n", pick.plan)
    };
    let lines: String = picks.iter().map(line).collect();
    format!("{} at once:\n{lines}", names.join(" + "))
}
