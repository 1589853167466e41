//! The package in memory: what the compiler emits and the simulated device executes.
//!
//! A package is a device-wide schedule of exchanges and compute phases, and for each tile the SRAM
//! image (encoded exchange rows), the row it enters at each exchange, and its kernel calls. Nothing
//! in it varies from run to run, and equal input gives equal bytes.

use analytics::profile::WorkEstimate;
use analytics::units::{PhysicalTile, TileId};

use super::kernel::{KernelSpec, MemoryClass};

/// A byte address in a tile's SRAM, 0x4c000..0xe8000 on an IPU21.
pub type Address = u32;

/// A whole application.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Package {
    /// The machine it was compiled for.
    pub target: Target,
    /// Where it came from.
    pub manifest: Manifest,
    /// Host tensors: inputs, parameters and outputs.
    pub tensors: Vec<Tensor>,
    /// Shapes of the affine copies between tensors and SRAM, shared by the bindings.
    pub patterns: Vec<AffinePattern>,
    /// Which part of which tensor lies where. Inputs and parameters are written before the run,
    /// outputs read after it.
    pub bindings: Vec<Binding>,
    /// Device-wide order of exchanges and compute phases.
    pub schedule: Vec<ScheduleItem>,
    /// The exchanges that the schedule names by index.
    pub exchanges: Vec<Exchange>,
    /// The compute phases that the schedule names by index.
    pub compute_phases: Vec<ComputePhase>,
    /// Kernel calls without their addresses, shared by the tiles.
    pub call_templates: Vec<CallTemplate>,
    /// One program a logical tile, in logical order; its length is the tile count.
    pub tiles: Vec<TileProgram>,
    /// SRAM placement with lifetimes, for the memory map; never used to execute.
    pub allocations: Vec<Allocation>,
}

/// The machine that a package needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Machine name, `ipu21`.
    pub machine: String,
    /// Tile clock in hertz that cycle counts are converted with.
    pub clock_hz: u64,
    /// Physical tile of each logical tile; a permutation of the used part of the device.
    pub tile_mapping: Vec<PhysicalTile>,
}

/// Build manifest: enough to compile the same package again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// Version of the compiler.
    pub compiler_version: String,
    /// Workload name, such as `gemm-benchmark`.
    pub workload: String,
    /// The graph in its text form.
    pub graph: String,
    /// Flags in effect, in a fixed order.
    pub flags: Vec<(String, String)>,
    /// The chosen plan, one line an operation.
    pub plan: Vec<String>,
    /// Kernel cost generation, such as `2026-09-13`.
    pub kernel_generation: String,
    /// Bytes the host holds before replication, per single inference.
    pub host_bytes: u64,
    /// Bytes that the bindings write to the tiles, replicas included.
    pub replicated_host_bytes: u64,
}

/// Element type of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DType {
    /// IEEE binary16, two bytes.
    F16,
    /// IEEE binary32, four bytes.
    F32,
    /// Graphcore F143 eight-bit float, one byte.
    F143,
}

impl DType {
    /// Size of one element in bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::F16 => 2,
            Self::F32 => 4,
            Self::F143 => 1,
        }
    }

    /// The lower-case name, such as `f16`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F143 => "f143",
        }
    }
}

/// What the host does with a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TensorRole {
    /// Written before each call.
    Input,
    /// Written once.
    Parameter,
    /// Read after the call.
    Output,
}

/// A logical host tensor, row-major, unpadded.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Name in the graph.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Extent of each axis, outermost first.
    pub shape: Vec<u64>,
    /// What the host does with it.
    pub role: TensorRole,
    /// Its values; ignored for outputs.
    pub fill: Fill,
}

impl Tensor {
    /// Number of elements.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }
}

/// How the host makes the values of a tensor, so that packages hold no data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fill {
    /// Every element has this value.
    Constant(f32),
    /// Element i is one standard normal draw from SplitMix64 seeded with `seed ^ i`, times `sigma`,
    /// rounded to the element type.
    Gaussian {
        /// Seed, combined with the row-major element index.
        seed: u64,
        /// Standard deviation.
        sigma: f32,
    },
    /// For shape [.., batch, rows, columns]: row r of batch b is one at (batch_step·b + r) mod
    /// columns.
    OneHot {
        /// Shift of the hot column from one batch entry to the next.
        batch_step: u64,
    },
    /// The cycle −1, −½, 0, ½, 1 at (row_step·row + column) mod 5 of the last two axes.
    Cycle {
        /// Shift from one row to the next.
        row_step: u64,
    },
}

/// A loop nest that copies elements between a tensor and SRAM.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AffinePattern {
    /// Loops, outermost first; an empty list is one element.
    pub loops: Vec<AffineLoop>,
}

/// One loop of an [`AffinePattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AffineLoop {
    /// Iterations, at least one.
    pub count: u32,
    /// Elements between iterations in the row-major tensor.
    pub tensor_stride: i64,
    /// Bytes between iterations in SRAM.
    pub memory_stride: i32,
}

/// A part of a tensor at a place in a tile's SRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Binding {
    /// Index into [`Package::tensors`].
    pub tensor: u32,
    /// The tile.
    pub tile: TileId,
    /// SRAM address of the pattern's first element.
    pub address: Address,
    /// Row-major tensor index of the pattern's first element.
    pub element: u64,
    /// Index into [`Package::patterns`].
    pub pattern: u32,
}

