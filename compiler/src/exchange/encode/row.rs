//! One tile's timeline → the instructions of its row.
//!
//! Every event from 0 to the horizon belongs to one instruction. A control that takes effect at event e
//! belongs to the instruction that covers event e − 1: it ends a delay there, or rides the send that is
//! going on. Two controls at one event need the two-word instruction, which must start at an even word;
//! where it would not, an earlier instruction of two or more events is cut in two.

use runtime::machine::arch::{DELAY_EVENTS_MAX, SEND_ITEMS_MAX, SENDOFF_ITEMS_MAX};

use super::super::timeline::{Control, TimedSend, Timeline};
use super::word::{self, Write};

/// One instruction, events counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Delay {
        events: u32,
    },
    DelayControl {
        events: u32,
        write: Write,
    },
    Send {
        items: u32,
        address: u32,
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
    Pair {
        items: u32,
        address: u32,
        control: u8,
        source: u32,
        pointer: u32,
    },
}

impl Piece {
    const fn words(self) -> usize {
        match self {
            Self::Pair { .. } => 2,
            _ => 1,
        }
    }

    /// The piece as two of the same effect, one more word long; `None` for a single event.
    fn halves(self) -> Option<(Self, Self)> {
        let rest = |events: u32| events.checked_sub(1).filter(|&rest| rest > 0);
        let halves = match self {
            Self::Delay { events } => (
                Self::Delay { events: 1 },
                Self::Delay {
                    events: rest(events)?,
                },
            ),
            Self::DelayControl { events, write } => {
                let events = rest(events)?;
                (
                    Self::Delay { events: 1 },
                    Self::DelayControl { events, write },
                )
            }
            Self::Send {
                items,
                address,
                control,
            } => {
                let items = rest(items)?;
                (
                    Self::Send {
                        items: 1,
                        address,
                        control,
                    },
                    Self::SendOff { items, control },
                )
            }
            Self::SendOff { items, control } => {
                let items = rest(items)?;
                (
                    Self::SendOff { items: 1, control },
                    Self::SendOff { items, control },
                )
            }
            Self::SendControl {
                items,
                control,
                write,
            } => {
                let items = rest(items)?;
                let first = Self::SendControl {
                    items: 1,
                    control,
                    write,
                };
                (first, Self::SendOff { items, control })
            }
            Self::Pair {
                items,
                address,
                control,
                source,
                pointer,
            } => {
                let items = rest(items)?;
                let first = Self::Pair {
                    items: 1,
                    address,
                    control,
                    source,
                    pointer,
                };
                let second = if control == 0 {
                    Self::Delay { events: items }
                } else {
                    Self::SendOff { items, control }
                };
                (first, second)
            }
        };
        Some(halves)
    }

    fn encode(self, words: &mut Vec<u32>) {
        words.push(match self {
            Self::Delay { events } => word::delay(events),
            Self::DelayControl { events, write } => word::delay_control(events, write),
            Self::Send {
                items,
                address,
                control,
            } => word::send(items, address, control),
            Self::SendOff { items, control } => word::send_off(items, control),
            Self::SendControl { items, write, .. } => word::send_control(items, write),
            Self::Pair {
                items,
                address,
                control,
                source,
                pointer,
            } => {
                words.extend(word::send_pair(items, address, control, source, pointer));
                return;
            }
        });
    }
}

/// The event of two controls that no cut can align.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Unalignable {
    /// Event of the controls.
    pub(in super::super) event: u32,
}

/// Instructions so far, up to event `at`.
#[derive(Default)]
struct Row {
    pieces: Vec<Piece>,
    at: u32,
    words: usize,
    /// The latest piece that can be cut without moving a two-word instruction.
    spare: Option<usize>,
}

impl Row {
    fn push(&mut self, piece: Piece, events: u32) {
        if matches!(piece, Piece::Pair { .. }) {
            self.spare = None;
        }
        if events > 1 {
            self.spare = Some(self.pieces.len());
        }
        self.pieces.push(piece);
        self.words += piece.words();
        self.at += events;
    }

    /// Lets time pass until `end`.
    fn wait(&mut self, end: u32) {
        if let Some(Piece::Pair {
            items, control: 0, ..
        }) = self.pieces.last_mut()
        {
            let more = (end - self.at).min(SEND_ITEMS_MAX - *items);
            *items += more;
            self.at += more;
            if *items > 1 {
                self.spare = Some(self.pieces.len() - 1);
            }
        }
        while self.at < end {
            let events = (end - self.at).min(DELAY_EVENTS_MAX);
            self.push(Piece::Delay { events }, events);
        }
    }

