//! The published plans, forced: work, lane occupancy and useful efficiency of each kernel group
//! beside the published figures. Kernel generation 2026-09-07, costs as the device charges them.

use std::fmt::Write as _;

use compiler::AttentionStrategy::{self, Auto, Flash, Materialized};
use compiler::OperandPolicy::Replicated;
use compiler::graph::workload::{WorkloadExtents, workload};
use compiler::plan::{PlanConstraint, plan};
use compiler::program::{Program, Work, expand};
use runtime::kernels::{Generation, cycles};
use runtime::package::{CallTemplate, KernelSpec, Merge};

use crate::support::options;

/// Grids of the published Q, K and V projections.
pub(crate) const PROJECTIONS: [&str; 3] = [
    "0:10x46x3:1x1:16:interleaved:swapped:complete:direct",
    "1:10x46x3:1x1:16:interleaved:swapped:complete:direct",
    "2:10x46x3:1x1:16:interleaved:swapped:complete:direct",
];

/// Grids that reproduce the published MLP's efficiencies.
pub(crate) const MLP: [&str; 2] = [
    "0:2x92x8:8x1:48:interleaved:normal:complete:direct",
    "2:3x18x27:27x1:64:interleaved:normal:complete:direct",
];

/// Sums over the calls of a group.
#[derive(Clone, Copy, Default)]
struct Sums {
    useful: u64,
    physical: u64,
    /// 256ths of a cycle, like the work.
    duration: u64,
    most: u64,
    /// Lane occupancy of the emptiest and of the fullest call in percent.
    calls: Option<(f64, f64)>,
}

impl Sums {
    #[expect(clippy::cast_precision_loss, reason = "a percentage for people")]
    fn percent(part: u64, whole: u64) -> f64 {
        100.0 * part as f64 / whole as f64
    }

    fn occupancy(&self) -> f64 {
        Self::percent(self.useful, self.physical)
    }

    fn efficiency(&self) -> f64 {
        Self::percent(self.useful, self.duration)
    }
}

pub(crate) fn published(name: &str, strategy: AttentionStrategy, forced: &[&str]) -> Program {
    let extents = WorkloadExtents {
        batch: 1,
        ..WorkloadExtents::published(1472)
    };
    let graph = workload(name, &extents).unwrap().graph;
    let mut options = options(1472, Replicated);
    options.kernel_generation = Generation::G20260907;
    options.attention = strategy;
    let parse = |text: &&str| PlanConstraint::parse(text).unwrap();
    options.plan_constraints = forced.iter().map(parse).collect();
    let plan = plan(&graph, &options, 0).unwrap();
    expand(&graph, &plan, Replicated).unwrap()
}

fn sums(program: &Program, is_member: impl Fn(&CallTemplate) -> bool) -> Sums {
    let mut sums = Sums::default();
    for step in &program.steps {
        let Work::Compute { calls, .. } = &step.work else {
            continue;
        };
        for call in calls {
            let template = &program.templates[call.template as usize];
            let Some(estimate) = template.estimate.as_ref().filter(|_| is_member(template)) else {
                continue;
            };
            let cost = cycles(&template.kernel, Generation::G20260907).get();
            sums.useful += estimate.useful.get_256ths();
            sums.physical += estimate.physical.get_256ths();
            sums.duration += cost * 256;
            sums.most = sums.most.max(cost);
            let call = Sums {
                useful: estimate.useful.get_256ths(),
                physical: estimate.physical.get_256ths(),
                ..Sums::default()
            };
            let (low, high) = sums.calls.unwrap_or((f64::INFINITY, 0.0));
            let here = call.occupancy();
            sums.calls = Some((low.min(here), high.max(here)));
        }
    }
    sums
}

fn shape(template: &CallTemplate) -> &str {
    let pair = template.metadata.iter().find(|(name, _)| name == "shape");
    pair.map_or("", |(_, shape)| shape)
}

/// Published lane occupancy: of the whole group, or its range over the calls.
#[derive(Clone, Copy)]
enum Occupancy {
    Unknown,
    Whole(f64),
    Calls(f64, f64),
}

impl Occupancy {
    /// The text in tables.
    fn text(self) -> String {
        match self {
            Self::Unknown => "-".to_owned(),
            Self::Whole(percent) => format!("{percent:.1}"),
            Self::Calls(low, high) => format!("{low:.1} to {high:.1}"),
        }
    }

    /// Whether a group has it, to the digit that is published.
    fn holds(self, found: &Sums) -> bool {
        let is_in =
            |percent: f64, low: f64, high: f64| (low - 0.06..=high + 0.06).contains(&percent);
        match self {
            Self::Unknown => true,
            Self::Whole(percent) => is_in(found.occupancy(), percent, percent),
            Self::Calls(low, high) => found
                .calls
                .is_some_and(|(least, most)| is_in(least, low, high) && is_in(most, low, high)),
        }
    }
}

