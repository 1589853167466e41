//! Words of one row → what the tile sends, selects and points at, in its own events.

use analytics::units::TileId;
use runtime::machine::arch::NEUTRAL_SOURCE;
use runtime::machine::isa::{self, ControlKind, ControlWrite, Instruction};
use runtime::package::model::Address;

use super::super::encode::EncodedRow;
use super::VerifyError;

/// Items that leave a tile back to back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    /// Event of the first item.
    pub(super) event: u32,
    /// Length in items.
    pub(super) items: u32,
    /// First byte.
    pub(super) address: Address,
    /// Send control.
    pub(super) control: u8,
}

impl Sent {
    /// Words of an item.
    pub(super) const fn item_words(&self) -> u32 {
        if self.control & WIDE == 0 { 1 } else { 2 }
    }

    /// One past the event of the last item.
    pub(super) const fn end(&self) -> u32 {
        self.event + self.items
    }
}

/// The bit of a send control that stands for 64-bit items.
pub(super) const WIDE: u8 = 4;

/// A source that stays selected over a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Selected {
    /// First event.
    pub(super) from: u32,
    /// One past the last event.
    pub(super) to: u32,
    /// Physical id.
    pub(super) source: u32,
}

/// A row in events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Decoded {
    /// In order.
    pub(super) sent: Vec<Sent>,
    /// In order, the neutral source left out.
    pub(super) selected: Vec<Selected>,
    /// The same of the pair's register.
    pub(super) pair_selected: Vec<Selected>,
    /// When the format is which direction, zero left out; as windows of selections.
    pub(super) formats: Vec<Selected>,
    /// Events of two controls in one instruction.
    pub(super) merged: Vec<u32>,
    /// Event and byte address of each pointer write, in order.
    pub(super) pointers: Vec<(u32, Address)>,
    /// Events to the return.
    pub(super) horizon: u32,
}

/// A register whose value stands until the next write.
struct Register {
    neutral: u32,
    /// The value now, unless it is neutral, and since when.
    value: Option<(u32, u32)>,
    last: u32,
}

impl Register {
    const fn new(neutral: u32) -> Self {
        Self {
            neutral,
            value: None,
            last: 0,
        }
    }

    /// Writes the register; gives the window of the value that it had, or nothing at all where it
    /// was written at this event before.
    fn write(&mut self, event: u32, value: u32) -> Option<Option<Selected>> {
        if self.last >= event {
            return None;
        }
        self.last = event;
        let before = self.value.take().map(|(source, from)| Selected {
            from,
            to: event,
            source,
        });
        self.value = (value != self.neutral).then_some((value, event));
        Some(before)
    }
}

struct Reader {
    tile: TileId,
    word: usize,
    at: u32,
    source: Register,
    pair_source: Register,
    format: Register,
    /// Latest events of which no control may be, T and T + 1 of the latest send.
    start: Option<u32>,
    controls: Vec<u32>,
    row: Decoded,
}

/// Decodes and checks what a row can break on its own.
pub(super) fn decode(tile: TileId, row: &EncodedRow) -> Result<Decoded, VerifyError> {
    let mut reader = Reader {
        tile,
        word: 0,
        at: 0,
        source: Register::new(NEUTRAL_SOURCE.into()),
        pair_source: Register::new(NEUTRAL_SOURCE.into()),
        format: Register::new(0),
        start: None,
        controls: Vec::new(),
        row: Decoded::default(),
    };
    while let Some(&word) = row.words.get(reader.word) {
        let next = row.words.get(reader.word + 1).copied();
        let Some(instruction) = isa::decode(word, next.unwrap_or(0)) else {
            return Err(reader.word_error("is no instruction of a row"));
        };
        let pair = isa::is_pair(word);
        if pair && (next.is_none() || !reader.word.is_multiple_of(2)) {
            return Err(reader.word_error("is half of a two-word send, or one at an odd word"));
        }
        if instruction == Instruction::Return {
            if reader.word + 1 != row.words.len() {
                return Err(reader.word_error("returns before the last word"));
            }
            return reader.finish(row.horizon);
        }
        reader.execute(instruction)?;
        reader.word += if pair { 2 } else { 1 };
    }
    Err(reader.word_error("is missing: the row does not return"))
}

impl Reader {
    fn word_error(&self, problem: &'static str) -> VerifyError {
        let (tile, word) = (self.tile, self.word);
        VerifyError::Word {
            tile,
            word,
            problem,
        }
    }

    fn event_error(&self, event: u32, problem: &'static str) -> VerifyError {
        VerifyError::Event {
            tile: self.tile,
            event: i64::from(event),
            problem,
        }
    }

