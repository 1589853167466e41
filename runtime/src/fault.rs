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
    BarrierMismatch = "barrier-mismatch":
        "All rows of an exchange join its barrier, or their supervisors have; each tile once.";
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
    MuxOverlap = "mux-overlap":
        "A tile selects a source of 32-bit and one of 64-bit items at different times.";
    PairedReceivers = "paired-receivers":
        "64-bit items go to whole pairs, selected by the member that they reach first.";
    PointerMissing = "pointer-missing":
        "The landing pointer is written before the first word lands.";
    PointerMidPayload = "pointer-mid-payload":
        "The landing pointer does not move during a message.";
    LandingOverlap = "landing-overlap": "One item lands at a time.";
    FormatMismatch = "format-mismatch": "The incoming format fits the width of what lands.";
    FormatHeld = "format-held":
        "The 64-bit format ends when its payload does; only payloads that abut share it.";
    MuxNotNeutral = "mux-not-neutral": "A row ends with neutral sources.";
    FormatNotZero = "format-not-zero": "A row ends in the 32-bit format.";
    RowEndsEarly = "row-ends-early": "A row lasts until its last word has landed.";
    ElementConflict = "element-conflict":
        "Words are not read from and landed in one memory element at the same time.";
    RowElementConflict = "row-element-conflict":
        "A running row and the exchanged data lie in different memory elements.";
    Loopback = "loopback": "A tile sends to itself only along with another tile.";
    DeliveryMismatch = "delivery-mismatch": "What arrived is what the package declared.";
    DeliveryOrder = "delivery-order":
        "Deliveries that touch the same bytes take effect in the order of their declaration.";
    OutsideBuffer = "outside-buffer":
        "Exchanged words lie in buffers that the package declares live at that time.";
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

/// Violations found together: one phase's, in a fixed order. There is at least one.
///
/// What follows from an earlier fault is left out where that can be told, so the list is of causes.
/// It keeps the first [`Faults::KEPT`] and counts the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults {
    first: Fault,
    further: Vec<Fault>,
    total: usize,
}

impl Faults {
    /// Most faults of one phase that are kept.
    pub const KEPT: usize = 64;
    /// Most faults that the text form shows.
    const SHOWN: usize = 10;

    /// The faults in their order, or `Ok` of nothing where there is none.
    ///
    /// # Errors
    ///
    /// At least one fault.
    pub fn check(faults: impl IntoIterator<Item = Fault>) -> Result<(), Self> {
        let mut faults = faults.into_iter();
        let Some(first) = faults.next() else {
            return Ok(());
        };
        let further: Vec<_> = faults.by_ref().take(Self::KEPT - 1).collect();
        let total = 1 + further.len() + faults.count();
        Err(Self {
            first,
            further,
            total,
        })
    }

    /// The first fault.
    #[must_use]
    pub const fn first(&self) -> &Fault {
        &self.first
    }

    /// The faults that were kept, first one first.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        std::iter::once(&self.first).chain(&self.further)
    }

    /// How many there were, kept or not.
    #[must_use]
    pub const fn total(&self) -> usize {
        self.total
    }

    /// The same faults in this phase.
    #[must_use]
    pub fn in_phase(mut self, phase: u32) -> Self {
        self.first = self.first.in_phase(phase);
        let further = self.further.into_iter();
        self.further = further.map(|fault| fault.in_phase(phase)).collect();
        self
    }
}

impl From<Fault> for Faults {
    fn from(first: Fault) -> Self {
        Self {
            first,
            further: Vec::new(),
            total: 1,
        }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        for fault in self.further.iter().take(Self::SHOWN - 1) {
            write!(f, "\n  also {fault}")?;
        }
        match self.total.saturating_sub(Self::SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more"),
        }
    }
}

impl std::error::Error for Faults {}

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

    #[test]
    fn many_faults_show_ten_keep_sixty_four_and_count_all() {
        let fault = |tile| Fault::new(FaultRule::LaneConflict, TileId::new(tile), "busy");
        assert_eq!(Faults::check([]), Ok(()));
        let one = Faults::check([fault(3)]).unwrap_err();
        assert_eq!(one.to_string(), fault(3).to_string());
        assert_eq!(one, Faults::from(fault(3)));
        let many = Faults::check((0..100).map(fault)).unwrap_err();
        assert_eq!((many.iter().count(), many.total()), (Faults::KEPT, 100));
        let text = many.to_string();
        assert_eq!(text.lines().count(), 11);
        assert!(text.starts_with("lane-conflict: tile 0: busy\n  also lane-conflict: tile 1:"));
        assert!(text.ends_with("tile 9: busy\n  and 90 more"), "{text}");
        let placed = many.in_phase(4);
        assert!(placed.iter().all(|fault| fault.phase == Some(4)));
    }
}
