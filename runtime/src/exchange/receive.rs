//! What lands on one tile: its select windows meet the messages of the selected sources.
//!
//! A word that leaves at event e of its source is at the receiver's mux at e + mux + 1, and lands
//! 52 events plus two for each physical row later, where the landing pointer stands then. 64-bit
//! items are selected by the pair member that they reach first and land on both members at the
//! event at which an ordinary word of the other member would.

use analytics::units::{PhysicalTile, TileId};

use super::fabric::Landing;
use super::landing;
use super::row::{Message, TimedRow};
use crate::fault::{Fault, FaultRule};
use crate::machine::arch::{NEUTRAL_SOURCE, SENDER_HORIZON_MIN};
use crate::machine::isa::ControlKind;
use crate::machine::topology::{self, Topology, pair_partner};

/// What all tiles of a phase share.
#[derive(Clone, Copy)]
pub(super) struct Fabric<'a> {
    pub(super) rows: &'a [Option<TimedRow>],
    pub(super) topology: &'a Topology,
}

impl<'a> Fabric<'a> {
    pub(super) fn row(&self, tile: TileId) -> Option<&'a TimedRow> {
        self.rows.get(tile.index()).and_then(Option::as_ref)
    }
}

/// A half-open interval of events during which a source is selected.
#[derive(Clone, Copy)]
struct Window {
    start: u32,
    end: u32,
    source: u32,
}

/// A whole message that a tile receives, before it is known where it lands.
pub(super) struct Arrival {
    pub(super) source: TileId,
    pub(super) index: u32,
    pub(super) message: Message,
    /// Event at which the first item lands.
    pub(super) event: u32,
    /// The format that its items need: 0, or the direction of 64-bit items.
    pub(super) format: u32,
}

impl Arrival {
    pub(super) const fn end(&self) -> u32 {
        self.event + self.message.items
    }
}

/// What one tile receives, and the rules that are broken on the way.
#[derive(Default)]
pub(super) struct Received {
    /// In landing order; what a broken rule concerns is left out.
    pub(super) landings: Vec<Landing>,
    pub(super) faults: Vec<Fault>,
}

/// Everything that lands on `tile`.
pub(super) fn receive(fabric: Fabric<'_>, tile: TileId) -> Received {
    let mut faults = Vec::new();
    let mut arrivals = Vec::new();
    if let Some(row) = fabric.row(tile) {
        own_windows(fabric, tile, row, &mut arrivals, &mut faults);
    }
    let partner = fabric.topology.partner(tile);
    for member in [Some(tile), partner].into_iter().flatten() {
        let Some(row) = fabric.row(member) else {
            continue;
        };
        let mut found = Vec::new();
        for window in windows(member, row, ControlKind::MuxPair, &mut found) {
            let done = paired(fabric, tile, member, &window, &mut arrivals);
            found.extend(done.err());
        }
        // The partner reports its own.
        faults.extend(found.into_iter().filter(|fault| fault.tile == tile));
    }
    arrivals.sort_unstable_by_key(|arrival| arrival.event);
    let landings = match fabric.row(tile) {
        Some(row) => landing::land(tile, row, &arrivals, &mut faults),
        None => {
            let what = "64-bit items reach a tile without a row";
            let fault = |arrival: &Arrival| {
                Fault::new(FaultRule::PairedReceivers, tile, what).at_event(arrival.event)
            };
            faults.extend(arrivals.first().map(fault));
            Vec::new()
        }
    };
    Received { landings, faults }
}

fn own_windows(
    fabric: Fabric<'_>,
    tile: TileId,
    row: &TimedRow,
    arrivals: &mut Vec<Arrival>,
    faults: &mut Vec<Fault>,
) {
    let ordinary_windows = windows(tile, row, ControlKind::Mux, faults);
    for window in &ordinary_windows {
        faults.extend(ordinary(fabric, tile, window, arrivals).err());
    }
    // Open ends are reported when the pair's windows are read.
    let paired_windows = windows(tile, row, ControlKind::MuxPair, &mut Vec::new());
    faults.extend(overlap(tile, &ordinary_windows, &paired_windows));
    if row.horizon < SENDER_HORIZON_MIN && !row.messages.is_empty() {
        let what = format!("a sender's row lasts at least {SENDER_HORIZON_MIN} events");
        faults.push(Fault::new(FaultRule::RowEndsEarly, tile, what).at_event(row.horizon));
    }
}

/// The windows of one select register, neutral ones left out.
fn windows(
    tile: TileId,
    row: &TimedRow,
    kind: ControlKind,
    faults: &mut Vec<Fault>,
) -> Vec<Window> {
    let neutral = u32::from(NEUTRAL_SOURCE);
    let mut found = Vec::new();
    let mut open: Option<(u32, u32)> = None;
    for control in row.controls.iter().filter(|c| c.write.kind == kind) {
        if let Some((start, source)) = open.take() {
            let end = control.event;
            found.push(Window { start, end, source });
        }
        let source = control.write.value;
        open = (source != neutral).then_some((control.event, source));
    }
    if let Some((start, source)) = open {
        let what = format!("{kind:?} still selects physical tile {source} when the row ends");
        faults.push(Fault::new(FaultRule::MuxNotNeutral, tile, what).at_event(start));
    }
    found
}

/// Both registers select at once.
fn overlap(tile: TileId, ordinary: &[Window], paired: &[Window]) -> Option<Fault> {
    paired.iter().find_map(|wide| {
        let first = ordinary.partition_point(|window| window.end <= wide.start);
        let other = ordinary.get(first).filter(|w| w.start < wide.end)?;
        let what = format!(
            "events {}..{} select physical tile {} and events {}..{} the 64-bit items of {}",
            other.start, other.end, other.source, wide.start, wide.end, wide.source
        );
        let event = other.start.max(wide.start);
        Some(Fault::new(FaultRule::MuxOverlap, tile, what).at_event(event))
    })
}

