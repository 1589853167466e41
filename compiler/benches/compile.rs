//! Whole compilations on 1,472 tiles: graph → package in memory.

use std::time::Duration;

use compiler::graph::workload::{WorkloadExtents, workload};
use compiler::plan::PlanConstraint;
use compiler::{
    AttentionProducts, AttentionStrategy, ExchangeItems, Limits, OperandPolicy, Options,
    RepeatPolicy, compile,
};
use criterion::{Criterion, criterion_group, criterion_main};
use runtime::kernels::Generation;

fn compilations(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("compile");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(5));
    for name in [
        "gemm-benchmark",
        "gemm-projections",
        "siglip-attention-benchmark",
    ] {
        let workload = workload(name, &WorkloadExtents::published(1472)).expect("a known workload");
        let constraints = workload.constraints.iter();
        let options = Options {
            workload: name.to_owned(),
            tiles: 1472,
            operands: OperandPolicy::Sharded,
            clock_hz: 1_500_000_000,
            kernel_generation: Generation::default(),
            allow_assumed_kernels: false,
            attention: AttentionStrategy::Auto,
            products: AttentionProducts::Auto,
            repeats: RepeatPolicy::Keep,
            plan_constraints: constraints
                .filter_map(|text| PlanConstraint::parse(text).ok())
                .collect(),
            items: ExchangeItems::Auto,
            limits: Limits::STANDARD,
            tile_mapping: None,
            flags: Vec::new(),
        };
        group.bench_function(name, |bencher| {
            bencher.iter(|| compile(&workload.graph, &options, &|_| {}).map(|done| done.package));
        });
    }
    group.finish();
}

criterion_group!(benches, compilations);
criterion_main!(benches);