    /// Makes the next word an even one.
    fn align(&mut self, event: u32) -> Result<(), Unalignable> {
        if self.words.is_multiple_of(2) {
            return Ok(());
        }
        let spare = self.spare.ok_or(Unalignable { event })?;
        let (first, second) = self.pieces[spare].halves().ok_or(Unalignable { event })?;
        self.pieces[spare] = first;
        self.pieces.insert(spare + 1, second);
        self.words += 1;
        Ok(())
    }

    /// Waits for a control while nothing is sent.
    fn idle_control(&mut self, control: &Control) -> Result<(), Unalignable> {
        match control.writes() {
            (Some(source), Some(pointer)) => {
                self.wait(control.event - 1);
                self.align(control.event)?;
                let piece = Piece::Pair {
                    items: 1,
                    address: 0,
                    control: 0,
                    source,
                    pointer,
                };
                self.push(piece, 1);
            }
            (Some(source), None) => self.delay_control(control.event, Write::Source(source)),
            (None, Some(pointer)) => self.delay_control(control.event, Write::Pointer(pointer)),
            (None, None) => {}
        }
        Ok(())
    }

    fn delay_control(&mut self, event: u32, write: Write) {
        let most = word::delay_control_most(write);
        if event - self.at > most {
            self.wait(event - most);
        }
        let events = event - self.at;
        self.push(Piece::DelayControl { events, write }, events);
    }

    /// Sends a whole message with the controls that fall into it.
    fn send(&mut self, send: &TimedSend, controls: &[Control]) -> Result<(), Unalignable> {
        let control = send.control;
        let end = send.event + send.words;
        let boundary = |index: usize| controls.get(index).map_or(end, |next| next.event - 1);
        let items = (boundary(0) - send.event).min(SEND_ITEMS_MAX);
        assert!(
            items > 0,
            "a control at a send's second event cannot be encoded"
        );
        self.push(
            Piece::Send {
                items,
                address: send.address / 4,
                control,
            },
            items,
        );
        self.carry_on(boundary(0), control);
        for (index, riding) in controls.iter().enumerate() {
            let next = boundary(index + 1);
            let items = (next - self.at).min(SEND_ITEMS_MAX);
            let write = match riding.writes() {
                (Some(source), Some(pointer)) => {
                    self.align(riding.event)?;
                    let address = send.address / 4 + (self.at - send.event);
                    self.push(
                        Piece::Pair {
                            items,
                            address,
                            control,
                            source,
                            pointer,
                        },
                        items,
                    );
                    self.carry_on(next, control);
                    continue;
                }
                (Some(source), None) => Write::Source(source),
                (None, Some(pointer)) => Write::Pointer(pointer),
                (None, None) => continue,
            };
            self.push(
                Piece::SendControl {
                    items,
                    control,
                    write,
                },
                items,
            );
            self.carry_on(next, control);
        }
        Ok(())
    }

    /// Goes on sending until `end`.
    fn carry_on(&mut self, end: u32, control: u8) {
        while self.at < end {
            let items = (end - self.at).min(SENDOFF_ITEMS_MAX);
            self.push(Piece::SendOff { items, control }, items);
        }
    }
}

fn row(timeline: &Timeline) -> Result<Row, Unalignable> {
    let mut row = Row::default();
    let mut controls = timeline.controls.as_slice();
    for send in &timeline.sends {
        let (before, rest) = split(controls, send.event);
        for control in before {
            row.idle_control(control)?;
        }
        row.wait(send.event);
        let (riding, rest) = split(rest, send.event + send.words);
        row.send(send, riding)?;
        controls = rest;
    }
    for control in controls {
        row.idle_control(control)?;
    }
    row.wait(timeline.horizon);
    Ok(row)
}

/// The controls up to event `last`, and the later ones.
fn split(controls: &[Control], last: u32) -> (&[Control], &[Control]) {
    controls.split_at(controls.partition_point(|control| control.event <= last))
}

/// Whether a tile's timeline has an encoding.
pub(in super::super) fn alignable(timeline: &Timeline) -> Result<(), Unalignable> {
    let both = |control: &Control| control.source.is_some() && control.pointer.is_some();
    if timeline.controls.iter().any(both) {
        row(timeline)?;
    }
    Ok(())
}

/// The words of a tile's row, return included.
pub(super) fn encode(timeline: &Timeline) -> Result<Vec<u32>, Unalignable> {
    let row = row(timeline)?;
    let mut words = Vec::with_capacity(row.words + 1);
    for piece in row.pieces {
        piece.encode(&mut words);
    }
    words.push(word::RETURN);
    Ok(words)
}
