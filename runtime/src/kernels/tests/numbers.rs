//! Numbers of each kernel against plain loops over the definitions, in F64 where order is free.

use half::f16;

use super::{get, put, run};
use crate::host::f143;
use crate::kernels::{Engine, Rounder, execute as execute_call, operands};
use crate::machine::memory::TileMemory;
use crate::package::{
    Add, Address, BiasGelu, Cast, Gelu, Gemm, KernelSpec, LayerNorm, LayerNormApply,
    LayerNormMoments, MemoryClass, Merge, MergeAll, Order, Output, Rearrange, Scalar, Softmax,
};

/// Places for operands, each in an element of its own.
const AT: [Address; 7] = [
    0x8_0000, 0x9_0000, 0xA_0000, 0xB_0000, 0xC_0000, 0xD_0000, 0x6_0000,
];

/// Reproducible values of a few units, as F16.
fn values(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9) | 1;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            let unit = f64::from(state) / f64::from(u32::MAX) - 0.5;
            f16::from_f64(unit * 4.0).to_f32()
        })
        .collect()
}

fn put_floats(memory: &mut TileMemory, address: Address, values: &[f32]) {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    memory.write(address, &bytes).unwrap();
}

fn get_floats(memory: &TileMemory, address: Address, count: usize) -> Vec<f32> {
    let bytes = memory
        .read(address, u32::try_from(count * 4).unwrap())
        .unwrap();
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|&word| f32::from_le_bytes(word)).collect()
}

fn places(spec: &KernelSpec) -> &'static [Address] {
    &AT[..operands(spec).len()]
}

/// AMP-left position with panels of `width`.
fn left(rows: usize, row: usize, column: usize, width: usize) -> usize {
    (column / width * rows + row) * width + column % width
}

fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    let gap = (found - expected).abs();
    assert!(
        gap <= tolerance * (1.0 + expected.abs()),
        "{what}: {found} for {expected}"
    );
}

const GEMM: Gemm = Gemm {
    rows: 21,
    inner: 64,
    columns: 32,
    accumulate: true,
    coefficients: MemoryClass::Interleaved,
};

