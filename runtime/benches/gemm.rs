//! The products of a SigLIP-sized MLP on all 1,472 tiles: twice the shape of its first product,
//! 366 × 144 × 48 a tile, 14.9 GFLOP (the block has 14.5) rounded to F16 after every 16 inner
//! values; with numbers and counting cycles only.

use std::hint::black_box;

use analytics::units::{PhysicalTile, TileId};
use criterion::{Criterion, criterion_group, criterion_main};
use runtime::package::{
    AffineLoop, AffinePattern, Binding, Call, CallTemplate, ComputePhase, DType, Fill, KernelSpec,
    MemoryClass, Package, ScheduleItem, Target, Tensor, TensorRole, TileProgram,
};
use runtime::{RunOptions, run};

const TILES: u16 = 1472;
const ROWS: u32 = 366;
const INNER: u32 = 144;
const COLUMNS: u32 = 48;
const OUT: u32 = 0x8_0000;
const LEFT: u32 = 0x9_0000;
const RIGHT: u32 = 0xC_0000;

fn package() -> Package {
    let kernel = KernelSpec::GemmF16 {
        rows: ROWS,
        inner: INNER,
        columns: COLUMNS,
        accumulate: false,
        coefficients: MemoryClass::Interleaved,
    };
    let call = Call {
        phase: 0,
        template: 0,
        operands: vec![OUT, LEFT, RIGHT],
    };
    let binding = |tensor, tile, address| Binding {
        tensor,
        tile: TileId::new(tile),
        address,
        element: 0,
        pattern: tensor,
    };
    Package {
        target: Target {
            machine: "ipu21".to_owned(),
            clock_hz: 1_500_000_000,
            tile_mapping: (0..u32::from(TILES)).map(PhysicalTile::new).collect(),
        },
        tensors: vec![tensor("left", ROWS, INNER), tensor("right", INNER, COLUMNS)],
        patterns: vec![left_panels(), right_blocks()],
        bindings: (0..TILES)
            .flat_map(|t| [binding(0, t, LEFT), binding(1, t, RIGHT)])
            .collect(),
        schedule: vec![ScheduleItem::Compute(0)],
        compute_phases: vec![ComputePhase::default()],
        call_templates: vec![CallTemplate {
            kernel,
            symbol: "gemm".to_owned(),
            metadata: Vec::new(),
            estimate: None,
        }],
        tiles: vec![
            TileProgram {
                calls: vec![call.clone(), call],
                ..TileProgram::default()
            };
            usize::from(TILES)
        ],
        ..Package::default()
    }
}

fn tensor(name: &str, rows: u32, columns: u32) -> Tensor {
    Tensor {
        name: name.to_owned(),
        dtype: DType::F16,
        shape: vec![u64::from(rows), u64::from(columns)],
        role: TensorRole::Input,
        fill: Fill::Gaussian {
            seed: 1,
            sigma: 0.25,
        },
    }
}

fn level(count: u32, tensor_stride: u32, memory_stride: i32) -> AffineLoop {
    AffineLoop {
        count,
        tensor_stride: i64::from(tensor_stride),
        memory_stride,
    }
}

/// Column panels of 16, rows inside.
fn left_panels() -> AffinePattern {
    let panel = i32::try_from(ROWS * 32).expect("a small panel");
    AffinePattern {
        loops: vec![
            level(INNER / 16, 16, panel),
            level(ROWS, INNER, 32),
            level(16, 1, 2),
        ],
    }
}

/// Column groups of 16, inner panels of 16 inside, each column's inner values together.
fn right_blocks() -> AffinePattern {
    let group = i32::try_from(INNER * 32).expect("a small group");
    AffinePattern {
        loops: vec![
            level(COLUMNS / 16, 16, group),
            level(INNER / 16, 16 * COLUMNS, 512),
            level(16, 1, 32),
            level(16, COLUMNS, 2),
        ],
    }
}

fn phase(criterion: &mut Criterion) {
    let package = package();
    let mut group = criterion.benchmark_group("mlp products");
    group.sample_size(10);
    for timing_only in [false, true] {
        let options = RunOptions {
            timing_only,
            ..RunOptions::default()
        };
        let name = if timing_only {
            "cycles only"
        } else {
            "with numbers"
        };
        group.bench_function(name, |bencher| {
            bencher.iter(|| run(black_box(&package), &options, &mut |_| ()).expect("a valid run"));
        });
    }
    group.finish();
}

criterion_group!(benches, phase);
criterion_main!(benches);
