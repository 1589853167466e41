//! A row assembler for tests and benchmarks, written from the published field table. It shares no
//! code with the decoder and names no type of the crate, so that a benchmark can include it as a
//! file.

/// br m10.
pub(crate) const RETURN: u32 = 0x43A0_0000;
/// SYNC of the barrier over all tiles of the chip.
pub(crate) const SYNC_INTERNAL: u32 = 0x4180_0003;
/// The source id that selects nothing.
pub(crate) const NEUTRAL: u32 = 0x640;

/// What a control writes, numbered as SENDPIC's two-bit selector numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Register {
    Mux = 0,
    MuxPair = 1,
    Pointer = 2,
    Format = 3,
}

impl Register {
    /// Selector within its own family, and whether that is the PIC family.
    const fn select(self) -> (u32, bool) {
        (self as u32 & 1, self as u32 >= 2)
    }
}

/// A control at the event at which it takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Write {
    pub(crate) event: u32,
    pub(crate) register: Register,
    pub(crate) value: u32,
}

/// Items that leave from `address`, which counts in items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sent {
    pub(crate) event: u32,
    pub(crate) items: u32,
    pub(crate) address: u32,
    pub(crate) control: u32,
}

pub(crate) fn delay(events: u32) -> u32 {
    assert!((1..=0x8_0000).contains(&events));
    0x40A0_0000 | (events - 1)
}

pub(crate) fn delay_control(events: u32, register: Register, value: u32) -> u32 {
    let (select, pic) = register.select();
    if pic {
        assert!((1..=128).contains(&events) && value < 1 << 18);
        0x6000_0000 | (events - 1) << 19 | select << 18 | value
    } else {
        assert!((1..=4096).contains(&events) && value < 1 << 13);
        0x6400_0000 | (events - 1) << 14 | select << 13 | value
    }
}

pub(crate) fn send(items: u32, address: u32, control: u32) -> u32 {
    assert!((1..=64).contains(&items) && address < 1 << 18 && control < 8);
    0x7800_0000 | (items - 1) << 21 | address << 3 | control
}

pub(crate) fn send_off(items: u32, control: u32) -> u32 {
    assert!((1..=4096).contains(&items) && control < 8);
    let count = items - 1;
    0x7000_0000 | (count & 63) << 21 | (count >> 6) << 14 | control
}

pub(crate) fn send_control(items: u32, register: Register, value: u32) -> u32 {
    assert!((1..=64).contains(&items) && value < 1 << 18);
    0x7010_0000 | (items - 1) << 21 | (register as u32) << 18 | value
}

/// The two words; `pic` and `xpic` are a register of either family with its value.
pub(crate) fn send_pair(
    items: u32,
    address: u32,
    control: u32,
    pic: (Register, u32),
    xpic: (Register, u32),
) -> [u32; 2] {
    assert!((1..=64).contains(&items) && address < 1 << 18 && control < 8);
    let first = pic.0.select().0 << 27 | (items - 1) << 21 | address << 3 | control;
    let second = (xpic.0.select().0 << 13 | xpic.1) << 18 | pic.1;
    [0xF000_0000 | first, second]
}

/// Assembles a row from what happens when; lists are in event order. `None` where the instructions,
/// or this assembler's way to align two-word ones, cannot express the row.
pub(crate) fn assemble(sent: &[Sent], writes: &[Write], horizon: u32) -> Option<Vec<u32>> {
    let mut row = Assembler::default();
    let mut groups = writes.chunk_by(|a, b| a.event == b.event).peekable();
    for message in sent {
        while let Some(group) = groups.next_if(|group| group[0].event <= message.event) {
            row.control_between(group)?;
        }
        row.wait_until(message.event, false)?;
        let mut riders = Vec::new();
        while let Some(group) = groups.next_if(|g| g[0].event <= message.event + message.items) {
            riders.push(group);
        }
        row.message(message, &riders)?;
    }
    for group in groups {
        row.control_between(group)?;
    }
    row.wait_until(horizon, false)?;
    row.words.push(RETURN);
    Some(row.words)
}

