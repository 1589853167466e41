//! Rows that no one wrote stay unwritten through every kernel, and rows written in part are faults.

use super::{put, run};
use crate::fault::FaultRule;
use crate::kernels::operands;
use crate::machine::memory::TileMemory;
use crate::package::{
    Add, Address, BiasGelu, Cast, Gelu, KernelSpec, LayerNorm, LayerNormMoments, Merge, MergeAll,
    Order, Output, Rearrange, Scalar, Softmax,
};

const AT: [Address; 6] = [0x8_0000, 0x9_0000, 0xA_0000, 0xB_0000, 0xC_0000, 0xD_0000];
/// Rows and elements of a row; the second row is padding.
const ROWS: u32 = 2;
const WIDTH: u32 = 16;
const ROW_BYTES: u32 = WIDTH * 2;

/// Kernels on rows of one F16 panel, which AMP-left and row-major order share, with the operands
/// that hold rows, the ones that hold a parameter of all rows, and the bytes of an output row.
type Case = (KernelSpec, &'static [usize], &'static [usize], u32);

fn kernels() -> Vec<Case> {
    [pointwise_and_norms(), attention_and_orders()].concat()
}

fn pointwise_and_norms() -> Vec<Case> {
    let epsilon = Scalar::new(1e-5);
    let (rows, width, output) = (ROWS, WIDTH, Output::F16);
    let norm = |add| {
        KernelSpec::LayerNorm(LayerNorm {
            rows,
            width,
            add,
            epsilon,
            output,
        })
    };
    vec![
        (
            KernelSpec::Gelu(Gelu {
                rows,
                width,
                output,
            }),
            &[1],
            &[],
            ROW_BYTES,
        ),
        (
            KernelSpec::BiasGelu(BiasGelu {
                rows,
                width,
                output,
            }),
            &[1],
            &[2],
            ROW_BYTES,
        ),
        (KernelSpec::Add(Add { rows, width }), &[1], &[2], ROW_BYTES),
        // A row of eight F32.
        (
            KernelSpec::AddF32(Add {
                rows,
                width: width / 2,
            }),
            &[1],
            &[2],
            ROW_BYTES,
        ),
        (norm(false), &[1], &[2, 3], ROW_BYTES),
        (norm(true), &[2, 3], &[4, 5], ROW_BYTES),
        (
            KernelSpec::LayerNormMoments(LayerNormMoments {
                rows,
                width,
                add: false,
            }),
            &[1],
            &[],
            8,
        ),
    ]
}

fn attention_and_orders() -> Vec<Case> {
    let (rows, width, output) = (ROWS, WIDTH, Output::F16);
    vec![
        (
            KernelSpec::Softmax(Softmax {
                rows,
                keys: 16,
                padded: 16,
                scale: Scalar::new(0.5),
                output,
            }),
            &[1],
            &[],
            ROW_BYTES,
        ),
        (
            KernelSpec::Merge(Merge {
                rows,
                columns: 16,
                padded: 16,
                first: true,
                last: true,
                half_output: true,
            }),
            &[1, 2],
            &[],
            ROW_BYTES,
        ),
        (
            KernelSpec::MergeAll(MergeAll {
                rows,
                columns: 16,
                padded: 16,
                parts: 2,
                half_output: true,
            }),
            &[1, 2, 3, 4],
            &[],
            ROW_BYTES,
        ),
        (
            KernelSpec::Cast(Cast::F16ToF32 { elements: 32 }),
            &[1],
            &[],
            64,
        ),
        (
            KernelSpec::Cast(Cast::F16ToF143 {
                elements: 32,
                scale: 0,
            }),
            &[1],
            &[],
            16,
        ),
        (
            KernelSpec::Rearrange(Rearrange {
                order: Order::PackLeft,
                matrices: 1,
                rows,
                columns: width,
                stride: width,
            }),
            &[1],
            &[],
            ROW_BYTES,
        ),
    ]
}

#[test]
fn unwritten_rows_give_unwritten_rows() {
    for (spec, rows, parameters, out_bytes) in kernels() {
        let mut memory = TileMemory::new();
        for &operand in rows.iter().chain(parameters) {
            put(&mut memory, AT[operand], &[1.0; WIDTH as usize]);
        }
        // What an earlier result left must not count.
        put(&mut memory, AT[0], &[5.0; 128]);
        run(&spec, &AT[..operands(&spec).len()], &mut memory).expect("padding is allowed");
        assert_eq!(
            memory.first_uninitialised(AT[0], out_bytes),
            Ok(None),
            "{spec:?}"
        );
        let second = AT[0] + out_bytes;
        for word in 0..out_bytes / 4 {
            assert!(
                !memory.is_initialised(second + word * 4),
                "{spec:?} word {word}"
            );
        }
    }
}

#[test]
fn rows_written_in_part_are_faults() {
    for (spec, rows, parameters, _) in kernels() {
        let is_flat = matches!(spec, KernelSpec::Cast(_) | KernelSpec::Rearrange(_));
        let pointwise = matches!(
            spec,
            KernelSpec::Gelu(_)
                | KernelSpec::BiasGelu(_)
                | KernelSpec::Add(_)
                | KernelSpec::AddF32(_)
        );
        if is_flat || pointwise {
            // Their words are independent: a part gives a part.
            continue;
        }
        let mut memory = TileMemory::new();
        for &operand in rows.iter().chain(parameters) {
            put(&mut memory, AT[operand], &[1.0; WIDTH as usize]);
        }
        let missing = AT[rows[0]] + ROW_BYTES;
        put(&mut memory, missing + 8, &[1.0; 4]);
        let fault = run(&spec, &AT[..operands(&spec).len()], &mut memory)
            .expect_err("a row is written in part");
        assert_eq!(
            (fault.rule, fault.address),
            (FaultRule::UninitialisedRead, missing),
            "{spec:?}"
        );
    }
}

#[test]
fn parameters_of_all_rows_have_no_padding() {
    for (spec, rows, parameters, _) in kernels() {
        for &left_out in parameters {
            let mut memory = TileMemory::new();
            for &operand in rows.iter().chain(parameters).filter(|&&o| o != left_out) {
                put(&mut memory, AT[operand], &[1.0; 2 * WIDTH as usize]);
            }
            let fault = run(&spec, &AT[..operands(&spec).len()], &mut memory)
                .expect_err("a parameter is missing");
            let expected = (FaultRule::UninitialisedRead, AT[left_out]);
            assert_eq!((fault.rule, fault.address), expected, "{spec:?}");
        }
    }
}
