//! Words of vendor assembler output and what they mean.

use super::*;

fn one(word: u32) -> Instruction {
    decode(word, 0).expect("a known instruction")
}

#[test]
fn sends_decode() {
    let send = |address| Instruction::Send {
        items: 2,
        address,
        control: 3,
    };
    assert_eq!(one(0x782A_03CB), send(0x14079));
    assert_eq!(one(0x782A_03DB), send(0x1407B));
    assert_eq!(
        one(0x766F_C001),
        Instruction::SendOff {
            items: 4084,
            delta: 0,
            control: 1
        }
    );
    assert_eq!(
        one(0x7000_0002),
        Instruction::SendOff {
            items: 1,
            delta: 0,
            control: 2
        }
    );
}

#[test]
fn two_word_sends_decode() {
    let expected = Instruction::SendPair {
        items: 43,
        address: 0x14021,
        control: 1,
        pic: ControlWrite {
            kind: ControlKind::Pointer,
            value: 0x15000,
        },
        xpic: ControlWrite {
            kind: ControlKind::Mux,
            value: 0x640,
        },
    };
    assert!(is_pair(0xF54A_0109));
    assert_eq!(decode(0xF54A_0109, 0x1901_5000), Some(expected));
}

#[test]
fn delays_and_controls_decode() {
    assert_eq!(one(0x40A0_0032), Instruction::Delay { events: 51 });
    let control = |kind, value| ControlWrite { kind, value };
    let mux = |events, value| Instruction::DelayControl {
        events,
        control: control(ControlKind::Mux, value),
    };
    assert_eq!(one(0x6400_0082), mux(1, 0x82));
    assert_eq!(one(0x641C_0000), mux(113, 0));
    assert_eq!(one(0x67FF_C640), mux(4096, 0x640));
    let pointer = |events, value| Instruction::DelayControl {
        events,
        control: control(ControlKind::Pointer, value),
    };
    assert_eq!(one(0x61D8_0000), pointer(60, 0));
    assert_eq!(one(0x6181_4000), pointer(49, 0x14000));
    let format = Instruction::DelayControl {
        events: 1,
        control: control(ControlKind::Format, 1),
    };
    assert_eq!(one(0x6004_0001), format);
    let pair = Instruction::DelayControl {
        events: 1,
        control: control(ControlKind::MuxPair, 0x640),
    };
    assert_eq!(one(0x6400_2640), pair);
}

#[test]
fn continuations_with_a_control_decode_all_four_selectors() {
    let kinds = [
        ControlKind::Mux,
        ControlKind::MuxPair,
        ControlKind::Pointer,
        ControlKind::Format,
    ];
    for (select, kind) in (0..).zip(kinds) {
        let word = 0x7010_0000 | 4 << 21 | select << 18 | 0x155;
        let control = ControlWrite { kind, value: 0x155 };
        assert_eq!(one(word), Instruction::SendControl { items: 5, control });
    }
}

#[test]
fn supervisor_words_decode() {
    assert_eq!(one(0x4180_0003), Instruction::Sync { zone: 3 });
    assert_eq!(one(0x40C0_0000), Instruction::Sans { operand: 0 });
    assert_eq!(one(0x43A0_0000), Instruction::Return);
    assert_eq!(
        one(0x1980_0001),
        Instruction::SetZi {
            register: 8,
            value: 1
        }
    );
    assert_eq!(
        one(0x1980_0640),
        Instruction::SetZi {
            register: 8,
            value: 0x640
        }
    );
    assert_eq!(
        one(0x4380_80A6),
        Instruction::Put {
            csr: 0xA6,
            register: 8
        }
    );
    assert_eq!(
        one(0x4380_80A0),
        Instruction::Put {
            csr: 0xA0,
            register: 8
        }
    );
}

#[test]
fn words_of_other_programs_are_refused() {
    for word in [
        0,
        0x01B8_F001,
        0x4FB2_F000,
        0x22BB_FFE0,
        0x4280_0001,
        0x1301_3040,
        u32::MAX >> 4,
    ] {
        assert_eq!(decode(word, 0), None, "{word:08x}");
    }
}

#[test]
fn no_word_matches_two_families() {
    let families = [
        (0xFFF8_0000, 0x40A0_0000),
        (0xFC00_0000, 0x6000_0000),
        (0xFC00_0000, 0x6400_0000),
        (0xF800_0000, 0x7800_0000),
        (0xF810_0000, 0x7000_0000),
        (0xF810_0000, 0x7010_0000),
        (0xF000_0000_u32, 0xF000_0000_u32),
    ];
    for (i, a) in families.iter().enumerate() {
        for b in &families[i + 1..] {
            assert_ne!(
                a.1 & a.0 & b.0,
                b.1 & a.0 & b.0,
                "{a:x?} and {b:x?} overlap"
            );
        }
    }
}
