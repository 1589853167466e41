//! One tile's row: instruction words in SRAM → what the tile sends and controls, and when.
//!
//! A send is labelled by the event at which its first item leaves, a control by the event at which
//! it takes effect. Entry synchronisation and return take no event. A message is a SEND, or a
//! transmitting two-word send that does not carry on where the stream is, with all its
//! continuations; messages of a row are disjoint and in event order, and so are its controls.

use analytics::units::TileId;

use crate::fault::{Fault, FaultRule};
use crate::machine::arch::{NEUTRAL_SOURCE, TILES};
use crate::machine::isa::{
    self, BaseRegister, CSR_INCOMING_BASE, CSR_OUTGOING_BASE, ControlKind, ControlWrite,
    Instruction, PUT_BASE_EVENTS,
};
use crate::machine::memory::TileMemory;
use crate::machine::sram;
use crate::package::model::Address;

/// Zone of the barrier over all tiles of the chip, the only one that may open a row.
const ZONE_INTERNAL: u32 = 3;
/// Send-control bit of 64-bit items.
const WIDE: u8 = 4;

/// Items that leave a tile back to back from consecutive addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Event at which the first item leaves.
    pub event: u32,
    /// Items, one an event; at least one.
    pub items: u32,
    /// Byte address of the first item.
    pub address: Address,
    /// Send control: bit 0 east, bit 1 west, bit 2 64-bit items.
    pub control: u8,
}

impl Message {
    /// Whether its items are 64 bits wide, which borrows the pair partner's lane.
    #[must_use]
    pub const fn wide(&self) -> bool {
        self.control & WIDE != 0
    }

    /// Bytes of one item: 4 or 8.
    #[must_use]
    pub const fn item_bytes(&self) -> u32 {
        if self.wide() { 8 } else { 4 }
    }

    /// Length in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u32 {
        self.items * self.item_bytes()
    }

    /// One past the event at which the last item leaves.
    #[must_use]
    pub const fn end(&self) -> u32 {
        self.event + self.items
    }
}

/// A control write with the event at which it takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Event of effect, at least one.
    pub event: u32,
    /// Register and value.
    pub write: ControlWrite,
}

/// A switch of INCOMING_BASE inside a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseSwitch {
    /// First event of the switch.
    pub event: u32,
    /// One past its last event, from which the new base holds.
    pub end: u32,
    /// The new base, a byte address.
    pub base: Address,
}

/// A row with its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedRow {
    /// Address of the first word.
    pub address: Address,
    /// One past the last word, the return.
    pub code_end: Address,
    /// Whether the row itself joins the barrier; else the supervisor did before it called the row.
    pub entry_sync: bool,
    /// INCOMING_BASE at event 0, a byte address.
    pub incoming_base: Address,
    /// Later values of INCOMING_BASE, in event order.
    pub base_switches: Vec<BaseSwitch>,
    /// What the tile sends, in event order.
    pub messages: Vec<Message>,
    /// What it controls, in event order.
    pub controls: Vec<Control>,
    /// Events from the release of the barrier to the return.
    pub horizon: u32,
}

/// Decodes the row of `tile` that starts at `address`.
///
/// # Errors
///
/// A word that is no exchange instruction, or one that breaks a rule that a row can break on its
/// own.
pub fn decode_row(
    tile: TileId,
    memory: &TileMemory,
    address: Address,
    incoming_base: Address,
    outgoing_base: Address,
) -> Result<TimedRow, Fault> {
    let mut decoder = Decoder {
        tile,
        pc: address,
        stream: None,
        outgoing_base,
        registers: [None; 16],
        row: TimedRow {
            address,
            code_end: address,
            entry_sync: false,
            incoming_base,
            base_switches: Vec::new(),
            messages: Vec::new(),
            controls: Vec::new(),
            horizon: 0,
        },
    };
    // m15 reads zero.
    decoder.registers[15] = Some(0);
    if !address.is_multiple_of(8) {
        return Err(decoder.fault(FaultRule::RowAlignment, "the row is not 8-byte aligned"));
    }
    let bases = [incoming_base, outgoing_base];
    if bases.iter().any(|base| !base.is_multiple_of(4)) {
        let what = format!("bases {incoming_base:#x} and {outgoing_base:#x} are not both words");
        return Err(decoder.fault(FaultRule::AddressAlignment, what));
    }
    while decoder.step(memory)? {}
    decoder.row.code_end = decoder.pc;
    Ok(decoder.row)
}

/// Where the outgoing stream is after a send.
#[derive(Clone, Copy)]
struct Stream {
    /// Event at which a continuation has to start.
    event: u32,
    /// Address of the next item.
    address: Address,
    control: u8,
}

