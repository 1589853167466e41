//! Exchanges and their ports as JSON and as text.

use std::fmt::Write as _;

use serde::Serialize;

use super::json::pretty;
use super::part::{TileRangeJson, extent, tile_ranges};
use super::shown;
use super::table::{Align, table};
use crate::text;
use crate::traffic::{ExchangeTotals, PartTraffic, PortTotals, Role, TileTraffic, Totals};

/// Name and version of the contract.
pub const EXCHANGE_SCHEMA: &str = "ipu-stack/profile-exchange/1";

const SEND: usize = Role::Send as usize;
const RECEIVE: usize = Role::Receive as usize;
const PARTNER: usize = Role::PartnerBusy as usize;

/// The exchanges of a run, and of a part of it where one is given, as pretty JSON with a final
/// newline: `limit` exchanges and tiles, 0 is all.
#[must_use]
pub fn exchange_json(found: &Totals, part: Option<&PartTraffic>, limit: usize) -> String {
    let busiest = found.busiest();
    let exchanges = &found.exchanges[..shown(found.exchanges.len(), limit)];
    let tiles = &busiest[..shown(busiest.len(), limit)];
    pretty(&Report {
        schema: EXCHANGE_SCHEMA,
        clock: found.clock.name(),
        clock_hz: (found.clock_hz > 0).then_some(found.clock_hz),
        tile_count: found.tiles.len(),
        sample_count: found.samples,
        described_sample_count: found.described,
        sent_bytes: found.bytes(Role::Send),
        received_bytes: found.bytes(Role::Receive),
        exchange_count: found.exchanges.len(),
        shown_exchange_count: exchanges.len(),
        exchanges: exchanges.iter().map(ExchangeJson::new).collect(),
        busy_tile_count: busiest.len(),
        shown_tile_count: tiles.len(),
        tiles: tiles.iter().map(TileJson::of_run).collect(),
        part: part.map(|it| PartJson::new(it, limit)),
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    schema: &'static str,
    clock: &'static str,
    clock_hz: Option<u64>,
    tile_count: usize,
    sample_count: u64,
    described_sample_count: u64,
    sent_bytes: u64,
    received_bytes: u64,
    exchange_count: usize,
    shown_exchange_count: usize,
    exchanges: Vec<ExchangeJson<'a>>,
    busy_tile_count: usize,
    shown_tile_count: usize,
    tiles: Vec<TileJson>,
    part: Option<PartJson>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExchangeJson<'a> {
    name: &'a str,
    phase: u32,
    epoch: u32,
    first_entry: u64,
    last_entry: u64,
    last_exit: u64,
    cycles: u64,
    scheduled_event_cycles: Option<u64>,
    sent_bytes: Option<u64>,
    received_bytes: Option<u64>,
    received_bytes_per_cycle: Option<f64>,
    sender_count: Option<u64>,
    receiver_count: Option<u64>,
    hottest_tile: Option<u32>,
    hottest_tile_bytes: Option<u64>,
}

impl<'a> ExchangeJson<'a> {
    fn new(it: &'a ExchangeTotals) -> Self {
        let known = |figure: u64| it.is_described().then_some(figure);
        let per_cycle = it.bytes_per_cycle().filter(|_| it.is_described());
        Self {
            name: &it.name,
            phase: it.phase,
            epoch: it.epoch,
            first_entry: it.first_entry,
            last_entry: it.start,
            last_exit: it.end,
            cycles: it.cycles(),
            scheduled_event_cycles: (it.horizon > 0).then_some(it.horizon),
            sent_bytes: known(it.sent),
            received_bytes: known(it.received),
            received_bytes_per_cycle: per_cycle,
            sender_count: known(it.senders),
            receiver_count: known(it.receivers),
            hottest_tile: it.hottest.map(|(tile, _)| tile.get()),
            hottest_tile_bytes: it.hottest.map(|(_, bytes)| bytes),
        }
    }
}

/// A port: in events over the run, in cycles over a part.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TileJson {
    physical_tile: u32,
    sent_bytes: u64,
    received_bytes: u64,
    partner_busy_bytes: u64,
    send_cycles: u64,
    receive_cycles: u64,
    partner_busy_cycles: u64,
}

impl TileJson {
    const fn of_run(it: &PortTotals) -> Self {
        Self::new(it.tile.get(), &it.bytes, &it.events)
    }

    const fn of_part(it: &TileTraffic) -> Self {
        Self::new(it.tile.get(), &it.bytes, &it.cycles)
    }

    const fn new(tile: u32, bytes: &[u64; Role::COUNT], cycles: &[u64; Role::COUNT]) -> Self {
        Self {
            physical_tile: tile,
            sent_bytes: bytes[SEND],
            received_bytes: bytes[RECEIVE],
            partner_busy_bytes: bytes[PARTNER],
            send_cycles: cycles[SEND],
            receive_cycles: cycles[RECEIVE],
            partner_busy_cycles: cycles[PARTNER],
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PartJson {
    clock: &'static str,
    from: u64,
    to: u64,
    tile_count: u64,
    tile_ranges: Vec<TileRangeJson>,
    sent_bytes: u64,
    received_bytes: u64,
    partner_busy_bytes: u64,
    send_cycles: u64,
    receive_cycles: u64,
    partner_busy_cycles: u64,
    busy_tile_count: usize,
    shown_tile_count: usize,
    tiles: Vec<TileJson>,
}

impl PartJson {
    fn new(it: &PartTraffic, limit: usize) -> Self {
        let tiles = &it.tiles[..shown(it.tiles.len(), limit)];
        Self {
            clock: it.part.clock.name(),
            from: it.part.cycles.start,
            to: it.part.cycles.end,
            tile_count: it.part.tile_count(),
            tile_ranges: tile_ranges(&it.ends),
            sent_bytes: it.bytes(Role::Send),
            received_bytes: it.bytes(Role::Receive),
            partner_busy_bytes: it.bytes(Role::PartnerBusy),
            send_cycles: it.cycles(Role::Send),
            receive_cycles: it.cycles(Role::Receive),
            partner_busy_cycles: it.cycles(Role::PartnerBusy),
            busy_tile_count: it.tiles.len(),
            shown_tile_count: tiles.len(),
            tiles: tiles.iter().map(TileJson::of_part).collect(),
        }
    }
}

/// The same as text with a final newline, in 80 columns with the usual names.
#[must_use]
pub fn exchange_text(found: &Totals, part: Option<&PartTraffic>, limit: usize) -> String {
    let mut out = format!(
        "{} tiles, {} clock\ntransfers are told by {} of {} exchange samples\n",
        text::count(found.tiles.len() as u64),
        found.clock.name(),
        text::count(found.described),
        text::count(found.samples),
    );
    if found.exchanges.is_empty() {
        out.push_str("no exchange samples: nothing is exchanged\n");
        return out;
    }
    let _ = writeln!(
        out,
        "sent {} bytes, landed {} bytes",
        text::count(found.bytes(Role::Send)),
        text::count(found.bytes(Role::Receive)),
    );
    let listed = &found.exchanges[..shown(found.exchanges.len(), limit)];
    let _ = write!(
        out,
        "\n{} of {} exchanges, in time order\n",
        listed.len(),
        found.exchanges.len()
    );
    out.push_str(&times(listed));
    if listed.iter().any(ExchangeTotals::is_described) {
        out.push('\n');
        out.push_str(&moved(listed));
    }
    let busiest = found.busiest();
    let tiles: Vec<TileJson> = busiest.iter().map(TileJson::of_run).collect();
    out.push_str(&ports("over the run", &tiles, limit));
    if let Some(part) = part {
        out.push('\n');
        out.push_str(&extent(&part.part, found.clock_hz));
        let _ = writeln!(
            out,
            "sent {} bytes, landed {} bytes",
            text::count(part.bytes(Role::Send)),
            text::count(part.bytes(Role::Receive)),
        );
        let tiles: Vec<TileJson> = part.tiles.iter().map(TileJson::of_part).collect();
        out.push_str(&ports("in this part", &tiles, limit));
    }
    out
}

fn times(listed: &[ExchangeTotals]) -> String {
    let header = [
        ("exchange", Align::Left),
        ("last entry", Align::Right),
        ("cycles", Align::Right),
        ("scheduled", Align::Right),
        ("landed", Align::Right),
        ("per cycle", Align::Right),
    ];
    let row = |it: &ExchangeTotals| {
        let per_cycle = it.bytes_per_cycle().filter(|_| it.is_described());
        vec![
            it.name.clone(),
            text::count(it.start),
            text::count(it.cycles()),
            known((it.horizon > 0).then_some(it.horizon)),
            known(it.is_described().then_some(it.received)),
            per_cycle.map_or_else(|| UNKNOWN.to_owned(), |it| text::decimal(it, 1)),
        ]
    };
    let rows: Vec<_> = listed.iter().map(row).collect();
    table(&header, &rows)
}

fn moved(listed: &[ExchangeTotals]) -> String {
    let header = [
        ("exchange", Align::Left),
        ("sent", Align::Right),
        ("senders", Align::Right),
        ("receivers", Align::Right),
        ("hottest tile", Align::Right),
        ("its bytes", Align::Right),
    ];
    let row = |it: &ExchangeTotals| {
        let of = |figure: u64| known(it.is_described().then_some(figure));
        vec![
            it.name.clone(),
            of(it.sent),
            of(it.senders),
            of(it.receivers),
            it.hottest
                .map_or_else(String::new, |(tile, _)| tile.to_string()),
            known(it.hottest.map(|(_, bytes)| bytes)),
        ]
    };
    let rows: Vec<_> = listed.iter().map(row).collect();
    table(&header, &rows)
}

fn ports(place: &str, tiles: &[TileJson], limit: usize) -> String {
    if tiles.is_empty() {
        return String::new();
    }
    let header = [
        ("tile", Align::Right),
        ("landed", Align::Right),
        ("sent", Align::Right),
        ("receives", Align::Right),
        ("sends", Align::Right),
        ("lane lent", Align::Right),
    ];
    let row = |it: &TileJson| {
        vec![
            it.physical_tile.to_string(),
            text::count(it.received_bytes),
            text::count(it.sent_bytes),
            text::count(it.receive_cycles),
            text::count(it.send_cycles),
            text::count(it.partner_busy_cycles),
        ]
    };
    let listed = &tiles[..shown(tiles.len(), limit)];
    let rows: Vec<_> = listed.iter().map(row).collect();
    format!(
        "\n{} of {} tiles with transfers {place} (bytes, then cycles)\n{}",
        listed.len(),
        tiles.len(),
        table(&header, &rows)
    )
}

const UNKNOWN: &str = "unknown";

fn known(figure: Option<u64>) -> String {
    figure.map_or_else(|| UNKNOWN.to_owned(), text::count)
}
