//! One tile's timeline → the instructions of its row.
//!
//! Every event from 0 to the horizon belongs to one instruction. A control that takes effect at
//! event e belongs to the instruction that covers event e − 1: it ends a delay there, or rides the
//! send that is going on. Two controls at one event need the two-word instruction, which must start
//! at an even word; where it would not, an earlier instruction of two or more events is cut in two.
//!
//! A [`Row`] can be encoded again after its timeline has changed: it goes on from the last
//! checkpoint before the change. There is one after each message and after each control between
//! messages; cuts and prolongations of what lies before a checkpoint are noted and taken back.

use runtime::machine::arch::{DELAY_EVENTS_MAX, SEND_ITEMS_MAX, SENDOFF_ITEMS_MAX};

use super::super::timeline::{Control, Paired, TimedSend, Timeline};
use super::piece::{From, Piece};
use super::word::{self, Write};

/// The event of two controls that no cut can align.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Unalignable {
    /// Event of the controls.
    pub(in super::super) event: u32,
}

/// How much of a timeline is as it was when its row was last encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Unchanged {
    /// Leading sends.
    pub(in super::super) sends: usize,
    /// Leading controls.
    pub(in super::super) controls: usize,
}

impl Unchanged {
    /// What two timelines have in common.
    pub(in super::super) fn between(old: &Timeline, new: &Timeline) -> Self {
        fn same<T: PartialEq>(old: &[T], new: &[T]) -> usize {
            old.iter().zip(new).take_while(|(a, b)| a == b).count()
        }
        Self {
            sends: same(&old.sends, &new.sends),
            controls: same(&old.controls, &new.controls),
        }
    }
}

/// The state after a message, or after a control between messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Checkpoint {
    done: Unchanged,
    at: u32,
    words: usize,
    spare: Option<usize>,
    pieces: usize,
    changes: usize,
}

/// A piece that was cut in two or prolonged after others had followed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    index: usize,
    before: Piece,
    is_cut: bool,
}

/// Instructions so far, up to event `at`.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Row {
    pieces: Vec<Piece>,
    at: u32,
    words: usize,
    /// The latest piece that can be cut without moving a two-word instruction.
    spare: Option<usize>,
    changes: Vec<Change>,
    checkpoints: Vec<Checkpoint>,
}

impl Row {
    /// Whether a tile's timeline has an encoding; what it has in common with the timeline of the
    /// last call is not encoded again.
    pub(in super::super) fn align(
        &mut self,
        before: &Timeline,
        timeline: &Timeline,
    ) -> Result<(), Unalignable> {
        let both = |control: &Control| control.source.is_some() && control.pointer.is_some();
        if !timeline.controls.iter().any(both) {
            *self = Self::default();
            return Ok(());
        }
        let result = self.encode(timeline, Unchanged::between(before, timeline));
        if cfg!(debug_assertions) {
            let mut full = Self::default();
            let expected = full.encode(timeline, Unchanged::default());
            assert_eq!(
                result, expected,
                "going on from a checkpoint changed the outcome"
            );
            assert_eq!(
                self.pieces, full.pieces,
                "going on from a checkpoint changed the row"
            );
        }
        result
    }

    /// Encodes a timeline of which some is as it was at the last call.
    ///
    /// # Errors
    /// Two controls that cannot be aligned. The next call may follow as if this one had succeeded.
    pub(in super::super) fn encode(
        &mut self,
        timeline: &Timeline,
        unchanged: Unchanged,
    ) -> Result<(), Unalignable> {
        let mut done = self.resume(timeline, unchanged);
        while let Some(send) = timeline.sends.get(done.sends) {
            let controls = &timeline.controls[done.controls..];
            let (before, rest) = split(controls, send.event);
            for control in before {
                self.idle_control(control)?;
                done.controls += 1;
                self.checkpoint(done);
            }
            self.wait(send.event);
            let (riding, _) = split(rest, send.event + send.items);
            self.send(send, riding)?;
            done.sends += 1;
            done.controls += riding.len();
            self.checkpoint(done);
        }
        for control in &timeline.controls[done.controls..] {
            self.idle_control(control)?;
            done.controls += 1;
            self.checkpoint(done);
        }
        self.wait(timeline.horizon);
        Ok(())
    }

    /// Instruction words, without the return.
    pub(super) const fn len(&self) -> usize {
        self.words
    }

    /// The words of the row, return included, and which of them change from run to run of a
    /// repeated exchange: position, and what is added modulo 2^32.
    pub(super) fn words(&self) -> WordsAndSteps {
        let mut words = Vec::with_capacity(self.words + 1);
        let mut steps = Vec::new();
        for piece in &self.pieces {
            if piece.step() != 0 {
                let position = u32::try_from(words.len()).unwrap_or(u32::MAX);
                steps.push((position, piece.step()));
            }
            piece.encode(&mut words);
        }
        words.push(word::RETURN);
        (words, steps)
    }

