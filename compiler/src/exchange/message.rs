//! Transfers as messages: ranges cut to what one message carries, routes looked up once.
//!
//! Transfers → [`Messages`], flat and in list order. Every message obeys the length limit, and a
//! message that its own source also receives is short or long enough for its controls to miss its
//! first events.

use analytics::units::TileId;
use rayon::prelude::*;
use runtime::machine::arch::TRANSFER_ITEMS_MAX;
use runtime::machine::sram;
use runtime::machine::topology::pair_partner;
use runtime::package::model::Address;

use super::transfer::{ExchangeContext, SourceSteps, Transfer};

/// Part of a transfer that is sent without a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// Logical tile that sends.
    pub(super) source: u16,
    /// Send control: bit 0 east, bit 1 west, bit 2 64-bit items.
    pub(super) control: u8,
    /// First byte at the source.
    pub(super) address: Address,
    /// How the source moves from run to run.
    pub(super) steps: SourceSteps,
    /// Length in items, which take an event each, 1..=4148.
    pub(super) items: u32,
    /// What an item is.
    pub(super) width: Width,
    /// Logical tile whose transmit lane is borrowed, if it is one of the program.
    pub(super) lender: Option<u16>,
    /// Index of the first receiver in [`Messages::receivers`].
    pub(super) first: u32,
    /// Number of receivers, at least one.
    pub(super) count: u32,
}

/// What a message sends at each event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Width {
    /// A word.
    #[default]
    Word,
    /// 64 bits: the sender borrows the lane of its pair partner, both members of a pair receive.
    Pair,
}

impl Width {
    /// Bytes of an item.
    pub(super) const fn bytes(self) -> u32 {
        match self {
            Self::Word => 4,
            Self::Pair => 8,
        }
    }

    /// Events that an item lands later than a word that is selected at the same event.
    pub(super) const fn delay(self) -> u32 {
        match self {
            Self::Word => 0,
            Self::Pair => 1,
        }
    }
}

/// Whether long messages to whole pairs of tiles are sent as 64-bit items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pairing {
    /// No.
    None,
    /// All that can be.
    All,
}

/// Least words of a transfer that is sent as 64-bit items.
const PAIR_WORDS_MIN: u32 = 128;

impl Message {
    /// Length in bytes.
    pub(super) const fn bytes(&self) -> u32 {
        self.items * self.width.bytes()
    }
}

/// One tile that receives a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Receiver {
    /// Logical tile.
    pub(super) tile: u16,
    /// Events from the send to the selection at this tile, S − T; of 64-bit items, at the member of
    /// its pair that they reach first.
    pub(super) select: i16,
    /// Whether the tile selects the source itself: not the later member of a pair.
    pub(super) selects: bool,
    /// First byte written.
    pub(super) address: Address,
}

/// All messages of an exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Messages {
    /// In program order.
    pub(super) messages: Vec<Message>,
    /// Receivers, grouped by message.
    pub(super) receivers: Vec<Receiver>,
}

impl Messages {
    /// The receivers of a message.
    pub(super) fn receivers(&self, message: &Message) -> &[Receiver] {
        let first = message.first as usize;
        &self.receivers[first..first + message.count as usize]
    }

    /// Elements that a message reads at its source, in whichever run.
    pub(super) fn read_elements(message: &Message) -> u32 {
        let of = |offset| sram::elements(message.address + offset, message.bytes());
        let elements = message
            .steps
            .offsets()
            .map(|offset| of(offset).unwrap_or(0));
        elements.fold(0, |all, elements| all | elements)
    }

    /// Elements that a message writes at a receiver.
    pub(super) fn written_elements(message: &Message, receiver: &Receiver) -> u32 {
        sram::elements(receiver.address, message.bytes()).unwrap_or(0)
    }
}

/// Lengths that a transfer's messages must not have.
#[derive(Clone, Debug)]
struct Forbidden {
    most: u32,
    lengths: Vec<u32>,
}

