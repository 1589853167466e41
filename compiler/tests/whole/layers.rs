//! What a profile of a run says of layers, finalists that are compared once they are expanded, and
//! options that narrow what is planned.

use std::collections::{BTreeMap, BTreeSet};

use analytics::format::open_bytes;
use analytics::profile::{Granularity, ProfileReport, SampleKind, StepView};
use compiler::OperandPolicy::Replicated;
use compiler::graph::workload::WorkloadExtents;
use compiler::plan::PlanConstraint;
use compiler::{CompileError, Options, RepeatPolicy, compile};
use runtime::sim::{RunOptions, run};

use crate::support::{checked, compiled, named, simulated};

fn blocks(blocks: u64) -> WorkloadExtents {
    WorkloadExtents {
        tokens: 50,
        width: 96,
        hidden: 160,
        batch: 1,
        blocks,
        ..WorkloadExtents::published(64)
    }
}

/// The profile of an MLP of two blocks by phase.
fn profile(repeats: RepeatPolicy, constraints: &[&str]) -> ProfileReport {
    let (workload, mut options) = named("siglip-mlp-benchmark", &blocks(2), Replicated);
    options.repeats = repeats;
    let parse = |text: &&str| PlanConstraint::parse(text).unwrap();
    options
        .plan_constraints
        .extend(constraints.iter().map(parse));
    let recorded = RunOptions {
        profile: Some(Granularity::Phase),
        timing_only: true,
        ..RunOptions::default()
    };
    let package = compiled(&workload.graph, &options).package;
    let report = run(&package, &recorded, &mut |_| {}).unwrap();
    open_bytes(report.profile.unwrap()).unwrap()
}

/// A metadata value of a step.
fn value<'a>(profile: &'a ProfileReport, step: &StepView<'_>, name: &str) -> Option<&'a str> {
    let mut pairs = profile.metadata(step.row.metadata);
    pairs.find(|(known, _)| *known == name).map(|(_, it)| it)
}

#[test]
fn every_kernel_and_every_wait_before_one_names_its_layer() {
    for (repeats, most) in [(RepeatPolicy::Unroll, 1), (RepeatPolicy::Keep, 0)] {
        let profile = profile(repeats, &[]);
        let mut seen: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        for id in (0..).take(profile.steps().len()) {
            let step = profile.step(analytics::units::StepId::new(id));
            let (kind, name) = match step.row.kind {
                SampleKind::Compute if step.kernel != "repeat-remainder" => ("compute", "layer"),
                SampleKind::Synchronization => ("synchronization", "next_layer"),
                SampleKind::Exchange => ("exchange", "next_layer"),
                _ => continue,
            };
            let layer = value(&profile, &step, name);
            let next = value(&profile, &step, "next_kernel");
            assert_eq!(kind == "compute" || next.is_some(), layer.is_some());
            let Some(layer) = layer else { continue };
            if kind == "compute" {
                // The operation is mlp.0.up, mlp.1.gelu and so on; mlp.*.up in a Repeat, whose
                // first run is shown.
                let part = step.operation.split('.').nth(1);
                assert_eq!(part.map(|it| it.replace('*', "0")).as_deref(), Some(layer));
            }
            *seen.entry((kind, layer)).or_default() += 1;
        }
        let layers = ["0", "1"].into_iter().take(most + 1);
        let kinds = ["compute", "exchange", "synchronization"];
        let expected: Vec<_> = kinds
            .into_iter()
            .flat_map(|kind| layers.clone().map(move |layer| (kind, layer)))
            .collect();
        assert_eq!(seen.into_keys().collect::<Vec<_>>(), expected);
    }
}

/// Values of some metadata, by operation.
type Indices<'a> = BTreeMap<&'a str, BTreeMap<&'a str, BTreeSet<u32>>>;