    /// Goes back to the last checkpoint that the unchanged part decides; gives what was done there.
    fn resume(&mut self, timeline: &Timeline, unchanged: Unchanged) -> Unchanged {
        let is_decided = |it: &Checkpoint| {
            let send = timeline.sends.get(it.done.sends);
            let control = timeline.controls.get(it.done.controls);
            it.done.sends <= unchanged.sends
                && it.done.controls <= unchanged.controls
                && send.is_none_or(|send| send.event >= it.at)
                && control.is_none_or(|control| control.event > it.at)
        };
        while self.checkpoints.last().is_some_and(|it| !is_decided(it)) {
            self.checkpoints.pop();
        }
        let at = self.checkpoints.last().copied().unwrap_or_default();
        for change in self.changes.drain(at.changes..).rev() {
            if change.is_cut {
                self.pieces.remove(change.index + 1);
            }
            self.pieces[change.index] = change.before;
        }
        self.pieces.truncate(at.pieces);
        (self.at, self.words, self.spare) = (at.at, at.words, at.spare);
        at.done
    }

    fn checkpoint(&mut self, done: Unchanged) {
        self.checkpoints.push(Checkpoint {
            done,
            at: self.at,
            words: self.words,
            spare: self.spare,
            pieces: self.pieces.len(),
            changes: self.changes.len(),
        });
    }

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
        let last = self.pieces.last().copied();
        if let Some(before @ Piece::Pair { control: 0, .. }) = last {
            let more = (end - self.at).min(SEND_ITEMS_MAX - before.events());
            let index = self.pieces.len() - 1;
            if more > 0 {
                let is_cut = false;
                self.changes.push(Change {
                    index,
                    before,
                    is_cut,
                });
                self.pieces[index] = before.over(before.events() + more);
            }
            self.at += more;
            if self.pieces[index].events() > 1 {
                self.spare = Some(index);
            }
        }
        while self.at < end {
            let events = (end - self.at).min(DELAY_EVENTS_MAX);
            self.push(Piece::Delay { events }, events);
        }
    }

    /// Makes the next word an even one.
    fn make_even(&mut self, event: u32) -> Result<(), Unalignable> {
        if self.words.is_multiple_of(2) {
            return Ok(());
        }
        let index = self.spare.ok_or(Unalignable { event })?;
        let before = self.pieces[index];
        let (first, second) = before.halves().ok_or(Unalignable { event })?;
        let is_cut = true;
        self.changes.push(Change {
            index,
            before,
            is_cut,
        });
        self.pieces[index] = first;
        self.pieces.insert(index + 1, second);
        self.words += 1;
        Ok(())
    }

    /// Waits for a control while nothing is sent.
    fn idle_control(&mut self, control: &Control) -> Result<(), Unalignable> {
        if let Some(paired) = control.paired {
            self.delay_control(control.event, write(paired));
            return Ok(());
        }
        match control.writes() {
            (Some(source), Some(pointer)) => {
                self.wait(control.event - 1);
                self.make_even(control.event)?;
                let piece = Piece::Pair {
                    items: 1,
                    from: From::NONE,
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
        let unit = send.width.bytes();
        let (control, step) = (send.control, send.step / unit);
        let first = send.address / unit;
        let end = send.event + send.items;
        let boundary = |index: usize| controls.get(index).map_or(end, |next| next.event - 1);
        let items = (boundary(0) - send.event).min(SEND_ITEMS_MAX);
        assert!(
            items > 0,
            "a control at a send's second event cannot be encoded"
        );
        let from = From { word: first, step };
        let piece = Piece::Send {
            items,
            from,
            control,
        };
        self.push(piece, items);
        self.carry_on(boundary(0), control);
        for (index, riding) in controls.iter().enumerate() {
            let next = boundary(index + 1);
            let items = (next - self.at).min(SEND_ITEMS_MAX);
            let write = match (riding.paired, riding.writes()) {
                (Some(paired), _) => write(paired),
                (None, (Some(source), Some(pointer))) => {
                    self.make_even(riding.event)?;
                    let word = first + (self.at - send.event);
                    let piece = Piece::Pair {
                        items,
                        from: From { word, step },
                        control,
                        source,
                        pointer,
                    };
                    self.push(piece, items);
                    self.carry_on(next, control);
                    continue;
                }
                (None, (Some(source), None)) => Write::Source(source),
                (None, (None, Some(pointer))) => Write::Pointer(pointer),
                (None, (None, None)) => continue,
            };
            let piece = Piece::SendControl {
                items,
                control,
                write,
            };
            self.push(piece, items);
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

/// A write for 64-bit items as an instruction makes it.
fn write(paired: Paired) -> Write {
    match paired {
        Paired::Source(source) => Write::PairSource(source.into()),
        Paired::Format(format) => Write::Format(format.into()),
        Paired::Pointer(address) => Write::Pointer(address / 4),
    }
}

/// The controls up to event `last`, and the later ones.
fn split(controls: &[Control], last: u32) -> (&[Control], &[Control]) {
    controls.split_at(controls.partition_point(|control| control.event <= last))
}

/// Words of a row, and which of them change from run to run: position, and what is added.
type WordsAndSteps = (Vec<u32>, Vec<(u32, u32)>);

/// The words of a tile's row, as [`Row::words`] gives them.
pub(super) fn encode(timeline: &Timeline) -> Result<WordsAndSteps, Unalignable> {
    let mut row = Row::default();
    row.encode(timeline, Unchanged::default())?;
    Ok(row.words())
}

#[cfg(test)]
mod tests;
