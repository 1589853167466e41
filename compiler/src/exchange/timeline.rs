//! What each tile sends and controls, in the order of events.
//!
//! Messages with their starts → one [`Timeline`] a tile. A selection ends with the neutral source
//! unless the next one takes over at that event; a landing pointer is written unless the words go
//! on where the previous ones ended. (The cursor moves with the words, so nothing is to be written
//! then.)

use rayon::prelude::*;
use runtime::machine::arch::{NEUTRAL_SOURCE, RECEIVE_TAIL, SENDER_HORIZON_MIN};
use runtime::machine::topology;
use runtime::package::model::Address;

use super::message::{Messages, Width};
use super::transfer::ExchangeContext;

/// A message that a tile sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TimedSend {
    /// Event of the first word.
    pub(super) event: u32,
    /// Length in items.
    pub(super) items: u32,
    /// What an item is.
    pub(super) width: Width,
    /// First byte.
    pub(super) address: Address,
    /// Send control: bit 0 east, bit 1 west, bit 2 64-bit items.
    pub(super) control: u8,
    /// Bytes that the first byte is further on in each run of a repeated exchange.
    pub(super) step: u32,
}

/// What a tile writes to its receive registers at one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Control {
    /// Event at which it takes effect.
    pub(super) event: u32,
    /// Source to select, a physical id or the neutral one.
    pub(super) source: Option<u16>,
    /// First byte of the words that land from here on.
    pub(super) pointer: Option<Address>,
    /// A write for 64-bit items, which shares its event with no other.
    pub(super) paired: Option<Paired>,
}

/// A register write for 64-bit items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paired {
    /// Source to select for the pair: a physical id or the neutral one.
    Source(u16),
    /// Direction that the items come from, 1 or 2, or 0 after them.
    Format(u8),
    /// First byte of the items that land from here on.
    Pointer(Address),
}

impl Control {
    /// The register values: a source id and a word address.
    pub(super) fn writes(&self) -> (Option<u32>, Option<u32>) {
        (
            self.source.map(u32::from),
            self.pointer.map(|address| address / 4),
        )
    }
}

/// One tile's part in an exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Timeline {
    /// Disjoint, in order.
    pub(super) sends: Vec<TimedSend>,
    /// At distinct events, in order.
    pub(super) controls: Vec<Control>,
    /// Events from the release of the barrier to the end of the row; zero without traffic.
    pub(super) horizon: u32,
}

/// A message as one of its receivers sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Selection {
    event: u32,
    items: u32,
    source: u16,
    address: Address,
    width: Width,
    /// Whether the tile selects the source itself.
    selects: bool,
}

impl Selection {
    /// One past the last byte that it lands.
    const fn end(&self) -> Address {
        self.address + self.items * self.width.bytes()
    }
}

/// Entries grouped by tile in one array.
struct Grouped<T> {
    entries: Vec<T>,
    first: Vec<usize>,
}

impl<T: Copy + Default> Grouped<T> {
    /// Groups the `(tile, entry)` pairs that `each` passes on; it is called twice and must repeat
    /// itself.
    fn new(tiles: usize, each: impl Fn(&mut dyn FnMut(u16, T))) -> Self {
        let mut first = vec![0_usize; tiles + 1];
        each(&mut |tile, _| first[usize::from(tile) + 1] += 1);
        for tile in 0..tiles {
            first[tile + 1] += first[tile];
        }
        let mut next = first.clone();
        let mut entries = vec![T::default(); first[tiles]];
        each(&mut |tile, entry| {
            let slot = &mut next[usize::from(tile)];
            entries[*slot] = entry;
            *slot += 1;
        });
        Self { entries, first }
    }

    fn of(&self, tile: usize) -> &[T] {
        &self.entries[self.first[tile]..self.first[tile + 1]]
    }
}

/// The timelines of all tiles, in logical order.
pub(super) fn timelines(
    messages: &Messages,
    starts: &[u32],
    context: &ExchangeContext<'_>,
) -> Vec<Timeline> {
    let tiles = context.topology.tiles();
    let started = || messages.messages.iter().zip(starts);
    let sends = Grouped::new(tiles, |put| {
        for (message, &event) in started() {
            let send = TimedSend {
                event,
                items: message.items,
                width: message.width,
                address: message.address,
                control: message.control,
                step: message.steps.bytes,
            };
            put(message.source, send);
        }
    });
    let selections = Grouped::new(tiles, |put| {
        for (message, &start) in started() {
            for receiver in messages.receivers(message) {
                let selection = Selection {
                    event: start.wrapping_add_signed(i32::from(receiver.select)),
                    items: message.items,
                    source: message.source,
                    address: receiver.address,
                    width: message.width,
                    selects: receiver.selects,
                };
                put(receiver.tile, selection);
            }
        }
    });
    (0..tiles)
        .into_par_iter()
        .map(|tile| timeline(tile, sends.of(tile), selections.of(tile), context))
        .collect()
}

