//! The codec against itself and against damage, and every rule of a package broken on its own.

use analytics::profile::WorkEstimate;
use analytics::units::{PhysicalTile, TileId, Work};
use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

/// A small package that uses every part of the model.
fn sample() -> Package {
    Package {
        target: target(),
        manifest: manifest(),
        tensors: vec![
            tensor(
                "left",
                TensorRole::Input,
                Fill::Gaussian {
                    seed: u64::MAX,
                    sigma: 0.5,
                },
            ),
            tensor(
                "right",
                TensorRole::Parameter,
                Fill::OneHot { batch_step: 7 },
            ),
            tensor("bias", TensorRole::Parameter, Fill::Cycle { row_step: 3 }),
            tensor("out", TensorRole::Output, Fill::Constant(0.0)),
        ],
        patterns: vec![AffinePattern {
            loops: vec![
                AffineLoop {
                    count: 4,
                    tensor_stride: 16,
                    memory_stride: 32,
                },
                AffineLoop {
                    count: 16,
                    tensor_stride: 1,
                    memory_stride: 2,
                },
            ],
        }],
        bindings: vec![Binding {
            tensor: 0,
            tile: TileId::new(1),
            address: 0x8_0000,
            element: 0,
            pattern: 0,
        }],
        schedule: vec![
            ScheduleItem::Exchange(0),
            ScheduleItem::Repeat {
                count: 3,
                body: vec![ScheduleItem::Compute(0), ScheduleItem::Exchange(1)],
            },
        ],
        exchanges: exchanges(),
        compute_phases: vec![ComputePhase {
            operation: "gemm".to_owned(),
            role: "multiply".to_owned(),
            region: String::new(),
        }],
        call_templates: templates(),
        tiles: vec![program(), TileProgram::default(), TileProgram::default()],
        allocations: vec![Allocation {
            tile: TileId::new(2),
            range: MemoryRange {
                address: 0x8_0000,
                bytes: 128,
            },
            class: MemoryClass::Interleaved,
            label: "left".to_owned(),
            first: 0,
            last: u32::MAX,
        }],
    }
}

fn target() -> Target {
    Target {
        machine: "ipu21".to_owned(),
        clock_hz: 1_500_000_000,
        tile_mapping: vec![
            PhysicalTile::new(0),
            PhysicalTile::new(2),
            PhysicalTile::new(64),
        ],
    }
}

fn manifest() -> Manifest {
    Manifest {
        workload: "sample".to_owned(),
        flags: vec![("tiles".to_owned(), "3".to_owned())],
        plan: vec!["0:1x1x1".to_owned()],
        kernel_generation: "2026-09-13".to_owned(),
        host_bytes: 128,
        replicated_host_bytes: 256,
        ..Manifest::default()
    }
}

fn tensor(name: &str, role: TensorRole, fill: Fill) -> Tensor {
    Tensor {
        name: name.to_owned(),
        dtype: DType::F16,
        shape: vec![4, 16],
        role,
        fill,
    }
}

fn exchanges() -> Vec<Exchange> {
    let exchange = |deliveries| Exchange {
        operation: "gemm operands".to_owned(),
        region: "body".to_owned(),
        event_cycles: 77,
        deliveries,
        source_steps: vec![SourceStep {
            delivery: 0,
            bytes: -64,
        }],
    };
    let deliver = |source, destinations: Vec<(u16, u32)>| Delivery {
        source: TileId::new(source),
        source_address: 0x8_0000,
        bytes: 32,
        destinations: destinations
            .into_iter()
            .map(|(t, a)| (TileId::new(t), a))
            .collect(),
    };
    vec![
        exchange(vec![deliver(0, vec![(1, 0x9_0000), (2, 0x9_0000)])]),
        exchange(vec![
            deliver(1, vec![(0, 0x9_0020)]),
            deliver(2, vec![(1, 0xE_7FE0)]),
        ]),
    ]
}

