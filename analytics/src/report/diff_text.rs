//! Two profiles compared, for people: plain text in 80 columns and Markdown, with the same cells.

use std::fmt::Write as _;

use super::table::{Align, markdown, table};
use super::text::warned;
use crate::aggregate::Measures;
use crate::diff::{Change, ProfileDiff, Section, Side, Verdict};
use crate::text;
use crate::units::Cycles;

/// The comparison as text with a final newline: `limit` changes of each section, 0 is all.
#[must_use]
pub fn diff_text(diff: &ProfileDiff, limit: usize) -> String {
    let mut out = format!(
        "before  {}\nafter   {}\n",
        side(&diff.before),
        side(&diff.after)
    );
    let _ = writeln!(out, "{}", run(diff));
    for (name, section) in diff.sections() {
        let shown = shown(section, limit);
        let _ = write!(out, "\n{}\n", counts(name, section, shown.len()));
        if !shown.is_empty() {
            out.push_str(&table(&header(name), &rows(shown)));
        }
    }
    out.push_str(&warned(&diff.warnings));
    out
}

/// The comparison as Markdown with a final newline: `limit` changes of each section, 0 is all.
#[must_use]
pub fn diff_markdown(diff: &ProfileDiff, limit: usize) -> String {
    let mut out = format!("### Profile comparison\n\n{}\n\n", run(diff));
    let _ = writeln!(out, "* before: {}", side(&diff.before));
    let _ = writeln!(out, "* after: {}", side(&diff.after));
    for warning in &diff.warnings {
        let _ = writeln!(out, "* warning: {warning}");
    }
    for (name, section) in diff.sections() {
        let shown = shown(section, limit);
        let _ = write!(out, "\n{}\n", counts(name, section, shown.len()));
        if !shown.is_empty() {
            let _ = write!(out, "\n{}", markdown(&header(name), &rows(shown)));
        }
    }
    out
}

fn side(it: &Side) -> String {
    format!(
        "{} cycles, {}, {} tiles, {} samples",
        text::count(it.run),
        text::time(Cycles::new(it.run), it.clock_hz),
        text::count(it.tile_count),
        text::count(it.sample_count),
    )
}

fn run(diff: &ProfileDiff) -> String {
    let change = Change::delta(diff.before.run, diff.after.run);
    format!(
        "the run is {}: {} cycles, {} ({} clock, noise {} cycles)",
        match diff.verdict {
            Verdict::Same => "the same",
            other => other.name(),
        },
        text::signed(change),
        text::signed_percent(change, diff.before.run),
        diff.clock.name(),
        text::count(diff.noise),
    )
}

fn counts(name: &str, section: &Section, shown: usize) -> String {
    let of = |verdict: Verdict| match section.count(verdict) {
        0 => None,
        count => Some(format!("{} {}", text::count(count as u64), verdict.name())),
    };
    let words: Vec<String> = Verdict::ALL.into_iter().filter_map(of).collect();
    let [shown, all] = [shown, section.changes.len()].map(|it| text::count(it as u64));
    let words = if words.is_empty() {
        "none".to_owned()
    } else {
        words.join(", ")
    };
    format!("by {name}: {words}; {shown} of {all} shown")
}

/// The first changes; those within the noise only where all are asked for.
fn shown(section: &Section, limit: usize) -> &[Change] {
    if limit == 0 {
        return &section.changes;
    }
    let changed = section.changes.iter().take(limit);
    let count = changed.take_while(|it| it.verdict != Verdict::Same).count();
    &section.changes[..count]
}

fn header(name: &str) -> [(&str, Align); 6] {
    [
        (name, Align::Left),
        ("before", Align::Right),
        ("after", Align::Right),
        ("change", Align::Right),
        ("", Align::Right),
        ("useful", Align::Right),
    ]
}

fn rows(changes: &[Change]) -> Vec<Vec<String>> {
    changes.iter().map(row).collect()
}

fn row(it: &Change) -> Vec<String> {
    let (before, after) = (it.before_cycles(), it.after_cycles());
    let change = Change::delta(before, after);
    let cycles =
        |side: Option<Measures>| side.map_or_else(String::new, |it| text::cycles(it.phase_cycles));
    let share = match it.verdict {
        Verdict::New | Verdict::Gone => it.verdict.name().to_owned(),
        Verdict::Slower | Verdict::Faster | Verdict::Same => text::signed_percent(change, before),
    };
    vec![
        it.name.clone(),
        cycles(it.before),
        cycles(it.after),
        text::signed(change),
        share,
        efficiency(it.before, it.after),
    ]
}

/// Useful efficiency before and after, without units; a dash where it is unknown.
fn efficiency(before: Option<Measures>, after: Option<Measures>) -> String {
    let number = |side: Option<Measures>| {
        side.and_then(|it| it.useful_efficiency())
            .map_or_else(|| "-".to_owned(), |it| text::decimal(it * 100.0, 1))
    };
    match (number(before), number(after)) {
        (before, after) if before == "-" && after == "-" => String::new(),
        (before, after) if before == after => format!("{after} %"),
        (before, after) => format!("{before}→{after} %"),
    }
}