impl Forbidden {
    const fn none() -> Self {
        Self {
            most: TRANSFER_ITEMS_MAX,
            lengths: Vec::new(),
        }
    }

    /// A message that its source receives in an element that it reads has left as it begins to
    /// land, `landing` events after its start.
    fn same_element(&mut self, landing: u32) {
        self.most = self.most.min(landing);
    }

    /// A receiver that is the source itself selects `select` events after the send starts: the
    /// control that ends the selection must miss the first two events of the send.
    fn loopback(&mut self, select: i16) {
        let start = u32::try_from(-i32::from(select)).unwrap_or(0);
        self.lengths.extend([start, start + 1]);
    }

    /// The selection of a receiver that must not merge controls may not end as its words begin to
    /// land.
    fn merged(&mut self, landing: u32) {
        self.lengths.push(landing);
    }

    /// The controls of 64-bit items need an event each: selection and format meet at these lengths.
    fn paired(&mut self, landing: u32) {
        self.lengths.extend([2, landing - 1, landing + 1]);
    }

    /// Items of the next message with `rest` items to go: all, half, or the most below that is
    /// allowed.
    fn next(&self, rest: u32) -> u32 {
        let items = rest.min(self.most);
        let mut tries = [items, items / 2].into_iter().chain((1..items / 2).rev());
        let allowed = tries.find(|items| *items > 0 && !self.lengths.contains(items));
        allowed.expect("one item is never forbidden: routes and landings take longer")
    }
}

/// Cuts checked transfers into messages.
///
/// `merges` says for each tile whether two controls may share an event there.
pub(super) fn messages(
    transfers: &[Transfer],
    context: &ExchangeContext<'_>,
    (merges, pairing): (&[bool], Pairing),
) -> Messages {
    let parts: Vec<Messages> = transfers
        .par_chunks(4096)
        .map(|chunk| {
            let mut part = Messages::default();
            for transfer in chunk {
                let is_paired = pairing == Pairing::All && can_pair(transfer, context);
                if is_paired {
                    append_paired(transfer, context, &mut part);
                } else {
                    append(transfer, context, merges, &mut part);
                }
            }
            part
        })
        .collect();
    let mut all = Messages::default();
    all.messages
        .reserve(parts.iter().map(|part| part.messages.len()).sum());
    all.receivers
        .reserve(parts.iter().map(|part| part.receivers.len()).sum());
    for part in parts {
        let offset = all.receivers.len();
        let moved = part.messages.into_iter().map(|message| Message {
            first: index(offset + message.first as usize),
            ..message
        });
        all.messages.extend(moved);
        all.receivers.extend(part.receivers);
    }
    all
}

/// A list position as the 32 bits that messages keep.
pub(super) fn index(position: usize) -> u32 {
    u32::try_from(position).expect("an exchange has fewer than 2^32 receivers")
}

fn append(transfer: &Transfer, context: &ExchangeContext<'_>, merges: &[bool], out: &mut Messages) {
    let source = context.topology.physical(transfer.source);
    let mut control = 0;
    let mut forbidden = Forbidden::none();
    let first_receiver = out.receivers.len();
    for &(tile, address) in &transfer.destinations {
        let route = runtime::machine::topology::route(source, context.topology.physical(tile));
        control |= route.direction.send_bit();
        let select = i16::try_from(route.mux + 1).expect("a route's mux offset has eight bits");
        if tile == transfer.source {
            forbidden.loopback(select);
            let elements = |at| sram::elements(at, 4 * transfer.words).unwrap_or(0);
            let mut reads = transfer.steps.offsets();
            if reads.any(|at| elements(transfer.source_address + at) & elements(address) != 0) {
                let landing = context.topology.landing_delay(tile);
                forbidden.same_element(landing.saturating_add_signed(i32::from(select)));
            }
        }
        if !merges[tile.index()] {
            forbidden.merged(context.topology.landing_delay(tile));
        }
        out.receivers.push(Receiver {
            tile: tile.get(),
            select,
            selects: true,
            address,
        });
    }
    if transfer.destinations.len() > 1 {
        control = 3;
    }
    let first = Message {
        source: transfer.source.get(),
        control,
        address: transfer.source_address,
        steps: transfer.steps,
        items: transfer.words,
        width: Width::Word,
        lender: None,
        first: index(first_receiver),
        count: index(out.receivers.len() - first_receiver),
    };
    cut(&first, &forbidden, out);
}

