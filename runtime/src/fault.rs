//! Faults: a rule of the machine that a program broke, and where.

use std::fmt;

use analytics::units::TileId;

use crate::package::model::Address;

/// Declares the rules with their stable names and what each forbids.
macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident = $name:literal: $meaning:literal;)*) => {
        /// A rule of the machine. Names are stable: scripts may match on them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum FaultRule {
            $($(#[$doc])* #[doc = $meaning] $rule,)*
        }

        impl FaultRule {
            /// Every rule, in a fixed order.
            pub const ALL: &'static [Self] = &[$(Self::$rule,)*];

            /// The stable kebab-case name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$rule => $name,)*
                }
            }

            /// What the rule says, in one sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$rule => $meaning,)*
                }
            }
        }
    };
}

rules! {
    UnknownInstruction = "unknown-instruction":
        "Every word of a row is a known exchange instruction.";
    RowAlignment = "row-alignment": "A row starts at an 8-byte aligned address.";
    RowRegion = "row-region": "A row lies in the executable region and ends with a return.";
    PairAlignment = "pair-alignment": "A two-word send starts at an 8-byte aligned address.";
    RowLength = "row-length": "The events of a row fit the simulator's clock.";
    UnexpectedSync = "unexpected-sync": "A row synchronises at its entry only.";
    SendControl = "send-control": "A send names a direction.";
    ContinuationWithoutStream = "continuation-without-stream":
        "A continuation directly follows the send that it continues.";
    SendOffset = "send-offset": "A continuation does not move the outgoing pointer.";
    AddressAlignment = "address-alignment":
        "64-bit items are read and land at 8-byte aligned addresses.";
    AddressRange = "address-range": "Exchanged words lie in SRAM.";
    BaseSwitch = "base-switch":
        "A base register is written from a known register, while nothing lands.";
    PairedControlMerged = "paired-control-merged":
        "Only an ordinary pointer and an ordinary source select may share one event.";
    UntestedOnHardware = "untested-on-hardware":
        "No control falls on the first or second event of a send.";
    LaneConflict = "lane-conflict": "A tile does not send while its partner borrows its lane.";
    MissingDirection = "missing-direction":
        "A send names the direction of each tile that selects it.";
    SilentSource = "silent-source": "A selected source sends.";
    UnknownSource = "unknown-source":
        "A selected source is a tile of the program, or the neutral source.";
    MuxWindow = "mux-window": "A receiver selects its source for the whole message.";
    PairedReceivers = "paired-receivers":
        "64-bit items go to whole pairs, selected by the member that they reach first.";
    PointerMissing = "pointer-missing":
        "The landing pointer is written before the first word lands.";
    PointerMidPayload = "pointer-mid-payload":
        "The landing pointer does not move during a message.";
    LandingOverlap = "landing-overlap": "One item lands at a time.";
    FormatMismatch = "format-mismatch": "The incoming format fits the width of what lands.";
    MuxNotNeutral = "mux-not-neutral": "A row ends with neutral sources.";
    FormatNotZero = "format-not-zero": "A row ends in the 32-bit format.";
    RowEndsEarly = "row-ends-early": "A row lasts until its last word has landed.";
    ElementConflict = "element-conflict":
        "Words are not read from and landed in one memory element at the same time.";
    RowElementConflict = "row-element-conflict":
        "A running row and the exchanged data lie in different memory elements.";
    Loopback = "loopback": "A tile sends to itself only along with another tile.";
    DeliveryMismatch = "delivery-mismatch": "What arrived is what the package declared.";
    UninitialisedRead = "uninitialised-read": "Kernels and the host read only what was written.";
    OperandAlignment = "operand-alignment": "A kernel operand is aligned as the kernel needs.";
    OperandRange = "operand-range": "A kernel operand lies in SRAM.";
    OperandRegion = "operand-region": "An operand that needs the interleaved region lies in it.";
    OperandElement = "operand-element": "Operands that stream together lie in different elements.";
    OperandOverlap = "operand-overlap": "A kernel's output does not overlap what the kernel reads.";
    CodeOverwrite = "code-overwrite": "A kernel leaves loaded code alone.";
    HorizonMismatch = "horizon-mismatch": "The longest row lasts as long as the package declares.";
}

impl fmt::Display for FaultRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A violation: the program's fault, never the simulator's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The rule that was broken.
    pub rule: FaultRule,
    /// The logical tile that broke it.
    pub tile: TileId,
    /// The exchange or compute phase, by its position in the run; `None` before the first.
    pub phase: Option<u32>,
    /// The event of the tile's row, where the rule is about one.
    pub event: Option<u32>,
    /// The SRAM address, where the rule is about one.
    pub address: Option<Address>,
    /// The particulars: what was found and what was expected.
    pub detail: String,
}

impl Fault {
    /// A fault without a phase, event or address.
    #[must_use]
    pub fn new(rule: FaultRule, tile: TileId, detail: impl Into<String>) -> Self {
        Self {
            rule,
            tile,
            phase: None,
            event: None,
            address: None,
            detail: detail.into(),
        }
    }

    /// The fault in this phase.
    #[must_use]
    pub const fn in_phase(mut self, phase: u32) -> Self {
        self.phase = Some(phase);
        self
    }

    /// The fault at this event.
    #[must_use]
    pub const fn at_event(mut self, event: u32) -> Self {
        self.event = Some(event);
        self
    }

    /// The fault at this address.
    #[must_use]
    pub const fn at_address(mut self, address: Address) -> Self {
        self.address = Some(address);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: tile {}", self.rule, self.tile)?;
        if let Some(phase) = self.phase {
            write!(f, ", phase {phase}")?;
        }
        if let Some(event) = self.event {
            write!(f, ", event {event}")?;
        }
        if let Some(address) = self.address {
            write!(f, ", address {address:#x}")?;
        }
        write!(f, ": {}", self.detail)
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_names_are_distinct() {
        let mut names: Vec<_> = FaultRule::ALL.iter().map(|rule| rule.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FaultRule::ALL.len());
    }

    #[test]
    fn a_fault_says_what_and_where() {
        let fault = Fault::new(
            FaultRule::SilentSource,
            TileId::new(7),
            "tile 3 sends nothing",
        )
        .in_phase(2)
        .at_event(41);
        let expected = "silent-source: tile 7, phase 2, event 41: tile 3 sends nothing";
        assert_eq!(fault.to_string(), expected);
    }
}
