//! A block of four tiles for tests: tile 0 multicasts a left operand, tiles 1 and 2 multiply it by
//! their columns, tile 3 collects the product.

use analytics::profile::WorkEstimate;
use analytics::units::{TileId, Work};

use crate::exchange::tests::scene::Scene;
use crate::package::{
    AffineLoop, AffinePattern, Binding, Call, CallTemplate, ComputePhase, DType, Exchange, Fill,
    KernelSpec, MemoryClass, Package, RowEntry, ScheduleItem, Segment, Target, Tensor, TensorRole,
    TileProgram,
};

/// Logical tiles of the block.
pub(crate) const TILES: u16 = 4;
/// Output of a product, and where the parts of it are collected.
pub(crate) const OUT: u32 = 0x8_0000;
/// Left operand.
pub(crate) const LEFT: u32 = 0x8_8000;
/// Right operand.
pub(crate) const RIGHT: u32 = 0x9_0000;
/// Scratch that one tile clears.
pub(crate) const SCRATCH: u32 = 0xA_0000;
/// Rows R of the product; K is 16 and each of two tiles has 16 columns.
const ROWS: u32 = 2;
/// Bytes of one part of the product.
const PART: u32 = ROWS * 16 * 2;
/// Where the first exchange's rows lie, and from one exchange's to the next.
const CODE: u32 = 0x5_0000;
const CODE_STRIDE: u32 = 0x400;

/// The block as a package; calls of phase 0 and 1, exchanges 0 to 2.
pub(crate) fn package() -> Package {
    let mut package = Package {
        target: Target {
            machine: "ipu21".to_owned(),
            clock_hz: 1_500_000_000,
            tile_mapping: Scene::new(TILES).topology.mapping().to_vec(),
        },
        tensors: tensors(),
        patterns: vec![
            pattern([(2, 16, 32), (16, 1, 2)]),
            pattern([(16, 1, 32), (16, 32, 2)]),
            pattern([(2, 32, 32), (16, 1, 2)]),
        ],
        bindings: vec![
            binding(0, 0, LEFT, 0, 0),
            binding(1, 1, RIGHT, 0, 1),
            binding(1, 2, RIGHT, 16, 1),
            binding(2, 3, OUT, 0, 2),
            binding(2, 3, OUT + PART, 16, 2),
        ],
        schedule: vec![
            ScheduleItem::Exchange(0),
            ScheduleItem::Compute(0),
            ScheduleItem::Compute(1),
            ScheduleItem::Exchange(1),
            ScheduleItem::Exchange(2),
        ],
        compute_phases: vec![phase("clear", "clear"), phase("product", "gemm")],
        call_templates: templates(),
        tiles: vec![TileProgram::default(); usize::from(TILES)],
        ..Package::default()
    };
    package.manifest.workload = "block".to_owned();
    package.tiles[1].calls.push(call(0, 1, &[SCRATCH]));
    for tile in [1, 2] {
        package.tiles[tile]
            .calls
            .push(call(1, 0, &[OUT, LEFT, RIGHT]));
    }
    let words = PART / 4;
    add_exchange(&mut package, "operands", |s| {
        s.transfer(0, 60, ROWS * 8, LEFT, &[(1, LEFT), (2, LEFT)]);
    });
    add_exchange(&mut package, "collect", |s| {
        s.transfer(1, 60, words, OUT, &[(3, OUT)])
    });
    add_exchange(&mut package, "collect", |s| {
        s.transfer(2, 60, words, OUT, &[(3, OUT + PART)])
    });
    package
}

/// Puts operands, clearing and product, the first three items, into a Repeat.
pub(crate) fn repeat(package: &mut Package, count: u32) {
    let body = package.schedule.drain(..3).collect();
    package
        .schedule
        .insert(0, ScheduleItem::Repeat { count, body });
}

