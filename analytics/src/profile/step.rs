//! What a sample points to: the step it measured, and the transfers scheduled inside it.

use crate::units::Work;

/// What the tile did during a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SampleKind {
    /// Executing an exchange row, transfers and the waits inside it included.
    Exchange,
    /// Executing a kernel or a local copy.
    Compute,
    /// Waiting at a barrier, from the tile's arrival to its release.
    Synchronization,
    /// No command in this phase.
    Idle,
    /// A kind this version does not know, kept as read.
    Unknown(u16),
}

impl SampleKind {
    /// The wire value: 0 exchange, 1 compute, 2 synchronization, 3 idle.
    #[must_use]
    pub const fn to_wire(self) -> u16 {
        match self {
            Self::Exchange => 0,
            Self::Compute => 1,
            Self::Synchronization => 2,
            Self::Idle => 3,
            Self::Unknown(value) => value,
        }
    }

    /// The kind with this wire value.
    #[must_use]
    pub const fn from_wire(value: u16) -> Self {
        match value {
            0 => Self::Exchange,
            1 => Self::Compute,
            2 => Self::Synchronization,
            3 => Self::Idle,
            other => Self::Unknown(other),
        }
    }

    /// The name in queries, tables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exchange => "exchange",
            Self::Compute => "compute",
            Self::Synchronization => "synchronization",
            Self::Idle => "idle",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// Useful and physical work of one sample, both in exact 256ths of an issue-cycle.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WorkEstimate {
    /// Work that the mathematics of the operation asks for.
    pub useful: Work,
    /// Work that the padded shapes make the tile do. May be less than `useful` in files we did not
    /// write; such estimates are kept and flagged.
    pub physical: Work,
    /// The rule that gave the numbers, for people, such as `GEMM FLOP / 128`.
    pub basis: String,
}

/// A step: everything about a sample but its tile and its times.
///
/// Equal descriptors are stored once; a profile's samples refer to them by
/// [`crate::units::StepId`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StepDescriptor {
    /// What the tile did.
    pub kind: SampleKind,
    /// Schedule phase. Bit 31 marks an exchange id in files that number exchanges apart.
    pub phase: u32,
    /// Exchange epoch, or Repeat body; 0 outside Repeats in newer files.
    pub epoch: u32,
    /// Model-level operation; may be empty.
    pub operation: String,
    /// Kernel symbol; may be empty.
    pub kernel: String,
    /// Horizon of the static exchange schedule in events (cycles); 0 is unknown.
    pub exchange_event_cycles: u32,
    /// Name and value pairs in file order; names may repeat.
    pub metadata: Vec<(String, String)>,
    /// Useful and physical work, or `None` where unknown. Unknown is not zero.
    pub estimate: Option<WorkEstimate>,
}

/// What a tile's exchange port did during a scheduled interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActivityKind {
    /// Words leave the tile.
    Send,
    /// Words land on the tile.
    Receive,
    /// The pair partner borrows this tile's transmit lane.
    PartnerBusy,
    /// A kind this version does not know, kept as read.
    Unknown(u16),
}

impl ActivityKind {
    /// The wire value: 0 send, 1 receive, 2 partner-busy.
    #[must_use]
    pub const fn to_wire(self) -> u16 {
        match self {
            Self::Send => 0,
            Self::Receive => 1,
            Self::PartnerBusy => 2,
            Self::Unknown(value) => value,
        }
    }

    /// The kind with this wire value.
    #[must_use]
    pub const fn from_wire(value: u16) -> Self {
        match value {
            0 => Self::Send,
            1 => Self::Receive,
            2 => Self::PartnerBusy,
            other => Self::Unknown(other),
        }
    }
}

/// One scheduled transfer interval inside an exchange sample: scheduled, not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeActivity {
    /// The role of this tile.
    pub kind: ActivityKind,
    /// First event, counted from the exchange's event origin.
    pub start: u32,
    /// One past the last event; may pass the horizon.
    pub end: u32,
    /// Destination tiles of the transfer; 0 is unknown.
    pub fanout: u16,
    /// Whether the transfer borrows the partner tile's transmit lane.
    pub paired: bool,
}