/// A row: group, which calls, published lane occupancy and efficiency.
type Row = (&'static str, fn(&CallTemplate) -> bool, Occupancy, f64);

/// Of the products of the published MLP.
const MLP_CALLS: Occupancy = Occupancy::Calls(99.2, 100.0);

fn check_rows(program: &Program, rows: &[Row]) -> String {
    let mut text = String::new();
    for (name, is_member, occupancy, efficiency) in rows {
        let found = sums(program, is_member);
        let (our_occupancy, our_efficiency) = (found.occupancy(), found.efficiency());
        let (published, (low, high)) = (occupancy.text(), found.calls.unwrap());
        writeln!(
            text,
            "{name:<24} occupancy {our_occupancy:.2} %, of calls {low:.2} to {high:.2} % \
             (published {published}), efficiency {our_efficiency:.1} % (published \
             {efficiency:.1}), longest call {}",
            found.most
        )
        .unwrap();
        assert!(occupancy.holds(&found), "{text}");
        assert!((our_efficiency - efficiency).abs() <= 2.0, "{text}");
    }
    text
}

fn is_gemm(template: &CallTemplate, inner_columns: &str) -> bool {
    template
        .symbol
        .starts_with(&format!("gemm_f16_{inner_columns}_"))
}

const PROJECTION: Row = (
    "projection K384/C16",
    |call| is_gemm(call, "k384_c16"),
    Occupancy::Whole(99.0),
    72.4,
);

const UNPACK: Row = (
    "unpack",
    |call| call.symbol.starts_with("unpack") && is_full(call),
    Occupancy::Whole(100.0),
    8.5,
);

const UNPACK_TAIL: Row = (
    "unpack, padded tail",
    |call| call.symbol.starts_with("unpack") && !is_full(call),
    Occupancy::Whole(56.25),
    4.2,
);

fn is_full(call: &CallTemplate) -> bool {
    let estimate = call.estimate.as_ref().unwrap();
    estimate.useful == estimate.physical
}

#[test]
fn flash_has_the_published_efficiencies() {
    let program = published("siglip-attention-benchmark", Flash, &PROJECTIONS);
    let rows: [Row; 6] = [
        PROJECTION,
        (
            "flash QK K80/C64",
            |call| is_gemm(call, "k80_c64"),
            Occupancy::Whole(85.4),
            13.0,
        ),
        (
            "flash PV K64/C80",
            |call| is_gemm(call, "k64_c80"),
            Occupancy::Whole(85.4),
            12.9,
        ),
        (
            "full-block softmax",
            |call| call.symbol.starts_with("softmax") && shape(call).contains("x64 of"),
            Occupancy::Whole(100.0),
            51.8,
        ),
        UNPACK,
        UNPACK_TAIL,
    ];
    print!("{}", check_rows(&program, &rows));
    assert_eq!(gemm_flops(&program), 8_253_633_024);
}

#[test]
fn materialized_attention_has_the_published_efficiencies() {
    let program = published("siglip-attention-benchmark", Materialized, &PROJECTIONS);
    let rows: [Row; 6] = [
        PROJECTION,
        (
            "materialized QK K80/C768",
            |call| is_gemm(call, "k80_c768"),
            Occupancy::Whole(85.4),
            11.9,
        ),
        (
            "materialized PV K768/C80",
            |call| is_gemm(call, "k768_c80"),
            Occupancy::Whole(85.4),
            12.1,
        ),
        (
            "softmax",
            |call| call.symbol.starts_with("softmax"),
            Occupancy::Unknown,
            57.4,
        ),
        UNPACK,
        UNPACK_TAIL,
    ];
    print!("{}", check_rows(&program, &rows));
    assert_eq!(gemm_flops(&program), 8_253_633_024);
}

#[test]
fn the_mlp_has_the_published_efficiencies() {
    let program = published("siglip-mlp-benchmark", Auto, &MLP);
    let rows: [Row; 4] = [
        ("up", |call| is_up(call), MLP_CALLS, 89.3),
        ("down", |call| is_down(call), MLP_CALLS, 84.8),
        (
            "GeLU",
            |call| call.symbol.starts_with("gelu"),
            Occupancy::Unknown,
            54.7,
        ),
        (
            "reductions",
            |call| call.symbol.starts_with("reduce"),
            Occupancy::Unknown,
            62.4,
        ),
    ];
    print!("{}", check_rows(&program, &rows));
    assert_eq!(gemm_flops(&program), 14_458_134_528);
}

/// The calls of the first product, on 48 columns or on 32.
fn is_up(call: &CallTemplate) -> bool {
    is_gemm(call, "k144_c48") || is_gemm(call, "k144_c32")
}

/// The calls of the second product, on 160 of the contraction or on 144.
fn is_down(call: &CallTemplate) -> bool {
    is_gemm(call, "k160_c64") || is_gemm(call, "k144_c64")
}

/// Useful FLOPs of all products.
fn gemm_flops(program: &Program) -> u64 {
    sums(program, |call| call.symbol.starts_with("gemm")).useful / 2
}

/// Cycles of the calls of a group on its busiest tile, each call as long as `cost` says.
fn busiest(
    program: &Program,
    is_member: impl Fn(&CallTemplate) -> bool,
    cost: impl Fn(&CallTemplate) -> u64,
) -> u64 {
    let mut sums = vec![0; usize::from(program.tiles)];
    for step in &program.steps {
        let Work::Compute { calls, .. } = &step.work else {
            continue;
        };
        for call in calls {
            let template = &program.templates[call.template as usize];
            if is_member(template) {
                sums[usize::from(call.tile)] += cost(template);
            }
        }
    }
    sums.into_iter().max().unwrap_or(0)
}

/// Cycles of a call as the published runs made it: their attention results were F32, ours are F16.
fn published_cycles(template: &CallTemplate) -> u64 {
    let kernel = match template.kernel {
        KernelSpec::Merge(merge) => KernelSpec::Merge(Merge {
            half_output: false,
            ..merge
        }),
        kernel => kernel,
    };
    cycles(&kernel, Generation::G20260907).get()
}

/// A group: name, which calls, its published cycles on the critical tile.
type Group = (&'static str, fn(&CallTemplate) -> bool, u64);

/// Each group's cycles are within 5 % of the published budget.
fn check_groups(program: &Program, groups: &[Group]) {
    let mut text = String::new();
    for &(name, is_member, published) in groups {
        let found = busiest(program, is_member, published_cycles);
        let own = busiest(program, is_member, |template| {
            cycles(&template.kernel, Generation::G20260907).get()
        });
        let signed = i128::from(found) - i128::from(published);
        let hundredths = signed * 10_000 / i128::from(published);
        writeln!(
            text,
            "{name:<28} {found:>7} cycles (published {published:>7}), {hundredths:>5} hundredths \
             of 1 %; as compiled {own}"
        )
        .unwrap();
        assert!(found.abs_diff(published) * 100 <= published * 5, "{text}");
    }
    print!("{text}");
}

fn is_core_gemm(call: &CallTemplate) -> bool {
    call.symbol.starts_with("gemm") && !is_gemm(call, "k384_c16")
}

const PROJECTION_GEMMS: Group = ("projections", |call| is_gemm(call, "k384_c16"), 3 * 15_270);

#[test]
fn flash_has_the_published_cycles_by_kernel() {
    let program = published("siglip-attention-benchmark", Flash, &PROJECTIONS);
    let groups: [Group; 5] = [
        PROJECTION_GEMMS,
        ("GEMMs", is_core_gemm, 99_216),
        ("softmax", |call| call.symbol.starts_with("softmax"), 46_794),
        (
            "merge",
            |call| call.symbol.starts_with("attention_merge"),
            39_648,
        ),
        (
            "reductions",
            |call| call.symbol.starts_with("reduce"),
            11_376,
        ),
    ];
    check_groups(&program, &groups);
}

#[test]
fn materialized_attention_has_the_published_cycles_by_kernel() {
    let program = published("siglip-attention-benchmark", Materialized, &PROJECTIONS);
    let groups: [Group; 5] = [
        PROJECTION_GEMMS,
        ("GEMMs", is_core_gemm, 108_108),
        ("softmax", |call| call.symbol.starts_with("softmax"), 40_326),
        (
            "merge",
            |call| call.symbol.starts_with("attention_merge"),
            2_466,
        ),
        (
            "reductions",
            |call| call.symbol.starts_with("reduce"),
            11_376,
        ),
    ];
    check_groups(&program, &groups);
}

#[test]
fn the_mlp_has_the_published_cycles_by_kernel() {
    let program = published("siglip-mlp-benchmark", Auto, &MLP);
    let groups: [Group; 5] = [
        ("up", |call| is_gemm(call, "k144_c48"), 44_142),
        ("down", |call| is_gemm(call, "k160_c64"), 45_734),
        ("GeLU", |call| call.symbol.starts_with("gelu"), 12_060),
        ("sum of 8", |call| partials(call) == 8, 7_182),
        ("sum of 27", |call| partials(call) == 27, 4_818),
    ];
    check_groups(&program, &groups);
}

/// Partials of a reduction; 0 for anything else.
fn partials(call: &CallTemplate) -> u32 {
    match call.kernel {
        KernelSpec::ReduceSumF16 { partials, .. } => partials,
        _ => 0,
    }
}
