//! The report of a run, as text and as JSON.
//!
//! The JSON has `schema: "ipu-stack/run/1"`; additions keep the number, renames raise it.

use std::fmt::Write as _;
use std::path::Path;

use analytics::text::{count, cycles, time};
use runtime::package::Package;
use runtime::sim::{PhaseKind, PhaseReport};
use serde::Serialize;

use super::output::wrote;
use super::simulate::Finished;
use crate::error::CliError;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    schema: &'static str,
    simulated: bool,
    workload: &'a str,
    tile_count: usize,
    kernel_generation: &'a str,
    clock_hz: u64,
    seed: u64,
    total_cycles: u64,
    total_ms: f64,
    /// Of the tile that has the most.
    assumed_cycles: u64,
    memory_high_water_bytes: u64,
    /// By logical tile.
    tile_memory_high_water_bytes: Vec<u64>,
    checked_elements: Option<u64>,
    failed_elements: Option<u64>,
    maximum_error: Option<f32>,
    /// The element with that error.
    worst: Option<Worst<'a>>,
    /// Root mean squares of the output whose errors are largest beside its reference.
    rms_error: Option<f64>,
    rms_reference: Option<f64>,
    profile: Option<String>,
    wall_seconds: f64,
    parameters: Vec<Parameter<'a>>,
    phases: Vec<Phase<'a>>,
}

#[derive(Serialize)]
struct Worst<'a> {
    output: &'a str,
    /// Row-major.
    element: u64,
    got: f32,
    expected: f32,
}

#[derive(Serialize)]
struct Parameter<'a> {
    name: &'a str,
    value: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Phase<'a> {
    phase: u32,
    epoch: u32,
    kind: &'static str,
    operation: &'a str,
    cycles: u64,
    arrival_spread_cycles: u64,
    horizon_cycles: u64,
    bytes_sent: u64,
    bytes_received: u64,
    active_tiles: u32,
}

/// The run for people: one line a phase, then what it took, what was checked, what was written.
pub(super) fn text(package: &Package, finished: &Finished, profile: Option<&Path>) -> String {
    let report = report(package, finished, profile);
    let name = if report.workload.is_empty() {
        "graph"
    } else {
        report.workload
    };
    let tiles = count(report.tile_count as u64);
    let mut text = format!(
        "{name} on {tiles} tiles, simulated, kernels {}, seed {}\n\n",
        report.kernel_generation, report.seed,
    );
    let heading = [
        "phase",
        "kind",
        "cycles",
        "spread",
        "bytes sent",
        "tiles",
        "operation",
    ];
    push_row(&mut text, heading.map(str::to_owned));
    for it in &report.phases {
        let figures = [
            format!("{}/{}", it.phase, it.epoch),
            it.kind.to_owned(),
            count(it.cycles),
            count(it.arrival_spread_cycles),
            count(it.bytes_sent),
            count(it.active_tiles.into()),
            it.operation.to_owned(),
        ];
        push_row(&mut text, figures);
    }
    let total = finished.report.total_cycles;
    let _fits = writeln!(
        text,
        "\n{} cycles, {}; code, data and operands cover {} bytes of the tile with most; \
         simulated in {:.2} s",
        cycles(total),
        time(total, report.clock_hz),
        count(report.memory_high_water_bytes),
        report.wall_seconds,
    );
    if report.assumed_cycles > 0 {
        let _fits = writeln!(
            text,
            "{} of them, on the tile with most, in kernels whose cost is assumed: no claim",
            cycles(finished.report.assumed_cycles),
        );
    }
    if let (Some(elements), Some(failures)) = (report.checked_elements, report.failed_elements) {
        let _fits = writeln!(
            text,
            "{} output elements compared with the reference: {} differ",
            count(elements),
            count(failures),
        );
        push_errors(&mut text, &report);
    }
    if let (Some(place), Some(bytes)) = (profile, &finished.report.profile) {
        let _fits = writeln!(text, "{}", wrote(place, bytes.len() as u64));
    }
    text
}

