//! Fields → instruction words of the exchange. Counts are events and are stored minus one.
//!
//! Callers keep the limits; a field that does not fit is a bug and asserts.

use runtime::machine::arch::{
    DELAY_EVENTS_MAX, DELAYPIC_EVENTS_MAX, DELAYXPIC_EVENTS_MAX, SEND_ITEMS_MAX, SENDOFF_ITEMS_MAX,
};

/// br m10: the end of a row.
pub(super) const RETURN: u32 = 0x43A0_0000;

/// A register that a control writes, with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Write {
    /// INCOMING_MUX: the selected source, a physical id or the neutral one; 13 bits.
    Source(u32),
    /// INCOMING pointer: a word address; 18 bits.
    Pointer(u32),
    /// INCOMING_MUXPAIR: the source that a pair selects; 13 bits.
    PairSource(u32),
    /// INCOMING_FORMAT: 0, or the direction of 64-bit items.
    Format(u32),
}

const fn field(value: u32, bits: u32, shift: u32) -> u32 {
    assert!(value >> bits == 0, "a field value has too many bits");
    value << shift
}

const fn count(events: u32, most: u32, bits: u32, shift: u32) -> u32 {
    assert!(
        events >= 1 && events <= most,
        "an instruction's count is out of range"
    );
    field(events - 1, bits, shift)
}

/// DELAY: `events` pass, up to 0x80000.
pub(super) const fn delay(events: u32) -> u32 {
    0x40A0_0000 | count(events, DELAY_EVENTS_MAX, 19, 0)
}

/// The most events that [`delay_control`] can take.
pub(super) const fn delay_control_most(write: Write) -> u32 {
    match write {
        Write::Source(_) | Write::PairSource(_) => DELAYXPIC_EVENTS_MAX,
        Write::Pointer(_) | Write::Format(_) => DELAYPIC_EVENTS_MAX,
    }
}

/// DELAYXPIC or DELAYPIC: `events` pass, then the write takes effect.
pub(super) const fn delay_control(events: u32, write: Write) -> u32 {
    let most = delay_control_most(write);
    let (source_events, pointer_events) = (0x6400_0000, 0x6000_0000);
    match write {
        Write::Source(source) => source_events | count(events, most, 12, 14) | field(source, 13, 0),
        Write::PairSource(source) => {
            source_events | count(events, most, 12, 14) | 1 << 13 | field(source, 13, 0)
        }
        Write::Pointer(at) => pointer_events | count(events, most, 7, 19) | field(at, 18, 0),
        Write::Format(format) => {
            pointer_events | count(events, most, 7, 19) | 1 << 18 | field(format, 18, 0)
        }
    }
}

/// SEND: `items` items from address `address`, counted in items: words, or 64 bits where the
/// control has bit 2.
pub(super) const fn send(items: u32, address: u32, control: u8) -> u32 {
    let stream = field(address, 18, 3) | field(control as u32, 3, 0);
    0x7800_0000 | count(items, SEND_ITEMS_MAX, 6, 21) | stream
}

/// What is added to a word of [`send`] or [`send_pair`] for an address `words` words further on.
pub(super) const fn address_step(words: u32) -> u32 {
    words << 3
}

/// SENDOFF: the stream goes on for `items` words.
pub(super) const fn send_off(items: u32, control: u8) -> u32 {
    let stored = count(items, SENDOFF_ITEMS_MAX, 12, 0);
    0x7000_0000 | (stored & 63) << 21 | (stored >> 6) << 14 | field(control as u32, 3, 0)
}

/// SENDPIC: the stream goes on for `items` words; the write takes effect at the second event.
pub(super) const fn send_control(items: u32, write: Write) -> u32 {
    let word = 0x7010_0000 | count(items, SEND_ITEMS_MAX, 6, 21);
    match write {
        Write::Source(source) => word | field(source, 13, 0),
        Write::PairSource(source) => word | 1 << 18 | field(source, 13, 0),
        Write::Pointer(at) => word | 2 << 18 | field(at, 18, 0),
        Write::Format(format) => word | 3 << 18 | field(format, 18, 0),
    }
}

/// SENDPICP: both writes take effect at the second event. Sends `items` words from `address`, or
/// waits for as many events where `control` is zero. Belongs at an even word.
pub(super) const fn send_pair(
    items: u32,
    address: u32,
    control: u8,
    source: u32,
    pointer: u32,
) -> [u32; 2] {
    let stream = field(address, 18, 3) | field(control as u32, 3, 0);
    let first = 0xF000_0000 | count(items, SEND_ITEMS_MAX, 6, 21) | stream;
    [first, field(source, 13, 18) | field(pointer, 18, 0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_vendor_assembler() {
        assert_eq!(send(2, 0x14079, 3), 0x782A_03CB);
        assert_eq!(send(2, 82043, 3), 0x782A_03DB);
        assert_eq!(
            send_pair(43, 0x14021, 1, 0x640, 0x15000),
            [0xF54A_0109, 0x1901_5000]
        );
        assert_eq!(delay(0x87), 0x40A0_0086);
        assert_eq!(send(3, 0, 1), 0x7840_0001);
        assert_eq!(delay_control(113, Write::Source(0)), 0x641C_0000);
        assert_eq!(delay_control(3, Write::Source(0x640)), 0x6400_8640);
        assert_eq!(delay_control(49, Write::Pointer(0)), 0x6180_0000);
        assert_eq!(send(64, 0, 2), 0x7FE0_0002);
        assert_eq!(send_off(1, 2), 0x7000_0002);
        assert_eq!(send_off(4084, 1), 0x766F_C001);
        assert_eq!(delay_control(4096, Write::Source(0x640)), 0x67FF_C640);
        assert_eq!(delay_control(49, Write::Pointer(0x14000)), 0x6181_4000);
    }

    #[test]
    fn continuations_with_a_control_follow_the_field_table() {
        assert_eq!(send_control(1, Write::Source(0x640)), 0x7010_0640);
        assert_eq!(send_control(64, Write::Pointer(0x3_ffff)), 0x77FB_FFFF);
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn a_count_beyond_its_field_is_a_bug() {
        send(65, 0, 1);
    }
}