    fn execute(&mut self, instruction: Instruction) -> Result<(), VerifyError> {
        match instruction {
            Instruction::Delay { events } => self.pass(events),
            Instruction::DelayControl { events, control } => {
                self.pass(events)?;
                self.control(self.at, control)
            }
            Instruction::Send {
                items,
                address,
                control,
            } => self.send(items, address, control),
            Instruction::SendOff {
                items,
                delta: 0,
                control,
            } => {
                if self
                    .row
                    .sent
                    .last()
                    .is_some_and(|sent| sent.control != control)
                {
                    return Err(self.word_error("changes the send control of a stream"));
                }
                self.carry_on(items)
            }
            Instruction::SendControl { items, control } => {
                self.control(self.at + 1, control)?;
                self.carry_on(items)
            }
            Instruction::SendPair {
                items,
                address,
                control,
                pic,
                xpic,
            } => {
                if pic.kind != ControlKind::Pointer || xpic.kind != ControlKind::Mux {
                    return Err(self.word_error("merges controls that must stay apart"));
                }
                self.control(self.at + 1, xpic)?;
                self.control(self.at + 1, pic)?;
                self.row.merged.push(self.at + 1);
                if control == 0 {
                    return self.pass(items);
                }
                let here = self.row.sent.last().filter(|sent| sent.end() == self.at);
                let goes_on = here.is_some_and(|sent| {
                    let unit = 4 * sent.item_words();
                    sent.address + unit * sent.items == unit * address && sent.control == control
                });
                if !goes_on {
                    return Err(self.word_error("restarts a stream at another address"));
                }
                self.carry_on(items)
            }
            _ => Err(self.word_error("is no instruction that a scheduled row has")),
        }
    }

    fn pass(&mut self, events: u32) -> Result<(), VerifyError> {
        let at = self.at.checked_add(events).filter(|&at| at < 1 << 30);
        self.at = at.ok_or_else(|| self.word_error("makes the row longer than 2^30 events"))?;
        Ok(())
    }

    fn send(&mut self, items: u32, address: u32, control: u8) -> Result<(), VerifyError> {
        if !matches!(control & !WIDE, 1..=3) {
            return Err(self.word_error("sends in no direction"));
        }
        if self.controls.last().is_some_and(|&event| event >= self.at) {
            return Err(self.event_error(self.at, "a control at the first event of a send"));
        }
        self.start = Some(self.at);
        let unit = if control & WIDE == 0 { 4 } else { 8 };
        self.row.sent.push(Sent {
            event: self.at,
            items,
            address: unit * address,
            control,
        });
        self.pass(items)
    }

    fn carry_on(&mut self, items: u32) -> Result<(), VerifyError> {
        let at = self.at;
        match self.row.sent.last_mut() {
            Some(sent) if sent.end() == at => sent.items += items,
            _ => return Err(self.word_error("continues a stream that has ended")),
        }
        self.pass(items)
    }

    fn control(&mut self, event: u32, write: ControlWrite) -> Result<(), VerifyError> {
        if self
            .start
            .is_some_and(|start| event == start || event == start + 1)
        {
            return Err(self.event_error(event, "a control at the first two events of a send"));
        }
        self.controls.push(event);
        match write.kind {
            ControlKind::Mux => self.select(event, write.value),
            ControlKind::Pointer => {
                if self
                    .row
                    .pointers
                    .last()
                    .is_some_and(|&(last, _)| last >= event)
                {
                    return Err(self.event_error(event, "two pointer writes at one event"));
                }
                self.row.pointers.push((event, 4 * write.value));
                Ok(())
            }
            ControlKind::MuxPair => {
                let before = self.pair_source.write(event, write.value);
                let before =
                    before.ok_or_else(|| self.event_error(event, "two selections at one event"))?;
                self.row.pair_selected.extend(before);
                Ok(())
            }
            ControlKind::Format => {
                let before = self.format.write(event, write.value);
                let before =
                    before.ok_or_else(|| self.event_error(event, "two formats at one event"))?;
                self.row.formats.extend(before);
                Ok(())
            }
        }
    }

    fn select(&mut self, event: u32, source: u32) -> Result<(), VerifyError> {
        let before = self.source.write(event, source);
        let before =
            before.ok_or_else(|| self.event_error(event, "two selections at one event"))?;
        self.row.selected.extend(before);
        Ok(())
    }

    fn finish(mut self, horizon: u32) -> Result<Decoded, VerifyError> {
        let selected = "a source is still selected when the row returns";
        let formatted = "the format of 64-bit items is still on when the row returns";
        for (register, problem) in [
            (&self.source, selected),
            (&self.pair_source, selected),
            (&self.format, formatted),
        ] {
            if let Some((_, from)) = register.value {
                return Err(self.event_error(from, problem));
            }
        }
        if self.at != horizon {
            return Err(self.event_error(self.at, "the row does not last as long as it says"));
        }
        self.row.horizon = horizon;
        Ok(self.row)
    }
}
