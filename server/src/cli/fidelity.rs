//! `fidelity`: the simulated machine against every published figure.
//!
//! The JSON has `schema: "ipu-stack/fidelity/1"`; additions keep the number, renames raise it.

use std::fmt::Write as _;

use clap::Args;
use runtime::fidelity::{Bound, Group, Report, Row, report};
use serde::Serialize;

use super::output::print;
use super::{Io, Outcome};
use crate::error::CliError;

/// Arguments of `fidelity`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit status is 1 if a figure is beyond its bound.

Examples:
  ipu-stack fidelity --summary
  ipu-stack fidelity --json")]
pub struct FidelityArgs {
    /// Print the groups alone
    #[arg(long, conflicts_with = "json")]
    pub summary: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(args: &FidelityArgs, io: &mut Io<'_>) -> Outcome {
    let report = report();
    let text = if args.json {
        json(&report)?
    } else {
        text(&report, args.summary)
    };
    print(io.stdout, &text)?;
    let failed: Vec<&str> = report
        .groups
        .iter()
        .filter(|group| !group.passes())
        .map(|group| group.name)
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    let what = format!("figures of {} are beyond their bounds", failed.join(", "));
    let hint = "read the rows marked FAIL; the cost tables or the published table changed";
    Err(CliError::user(what, "fidelity report", hint).into())
}

/// One line a figure, then one a group.
fn text(report: &Report, is_summary: bool) -> String {
    let mut text = String::new();
    if !is_summary {
        for row in &report.rows {
            push_row(&mut text, row);
        }
        text.push('\n');
    }
    let _fits = writeln!(
        text,
        "{:14} {:>5} {:>5} {:>8} {:>8}  bound",
        "group", "rows", "exact", "mean %", "worst %"
    );
    for group in &report.groups {
        push_group(&mut text, group, &report.rows);
    }
    text
}

fn push_row(text: &mut String, row: &Row) {
    let error = row
        .error_percent()
        .map_or_else(|| "-".to_owned(), |error| format!("{error:+.2} %"));
    let generation = row
        .generation
        .map_or_else(String::new, |g| format!(", {g}"));
    let _fits = writeln!(
        text,
        "{} {:13} {:52} {:>12} {:>12} {:9} {:>9}  {}",
        if row.passes() { "ok  " } else { "FAIL" },
        row.group,
        format!("{}{generation}", row.name),
        row.simulated,
        row.published,
        row.unit,
        error,
        row.provenance
    );
}

fn push_group(text: &mut String, group: &Group, rows: &[Row]) {
    let mut bounds: Vec<String> = Vec::new();
    for row in rows.iter().filter(|row| row.group == group.name) {
        let bound = bound_text(row.bound);
        if !bounds.contains(&bound) {
            bounds.push(bound);
        }
    }
    if let Some(mean) = group.mean_bound {
        bounds.push(format!("mean {mean} %"));
    }
    let _fits = writeln!(
        text,
        "{:14} {:>5} {:>5} {:>8.3} {:>8.3}  {}{}",
        group.name,
        group.rows,
        group.exact,
        group.mean_percent,
        group.worst_percent,
        bounds.join(", "),
        if group.passes() { "" } else { "  FAIL" }
    );
}

fn bound_text(bound: Bound) -> String {
    match bound {
        Bound::Exact => "exact".to_owned(),
        Bound::Percent(limit) => format!("{limit} %"),
        Bound::Unclaimed => "no claim".to_owned(),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    schema: &'static str,
    passes: bool,
    groups: Vec<JsonGroup<'a>>,
    rows: Vec<JsonRow<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonGroup<'a> {
    group: &'a str,
    rows: usize,
    exact: usize,
    mean_percent: f64,
    worst_percent: f64,
    mean_bound_percent: Option<f64>,
    failed: usize,
    passes: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonRow<'a> {
    group: &'a str,
    name: &'a str,
    generation: Option<&'a str>,
    unit: &'a str,
    simulated: f64,
    published: f64,
    error_percent: Option<f64>,
    bound: &'static str,
    bound_percent: Option<f64>,
    passes: bool,
    provenance: &'a str,
}

impl<'a> JsonGroup<'a> {
    fn new(group: &'a Group) -> Self {
        Self {
            group: group.name,
            rows: group.rows,
            exact: group.exact,
            mean_percent: group.mean_percent,
            worst_percent: group.worst_percent,
            mean_bound_percent: group.mean_bound,
            failed: group.failed,
            passes: group.passes(),
        }
    }
}

impl<'a> JsonRow<'a> {
    fn new(row: &'a Row) -> Self {
        let (bound, bound_percent) = match row.bound {
            Bound::Exact => ("exact", None),
            Bound::Percent(limit) => ("percent", Some(limit)),
            Bound::Unclaimed => ("none", None),
        };
        Self {
            group: row.group,
            name: &row.name,
            generation: row.generation,
            unit: row.unit,
            simulated: row.simulated,
            published: row.published,
            error_percent: row.error_percent(),
            bound,
            bound_percent,
            passes: row.passes(),
            provenance: row.provenance,
        }
    }
}

fn json(report: &Report) -> Result<String, CliError> {
    let document = Document {
        schema: "ipu-stack/fidelity/1",
        passes: report.passes(),
        groups: report.groups.iter().map(JsonGroup::new).collect(),
        rows: report.rows.iter().map(JsonRow::new).collect(),
    };
    let mut text = serde_json::to_string_pretty(&document)
        .map_err(|error| CliError::internal(error, "JSON writer"))?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_hold_every_figure() {
        let report = report();
        let lines = text(&report, false);
        assert_eq!(
            lines.lines().count(),
            report.rows.len() + 2 + report.groups.len()
        );
        let document: serde_json::Value = serde_json::from_str(&json(&report).unwrap()).unwrap();
        assert_eq!(document["schema"], "ipu-stack/fidelity/1");
        assert_eq!(
            document["rows"].as_array().unwrap().len(),
            report.rows.len()
        );
        assert_eq!(document["rows"][0]["published"], 48_654.0);
        assert_eq!(document["passes"], true);
    }

    #[test]
    fn a_row_beyond_its_bound_is_marked() {
        let mut row = report().rows[0].clone();
        row.published *= 2.0;
        let mut text = String::new();
        push_row(&mut text, &row);
        assert!(text.starts_with("FAIL gemm"), "{text}");
    }
}