/// Whether a transfer can be sent as 64-bit items on a device where its receivers are whole pairs
/// of tiles.
pub(super) fn may_pair(transfer: &Transfer) -> bool {
    let even = |address: u32| address.is_multiple_of(8);
    let mut destinations = transfer.destinations.iter();
    transfer.words >= PAIR_WORDS_MIN
        && transfer.words.is_multiple_of(2)
        && transfer.destinations.len().is_multiple_of(2)
        && even(transfer.source_address)
        && even(transfer.steps.bytes)
        && destinations.all(|&(tile, at)| even(at) && tile != transfer.source)
}

/// Whether a transfer may be sent as 64-bit items: to whole pairs of tiles, none of them its own.
pub(super) fn can_pair(transfer: &Transfer, context: &ExchangeContext<'_>) -> bool {
    if !may_pair(transfer) {
        return false;
    }
    let mut tiles: Vec<TileId> = transfer.destinations.iter().map(|it| it.0).collect();
    tiles.sort_unstable();
    tiles.iter().all(|&tile| {
        let partner = context.topology.partner(tile);
        partner.is_some_and(|it| tiles.binary_search(&it).is_ok())
    })
}

fn append_paired(transfer: &Transfer, context: &ExchangeContext<'_>, out: &mut Messages) {
    let source = context.topology.physical(transfer.source);
    let mut control = 4;
    let mut forbidden = Forbidden::none();
    let first_receiver = out.receivers.len();
    for &(tile, address) in &transfer.destinations {
        let physical = context.topology.physical(tile);
        let route = runtime::machine::topology::route(source, physical);
        let other = runtime::machine::topology::route(source, pair_partner(physical));
        control |= route.direction.send_bit();
        forbidden.paired(context.topology.landing_delay(tile));
        let select = route.mux.min(other.mux) + 1;
        out.receivers.push(Receiver {
            tile: tile.get(),
            select: i16::try_from(select).expect("a route's mux offset has eight bits"),
            selects: route.mux < other.mux,
            address,
        });
    }
    if transfer.destinations.len() > 2 {
        control = 7;
    }
    let first = Message {
        source: transfer.source.get(),
        control,
        address: transfer.source_address,
        steps: transfer.steps,
        items: transfer.words / 2,
        width: Width::Pair,
        lender: context
            .topology
            .partner(transfer.source)
            .map(|tile| tile.get()),
        first: index(first_receiver),
        count: index(out.receivers.len() - first_receiver),
    };
    cut(&first, &forbidden, out);
}

