//! First fit: the earliest event at which a message breaks no rule against those already placed.
//!
//! [`Board`] holds every tile's lanes. A block of 64 candidate events is judged at once, sender
//! first, then each receiver, until none is left or all agree.

use runtime::machine::arch::TRANSFER_ITEMS_MAX;

use super::super::hazard::Hazards;
use super::super::message::{Message, Messages, Receiver, Width};
use super::lanes::{BLOCK, EventMap, Fit, Lanes, Slot};

/// Longest exchange in events: bounds memory, and is far above any that fits a tile's row table.
pub(super) const EVENTS_MAX: u32 = 1 << 22;

/// Reads and landings over time of one element of one tile.
#[derive(Clone, Debug, Default)]
struct ElementUse {
    element: u32,
    read: EventMap,
    landed: EventMap,
}

/// Everything placed so far.
pub(super) struct Board<'a> {
    messages: &'a Messages,
    /// For each tile, events from selection to landing.
    landing: &'a [u32],
    /// For each tile, whether a pointer and a selection may share an event.
    merges: &'a [bool],
    /// For each tile, elements both read and written.
    shared: &'a [u32],
    lanes: Vec<Lanes>,
    elements: Vec<Vec<ElementUse>>,
    /// For each tile and window size, events before which it cannot send.
    send_from: Vec<[u32; SIZES]>,
    /// For each tile and window size, events before which nothing can be selected.
    receive_from: Vec<[u32; SIZES]>,
}

impl<'a> Board<'a> {
    /// An empty board.
    pub(super) fn new(
        messages: &'a Messages,
        hazards: &'a Hazards,
        landing: &'a [u32],
        merges: &'a [bool],
    ) -> Self {
        let used = |shared: u32| {
            let elements = (0..32).filter(move |element| shared >> element & 1 == 1);
            elements
                .map(|element| ElementUse {
                    element,
                    ..ElementUse::default()
                })
                .collect()
        };
        let shared = &hazards.shared_elements;
        Self {
            messages,
            landing,
            merges,
            shared,
            lanes: vec![Lanes::default(); landing.len()],
            elements: shared.iter().map(|&shared| used(shared)).collect(),
            send_from: vec![[0; SIZES]; landing.len()],
            receive_from: vec![[1; SIZES]; landing.len()],
        }
    }

    /// The earliest legal start from `from`, or `None` past [`EVENTS_MAX`].
    pub(super) fn first_fit(&mut self, message: &Message, from: u32) -> Option<u32> {
        let receivers = self.messages.receivers(message);
        let mut at = from.max(self.first_send(message));
        for receiver in receivers {
            let select = self.first_selection(message, receiver);
            // A first selection is at least 1, so a start before event 0 is never asked for.
            at = at.max(select.saturating_add_signed(-i32::from(receiver.select)));
        }
        while at <= EVENTS_MAX {
            let mut fit = self.sender_fit(message, at);
            for receiver in receivers {
                if fit.mask == 0 {
                    break;
                }
                fit = narrow(fit, self.receiver_fit(message, receiver, at));
            }
            if fit.mask != 0 {
                return Some(at + fit.mask.trailing_zeros());
            }
            at += fit.skip;
        }
        None
    }

    /// Whether a message may start at an event.
    pub(super) fn fits(&self, message: &Message, start: u32) -> bool {
        let receivers = self.messages.receivers(message);
        self.sender_fit(message, start).mask & 1 == 1
            && receivers
                .iter()
                .all(|receiver| self.receiver_fit(message, receiver, start).mask & 1 == 1)
    }

    /// The first event at which the sender alone could start. Lanes only fill, so the answer holds
    /// for all later messages that are no shorter and is where their search begins.
    fn first_send(&mut self, message: &Message) -> u32 {
        let tile = usize::from(message.source);
        let mut at = self.send_from[tile][size_below(message.items)];
        while at <= EVENTS_MAX {
            let fit = self.send_lane(message, at);
            if fit.mask != 0 {
                at += fit.mask.trailing_zeros();
                break;
            }
            at += fit.skip;
        }
        // A borrowed lane says nothing about messages that borrow none.
        if message.width == Width::Word {
            let known = &mut self.send_from[tile][size_above(message.items)];
            *known = at.max(*known);
        }
        at
    }

    /// The first event at which the receiver alone could select the source, as for
    /// [`Self::first_send`].
    fn first_selection(&mut self, message: &Message, receiver: &Receiver) -> u32 {
        let tile = usize::from(receiver.tile);
        let mut at = self.receive_from[tile][size_below(message.items)];
        while at <= EVENTS_MAX {
            let fit = self.receive_lane(message, receiver, at);
            if fit.mask != 0 {
                at += fit.mask.trailing_zeros();
                break;
            }
            at += fit.skip;
        }
        if message.width == Width::Word {
            let known = &mut self.receive_from[tile][size_above(message.items)];
            *known = at.max(*known);
        }
        at
    }