/// One item of the device-wide schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScheduleItem {
    /// All tiles synchronise, then run their rows. Index into [`Package::exchanges`].
    Exchange(u32),
    /// Tiles run their calls of the phase. Index into [`Package::compute_phases`].
    Compute(u32),
    /// The body runs `count` times. Iteration i of the innermost Repeat around an item, from 0,
    /// moves the item's addresses i steps on: [`Exchange::source_steps`],
    /// [`TileProgram::operand_steps`] and [`TileProgram::row_patches`].
    Repeat {
        /// Iterations, at least one.
        count: u32,
        /// What is repeated.
        body: Vec<Self>,
    },
}

/// A device-wide exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// The operation it serves, such as `projection.q operands`.
    pub operation: String,
    /// Region label, empty without one.
    pub region: String,
    /// The longest row horizon over the tiles, in events.
    pub event_cycles: u32,
    /// What must have arrived after the phase; compared with what the words did, never used to move
    /// data. In program order: a delivery reads what those before it have brought.
    pub deliveries: Vec<Delivery>,
    /// Deliveries whose source moves from iteration to iteration, sorted by delivery.
    pub source_steps: Vec<SourceStep>,
}

/// How far the source of a delivery is from one iteration of the innermost Repeat to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceStep {
    /// Index into [`Exchange::deliveries`].
    pub delivery: u32,
    /// Bytes, a multiple of four.
    pub bytes: i32,
}

/// Bytes that one source range brings to one or more tiles.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Delivery {
    /// Sending tile.
    pub source: TileId,
    /// First byte at the source.
    pub source_address: Address,
    /// Length; a multiple of four.
    pub bytes: u32,
    /// Receiving tiles and the first byte at each.
    pub destinations: Vec<(TileId, Address)>,
}

/// A device-wide compute phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComputePhase {
    /// The operation it belongs to.
    pub operation: String,
    /// What the phase is for in its operation, such as `gemm`, `reduce`, `clear`.
    pub role: String,
    /// Region label, empty without one.
    pub region: String,
}

/// A kernel call without its tile and addresses.
#[derive(Clone, Debug, PartialEq)]
pub struct CallTemplate {
    /// What it computes.
    pub kernel: KernelSpec,
    /// Kernel symbol shown in profiles, such as `gemm_f16_k384_c16_interleaved`.
    pub symbol: String,
    /// Compact metadata for `phase` granularity and finer: role, shape, block indices.
    pub metadata: Vec<(String, String)>,
    /// Useful and physical work of one call; `None` is unknown.
    pub estimate: Option<WorkEstimate>,
}

/// What one tile does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TileProgram {
    /// Loaded bytes: encoded exchange rows. Disjoint, sorted by address.
    pub segments: Vec<Segment>,
    /// Rows that the tile enters, sorted by exchange; a tile without traffic at an exchange has
    /// none.
    pub rows: Vec<RowEntry>,
    /// Kernel calls in program order, sorted by compute phase.
    pub calls: Vec<Call>,
    /// Ranges that are zero before the run and count as initialised.
    pub zero_ranges: Vec<MemoryRange>,
    /// Operands that move from iteration to iteration, sorted by call and operand.
    pub operand_steps: Vec<OperandStep>,
    /// Row words that the supervisor rewrites for each iteration, sorted by address.
    pub row_patches: Vec<RowPatch>,
}

/// How far an operand is from one iteration of the innermost Repeat to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperandStep {
    /// Index into [`TileProgram::calls`].
    pub call: u32,
    /// Index into [`Call::operands`].
    pub operand: u32,
    /// Bytes.
    pub bytes: i32,
}

/// A row word that changes from one iteration of the innermost Repeat to the next. The supervisor
/// takes 28 cycles to rewrite it, before it arrives at the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowPatch {
    /// The word's address, in a loaded segment.
    pub address: Address,
    /// The exchange before which it is rewritten; the tile has a row in it.
    pub exchange: u32,
    /// Added to the word, modulo 2^32, for each iteration.
    pub step: u32,
}

/// Bytes at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First byte.
    pub address: Address,
    /// Content.
    pub bytes: Vec<u8>,
}

/// A range of SRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryRange {
    /// First byte.
    pub address: Address,
    /// Length.
    pub bytes: u32,
}

/// Where a tile's row for an exchange starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowEntry {
    /// Index into [`Package::exchanges`].
    pub exchange: u32,
    /// Address of the row's first word, 8-byte aligned, in region 0.
    pub address: Address,
    /// Value of INCOMING_BASE on entry, a byte address; 0 for absolute rows.
    pub incoming_base: Address,
    /// Value of OUTGOING_BASE on entry, a byte address; 0 for absolute rows.
    pub outgoing_base: Address,
}

/// One kernel call of a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Index into [`Package::compute_phases`].
    pub phase: u32,
    /// Index into [`Package::call_templates`].
    pub template: u32,
    /// Operand addresses, output first, in the order of the [`KernelSpec`].
    pub operands: Vec<Address>,
}

/// A named range of SRAM with the part of the schedule during which it holds a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The tile.
    pub tile: TileId,
    /// The range.
    pub range: MemoryRange,
    /// Memory class it was allocated in.
    pub class: MemoryClass,
    /// What it holds, such as `left operand of projection.q`.
    pub label: String,
    /// First schedule item (flattened, one Repeat body counted once) at which it is live.
    pub first: u32,
    /// Last schedule item at which it is live, inclusive; `u32::MAX` lives to the end.
    pub last: u32,
}