fn ordinary(
    fabric: Fabric<'_>,
    tile: TileId,
    window: &Window,
    arrivals: &mut Vec<Arrival>,
) -> Result<(), Fault> {
    let source = PhysicalTile::new(window.source);
    let physical = fabric.topology.physical(tile);
    let route = topology::route(source, physical);
    let (sender, row) = sender(fabric, tile, source, window)?;
    let shift = i64::from(route.mux) + 1;
    for (index, message) in selected(tile, sender, row, window, shift)? {
        check_direction(tile, sender, &message, route.direction.send_bit(), window)?;
        if message.wide() {
            let what = format!("64-bit items of tile {sender} are selected as 32-bit ones");
            return Err(Fault::new(FaultRule::FormatMismatch, tile, what).at_event(window.start));
        }
        let lands = i64::from(message.event) + shift + delay(physical);
        arrivals.push(Arrival {
            source: sender,
            index,
            message,
            event: event(tile, lands)?,
            format: 0,
        });
    }
    Ok(())
}

/// What `member` selects for its whole pair, as it reaches `tile`.
fn paired(
    fabric: Fabric<'_>,
    tile: TileId,
    member: TileId,
    window: &Window,
    arrivals: &mut Vec<Arrival>,
) -> Result<(), Fault> {
    let early = fabric.topology.physical(member);
    let late = pair_partner(early);
    let source = PhysicalTile::new(window.source ^ (early.get() & 2));
    let fault = |rule, what: String| Err(Fault::new(rule, member, what).at_event(window.start));
    if fabric.topology.logical(late).is_none() {
        let what = "64-bit items are selected on a tile whose partner is not in the program";
        return fault(FaultRule::PairedReceivers, what.to_owned());
    }
    let route = topology::route(source, early);
    let (sender, row) = sender(fabric, member, source, window)?;
    if route.mux > topology::route(source, late).mux {
        let what = format!("64-bit items of tile {sender} reach the partner first");
        return fault(FaultRule::PairedReceivers, what);
    }
    let shift = i64::from(route.mux) + 1;
    for (index, message) in selected(member, sender, row, window, shift)? {
        let direction = route.direction.send_bit();
        check_direction(member, sender, &message, direction, window)?;
        if !message.wide() {
            let what = format!("32-bit items of tile {sender} are selected as 64-bit ones");
            return fault(FaultRule::FormatMismatch, what);
        }
        let lands = i64::from(message.event) + shift + 1 + delay(early);
        arrivals.push(Arrival {
            source: sender,
            index,
            message,
            event: event(tile, lands)?,
            format: u32::from(direction),
        });
    }
    Ok(())
}

fn delay(physical: PhysicalTile) -> i64 {
    i64::from(topology::landing_delay(physical))
}

fn event(tile: TileId, value: i64) -> Result<u32, Fault> {
    u32::try_from(value).ok().ok_or_else(|| {
        let what = format!("an item would land at event {value}");
        Fault::new(FaultRule::RowEndsEarly, tile, what)
    })
}

fn sender<'a>(
    fabric: Fabric<'a>,
    tile: TileId,
    source: PhysicalTile,
    window: &Window,
) -> Result<(TileId, &'a TimedRow), Fault> {
    let fault = |rule, what| Fault::new(rule, tile, what).at_event(window.start);
    let sender = fabric.topology.logical(source).ok_or_else(|| {
        let what = format!("physical tile {source} is not in the program");
        fault(FaultRule::UnknownSource, what)
    })?;
    let row = fabric.row(sender).ok_or_else(|| {
        let what = format!("tile {sender} has no row");
        fault(FaultRule::SilentSource, what)
    })?;
    Ok((sender, row))
}

/// The messages that pass the mux during a window; each is selected as a whole.
fn selected(
    tile: TileId,
    sender: TileId,
    row: &TimedRow,
    window: &Window,
    shift: i64,
) -> Result<Vec<(u32, Message)>, Fault> {
    let (start, end) = (
        i64::from(window.start) - shift,
        i64::from(window.end) - shift,
    );
    let first = row
        .messages
        .partition_point(|m| i64::from(m.end()) <= start);
    let inside = row.messages[first..].iter();
    let mut found = Vec::new();
    for (index, message) in (first..).zip(inside.take_while(|m| i64::from(m.event) < end)) {
        if i64::from(message.event) < start || i64::from(message.end()) > end {
            let what = format!(
                "{} items leave tile {sender} at its events {start}..{end} of {}..{}",
                message.items,
                message.event,
                message.end()
            );
            let what = format!("a message is selected in part: {what}");
            return Err(Fault::new(FaultRule::MuxWindow, tile, what).at_event(window.start));
        }
        // A row has at most one message a word of region 0.
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        found.push((index, *message));
    }
    if found.is_empty() {
        let what = format!("tile {sender} sends nothing at its events {start}..{end}");
        return Err(Fault::new(FaultRule::SilentSource, tile, what).at_event(window.start));
    }
    Ok(found)
}

fn check_direction(
    tile: TileId,
    sender: TileId,
    message: &Message,
    direction: u8,
    window: &Window,
) -> Result<(), Fault> {
    if message.control & direction != 0 {
        return Ok(());
    }
    let what = format!(
        "tile {sender} sends with control {} at its event {}; needed is direction {direction}",
        message.control, message.event
    );
    Err(Fault::new(FaultRule::MissingDirection, tile, what).at_event(window.start))
}
