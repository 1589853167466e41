//! Whole programs: compiled, run through their encoded exchange words, every output element
//! compared with an independent reference.

use crate::interpret::interpret;
use crate::support::{checked, compiled, named, options, simulated, useful_flops};
use compiler::OperandPolicy::{self, Replicated, Sharded};
use compiler::Options;
use compiler::graph::Graph;
use compiler::graph::check::Tolerance;
use compiler::graph::parse::parse;
use compiler::graph::workload::WorkloadExtents;
use compiler::plan::{PlanConstraint, plan};
use compiler::program::expand;
use proptest::prelude::*;
use runtime::package::ScheduleItem;

/// Compiles, runs and checks a workload; gives the predicted and the simulated cycles.
fn workload_passes(name: &str, extents: &WorkloadExtents, operands: OperandPolicy) -> (u64, u64) {
    let (workload, options) = named(name, extents, operands);
    let graph = &workload.graph;
    let compiled = compiled(graph, &options);
    assert_eq!(useful_flops(&compiled.package), graph.flops(), "{name}");
    let report = simulated(&compiled.package);
    let check = checked(graph, workload.tolerance, &report);
    let outputs = graph.outputs().iter().map(|id| graph.value(*id).elements());
    assert_eq!(check.elements, outputs.sum::<u64>());
    assert!(
        check.passed(),
        "{name} on {} tiles: {check:?}",
        extents.tiles
    );
    let predicted = compiled
        .report
        .predicted
        .iter()
        .map(|parts| parts.total().get())
        .sum();
    (predicted, report.total_cycles.get())
}