fn templates() -> Vec<CallTemplate> {
    let gemm = KernelSpec::GemmF16 {
        rows: 4,
        inner: 16,
        columns: 16,
        accumulate: true,
        coefficients: MemoryClass::Interleaved,
    };
    let estimate = WorkEstimate {
        useful: Work::from_256ths(77),
        physical: Work::from_cycles(16),
        basis: "GEMM FLOP / 128".to_owned(),
    };
    vec![
        template(gemm, Some(estimate)),
        template(
            KernelSpec::ReduceSumF16 {
                partials: 2,
                elements: 8,
            },
            None,
        ),
        template(KernelSpec::ZeroFill { bytes: 8 }, None),
        template(KernelSpec::Copy { bytes: 16 }, None),
    ]
    .into_iter()
    .chain(
        every_kernel()
            .into_iter()
            .map(|kernel| template(kernel, None)),
    )
    .collect()
}

/// Each kernel and each value of its options once, with extents that differ.
fn every_kernel() -> Vec<KernelSpec> {
    let groups = [
        products_and_copies(),
        norms_and_pointwise(),
        attention(),
        casts_and_orders(),
    ];
    groups.concat()
}

fn products_and_copies() -> Vec<KernelSpec> {
    let gemm = Gemm {
        rows: 3,
        inner: 32,
        columns: 48,
        accumulate: true,
        coefficients: MemoryClass::Interleaved,
    };
    vec![
        KernelSpec::GemmPackedF16(gemm),
        KernelSpec::GemmF143 { gemm, scale: -32 },
        KernelSpec::GemmF32(Gemm {
            accumulate: false,
            coefficients: MemoryClass::Standard,
            ..gemm
        }),
        KernelSpec::CopyRows(CopyRows {
            rows: 3,
            bytes: 8,
            out_stride: 24,
            source_stride: 16,
        }),
        KernelSpec::CopyWords { bytes: 12 },
        KernelSpec::CopyHalves { bytes: 6 },
        KernelSpec::StageInterleaved { bytes: 8 },
    ]
}

const PACKED: Output = Output::F143 {
    scale: -16,
    packed: true,
};
const PLAIN: Output = Output::F143 {
    scale: 15,
    packed: false,
};

fn norms_and_pointwise() -> Vec<KernelSpec> {
    let epsilon = Scalar::new(1e-6);
    let mut kernels = vec![
        KernelSpec::LayerNormMoments(LayerNormMoments {
            rows: 2,
            width: 30,
            add: true,
        }),
        KernelSpec::LayerNormApply(LayerNormApply {
            rows: 2,
            width: 30,
            total_width: 90,
            parts: 3,
            epsilon,
        }),
        KernelSpec::Add(Add { rows: 2, width: 6 }),
        KernelSpec::AddF32(Add { rows: 3, width: 10 }),
    ];
    for output in [Output::F16, PLAIN, PACKED] {
        let (rows, width) = (3, 64);
        kernels.extend([
            KernelSpec::Gelu(Gelu {
                rows,
                width,
                output,
            }),
            KernelSpec::BiasGelu(BiasGelu {
                rows,
                width,
                output,
            }),
            KernelSpec::LayerNorm(LayerNorm {
                rows,
                width,
                add: output == PLAIN,
                epsilon,
                output,
            }),
        ]);
    }
    kernels
}

fn attention() -> Vec<KernelSpec> {
    let mut kernels = Vec::new();
    for output in [Output::F16, PACKED] {
        kernels.push(KernelSpec::Softmax(Softmax {
            rows: 3,
            keys: 25,
            padded: 64,
            scale: Scalar::new(0.125),
            output,
        }));
    }
    for (first, last, half_output) in [
        (true, false, false),
        (false, false, false),
        (false, true, false),
        (true, true, true),
    ] {
        kernels.push(KernelSpec::Merge(Merge {
            rows: 3,
            columns: 72,
            padded: 80,
            first,
            last,
            half_output,
        }));
    }
    kernels.push(KernelSpec::MergeAll(MergeAll {
        rows: 3,
        columns: 72,
        padded: 80,
        parts: 6,
        half_output: true,
    }));
    kernels
}

