//! `compile`: a workload or a graph file → a package on disk, with its plan and its figures.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use analytics::text::{count, cycles};
use analytics::units::TileId;
use compiler::graph::parse::parse;
use compiler::graph::workload::{
    WORKLOADS, WorkloadExtents, default_operands, hidden_width, workload,
};
use compiler::plan::PlanConstraint;
use compiler::{
    AttentionProducts, AttentionStrategy, CompileError, Compiled, ExchangeItems, Limits,
    OperandPolicy, Options, RepeatPolicy, TILES_MAX, inspect_rows,
};

use super::args::{CompileArgs, PlanArgs, TimingsArg};
use super::device::generation;
use super::output::{print, write_file, wrote};
use super::progress::Progress;
use super::{Io, Outcome};
use crate::error::CliError;
use crate::store::BlobId;

/// Tile clock of a C600 in hertz.
const CLOCK_HZ: u64 = 1_500_000_000;

pub(super) fn run(args: CompileArgs, io: &mut Io<'_>) -> Outcome {
    let output = args
        .output
        .unwrap_or_else(|| default_output(&args.workload));
    let compiled = compile(&args.workload, &args.plan, io)?;
    let bytes = encode(&compiled)?;
    write_file(&output, &bytes)?;
    let mut text = describe(&compiled);
    if args.explain {
        text.push_str(&compiled.report.explain);
    }
    match args.timings {
        None => {}
        Some(TimingsArg::Text) => text.push_str(&compiled.timings_text()),
        Some(TimingsArg::Json) => {
            let _fits = writeln!(text, "{}", compiled.timings_json());
        }
    }
    if args.inspect_exchanges {
        let tile = TileId::new(args.inspect_exchange_tile);
        let rows = inspect_rows(&compiled.package, tile);
        let hint = "name a tile that the package has";
        text += &rows.map_err(|error| CliError::user(error, "--inspect-exchange-tile", hint))?;
    }
    let (wrote, id) = (wrote(&output, bytes.len() as u64), BlobId::of(&bytes));
    let _fits = writeln!(text, "{wrote}, SHA-256 {id}");
    print(io.stdout, &text)
}

/// Compiles a named workload or the graph in a file of that name.
pub(super) fn compile(name: &str, plan: &PlanArgs, io: &Io<'_>) -> Result<Compiled, CliError> {
    let tiles = plan.tiles.unwrap_or(TILES_MAX);
    let known = WORKLOADS.iter().any(|(known, _)| *known == name);
    let (graph, workload_name, mut constraints) = if known {
        let built = workload(name, &extents(plan, tiles)).map_err(|error| {
            CliError::user(
                error,
                format!("workload {name}"),
                "change the extents that it names",
            )
        })?;
        (built.graph, built.name, built.constraints)
    } else {
        (parse_file(Path::new(name))?, String::new(), Vec::new())
    };
    if !plan.gemm_plan_constraint.is_empty() {
        constraints.clone_from(&plan.gemm_plan_constraint);
    }
    let usual = default_operands(&workload_name, &extents(plan, tiles));
    let options = options(workload_name, plan, (tiles, usual), &constraints)?;
    let progress = Progress::new(io.interactive);
    compiler::compile(&graph, &options, &|at| {
        progress.stage(at.stage, at.done, at.total)
    })
    .map_err(|error| refused(&error, name))
}

/// The bytes of the package.
pub(super) fn encode(compiled: &Compiled) -> Result<Vec<u8>, CliError> {
    runtime::package::write(&compiled.package)
        .map_err(|error| CliError::internal(error, "package writer"))
}

/// Plan, exchanges, memory and times for people.
pub(super) fn describe(compiled: &Compiled) -> String {
    let Compiled {
        package,
        timings,
        report,
    } = compiled;
    let manifest = &package.manifest;
    let name = if manifest.workload.is_empty() {
        "graph"
    } else {
        &manifest.workload
    };
    let mut text = format!(
        "{name} for {} tiles, kernels {}, compiled in {:.2} s\n\n",
        count(package.tiles.len() as u64),
        manifest.kernel_generation,
        timings.total().as_secs_f64(),
    );
    for (line, predicted) in report.plan.iter().zip(&report.predicted) {
        let _fits = writeln!(
            text,
            "plan {line}, {} cycles predicted",
            cycles(predicted.total())
        );
    }
    let heading = ["transfers", "bytes", "cycles", "bound", "exchange"];
    let _fits = writeln!(text);
    push_row(&mut text, heading.map(str::to_owned));
    for it in &report.exchanges {
        let figures = [
            count(it.transfers),
            count(it.sent.get()),
            cycles(it.horizon),
        ];
        let [transfers, sent, horizon] = figures;
        push_row(
            &mut text,
            [
                transfers,
                sent,
                horizon,
                cycles(it.bound),
                it.operation.clone(),
            ],
        );
    }
    let _fits = writeln!(
        text,
        "\n{} bytes of buffers and rows at once on the fullest tile, {} of them rows at most",
        count(report.tile_bytes_max.get()),
        count(report.row_bytes_max.get()),
    );
    let _fits = writeln!(
        text,
        "{} bytes from the host, {} with replicas",
        count(manifest.host_bytes),
        count(manifest.replicated_host_bytes),
    );
    if !report.assumed_kernels.is_empty() {
        let _fits = writeln!(
            text,
            "no measurement stands behind the cost of {}: totals with it are no claim",
            report.assumed_kernels.join(", "),
        );
    }
    text
}

