//! Whole workloads on 1,472 tiles: simulated totals beside the published ones, and the parts of
//! attention whose cycles are published. Timing only; numbers are compared in `attention` and
//! `simulate`.

use compiler::AttentionStrategy::{self, Auto, Flash, Materialized};
use compiler::OperandPolicy::Replicated;
use compiler::graph::workload::{WorkloadExtents, workload};
use compiler::plan::PlanConstraint;
use compiler::{Compiled, ExchangeItems};
use runtime::kernels::Generation;
use runtime::sim::{PhaseKind, RunOptions, RunReport, run};

use crate::published::{MLP, PROJECTIONS};
use crate::support::{compiled, options, roles};

/// Compiles a batch of one for a kernel generation and counts its cycles.
fn simulate(
    name: &str,
    strategy: AttentionStrategy,
    generation: Generation,
    forced: &[&str],
) -> (Compiled, RunReport) {
    let extents = WorkloadExtents {
        batch: 1,
        ..WorkloadExtents::published(1472)
    };
    let graph = workload(name, &extents).unwrap().graph;
    let mut options = options(1472, Replicated);
    options.kernel_generation = generation;
    options.attention = strategy;
    let parse = |text: &&str| PlanConstraint::parse(text).unwrap();
    options.plan_constraints = forced.iter().map(parse).collect();
    if !forced.is_empty() {
        // The published runs sent words alone.
        options.items = ExchangeItems::Words;
    }
    let compiled = compiled(&graph, &options);
    let timing = RunOptions {
        timing_only: true,
        ..RunOptions::default()
    };
    let report = run(&compiled.package, &timing, &mut |_| {}).unwrap();
    (compiled, report)
}

/// Within so many percent of a published total.
fn near(name: &str, found: u64, published: u64, percent: u64) {
    let difference = found.abs_diff(published);
    let signed = i128::from(found) - i128::from(published);
    let hundredths = signed * 10_000 / i128::from(published);
    println!("{name}: {found} cycles, published {published}, {hundredths} hundredths of 1 %");
    assert!(
        difference * 100 <= published * percent,
        "{name}: {found} against {published}"
    );
}

/// Cycles of the parts of an attention with shared rows, from the latest arrival to the latest
/// exit of each exchange, and of the slowest tile of each unpacking.
#[derive(Debug, PartialEq, Eq)]
struct Parts {
    unpack: u64,
    queries: u64,
    keys_and_values: u64,
    broadcasts: u64,
}

fn parts(compiled: &Compiled, report: &RunReport) -> Parts {
    let roles = roles(&compiled.package);
    let phases = report.phases.iter().zip(&roles);
    let attention: Vec<_> = phases
        .filter(|(phase, _)| phase.operation == "attention")
        .collect();
    let unpacks = attention.iter().filter(|(_, role)| *role == "unpack");
    let exchanges = attention
        .iter()
        .filter(|(phase, _)| phase.kind == PhaseKind::Exchange);
    let exchanges: Vec<u64> = exchanges.map(|(phase, _)| phase.cycles.get()).collect();
    Parts {
        unpack: unpacks.map(|(phase, _)| phase.cycles.get()).sum(),
        queries: exchanges[0],
        keys_and_values: exchanges[1] + exchanges[2],
        broadcasts: exchanges[3..].iter().sum(),
    }
}

/// A published attention: its total, and what is published of its parts.
fn attention_holds(strategy: AttentionStrategy, total: u64, broadcasts: u64) {
    let name = strategy.name();
    let attention = "siglip-attention-benchmark";
    let (compiled, report) = simulate(attention, strategy, Generation::G20260907, &PROJECTIONS);
    let found = report.total_cycles.get();
    near(name, found, total, 5);
    let parts = parts(&compiled, &report);
    let Parts {
        unpack,
        queries,
        keys_and_values,
        broadcasts: own,
    } = parts;
    println!(
        "{name}: unpack {unpack} (published 21880), queries {queries} (published 590), keys and \
         values prepared {keys_and_values}, K and V broadcasts {own} (published {broadcasts})"
    );
    // Two unpackings, to the cycle; broadcasts within 5 % of their words and 270 a phase.
    assert_eq!(unpack, 2 * 10_940);
    assert!(own.abs_diff(broadcasts) * 20 <= broadcasts, "{parts:?}");
    let with_theirs = found + broadcasts + 590 - own - queries;
    near(
        &format!("{name} with the published exchanges of the core"),
        with_theirs,
        total,
        5,
    );
}

#[test]
fn the_published_attentions_take_the_published_time() {
    attention_holds(Flash, 355_320, 64_680);
    attention_holds(Materialized, 320_256, 61_980);
}

#[test]
fn the_published_mlp_takes_the_published_time() {
    let old = Generation::G20260907;
    let (compiled, report) = simulate("siglip-mlp-benchmark", Auto, old, &MLP);
    let mlp = report.total_cycles.get();
    // The exchanges behind the published total are not published, those of a sibling plan are:
    // 7,048 + 3,755 + 30,716 + 5,860 cycles. Our gather before the second product takes 19,700
    // instead of 30,716, and the host writes the first operands.
    let exchanges = compiled.report.exchanges.iter();
    let ours: u64 = exchanges.map(|each| each.horizon.get()).sum();
    println!("MLP with our exchanges: {mlp} cycles, {ours} of them exchanges");
    near(
        "MLP with the exchanges of the sibling plan",
        mlp - ours + 47_379,
        175_578,
        10,
    );
}

#[test]
fn automatic_plans_beat_the_published_time() {
    let new = Generation::G20260913;
    for (name, most) in [
        ("siglip-attention-benchmark", 160_000),
        ("siglip-mlp-benchmark", 155_000),
    ] {
        let (compiled, report) = simulate(name, Auto, new, &[]);
        let found = report.total_cycles.get();
        let plan = &compiled.report.plan;
        println!("{name}: {found} cycles, {plan:?}");
        assert!(found <= most, "{name}: {found} cycles, {plan:?}");
    }
}
