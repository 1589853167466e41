//! Exchange instruction words, decoded. No encoder shares this code.
//!
//! ```text
//! DELAY     40A00000/FFF80000  count19[18:0]
//! DELAYPIC  60000000/FC000000  count7[25:19]  sel[18]     value18[17:0]
//! DELAYXPIC 64000000/FC000000  count12[25:14] sel[13]     value13[12:0]
//! SEND      78000000/F8000000  count6[26:21]  addr18[20:3]            sctl[2:0]
//! SENDOFF   70000000/F8100000  count6[26:21]  high6[19:14] delta11[13:3] sctl[2:0]
//! SENDPIC   70100000/F8100000  count6[26:21]  sel2[19:18] value18[17:0]
//! SENDPICP  F0000000/F0000000  sel[27] count6[26:21] addr18[20:3]             sctl[2:0]
//!           second word        xpic14[31:18] pic18[17:0]
//! ```
//!
//! Counts store events minus one. Fields and masks are from vendor assembler output; bit 12 of a
//! field named `value13` and bit 17 of one named `value18` are the highest.

/// A register that a row's control writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ControlKind {
    /// INCOMING pointer: a word address, added to INCOMING_BASE.
    Pointer,
    /// INCOMING_FORMAT: 0 for 32-bit items, else the direction of 64-bit ones.
    Format,
    /// INCOMING_MUX: physical id of the selected source.
    Mux,
    /// INCOMING_MUXPAIR: physical id of the selected source of 64-bit items.
    MuxPair,
}

/// A control write as an instruction states it, without its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ControlWrite {
    /// The register.
    pub kind: ControlKind,
    /// The value: 18 bits for pointer and format, 13 for sources.
    pub value: u32,
}

/// Base registers that a PUT inside a row can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BaseRegister {
    /// INCOMING_BASE, a byte address.
    Incoming,
    /// OUTGOING_BASE, a byte address.
    Outgoing,
}

/// One decoded instruction. Counts are events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// Time passes.
    Delay {
        /// Events, 1..=0x80000.
        events: u32,
    },
    /// Time passes, then a control is written.
    DelayControl {
        /// Events, 1..=128 (pointer, format) or 1..=4096 (sources).
        events: u32,
        /// What is written at the end of the interval.
        control: ControlWrite,
    },
    /// Sends from an absolute address.
    Send {
        /// Items, 1..=64.
        items: u32,
        /// Address field in items: words, or 8-byte units where the send control has bit 2.
        address: u32,
        /// Send control: bit 0 east, bit 1 west, bit 2 64-bit items.
        control: u8,
    },
    /// Continues the outgoing stream.
    SendOff {
        /// Items, 1..=4096.
        items: u32,
        /// Pointer offset, of unknown meaning where it is not zero.
        delta: u32,
        /// Send control.
        control: u8,
    },
    /// Continues the outgoing stream and writes one control at its second event.
    SendControl {
        /// Items, 1..=64.
        items: u32,
        /// What is written.
        control: ControlWrite,
    },
    /// Writes two controls at its second event; sends from an absolute address where `control` is
    /// not zero, else waits. Occupies two words; the second is data.
    SendPair {
        /// Items or events, 1..=64.
        items: u32,
        /// Address field in items.
        address: u32,
        /// Send control; zero sends nothing.
        control: u8,
        /// Pointer or format write.
        pic: ControlWrite,
        /// Source write.
        xpic: ControlWrite,
    },
    /// Barrier of a zone.
    Sync {
        /// The zone, 0..=15.
        zone: u32,
    },
    /// Answers a barrier without stopping.
    Sans {
        /// 0 inactive launch, 1 external.
        operand: u32,
    },
    /// br m10: the end of a row.
    Return,
    /// No operation: one event.
    Nop,
    /// Loads an immediate into a register: one event.
    SetZi {
        /// Register, 0..=15; m15 stays zero.
        register: u8,
        /// The value.
        value: u32,
    },
    /// Writes a control register: thirteen events for a base register.
    Put {
        /// Control register number.
        csr: u32,
        /// Source register.
        register: u8,
    },
}

/// Control-register number of INCOMING_BASE.
pub const CSR_INCOMING_BASE: u32 = 0xA4;
/// Control-register number of OUTGOING_BASE.
pub const CSR_OUTGOING_BASE: u32 = 0xA7;
/// Events of a base-register PUT inside a row (measured on one platform).
pub const PUT_BASE_EVENTS: u32 = 13;