/// How far the outputs are from the reference, and where furthest.
fn push_errors(text: &mut String, report: &Report<'_>) {
    if let (Some(error), Some(worst)) = (report.maximum_error, &report.worst) {
        let (name, element) = (worst.output, worst.element);
        let (got, expected) = (worst.got, worst.expected);
        let _fits = writeln!(
            text,
            "largest error {error:.6} at {name}[{element}]: {got} instead of {expected}",
        );
    }
    if let (Some(error), Some(reference)) = (report.rms_error, report.rms_reference) {
        let _fits = writeln!(
            text,
            "root mean square of errors {error:.6}, of the reference {reference:.6}",
        );
    }
}

fn push_row(text: &mut String, cells: [String; 7]) {
    let [phase, kind, cycles, spread, sent, tiles, operation] = cells;
    let _fits = writeln!(
        text,
        "{phase:>7}  {kind:<8} {cycles:>9} {spread:>8} {sent:>12} {tiles:>6}  {operation}"
    );
}

/// The report as pretty JSON with a final newline.
pub(super) fn json(
    package: &Package,
    finished: &Finished,
    profile: Option<&Path>,
) -> Result<String, CliError> {
    let mut text = serde_json::to_string_pretty(&report(package, finished, profile))
        .map_err(|error| CliError::internal(error, "report of the run"))?;
    text.push('\n');
    Ok(text)
}

fn report<'a>(package: &'a Package, finished: &'a Finished, profile: Option<&Path>) -> Report<'a> {
    let run = &finished.report;
    let checked = finished.checked.as_ref();
    let worst = checked.and_then(|checked| checked.worst.as_ref());
    let high_water: Vec<_> = run
        .memory_high_water
        .iter()
        .map(|bytes| bytes.get())
        .collect();
    let parameters = run
        .parameters
        .iter()
        .map(|(name, value)| Parameter { name, value });
    Report {
        schema: "ipu-stack/run/1",
        simulated: true,
        workload: &package.manifest.workload,
        tile_count: package.tiles.len(),
        kernel_generation: &package.manifest.kernel_generation,
        clock_hz: run.clock_hz,
        seed: run.seed,
        total_cycles: run.total_cycles.get(),
        total_ms: milliseconds(run.total_cycles.get(), run.clock_hz),
        assumed_cycles: run.assumed_cycles.get(),
        memory_high_water_bytes: high_water.iter().copied().max().unwrap_or(0),
        tile_memory_high_water_bytes: high_water,
        checked_elements: checked.map(|checked| checked.elements),
        failed_elements: checked.map(|checked| checked.failures),
        maximum_error: worst.map(|worst| worst.error),
        worst: worst.map(|worst| Worst {
            output: &worst.output,
            element: worst.element,
            got: worst.got,
            expected: worst.expected,
        }),
        rms_error: checked.map(|checked| checked.rms.error),
        rms_reference: checked.map(|checked| checked.rms.reference),
        profile: profile.map(|path| path.display().to_string()),
        wall_seconds: finished.seconds,
        parameters: parameters.collect(),
        phases: run.phases.iter().map(phase).collect(),
    }
}

fn phase(report: &PhaseReport) -> Phase<'_> {
    Phase {
        phase: report.phase,
        epoch: report.epoch,
        kind: match report.kind {
            PhaseKind::Exchange => "exchange",
            PhaseKind::Compute => "compute",
        },
        operation: &report.operation,
        cycles: report.cycles.get(),
        arrival_spread_cycles: report.arrival_spread.get(),
        horizon_cycles: report.horizon.get(),
        bytes_sent: report.bytes_sent.get(),
        bytes_received: report.bytes_received.get(),
        active_tiles: report.active_tiles,
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "display of cycle counts far below 2^53"
)]
fn milliseconds(cycles: u64, clock_hz: u64) -> f64 {
    if clock_hz == 0 {
        0.0
    } else {
        cycles as f64 * 1e3 / clock_hz as f64
    }
}