fn push_row(text: &mut String, cells: [String; 5]) {
    let [transfers, sent, horizon, bound, operation] = cells;
    let _fits = writeln!(
        text,
        "{transfers:>10} {sent:>13} {horizon:>9} {bound:>9}  {operation}"
    );
}

fn extents(plan: &PlanArgs, tiles: u16) -> WorkloadExtents {
    let published = WorkloadExtents::published(tiles);
    WorkloadExtents {
        rows: plan.rows.unwrap_or(published.rows),
        inner: plan.inner.unwrap_or(published.inner),
        columns: plan.columns.unwrap_or(published.columns),
        tokens: plan.tokens.unwrap_or(published.tokens),
        width: plan.width.unwrap_or(published.width),
        hidden: plan.hidden.unwrap_or_else(|| hidden_width(plan.width)),
        batch: plan.batch.unwrap_or(published.batch),
        blocks: plan.blocks.unwrap_or(published.blocks),
        attention_batch: plan.attention_batch.unwrap_or(published.attention_batch),
        heads: plan.heads.unwrap_or(published.heads),
        ..published
    }
}

fn options(
    workload: String,
    plan: &PlanArgs,
    (tiles, usual_operands): (u16, OperandPolicy),
    constraints: &[String],
) -> Result<Options, CliError> {
    let named = plan.kernel_generation.as_deref().map(generation);
    let kernel_generation = named.transpose()?.unwrap_or_default();
    let plan_constraints = parse_constraints(constraints)?;
    let asked = plan.operands.map(OperandPolicy::from);
    let operands = asked.unwrap_or(usual_operands);
    let attention = AttentionStrategy::from(plan.attention_strategy);
    let products = AttentionProducts::from(plan.attention_products);
    let repeats = RepeatPolicy::from(plan.repeats);
    let items = ExchangeItems::from(plan.exchange_items);
    let mut flags = vec![
        ("tiles".to_owned(), tiles.to_string()),
        ("operands".to_owned(), operands.name().to_owned()),
        (
            "kernel-generation".to_owned(),
            kernel_generation.name().to_owned(),
        ),
    ];
    flags.extend(unusual(&[
        (
            "attention-strategy",
            attention.name(),
            AttentionStrategy::default().name(),
        ),
        (
            "attention-products",
            products.name(),
            AttentionProducts::default().name(),
        ),
        (
            "exchange-items",
            items.name(),
            ExchangeItems::default().name(),
        ),
        ("repeats", repeats.name(), RepeatPolicy::default().name()),
    ]));
    if plan.allow_assumed_kernels {
        flags.push(("allow-assumed-kernels".to_owned(), "true".to_owned()));
    }
    let forced = constraints
        .iter()
        .map(|text| ("gemm-plan-constraint".to_owned(), text.clone()));
    flags.extend(forced);
    let clock_hz = CLOCK_HZ;
    Ok(Options {
        workload,
        tiles,
        operands,
        clock_hz,
        kernel_generation,
        allow_assumed_kernels: plan.allow_assumed_kernels,
        attention,
        products,
        repeats,
        plan_constraints,
        items,
        limits: Limits::STANDARD,
        tile_mapping: None,
        flags,
    })
}

fn parse_constraints(constraints: &[String]) -> Result<Vec<PlanConstraint>, CliError> {
    let parsed = constraints.iter().map(|text| PlanConstraint::parse(text));
    parsed.collect::<Result<_, _>>().map_err(|error| {
        let hint = "write OP:RxCxK:RRxRC:COLUMNS:MEMORY:ORIENT:REDUCTION:LOCAL";
        CliError::user(error, "--gemm-plan-constraint", hint)
    })
}

/// Flags whose value is not the usual one: name, value, usual value.
fn unusual(flags: &[(&str, &str, &str)]) -> Vec<(String, String)> {
    let others = flags.iter().filter(|(_, value, usual)| value != usual);
    others
        .map(|&(flag, value, _)| (flag.to_owned(), value.to_owned()))
        .collect()
}

fn parse_file(path: &Path) -> Result<compiler::graph::Graph, CliError> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        let known: Vec<_> = WORKLOADS.iter().map(|(name, _)| *name).collect();
        let hint = format!(
            "name a graph file or one of the workloads {}",
            known.join(", ")
        );
        CliError::user(
            format!("cannot read the graph: {error}"),
            path.display(),
            hint,
        )
    })?;
    parse(&text).map_err(|error| CliError::user(error, path.display(), "correct the graph"))
}

fn refused(error: &CompileError, name: &str) -> CliError {
    if let CompileError::Verify { .. } = error {
        return CliError::internal(error, name);
    }
    CliError::user(error, name, "change the graph, the tiles or the plan")
}

/// The workload's or the graph file's name with the package's extension, in the current folder.
fn default_output(workload: &str) -> PathBuf {
    let name = Path::new(workload)
        .file_name()
        .unwrap_or_else(|| workload.as_ref());
    Path::new(name).with_extension("ipuexe")
}
