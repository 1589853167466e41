//! One tile's timeline → the instructions of its row.
//!
//! Every event from 0 to the horizon belongs to one instruction. A control that takes effect at
//! event e belongs to the instruction that covers event e − 1: it ends a delay there, or rides the
//! send that is going on. Two controls at one event need the two-word instruction, which must start
//! at an even word; where it would not, an earlier instruction of two or more events is cut in two.

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

    /// The same piece over another number of events.
    const fn over(self, events: u32) -> Self {
        let items = events;
        match self {
            Self::Delay { .. } => Self::Delay { events },
            Self::DelayControl { write, .. } => Self::DelayControl { events, write },
            Self::Send {
                address, control, ..
            } => Self::Send {
                items,
                address,
                control,
            },
            Self::SendOff { control, .. } => Self::SendOff { items, control },
            Self::SendControl { control, write, .. } => Self::SendControl {
                items,
                control,
                write,
            },
            Self::Pair {
                address,
                control,
                source,
                pointer,
                ..
            } => Self::Pair {
                items,
                address,
                control,
                source,
                pointer,
            },
        }
    }

    /// The piece as two of the same effect, one more word long; `None` for a single event.
    fn halves(self) -> Option<(Self, Self)> {
        let (Self::Delay { events: all }
        | Self::DelayControl { events: all, .. }
        | Self::Send { items: all, .. }
        | Self::SendOff { items: all, .. }
        | Self::SendControl { items: all, .. }
        | Self::Pair { items: all, .. }) = self;
        let rest = all.checked_sub(1).filter(|&rest| rest > 0)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn control(event: u32, source: Option<u16>, pointer: Option<u32>) -> Control {
        let pointer = pointer.map(|word| 4 * word);
        Control {
            event,
            source,
            pointer,
        }
    }

    fn words(sends: &[TimedSend], controls: &[Control], horizon: u32) -> Vec<u32> {
        let timeline = Timeline {
            sends: sends.to_vec(),
            controls: controls.to_vec(),
            horizon,
        };
        encode(&timeline).expect("it has an encoding")
    }

    fn send(event: u32, words: u32, control: u8) -> TimedSend {
        TimedSend {
            event,
            words,
            address: 0,
            control,
        }
    }

    #[test]
    fn a_receive_row_is_the_vendor_assemblers_word_for_word() {
        let controls = [
            control(1, Some(0x82), None),
            control(53, Some(0xC0), Some(0x14048)),
            control(105, Some(0xC2), Some(0x15000)),
            control(157, Some(0x100), Some(0x16000)),
            control(209, Some(0x640), Some(0x17000)),
        ];
        let expected = [
            0x6400_0082,
            0x40A0_0032,
            0xF660_0000,
            0x0301_4048,
            0xF660_0000,
            0x0309_5000,
            0xF660_0000,
            0x0401_6000,
            0xF720_0000,
            0x1901_7000,
            0x43A0_0000,
        ];
        assert_eq!(words(&[], &controls, 266), expected);
    }

    #[test]
    fn stand_alone_rows_are_the_published_ones_without_their_entry() {
        let sender = |event, items, direction, horizon| {
            words(&[send(event, items, direction)], &[], horizon)
        };
        assert_eq!(
            sender(135, 3, 1, 138),
            [0x40A0_0086, 0x7840_0001, 0x43A0_0000]
        );
        assert_eq!(
            sender(63, 52, 2, 115),
            [0x40A0_003E, 0x7E60_0002, 0x43A0_0000]
        );
        let two = [0x40A0_007D, 0x7FE0_0002, 0x7000_0002, 0x43A0_0000];
        assert_eq!(sender(126, 65, 2, 191), two);
        let long = [0x40A0_006C, 0x7FE0_0001, 0x766F_C001, 0x43A0_0000];
        assert_eq!(sender(109, 4148, 1, 4257), long);

        let neutral = Some(0x640);
        let receiver = |source, off, pointer, horizon| {
            let mut controls = [
                control(113, Some(source), None),
                control(off, neutral, None),
                control(pointer, None, Some(0)),
            ];
            controls.sort_by_key(|control| control.event);
            words(&[], &controls, horizon)
        };
        let three = [
            0x641C_0000,
            0x6400_8640,
            0x6180_0000,
            0x40A0_0007,
            0x43A0_0000,
        ];
        assert_eq!(receiver(0, 116, 165, 173), three);
        let fifty_two = [
            0x641C_0020,
            0x61D8_0000,
            0x6400_0640,
            0x40A0_0038,
            0x43A0_0000,
        ];
        assert_eq!(receiver(32, 174, 173, 231), fifty_two);
        let longest = [
            0x641C_0400,
            0x6198_0000,
            0x67FF_C640,
            0x40A0_0038,
            0x43A0_0000,
        ];
        assert_eq!(receiver(1024, 4261, 165, 4318), longest);
    }

    #[test]
    fn controls_ride_the_send_that_is_going_on() {
        let controls = [
            control(12, Some(7), None),
            control(20, None, Some(0x18000)),
            control(110, Some(0x640), None),
        ];
        let expected = [
            word::delay(10),
            word::send(1, 0, 3),
            word::send_control(8, Write::Source(7)),
            word::send_control(64, Write::Pointer(0x18000)),
            word::send_off(26, 3),
            word::send_control(1, Write::Source(0x640)),
            RETURN,
        ];
        assert_eq!(words(&[send(10, 100, 3)], &controls, 110), expected);
    }

    const RETURN: u32 = word::RETURN;

    #[test]
    fn a_two_word_send_inside_a_message_names_its_own_first_word() {
        let both = [control(15, Some(7), Some(0x18000))];
        let pair = word::send_pair(6, 4, 1, 7, 0x18000);
        let expected = [
            word::delay(10),
            // Cut in two for alignment.
            word::send(1, 0, 1),
            word::send_off(3, 1),
            pair[0],
            pair[1],
            RETURN,
        ];
        let rows = words(&[send(10, 10, 1)], &both, 20);
        assert_eq!(rows[..2], [word::delay(10), word::send(4, 0, 1)]);
        assert_eq!(rows[2..4], pair);
        let at_once = words(&[send(0, 10, 1)], &[control(5, Some(7), Some(0x18000))], 10);
        assert_eq!(at_once[..], expected[1..]);
    }

    #[test]
    fn two_word_waits_without_room_for_a_cut_before_them_are_refused() {
        let timeline = |single: u32| Timeline {
            sends: Vec::new(),
            controls: vec![
                control(10, Some(1), Some(0x18000)),
                control(single, None, Some(0x18001)),
                control(12, Some(2), Some(0x18002)),
            ],
            horizon: 80,
        };
        assert_eq!(alignable(&timeline(11)), Err(Unalignable { event: 12 }));
        let mut roomy = timeline(11);
        roomy.controls[2].event = 13;
        assert_eq!(alignable(&roomy), Ok(()));
    }
}
