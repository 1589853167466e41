//! The critical path as JSON and as text.

use std::fmt::Write as _;

use serde::Serialize;

use super::json::pretty;
use super::table::{Align, table};
use super::text::warned;
use crate::aggregate::{float, ratio};
use crate::critical::{CriticalPath, KernelOnPath, Parts, Stretch, WHOLE};
use crate::query::place_name;
use crate::text;
use crate::units::Cycles;

/// Name and version of the contract.
pub const CRITICAL_SCHEMA: &str = "ipu-stack/profile-critical-path/1";

/// The path as pretty JSON with a final newline: `limit` stretches, 0 is all, and all kernels.
#[must_use]
pub fn critical_json(path: &CriticalPath, limit: usize) -> String {
    let shown = path.listed(limit);
    pretty(&Report {
        schema: CRITICAL_SCHEMA,
        clock: path.clock.name(),
        clock_hz: (path.clock_hz > 0).then_some(path.clock_hz),
        tile_count: path.tile_count,
        run_cycles: path.run,
        run_ms: text::milliseconds(path.run_cycles(), path.clock_hz),
        parts: PartsJson::new(&path.parts),
        run_if_balanced_cycles: path.run_if_balanced(),
        faster_fraction: fraction(path.faster),
        stretch_count: path.stretches.len(),
        shown_stretch_count: shown.len(),
        stretches: shown
            .into_iter()
            .map(|it| StretchJson::new(it, path.run))
            .collect(),
        kernels: path
            .kernels
            .iter()
            .map(|it| KernelJson::new(it, path.run))
            .collect(),
        warnings: &path.warnings,
    })
}

