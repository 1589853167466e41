//! Stochastic rounding of every kernel with F16 results, bit by bit against the rule written
//! plainly: neighbours by search, shares in F64, one draw an instruction and element.

use half::f16;

use super::{get, put};
use crate::host::{f143, narrow_f32};
use crate::kernels::{Engine, Rounder, execute as execute_call};
use crate::machine::memory::TileMemory;
use crate::package::{
    Add, Address, BiasGelu, Cast, Gelu, Gemm, KernelSpec, LayerNorm, MemoryClass, Merge, Output,
    Scalar, Softmax,
};

/// Seed, tile and call of every run here.
const SEED: u64 = 11;
const TILE: u16 = 5;
const CALL: u64 = 7;
/// Places for operands, each in an element of its own.
const AT: [Address; 6] = [0x8_0000, 0x9_0000, 0xA_0000, 0xB_0000, 0xC_0000, 0xD_0000];

/// SplitMix64's finaliser, from its publication.
fn spread(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The random bits of a panel, or instruction, and element.
fn random(panel: u64, element: usize) -> u64 {
    let tile = spread(SEED ^ spread(u64::from(TILE) + 1));
    let call = spread(tile ^ spread(CALL));
    spread(spread(call ^ spread(panel)) ^ spread(element as u64))
}

/// One of the two F16 around a value: the farther one from zero where share and draw reach one.
fn rounded(value: f32, random: u64) -> f16 {
    let magnitude = f64::from(value.abs());
    if magnitude == 0.0 || !magnitude.is_finite() || magnitude >= 65_536.0 {
        return f16::from_f32(value);
    }
    let finite = || (0..=0x7BFF_u16).map(f16::from_bits);
    let below = finite().rfind(|x| x.to_f64() <= magnitude).unwrap();
    let away = f16::from_bits(below.to_bits() + 1);
    let top = if away.is_finite() {
        away.to_f64()
    } else {
        65_536.0
    };
    let share = (magnitude - below.to_f64()) / (top - below.to_f64());
    // A draw has as many bits as F32 has beyond the F16 step here.
    let exponent = magnitude.log2().floor();
    let bits = 13.0 + (-14.0 - exponent).max(0.0);
    if bits > 31.0 {
        return f16::from_f32(value);
    }
    let draw = (random as f64 / 2_f64.powi(64) * bits.exp2()).floor() / bits.exp2();
    let result = if share + draw >= 1.0 { away } else { below };
    if value.is_sign_negative() {
        -result
    } else {
        result
    }
}

/// An element that is rounded by one instruction after the other.
struct Plain {
    element: usize,
    instruction: u64,
}

impl Plain {
    fn new(element: usize) -> Self {
        Self {
            element,
            instruction: 0,
        }
    }

    fn round(&mut self, value: f32) -> f32 {
        let random = random(self.instruction, self.element);
        self.instruction += 1;
        rounded(value, random).to_f32()
    }

    fn gelu(&mut self, value: f32) -> f32 {
        let half = |x: f32| f16::from_f32(x).to_f32();
        let x = value.clamp(-8.0, 8.0);
        let square = self.round(x * x);
        let cubic = self.round(square * half(0.044_715));
        let factor = self.round(cubic + 1.0);
        let scaled = self.round(x * factor);
        let inner = self.round(scaled * half(0.797_884_6));
        let tanh = self.round(narrow_f32(f64::from(inner).tanh()));
        let halved = self.round(tanh * 0.5);
        let gate = self.round(halved + 0.5);
        self.round(value * gate)
    }
}

/// Reproducible F16 values of a few units.
fn values(count: usize, seed: u64) -> Vec<f32> {
    let unit = |i: usize| (spread(seed << 32 ^ i as u64) >> 11) as f64 / 2_f64.powi(53);
    (0..count)
        .map(|i| f16::from_f64(unit(i) * 6.0 - 3.0).to_f32())
        .collect()
}

/// AMP-left position with panels of 16.
fn left(rows: usize, row: usize, column: usize) -> usize {
    (column / 16 * rows + row) * 16 + column % 16
}

/// Runs one call on operands that are filled first, with each engine; both give the same memory.
fn run(spec: KernelSpec, operands: &[Address], fill: impl Fn(&mut TileMemory)) -> TileMemory {
    let [fast, slow] = [Engine::detect(), Engine::plain()].map(|engine| {
        let mut memory = TileMemory::new();
        fill(&mut memory);
        let rounder = Rounder::stochastic(SEED, TILE, CALL);
        execute_call(engine, &spec, operands, &rounder, &mut memory).unwrap();
        memory
    });
    let result = |memory: &TileMemory| memory.read(operands[0], 0x4000).unwrap().to_vec();
    assert_eq!(result(&fast), result(&slow), "{spec:?}");
    fast
}

/// Fails where a result is not the expected one, and where no element was rounded away from the
/// nearest.
fn check(found: &[f32], expected: &[f32], nearest: &[f32]) {
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found.to_bits(), expected.to_bits(), "element {at}");
    }
    assert_eq!(found.len(), expected.len());
    assert_ne!(found, nearest, "rounding to nearest gives the same");
}