#[derive(Default)]
struct Assembler {
    words: Vec<u32>,
    event: u32,
}

impl Assembler {
    fn odd(&self) -> bool {
        self.words.len() % 2 == 1
    }

    /// Delays until `event`, if asked with an even number of words afterwards.
    fn wait_until(&mut self, event: u32, even: bool) -> Option<()> {
        let events = event.checked_sub(self.event)?;
        self.event = event;
        let split = even && events > 0 && !self.odd();
        if split && events > 1 {
            self.words.extend([delay(1), delay(events - 1)]);
        } else if events > 0 {
            self.words.push(delay(events));
        }
        (!even || !self.odd()).then_some(())
    }

    fn control_between(&mut self, group: &[Write]) -> Option<()> {
        let event = group[0].event;
        match group {
            [one] => {
                self.wait_until(event.checked_sub(1)?, false)?;
                self.words.push(delay_control(1, one.register, one.value));
            }
            [a, b] => {
                self.wait_until(event.checked_sub(1)?, true)?;
                let (pic, xpic) = families(a, b)?;
                self.words.extend(send_pair(1, 0, 0, pic, xpic));
            }
            _ => return None,
        }
        self.event = event;
        Some(())
    }

    fn message(&mut self, message: &Sent, riders: &[&[Write]]) -> Option<()> {
        let end = message.event + message.items;
        let until = riders.first().map_or(end, |group| group[0].event - 1);
        self.items(
            message,
            until,
            riders.first().is_some_and(|group| group.len() == 2),
        )?;
        for (index, group) in riders.iter().enumerate() {
            let next = riders.get(index + 1);
            let until = next.map_or(end, |group| group[0].event - 1);
            let even = next.is_some_and(|group| group.len() == 2);
            let mut items = until.checked_sub(self.event)?.min(64);
            // A rider of one word that reaches the next pair leaves it an item to align with.
            let reaches = self.event + items == until;
            if even && reaches && (self.words.len() + group.len()) % 2 == 1 {
                items -= 1;
            }
            if items == 0 {
                return None;
            }
            match group {
                [one] if self.event > message.event => {
                    self.words
                        .push(send_control(items, one.register, one.value));
                }
                [a, b] => {
                    let (pic, xpic) = families(a, b)?;
                    let address = message.address + self.event - message.event;
                    self.words
                        .extend(send_pair(items, address, message.control, pic, xpic));
                }
                _ => return None,
            }
            self.event += items;
            self.items(message, until, even)?;
        }
        Some(())
    }

    /// Sends up to event `until`, if asked with an even number of words afterwards.
    fn items(&mut self, message: &Sent, until: u32, even: bool) -> Option<()> {
        let mut chunks = Vec::new();
        while self.event < until {
            let first = self.event == message.event;
            let items = (until - self.event).min(if first { 64 } else { 4096 });
            chunks.push((first, items));
            self.event += items;
        }
        if even && (self.words.len() + chunks.len()) % 2 == 1 {
            let last = chunks.last_mut().filter(|last| last.1 > 1)?;
            last.1 -= 1;
            chunks.push((false, 1));
        }
        for (first, items) in chunks {
            self.words.push(if first {
                send(items, message.address, message.control)
            } else {
                send_off(items, message.control)
            });
        }
        Some(())
    }
}

/// The PIC and the XPIC write of a pair.
fn families(a: &Write, b: &Write) -> Option<((Register, u32), (Register, u32))> {
    let (pic, xpic) = if a.register >= Register::Pointer {
        (a, b)
    } else {
        (b, a)
    };
    let fits = pic.register >= Register::Pointer && xpic.register < Register::Pointer;
    fits.then_some(((pic.register, pic.value), (xpic.register, xpic.value)))
}
