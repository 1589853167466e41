//! A planned program before it has addresses: buffers, transfers between them, kernel calls on
//! them.
//!
//! Built by [`expand()`] from a plan, placed by [`crate::place`], turned into a package by
//! [`crate::lower`]. Steps are device-wide and in execution order; a buffer belongs to one tile and
//! is live over an inclusive range of steps.

mod attention;
mod build;
mod expand;
mod gemm;
mod home;
mod merge_heads;
mod operand;
mod pointwise;
mod products;
mod repeat;
mod results;
mod shared_core;
mod shared_rows;
mod unpack;

use std::ops::Range;
use std::sync::Arc;

use runtime::package::{CallTemplate, MemoryClass};

use crate::graph::ValueId;
use crate::layout::{Block, View};

pub use expand::expand;
pub(crate) use operand::{PANEL_TAIL, PIECE_UNITS};

/// Index of a buffer in its program.
pub type BufferId = u32;

/// A value lives until the host reads it.
pub const TO_THE_END: u32 = u32::MAX;

/// A contiguous range of one tile's SRAM that holds one thing for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Logical tile.
    pub tile: u16,
    /// Length; a multiple of 32.
    pub bytes: u32,
    /// Bytes past the end that a kernel may read; they may hold anything but must exist.
    pub tail: u32,
    /// Memory it may lie in: interleaved only, or anywhere with a preference for standard.
    pub class: MemoryClass,
    /// First step at which it is live; 0 is before the run.
    pub first: u32,
    /// Last step at which it is live, inclusive, or [`TO_THE_END`].
    pub last: u32,
    /// Index into [`Program::labels`].
    pub label: u32,
    /// Zero before the run, because the host does not write all of it.
    pub zero: bool,
    /// How many follow each other: one for each run of a repeated step that has its own, at least
    /// one. A place in the buffer is that of the first; the n-th run uses the n-th.
    pub copies: u32,
}

impl Buffer {
    /// Length of all copies.
    #[must_use]
    pub const fn total_bytes(&self) -> u32 {
        self.bytes * self.copies
    }

    /// Bytes from what one run uses to what the next one does.
    #[must_use]
    pub const fn step(&self) -> u32 {
        if self.copies > 1 { self.bytes } else { 0 }
    }
}

/// A byte position in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The buffer.
    pub buffer: BufferId,
    /// Bytes from its start.
    pub offset: u32,
}

impl Place {
    /// The start of a buffer.
    const fn start(buffer: BufferId) -> Self {
        Self { buffer, offset: 0 }
    }
}

/// Bytes that go from one buffer to the same offset of one or more buffers on different tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// First byte at the source.
    pub source: Place,
    /// Length; a multiple of 4.
    pub bytes: u32,
    /// Receiving buffers, each on its own tile; the source's tile may be among several.
    pub destinations: Arc<[BufferId]>,
    /// Bytes from the start of each receiving buffer.
    pub destination_offset: u32,
}

/// A kernel call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Logical tile.
    pub tile: u16,
    /// Index into [`Program::templates`].
    pub template: u32,
    /// Operands, output first.
    pub operands: Vec<Place>,
}

/// What the device does in one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// Transfers, in program order.
    Exchange(Vec<Move>),
    /// Kernel calls, sorted by tile.
    Compute {
        /// What they are for in their operation.
        role: &'static str,
        /// The calls.
        calls: Vec<Call>,
    },
}

/// One device-wide step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Operation as shown in profiles.
    pub operation: String,
    /// Region label, empty without one.
    pub region: String,
    /// What is done.
    pub work: Work,
}

/// Part of a host tensor in a buffer: written before the run, or read after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRange {
    /// The buffer; the range starts at its first byte.
    pub buffer: BufferId,
    /// The value.
    pub value: ValueId,
    /// How the value is seen.
    pub view: View,
    /// The block whose image the units belong to.
    pub block: Block,
    /// The units of the image that lie in the buffer.
    pub units: Range<u32>,
    /// The copy of the buffer that it is.
    pub copy: u32,
}

/// Steps that run several times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepeatedSteps {
    /// The steps.
    pub steps: Range<u32>,
    /// How often they run.
    pub count: u32,
}

/// A whole program without addresses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// Logical tiles of the device that it uses.
    pub tiles: u16,
    /// The buffers; ids are indices.
    pub buffers: Vec<Buffer>,
    /// What buffers hold.
    pub labels: Vec<String>,
    /// Pairs of buffers of one tile that must not share a memory element.
    pub apart: Vec<(BufferId, BufferId)>,
    /// The steps in execution order.
    pub steps: Vec<Step>,
    /// Kernel calls without addresses.
    pub templates: Vec<CallTemplate>,
    /// What the host writes and reads.
    pub host: Vec<HostRange>,
    /// Steps that run several times, if any do.
    pub repeat: Option<RepeatedSteps>,
}

impl Program {
    /// Steps that exchange, with their index in the program.
    pub fn exchanges(&self) -> impl Iterator<Item = (u32, &[Move])> {
        (0..)
            .zip(&self.steps)
            .filter_map(|(index, step)| match &step.work {
                Work::Exchange(moves) => Some((index, moves.as_slice())),
                Work::Compute { .. } => None,
            })
    }

    /// How often a step runs.
    #[must_use]
    pub fn runs(&self, step: u32) -> u32 {
        let repeat = self.repeat.as_ref().filter(|it| it.steps.contains(&step));
        repeat.map_or(1, |it| it.count)
    }
}
