//! What a run tells: outputs, cycles, phases, memory and the parameters in effect.

use analytics::units::{Bytes, Cycles};

use crate::host::TensorValues;

/// Part of a run, for progress displays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Checking the package and decoding rows.
    Validate,
    /// Writing inputs and parameters.
    Load,
    /// Supersteps; counted in executed schedule items.
    Execute,
    /// Reading outputs.
    Outputs,
    /// Writing the profile.
    Record,
}

impl Stage {
    /// The name in progress displays and timings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Validate => "validate",
            Self::Load => "load",
            Self::Execute => "execute",
            Self::Outputs => "outputs",
            Self::Record => "record",
        }
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The part it is in.
    pub stage: Stage,
    /// Units of the stage that are done.
    pub done: u64,
    /// Units of the stage, at least one.
    pub total: u64,
}

/// One output tensor as read back from the tiles.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputTensor {
    /// Index into the package's tensors.
    pub tensor: u32,
    /// Its name.
    pub name: String,
    /// Its values, row-major.
    pub values: TensorValues,
}

/// What a schedule item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseKind {
    /// All tiles exchange.
    Exchange,
    /// Tiles compute on their own.
    Compute,
}

/// One executed schedule item; a Repeat body appears once an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseReport {
    /// Position in the flattened schedule, a Repeat body counted once.
    pub phase: u32,
    /// Exchange epoch it belongs to.
    pub epoch: u32,
    /// What it is.
    pub kind: PhaseKind,
    /// Operation it serves.
    pub operation: String,
    /// Latest minus earliest arrival of the tiles at the item.
    pub arrival_spread: Cycles,
    /// Longest row horizon in events; zero for compute.
    pub horizon: Cycles,
    /// From the latest arrival to the latest exit for an exchange; the longest tile for compute.
    pub cycles: Cycles,
    /// Bytes sent, each multicast counted once; zero for compute.
    pub bytes_sent: Bytes,
    /// Bytes landed on all tiles; zero for compute.
    pub bytes_received: Bytes,
    /// Tiles that have a row or a kernel call in the item.
    pub active_tiles: u32,
}

/// What a run produced.
#[derive(Clone, Debug, PartialEq)]
pub struct RunReport {
    /// Output tensors in package order; empty for a timing-only run.
    pub outputs: Vec<OutputTensor>,
    /// The cropped span: from the last tile's start to the last tile's end.
    pub total_cycles: Cycles,
    /// Cycles in kernels whose cost is assumed, of the tile that has the most; a total with any is
    /// no claim.
    pub assumed_cycles: Cycles,
    /// Tile clock in hertz that the profile carries.
    pub clock_hz: u64,
    /// Executed schedule items in order.
    pub phases: Vec<PhaseReport>,
    /// Bytes of SRAM that each logical tile's code, data and operands cover.
    pub memory_high_water: Vec<Bytes>,
    /// Parameters in effect with their provenance, as in the profile header.
    pub parameters: Vec<(String, String)>,
    /// Seed of the run.
    pub seed: u64,
    /// The profile file, when one was asked for.
    pub profile: Option<Vec<u8>>,
}