/// The same call with rounding to nearest.
fn nearest(
    spec: KernelSpec,
    operands: &[Address],
    fill: impl Fn(&mut TileMemory),
    count: usize,
) -> Vec<f32> {
    let mut memory = TileMemory::new();
    fill(&mut memory);
    super::run(&spec, operands, &mut memory).unwrap();
    get(&memory, operands[0], count)
}

/// Runs a call with F16 results in both ways and compares it with what is expected.
fn compare(
    spec: KernelSpec,
    operands: &[Address],
    fill: impl Fn(&mut TileMemory),
    expected: &[f32],
) {
    let found = get(&run(spec, operands, &fill), operands[0], expected.len());
    check(
        &found,
        expected,
        &nearest(spec, operands, &fill, expected.len()),
    );
}

#[test]
fn gelu_rounds_each_of_its_instructions() {
    let (x, bias) = (values(96, 1), values(24, 2));
    let fill = |memory: &mut TileMemory| {
        put(memory, AT[1], &x);
        put(memory, AT[2], &bias);
    };
    let (rows, width, output) = (4, 24, Output::F16);
    let gelu = Gelu {
        rows,
        width,
        output,
    };
    let expected: Vec<f32> = (0..96).map(|at| Plain::new(at).gelu(x[at])).collect();
    compare(KernelSpec::Gelu(gelu), &AT[..2], fill, &expected);
    let biased = BiasGelu {
        rows,
        width,
        output,
    };
    let one = |at: usize| {
        let mut lane = Plain::new(at);
        let sum = lane.round(x[at] + bias[at % 24]);
        lane.gelu(sum)
    };
    let expected: Vec<f32> = (0..96).map(one).collect();
    compare(KernelSpec::BiasGelu(biased), &AT[..3], fill, &expected);
}

#[test]
fn f143_results_are_rounded_after_their_f16_values() {
    let x = values(96, 3);
    let scale = -1;
    let output = Output::F143 {
        scale,
        packed: false,
    };
    let gelu = Gelu {
        rows: 3,
        width: 32,
        output,
    };
    let fill = |memory: &mut TileMemory| put(memory, AT[1], &x);
    let memory = run(KernelSpec::Gelu(gelu), &AT[..2], fill);
    let code = |at: usize| {
        let value = f64::from(Plain::new(at).gelu(x[at])) * 2.0;
        f143::encode_stochastic(value, random(0, at))
    };
    let expected: Vec<u8> = (0..96).map(code).collect();
    assert_eq!(memory.read(AT[0], 96).unwrap(), expected);
}

#[test]
fn adds_round_each_sum() {
    let (a, b) = (values(64, 4), values(64, 5));
    let fill = |memory: &mut TileMemory| {
        put(memory, AT[1], &a);
        put(memory, AT[2], &b);
    };
    for (rows, width) in [(1_u32, 64_u32), (4, 16)] {
        let sum = |at: usize| Plain::new(at).round(a[at] + b[at % width as usize]);
        let expected: Vec<f32> = (0..64).map(sum).collect();
        let add = KernelSpec::Add(Add { rows, width });
        compare(add, &AT[..3], fill, &expected);
    }
}

#[test]
fn reductions_round_after_each_partial() {
    let (partials, elements) = (5_u32, 40_u32);
    let x = values(200, 6);
    let sum = |at: usize| {
        let mut lane = Plain::new(at);
        (1..5).fold(x[at], |sum, partial| lane.round(sum + x[partial * 40 + at]))
    };
    let expected: Vec<f32> = (0..40).map(sum).collect();
    let reduce = KernelSpec::ReduceSumF16 { partials, elements };
    compare(reduce, &AT[..2], |memory| put(memory, AT[1], &x), &expected);
}

#[test]
fn softmax_rounds_the_scaled_difference_and_the_exponential() {
    let (rows, keys, padded, scale) = (5_usize, 25_usize, 32_usize, 0.7_f32);
    let x = values(rows * padded, 7);
    let softmax = |output| {
        KernelSpec::Softmax(Softmax {
            rows: 5,
            keys: 25,
            padded: 32,
            scale: Scalar::new(scale),
            output,
        })
    };
    let fill = |memory: &mut TileMemory| put(memory, AT[1], &x);
    let mut expected = vec![0.0; rows * padded];
    let mut states = Vec::new();
    for row in 0..rows {
        let score = |key: usize| x[left(rows, row, key)];
        let maximum = (0..keys).map(score).fold(f32::MIN, f32::max);
        let mut sum = 0.0;
        for key in 0..keys {
            let at = left(rows, row, key);
            let mut lane = Plain::new(at);
            let exponent = lane.round((score(key) - maximum) * scale);
            expected[at] = lane.round(narrow_f32(f64::from(exponent).exp()));
            sum += expected[at];
        }
        states.push([maximum * scale, sum]);
    }
    compare(softmax(Output::F16), &AT[..2], fill, &expected);
    let memory = run(softmax(Output::F16), &AT[..2], fill);
    for (row, state) in (0..).zip(&states) {
        let bytes = memory.read(AT[0] + 5 * 64 + 32 * row, 8).unwrap();
        let wanted: Vec<u8> = state.iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(bytes, wanted, "row {row}");
    }
    let packed = Output::F143 {
        scale: -4,
        packed: true,
    };
    let memory = run(softmax(packed), &AT[..2], fill);
    let codes = memory.read(AT[0], 160).unwrap();
    for row in 0..rows {
        for key in 0..padded {
            let at = row * 32 + key;
            let value = f64::from(expected[left(rows, row, key)]) * 16.0;
            let code = f143::encode_stochastic(value, random(0, at));
            assert_eq!(codes[at], code, "row {row} key {key}");
        }
    }
}

