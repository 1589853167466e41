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
    /// Length in words.
    pub(super) words: u32,
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
        pointers: &row.pointers,
        cursor: None,
        runs: Vec::new(),
    };
    for selected in &row.selected {
        let unknown = VerifyError::Event {
            tile,
            event: i64::from(selected.from),
            problem: "a source that is no tile of the program is selected",
        };
        let physical = PhysicalTile::new(selected.source);
        let known = selected.source < u32::from(TILES);
        let source = known
            .then(|| context.topology.logical(physical))
            .flatten()
            .ok_or(unknown)?;
        receiver.hear(selected, source, physical, &all[source.index()].sent)?;
    }
    let end = receiver
        .runs
        .last()
        .map_or(0, |run| run.landed + run.words + RECEIVE_TAIL);
    let sent = row.sent.last().map_or(0, |sent| sent.event + sent.words);
    if row.horizon < end.max(sent) {
        return Err(VerifyError::Event {
            tile,
            event: i64::from(row.horizon),
            problem: "the row returns before its last words have landed",
        });
    }
    Ok(receiver.runs)
}

struct Receiver<'a> {
    tile: TileId,
    physical: PhysicalTile,
    /// Pointer writes still to come.
    pointers: &'a [(u32, Address)],
    cursor: Option<Address>,
    runs: Vec<Run>,
}

impl Receiver<'_> {
    fn error(&self, event: i64, problem: &'static str) -> VerifyError {
        let tile = self.tile;
        VerifyError::Event {
            tile,
            event,
            problem,
        }
    }

    /// Takes in what a selected source sends during the selection; it must send all the while.
    fn hear(
        &mut self,
        selected: &Selected,
        source: TileId,
        physical: PhysicalTile,
        sent: &[Sent],
    ) -> Result<(), VerifyError> {
        let route = topology::route(physical, self.physical);
        let travel = i64::from(route.mux) + 1;
        let from = i64::from(selected.from) - travel;
        let to = i64::from(selected.to) - travel;
        let first = sent.partition_point(|sent| i64::from(sent.event + sent.words) <= from);
        let mut heard = from;
        for sent in &sent[first..] {
            if heard == to || i64::from(sent.event) > heard {
                break;
            }
            if sent.control & route.direction.send_bit() == 0 {
                return Err(self.error(heard + travel, "the source sends the other way"));
            }
            let skipped = u32::try_from(heard - i64::from(sent.event)).unwrap_or(u32::MAX);
            let end = to.min(i64::from(sent.event + sent.words));
            let run = Run {
                source,
                source_address: sent.address + 4 * skipped,
                sent: sent.event + skipped,
                tile: self.tile,
                address: 0,
                landed: self.landing(heard + travel)?,
                words: u32::try_from(end - heard).unwrap_or(u32::MAX),
            };
            self.land(run)?;
            heard = end;
        }
        if heard < to {
            return Err(self.error(heard + travel, "the selected source is silent"));
        }
        Ok(())
    }

    /// The event at which a word selected at event `at` lands.
    fn landing(&self, at: i64) -> Result<u32, VerifyError> {
        let event = at + i64::from(topology::landing_delay(self.physical));
        u32::try_from(event)
            .ok()
            .ok_or_else(|| self.error(at, "the event is out of range"))
    }

    /// Lands words where the pointer is, cut where it is moved.
    fn land(&mut self, mut run: Run) -> Result<(), VerifyError> {
        while run.words > 0 {
            while let Some((&(event, address), rest)) = self.pointers.split_first() {
                if event > run.landed {
                    break;
                }
                (self.cursor, self.pointers) = (Some(address), rest);
            }
            let Some(address) = self.cursor else {
                let problem = "words land before a pointer was written";
                return Err(self.error(i64::from(run.landed), problem));
            };
            let until_moved = self
                .pointers
                .first()
                .map_or(u32::MAX, |&(event, _)| event - run.landed);
            let words = run.words.min(until_moved);
            self.runs.push(Run {
                address,
                words,
                ..run
            });
            self.cursor = Some(address.saturating_add(4 * words));
            run.source_address += 4 * words;
            run.sent += words;
            run.landed += words;
            run.words -= words;
        }
        Ok(())
    }
}