fn fraction(hundredths_of_percent: u32) -> f64 {
    f64::from(hundredths_of_percent) / f64::from(WHOLE)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    schema: &'static str,
    clock: &'static str,
    clock_hz: Option<u64>,
    tile_count: u64,
    run_cycles: u64,
    run_ms: Option<f64>,
    parts: PartsJson,
    run_if_balanced_cycles: u64,
    faster_fraction: f64,
    stretch_count: usize,
    shown_stretch_count: usize,
    stretches: Vec<StretchJson<'a>>,
    kernels: Vec<KernelJson<'a>>,
    warnings: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PartsJson {
    barrier_cycles: u64,
    exchange_cycles: u64,
    compute_cycles: u64,
    idle_cycles: u64,
    unattributed_cycles: u64,
}

impl PartsJson {
    const fn new(it: &Parts) -> Self {
        Self {
            barrier_cycles: it.barrier,
            exchange_cycles: it.exchange,
            compute_cycles: it.compute,
            idle_cycles: it.idle,
            unattributed_cycles: it.unattributed,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StretchJson<'a> {
    phase: Option<u32>,
    epoch: Option<u32>,
    start: u64,
    end: u64,
    cycles: u64,
    straggler: Option<u32>,
    kernel: Option<&'a str>,
    kernel_cycles: Option<u64>,
    parts: PartsJson,
    tile_count: u64,
    slack_cycles: u64,
    maximum_slack_cycles: u64,
    saved_if_balanced_cycles: u64,
    run_if_balanced_cycles: u64,
}

impl<'a> StretchJson<'a> {
    fn new(it: &'a Stretch, run: u64) -> Self {
        let kernel = it.kernel.as_ref();
        Self {
            phase: it.boundary.map(|(phase, _)| phase),
            epoch: it.boundary.map(|(_, epoch)| epoch),
            start: it.start,
            end: it.end,
            cycles: it.cycles(),
            straggler: it.straggler.map(|tile| tile.get()),
            kernel: kernel.map(|(name, _)| name.as_str()),
            kernel_cycles: kernel.map(|&(_, cycles)| cycles),
            parts: PartsJson::new(&it.parts),
            tile_count: it.tiles,
            slack_cycles: it.slack,
            maximum_slack_cycles: it.maximum_slack,
            saved_if_balanced_cycles: it.saved_if_balanced(),
            run_if_balanced_cycles: run.saturating_sub(it.saved_if_balanced()),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KernelJson<'a> {
    kernel: &'a str,
    critical_cycles: u64,
    share_of_run: Option<f64>,
    stretch_count: u64,
    run_if_faster_cycles: u64,
    saved_if_faster_cycles: u64,
}

impl<'a> KernelJson<'a> {
    fn new(it: &'a KernelOnPath, run: u64) -> Self {
        Self {
            kernel: &it.kernel,
            critical_cycles: it.cycles,
            share_of_run: ratio(float(it.cycles), run),
            stretch_count: it.stretches,
            run_if_faster_cycles: it.run_if_faster,
            saved_if_faster_cycles: run - it.run_if_faster,
        }
    }
}

/// The path as text with a final newline, in 80 columns with the usual names: `limit` stretches
/// and kernels, 0 is all.
#[must_use]
pub fn critical_text(path: &CriticalPath, limit: usize) -> String {
    let shown = path.listed(limit);
    let mut out = format!(
        "run {} cycles, {} ({} clock), {} tiles\n",
        text::count(path.run),
        text::time(path.run_cycles(), path.clock_hz),
        path.clock.name(),
        text::count(path.tile_count),
    );
    let _ = writeln!(
        out,
        "{} cycles if every stretch were balanced over its tiles\n",
        text::count(path.run_if_balanced())
    );
    out.push_str(&parts(path));
    let rows = match limit {
        0 => path.kernels.len(),
        limit => limit.min(path.kernels.len()),
    };
    let faster = text::percent(Some(fraction(path.faster)));
    let _ = writeln!(
        out,
        "\n{} of {} kernels; the run if a kernel took {faster} less time",
        text::count(rows as u64),
        text::count(path.kernels.len() as u64)
    );
    out.push_str(&kernels(path, rows));
    let _ = writeln!(
        out,
        "\n{} of {} stretches, those that balancing shortens most",
        text::count(shown.len() as u64),
        text::count(path.stretches.len() as u64)
    );
    out.push_str(&stretches(&shown));
    out.push_str(&warned(&path.warnings));
    out
}

fn parts(path: &CriticalPath) -> String {
    let header = [
        ("on the path", Align::Left),
        ("cycles", Align::Right),
        ("share", Align::Right),
    ];
    let it = &path.parts;
    let row = |(name, cycles): (&str, u64)| {
        let share = ratio(float(cycles), path.run);
        vec![name.to_owned(), text::count(cycles), text::percent(share)]
    };
    let rows = [
        ("compute", it.compute),
        ("exchange", it.exchange),
        ("barrier", it.barrier),
        ("idle", it.idle),
        ("unattributed", it.unattributed),
        ("sum", it.total()),
    ];
    table(&header, &rows.map(row))
}

fn kernels(path: &CriticalPath, rows: usize) -> String {
    let header = [
        ("kernel", Align::Left),
        ("on the path", Align::Right),
        ("share", Align::Right),
        ("run", Align::Right),
        ("saved", Align::Right),
    ];
    let row = |it: &KernelOnPath| {
        vec![
            named(&it.kernel),
            text::count(it.cycles),
            text::percent(ratio(float(it.cycles), path.run)),
            text::count(it.run_if_faster),
            text::count(path.run - it.run_if_faster),
        ]
    };
    let rows: Vec<_> = path.kernels.iter().take(rows).map(row).collect();
    table(&header, &rows)
}

fn stretches(shown: &[&Stretch]) -> String {
    let header = [
        ("up to", Align::Left),
        ("cycles", Align::Right),
        ("tile", Align::Right),
        ("kernel", Align::Left),
        ("saved", Align::Right),
        ("slack", Align::Right),
    ];
    let row = |it: &&Stretch| {
        let place = it.boundary.map(|(phase, epoch)| place_name(phase, epoch));
        let kernel = it.kernel.as_ref();
        vec![
            place.unwrap_or_else(|| "end of run".to_owned()),
            text::cycles(Cycles::new(it.cycles())),
            it.straggler
                .map_or_else(String::new, |tile| tile.to_string()),
            kernel.map_or_else(String::new, |(name, _)| named(name)),
            text::count(it.saved_if_balanced()),
            text::count(it.slack),
        ]
    };
    let rows: Vec<_> = shown.iter().map(row).collect();
    table(&header, &rows)
}

fn named(kernel: &str) -> String {
    match kernel {
        "" => "(no kernel)".to_owned(),
        name => name.to_owned(),
    }
}
