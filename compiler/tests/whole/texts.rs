//! Texts that people read, pinned: refusals, chosen plans, ranked candidates. `UPDATE_EXPECT=1`
//! renews the files.

use std::fmt::Write as _;

use crate::support::{named, options};
use compiler::OperandPolicy::{Replicated, Sharded};
use compiler::compile;
use compiler::graph::parse::parse;
use compiler::graph::workload::WorkloadExtents;
use compiler::plan::{PlanConstraint, plan};
use expect_test::expect_file;

const SMALL: &str = "\
input x: f16[40, 64] = constant(1)
parameter w: f16[64, 48] = constant(1)
y = gemm(x, w)
output y
";

#[test]
fn impossible_requests_are_refused_with_the_reason() {
    let large = SMALL.replace("40", "400000");
    let both = SMALL.replace(
        "output y",
        "z = gemm(y, v)\nu = gemm(t, y)\noutput z\noutput u",
    );
    let both = format!(
        "parameter v: f16[48, 16] = constant(1)\nparameter t: f16[16, 40] = constant(1)\n{both}"
    );
    let requests: [(&str, u16, &[&str]); 9] = [
        (SMALL, 0, &[]),
        (SMALL, 1473, &[]),
        (SMALL, 8, &["1:1x1x1"]),
        (SMALL, 8, &["0:3x3x1"]),
        (SMALL, 64, &["0:3x4x1:*:*:*:normal"]),
        (SMALL, 8, &["0:2x3x1:*:32"]),
        (SMALL, 8, &["0:1x1x2:*:*:*:*:*:*:chunks=3"]),
        (&large, 8, &[]),
        (&both, 8, &[]),
    ];
    let mut text = String::new();
    for (graph, tiles, constraints) in requests {
        let graph = parse(graph).unwrap();
        let mut options = options(tiles, Sharded);
        let parsed = constraints
            .iter()
            .map(|text| PlanConstraint::parse(text).unwrap());
        options.plan_constraints = parsed.collect();
        let error = compile(&graph, &options, &|_| {}).unwrap_err();
        writeln!(text, "{tiles} tiles {constraints:?}\n    {error}").unwrap();
    }
    expect_file!["golden/refusals.txt"].assert_eq(&text);
}

#[test]
fn chosen_plans_are_pinned() {
    let tiles = WorkloadExtents::published;
    let small = WorkloadExtents {
        tokens: 73,
        width: 200,
        ..tiles(64)
    };
    let workloads = [
        ("gemm-smoke", tiles(1472)),
        ("batched-gemm-smoke", tiles(64)),
        ("gemm-benchmark", tiles(1472)),
        ("gemm-projections", tiles(1472)),
        ("gemm-projections", tiles(64)),
        ("gemm-projections", small),
    ];
    let mut text = String::new();
    for (name, extents) in workloads {
        let (workload, options) = named(name, &extents, Sharded);
        let plan = plan(&workload.graph, &options, 0).unwrap();
        writeln!(text, "{name} on {} tiles", extents.tiles).unwrap();
        for (line, cycles) in plan.operations.iter().zip(&plan.predicted) {
            writeln!(text, "    {line} {}", cycles.total()).unwrap();
        }
    }
    expect_file!["golden/plans.txt"].assert_eq(&text);
}

#[test]
fn ranked_candidates_are_explained() {
    let graph = parse(SMALL).unwrap();
    let plan = plan(&graph, &options(4, Replicated), 0).unwrap();
    expect_file!["golden/explain.txt"].assert_eq(&plan.explain);
}
