//! Compile, run on the simulated device, check every element.

use std::collections::BTreeMap;

use compiler::graph::Graph;
use compiler::graph::check::{CheckReport, Tolerance, check};
use compiler::graph::workload::{Workload, WorkloadExtents, workload};
use compiler::plan::PlanConstraint;
use compiler::{
    AttentionProducts, AttentionStrategy, Compiled, ExchangeItems, Limits, OperandPolicy, Options,
    RepeatPolicy, compile,
};
use half::f16;
use runtime::host::TensorValues;
use runtime::kernels::Generation;
use runtime::package::{Package, ScheduleItem};
use runtime::sim::{RunOptions, RunReport, run};

/// Options without constraints.
pub(crate) fn options(tiles: u16, operands: OperandPolicy) -> Options {
    Options {
        workload: String::new(),
        tiles,
        operands,
        clock_hz: 1_500_000_000,
        kernel_generation: Generation::default(),
        allow_assumed_kernels: false,
        attention: AttentionStrategy::Auto,
        products: AttentionProducts::Auto,
        repeats: RepeatPolicy::Keep,
        plan_constraints: Vec::new(),
        items: ExchangeItems::Auto,
        limits: Limits::STANDARD,
        tile_mapping: None,
        flags: Vec::new(),
    }
}

/// Compiles or panics with the error.
pub(crate) fn compiled(graph: &Graph, options: &Options) -> Compiled {
    compile(graph, options, &|_| {}).unwrap_or_else(|error| panic!("{error}\n{graph}"))
}

/// Runs a package or panics with the fault.
pub(crate) fn simulated(package: &Package) -> RunReport {
    run(package, &RunOptions::default(), &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

/// Compares every output element with the reference.
pub(crate) fn checked(graph: &Graph, tolerance: Tolerance, report: &RunReport) -> CheckReport {
    let output = |name: &str| -> Option<&[f16]> {
        report
            .outputs
            .iter()
            .find_map(|output| match &output.values {
                TensorValues::F16(values) if output.name == name => Some(values.as_slice()),
                _ => None,
            })
    };
    check(graph, tolerance, output).unwrap()
}

/// A named workload with its constraints.
pub(crate) fn named(
    name: &str,
    extents: &WorkloadExtents,
    operands: OperandPolicy,
) -> (Workload, Options) {
    let workload = workload(name, extents).unwrap();
    let mut options = options(extents.tiles, operands);
    options.workload = name.to_owned();
    let parse = |text: &String| PlanConstraint::parse(text).unwrap();
    options.plan_constraints = workload.constraints.iter().map(parse).collect();
    (workload, options)
}

/// Useful FLOPs of all GEMM calls of a package, from their estimates.
pub(crate) fn useful_flops(package: &Package) -> u64 {
    let runs = runs(&package.schedule);
    let calls = package.tiles.iter().flat_map(|tile| &tile.calls);
    calls
        .map(|call| (call, &package.call_templates[call.template as usize]))
        .filter(|(_, template)| template.symbol.starts_with("gemm"))
        .map(|(call, template)| {
            let once = template.estimate.as_ref().unwrap().useful.get_256ths() / 2;
            once * u64::from(runs[&call.phase])
        })
        .sum()
}

/// What each phase of a schedule without a Repeat is for, in the order of the run report: the role
/// of a compute phase, `exchange`.
pub(crate) fn roles(package: &Package) -> Vec<String> {
    let role = |item: &ScheduleItem| match item {
        ScheduleItem::Exchange(_) => "exchange".to_owned(),
        ScheduleItem::Compute(phase) => package.compute_phases[*phase as usize].role.clone(),
        ScheduleItem::Repeat { .. } => panic!("a Repeat has several phases"),
    };
    package.schedule.iter().map(role).collect()
}

/// How often each compute phase runs.
fn runs(schedule: &[ScheduleItem]) -> BTreeMap<u32, u32> {
    fn add(items: &[ScheduleItem], times: u32, runs: &mut BTreeMap<u32, u32>) {
        for item in items {
            match item {
                ScheduleItem::Exchange(_) => {}
                ScheduleItem::Compute(phase) => *runs.entry(*phase).or_default() += times,
                ScheduleItem::Repeat { count, body } => add(body, times * count, runs),
            }
        }
    }
    let mut runs = BTreeMap::new();
    add(schedule, 1, &mut runs);
    runs
}