#[test]
fn f143_products_round_once_per_panel_in_both_forms() {
    let spec = KernelSpec::GemmF143 {
        gemm: GEMM,
        scale: -3,
    };
    let (rows, inner, columns) = (21, 64, 32);
    let codes = |count: usize, seed| -> Vec<u8> {
        values(count, seed)
            .iter()
            .map(|&v| f143::encode(v.into()))
            .collect()
    };
    let (a, b, start) = (
        codes(rows * inner, 1),
        codes(inner * columns, 2),
        values(rows * columns, 3),
    );
    let mut expected = vec![f16::ZERO; rows * columns];
    for row in 0..rows {
        for column in 0..columns {
            let at = left(rows, row, column, 16);
            let mut sum = f16::from_f32(start[at]);
            for panel in 0..inner / 32 {
                let mut acc = sum.to_f32();
                for k in panel * 32..panel * 32 + 32 {
                    let l = f143::decode(a[left(rows, row, k, 32)]);
                    let block = (column / 16 * (inner / 32) + panel) * 16 + column % 16;
                    let r = f143::decode(b[block * 32 + k % 32]);
                    acc += l * r / 8.0;
                }
                sum = f16::from_f32(acc);
            }
            expected[at] = sum;
        }
    }
    for engine in [Engine::detect(), Engine::plain()] {
        let mut memory = TileMemory::new();
        put(&mut memory, AT[0], &start);
        memory.write(AT[1], &a).unwrap();
        memory.write(AT[2], &b).unwrap();
        execute_call(
            engine,
            &spec,
            places(&spec),
            &Rounder::NearestEven,
            &mut memory,
        )
        .unwrap();
        let found = get(&memory, AT[0], rows * columns);
        let expected: Vec<f32> = expected.iter().map(|v| v.to_f32()).collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn a_packed_store_holds_the_native_result_in_groups_of_sixteen_rows() {
    let (rows, columns) = (21, 32);
    let native = KernelSpec::GemmF16 {
        rows: 21,
        inner: 64,
        columns: 32,
        accumulate: false,
        coefficients: MemoryClass::Interleaved,
    };
    let gemm = Gemm {
        accumulate: false,
        ..GEMM
    };
    let results = [native, KernelSpec::GemmPackedF16(gemm)].map(|spec| {
        let mut memory = TileMemory::new();
        put(&mut memory, AT[1], &values(21 * 64, 4));
        put(&mut memory, AT[2], &values(64 * 32, 5));
        run(&spec, places(&spec), &mut memory).unwrap();
        get(&memory, AT[0], rows * columns)
    });
    for row in 0..rows {
        let (group, height) = (row / 16, if row < 16 { 16 } else { 5 });
        for column in 0..columns {
            let packed = group * 16 * columns + left(height, row % 16, column, 16);
            let native = left(rows, row, column, 16);
            assert_eq!(results[1][packed], results[0][native], "{row} {column}");
        }
    }
    // Adding to a packed result reads it in its own order.
    let twice = KernelSpec::GemmPackedF16(GEMM);
    let mut memory = TileMemory::new();
    put(&mut memory, AT[0], &results[1]);
    put(&mut memory, AT[1], &[0.0; 21 * 64]);
    put(&mut memory, AT[2], &values(64 * 32, 5));
    run(&twice, places(&twice), &mut memory).unwrap();
    assert_eq!(get(&memory, AT[0], rows * columns), results[1]);
}

/// A padded inner lane that is not finite is never silent, though the other side is zero there.
#[test]
fn a_padded_lane_that_is_not_finite_shows_in_its_row_or_column() {
    let gemm = Gemm {
        rows: 2,
        inner: 16,
        columns: 16,
        accumulate: false,
        coefficients: MemoryClass::Interleaved,
    };
    let spec = KernelSpec::GemmPackedF16(gemm);
    // Lane 15 pads both operands; panels of one row and of one column, 16 lanes each.
    let lanes = |count: usize| -> Vec<f32> {
        (0..count * 16)
            .map(|at| f32::from(u8::from(at % 16 != 15)))
            .collect()
    };
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for (operand, at) in [(1, 15), (1, 31), (2, 15), (2, 5 * 16 + 15)] {
            let mut memory = TileMemory::new();
            let mut sides = [lanes(2), lanes(16)];
            sides[operand - 1][at] = bad;
            for (address, values) in AT[1..].iter().zip(&sides) {
                put(&mut memory, *address, values);
            }
            run(&spec, places(&spec), &mut memory).unwrap();
            for (element, value) in get(&memory, AT[0], 32).into_iter().enumerate() {
                let line = if operand == 1 {
                    element / 16
                } else {
                    element % 16
                };
                let expected = if line == at / 16 { f32::NAN } else { 15.0 };
                let same = value == expected || (value.is_nan() && expected.is_nan());
                assert!(
                    same,
                    "{bad} at {at} of operand {operand}: {element} is {value}"
                );
            }
        }
    }
}

#[test]
fn f32_products_add_in_order() {
    let spec = KernelSpec::GemmF32(GEMM);
    let (rows, inner, columns) = (21, 64, 32);
    let (a, b) = (values(rows * inner, 6), values(inner * columns, 7));
    let start = values(rows * columns, 8);
    let mut memory = TileMemory::new();
    for (address, values) in AT.iter().zip([&start, &a, &b]) {
        put_floats(&mut memory, *address, values);
    }
    run(&spec, places(&spec), &mut memory).unwrap();
    let found = get_floats(&memory, AT[0], rows * columns);
    for row in 0..rows {
        for column in 0..columns {
            let at = left(rows, row, column, 8);
            let sum = (0..inner).fold(start[at], |sum, k| {
                let block = (column / 16 * (inner / 8) + k / 8) * 16 + column % 16;
                sum + a[left(rows, row, k, 8)] * b[block * 8 + k % 8]
            });
            assert_eq!(found[at], sum, "{row} {column}");
        }
    }
}

fn exact_gelu(x: f64) -> f64 {
    0.5 * x * (1.0 + (0.797_884_6 * (x + 0.044_715 * x.powi(3))).tanh())
}

#[test]
fn gelu_and_bias_gelu_follow_the_function_and_work_in_place() {
    let (rows, width) = (3, 10);
    let (x, bias) = (values(30, 9), values(10, 10));
    let gelu = KernelSpec::Gelu(Gelu {
        rows,
        width,
        output: Output::F16,
    });
    let biased = KernelSpec::BiasGelu(BiasGelu {
        rows,
        width,
        output: Output::F16,
    });
    let mut memory = TileMemory::new();
    put(&mut memory, AT[0], &x);
    run(&gelu, &[AT[0], AT[0]], &mut memory).unwrap();
    for (found, x) in get(&memory, AT[0], 30).iter().zip(&x) {
        close((*found).into(), exact_gelu((*x).into()), 0.002, "gelu");
    }
    put(&mut memory, AT[1], &x);
    put(&mut memory, AT[2], &bias);
    run(&biased, places(&biased), &mut memory).unwrap();
    for (at, found) in get(&memory, AT[0], 30).iter().enumerate() {
        let x = f64::from(x[at]) + f64::from(bias[at % 10]);
        close((*found).into(), exact_gelu(x), 0.003, "bias gelu");
    }
}

#[test]
fn f143_results_hold_the_codes_of_the_f16_results_in_their_order() {
    let (rows, width) = (3_u32, 64_u32);
    let x = values(192, 11);
    let result = |output| {
        let spec = KernelSpec::Gelu(Gelu {
            rows,
            width,
            output,
        });
        let mut memory = TileMemory::new();
        put(&mut memory, AT[1], &x);
        run(&spec, places(&spec), &mut memory).unwrap();
        memory
    };
    let halves = get(&result(Output::F16), AT[0], 192);
    let scale = -2;
    let codes = |packed| {
        let memory = result(Output::F143 { scale, packed });
        memory.read(AT[0], 192).unwrap().to_vec()
    };
    let (plain, packed) = (codes(false), codes(true));
    for row in 0..3 {
        for column in 0..64 {
            let code = f143::encode(f64::from(halves[row * 64 + column]) * 4.0);
            assert_eq!(plain[row * 64 + column], code);
            assert_eq!(packed[left(3, row, column, 32)], code);
        }
    }
}

#[test]
fn adds_are_dense_or_share_the_right_operand() {
    let (a, b) = (values(24, 12), values(24, 13));
    for (rows, width) in [(1_u32, 24_u32), (3, 8)] {
        let spec = KernelSpec::Add(Add { rows, width });
        let mut memory = TileMemory::new();
        put(&mut memory, AT[1], &a);
        put(&mut memory, AT[2], &b[..width as usize]);
        run(&spec, places(&spec), &mut memory).unwrap();
        for (at, found) in get(&memory, AT[0], 24).into_iter().enumerate() {
            let sum = f64::from(a[at]) + f64::from(b[at % width as usize]);
            assert_eq!(found, f16::from_f64(sum).to_f32());
        }
        // The same in F32: 2^-20 more is lost in F16 and kept here.
        let wide = |values: &[f32], by| -> Vec<f32> { values.iter().map(|x| x + by).collect() };
        let (a, b) = (wide(&a, 0.75), wide(&b, 9.5e-7));
        let spec = KernelSpec::AddF32(Add { rows, width });
        let mut memory = TileMemory::new();
        put_floats(&mut memory, AT[1], &a);
        put_floats(&mut memory, AT[2], &b[..width as usize]);
        run(&spec, places(&spec), &mut memory).unwrap();
        for (at, found) in get_floats(&memory, AT[0], 24).into_iter().enumerate() {
            assert_eq!(found, a[at] + b[at % width as usize]);
            assert_ne!(found, f16::from_f32(found).to_f32());
        }
    }
}

/// Layer norm of a row in F64.
fn exact_norm(row: &[f32], gain: &[f32], shift: &[f32]) -> Vec<f64> {
    let count = row.len() as f64;
    let mean = row.iter().map(|&x| f64::from(x)).sum::<f64>() / count;
    let variance = row
        .iter()
        .map(|&x| (f64::from(x) - mean).powi(2))
        .sum::<f64>()
        / count;
    let factor = 1.0 / (variance + 1e-5).sqrt();
    let of = |((x, gain), shift): ((&f32, &f32), &f32)| {
        (f64::from(*x) - mean) * factor * f64::from(*gain) + f64::from(*shift)
    };
    row.iter().zip(gain).zip(shift).map(of).collect()
}

#[test]
fn layer_norm_follows_the_definition_with_and_without_the_residual() {
    let (rows, width) = (3_usize, 48_usize);
    let (x, residual) = (values(144, 14), values(144, 15));
    let (gain, shift) = (values(48, 16), values(48, 17));
    for add in [false, true] {
        let spec = KernelSpec::LayerNorm(LayerNorm {
            rows: 3,
            width: 48,
            add,
            epsilon: Scalar::new(1e-5),
            output: Output::F16,
        });
        let mut memory = TileMemory::new();
        let input: Vec<f32> = if add {
            for (place, values) in AT[2..].iter().zip([&x, &residual, &gain, &shift]) {
                put(&mut memory, *place, values);
            }
            let sum = |(a, b): (&f32, &f32)| f16::from_f32(a + b).to_f32();
            x.iter().zip(&residual).map(sum).collect()
        } else {
            for (place, values) in AT[1..].iter().zip([&x, &gain, &shift]) {
                put(&mut memory, *place, values);
            }
            x.clone()
        };
        run(&spec, places(&spec), &mut memory).unwrap();
        if add {
            assert_eq!(get(&memory, AT[1], rows * width), input);
        }
        let found = get(&memory, AT[0], rows * width);
        for (row, found) in input.chunks(width).zip(found.chunks(width)) {
            for (found, expected) in found.iter().zip(exact_norm(row, &gain, &shift)) {
                close((*found).into(), expected, 0.001, "norm");
            }
        }
    }
}

#[test]
fn parts_of_rows_norm_like_whole_rows() {
    let (rows, width, parts) = (3_usize, 16_usize, 3_usize);
    let x = values(rows * width * parts, 18);
    let (gain, shift) = (values(48, 19), values(48, 20));
    let part_of = |values: &[f32], part: usize| -> Vec<f32> {
        let row = |row: &[f32]| row[part * width..(part + 1) * width].to_vec();
        values.chunks(width * parts).flat_map(row).collect()
    };
    let mut all_moments = Vec::new();
    for part in 0..parts {
        let spec = KernelSpec::LayerNormMoments(LayerNormMoments {
            rows: 3,
            width: 16,
            add: false,
        });
        let mut memory = TileMemory::new();
        put(&mut memory, AT[1], &part_of(&x, part));
        run(&spec, places(&spec), &mut memory).unwrap();
        all_moments.extend(get_floats(&memory, AT[0], rows * 2));
    }
    for part in 0..parts {
        let spec = KernelSpec::LayerNormApply(LayerNormApply {
            rows: 3,
            width: 16,
            total_width: 48,
            parts: 3,
            epsilon: Scalar::new(1e-5),
        });
        let mut memory = TileMemory::new();
        put(&mut memory, AT[1], &part_of(&x, part));
        put_floats(&mut memory, AT[2], &all_moments);
        put(&mut memory, AT[3], &part_of(&gain, part));
        put(&mut memory, AT[4], &part_of(&shift, part));
        run(&spec, places(&spec), &mut memory).unwrap();
        let found = get(&memory, AT[0], rows * width);
        for (row, found) in x.chunks(width * parts).zip(found.chunks(width)) {
            let expected = exact_norm(row, &gain, &shift);
            let expected = &expected[part * width..(part + 1) * width];
            for (found, &expected) in found.iter().zip(expected) {
                close((*found).into(), expected, 0.001, "part");
            }
        }
    }
}

const SCALE: f32 = 0.75;

/// Scores of some rows times padded keys in AMP-left order.
fn scores(rows: usize, padded: usize, seed: u32) -> Vec<f32> {
    values(rows * padded, seed)
}

#[test]
fn softmax_weighs_the_real_keys_and_leaves_the_row_state() {
    let (rows, keys, padded) = (5_usize, 25_usize, 32_usize);
    let spec = KernelSpec::Softmax(Softmax {
        rows: 5,
        keys: 25,
        padded: 32,
        scale: Scalar::new(SCALE),
        output: Output::F16,
    });
    let x = scores(rows, padded, 21);
    let mut memory = TileMemory::new();
    // In place: the state lies behind the scores.
    put(&mut memory, AT[0], &x);
    run(&spec, &[AT[0], AT[0]], &mut memory).unwrap();
    let weights = get(&memory, AT[0], rows * padded);
    let state = AT[0] + u32::try_from(rows * padded * 2).unwrap();
    for row in 0..rows {
        let score = |key: usize| f64::from(x[left(rows, row, key, 16)]);
        let maximum = (0..keys).map(score).fold(f64::NEG_INFINITY, f64::max);
        let at = state + u32::try_from(32 * row).unwrap();
        let [top, sum] = get_floats(&memory, at, 2)[..] else {
            panic!("two words");
        };
        assert_eq!(f64::from(top), maximum * f64::from(SCALE));
        let mut total = 0.0;
        for key in 0..padded {
            let found = f64::from(weights[left(rows, row, key, 16)]);
            if key >= keys {
                assert_eq!(found, 0.0);
                continue;
            }
            total += found;
            let expected = ((score(key) - maximum) * f64::from(SCALE)).exp();
            close(found, expected, 0.002, "weight");
        }
        close(sum.into(), total, 1e-6, "sum");
    }
    let rest = memory.first_uninitialised(state, 12).unwrap();
    assert_eq!(rest, Some(state + 8), "only maximum and sum are written");
}

/// One block of online attention: scores and values to weights · values and the row state.
struct Block {
    x: Vec<f32>,
    v: Vec<f32>,
    keys: u32,
}

#[test]
fn merged_blocks_equal_attention_over_all_keys() {
    let (rows, columns, padded, block_keys) = (7_usize, 18_usize, 32_usize, 32_usize);
    let blocks: Vec<Block> = [(22, 32_u32), (23, 32), (24, 9)]
        .into_iter()
        .map(|(seed, keys)| Block {
            x: scores(rows, block_keys, seed),
            v: values(block_keys * padded, seed + 50),
            keys,
        })
        .collect();
    for half_output in [false, true] {
        let mut memory = TileMemory::new();
        let (state, out, weights, product) = (AT[4], AT[5], AT[0], AT[2]);
        for (at, block) in blocks.iter().enumerate() {
            let softmax = KernelSpec::Softmax(Softmax {
                rows: 7,
                keys: block.keys,
                padded: 32,
                scale: Scalar::new(SCALE),
                output: Output::F16,
            });
            put(&mut memory, AT[1], &block.x);
            run(&softmax, &[weights, AT[1]], &mut memory).unwrap();
            let gemm = KernelSpec::GemmF16 {
                rows: 7,
                inner: 32,
                columns: 32,
                accumulate: false,
                coefficients: MemoryClass::Interleaved,
            };
            put(&mut memory, AT[3], &block.v);
            run(&gemm, &[product, weights, AT[3]], &mut memory).unwrap();
            let (first, last) = (at == 0, at == 2);
            let merge = KernelSpec::Merge(Merge {
                rows: 7,
                columns: 18,
                padded: 32,
                first,
                last,
                half_output: half_output && last,
            });
            let row_state = weights + u32::try_from(rows * block_keys * 2).unwrap();
            let places = if last {
                vec![out, state, product, row_state]
            } else {
                vec![state, product, row_state]
            };
            run(&merge, &places, &mut memory).unwrap();
        }
        let found = if half_output {
            get(&memory, out, rows * columns)
        } else {
            get_floats(&memory, out, rows * columns)
        };
        for row in 0..rows {
            for column in 0..columns {
                let expected = exact_attention(&blocks, rows, row, column);
                let found = f64::from(found[row * columns + column]);
                close(found, expected, 0.004, "attention");
            }
        }
    }
}

#[test]
fn one_pass_over_all_blocks_equals_attention_over_all_keys() {
    let (rows, columns) = (7_usize, 18_usize);
    let blocks = [(32, 32_u32), (33, 32), (34, 9)].map(|(seed, keys)| Block {
        x: scores(rows, 32, seed),
        v: values(32 * 32, seed + 50),
        keys,
    });
    let mut memory = TileMemory::new();
    let mut places = vec![AT[6]];
    for (part, block) in (0..).zip(&blocks) {
        let softmax = KernelSpec::Softmax(Softmax {
            rows: 7,
            keys: block.keys,
            padded: 32,
            scale: Scalar::new(SCALE),
            output: Output::F16,
        });
        let (weights, product) = (AT[0] + 0x1000 * part, AT[2] + 0x1000 * part);
        put(&mut memory, AT[1], &block.x);
        run(&softmax, &[weights, AT[1]], &mut memory).unwrap();
        let gemm = KernelSpec::GemmF16 {
            rows: 7,
            inner: 32,
            columns: 32,
            accumulate: false,
            coefficients: MemoryClass::Interleaved,
        };
        put(&mut memory, AT[3], &block.v);
        run(&gemm, &[product, weights, AT[3]], &mut memory).unwrap();
        places.extend([product, weights + 7 * 32 * 2]);
    }
    for half_output in [false, true] {
        let merge = KernelSpec::MergeAll(MergeAll {
            rows: 7,
            columns: 18,
            padded: 32,
            parts: 3,
            half_output,
        });
        run(&merge, &places, &mut memory).unwrap();
        let found = if half_output {
            get(&memory, AT[6], rows * columns)
        } else {
            get_floats(&memory, AT[6], rows * columns)
        };
        for (at, &found) in found.iter().enumerate() {
            let expected = exact_attention(&blocks, rows, at / columns, at % columns);
            close(found.into(), expected, 0.004, "attention");
        }
    }
}

/// Softmax over all keys of all blocks times values, in F64.
fn exact_attention(blocks: &[Block], rows: usize, row: usize, column: usize) -> f64 {
    let keys = || {
        blocks.iter().flat_map(|block| {
            (0..block.keys as usize).map(move |key| {
                let score = f64::from(block.x[left(rows, row, key, 16)]) * f64::from(SCALE);
                let panel = (column / 16 * 2 + key / 16) * 16 + column % 16;
                (score, f64::from(block.v[panel * 16 + key % 16]))
            })
        })
    };
    let maximum = keys()
        .map(|(score, _)| score)
        .fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = keys().map(|(score, _)| (score - maximum).exp()).sum();
    keys()
        .map(|(score, value)| (score - maximum).exp() * value)
        .sum::<f64>()
        / sum
}

#[test]
fn casts_convert_each_element_and_panels_change_order() {
    let x = values(128, 25);
    let cast = |cast: Cast, fill: &dyn Fn(&mut TileMemory)| {
        let spec = KernelSpec::Cast(cast);
        let mut memory = TileMemory::new();
        fill(&mut memory);
        run(&spec, places(&spec), &mut memory).unwrap();
        memory
    };
    let halves = |memory: &mut TileMemory| put(memory, AT[1], &x);
    let elements = 128;
    let wide = cast(Cast::F16ToF32 { elements }, &halves);
    assert_eq!(get_floats(&wide, AT[0], 128), x);
    let odd: Vec<f32> = x.iter().map(|v| v * 1.0003).collect();
    let narrow = cast(Cast::F32ToF16 { elements }, &|memory| {
        put_floats(memory, AT[1], &odd)
    });
    let expected: Vec<f32> = odd.iter().map(|&v| f16::from_f32(v).to_f32()).collect();
    assert_eq!(get(&narrow, AT[0], 128), expected);
    let scale = 3;
    let flat = cast(Cast::F16ToF143 { elements, scale }, &halves);
    let codes: Vec<u8> = x
        .iter()
        .map(|&v| f143::encode(f64::from(v) / 8.0))
        .collect();
    assert_eq!(flat.read(AT[0], 128).unwrap(), codes);
    let back = cast(Cast::F143ToF16 { elements, scale }, &|memory| {
        memory.write(AT[1], &codes).unwrap();
    });
    let decoded: Vec<f32> = codes.iter().map(|&code| f143::decode(code) * 8.0).collect();
    assert_eq!(get(&back, AT[0], 128), decoded);
    let panels = Cast::F16ToF143Panels {
        rows: 2,
        panels: 2,
        scale,
    };
    let packed = cast(panels, &halves);
    let packed = packed.read(AT[0], 128).unwrap();
    for row in 0..2 {
        for column in 0..64 {
            let expected = codes[left(2, row, column, 16)];
            assert_eq!(packed[left(2, row, column, 32)], expected, "{row} {column}");
        }
    }
}

#[test]
fn stochastic_casts_depend_on_seed_tile_call_and_element_alone() {
    let spec = KernelSpec::Cast(Cast::F32ToF16 { elements: 512 });
    let value = 1.0 + 0.25 / 1024.0;
    let cast = |rounder: Rounder| {
        let mut memory = TileMemory::new();
        put_floats(&mut memory, AT[1], &[value; 512]);
        execute_call(
            Engine::detect(),
            &spec,
            places(&spec),
            &rounder,
            &mut memory,
        )
        .unwrap();
        get(&memory, AT[0], 512)
    };
    let first = cast(Rounder::stochastic(1, 2, 3));
    assert_eq!(first, cast(Rounder::stochastic(1, 2, 3)));
    assert_ne!(first, cast(Rounder::stochastic(1, 2, 4)));
    let up = first.iter().filter(|&&v| v > 1.0).count();
    assert!(
        (90..170).contains(&up),
        "{up} of 512 rounded up, a quarter is 128"
    );
}

#[test]
fn rearrangements_move_every_element_and_write_zero_padding() {
    let (rows, columns, stride) = (18_usize, 20_usize, 24_usize);
    let (padded_rows, padded_columns) = (32, 32);
    let right = |inner_extent: usize, inner: usize, column: usize| {
        ((column / 16 * (inner_extent / 16) + inner / 16) * 16 + column % 16) * 16 + inner % 16
    };
    for order in [
        Order::PackLeft,
        Order::PackRight,
        Order::PackTransposedRight,
    ] {
        let spec = KernelSpec::Rearrange(Rearrange {
            order,
            matrices: 2,
            rows: 18,
            columns: 20,
            stride: 24,
        });
        let x = values(2 * rows * stride, 26);
        let mut memory = TileMemory::new();
        put(&mut memory, AT[1], &x);
        run(&spec, places(&spec), &mut memory).unwrap();
        let size = match order {
            Order::PackLeft => rows * padded_columns,
            _ => padded_rows * padded_columns,
        };
        let found = get(&memory, AT[0], 2 * size);
        let mut expected = vec![0.0; 2 * size];
        for (at, value) in x.iter().enumerate() {
            let (matrix, row, column) = (at / (rows * stride), at / stride % rows, at % stride);
            if column < columns {
                let to = match order {
                    Order::PackLeft => left(rows, row, column, 16),
                    Order::PackRight => right(padded_rows, row, column),
                    _ => right(padded_columns, column, row),
                };
                expected[matrix * size + to] = *value;
            }
        }
        assert_eq!(found, expected, "{order:?}");
    }
}

#[test]
fn unpacking_is_the_inverse_and_leaves_what_lies_between_rows() {
    let (rows, columns, stride) = (18_usize, 20_usize, 24_usize);
    for order in [Order::UnpackLeft, Order::UnpackTransposed] {
        let size = match order {
            Order::UnpackLeft => rows * 32,
            _ => 32 * columns,
        };
        let x = values(size, 27);
        let spec = KernelSpec::Rearrange(Rearrange {
            order,
            matrices: 1,
            rows: 18,
            columns: 20,
            stride: 24,
        });
        let mut memory = TileMemory::new();
        put(&mut memory, AT[0], &vec![9.0; rows * stride]);
        put(&mut memory, AT[1], &x);
        run(&spec, places(&spec), &mut memory).unwrap();
        for (at, found) in get(&memory, AT[0], rows * stride).into_iter().enumerate() {
            let (row, column) = (at / stride, at % stride);
            let expected = match order {
                _ if column >= columns => 9.0,
                Order::UnpackLeft => x[left(rows, row, column, 16)],
                _ => x[(row / 16 * columns + column) * 16 + row % 16],
            };
            assert_eq!(found, expected, "{order:?} {row} {column}");
        }
    }
    let spec = KernelSpec::Rearrange(Rearrange {
        order: Order::LeftToRight,
        matrices: 1,
        rows: 32,
        columns: 16,
        stride: 16,
    });
    let x = values(512, 28);
    let mut memory = TileMemory::new();
    put(&mut memory, AT[1], &x);
    run(&spec, places(&spec), &mut memory).unwrap();
    for (at, found) in get(&memory, AT[0], 512).into_iter().enumerate() {
        let (panel, column, inner) = (at / 256, at / 16 % 16, at % 16);
        assert_eq!(found, x[left(32, panel * 16 + inner, column, 16)]);
    }
}