const fn bits(word: u32, high: u32, low: u32) -> u32 {
    (word >> low) & (u32::MAX >> (31 + low - high))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the fields are three and four bits wide"
)]
const fn send_control(word: u32) -> u8 {
    bits(word, 2, 0) as u8
}

const fn pic(select: u32, value: u32) -> ControlWrite {
    let kind = if select == 0 {
        ControlKind::Pointer
    } else {
        ControlKind::Format
    };
    ControlWrite { kind, value }
}

const fn xpic(select: u32, value: u32) -> ControlWrite {
    let kind = if select == 0 {
        ControlKind::Mux
    } else {
        ControlKind::MuxPair
    };
    ControlWrite {
        kind,
        value: value & 0x1fff,
    }
}

/// The first words of a two-word instruction.
#[must_use]
pub const fn is_pair(word: u32) -> bool {
    word & 0xF000_0000 == 0xF000_0000
}

/// Decodes the instruction that starts with `word`; `next` is the word after it, used by two-word
/// instructions only. `None` is no instruction of a row.
#[must_use]
pub const fn decode(word: u32, next: u32) -> Option<Instruction> {
    if let Some(instruction) = decode_exchange(word, next) {
        return Some(instruction);
    }
    decode_supervisor(word)
}

const fn decode_exchange(word: u32, next: u32) -> Option<Instruction> {
    let items = bits(word, 26, 21) + 1;
    let address = bits(word, 20, 3);
    let control = send_control(word);
    Some(if is_pair(word) {
        let wide = bits(next, 31, 18);
        Instruction::SendPair {
            items,
            address,
            control,
            pic: pic(bits(word, 27, 27), bits(next, 17, 0)),
            xpic: xpic(wide >> 13, wide),
        }
    } else if word & 0xF800_0000 == 0x7800_0000 {
        Instruction::Send {
            items,
            address,
            control,
        }
    } else if word & 0xF810_0000 == 0x7000_0000 {
        let items = (bits(word, 19, 14) << 6 | bits(word, 26, 21)) + 1;
        Instruction::SendOff {
            items,
            delta: bits(word, 13, 3),
            control,
        }
    } else if word & 0xF810_0000 == 0x7010_0000 {
        let (select, value) = (bits(word, 19, 18), bits(word, 17, 0));
        let control = if select < 2 {
            xpic(select, value)
        } else {
            pic(select - 2, value)
        };
        Instruction::SendControl { items, control }
    } else if word & 0xFC00_0000 == 0x6000_0000 {
        let control = pic(bits(word, 18, 18), bits(word, 17, 0));
        Instruction::DelayControl {
            events: bits(word, 25, 19) + 1,
            control,
        }
    } else if word & 0xFC00_0000 == 0x6400_0000 {
        let control = xpic(bits(word, 13, 13), bits(word, 12, 0));
        Instruction::DelayControl {
            events: bits(word, 25, 14) + 1,
            control,
        }
    } else if word & 0xFFF8_0000 == 0x40A0_0000 {
        Instruction::Delay {
            events: bits(word, 18, 0) + 1,
        }
    } else {
        return None;
    })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "register fields are four bits wide"
)]
const fn decode_supervisor(word: u32) -> Option<Instruction> {
    let register = bits(word, 23, 20) as u8;
    Some(if word == 0x43A0_0000 {
        Instruction::Return
    } else if word == 0x19E0_0000 {
        Instruction::Nop
    } else if word & 0xFFFF_FFF0 == 0x4180_0000 {
        Instruction::Sync {
            zone: bits(word, 3, 0),
        }
    } else if word & 0xFFFF_FFFE == 0x40C0_0000 {
        Instruction::Sans {
            operand: bits(word, 0, 0),
        }
    } else if word & 0xFF00_0000 == 0x1900_0000 {
        Instruction::SetZi {
            register,
            value: bits(word, 19, 0),
        }
    } else if word & 0xFF0F_FF00 == 0x4300_8000 {
        Instruction::Put {
            csr: bits(word, 7, 0),
            register,
        }
    } else {
        return None;
    })
}

#[cfg(test)]
mod tests;
