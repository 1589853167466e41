//! Calls on a memory: numbers against plain loops, and what padding may and may not be.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use half::f16;

use super::{get, put, run};
use crate::kernels::Violation;
use crate::machine::memory::{TileMemory, WordRun};
use crate::package::{Address, KernelSpec, MemoryClass};

const OUT: Address = 0x8_0000;
const LEFT: Address = 0x8_8000;
const RIGHT: Address = 0x9_0000;

const fn gemm(rows: u32, accumulate: bool) -> KernelSpec {
    let coefficients = MemoryClass::Interleaved;
    KernelSpec::GemmF16 {
        rows,
        inner: 32,
        columns: 16,
        accumulate,
        coefficients,
    }
}

/// A memory with written operands of [`gemm`] with two rows: left ones, right column c holds c.
fn operands() -> TileMemory {
    let mut memory = TileMemory::new();
    put(&mut memory, LEFT, &[1.0; 64]);
    let right: Vec<f32> = (0..512).map(|i| (i / 16 % 16) as f32).collect();
    put(&mut memory, RIGHT, &right);
    memory
}

fn violation(spec: &KernelSpec, memory: &mut TileMemory, expected: &Expect) {
    let violation = run(spec, &[OUT, LEFT, RIGHT], memory).expect_err("a rule is broken");
    let Violation {
        rule,
        address,
        detail,
    } = violation;
    expected.assert_eq(&format!("{rule} at {address:#x}:\n{detail}"));
}

#[test]
fn products_overwrite_or_add() {
    let mut memory = operands();
    run(&gemm(2, false), &[OUT, LEFT, RIGHT], &mut memory).unwrap();
    let once: Vec<f32> = (0..32).map(|i| (i % 16 * 32) as f32).collect();
    assert_eq!(get(&memory, OUT, 32), once);
    run(&gemm(2, true), &[OUT, LEFT, RIGHT], &mut memory).unwrap();
    let twice: Vec<f32> = once.iter().map(|value| value * 2.0).collect();
    assert_eq!(get(&memory, OUT, 32), twice);
}

#[test]
fn padded_rows_may_be_unwritten_and_stay_so() {
    let mut memory = operands();
    // Three rows: AMP-left panels of three rows each, the last row of both never written.
    let mut fresh = TileMemory::new();
    put(&mut fresh, RIGHT, &get(&memory, RIGHT, 512));
    for panel in 0..2 {
        put(&mut fresh, LEFT + panel * 96, &[1.0; 32]);
    }
    memory = fresh;
    run(&gemm(3, false), &[OUT, LEFT, RIGHT], &mut memory).unwrap();
    assert_eq!(memory.first_uninitialised(OUT, 64), Ok(None));
    assert_eq!(memory.first_uninitialised(OUT, 96), Ok(Some(OUT + 64)));
    assert!(
        (OUT + 64..OUT + 96)
            .step_by(4)
            .all(|address| !memory.is_initialised(address))
    );
}

