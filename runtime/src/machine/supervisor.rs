//! Supervisor instructions that stand around exchange rows, decoded for listings. Rows themselves
//! hold only what [`super::isa`] decodes; nothing here is executed.
//!
//! Encodings and vectors are from vendor assembler output: register fields are four bits, branch
//! targets are stored in words.

use std::fmt;

/// One supervisor instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supervisor {
    /// Barrier of a zone, 0..=15.
    Sync(u32),
    /// Answers a barrier without stopping: 0 inactive launch, 1 external.
    Sans(u32),
    /// Stops with a code, 0..=15.
    Trap(u32),
    /// No operation.
    Nop,
    /// Jumps to the address in a register; m10 returns.
    Branch(u32),
    /// Puts the return address into a register and jumps.
    Call {
        /// Link register.
        link: u32,
        /// Byte address.
        target: u32,
    },
    /// Jumps where a register is zero.
    BranchZero {
        /// The register.
        register: u32,
        /// Byte address.
        target: u32,
    },
    /// Loads an immediate.
    SetZi {
        /// Destination register.
        register: u32,
        /// Twenty bits.
        value: u32,
    },
    /// Writes a control register.
    Put {
        /// Control register number.
        csr: u32,
        /// Source register.
        register: u32,
    },
    /// Reads a control register into m0.
    Get {
        /// Control register number.
        csr: u32,
    },
    /// Loads or stores a word at base + 4·(index register + offset).
    Memory {
        /// Whether it stores.
        store: bool,
        /// Loaded or stored register.
        data: u32,
        /// Base register.
        base: u32,
        /// Index register.
        index: u32,
        /// Offset in words, twelve bits.
        offset: u32,
    },
    /// destination = source (operation) immediate.
    Immediate {
        /// What is computed.
        operation: Operation,
        /// Destination register.
        destination: u32,
        /// Source register.
        source: u32,
        /// The immediate; signed for additions.
        value: i32,
    },
}

/// Operations with an immediate operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Sixteen-bit signed addition.
    Add,
    /// Twelve-bit mask.
    And,
    /// Shift to the left.
    ShiftLeft,
}

const fn field(word: u32, low: u32, width: u32) -> u32 {
    (word >> low) & (u32::MAX >> (32 - width))
}

const fn immediate(word: u32) -> Option<Supervisor> {
    let (operation, value) = match (word >> 24, field(word, 12, 4)) {
        (0x22, _) => (Operation::Add, ((word << 16) as i32) >> 16),
        (0x42, 0x0) => (Operation::And, (word & 0xFFF) as i32),
        (0x42, 0xA) => (Operation::ShiftLeft, (word & 0xFFF) as i32),
        _ => return None,
    };
    Some(Supervisor::Immediate {
        operation,
        destination: field(word, 16, 4),
        source: field(word, 20, 4),
        value,
    })
}

/// Decodes a supervisor word; `None` where it is none of these.
#[must_use]
pub const fn decode(word: u32) -> Option<Supervisor> {
    let register = field(word, 20, 4);
    let target = field(word, 0, 20) * 4;
    Some(match word >> 24 {
        0x41 if word & 0xFFFF_FFF0 == 0x4180_0000 => Supervisor::Sync(field(word, 0, 4)),
        0x41 if word & 0xFFFF_FFF0 == 0x4180_1000 => Supervisor::Trap(field(word, 0, 4)),
        0x41 if word & 0xFFFF_FF00 == 0x4100_0000 => Supervisor::Get {
            csr: field(word, 0, 8),
        },
        0x40 if word & 0xFFFF_FFFE == 0x40C0_0000 => Supervisor::Sans(field(word, 0, 1)),
        0x19 if word == 0x19E0_0000 => Supervisor::Nop,
        0x19 => Supervisor::SetZi {
            register,
            value: field(word, 0, 20),
        },
        0x18 => Supervisor::Call {
            link: register,
            target,
        },
        0x13 => Supervisor::BranchZero { register, target },
        0x43 if word & 0xFF0F_FFFF == 0x4300_0000 => Supervisor::Branch(register),
        0x43 if word & 0xFF0F_FF00 == 0x4300_8000 => Supervisor::Put {
            csr: field(word, 0, 8),
            register,
        },
        0x01 | 0x4F => Supervisor::Memory {
            store: word >> 24 == 0x4F,
            data: field(word, 16, 4),
            base: register,
            index: field(word, 12, 4),
            offset: field(word, 0, 12),
        },
        _ => return immediate(word),
    })
}

impl fmt::Display for Supervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Sync(zone) => write!(f, "sync {zone}"),
            Self::Sans(operand) => write!(f, "sans {operand}"),
            Self::Trap(code) => write!(f, "trap {code}"),
            Self::Nop => f.write_str("nop"),
            Self::Branch(register) => write!(f, "br m{register}"),
            Self::Call { link, target } => write!(f, "call m{link}, {target:#x}"),
            Self::BranchZero { register, target } => write!(f, "brz m{register}, {target:#x}"),
            Self::SetZi { register, value } => write!(f, "setzi m{register}, {value:#x}"),
            Self::Put { csr, register } => write!(f, "put {csr:#x}, m{register}"),
            Self::Get { csr } => write!(f, "get m0, {csr:#x}"),
            Self::Memory {
                store,
                data,
                base,
                index,
                offset,
            } => {
                let name = if store { "st32" } else { "ld32" };
                write!(f, "{name} m{data}, m{base}, m{index}, {offset}")
            }
            Self::Immediate {
                operation,
                destination,
                source,
                value,
            } => {
                let name = match operation {
                    Operation::Add => "add",
                    Operation::And => "and",
                    Operation::ShiftLeft => "shl",
                };
                write!(f, "{name} m{destination}, m{source}, {value}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vendor_words_read_as_assembled() {
        let vectors = [
            (0x01B8_F001, "ld32 m8, m11, m15, 1"),
            (0x4FB2_F000, "st32 m2, m11, m15, 0"),
            (0x22BB_FFE0, "add m11, m11, -32"),
            (0x4280_0001, "and m0, m8, 1"),
            (0x427A_A002, "shl m10, m7, 2"),
            (0x1301_3040, "brz m0, 0x4c100"),
            (0x1980_0001, "setzi m8, 0x1"),
            (0x1980_0640, "setzi m8, 0x640"),
            (0x4380_80A6, "put 0xa6, m8"),
            (0x4380_80A0, "put 0xa0, m8"),
            (0x43A0_0000, "br m10"),
            (0x4180_0003, "sync 3"),
            (0x40C0_0000, "sans 0"),
            (0x4180_1002, "trap 2"),
            (0x19E0_0000, "nop"),
            (0x4100_0060, "get m0, 0x60"),
        ];
        for (word, text) in vectors {
            let decoded = decode(word).map(|instruction| instruction.to_string());
            assert_eq!(decoded.as_deref(), Some(text), "{word:08x}");
        }
    }

    #[test]
    fn exchange_words_are_not_supervisor_words() {
        for word in [
            0,
            0x40A0_0032,
            0x6400_0082,
            0x782A_03CB,
            0x7000_0002,
            0xF54A_0109,
        ] {
            assert_eq!(decode(word), None, "{word:08x}");
        }
    }
}
