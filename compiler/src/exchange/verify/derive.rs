//! Who receives what: each selection of a tile against what the selected tile sends at the time.
//!
//! A word that leaves at event e is at the receiver's mux at e + mux + 1 and lands a fixed number
//! of events later, where the receiver's pointer then is.

use analytics::units::{PhysicalTile, TileId};
use runtime::machine::arch::{RECEIVE_TAIL, TILES};
use runtime::machine::topology;
use runtime::package::model::Address;

use super::super::transfer::ExchangeContext;
use super::VerifyError;
use super::decode::{Decoded, Selected, Sent};

/// Words that leave one tile and land on another back to back, at both ends from consecutive
/// addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// Sending tile.
    pub(super) source: TileId,
    /// First byte at the source.
    pub(super) source_address: Address,
    /// Event of the first word on the sender's clock.
    pub(super) sent: u32,
    /// Receiving tile.
    pub(super) tile: TileId,
    /// First byte at the receiver.
    pub(super) address: Address,
    /// Event of the first landing on the receiver's clock.
    pub(super) landed: u32,
    /// Length in items.
    pub(super) items: u32,
    /// Words of an item.
    pub(super) item_words: u32,
}

impl Run {
    /// Length in words.
    pub(super) const fn words(&self) -> u32 {
        self.items * self.item_words
    }

    /// One past the event of the last landing.
    const fn end(&self) -> u32 {
        self.landed + self.items
    }
}

/// Everything that lands on one tile, in order.
pub(super) fn runs(
    tile: TileId,
    row: &Decoded,
    all: &[Decoded],
    context: &ExchangeContext<'_>,
) -> Result<Vec<Run>, VerifyError> {
    let mut receiver = Receiver {
        tile,
        physical: context.topology.physical(tile),
        row,
        context,
        runs: Vec::new(),
    };
    for selected in &row.selected {
        receiver.hear(selected, all)?;
    }
    let partner = context.topology.partner(tile);
    for member in [Some(tile), partner].into_iter().flatten() {
        for selected in &all[member.index()].pair_selected {
            receiver.hear_pair(selected, member, all)?;
        }
    }
    receiver.runs.sort_unstable_by_key(|run| run.landed);
    receiver.check_landings()?;
    let end = receiver
        .runs
        .last()
        .map_or(0, |run| run.end() + RECEIVE_TAIL);
    let sent = row.sent.last().map_or(0, Sent::end);
    if row.horizon < end.max(sent) {
        return Err(VerifyError::Event {
            tile,
            event: i64::from(row.horizon),
            problem: "the row returns before its last words have landed",
        });
    }
    receiver.land()
}

struct Receiver<'a> {
    tile: TileId,
    physical: PhysicalTile,
    row: &'a Decoded,
    context: &'a ExchangeContext<'a>,
    /// What lands when; where is found last.
    runs: Vec<Run>,
}