#[test]
fn every_product_of_a_profile_names_its_block() {
    let names = [
        "output_block_row",
        "output_block_column",
        "inner_block",
        "block",
    ];
    // Rows, columns and contraction of the first product are cut, and its share in chunks.
    let cut = "0:3x5x3:*:*:*:*:*:*:chunks=2";
    let profile = profile(RepeatPolicy::Unroll, &[cut]);
    let mut found = Indices::new();
    for id in (0..).take(profile.steps().len()) {
        let step = profile.step(analytics::units::StepId::new(id));
        if value(&profile, &step, "role") != Some("gemm") {
            continue;
        }
        let indices = found.entry(step.operation).or_default();
        for name in names {
            let index = value(&profile, &step, name).expect("each product says it");
            indices
                .entry(name)
                .or_default()
                .insert(index.parse().unwrap());
        }
    }
    let operations: Vec<_> = found.keys().copied().collect();
    assert_eq!(
        operations,
        ["mlp.0.down", "mlp.0.up", "mlp.1.down", "mlp.1.up"]
    );
    for (operation, indices) in &found {
        for (name, values) in indices {
            let from_zero: BTreeSet<u32> = (0..).take(values.len()).collect();
            assert_eq!(values, &from_zero, "{name} of {operation} has no gaps");
        }
    }
    let counts = names.map(|name| found["mlp.0.up"][name].len());
    assert_eq!(counts, [3, 5, 3, 2]);
}

#[test]
fn every_product_of_an_attention_names_its_queries_and_keys() {
    let extents = WorkloadExtents {
        tokens: 50,
        width: 64,
        heads: 4,
        attention_batch: 1,
        ..WorkloadExtents::published(64)
    };
    let (workload, options) = named("siglip-attention-benchmark", &extents, Replicated);
    let package = compiled(&workload.graph, &options).package;
    let mut products = BTreeSet::new();
    for template in &package.call_templates {
        let metadata = |name: &str| {
            let mut pairs = template.metadata.iter();
            pairs
                .find(|(known, _)| known == name)
                .map(|(_, it)| it.as_str())
        };
        if metadata("role") != Some("gemm") {
            continue;
        }
        for name in ["output_block_row", "block"] {
            let index = metadata(name).unwrap_or_else(|| panic!("{name} of {template:?}"));
            index.parse::<u32>().expect("an index");
        }
        let product = metadata("product").unwrap_or("projection");
        assert_eq!(product == "projection", metadata("inner_block").is_some());
        products.insert(product.to_owned());
    }
    assert_eq!(products.len(), 3, "{products:?}");
}

/// The cycles of a run that counts them only.
fn total(options: &Options, graph: &compiler::graph::Graph) -> (Vec<String>, u64) {
    let compiled = compiled(graph, options);
    let cycles = simulated(&compiled.package).total_cycles;
    (compiled.report.plan, cycles.get())
}

#[test]
fn more_finalists_are_never_slower_and_each_can_be_captured() {
    let (workload, mut options) = named("siglip-mlp-benchmark", &blocks(1), Replicated);
    let graph = &workload.graph;
    options.limits.expanded_plans = 6;
    options.limits.placed_plans = 6;
    let (best_plan, best) = total(&options, graph);
    let mut plans = BTreeMap::new();
    for index in 0..6 {
        options.limits.only_placed = Some(index);
        let (plan, cycles) = total(&options, graph);
        plans.insert(plan, cycles);
    }
    assert_eq!(plans.len(), 6, "six different plans are placed: {plans:?}");
    // What decides does not know that tiles leave an exchange at different times.
    let least = plans.values().copied().min().unwrap();
    assert!(best <= least + least / 50, "{best} against {plans:?}");
    assert_eq!(plans[&best_plan], best);
    options.limits.only_placed = Some(6);
    let error = compile(graph, &options, &|_| {}).unwrap_err();
    assert!(
        matches!(&error, CompileError::Option { name, .. } if *name == "capture-finalist"),
        "{error}"
    );
}

#[test]
fn products_of_one_operand_are_done_at_once_where_that_is_asked_for() {
    let extents = WorkloadExtents {
        tokens: 256,
        width: 64,
        heads: 4,
        attention_batch: 1,
        ..WorkloadExtents::published(4)
    };
    let (workload, mut options) = named("siglip-attention-benchmark", &extents, Replicated);
    let shares = |options: &Options| {
        let plan = compiled(&workload.graph, options).report.plan;
        plan.iter().filter(|text| text.contains(":tile=")).count()
    };
    assert_eq!(
        shares(&options),
        0,
        "one after another is predicted to be faster"
    );
    options.limits.at_once = true;
    assert_eq!(shares(&options), 2, "the first share starts at tile 0");
    let compiled = compiled(&workload.graph, &options);
    let report = simulated(&compiled.package);
    let check = checked(&workload.graph, workload.tolerance, &report);
    assert!(check.passed(), "{check:?}");
}
