//! Attention with shared rows, as the published runs did it, with its numbers: flash and
//! materialised plans of several shapes, and one at full size with everything that prepares
//! queries, keys and values.

use analytics::units::Cycles;
use compiler::AttentionStrategy::{self, Auto, Flash, Materialized};
use compiler::OperandPolicy::{self, Replicated, Sharded};
use compiler::graph::workload::WorkloadExtents;
use compiler::plan::PlanConstraint;
use compiler::{Compiled, ExchangeItems};
use runtime::kernels::Generation;
use runtime::sim::{PhaseKind, RunReport};

use crate::published::PROJECTIONS;
use crate::support::{checked, compiled, named, roles, simulated, useful_flops};

/// Compiles a workload with a strategy, runs it and compares every output element.
fn passes(
    name: &str,
    extents: &WorkloadExtents,
    strategy: AttentionStrategy,
    operands: OperandPolicy,
) {
    let (workload, mut options) = named(name, extents, operands);
    options.attention = strategy;
    let graph = &workload.graph;
    let compiled = compiled(graph, &options);
    let plan = compiled.report.plan.join(" ");
    let family = format!(":{}:", strategy.name());
    assert!(strategy == Auto || plan.contains(&family), "{plan}");
    assert_eq!(useful_flops(&compiled.package), graph.flops(), "{plan}");
    let check = checked(graph, workload.tolerance, &simulated(&compiled.package));
    let outputs = graph.outputs().iter().map(|id| graph.value(*id).elements());
    assert_eq!(check.elements, outputs.sum::<u64>());
    assert!(
        check.passed(),
        "{name}, {strategy:?}, {extents:?}: {check:?}"
    );
}

/// Heads of 72 columns end within a panel and 150 keys within a block of 64; heads of 24 share
/// panels; one key block alone needs no running merge; a batch starts anew at its first token.
#[test]
fn shared_rows_compute_their_graphs() {
    let published = WorkloadExtents::published;
    let shapes = [
        (60, 150, 288, 4, 1),
        (60, 150, 96, 4, 1),
        (7, 40, 144, 2, 1),
        (200, 64, 72, 1, 1),
        (24, 80, 96, 2, 2),
    ];
    for (tiles, tokens, width, heads, attention_batch) in shapes {
        let extents = WorkloadExtents {
            tokens,
            width,
            heads,
            attention_batch,
            ..published(tiles)
        };
        for strategy in [Flash, Materialized] {
            for operands in [Replicated, Sharded] {
                passes("siglip-attention-benchmark", &extents, strategy, operands);
            }
        }
    }
}

#[test]
fn constant_attention_passes_with_every_strategy() {
    let extents = WorkloadExtents {
        tokens: 90,
        width: 144,
        heads: 2,
        ..WorkloadExtents::published(60)
    };
    for strategy in [Auto, Flash, Materialized] {
        passes("attention-constant-smoke", &extents, strategy, Sharded);
    }
}

/// What follows attention reads the rows that its tiles own.
#[test]
fn a_small_block_passes_with_shared_rows() {
    let extents = WorkloadExtents {
        tokens: 70,
        width: 96,
        hidden: 200,
        heads: 4,
        ..WorkloadExtents::published(128)
    };
    for strategy in [Flash, Materialized] {
        passes("siglip-block", &extents, strategy, Replicated);
    }
}

/// Bytes of the queries, keys or values of all heads.
const OPERAND_BYTES: u64 = 729 * 1152 * 2;

/// The published materialised plan with its numbers: the device compares what every exchange
/// brought with what the package declares, and every output element is compared with the reference.
#[test]
fn the_published_attention_computes_every_element_and_prepares_its_operands() {
    let (workload, mut options) = named(
        "siglip-attention-benchmark",
        &WorkloadExtents::published(1472),
        Replicated,
    );
    options.attention = Materialized;
    options.kernel_generation = Generation::G20260907;
    options.items = ExchangeItems::Words;
    let parse = |text: &&str| PlanConstraint::parse(text).unwrap();
    options.plan_constraints = PROJECTIONS.iter().map(parse).collect();
    let compiled = compiled(&workload.graph, &options);
    let report = simulated(&compiled.package);
    let check = checked(&workload.graph, workload.tolerance, &report);
    println!("{}, {check:?}", report.total_cycles);
    assert_eq!(check.elements, 839_808);
    assert!(check.passed(), "{check:?}");
    prepares_its_operands(&compiled, &report);
}

/// Queries and keys are unpacked, and all queries, keys and values go to the tiles that gather or
/// prepare them.
fn prepares_its_operands(compiled: &Compiled, report: &RunReport) {
    let roles = roles(&compiled.package);
    let phases = report.phases.iter().zip(&roles);
    let attention: Vec<_> = phases
        .filter(|(phase, _)| phase.operation == "attention")
        .collect();
    let unpacks = attention.iter().filter(|(_, role)| *role == "unpack");
    let unpacks: Vec<(u32, Cycles)> = unpacks
        .map(|(phase, _)| (phase.active_tiles, phase.cycles))
        .collect();
    // 10 × 46 blocks, the contraction parts added.
    assert_eq!(unpacks.len(), 2, "{unpacks:?}");
    for (tiles, cycles) in unpacks {
        assert_eq!((tiles, cycles.get()), (460, 10_940));
    }
    let exchanges = attention
        .iter()
        .filter(|(phase, _)| phase.kind == PhaseKind::Exchange);
    let sent: Vec<u64> = exchanges.map(|(it, _)| it.bytes_sent.get()).collect();
    let [queries, keys, values, key_panels, value_panels] = sent[..] else {
        panic!("queries, keys, values, panels of both: {sent:?}");
    };
    assert_eq!(
        [queries, keys],
        [OPERAND_BYTES; 2],
        "every row of every head"
    );
    assert_eq!(values, 736 * 1152 * 2, "tokens in 16s");
    // 60 panels of 64 keys × 16 channels a head, those of padding included.
    assert_eq!([key_panels, value_panels], [16 * 60 * 2048; 2]);
}
