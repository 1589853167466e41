//! Placement is checked by code that shares nothing with the allocator, and that check rejects
//! damage.

use compiler::graph::parse::parse;
use compiler::place::{Arena, Placement, place, verify};
use compiler::plan::plan;
use compiler::program::{Program, expand};
use proptest::prelude::*;

use crate::support::{named, options};
use compiler::OperandPolicy::{Replicated, Sharded};
use compiler::graph::workload::WorkloadExtents;

fn placed(tiles: u16) -> (Program, Placement) {
    let extents = WorkloadExtents {
        tokens: 100,
        width: 160,
        ..WorkloadExtents::published(tiles)
    };
    let (workload, options) = named("gemm-projections", &extents, Sharded);
    let plan = plan(&workload.graph, &options, 0).unwrap();
    let program = expand(&workload.graph, &plan, options.operands).unwrap();
    let placement = place(&program, &Arena::with_rows(0)).unwrap();
    verify(&program, &placement).unwrap();
    (program, placement)
}

/// An address in place of the right one.
type Damage = fn(u32) -> u32;

#[test]
fn damaged_placements_are_rejected() {
    let (program, placement) = placed(24);
    let damages: [(&str, Damage); 4] = [
        ("is not 32-byte aligned", |address| address + 4),
        ("leaves the data memory", |_| 0x5c000),
        ("leaves the data memory", |_| 0xe7ba0),
        ("is not in interleaved memory", |address| {
            address - 0x80000 + 0x68000
        }),
    ];
    let output = program
        .labels
        .iter()
        .position(|label| label == "projection.k result block");
    let output = program
        .buffers
        .iter()
        .position(|b| Some(b.label as usize) == output)
        .unwrap();
    for (message, damage) in damages {
        let mut damaged = placement.clone();
        damaged.addresses[output] = damage(damaged.addresses[output]);
        let fault = verify(&program, &damaged).unwrap_err().to_string();
        assert!(fault.contains(message), "{fault}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_buffer_moved_onto_a_live_one_is_rejected(
        which: prop::sample::Index,
        onto: prop::sample::Index,
    ) {
        let (program, mut placement) = placed(12);
        let moved = which.index(program.buffers.len());
        let buffer = &program.buffers[moved];
        let live: Vec<usize> = (0..program.buffers.len())
            .filter(|&id| {
                let other = &program.buffers[id];
                id != moved
                    && other.tile == buffer.tile
                    && other.first <= buffer.last
                    && buffer.first <= other.last
            })
            .collect();
        prop_assume!(!live.is_empty());
        placement.addresses[moved] = placement.addresses[live[onto.index(live.len())]];
        prop_assert!(verify(&program, &placement).is_err());
    }

    #[test]
    fn random_products_are_placed_legally_or_refused(
        rows in 1_u32..3000, inner in 1_u32..3000, columns in 1_u32..3000, tiles in 1_u16..200,
        replicated: bool,
    ) {
        let text = format!(
            "input x: f16[{rows}, {inner}] = constant(1)\n\
             parameter w: f16[{inner}, {columns}] = constant(1)\ny = gemm(x, w)\noutput y\n"
        );
        let graph = parse(&text).unwrap();
        let policy = if replicated { Replicated } else { Sharded };
        if let Ok(plan) = plan(&graph, &options(tiles, policy), 0) {
            let program = expand(&graph, &plan, policy).unwrap();
            let Ok(placement) = place(&program, &Arena::with_rows(0)) else { return Ok(()) };
            verify(&program, &placement).map_err(|fault| TestCaseError::fail(fault.to_string()))?;
        }
    }
}