    /// Starts at which the sender's lane is free and no control is at the first two events.
    fn send_lane(&self, message: &Message, at: u32) -> Fit {
        let mut fit = self.sender_free(message, at);
        if fit.mask != 0 {
            fit.mask &= !self.sender_controls(message, at);
        }
        if fit.mask != 0 && message.lender.is_some() {
            fit = narrow(fit, self.lender_free(message, at));
        }
        fit
    }

    /// [`Self::send_lane`], where no element that is read is written at the time.
    fn sender_fit(&self, message: &Message, at: u32) -> Fit {
        let fit = self.send_lane(message, at);
        if self.shared[usize::from(message.source)] != 0 && fit.mask != 0 {
            return self.unwritten(message, at, fit);
        }
        fit
    }

    /// Selections from event `select` at which nothing else is received and no control meets the
    /// first two events of a send.
    fn receive_lane(&self, message: &Message, receiver: &Receiver, select: u32) -> Fit {
        let mut fit = self.receiver_free(message, receiver, select);
        if fit.mask != 0 {
            fit.mask &= !(self.receiver_controls(message, receiver, select)
                | self.unmerged_controls(message, receiver, select));
        }
        fit
    }

    /// [`Self::receive_lane`] for starts from `at`, where no element that is written is read at the
    /// time.
    fn receiver_fit(&self, message: &Message, receiver: &Receiver, at: u32) -> Fit {
        let fit = self.receive_lane(message, receiver, selection(receiver, at));
        if self.shared[usize::from(receiver.tile)] != 0 && fit.mask != 0 {
            return self.unread(message, receiver, at, fit);
        }
        fit
    }

    /// Starts at which the sender's own lane is free.
    pub(super) fn sender_free(&self, message: &Message, at: u32) -> Fit {
        let lanes = &self.lanes[usize::from(message.source)];
        lanes.free(at, message.items, |slot| slot.send)
    }

    /// Starts at which the lane that is borrowed, if one is, is free.
    pub(super) fn lender_free(&self, message: &Message, at: u32) -> Fit {
        message.lender.map_or(Fit::ALL, |lender| {
            let lanes = &self.lanes[usize::from(lender)];
            lanes.free(at, message.items, |slot| slot.send)
        })
    }

    /// Starts with a control of the sender at one of their first two events.
    pub(super) fn sender_controls(&self, message: &Message, at: u32) -> u64 {
        let lanes = &self.lanes[usize::from(message.source)];
        let control = |slot: &Slot| slot.select | slot.pointer;
        lanes.bits(at, control) | lanes.bits(at + 1, control)
    }

    /// Those of `fit` at which no element that the message reads is written.
    pub(super) fn unwritten(&self, message: &Message, at: u32, mut fit: Fit) -> Fit {
        let read = Messages::read_elements(message);
        for used in self.uses(usize::from(message.source), read) {
            fit = narrow(fit, used.landed.free(at, message.items));
        }
        fit
    }

    /// Selections at which nothing else is received. The format of 64-bit items stands from one
    /// event before a word that is selected with them would land to one event after.
    pub(super) fn receiver_free(&self, message: &Message, receiver: &Receiver, select: u32) -> Fit {
        let lanes = &self.lanes[usize::from(receiver.tile)];
        match message.width {
            Width::Word => lanes.free(select, message.items, |slot| slot.receive),
            Width::Pair => lanes.free(select - 1, message.items + 2, |slot| slot.receive),
        }
    }

    /// Selections with a control at the first two events of a send of the receiver, or of 64-bit
    /// items, with one at an event that another control has.
    pub(super) fn receiver_controls(
        &self,
        message: &Message,
        receiver: &Receiver,
        select: u32,
    ) -> u64 {
        let tile = usize::from(receiver.tile);
        let lanes = &self.lanes[tile];
        if message.width == Width::Pair {
            let taken = |slot: &Slot| slot.start | slot.select | slot.pointer;
            let controls = paired_controls(message, receiver, select, self.landing[tile]);
            return controls.fold(0, |all, event| all | lanes.bits(event, taken));
        }
        lanes.bits(select, |slot| slot.start)
            | lanes.bits(select + message.items, |slot| slot.start)
            | lanes.bits(select + self.landing[tile], |slot| slot.start)
    }

