//! The program that a generated profile pretends to have run: kernels, their work, and its steps.

use crate::profile::{SampleKind, StepDescriptor, WorkEstimate};
use crate::units::Work;

/// A kernel of the pretended program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    role: &'static str,
    basis: &'static str,
    /// Cycles of an undisturbed call.
    pub(crate) cycles: u32,
    /// Useful and physical work in 1/256 of `cycles`; `None` is unavailable.
    work: Option<(u32, u32)>,
}

const GEMM: &str = "GEMM FLOP / 128";
const ADDS: &str = "adds / 4";
const MOVES: &str = "bytes / 4";

const fn kernel(
    name: &'static str,
    role: &'static str,
    basis: &'static str,
    cycles: u32,
    work: Option<(u32, u32)>,
) -> Kernel {
    Kernel {
        name,
        role,
        basis,
        cycles,
        work,
    }
}

/// The kernels, in the order in which a block calls them; shapes and shares are made up.
pub(crate) const KERNELS: [Kernel; 26] = [
    kernel(
        "layernorm_f16",
        "norm",
        "5 per value",
        1_866,
        Some((118, 120)),
    ),
    kernel("gemm_f16_qkv_k384", "gemm", GEMM, 9_210, Some((218, 224))),
    kernel("gemm_f16_qkv_tail", "gemm", GEMM, 4_614, Some((140, 208))),
    kernel("add_bias_f16", "add", ADDS, 642, Some((131, 131))),
    kernel("unpack_amp_full", "rearrange", MOVES, 1_218, Some((22, 22))),
    kernel("unpack_amp_tail", "rearrange", MOVES, 438, Some((11, 19))),
    kernel("pack_left_k80", "rearrange", MOVES, 1_554, Some((60, 66))),
    kernel("gemm_f16_qk_k80", "gemm", GEMM, 3_402, Some((33, 39))),
    kernel(
        "softmax_full",
        "softmax",
        "4 per key + 5 per row",
        2_286,
        Some((132, 132)),
    ),
    kernel(
        "softmax_tail",
        "softmax",
        "4 per key + 5 per row",
        1_170,
        Some((96, 110)),
    ),
    kernel("gemm_f16_pv_c80", "gemm", GEMM, 3_372, Some((33, 38))),
    kernel("merge_rows_f16", "merge", "", 1_086, None),
    kernel("gemm_f16_projection", "gemm", GEMM, 6_144, Some((185, 187))),
    kernel("reduce_sum_f16_2", "reduce", ADDS, 462, Some((64, 64))),
    kernel("reduce_sum_f16_8", "reduce", ADDS, 1_014, Some((150, 154))),
    kernel("add_residual_f16", "add", ADDS, 540, Some((120, 120))),
    kernel(
        "layernorm_f16_tail",
        "norm",
        "5 per value",
        978,
        Some((90, 104)),
    ),
    kernel("gemm_f16_mlp_up", "gemm", GEMM, 12_306, Some((225, 228))),
    kernel(
        "gelu_f16",
        "gelu",
        "12 per four values",
        2_880,
        Some((140, 140)),
    ),
    kernel(
        "gelu_f16_tail",
        "gelu",
        "12 per four values",
        1_350,
        Some((99, 131)),
    ),
    kernel("gemm_f16_mlp_down", "gemm", GEMM, 11_940, Some((228, 230))),
    kernel(
        "gemm_f16_mlp_remainder",
        "gemm",
        GEMM,
        5_190,
        Some((160, 200)),
    ),
    kernel(
        "reduce_sum_f32_4",
        "reduce",
        "adds / 2",
        894,
        Some((128, 128)),
    ),
    kernel("cast_f32_f16", "cast", "values / 2", 426, Some((115, 115))),
    kernel("zero_fill", "fill", "padding only", 294, Some((0, 0))),
    kernel("copy_local_64", "copy", "", 318, None),
];

/// Supersteps of one block; the program repeats the block.
pub(crate) const BLOCK: usize = 13;
/// The same, as a part of superstep numbers.
pub(crate) const BLOCK_STEPS: u32 = 13;