fn timeline(
    tile: usize,
    sends: &[TimedSend],
    selections: &[Selection],
    context: &ExchangeContext<'_>,
) -> Timeline {
    let mapping = context.topology.mapping();
    let landing = topology::landing_delay(mapping[tile]);
    let mut sends = sends.to_vec();
    sends.sort_unstable_by_key(|send| send.event);
    let mut selections = selections.to_vec();
    selections.sort_unstable();
    let sent = sends
        .last()
        .map(|send| (send.event + send.items).max(SENDER_HORIZON_MIN));
    let landed = selections
        .last()
        .map(|last| last.event + landing + last.width.delay() + last.items + RECEIVE_TAIL);
    let source = |selection: &Selection| {
        let physical = mapping[usize::from(selection.source)].get();
        u16::try_from(physical).expect("a physical id has eleven bits")
    };
    let mut controls = merge(
        &sources(&selections, source),
        &pointers(&selections, landing),
    );
    let physical = mapping[tile];
    let direction = |it: &Selection| {
        let route = topology::route(mapping[usize::from(it.source)], physical);
        route.direction.send_bit()
    };
    let wide = selections.iter().filter(|it| it.width == Width::Pair);
    let first = controls.len();
    for selection in wide {
        let source = source(selection) ^ u16::try_from(physical.get() & 2).unwrap_or(0);
        paired(
            selection,
            (source, direction(selection), landing),
            &mut controls,
        );
    }
    if controls.len() > first {
        controls.sort_unstable_by_key(|control| control.event);
    }
    Timeline {
        sends,
        controls,
        horizon: sent.max(landed).unwrap_or(0),
    }
}

/// When which source is selected.
fn sources(selections: &[Selection], physical: impl Fn(&Selection) -> u16) -> Vec<(u32, u16)> {
    let mut sources = Vec::with_capacity(2 * selections.len());
    for (position, selection) in selections.iter().enumerate() {
        if selection.width == Width::Pair {
            continue;
        }
        sources.push((selection.event, physical(selection)));
        let end = selection.event + selection.items;
        if selections
            .get(position + 1)
            .is_none_or(|next| next.event != end)
        {
            sources.push((end, NEUTRAL_SOURCE));
        }
    }
    sources
}

/// When the landing pointer is set to which address.
fn pointers(selections: &[Selection], landing: u32) -> Vec<(u32, Address)> {
    let mut follows = None;
    let mut pointers = Vec::with_capacity(selections.len());
    for selection in selections {
        if selection.width == Width::Pair {
            follows = None;
            continue;
        }
        if follows != Some(selection.address) {
            pointers.push((selection.event + landing, selection.address));
        }
        follows = Some(selection.end());
    }
    pointers
}

/// The controls of 64-bit items from `source`, as their pair selects it, and `direction`.
fn paired(
    selection: &Selection,
    (source, direction, landing): (u16, u8, u32),
    controls: &mut Vec<Control>,
) {
    let mut put = |event, write| {
        controls.push(Control {
            event,
            source: None,
            pointer: None,
            paired: Some(write),
        });
    };
    let format = selection.event + landing - 1;
    if selection.selects {
        put(selection.event, Paired::Source(source));
        put(
            selection.event + selection.items,
            Paired::Source(NEUTRAL_SOURCE),
        );
    }
    put(format, Paired::Format(direction));
    put(format + 2, Paired::Pointer(selection.address));
    put(format + selection.items, Paired::Format(0));
}

/// Both kinds of control in the order of events.
fn merge(mut sources: &[(u32, u16)], mut pointers: &[(u32, Address)]) -> Vec<Control> {
    let mut controls = Vec::with_capacity(sources.len() + pointers.len());
    loop {
        let next_source = sources.first().map_or(u32::MAX, |&(event, _)| event);
        let next_pointer = pointers.first().map_or(u32::MAX, |&(event, _)| event);
        let event = next_source.min(next_pointer);
        if event == u32::MAX {
            return controls;
        }
        let mut control = Control {
            event,
            source: None,
            pointer: None,
            paired: None,
        };
        if let Some((&(at, source), rest)) = sources.split_first()
            && at == event
        {
            (control.source, sources) = (Some(source), rest);
        }
        if let Some((&(at, pointer), rest)) = pointers.split_first()
            && at == event
        {
            (control.pointer, pointers) = (Some(pointer), rest);
        }
        controls.push(control);
    }
}