    /// Selections with a control at the event of another one, on a tile whose row has no alignment
    /// for two at once.
    pub(super) fn unmerged_controls(
        &self,
        message: &Message,
        receiver: &Receiver,
        select: u32,
    ) -> u64 {
        let tile = usize::from(receiver.tile);
        if self.merges[tile] || message.width == Width::Pair {
            return 0;
        }
        let lanes = &self.lanes[tile];
        lanes.bits(select, |slot| slot.pointer)
            | lanes.bits(select + message.items, |slot| slot.pointer)
            | lanes.bits(select + self.landing[tile], |slot| slot.select)
    }

    /// Those of `fit`, starts from `at`, at which no element that the receiver writes is read.
    pub(super) fn unread(
        &self,
        message: &Message,
        receiver: &Receiver,
        at: u32,
        mut fit: Fit,
    ) -> Fit {
        let tile = usize::from(receiver.tile);
        let landing = selection(receiver, at) + self.landing[tile] + message.width.delay();
        let written = Messages::written_elements(message, receiver);
        for used in self.uses(tile, written) {
            fit = narrow(fit, used.read.free(landing, message.items));
        }
        fit
    }

    /// The earliest start of a message on an empty board: nothing is selected before event 1.
    pub(super) fn first_start(&self, message: &Message) -> u32 {
        let receivers = self.messages.receivers(message).iter();
        let starts = receivers.map(|it| 1_u32.saturating_add_signed(-i32::from(it.select)));
        starts.max().unwrap_or(0)
    }

    fn uses(&self, tile: usize, elements: u32) -> impl Iterator<Item = &ElementUse> {
        let touched = move |used: &&ElementUse| elements >> used.element & 1 == 1;
        self.elements[tile].iter().filter(touched)
    }

    /// Enters a message at a start that [`Self::first_fit`] gave.
    pub(super) fn place(&mut self, message: &Message, start: u32) {
        let words = message.items;
        let tile = usize::from(message.source);
        for tile in [Some(message.source), message.lender].into_iter().flatten() {
            self.lanes[usize::from(tile)].fill(start, words, |slot| &mut slot.send);
        }
        self.lanes[tile].fill(start, 2, |slot| &mut slot.start);
        let read = Messages::read_elements(message);
        for used in &mut self.elements[tile] {
            if read >> used.element & 1 == 1 {
                used.read.fill(start, words);
            }
        }
        for receiver in self.messages.receivers(message) {
            let tile = usize::from(receiver.tile);
            let select = selection(receiver, start);
            let landing = select + self.landing[tile] + message.width.delay();
            let lanes = &mut self.lanes[tile];
            if message.width == Width::Pair {
                lanes.fill(select - 1, words + 2, |slot| &mut slot.receive);
                for event in paired_controls(message, receiver, select, self.landing[tile]) {
                    lanes.fill(event, 1, |slot| &mut slot.start);
                    lanes.fill(event, 1, |slot| &mut slot.select);
                    lanes.fill(event, 1, |slot| &mut slot.pointer);
                }
            } else {
                lanes.fill(select, words, |slot| &mut slot.receive);
                lanes.fill(select, 1, |slot| &mut slot.select);
                lanes.fill(select + words, 1, |slot| &mut slot.select);
                lanes.fill(landing, 1, |slot| &mut slot.pointer);
            }
            let written = Messages::written_elements(message, receiver);
            for used in &mut self.elements[tile] {
                if written >> used.element & 1 == 1 {
                    used.landed.fill(landing, words);
                }
            }
        }
    }
}

/// When a receiver selects a message that starts at an event.
pub(super) fn selection(receiver: &Receiver, start: u32) -> u32 {
    start.wrapping_add_signed(i32::from(receiver.select))
}

/// Events of the controls that 64-bit items need at a receiver: format on, pointer, format off, and
/// at the member that selects them, source and neutral source.
fn paired_controls(
    message: &Message,
    receiver: &Receiver,
    select: u32,
    landing: u32,
) -> impl Iterator<Item = u32> {
    let format = select + landing - 1;
    let both = [format, format + 2, format + message.items];
    let own = [select, select + message.items];
    both.into_iter()
        .chain(own.into_iter().filter(move |_| receiver.selects))
}

/// Window sizes that [`Board`] tells apart: powers of two up to the longest message.
const SIZES: usize = 14;

/// The largest size that `words` reaches.
const fn size_below(words: u32) -> usize {
    words.ilog2() as usize
}

/// The smallest size that holds `words`.
const fn size_above(words: u32) -> usize {
    words.next_power_of_two().ilog2() as usize
}

const _: () = assert!(size_above(TRANSFER_ITEMS_MAX) < SIZES);

/// Both fits, which start at the same candidate.
pub(super) fn narrow(fit: Fit, other: Fit) -> Fit {
    let mask = fit.mask & other.mask;
    let skip = if other.mask == 0 {
        other.skip.max(BLOCK)
    } else {
        fit.skip
    };
    Fit { mask, skip }
}
