//! Whole programs: compiled, run through their encoded exchange words, every output element compared
//! with an independent reference.

use crate::support::{checked, compiled, named, options, simulated, useful_flops};
use compiler::OperandPolicy::{self, Replicated, Sharded};
use compiler::graph::check::Tolerance;
use compiler::graph::parse::parse;
use compiler::graph::workload::WorkloadExtents;
use compiler::plan::PlanConstraint;
use proptest::prelude::*;

fn workload_passes(name: &str, extents: &WorkloadExtents, operands: OperandPolicy) {
    let (workload, options) = named(name, extents, operands);
    let compiled = compiled(&workload.graph, &options);
    assert_eq!(
        useful_flops(&compiled.package),
        workload.graph.flops(),
        "{name}"
    );
    let report = simulated(&compiled.package);
    let check = checked(&workload.graph, workload.tolerance, &report);
    let outputs = workload
        .graph
        .outputs()
        .iter()
        .map(|id| workload.graph.value(*id).elements());
    assert_eq!(check.elements, outputs.sum::<u64>());
    assert!(
        check.passed(),
        "{name} on {} tiles: {check:?}",
        extents.tiles
    );
}

#[test]
fn smoke_workloads_are_exact() {
    for tiles in [1, 2, 8, 64] {
        workload_passes("gemm-smoke", &WorkloadExtents::published(tiles), Sharded);
        workload_passes(
            "batched-gemm-smoke",
            &WorkloadExtents::published(tiles),
            Sharded,
        );
    }
}

#[test]
fn gemm_benchmark_passes_in_both_policies() {
    let extents = WorkloadExtents {
        rows: 5000,
        inner: 128,
        columns: 48,
        ..WorkloadExtents::published(64)
    };
    workload_passes("gemm-benchmark", &extents, Sharded);
    workload_passes("gemm-benchmark", &extents, Replicated);
}

#[test]
fn gemm_benchmark_passes_on_the_whole_device() {
    workload_passes("gemm-benchmark", &WorkloadExtents::published(1472), Sharded);
}

#[test]
fn projections_pass_with_padding_reductions_and_streamed_contractions() {
    let small = WorkloadExtents {
        tokens: 73,
        width: 200,
        ..WorkloadExtents::published(64)
    };
    workload_passes("gemm-projections", &small, Sharded);
    workload_passes("gemm-projections", &small, Replicated);
    let streamed = WorkloadExtents {
        tokens: 300,
        width: 512,
        ..WorkloadExtents::published(8)
    };
    workload_passes("gemm-projections", &streamed, Sharded);
}

fn text_passes(text: &str, tiles: u16, constraints: &[&str], operands: OperandPolicy) {
    let graph = parse(text).unwrap();
    let mut options = options(tiles, operands);
    options.plan_constraints = constraints
        .iter()
        .map(|text| PlanConstraint::parse(text).unwrap())
        .collect();
    let compiled = compiled(&graph, &options);
    assert_eq!(useful_flops(&compiled.package), graph.flops(), "{text}");
    let report = simulated(&compiled.package);
    let check = checked(&graph, Tolerance::GAUSSIAN, &report);
    assert!(
        check.passed(),
        "{text} with {constraints:?}: {check:?}\n{:?}",
        compiled.report.plan
    );
}

const CHAIN: &str = "\
input x: f16[45, 70] = gaussian(1, 1)
parameter a: f16[70, 90] = gaussian(2, 0.12)
parameter b: f16[90, 50] = gaussian(3, 0.1)
h = gemm(x, a)
y = gemm(h, b)
output y
";

#[test]
fn a_result_feeds_the_next_product_in_either_orientation() {
    for second in [
        "1:3x2x2",
        "1:2x3x1:*:*:*:normal",
        "1:2x3x1:*:*:*:swapped",
        "1:1x1x1",
        "1:4x1x3",
    ] {
        for first in ["0:3x2x4", "0:5x3x1", "0:1x6x1"] {
            text_passes(CHAIN, 24, &[first, second], Sharded);
        }
    }
    text_passes(CHAIN, 24, &[], Replicated);
}

#[test]
fn a_result_can_be_the_right_operand() {
    let text = "\
input x: f16[45, 70] = gaussian(1, 1)
parameter a: f16[70, 90] = gaussian(2, 0.12)
parameter b: f16[33, 45] = gaussian(3, 0.15)
h = gemm(x, a)
y = gemm(b, h)
output y
output h
";
    for second in ["1:3x2x2:*:*:*:normal", "1:2x2x1:*:*:*:swapped", "1:1x1x1"] {
        text_passes(text, 16, &["0:3x2x2", second], Sharded);
    }
}

#[test]
fn an_operand_used_twice_is_uploaded_once() {
    let text = "\
input x: f16[64, 96] = gaussian(1, 1)
parameter a: f16[96, 32] = gaussian(2, 0.1)
parameter b: f16[96, 160] = gaussian(3, 0.1)
p = gemm(x, a)
q = gemm(x, b)
output p
output q
";
    for constraints in [
        ["0:4x2x2", "1:4x2x2"],
        ["0:4x2x2", "1:2x5x3"],
        ["0:8x1x1", "1:1x5x2"],
    ] {
        text_passes(text, 32, &constraints, Sharded);
    }
    let graph = parse(text).unwrap();
    let compiled = compiled(&graph, &options(32, Sharded));
    let manifest = &compiled.package.manifest;
    assert_eq!(manifest.host_bytes, 2 * (64 * 96 + 96 * 32 + 96 * 160));
    assert_eq!(manifest.replicated_host_bytes, manifest.host_bytes);
}

#[test]
fn streamed_contractions_pass_in_every_memory_class() {
    let text = "\
input x: f16[40, 400] = gaussian(1, 1)
parameter a: f16[400, 64] = gaussian(2, 0.05)
y = gemm(x, a)
output y
";
    for memory in ["interleaved", "standard"] {
        for orientation in ["normal", "swapped"] {
            for local in ["match-remote", "direct"] {
                let constraint =
                    format!("0:2x2x3:*:*:{memory}:{orientation}:complete:{local}:chunks=3");
                text_passes(text, 16, &[&constraint], Sharded);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn random_products_equal_the_reference(
        rows in 1_u32..90, inner in 1_u32..150, columns in 1_u32..120, batch in 1_u32..3,
        tiles in 1_u16..40, seed: u32, replicated: bool,
    ) {
        let sigma = 1.0 / f64::from(inner).sqrt();
        let text = format!(
            "input x: f16[{batch}, {rows}, {inner}] = gaussian({seed}, 1)\n\
             parameter w: f16[{inner}, {columns}] = gaussian({}, {sigma})\n\
             y = gemm(x, w)\noutput y\n",
            seed ^ 0xffff,
        );
        text_passes(&text, tiles, &[], if replicated { Replicated } else { Sharded });
    }
}