/// Appends an exchange with its rows; it is scheduled by the caller.
pub(crate) fn add_exchange(package: &mut Package, operation: &str, build: impl Fn(&mut Scene)) {
    let mut scene = Scene::new(TILES);
    build(&mut scene);
    let horizon = scene.scripts.values().map(|script| script.horizon).max();
    let words = scene.words();
    package.exchanges.push(Exchange {
        operation: operation.to_owned(),
        region: String::new(),
        event_cycles: horizon.unwrap(),
        deliveries: scene.deliveries,
        source_steps: Vec::new(),
    });
    for (tile, words) in words {
        add_row(package, tile, &words);
    }
}

/// Gives a tile a row of these words in the last exchange.
pub(crate) fn add_row(package: &mut Package, tile: u16, words: &[u32]) {
    let exchange = u32::try_from(package.exchanges.len() - 1).unwrap();
    let address = CODE + exchange * CODE_STRIDE;
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let program = &mut package.tiles[usize::from(tile)];
    program.segments.push(Segment { address, bytes });
    program.rows.push(RowEntry {
        exchange,
        address,
        incoming_base: 0,
        outgoing_base: 0,
    });
}

/// Address of the SEND in a tile's segment with this index.
pub(crate) fn send_word(package: &Package, tile: usize, segment: usize) -> u32 {
    let segment = &package.tiles[tile].segments[segment];
    let (words, _) = segment.bytes.as_chunks::<4>();
    let send = words
        .iter()
        .position(|&word| u32::from_le_bytes(word) & 0xF800_0000 == 0x7800_0000);
    segment.address + 4 * u32::try_from(send.expect("the tile sends")).unwrap()
}

fn tensors() -> Vec<Tensor> {
    let tensor = |name: &str, shape: [u64; 2], role, seed| Tensor {
        name: name.to_owned(),
        dtype: DType::F16,
        shape: shape.into(),
        role,
        fill: Fill::Gaussian { seed, sigma: 1.0 },
    };
    vec![
        tensor("left", [2, 16], TensorRole::Input, 1),
        tensor("right", [16, 32], TensorRole::Parameter, 2),
        tensor("out", [2, 32], TensorRole::Output, 0),
    ]
}

fn pattern(loops: [(u32, i64, i32); 2]) -> AffinePattern {
    let level = |(count, tensor_stride, memory_stride)| AffineLoop {
        count,
        tensor_stride,
        memory_stride,
    };
    AffinePattern {
        loops: loops.into_iter().map(level).collect(),
    }
}

fn binding(tensor: u32, tile: u16, address: u32, element: u64, pattern: u32) -> Binding {
    Binding {
        tensor,
        tile: TileId::new(tile),
        address,
        element,
        pattern,
    }
}

fn phase(operation: &str, role: &str) -> ComputePhase {
    let (operation, role) = (operation.to_owned(), role.to_owned());
    ComputePhase {
        operation,
        role,
        region: String::new(),
    }
}

fn templates() -> Vec<CallTemplate> {
    let template = |symbol: &str, kernel, estimate| CallTemplate {
        kernel,
        symbol: symbol.to_owned(),
        metadata: vec![("shape".to_owned(), format!("{symbol} shape"))],
        estimate,
    };
    let gemm = KernelSpec::GemmF16 {
        rows: ROWS,
        inner: 16,
        columns: 16,
        accumulate: false,
        coefficients: MemoryClass::Interleaved,
    };
    let work = WorkEstimate {
        useful: Work::from_cycles(8),
        physical: Work::from_cycles(8),
        basis: "GEMM FLOP / 128".to_owned(),
    };
    vec![
        template("gemm", gemm, Some(work)),
        template("zero", KernelSpec::ZeroFill { bytes: 96 }, None),
    ]
}

pub(crate) fn call(phase: u32, template: u32, operands: &[u32]) -> Call {
    Call {
        phase,
        template,
        operands: operands.into(),
    }
}