#[test]
fn products_round_each_panel() {
    let (rows, inner, columns) = (7_usize, 48_usize, 32_usize);
    let (a, b, start) = (
        values(rows * inner, 8),
        values(inner * columns, 9),
        values(rows * columns, 10),
    );
    let fill = |memory: &mut TileMemory| {
        put(memory, AT[0], &start);
        put(memory, AT[1], &a);
        put(memory, AT[2], &b);
    };
    let mut expected = start.clone();
    for row in 0..rows {
        for column in 0..columns {
            let at = left(rows, row, column);
            for panel in 0..3 {
                let mut sum = expected[at];
                for k in 0..16 {
                    let block = (column / 16 * 3 + panel) * 256 + column % 16 * 16;
                    sum += a[left(rows, row, panel * 16 + k)] * b[block + k];
                }
                expected[at] = rounded(sum, random(panel as u64, at)).to_f32();
            }
        }
    }
    let gemm = KernelSpec::GemmF16 {
        rows: 7,
        inner: 48,
        columns: 32,
        accumulate: true,
        coefficients: MemoryClass::Interleaved,
    };
    compare(gemm, &AT[..3], fill, &expected);
    let packed = KernelSpec::GemmPackedF16(Gemm {
        rows: 7,
        inner: 48,
        columns: 32,
        accumulate: true,
        coefficients: MemoryClass::Interleaved,
    });
    // Fewer than 16 rows are one group, in the native order.
    compare(packed, &AT[..3], fill, &expected);
}

#[test]
fn norms_round_the_residual_sum_and_the_result() {
    let (rows, width) = (2_usize, 16_usize);
    let [x, residual, gain, shift] = [11, 12, 13, 14].map(|seed| values(rows * width, seed));
    let fill = |memory: &mut TileMemory| {
        for (place, values) in AT[2..].iter().zip([&x, &residual, &gain, &shift]) {
            put(memory, *place, values);
        }
    };
    let norm = KernelSpec::LayerNorm(LayerNorm {
        rows: 2,
        width: 16,
        add: true,
        epsilon: Scalar::new(1e-5),
        output: Output::F16,
    });
    let sum = |at: usize| rounded(x[at] + residual[at], random(0, at)).to_f32();
    let sums: Vec<f32> = (0..rows * width).map(sum).collect();
    let memory = run(norm, &AT, fill);
    assert_eq!(get(&memory, AT[1], rows * width), sums);
    let mut expected = Vec::new();
    for row in sums.chunks(width) {
        let mean = row.iter().sum::<f32>() / 16.0;
        let squares: f32 = row.iter().map(|x| (x - mean) * (x - mean)).sum();
        let factor = (squares / 16.0 + 1e-5).sqrt().recip();
        for (column, x) in row.iter().enumerate() {
            let value = ((x - mean) * factor) * gain[column] + shift[column];
            let at = expected.len();
            expected.push(rounded(value, random(1, at)).to_f32());
        }
    }
    compare(norm, &AT, fill, &expected);
}

#[test]
fn casts_and_half_results_of_merges_round_once() {
    let wide: Vec<f32> = values(64, 15).iter().map(|x| x * 1.000_3).collect();
    let floats = |memory: &mut TileMemory, place, values: &[f32]| {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        memory.write(place, &bytes).unwrap();
    };
    let once = |at: usize, value: f32| rounded(value, random(0, at)).to_f32();
    let expected: Vec<f32> = wide
        .iter()
        .enumerate()
        .map(|(at, &v)| once(at, v))
        .collect();
    let cast = KernelSpec::Cast(Cast::F32ToF16 { elements: 64 });
    compare(
        cast,
        &AT[..2],
        |memory| floats(memory, AT[1], &wide),
        &expected,
    );
    let merge = KernelSpec::Merge(Merge {
        rows: 3,
        columns: 16,
        padded: 16,
        first: true,
        last: true,
        half_output: true,
    });
    let block = values(48, 16);
    let sums = [3.1_f32, 4.7, 5.9];
    let fill = |memory: &mut TileMemory| {
        put(memory, AT[1], &block);
        for (row, sum) in (0..).zip(sums) {
            floats(memory, AT[2] + 32 * row, &[0.5, sum]);
        }
        // The rest of a row's state holds nothing.
    };
    let quotient = |at: usize| once(at, block[at] / sums[at / 16]);
    let expected: Vec<f32> = (0..48).map(quotient).collect();
    compare(merge, &AT[..3], fill, &expected);
}