/// What the device does in one superstep of a block: most tiles call one kernel, some another; some
/// supersteps have a second compute phase, in which most tiles call a third one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Superstep {
    pub(crate) main: usize,
    pub(crate) other: usize,
    pub(crate) then: Option<usize>,
    operation: &'static str,
}

const fn superstep(
    main: usize,
    other: usize,
    then: Option<usize>,
    operation: &'static str,
) -> Superstep {
    Superstep {
        main,
        other,
        then,
        operation,
    }
}

/// The block.
pub(crate) const PROGRAM: [Superstep; BLOCK] = [
    superstep(0, 16, None, "norm 1"),
    superstep(1, 2, Some(3), "QKV projection"),
    superstep(4, 5, None, "split heads"),
    superstep(6, 25, None, "pack queries"),
    superstep(7, 24, Some(8), "attention scores"),
    superstep(10, 9, None, "attention values"),
    superstep(11, 25, None, "merge heads"),
    superstep(12, 13, None, "output projection"),
    superstep(15, 14, None, "residual 1"),
    superstep(17, 21, None, "MLP up"),
    superstep(18, 19, None, "MLP GeLU"),
    superstep(20, 22, None, "MLP down"),
    superstep(15, 23, None, "residual 2"),
];

/// A step of superstep `number`: its exchange and the wait before it share one phase, each of its
/// compute phases has its own.
fn step(number: u32, phase: u32, kind: SampleKind, operation: String) -> StepDescriptor {
    StepDescriptor {
        kind,
        phase: 3 * number + phase,
        epoch: number,
        operation,
        kernel: String::new(),
        exchange_event_cycles: 0,
        metadata: Vec::new(),
        estimate: None,
    }
}

fn pair(name: &str, value: impl std::fmt::Display) -> (String, String) {
    (name.to_owned(), value.to_string())
}

fn operation(number: u32) -> String {
    let layer = number as usize / BLOCK;
    format!(
        "layer {layer} {}",
        PROGRAM[number as usize % BLOCK].operation
    )
}

/// The wait before the exchange of a superstep.
pub(crate) fn synchronization(number: u32) -> StepDescriptor {
    let next = KERNELS[PROGRAM[number as usize % BLOCK].main].name;
    let name = format!("sync before {}", operation(number));
    let metadata = vec![pair("next_kernel", next)];
    StepDescriptor {
        metadata,
        ..step(number, 0, SampleKind::Synchronization, name)
    }
}

/// The exchange of a superstep.
pub(crate) fn exchange(number: u32, horizon: u32) -> StepDescriptor {
    let name = format!("exchange for {}", operation(number));
    let metadata = vec![
        pair("receive_bytes", u64::from(horizon) * 4),
        pair(
            "next_kernel",
            KERNELS[PROGRAM[number as usize % BLOCK].main].name,
        ),
    ];
    StepDescriptor {
        exchange_event_cycles: horizon,
        metadata,
        ..step(number, 0, SampleKind::Exchange, name)
    }
}

/// A kernel call in compute phase 0 or 1 of a superstep.
pub(crate) fn compute(number: u32, phase: u32, kernel: &Kernel) -> StepDescriptor {
    let layer = number as usize / BLOCK;
    let share = |of: u32| Work::from_256ths(u64::from(of) * u64::from(kernel.cycles));
    StepDescriptor {
        kernel: kernel.name.to_owned(),
        metadata: vec![
            pair("role", kernel.role),
            pair("layer", layer),
            pair("block", number as usize % BLOCK),
            pair("worker_count", 6),
        ],
        estimate: kernel.work.map(|(useful, physical)| WorkEstimate {
            useful: share(useful),
            physical: share(physical),
            basis: kernel.basis.to_owned(),
        }),
        ..step(number, 1 + phase, SampleKind::Compute, operation(number))
    }
}

/// The wait of a tile without kernel in compute phase 0 or 1 of a superstep.
pub(crate) fn idle(number: u32, phase: u32) -> StepDescriptor {
    step(
        number,
        1 + phase,
        SampleKind::Idle,
        format!("idle during {}", operation(number)),
    )
}