fn casts_and_orders() -> Vec<KernelSpec> {
    let (elements, scale) = (12, -3);
    let rearrange = |order, rows| {
        KernelSpec::Rearrange(Rearrange {
            order,
            matrices: 2,
            rows,
            columns: 32,
            stride: 34,
        })
    };
    let mut kernels = Vec::from(
        [
            Cast::F16ToF32 { elements },
            Cast::F32ToF16 { elements },
            Cast::F16ToF143 { elements, scale },
            Cast::F16ToF143Panels {
                rows: 5,
                panels: 2,
                scale,
            },
            Cast::F143ToF16 { elements, scale },
        ]
        .map(KernelSpec::Cast),
    );
    let orders = [
        (Order::PackLeft, 9),
        (Order::PackRight, 9),
        (Order::PackTransposedRight, 9),
        (Order::UnpackTransposed, 9),
        (Order::UnpackLeft, 9),
        (Order::LeftToRight, 16),
    ];
    kernels.extend(orders.map(|(order, rows)| rearrange(order, rows)));
    kernels
}

#[test]
fn extents_that_no_kernel_has_are_refused() {
    let broken = |kernel| {
        let mut package = sample();
        package.call_templates[0].kernel = kernel;
        match write(&package) {
            Err(PackageError::Invalid { what, .. }) => what,
            other => panic!("{kernel:?} gave {other:?}"),
        }
    };
    let softmax = Softmax {
        rows: 1,
        keys: 17,
        padded: 16,
        scale: Scalar::new(1.0),
        output: Output::F16,
    };
    let found = [
        broken(KernelSpec::Softmax(softmax)),
        broken(KernelSpec::Softmax(Softmax {
            keys: 16,
            scale: Scalar::new(f32::NAN),
            ..softmax
        })),
        broken(KernelSpec::Gelu(Gelu {
            rows: 1,
            width: 3,
            output: Output::F16,
        })),
        broken(KernelSpec::Cast(Cast::F16ToF143 {
            elements: 4,
            scale: 16,
        })),
        broken(KernelSpec::Merge(Merge {
            rows: 1,
            columns: 2,
            padded: 16,
            first: true,
            last: false,
            half_output: true,
        })),
        broken(KernelSpec::MergeAll(MergeAll {
            rows: 1,
            columns: 2,
            padded: 16,
            parts: u32::MAX,
            half_output: true,
        })),
        broken(KernelSpec::Rearrange(Rearrange {
            order: Order::PackLeft,
            matrices: 1,
            rows: 1,
            columns: 8,
            stride: 6,
        })),
    ];
    expect![[r#"
        keys is 17, outside 1..=16
        scale is NaN, not positive and finite
        width is 3, no positive multiple of 2
        scale is 16, outside -16..=15
        half output is asked of a merge that is not the last
        parts is 4294967295, outside 2..=92
        stride is 6, less than the 8 columns"#]]
    .assert_eq(&found.join("\n"));
}

fn template(kernel: KernelSpec, estimate: Option<WorkEstimate>) -> CallTemplate {
    let metadata = vec![("role".to_owned(), "multiply".to_owned())];
    CallTemplate {
        kernel,
        symbol: "kernel".to_owned(),
        metadata,
        estimate,
    }
}

fn program() -> TileProgram {
    let call = |template, operands: &[u32]| Call {
        phase: 0,
        template,
        operands: operands.into(),
    };
    TileProgram {
        segments: vec![Segment {
            address: 0x5_0000,
            bytes: vec![1; 64],
        }],
        rows: vec![
            RowEntry {
                exchange: 0,
                address: 0x5_0000,
                incoming_base: 0,
                outgoing_base: 0,
            },
            RowEntry {
                exchange: 1,
                address: 0x5_0020,
                incoming_base: 0x8_0000,
                outgoing_base: 0,
            },
        ],
        calls: vec![
            call(0, &[0x8_8000, 0x9_0000, 0xA_0000]),
            call(1, &[0x8_8000, 0x9_0000]),
            call(2, &[0x8_8000]),
            call(3, &[0x8_8000, 0x9_0000]),
        ],
        zero_ranges: vec![MemoryRange {
            address: 0x9_0000,
            bytes: 64,
        }],
        operand_steps: vec![
            OperandStep {
                call: 0,
                operand: 2,
                bytes: 512,
            },
            OperandStep {
                call: 1,
                operand: 0,
                bytes: -64,
            },
        ],
        row_patches: vec![RowPatch {
            address: 0x5_0004,
            exchange: 0,
            step: u32::MAX - 7,
        }],
    }
}

#[test]
fn packages_round_trip_and_equal_ones_give_equal_bytes() {
    let bytes = write(&sample()).unwrap();
    assert_eq!(read(&bytes).unwrap(), sample());
    assert_eq!(write(&sample()).unwrap(), bytes);
    assert_eq!(&bytes[16..24], b"IPUEXE02");
    assert_eq!(
        analytics::format::sniff(&bytes),
        analytics::format::FileKind::Package
    );
}

#[test]
fn a_multicast_from_every_tile_to_every_other_stays_small() {
    let mut package = sample();
    package.target.tile_mapping = (0..1472).map(PhysicalTile::new).collect();
    package.tiles = vec![TileProgram::default(); 1472];
    let all = 0..1472_u16;
    package.exchanges[0].deliveries = all
        .clone()
        .map(|source| Delivery {
            source: TileId::new(source),
            source_address: 0x8_0000,
            bytes: 128,
            destinations: all
                .clone()
                .filter(|&tile| tile != source)
                .map(|tile| (TileId::new(tile), 0x9_0000 + 128 * u32::from(source)))
                .collect(),
        })
        .collect();
    let bytes = write(&package).unwrap();
    assert_eq!(read(&bytes).unwrap(), package);
    assert!(
        bytes.len() < 300_000,
        "{} bytes for 2,165,312 destinations",
        bytes.len()
    );
}

fn check(change: impl FnOnce(&mut Package), expected: &Expect) {
    let mut package = sample();
    change(&mut package);
    let error = validate(&package).expect_err("the package breaks a rule");
    assert_eq!(write(&package), Err(error.clone()));
    // What a writer of other hands may have written, the reader refuses for the same reason.
    if let Ok(bytes) = write::write(&package) {
        assert!(read(&bytes).is_err());
    }
    // A line for each part, so that expectations stay narrow.
    let lines = error.to_string().replace(": ", ":\n").replace(", ", ",\n");
    expected.assert_eq(&lines);
}

#[test]
fn target_and_tensor_rules_are_named() {
    check(
        |p| p.target.machine = "ipu1".to_owned(),
        &expect![[r#"
            package is invalid at target:
            machine "ipu1" is not ipu21"#]],
    );
    check(
        |p| p.target.clock_hz = 0,
        &expect![[r#"
            package is invalid at target:
            the clock is 0 Hz"#]],
    );
    check(
        |p| p.target.tile_mapping.truncate(2),
        &expect![[r#"
            package is invalid at target:
            3 tile programs and 2 mapped tiles; both must be the same,
            1 to 1472"#]],
    );
    check(
        |p| p.target.tile_mapping[2] = PhysicalTile::new(0),
        &expect![[r#"
            package is invalid at tile mapping of tile 2:
            physical tile 0 is taken or does not exist"#]],
    );
    check(
        |p| p.tensors[1].shape = vec![1 << 40, 1 << 40],
        &expect![[r#"
            package is invalid at tensor 1 (right):
            shape [1099511627776,
            1099511627776] has no 1 to 2147483648 elements"#]],
    );
    check(
        |p| p.tensors[0].shape = vec![1 << 10, 1 << 10],
        &expect![[r#"
            package is invalid at tensor 0 (left):
            2097152 bytes are more than the 1916928 that 3 tiles have"#]],
    );
    check(
        |p| p.tensors[0].fill = Fill::Constant(f32::INFINITY),
        &expect![[r#"
            package is invalid at tensor 0 (left):
            fill Constant(inf) is not finite"#]],
    );
    check(
        |p| p.tensors[2].shape = vec![64],
        &expect![[r#"
            package is invalid at tensor 2 (bias):
            fill Cycle { row_step:
            3 } needs two axes,
            shape is [64]"#]],
    );
}

#[test]
fn binding_rules_are_named() {
    check(
        |p| p.patterns[0].loops[0].count = 0,
        &expect![[r#"
            package is invalid at pattern 0:
            0 elements,
            not 1 to 638976"#]],
    );
    check(
        |p| p.bindings[0].element = 1,
        &expect![[r#"
            package is invalid at binding 0:
            elements 1..=64 of left leave its 64 elements"#]],
    );
    check(
        |p| p.bindings[0].address = 0xE_7FF0,
        &expect![[r#"
            package is invalid at binding 0:
            bytes 0xe7ff0..0xe8070 leave SRAM"#]],
    );
    check(
        |p| p.bindings[0].address = 0x8_0001,
        &expect![[r#"
            package is invalid at binding 0:
            addresses from 0x80001 are not 2-byte aligned"#]],
    );
    check(
        |p| p.patterns[0].loops[0].tensor_stride = i64::MIN,
        &expect![[r#"
            package is invalid at binding 0:
            elements -27670116110564327424..=15 of left leave its 64 elements"#]],
    );
    check(
        |p| p.bindings[0].tile = TileId::new(3),
        &expect![[r#"
            package is invalid at binding 0:
            there is no tile 3"#]],
    );
}

#[test]
fn rules_of_iterations_are_named() {
    check(
        |p| p.exchanges[0].source_steps[0].bytes = 2,
        &expect![[r#"
            package is invalid at exchange 0:
            SourceStep { delivery:
            0,
            bytes:
            2 } names none of 1 deliveries or is no multiple of 4 bytes"#]],
    );
    check(
        |p| {
            let again = p.exchanges[0].source_steps[0];
            p.exchanges[0].source_steps.push(again);
        },
        &expect![[r#"
            package is invalid at exchange 0:
            source steps are not sorted by delivery"#]],
    );
    check(
        |p| p.tiles[0].operand_steps[0].operand = 3,
        &expect![[r#"
            package is invalid at tile 0 operand step:
            OperandStep { call:
            0,
            operand:
            3,
            bytes:
            512 } names no operand of a call"#]],
    );
    check(
        |p| p.tiles[0].operand_steps.swap(0, 1),
        &expect![[r#"
            package is invalid at tile 0 operand step:
            OperandStep { call:
            0,
            operand:
            2,
            bytes:
            512 } is out of order or comes twice"#]],
    );
    check(
        |p| p.tiles[0].row_patches[0].address = 0x5_0040,
        &expect![[r#"
            package is invalid at tile 0 row patch:
            0x50040 is no loaded word"#]],
    );
    check(
        |p| p.tiles[0].row_patches[0].exchange = 7,
        &expect![[r#"
            package is invalid at tile 0 row patch:
            the tile has no row in exchange 7"#]],
    );
    check(
        |p| {
            let again = p.tiles[0].row_patches[0];
            p.tiles[0].row_patches.push(again);
        },
        &expect![[r#"
            package is invalid at tile 0 row patch:
            0x50004 is out of order or comes twice"#]],
    );
}

#[test]
fn schedule_rules_are_named() {
    check(
        |p| p.schedule.push(ScheduleItem::Exchange(9)),
        &expect![[r#"
            package is invalid at schedule item 3:
            there is no exchange 9"#]],
    );
    check(
        |p| p.schedule.push(ScheduleItem::Compute(1)),
        &expect![[r#"
            package is invalid at schedule item 3:
            there is no compute phase 1"#]],
    );
    check(
        |p| {
            p.schedule.push(ScheduleItem::Repeat {
                count: 0,
                body: vec![],
            })
        },
        &expect![[r#"
            package is invalid at schedule item 3:
            a repeat without iterations or body"#]],
    );
    check(
        |p| {
            for _ in 0..9 {
                p.schedule = vec![ScheduleItem::Repeat {
                    count: 1,
                    body: p.schedule.clone(),
                }];
            }
        },
        &expect![[r#"
            package is invalid at schedule item 0:
            repeats nest deeper than 8"#]],
    );
    check(
        |p| {
            let body = p.schedule.clone();
            p.schedule = vec![ScheduleItem::Repeat {
                count: u32::MAX,
                body,
            }];
        },
        &expect![[r#"
            package holds 30064771065 executed schedule items,
            more than the limit of 1048576"#]],
    );
}

#[test]
fn exchange_rules_are_named() {
    check(
        |p| p.exchanges[0].deliveries[0].bytes = 6,
        &expect![[r#"
            package is invalid at exchange 0:
            delivery 0 of 6 bytes from tile 0 address 0x80000 to 2 tiles"#]],
    );
    check(
        |p| p.exchanges[1].deliveries[1].destinations[0].1 = 0xE_7FE4,
        &expect![[r#"
            package is invalid at exchange 1:
            delivery 1 of 32 bytes to tile 1 address 0xe7fe4"#]],
    );
    check(
        |p| p.exchanges[1].deliveries[1].destinations.clear(),
        &expect![[r#"
            package is invalid at exchange 1:
            delivery 1 of 32 bytes from tile 2 address 0x80000 to 0 tiles"#]],
    );
}

#[test]
fn tile_rules_are_named() {
    check(
        |p| p.tiles[0].segments[0].address = 0x4_C000,
        &expect![[r#"
            package is invalid at tile 0:
            segment 0x4c000..0x4c040 overlaps,
            is out of order or leaves 0x4c010..0xe7bb0"#]],
    );
    check(
        |p| p.tiles[0].rows[0].address = 0x8_0000,
        &expect![[r#"
            package is invalid at tile 0 row:
            address 0x80000 is not in region 0"#]],
    );
    check(
        |p| p.tiles[0].rows[0].address = 0x5_0040,
        &expect![[r#"
            package is invalid at tile 0 row:
            address 0x50040 lies in no loaded segment"#]],
    );
    check(
        |p| p.tiles[0].rows[1].exchange = 0,
        &expect![[r#"
            package is invalid at tile 0 row:
            exchange 0 comes late or twice"#]],
    );
}

#[test]
fn call_and_allocation_rules_are_named() {
    check(
        |p| p.tiles[0].calls[3].operands = vec![0x8_8000],
        &expect![[r#"
            package is invalid at tile 0 call 3:
            kernel has 2 operands,
            the call gives 1"#]],
    );
    check(
        |p| p.tiles[0].calls[0].operands[2] = 0xE_7FF0,
        &expect![[r#"
            package is invalid at tile 0 call 0:
            operand right of kernel,
            512 bytes at 0xe7ff0,
            leaves SRAM"#]],
    );
    check(
        |p| p.tiles[0].calls[0].phase = 1,
        &expect![[r#"
            package is invalid at tile 0 call 0:
            there is no compute phase 1"#]],
    );
    check(
        |p| p.tiles[0].zero_ranges[0].bytes = 2,
        &expect![[r#"
            package is invalid at tile 0 zero range:
            2 bytes at 0x90000 are no words in SRAM"#]],
    );
    check(
        |p| {
            p.call_templates[0].kernel = KernelSpec::ReduceSumF16 {
                partials: 1,
                elements: 8,
            }
        },
        &expect![[r#"
            package is invalid at call template 0 (kernel):
            partials is 1,
            fewer than 2"#]],
    );
    check(
        |p| p.allocations[0].tile = TileId::new(3),
        &expect![[r#"
            package is invalid at allocation 0:
            Allocation { tile:
            TileId(3),
            range:
            MemoryRange { address:
            524288,
            bytes:
            128 },
            class:
            Interleaved,
            label:
            "left",
            first:
            0,
            last:
            4294967295 } has no such tile,
            range or lifetime"#]],
    );
}

#[test]
fn foreign_and_newer_bytes_are_named() {
    assert!(read(b"").is_err());
    let mut bytes = write(&sample()).unwrap();
    bytes[24] = 4;
    let error = read(&bytes).unwrap_err().to_string();
    expect!["package format 4 is newer than the 3 this build reads; update it"].assert_eq(&error);
    bytes[16] = b'X';
    let error = read(&bytes).unwrap_err().to_string();
    expect!["not an ipuexe package: its first word is 0x3230455845555058"].assert_eq(&error);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn damaged_packages_never_panic(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<proptest::sample::Index>(),
        shorten in any::<bool>(),
    ) {
        let mut bytes = write(&sample()).unwrap();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if shorten {
            bytes.truncate(cut.index(bytes.len()));
        }
        // Whatever is still accepted is a well-formed package that survives another round.
        if let Ok(package) = read(&bytes) {
            let again = read(&write(&package).unwrap()).unwrap();
            prop_assert_eq!(again, package);
        }
    }

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
        prop_assert!(read(&bytes).is_err());
    }
}