struct Decoder {
    tile: TileId,
    pc: Address,
    stream: Option<Stream>,
    outgoing_base: Address,
    registers: [Option<u32>; 16],
    row: TimedRow,
}

type Done = Result<(), Fault>;

impl Decoder {
    fn fault(&self, rule: FaultRule, what: impl Into<String>) -> Fault {
        Fault::new(rule, self.tile, what)
            .at_event(self.row.horizon)
            .at_address(self.pc)
    }

    /// One word of code at the program counter plus `offset`.
    fn word(&self, memory: &TileMemory, offset: u32) -> Result<u32, Fault> {
        let address = self.pc.saturating_add(offset);
        let outside = || self.fault(FaultRule::RowRegion, "the row runs out of the loaded code");
        let executable = (sram::BASE..sram::INTERLEAVED).contains(&address);
        if !executable || !memory.is_initialised(address) {
            return Err(outside());
        }
        let bytes = memory.read(address, 4).ok();
        let word = bytes.and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
        word.map(u32::from_le_bytes).ok_or_else(outside)
    }

    /// Executes one instruction; false after the return.
    fn step(&mut self, memory: &TileMemory) -> Result<bool, Fault> {
        let word = self.word(memory, 0)?;
        let pair = isa::is_pair(word);
        if pair && !self.pc.is_multiple_of(8) {
            let what = "a two-word send is not 8-byte aligned";
            return Err(self.fault(FaultRule::PairAlignment, what));
        }
        let next = if pair { self.word(memory, 4)? } else { 0 };
        let Some(instruction) = isa::decode(word, next) else {
            let what = format!("{word:08x} is no instruction of a row");
            return Err(self.fault(FaultRule::UnknownInstruction, what));
        };
        self.execute(instruction)?;
        self.pc += if pair { 8 } else { 4 };
        Ok(instruction != Instruction::Return)
    }

    fn execute(&mut self, instruction: Instruction) -> Done {
        match instruction {
            Instruction::Delay { events } => self.pass(events),
            Instruction::DelayControl { events, control } => {
                self.pass(events)?;
                self.control(self.row.horizon, control)
            }
            Instruction::Send {
                items,
                address,
                control,
            } => self.send(items, address, control),
            Instruction::SendOff {
                items,
                delta,
                control,
            } => self.send_off(items, delta, control),
            Instruction::SendControl { items, control } => {
                self.control(self.second_event()?, control)?;
                self.carry_on(items)
            }
            Instruction::SendPair {
                items,
                address,
                control,
                pic,
                xpic,
            } => {
                self.control_pair(pic, xpic)?;
                self.send_pair(items, address, control)
            }
            Instruction::Sync { zone } => self.sync(zone),
            Instruction::Sans { .. } => {
                let what = "a tile with a row does not answer the barrier without stopping";
                Err(self.fault(FaultRule::UnexpectedSync, what))
            }
            Instruction::Return => Ok(()),
            Instruction::Nop => self.pass(1),
            Instruction::SetZi { register, value } => {
                if register < 15 {
                    self.registers[usize::from(register)] = Some(value);
                }
                self.pass(1)
            }
            Instruction::Put { csr, register } => self.put(csr, register),
        }
    }

    /// Lets events pass.
    fn pass(&mut self, events: u32) -> Done {
        let horizon = self.row.horizon.checked_add(events);
        // Half the range leaves room for routes and landing delays beyond a row.
        match horizon.filter(|&h| h < 1 << 31) {
            Some(horizon) => {
                self.row.horizon = horizon;
                Ok(())
            }
            None => Err(self.fault(FaultRule::RowLength, "the row lasts 2^31 events or more")),
        }
    }

    fn second_event(&self) -> Result<u32, Fault> {
        let event = self.row.horizon.checked_add(1);
        event.ok_or_else(|| self.fault(FaultRule::RowLength, "the row lasts 2^32 events"))
    }

    fn control(&mut self, event: u32, write: ControlWrite) -> Done {
        let value = write.value;
        match write.kind {
            ControlKind::Mux | ControlKind::MuxPair => {
                let known = value < u32::from(TILES) || value == u32::from(NEUTRAL_SOURCE);
                if !known {
                    let what = format!("source {value:#x} is no tile and not the neutral one");
                    return Err(self.fault(FaultRule::UnknownSource, what));
                }
            }
            ControlKind::Format if value > 2 => {
                let what = format!("format {value} has no known meaning");
                return Err(self.fault(FaultRule::FormatMismatch, what));
            }
            ControlKind::Format | ControlKind::Pointer => {}
        }
        self.row.controls.push(Control { event, write });
        Ok(())
    }