/// The plan's price is the device's time within 2 %.
fn price_holds((predicted, simulated): (u64, u64)) {
    let difference = predicted.abs_diff(simulated);
    assert!(
        difference * 50 <= simulated,
        "predicted {predicted}, simulated {simulated}"
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
fn mlp_and_attention_smoke_workloads_pass() {
    for tiles in [4, 64] {
        workload_passes("mlp-smoke", &WorkloadExtents::published(tiles), Sharded);
        workload_passes(
            "attention-smoke",
            &WorkloadExtents::published(tiles),
            Sharded,
        );
    }
}

/// A small layer with every operation of the large one.
#[test]
fn a_small_block_passes() {
    let small = WorkloadExtents {
        tokens: 29,
        width: 96,
        hidden: 200,
        heads: 4,
        ..WorkloadExtents::published(128)
    };
    workload_passes("siglip-block", &small, Replicated);
    workload_passes("siglip-block", &small, Sharded);
}

#[test]
fn gemm_benchmark_passes_on_the_whole_device() {
    price_holds(workload_passes(
        "gemm-benchmark",
        &WorkloadExtents::published(1472),
        Sharded,
    ));
}

#[test]
fn projections_pass_on_the_whole_device() {
    price_holds(workload_passes(
        "gemm-projections",
        &WorkloadExtents::published(1472),
        Sharded,
    ));
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

/// Blocks of an MLP are planned once, run in a Repeat, and give what they give one after another.
#[test]
fn repeated_blocks_pass() {
    for (operands, tiles, blocks) in [(Replicated, 64, 3), (Sharded, 64, 4), (Replicated, 24, 2)] {
        let extents = WorkloadExtents {
            tokens: 50,
            width: 96,
            hidden: 160,
            batch: 1,
            blocks,
            ..WorkloadExtents::published(tiles)
        };
        let (workload, options) = named("siglip-mlp-benchmark", &extents, operands);
        let package = compiled(&workload.graph, &options).package;
        let [ScheduleItem::Repeat { count, body }] = package.schedule.as_slice() else {
            panic!("{:?}", package.schedule);
        };
        assert_eq!(u64::from(*count), blocks);
        assert!(body.len() >= 5, "{body:?}");
        let predicted_and_simulated = workload_passes("siglip-mlp-benchmark", &extents, operands);
        assert!(predicted_and_simulated.1 > 0);
    }
}

/// One program: graph text, tiles, constraints, policy.
type Case = (String, u16, Vec<String>, OperandPolicy);

const CHAIN: &str = "\
input x: f16[45, 70] = gaussian(1, 1)
parameter a: f16[70, 90] = gaussian(2, 0.12)
parameter b: f16[90, 50] = gaussian(3, 0.1)
h = gemm(x, a)
y = gemm(h, b)
output y
";

/// The first result is the right operand of the second product.
const RIGHT: &str = "\
input x: f16[45, 70] = gaussian(1, 1)
parameter a: f16[70, 90] = gaussian(2, 0.12)
parameter b: f16[33, 45] = gaussian(3, 0.15)
h = gemm(x, a)
y = gemm(b, h)
output y
output h
";

const SHARED: &str = "\
input x: f16[64, 96] = gaussian(1, 1)
parameter a: f16[96, 32] = gaussian(2, 0.1)
parameter b: f16[96, 160] = gaussian(3, 0.1)
p = gemm(x, a)
q = gemm(x, b)
output p
output q
";

/// Replicated, the operands of both products lie on the tiles from the start.
const WIDE: &str = "\
input x: f16[96, 512] = gaussian(1, 1)
parameter a: f16[512, 1024] = gaussian(2, 0.04)
parameter b: f16[1024, 512] = gaussian(3, 0.03)
h = gemm(x, a)
y = gemm(h, b)
output y
";

const DEEP: &str = "\
input x: f16[40, 400] = gaussian(1, 1)
parameter a: f16[400, 64] = gaussian(2, 0.05)
y = gemm(x, a)
output y
";

/// Bias, GeLU and a residual add, with extents that need padding.
const MLP: &str = "\
input x: f16[45, 70] = gaussian(1, 1)
parameter a: f16[70, 90] = gaussian(2, 0.12)
parameter c: f16[90] = gaussian(4, 0.5)
parameter b: f16[90, 70] = gaussian(3, 0.1)
h = gemm(x, a, c)
g = gelu(h)
y = gemm(g, b)
z = add(x, y)
output z
output g
";

/// Blocks with a bias, a residual add and a norm, between operations that stand alone; the first
/// block reads what an operation left.
const BLOCKS: &str = "\
input x: f16[45, 70] = gaussian(1, 1)
parameter w: f16[70, 70] = gaussian(2, 0.12)
parameter gain: f16[70] = gaussian(3, 1)
parameter shift: f16[70] = gaussian(4, 0.2)
parameter a0: f16[70, 90] = gaussian(5, 0.12)
parameter a1: f16[70, 90] = gaussian(6, 0.12)
parameter a2: f16[70, 90] = gaussian(7, 0.12)
parameter c0: f16[90] = gaussian(8, 0.5)
parameter c1: f16[90] = gaussian(9, 0.5)
parameter c2: f16[90] = gaussian(10, 0.5)
parameter b: f16[90, 70] = gaussian(11, 0.1)
s = gemm(x, w)
n0 = layer_norm(s, gain, shift)
h0 = gemm(n0, a0, c0)
g0 = gelu(h0)
y0 = gemm(g0, b)
z0 = add(s, y0)
n1 = layer_norm(z0, gain, shift)
h1 = gemm(n1, a1, c1)
g1 = gelu(h1)
y1 = gemm(g1, b)
z1 = add(z0, y1)
n2 = layer_norm(z1, gain, shift)
h2 = gemm(n2, a2, c2)
g2 = gelu(h2)
y2 = gemm(g2, b)
z2 = add(z1, y2)
t = gelu(z2)
output z2
output t
";

/// Blocks that hand the whole product on, which nothing else reads.
const PLAIN_BLOCKS: &str = "\
input x: f16[45, 64] = gaussian(1, 1)
parameter a0: f16[64, 64] = gaussian(5, 0.12)
parameter a1: f16[64, 64] = gaussian(6, 0.12)
parameter a2: f16[64, 64] = gaussian(7, 0.12)
h0 = gemm(x, a0)
h1 = gemm(h0, a1)
h2 = gemm(h1, a2)
output h2
";

/// Heads of 24 in two panels, 19 tokens in two groups, two batch entries.
const ATTENTION: &str = "\
input x: f16[2, 19, 72] = gaussian(1, 1)
parameter wq: f16[72, 72] = gaussian(2, 0.2)
parameter wk: f16[72, 72] = gaussian(3, 0.2)
parameter wv: f16[72, 72] = gaussian(4, 0.12)
parameter wo: f16[72, 48] = gaussian(5, 0.12)
parameter gain: f16[72] = gaussian(6, 1)
parameter shift: f16[72] = gaussian(7, 0.2)
n = layer_norm(x, gain, shift)
q = gemm(n, wq)
k = gemm(n, wk)
v = gemm(n, wv)
qh = split_heads(q, 3)
kh = split_heads(k, 3)
vh = split_heads(v, 3)
a = attention(qh, kh, vh)
m = merge_heads(a, 3)
y = gemm(m, wo)
output y
output a
";

fn case(text: &str, tiles: u16, constraints: &[&str], operands: OperandPolicy) -> Case {
    let constraints = constraints.iter().map(|&text| text.to_owned()).collect();
    (text.to_owned(), tiles, constraints, operands)
}

/// Results feed products in both orientations and on both sides, operands are shared and streamed.
fn cases() -> Vec<Case> {
    let mut cases = vec![
        case(CHAIN, 24, &[], Replicated),
        case(SHARED, 32, &[], Sharded),
    ];
    cases.push(case(WIDE, 12, &[], Replicated));
    for operands in [Replicated, Sharded] {
        for tiles in [6, 24, 100] {
            cases.push(case(BLOCKS, tiles, &[], operands));
            cases.push(case(PLAIN_BLOCKS, tiles, &[], operands));
        }
        for forced in ["0:3x2x2", "0:4x2x1", "0:1x4x4"] {
            cases.push(case(PLAIN_BLOCKS, 24, &[forced], operands));
        }
        cases.push(case(MLP, 24, &[], operands));
        cases.push(case(MLP, 24, &["0:3x2x4", "2:2x3x2"], operands));
        for tiles in [12, 64, 200] {
            cases.push(case(ATTENTION, tiles, &[], operands));
        }
    }
    for second in [
        "1:3x2x2",
        "1:2x3x1:*:*:*:normal",
        "1:2x3x1:*:*:*:swapped",
        "1:1x1x1",
    ] {
        for first in ["0:3x2x4", "0:5x3x1", "0:1x6x1"] {
            cases.push(case(CHAIN, 24, &[first, second], Sharded));
        }
    }
    for second in ["1:3x2x2:*:*:*:normal", "1:2x2x1:*:*:*:swapped", "1:1x1x1"] {
        cases.push(case(RIGHT, 16, &["0:3x2x2", second], Sharded));
    }
    for constraints in [
        ["0:4x2x2", "1:4x2x2"],
        ["0:4x2x2", "1:2x5x3"],
        ["0:8x1x1", "1:1x5x2"],
    ] {
        cases.push(case(SHARED, 32, &constraints, Sharded));
    }
    for memory in ["interleaved", "standard"] {
        for orientation in ["normal", "swapped"] {
            for local in ["match-remote", "direct"] {
                let forced =
                    format!("0:2x2x3:*:*:{memory}:{orientation}:complete:{local}:chunks=3");
                cases.push(case(DEEP, 16, &[&forced], Sharded));
            }
        }
    }
    cases
}

fn chosen(case: &Case) -> (Graph, Options) {
    let (text, tiles, constraints, operands) = case;
    let mut options = options(*tiles, *operands);
    let parse_constraint = |text: &String| PlanConstraint::parse(text).unwrap();
    options.plan_constraints = constraints.iter().map(parse_constraint).collect();
    (parse(text).unwrap(), options)
}

fn means_the_graph(case: &Case) {
    let (graph, options) = chosen(case);
    let rolled = graph.rolled();
    let plan = plan(&rolled, &options, 0).unwrap();
    let program = expand(&rolled, &plan, options.operands).unwrap();
    let check = interpret(&graph, &program, Tolerance::GAUSSIAN);
    assert!(check.passed(), "{case:?}: {check:?}");
}

fn runs_right(case: &Case) {
    let (graph, options) = chosen(case);
    let compiled = compiled(&graph, &options);
    assert_eq!(useful_flops(&compiled.package), graph.flops(), "{case:?}");
    let check = checked(&graph, Tolerance::GAUSSIAN, &simulated(&compiled.package));
    assert!(
        check.passed(),
        "{case:?}: {check:?}\n{:?}",
        compiled.report.plan
    );
}

#[test]
fn programs_mean_their_graphs() {
    cases().iter().for_each(means_the_graph);
}

#[test]
fn packages_compute_their_graphs() {
    cases().iter().for_each(runs_right);
}

#[test]
fn attention_products_on_grids_of_their_own_compute_their_graphs() {
    use compiler::AttentionProducts::{Independent, PvOnly, QkOnly, SharedRows};
    for products in [SharedRows, QkOnly, PvOnly, Independent] {
        for (tiles, operands) in [(12, Sharded), (64, Replicated), (200, Sharded)] {
            let (graph, mut options) = chosen(&case(ATTENTION, tiles, &[], operands));
            options.products = products;
            let compiled = compiled(&graph, &options);
            let plan = &compiled.report.plan;
            let family = plan.iter().any(|line| line.contains(":products:"));
            assert!(family, "{plan:?}");
            assert_eq!(useful_flops(&compiled.package), graph.flops(), "{plan:?}");
            let check = checked(&graph, Tolerance::GAUSSIAN, &simulated(&compiled.package));
            assert!(check.passed(), "{products:?} on {tiles} tiles: {check:?}");
        }
    }
}

#[test]
fn tiles_that_are_mapped_elsewhere_compute_the_same() {
    let (graph, mut options) = chosen(&case(CHAIN, 24, &["0:3x2x4"], Sharded));
    let plain = simulated(&compiled(&graph, &options).package);
    options.tile_mapping = Some((0..24).map(|tile| (tile * 7 + 5) % 24).collect());
    let mapped = simulated(&compiled(&graph, &options).package);
    assert_eq!(plain.outputs, mapped.outputs);
    options.tile_mapping = Some(vec![0; 24]);
    let error = compiler::compile(&graph, &options, &|_| {}).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("must name each of the 24 tiles once"),
        "{error}"
    );
}

#[test]
fn an_operand_used_twice_is_uploaded_once() {
    let (graph, options) = chosen(&case(SHARED, 32, &["0:4x2x2", "1:2x5x3"], Sharded));
    let manifest = compiled(&graph, &options).package.manifest;
    assert_eq!(manifest.host_bytes, 2 * (64 * 96 + 96 * 32 + 96 * 160));
    assert_eq!(manifest.replicated_host_bytes, manifest.host_bytes);
}

/// A product of random extents, with and without a batch.
fn random_case() -> impl Strategy<Value = Case> {
    let extents = (1_u32..3, 1_u32..90, 1_u32..150, 1_u32..120);
    (extents, 1_u16..40, any::<u32>(), any::<bool>()).prop_map(|(extents, tiles, seed, free)| {
        let (batch, rows, inner, columns) = extents;
        let sigma = 1.0 / f64::from(inner).sqrt();
        let text = format!(
            "input x: f16[{batch}, {rows}, {inner}] = gaussian({seed}, 1)\n\
             parameter w: f16[{inner}, {columns}] = gaussian({}, {sigma})\n\
             y = gemm(x, w)\noutput y\n",
            seed ^ 0xffff,
        );
        case(&text, tiles, &[], if free { Replicated } else { Sharded })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn random_programs_mean_their_graphs(case in random_case()) {
        means_the_graph(&case);
    }

    #[test]
    fn random_packages_compute_their_graphs(case in random_case()) {
        runs_right(&case);
    }
}