/// Cuts what one transfer sends, given as one message of any length, into messages that may be.
fn cut(whole: &Message, forbidden: &Forbidden, out: &mut Messages) {
    let (first_receiver, count) = (whole.first as usize, whole.count as usize);
    let unit = whole.width.bytes();
    let mut sent = 0;
    while sent < whole.items {
        let items = forbidden.next(whole.items - sent);
        let first = if sent == 0 {
            first_receiver
        } else {
            let first = out.receivers.len();
            for position in first_receiver..first_receiver + count {
                let receiver = out.receivers[position];
                let address = receiver.address + unit * sent;
                out.receivers.push(Receiver {
                    address,
                    ..receiver
                });
            }
            first
        };
        out.messages.push(Message {
            address: whole.address + unit * sent,
            items,
            first: index(first),
            ..*whole
        });
        sent += items;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::machine::topology::Topology;

    fn cut(words: u32, destinations: &[u16], merges: bool) -> Vec<u32> {
        let topology = Topology::first_tiles(8);
        let context = ExchangeContext {
            topology: &topology,
            row_code: &[],
        };
        let transfer = Transfer {
            source: TileId::new(0),
            source_address: 0x6_0000,
            steps: SourceSteps::NONE,
            words,
            destinations: destinations
                .iter()
                .map(|&tile| (TileId::new(tile), 0x9_0000))
                .collect(),
        };
        let cut = messages(&[transfer], &context, (&[merges; 8], Pairing::None));
        let mut offset = 0;
        for message in &cut.messages {
            assert_eq!(message.address, 0x6_0000 + offset);
            assert_eq!(cut.receivers(message).len(), destinations.len());
            let at = |receiver: &Receiver| receiver.address == 0x9_0000 + offset;
            assert!(cut.receivers(message).iter().all(at));
            offset += message.bytes();
        }
        cut.messages.iter().map(|message| message.items).collect()
    }

    #[test]
    fn long_transfers_become_several_messages() {
        assert_eq!(cut(4148, &[2], true), [4148]);
        assert_eq!(cut(4149, &[2], true), [4148, 1]);
        assert_eq!(cut(10_000, &[2, 3], true), [4148, 4148, 1704]);
    }

    #[test]
    fn a_loopback_message_never_ends_its_selection_at_its_own_first_events() {
        // S − T is −28 from tile 0 to itself.
        assert_eq!(cut(27, &[0, 2], true), [27]);
        assert_eq!(cut(28, &[0, 2], true), [14, 14]);
        assert_eq!(cut(29, &[0, 2], true), [14, 15]);
        assert_eq!(cut(30, &[0, 2], true), [30]);
        assert_eq!(cut(4148 + 28, &[0, 2], true), [4148, 14, 14]);
    }

    #[test]
    fn a_loopback_within_an_element_leaves_before_it_lands() {
        let topology = Topology::first_tiles(8);
        let context = ExchangeContext {
            topology: &topology,
            row_code: &[],
        };
        let transfer = Transfer {
            source: TileId::new(0),
            source_address: 0x9_1000,
            steps: SourceSteps::NONE,
            words: 60,
            destinations: vec![(TileId::new(0), 0x9_0000), (TileId::new(2), 0x9_0000)],
        };
        let cut = messages(&[transfer], &context, (&[true; 8], Pairing::None));
        // P − T is 24 from tile 0 to itself.
        let words: Vec<_> = cut.messages.iter().map(|message| message.items).collect();
        assert_eq!(words, [24, 24, 12]);
    }

    #[test]
    fn where_controls_may_not_merge_no_selection_ends_as_its_words_land() {
        assert_eq!(cut(52, &[2], true), [52]);
        // Tiles 2 and 4 are on rows 1 and 2: their words land 54 and 56 events after selection.
        assert_eq!(cut(54, &[2, 4], false), [27, 27]);
        assert_eq!(cut(56, &[2, 4], false), [28, 28]);
        assert_eq!(cut(108, &[2, 4], false), [108]);
    }

    #[test]
    fn every_tile_can_send_every_length_to_itself_in_some_cut() {
        let topology = Topology::first_tiles(1472);
        for tile in 0..1472 {
            let id = TileId::new(tile);
            let own = i16::try_from(topology.route(id, id).mux + 1).expect("small");
            let mut forbidden = Forbidden::none();
            forbidden.loopback(own);
            for words in 1..=130_u32 {
                let mut rest = words;
                while rest > 0 {
                    let next = forbidden.next(rest);
                    assert!(next > 0 && !matches!(i64::from(own) + i64::from(next), 0 | 1));
                    rest -= next;
                }
            }
        }
    }
}