    fn control_pair(&mut self, pic: ControlWrite, xpic: ControlWrite) -> Done {
        if pic.kind != ControlKind::Pointer || xpic.kind != ControlKind::Mux {
            let what = format!("{:?} and {:?} are written together", pic.kind, xpic.kind);
            return Err(self.fault(FaultRule::PairedControlMerged, what));
        }
        let event = self.second_event()?;
        self.control(event, xpic)?;
        self.control(event, pic)
    }

    /// The byte address of an address field, and whether the control may send at all.
    fn outgoing(&self, field: u32, control: u8) -> Result<Address, Fault> {
        if control & 3 == 0 {
            let what = format!("send control {control} names no direction");
            return Err(self.fault(FaultRule::SendControl, what));
        }
        let unit = if control & WIDE == 0 { 4 } else { 8 };
        let address = u64::from(self.outgoing_base) + u64::from(field) * unit;
        if !address.is_multiple_of(unit) {
            let what = format!("{unit}-byte items are sent from {address:#x}");
            return Err(self.fault(FaultRule::AddressAlignment, what));
        }
        let beyond = || {
            let what = format!("a send starts at {address:#x}");
            self.fault(FaultRule::AddressRange, what)
        };
        Address::try_from(address).ok().ok_or_else(beyond)
    }

    fn send(&mut self, items: u32, field: u32, control: u8) -> Done {
        let address = self.outgoing(field, control)?;
        self.row.messages.push(Message {
            event: self.row.horizon,
            items: 0,
            address,
            control,
        });
        self.stream = Some(Stream {
            event: self.row.horizon,
            address,
            control,
        });
        self.carry_on(items)
    }

    fn send_off(&mut self, items: u32, delta: u32, control: u8) -> Done {
        if delta != 0 {
            let what = format!("the continuation moves the pointer by {delta}");
            return Err(self.fault(FaultRule::SendOffset, what));
        }
        if self.stream.is_some_and(|stream| stream.control != control) {
            let what = format!("the continuation changes the send control to {control}");
            return Err(self.fault(FaultRule::SendControl, what));
        }
        self.carry_on(items)
    }

    fn send_pair(&mut self, items: u32, field: u32, control: u8) -> Done {
        if control == 0 {
            return self.pass(items);
        }
        let address = self.outgoing(field, control)?;
        let here = self.row.horizon;
        let carries_on = self
            .stream
            .is_some_and(|s| s.event == here && s.address == address && s.control == control);
        if carries_on {
            self.carry_on(items)
        } else {
            self.send(items, field, control)
        }
    }

    /// Sends the next items of the stream, which must not have paused.
    fn carry_on(&mut self, items: u32) -> Done {
        let here = self.row.horizon;
        let stream = self.stream.filter(|stream| stream.event == here);
        let (Some(stream), Some(mut message)) = (stream, self.row.messages.last().copied()) else {
            let what = "no send ends where the continuation starts";
            return Err(self.fault(FaultRule::ContinuationWithoutStream, what));
        };
        message.items += items;
        let bytes = items * message.item_bytes();
        if !sram::contains(stream.address, bytes) {
            let what = format!("{bytes} bytes are sent from {:#x}", stream.address);
            return Err(self.fault(FaultRule::AddressRange, what));
        }
        self.pass(items)?;
        self.stream = Some(Stream {
            event: self.row.horizon,
            address: stream.address + bytes,
            control: stream.control,
        });
        if let Some(last) = self.row.messages.last_mut() {
            *last = message;
        }
        Ok(())
    }

    fn sync(&mut self, zone: u32) -> Done {
        if self.pc != self.row.address || zone != ZONE_INTERNAL {
            let what = format!("a barrier of zone {zone} inside the row");
            return Err(self.fault(FaultRule::UnexpectedSync, what));
        }
        self.row.entry_sync = true;
        Ok(())
    }

    fn put(&mut self, csr: u32, register: u8) -> Done {
        let target = match csr {
            CSR_INCOMING_BASE => BaseRegister::Incoming,
            CSR_OUTGOING_BASE => BaseRegister::Outgoing,
            _ => {
                let what = format!("control register {csr:#x} is not written inside a row");
                return Err(self.fault(FaultRule::UnknownInstruction, what));
            }
        };
        let Some(base) = self.registers[usize::from(register & 15)] else {
            let what = format!("m{register} holds no value that the row has set");
            return Err(self.fault(FaultRule::BaseSwitch, what));
        };
        if !base.is_multiple_of(4) {
            let what = format!("base {base:#x} is no word");
            return Err(self.fault(FaultRule::AddressAlignment, what));
        }
        let event = self.row.horizon;
        self.pass(PUT_BASE_EVENTS)?;
        let end = self.row.horizon;
        match target {
            BaseRegister::Outgoing => self.outgoing_base = base,
            BaseRegister::Incoming => {
                self.row.base_switches.push(BaseSwitch { event, end, base });
            }
        }
        Ok(())
    }
}