impl Receiver<'_> {
    fn error(&self, event: impl Into<i64>, problem: &'static str) -> VerifyError {
        VerifyError::Event {
            tile: self.tile,
            event: event.into(),
            problem,
        }
    }

    /// The tile behind a selected physical id.
    fn source(&self, id: u32, event: u32) -> Result<(TileId, PhysicalTile), VerifyError> {
        let physical = PhysicalTile::new(id);
        let known = id < u32::from(TILES);
        let source = known
            .then(|| self.context.topology.logical(physical))
            .flatten();
        let problem = "a source that is no tile of the program is selected";
        let source = source.ok_or_else(|| self.error(event, problem))?;
        Ok((source, physical))
    }

    /// Takes in what a selected source sends during the selection; it must send all the while.
    fn hear(&mut self, selected: &Selected, all: &[Decoded]) -> Result<(), VerifyError> {
        let (source, physical) = self.source(selected.source, selected.from)?;
        let route = topology::route(physical, self.physical);
        let stream = Stream {
            source,
            travel: i64::from(route.mux) + 1,
            direction: route.direction.send_bit(),
            landing: topology::landing_delay(self.physical),
            item_words: 1,
        };
        self.take(selected, &stream, &all[source.index()].sent)
    }

    /// Takes in the 64-bit items that a member of the pair, which they reach first, selects.
    fn hear_pair(
        &mut self,
        selected: &Selected,
        member: TileId,
        all: &[Decoded],
    ) -> Result<(), VerifyError> {
        let early = self.context.topology.physical(member);
        let (source, physical) = self.source(selected.source ^ (early.get() & 2), selected.from)?;
        let first = topology::route(physical, early);
        let second = topology::route(physical, topology::pair_partner(early));
        if first.mux >= second.mux || self.context.topology.partner(member).is_none() {
            let problem = "64-bit items are selected where they arrive late, or by half a pair";
            return Err(self.error(selected.from, problem));
        }
        if self.context.topology.partner(source) == Some(self.tile) || source == self.tile {
            return Err(self.error(selected.from, "64-bit items for the sender's own pair"));
        }
        let route = topology::route(physical, self.physical);
        let direction = route.direction.send_bit();
        let stream = Stream {
            source,
            travel: i64::from(first.mux) + 1,
            direction,
            landing: topology::landing_delay(self.physical) + 1,
            item_words: 2,
        };
        let before = self.runs.len();
        self.take(selected, &stream, &all[source.index()].sent)?;
        for run in &self.runs[before..] {
            let stands = |format: &Selected| {
                format.from + 2 == run.landed
                    && format.to + 2 == run.end()
                    && format.source == u32::from(direction)
            };
            if !self.row.formats.iter().any(stands) {
                let problem = "64-bit items land without their format, or in more than they need";
                return Err(self.error(run.landed, problem));
            }
        }
        Ok(())
    }

    /// Takes in the items of one stream during a selection.
    fn take(
        &mut self,
        selected: &Selected,
        stream: &Stream,
        sent: &[Sent],
    ) -> Result<(), VerifyError> {
        let from = i64::from(selected.from) - stream.travel;
        let to = i64::from(selected.to) - stream.travel;
        let first = sent.partition_point(|sent| i64::from(sent.end()) <= from);
        let mut heard = from;
        for sent in &sent[first..] {
            if heard == to || i64::from(sent.event) > heard {
                break;
            }
            let at = heard + stream.travel;
            if sent.control & stream.direction == 0 {
                return Err(self.error(at, "the source sends the other way"));
            }
            if sent.item_words() != stream.item_words {
                return Err(self.error(at, "the source sends items of another width"));
            }
            let skipped = u32::try_from(heard - i64::from(sent.event)).unwrap_or(u32::MAX);
            let end = to.min(i64::from(sent.end()));
            let landed = u32::try_from(at + i64::from(stream.landing)).ok();
            self.runs.push(Run {
                source: stream.source,
                source_address: sent.address + 4 * stream.item_words * skipped,
                sent: sent.event + skipped,
                tile: self.tile,
                address: 0,
                landed: landed.ok_or_else(|| self.error(at, "the event is out of range"))?,
                items: u32::try_from(end - heard).unwrap_or(u32::MAX),
                item_words: stream.item_words,
            });
            heard = end;
        }
        if heard < to {
            return Err(self.error(heard + stream.travel, "the selected source is silent"));
        }
        Ok(())
    }

    /// One item lands at a time, and words never while the format is that of 64-bit items.
    fn check_landings(&self) -> Result<(), VerifyError> {
        for pair in self.runs.windows(2) {
            if pair[1].landed < pair[0].end() {
                return Err(self.error(pair[1].landed, "two items land at one event"));
            }
        }
        for run in self.runs.iter().filter(|run| run.item_words == 1) {
            let first = self.row.formats.partition_point(|it| it.to <= run.landed);
            let meets = |format: &Selected| format.from < run.end();
            if self.row.formats.get(first).is_some_and(meets) {
                return Err(self.error(run.landed, "words land in the format of 64-bit items"));
            }
        }
        Ok(())
    }

    /// Lands everything where the pointer is, cut where it is moved.
    fn land(&self) -> Result<Vec<Run>, VerifyError> {
        let mut pointers = self.row.pointers.as_slice();
        let mut cursor = None;
        let mut landed = Vec::new();
        for run in &self.runs {
            let mut run = *run;
            while run.items > 0 {
                while let Some((&(event, address), rest)) = pointers.split_first() {
                    if event > run.landed {
                        break;
                    }
                    if run.item_words == 2 && self.row.merged.binary_search(&event).is_ok() {
                        let problem = "the pointer of 64-bit items shares its event";
                        return Err(self.error(event, problem));
                    }
                    (cursor, pointers) = (Some(address), rest);
                }
                let Some(address) = cursor else {
                    let problem = "words land before a pointer was written";
                    return Err(self.error(run.landed, problem));
                };
                let until_moved = pointers
                    .first()
                    .map_or(u32::MAX, |&(event, _)| event - run.landed);
                let items = run.items.min(until_moved);
                let bytes = 4 * items * run.item_words;
                landed.push(Run {
                    address,
                    items,
                    ..run
                });
                cursor = Some(address.saturating_add(bytes));
                run.source_address += bytes;
                run.sent += items;
                run.landed += items;
                run.items -= items;
            }
        }
        Ok(landed)
    }
}

/// What a source sends, as one receiver hears it.
struct Stream {
    source: TileId,
    /// Events from the send to the selection.
    travel: i64,
    /// Bit of the send control that must be set.
    direction: u8,
    /// Events from the selection to the landing.
    landing: u32,
    item_words: u32,
}
