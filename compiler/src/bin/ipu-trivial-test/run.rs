//! What the test commands do: a named workload → package → simulated run → every output checked.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use analytics::units::TileId;
use anyhow::{Context as _, Result, ensure};
use compiler::exchange::problem::export;
use compiler::graph::check::check_samples;
use compiler::graph::workload::{Workload, workload};
use compiler::plan::PlanConstraint;
use compiler::{AttentionStrategy, Compiled, Options, compile, inspect_rows};
use half::f16;
use runtime::host::TensorValues;
use runtime::package::Package;
use runtime::sim::{RunOptions, RunReport, run};

use crate::arguments::{Arguments, TimingsFormat};

/// Compiles, runs and checks as the arguments say.
pub(crate) fn run_and_report(arguments: &Arguments) -> ExitCode {
    let mut out = String::new();
    let result = try_main(arguments, &mut out);
    let mut written = std::io::stdout().write_all(out.as_bytes());
    if let Err(error) = &result {
        written = written.and(writeln!(std::io::stderr(), "error: {error:#}"));
    }
    match (result, written) {
        (Ok(true), Ok(())) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// Whether all output elements are within the tolerance.
fn try_main(arguments: &Arguments, out: &mut String) -> Result<bool> {
    if let Some(config) = &arguments.config {
        check_config(config).with_context(|| config.display().to_string())?;
    }
    let profile = arguments.profile(|name| std::env::var(name).ok())?;
    let planning = &arguments.planning;
    if let Some(problem) = &planning.replay_exchange_schedule {
        out.push_str(&planning.replay(problem)?);
        return Ok(true);
    }
    let workload = workload(&arguments.workload, &arguments.extents())?;
    let workload = planning.diagnosed(workload)?;
    let package = match &arguments.package {
        Some(path) if arguments.reuse_package => {
            let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
            runtime::package::read(&bytes).with_context(|| path.display().to_string())?
        }
        path => {
            let compiled = compile_workload(arguments, &workload)?;
            describe(&compiled, arguments, out);
            match arguments.timings {
                None => {}
                Some(TimingsFormat::Text) => out.push_str(&compiled.timings_text()),
                Some(TimingsFormat::Json) => line(out, &compiled.timings_json()),
            }
            if let Some(path) = path {
                let bytes = runtime::package::write(&compiled.package)?;
                std::fs::write(path, bytes).with_context(|| path.display().to_string())?;
            }
            compiled.package
        }
    };
    let same_workload = package.manifest.graph == workload.graph.to_string();
    ensure!(
        same_workload,
        "the package holds another graph than --workload; compile it again"
    );
    if let Some(path) = &planning.export_exchange_schedule {
        write_exchanges(&package, path, out)?;
    }
    if let Some(path) = &planning.capture_exchange_schedule {
        write_exchanges(&package, path, out)?;
        return Ok(true);
    }
    if arguments.inspect_exchanges {
        let tile = TileId::new(arguments.inspect_exchange_tile);
        out.push_str(&inspect_rows(&package, tile).map_err(anyhow::Error::msg)?);
        return Ok(true);
    }
    let ran = simulate(
        &package,
        profile.as_ref().map(|(_, granularity)| *granularity),
    )?;
    line(
        out,
        &format!(
            "simulated {} on {} tiles",
            ran.total_cycles,
            package.tiles.len()
        ),
    );
    if let (Some((path, _)), Some(bytes)) = (&profile, &ran.profile) {
        std::fs::write(path, bytes).with_context(|| path.display().to_string())?;
        line(
            out,
            &format!("profile {} of {} bytes", path.display(), bytes.len()),
        );
    }
    check_outputs(&workload, &ran, planning.diagnostic_samples, out)
}

fn compile_workload(arguments: &Arguments, workload: &Workload) -> Result<Compiled> {
    let forced = &arguments.gemm_plan_constraint;
    let constraints = if forced.is_empty() {
        &workload.constraints
    } else {
        forced
    };
    let plan_constraints = constraints
        .iter()
        .map(|text| PlanConstraint::parse(text))
        .collect::<Result<_, _>>()?;
    let mut flags = vec![
        ("tiles".to_owned(), arguments.tiles.to_string()),
        (
            "operands".to_owned(),
            arguments.operands().name().to_owned(),
        ),
    ];
    let attention: AttentionStrategy = arguments.attention_strategy.into();
    if attention != AttentionStrategy::Auto {
        flags.push(("attention-strategy".to_owned(), attention.name().to_owned()));
    }
    let planning = &arguments.planning;
    planning.check()?;
    flags.extend(planning.flags());
    flags.extend(
        forced
            .iter()
            .map(|text| ("gemm-plan-constraint".to_owned(), text.clone())),
    );
    let options = Options {
        workload: workload.name.clone(),
        tiles: arguments.tiles,
        operands: arguments.operands(),
        clock_hz: arguments.clock_hz,
        kernel_generation: arguments.kernel_generation,
        allow_assumed_kernels: false,
        attention,
        products: planning.products(),
        repeats: planning.repeats(),
        plan_constraints,
        items: planning.items(),
        limits: planning.limits(),
        tile_mapping: planning.tile_mapping()?,
        flags,
    };
    Ok(compile(&workload.graph, &options, &|_| {})?)
}

/// Plan, exchanges and stage times.
fn describe(compiled: &Compiled, arguments: &Arguments, out: &mut String) {
    let report = &compiled.report;
    if arguments.explain {
        out.push_str(&report.explain);
    }
    for (plan, predicted) in report.plan.iter().zip(&report.predicted) {
        line(out, &format!("plan {plan} predicted {}", predicted.total()));
    }
    for each in &report.exchanges {
        let (operation, sent) = (&each.operation, each.sent);
        let (transfers, horizon, bound) = (each.transfers, each.horizon, each.bound);
        line(
            out,
            &format!(
                "exchange {operation}: {transfers} transfers, {sent}, {horizon}, bound {bound}"
            ),
        );
        if arguments.planning.exchange_diagnostics {
            let (order, runs) = (each.order, each.runs);
            let (messages, paired, pairs) = (each.messages, each.paired, each.ordered);
            line(
                out,
                &format!(
                    "    {messages} messages, {paired} of 64-bit items, {pairs} in fixed order, \
                     order {order}, runs {runs}"
                ),
            );
        }
    }
    line(
        out,
        &format!(
            "memory {} a tile, rows {}",
            report.tile_bytes_max, report.row_bytes_max
        ),
    );
    let manifest = &compiled.package.manifest;
    let (once, all) = (manifest.host_bytes, manifest.replicated_host_bytes);
    line(out, &format!("host {once} bytes, {all} with replicas"));
}

fn write_exchanges(package: &Package, path: &Path, out: &mut String) -> Result<()> {
    let text = export(package)?;
    std::fs::write(path, text).with_context(|| path.display().to_string())?;
    line(out, &format!("exchanges {}", path.display()));
    Ok(())
}

fn simulate(
    package: &Package,
    profile: Option<analytics::profile::Granularity>,
) -> Result<RunReport> {
    let options = RunOptions {
        profile,
        ..RunOptions::default()
    };
    Ok(run(package, &options, &mut |_| {})?)
}

fn check_outputs(
    workload: &Workload,
    ran: &RunReport,
    samples: Option<usize>,
    out: &mut String,
) -> Result<bool> {
    let output = |name: &str| -> Option<&[f16]> {
        ran.outputs.iter().find_map(|output| match &output.values {
            TensorValues::F16(values) if output.name == name => Some(values.as_slice()),
            _ => None,
        })
    };
    let report = check_samples(&workload.graph, workload.tolerance, samples, output)?;
    let verdict = if report.passed() { "passed" } else { "failed" };
    let (elements, failures) = (report.elements, report.failures);
    line(
        out,
        &format!("check {verdict}: {elements} elements, {failures} outside the tolerance"),
    );
    if let Some(worst) = &report.worst {
        line(
            out,
            &format!(
                "worst {}[{}]: got {}, reference {}, error {}",
                worst.output, worst.element, worst.got, worst.expected, worst.error
            ),
        );
    }
    let (error, reference) = (report.rms.error, report.rms.reference);
    line(
        out,
        &format!("root mean square of errors {error:.6}, of the reference {reference:.6}"),
    );
    Ok(report.passed())
}

/// An IPUCFG1 file is its magic, a count, and as many pairs of 32-bit numbers.
fn check_config(path: &Path) -> Result<()> {
    let bytes = std::fs::read(path)?;
    ensure!(
        bytes.starts_with(b"IPUCFG1\0"),
        "the first bytes are not IPUCFG1"
    );
    let count = bytes
        .get(8..12)
        .and_then(|count| count.try_into().ok())
        .map(u32::from_le_bytes);
    let count = count.context("the file ends before the number of register writes")?;
    let expected = 12 + u64::from(count) * 8;
    let found = bytes.len() as u64;
    ensure!(
        found == expected,
        "{count} register writes take {expected} bytes, found {found}"
    );
    Ok(())
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}
