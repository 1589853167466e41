//! Bytes of exchanges over the run: by exchange and by tile.

use analytics::clock::ClockKind;
use analytics::report::exchange_json;
use analytics::text;
use analytics::traffic::{Role, Totals, totals};
use serde::{Deserialize, Serialize};

use super::cause::Failure;
use super::list::{List, Press};
use super::panel::Sources;
use super::protocol::{Fact, clock_name};
use super::table::Cell;

/// Which clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TrafficAsked {
    /// The clock in force; the tile clock stands for the shared one.
    #[serde(with = "clock_name")]
    pub(crate) clock: ClockKind,
}

/// Sums over the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrafficAnswer {
    /// What was asked.
    pub(crate) asked: TrafficAsked,
    /// The clock that instants are on.
    #[serde(with = "clock_name")]
    pub(crate) clock: ClockKind,
    /// The run as a whole.
    pub(crate) facts: Vec<Fact>,
    /// Exchanges in time order.
    pub(crate) exchanges: List,
    /// Tiles by bytes that land on them, most first.
    pub(crate) tiles: List,
}

/// The answer from a report in memory.
pub(crate) fn traffic(
    sources: &Sources<'_>,
    asked: TrafficAsked,
) -> Result<TrafficAnswer, Failure> {
    let found = totals(sources.report, &*sources.exchanges()?, asked.clock)?;
    Ok(TrafficAnswer {
        asked,
        clock: found.clock,
        facts: facts(&found),
        exchanges: exchanges(&found),
        tiles: tiles(&found),
    })
}

/// What `profile-exchange --json --limit 0` prints.
pub(crate) fn traffic_json(sources: &Sources<'_>, asked: TrafficAsked) -> Result<String, Failure> {
    let found = totals(sources.report, &*sources.exchanges()?, asked.clock)?;
    Ok(exchange_json(&found, None, 0))
}

fn facts(found: &Totals) -> Vec<Fact> {
    let bytes = |role: Role| format!("{} bytes", text::count(found.bytes(role)));
    let described = format!(
        "{} of {}",
        text::count(found.described),
        text::count(found.samples)
    );
    vec![
        Fact::new(
            "exchanges",
            "Exchanges",
            text::count(found.exchanges.len() as u64),
        ),
        Fact::new("sent", "Sent", bytes(Role::Send)),
        Fact::new("received", "Landed", bytes(Role::Receive)),
        Fact::new("described", "Samples with transfers", described),
    ]
}

fn exchanges(found: &Totals) -> List {
    let mut list = List::new(&[
        ("exchange", "Exchange", "Press to bring it into view"),
        (
            "start",
            "Start",
            "Last entry: from here on transfers are placed",
        ),
        ("cycles", "Cycles", "From the last entry to the last exit"),
        ("scheduled", "Scheduled", "Cycles of the static schedule"),
        (
            "sent",
            "Sent",
            "Bytes that left tiles: 4 an event, 8 where the partner's lane is lent",
        ),
        (
            "received",
            "Landed",
            "Bytes that landed: more than were sent where one has many receivers",
        ),
        (
            "bytesPerCycle",
            "Bytes per cycle",
            "Landed bytes of all tiles over the exchange's cycles",
        ),
        ("senders", "Senders", "Tiles that send"),
        ("receivers", "Receivers", "Tiles that receive"),
        (
            "hottest",
            "Hottest tile",
            "The tile on which most bytes land",
        ),
        ("hottestBytes", "Its bytes", "Bytes that land on it"),
    ]);
    for it in &found.exchanges {
        let known = it.is_described().then_some(());
        list.push(
            Press::Jump(it.start, it.end),
            vec![
                Cell::name(&it.name),
                Cell::count(it.start),
                Cell::count(it.cycles()),
                Cell::count_or_unknown((it.horizon > 0).then_some(it.horizon)),
                Cell::count_or_unknown(known.map(|()| it.sent)),
                Cell::count_or_unknown(known.map(|()| it.received)),
                Cell::decimal(it.bytes_per_cycle().filter(|_| known.is_some()), 1),
                Cell::count_or_unknown(known.map(|()| it.senders)),
                Cell::count_or_unknown(known.map(|()| it.receivers)),
                it.hottest
                    .map_or_else(Cell::unknown, |it| Cell::id(it.0.get())),
                Cell::count_or_unknown(it.hottest.map(|it| it.1)),
            ],
        );
    }
    list.with_bars("bytesPerCycle")
}

fn tiles(found: &Totals) -> List {
    let mut list = List::new(&[
        (
            "tile",
            "Hottest receivers",
            "Physical id; press to bring it into view",
        ),
        (
            "received",
            "Landed bytes",
            "Bytes that land on it over the run",
        ),
        ("sent", "Sent bytes", "Bytes that it sends"),
        ("receiving", "Receiving", "Events in which it receives"),
        ("sending", "Sending", "Events in which it sends"),
        (
            "lending",
            "Lane lent",
            "Events in which its pair partner borrows its transmit lane",
        ),
    ]);
    let [send, receive, lent] =
        [Role::Send, Role::Receive, Role::PartnerBusy].map(|it| it as usize);
    for it in found.busiest() {
        let tile = it.tile.get();
        list.push(
            Press::Tile(tile),
            vec![
                Cell::id(tile),
                Cell::count(it.bytes[receive]),
                Cell::count(it.bytes[send]),
                Cell::count(it.events[receive]),
                Cell::count(it.events[send]),
                Cell::count(it.events[lent]),
            ],
        );
    }
    list.with_bars("received")
}
