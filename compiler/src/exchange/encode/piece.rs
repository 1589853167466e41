//! The instructions of a row before they are words: counts of events, plain addresses.

use super::word::{self, Write};

/// One instruction, events counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Delay {
        events: u32,
    },
    DelayControl {
        events: u32,
        write: Write,
    },
    Send {
        items: u32,
        from: From,
        control: u8,
    },
    SendOff {
        items: u32,
        control: u8,
    },
    SendControl {
        items: u32,
        control: u8,
        write: Write,
    },
    /// Two controls; where `control` is zero nothing is sent.
    Pair {
        items: u32,
        from: From,
        control: u8,
        source: u32,
        pointer: u32,
    },
}

/// Where a send reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct From {
    /// First item, counted in items.
    pub(super) word: u32,
    /// Items that the next run of a repeated exchange starts further on.
    pub(super) step: u32,
}

impl From {
    /// Nowhere: nothing is read.
    pub(super) const NONE: Self = Self { word: 0, step: 0 };
}

impl Piece {
    pub(super) const fn words(self) -> usize {
        match self {
            Self::Pair { .. } => 2,
            _ => 1,
        }
    }

    /// Events that it takes.
    pub(super) const fn events(self) -> u32 {
        let (Self::Delay { events: all }
        | Self::DelayControl { events: all, .. }
        | Self::Send { items: all, .. }
        | Self::SendOff { items: all, .. }
        | Self::SendControl { items: all, .. }
        | Self::Pair { items: all, .. }) = self;
        all
    }

    /// The same piece over another number of events.
    pub(super) const fn over(mut self, count: u32) -> Self {
        let (Self::Delay { events: all }
        | Self::DelayControl { events: all, .. }
        | Self::Send { items: all, .. }
        | Self::SendOff { items: all, .. }
        | Self::SendControl { items: all, .. }
        | Self::Pair { items: all, .. }) = &mut self;
        *all = count;
        self
    }

    /// The piece as two of the same effect, one more word long; `None` for a single event.
    pub(super) fn halves(self) -> Option<(Self, Self)> {
        let rest = self.events().checked_sub(1).filter(|&rest| rest > 0)?;
        Some(match self {
            Self::Delay { .. } | Self::DelayControl { .. } => {
                (Self::Delay { events: 1 }, self.over(rest))
            }
            Self::Pair { control: 0, .. } => (self.over(1), Self::Delay { events: rest }),
            Self::Send { control, .. }
            | Self::SendOff { control, .. }
            | Self::SendControl { control, .. }
            | Self::Pair { control, .. } => (
                self.over(1),
                Self::SendOff {
                    items: rest,
                    control,
                },
            ),
        })
    }

    /// How much further its first word is with each run of a repeated exchange, modulo 2^32.
    pub(super) const fn step(self) -> u32 {
        match self {
            Self::Send { from, .. } | Self::Pair { from, .. } => word::address_step(from.step),
            _ => 0,
        }
    }

    pub(super) fn encode(self, words: &mut Vec<u32>) {
        words.push(match self {
            Self::Delay { events } => word::delay(events),
            Self::DelayControl { events, write } => word::delay_control(events, write),
            Self::Send {
                items,
                from,
                control,
            } => word::send(items, from.word, control),
            Self::SendOff { items, control } => word::send_off(items, control),
            Self::SendControl { items, write, .. } => word::send_control(items, write),
            Self::Pair {
                items,
                from,
                control,
                source,
                pointer,
            } => {
                words.extend(word::send_pair(items, from.word, control, source, pointer));
                return;
            }
        });
    }
}
