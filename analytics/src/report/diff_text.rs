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
    if let Some(parts) = diff_parts(diff) {
        let _ = writeln!(out, "on its critical path: {parts}");
    }
    for line in explained(diff) {
        let _ = writeln!(out, "{line}");
    }
    for (name, section) in diff.sections() {
        let shown = shown(section, limit);
        let _ = write!(out, "\n{}\n", counts(name, section, shown.len()));
        if !shown.is_empty() {
            let (header, rows) = cells(name, &shown);
            out.push_str(&table(&header, &rows));
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
    if let Some(parts) = diff_parts(diff) {
        let _ = writeln!(out, "* on the critical path: {parts}");
    }
    for line in explained(diff) {
        let _ = writeln!(out, "* {line}");
    }
    for warning in &diff.warnings {
        let _ = writeln!(out, "* warning: {warning}");
    }
    for (name, section) in diff.sections() {
        let shown = shown(section, limit);
        let _ = write!(out, "\n{}\n", counts(name, section, shown.len()));
        if !shown.is_empty() {
            let (header, rows) = cells(name, &shown);
            let _ = write!(out, "\n{}", markdown(&header, &rows));
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

/// What became of the run by kind, as words: the parts sum to the change. `None` where no kind is
/// on a path.
#[must_use]
pub fn diff_parts(diff: &ProfileDiff) -> Option<String> {
    let kinds = diff.kinds.changes.iter();
    let kinds = kinds.filter_map(|it| Some((it.name.as_str(), it.path_change()?)));
    let bare = diff
        .unattributed
        .map(|[before, after]| Change::delta(before, after));
    let bare = bare.filter(|change| *change != 0);
    let bare = bare.map(|change| ("covered by no sample", change));
    let part = |(name, change)| format!("{name} {}", text::signed(change));
    let words: Vec<String> = kinds.chain(bare).map(part).collect();
    (!words.is_empty()).then(|| words.join(", "))
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

/// The first changes; those that changed neither themselves nor the run only where all are asked
/// for.
fn shown(section: &Section, limit: usize) -> Vec<&Change> {
    let most = if limit == 0 { usize::MAX } else { limit };
    let is_change = |it: &&Change| {
        let is_in_run = it.path_change().is_some_and(|it| it != 0);
        limit == 0 || it.verdict != Verdict::Same || is_in_run
    };
    section
        .changes
        .iter()
        .filter(is_change)
        .take(most)
        .collect()
}

/// What the columns are, a line each.
fn explained(diff: &ProfileDiff) -> impl Iterator<Item = &'static str> {
    let figures = "before, after: the longest tile of each phase, summed; waiting is by kind alone";
    let path = "on path: what the change made of the run";
    let path = diff.unattributed.is_some().then_some(path);
    std::iter::once(figures).chain(path)
}

type Header<'a> = Vec<(&'a str, Align)>;

/// Header and rows; without the columns that say nothing of any row. What is done in phases takes
/// the place of their useful efficiency.
fn cells<'a>(name: &'a str, changes: &[&Change]) -> (Header<'a>, Vec<Vec<String>>) {
    let numbers = ["before", "after", "change", "", "on path", "useful"];
    let numbers = numbers.map(|heading| (heading, Align::Right));
    let names = [name, "work"].map(|heading| (heading, Align::Left));
    let mut header: Header<'a> = names.into_iter().chain(numbers).collect();
    let mut rows: Vec<Vec<String>> = changes.iter().map(|it| row(it).to_vec()).collect();
    let has_work = changes.iter().any(|it| !it.work.is_empty());
    for at in (0..header.len()).rev() {
        let is_empty = rows.iter().all(|row| row[at].is_empty());
        let is_left_out = match header[at].0 {
            "work" | "on path" => is_empty,
            "useful" => has_work,
            _ => false,
        };
        if is_left_out {
            header.remove(at);
            rows.iter_mut().for_each(|row| {
                row.remove(at);
            });
        }
    }
    (header, rows)
}

fn row(it: &Change) -> [String; 8] {
    let (before, after) = (it.before_cycles(), it.after_cycles());
    let change = Change::delta(before, after);
    let cycles =
        |side: Option<Measures>| side.map_or_else(String::new, |it| text::cycles(it.phase_cycles));
    let share = match it.verdict {
        Verdict::New | Verdict::Gone => it.verdict.name().to_owned(),
        Verdict::Slower | Verdict::Faster | Verdict::Same => text::signed_percent(change, before),
    };
    [
        it.name.clone(),
        it.work.clone(),
        cycles(it.before),
        cycles(it.after),
        text::signed(change),
        share,
        it.path_change().map_or_else(String::new, text::signed),
        efficiency(it.before, it.after),
    ]
}

/// Useful efficiency before and after; a question mark where one is unknown. Of what is in one
/// profile alone there is one.
fn efficiency(before: Option<Measures>, after: Option<Measures>) -> String {
    let number = |side: Measures| {
        side.useful_efficiency()
            .map(|it| text::decimal(it * 100.0, 1))
    };
    let (old, new) = (before.and_then(number), after.and_then(number));
    match (old, new) {
        (None, None) => String::new(),
        (Some(old), Some(new)) if old != new => format!("{old}→{new} %"),
        (Some(one), _) if after.is_none() => format!("{one} %"),
        (_, Some(one)) if before.is_none() => format!("{one} %"),
        (Some(one), Some(_)) => format!("{one} %"),
        (Some(old), None) => format!("{old}→? %"),
        (None, Some(new)) => format!("?→{new} %"),
    }
}