#[test]
fn padded_inner_lanes_must_be_written() {
    let mut memory = TileMemory::new();
    put(&mut memory, RIGHT, &[1.0; 512]);
    put(&mut memory, LEFT, &[1.0; 30]);
    violation(
        &gemm(1, false),
        &mut memory,
        &expect![[r#"
            uninitialised-read at 0x8803c:
            left row 0 is written in part; its inner padding must be too"#]],
    );
}

#[test]
fn coefficients_and_sums_that_were_not_written_are_faults() {
    let mut memory = TileMemory::new();
    put(&mut memory, LEFT, &[1.0; 64]);
    put(&mut memory, RIGHT, &[1.0; 508]);
    violation(
        &gemm(2, false),
        &mut memory,
        &expect![[r#"
            uninitialised-read at 0x903f8:
            right column 15 is written in part"#]],
    );
    violation(
        &gemm(2, true),
        &mut operands(),
        &expect![[r#"
            uninitialised-read at 0x80000:
            output row 0 column 0 is added to"#]],
    );
}

#[test]
fn what_padding_holds_does_not_reach_written_results() {
    let clean = {
        let mut memory = operands();
        run(&gemm(2, false), &[OUT, LEFT, RIGHT], &mut memory).unwrap();
        get(&memory, OUT, 32)
    };
    // Row 2 holds NaN that no one declared written.
    let mut memory = TileMemory::new();
    put(&mut memory, RIGHT, &get(&operands(), RIGHT, 512));
    let nan = f16::NAN.to_le_bytes().repeat(16);
    for panel in 0..2 {
        put(&mut memory, LEFT + panel * 96, &[1.0; 32]);
        let run = WordRun {
            bytes: nan.clone(),
            uninitialised: (0..8).collect(),
        };
        memory.land(LEFT + panel * 96 + 64, &run).unwrap();
    }
    run(&gemm(3, false), &[OUT, LEFT, RIGHT], &mut memory).unwrap();
    assert_eq!(get(&memory, OUT, 32), clean);
}

#[test]
fn copies_carry_padding_and_fills_make_it_zero() {
    let mut memory = TileMemory::new();
    put(&mut memory, 0x6_0000, &[1.0, 2.0]);
    run(
        &KernelSpec::Copy { bytes: 8 },
        &[0x6_1000, 0x6_0000],
        &mut memory,
    )
    .unwrap();
    assert_eq!(get(&memory, 0x6_1000, 2), [1.0, 2.0]);
    assert_eq!(memory.first_uninitialised(0x6_1000, 8), Ok(Some(0x6_1004)));
    run(&KernelSpec::ZeroFill { bytes: 8 }, &[0x6_1000], &mut memory).unwrap();
    assert_eq!(get(&memory, 0x6_1000, 4), [0.0; 4]);
    assert_eq!(memory.first_uninitialised(0x6_1000, 8), Ok(None));
}

#[test]
fn sums_of_some_partials_are_faults_and_of_none_are_padding() {
    let sum = KernelSpec::ReduceSumF16 {
        partials: 2,
        elements: 8,
    };
    let mut memory = TileMemory::new();
    put(&mut memory, 0x6_0000, &[1.0; 4]);
    put(&mut memory, 0x6_0010, &[2.0; 4]);
    run(&sum, &[0x6_1000, 0x6_0000], &mut memory).unwrap();
    assert_eq!(get(&memory, 0x6_1000, 4), [3.0; 4]);
    assert_eq!(memory.first_uninitialised(0x6_1000, 16), Ok(Some(0x6_1008)));
    put(&mut memory, 0x6_0008, &[1.0; 2]);
    let error = run(&sum, &[0x6_1000, 0x6_0000], &mut memory).unwrap_err();
    expect!["output word 2 mixes written and unwritten words"].assert_eq(&error.detail);
    assert_eq!(error.address, 0x6_0018);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn sums_round_after_each_partial_in_order(
        values in proptest::collection::vec(-3000.0_f32..3000.0, 40)
    ) {
        let values: Vec<f16> = values.into_iter().map(f16::from_f32).collect();
        let mut memory = TileMemory::new();
        let wide: Vec<f32> = values.iter().map(|value| value.to_f32()).collect();
        put(&mut memory, 0x6_0000, &wide);
        let sum = KernelSpec::ReduceSumF16 { partials: 5, elements: 8 };
        run(&sum, &[0x6_0000, 0x6_0000], &mut memory).unwrap();
        for (element, found) in get(&memory, 0x6_0000, 8).into_iter().enumerate() {
            let mut expected = values[element];
            for partial in 1..5 {
                let value = values[partial * 8 + element];
                expected = f16::from_f64(expected.to_f64() + value.to_f64());
            }
            prop_assert_eq!(found, expected.to_f32());
        }
    }
}
