//! Texts that people read, pinned: refusals, chosen plans, ranked candidates. `UPDATE_EXPECT=1`
//! renews the files.

use std::fmt::Write as _;

use crate::support::{named, options};
use compiler::AttentionStrategy::{Auto, Flash, Materialized};
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

const ATTENDED: &str = "\
input q: f16[2, 128, 64] = gaussian(1, 1)
a = attention(q, q, q)
output a
";

/// A norm of rows that the planner does not count.
const ROWS: &str = "\
input x: f16[16, 2048] = gaussian(1, 1)
parameter gain: f16[2048] = gaussian(2, 1)
parameter bias: f16[2048] = gaussian(3, 1)
n = layer_norm(x, gain, bias)
output n
";

/// A product, what follows it in place, and an attention.
const SEVERAL: &str = "\
input x: f16[40, 64] = constant(1)
parameter w: f16[64, 48] = constant(1)
input q: f16[2, 16, 32] = gaussian(1, 1)
y = gemm(x, w)
g = gelu(y)
a = attention(q, q, q)
output g
output a
";

/// Graph, tiles, constraints and KiB of each tile that plans may use.
type Request<'a> = (&'a str, u16, &'a [&'a str], Option<u64>);

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
    let requests: [Request<'_>; 19] = [
        (SMALL, 0, &[], None),
        (SMALL, 1473, &[], None),
        (SMALL, 8, &["1:1x1x1"], None),
        (SMALL, 8, &["0:3x3x1"], None),
        (SMALL, 64, &["0:3x4x1:*:*:*:normal"], None),
        (SMALL, 8, &["0:2x3x1:*:32"], None),
        (SMALL, 8, &["0:1x1x2:*:*:*:*:*:*:chunks=3"], None),
        (SMALL, 8, &["0:*:13x1"], None),
        (SEVERAL, 8, &["1:4x2x1"], None),
        (SEVERAL, 8, &["2:4x2x1"], None),
        (SEVERAL, 8, &["0:1x3x1", "0:2x3x1"], None),
        (&large, 8, &[], None),
        (&large, 8, &["0:8x1x1"], None),
        (&large, 1472, &["0:1x3x1"], None),
        (&both, 8, &[], None),
        (SMALL, 8, &[], Some(1)),
        (SMALL, 8, &["0:2x3x1"], Some(1)),
        (ATTENDED, 8, &[], Some(4)),
        (ROWS, 8, &[], Some(6)),
    ];
    let mut text = String::new();
    for (graph, tiles, constraints, kib) in requests {
        let graph = parse(graph).unwrap();
        let mut options = options(tiles, Sharded);
        options.limits.tile_bytes = kib.map(|kib| kib * 1024);
        let parsed = constraints
            .iter()
            .map(|text| PlanConstraint::parse(text).unwrap());
        options.plan_constraints = parsed.collect();
        let Err(error) = compile(&graph, &options, &|_| {}) else {
            panic!("{constraints:?} on {tiles} tiles with {kib:?} KiB is accepted");
        };
        let budget = kib.map_or_else(String::new, |kib| format!(", {kib} KiB each"));
        writeln!(text, "{tiles} tiles{budget} {constraints:?}\n    {error}").unwrap();
    }
    let (batched, options) = named(
        "batched-gemm-smoke",
        &WorkloadExtents::published(1472),
        Sharded,
    );
    let error = compile(&batched.graph, &options, &|_| {}).unwrap_err();
    writeln!(text, "batched-gemm-smoke on 1472 tiles\n    {error}").unwrap();
    expect_file!["golden/refusals.txt"].assert_eq(&text);
}

/// Where a plan that fits the budget is compiled, no tile has more live at once.
#[test]
fn a_budget_of_memory_is_kept() {
    let extents = WorkloadExtents {
        tokens: 150,
        width: 288,
        heads: 4,
        ..WorkloadExtents::published(60)
    };
    let (workload, mut options) = named("siglip-attention-benchmark", &extents, Replicated);
    let free = compile(&workload.graph, &options, &|_| {}).unwrap();
    let most = free.report.tile_bytes_max.get() - free.report.row_bytes_max.get();
    let mut kept = 0;
    for percent in [90, 75, 60, 45] {
        let budget = most * percent / 100;
        options.limits.tile_bytes = Some(budget);
        let Ok(compiled) = compile(&workload.graph, &options, &|_| {}) else {
            continue;
        };
        let allocations = compiled.package.allocations.iter();
        let buffers = allocations.filter(|each| each.label != "exchange rows");
        let buffers: Vec<_> = buffers.collect();
        for tile in 0..60 {
            let own = || buffers.iter().filter(|each| each.tile.index() == tile);
            for moment in own().map(|each| each.first) {
                let live = own().filter(|each| each.first <= moment && moment <= each.last);
                let bytes: u64 = live.map(|each| u64::from(each.range.bytes)).sum();
                assert!(bytes <= budget, "tile {tile}: {bytes} of {budget}");
            }
        }
        kept += 1;
    }
    assert!(kept > 0, "some of the budgets can be kept");
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

/// All families with all parts; of the published strategies, the one plan there is.
#[test]
fn ranked_plans_of_attention_are_explained() {
    let mut text = String::new();
    let smoke = WorkloadExtents::published(64);
    let (workload, options) = named("attention-smoke", &smoke, Sharded);
    let smoke = plan(&workload.graph, &options, 0).unwrap().explain;
    writeln!(text, "attention-smoke\n{smoke}").unwrap();
    let extents = WorkloadExtents::published(1472);
    for attention in [Auto, Flash, Materialized] {
        let (workload, mut options) = named("siglip-attention-benchmark", &extents, Replicated);
        options.attention = attention;
        let plan = plan(&workload.graph, &options, 0).unwrap();
        let table = plan.explain.split("attention:").last().unwrap();
        let strategy = attention.name();
        writeln!(
            text,
            "siglip-attention-benchmark {strategy}\nattention:{table}"
        )
        .unwrap();
    }
    let wide = text.lines().filter(|line| line.chars().count() > 80);
    assert_eq!(wide.count(), 0, "{text}");
    expect_file!["golden/explain-attention.txt"].assert_eq(&text);
}
