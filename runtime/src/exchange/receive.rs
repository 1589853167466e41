//! What lands on one tile: its select windows meet the messages of the selected sources.
//!
//! A word that leaves at event e of its source is at the receiver's mux at e + mux + 1, and lands
//! 52 events plus two for each physical row later, where the landing pointer stands then. 64-bit
//! items are selected by the pair member that they reach first and land on both members at the
//! event at which an ordinary word of the other member would.

use analytics::units::{PhysicalTile, TileId};

use super::fabric::Landing;
use super::row::{Message, TimedRow};
use crate::fault::{Fault, FaultRule};
use crate::machine::arch::{NEUTRAL_SOURCE, RECEIVE_TAIL, SENDER_HORIZON_MIN};
use crate::machine::isa::ControlKind;
use crate::machine::sram;
use crate::machine::topology::{self, Topology, pair_partner};
use crate::package::model::Address;

/// Events by which INCOMING_FORMAT takes effect before the first item that it is for lands.
const FORMAT_LEAD: i64 = 2;

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
struct Window {
    start: u32,
    end: u32,
    source: u32,
}

/// A whole message that a tile receives, before it is known where it lands.
struct Arrival {
    source: TileId,
    index: u32,
    message: Message,
    /// Event at which the first item lands.
    event: u32,
    /// The format that its items need: 0, or the direction of 64-bit items.
    format: u32,
}

impl Arrival {
    const fn end(&self) -> u32 {
        self.event + self.message.items
    }
}

/// Everything that lands on `tile`, in landing order.
pub(super) fn landings(fabric: Fabric<'_>, tile: TileId) -> Result<Vec<Landing>, Fault> {
    let mut arrivals = Vec::new();
    if let Some(row) = fabric.row(tile) {
        for window in windows(tile, row, ControlKind::Mux)? {
            ordinary(fabric, tile, &window, &mut arrivals)?;
        }
        if row.horizon < SENDER_HORIZON_MIN && !row.messages.is_empty() {
            let what = format!("a sender's row lasts at least {SENDER_HORIZON_MIN} events");
            return Err(Fault::new(FaultRule::RowEndsEarly, tile, what).at_event(row.horizon));
        }
    }
    let partner = fabric.topology.partner(tile);
    for member in [Some(tile), partner].into_iter().flatten() {
        let Some(row) = fabric.row(member) else {
            continue;
        };
        for window in windows(member, row, ControlKind::MuxPair)? {
            paired(fabric, tile, member, &window, &mut arrivals)?;
        }
    }
    if arrivals.is_empty() {
        return settle_empty(fabric, tile);
    }
    let Some(row) = fabric.row(tile) else {
        let what = "64-bit items reach a tile without a row";
        return Err(Fault::new(FaultRule::PairedReceivers, tile, what));
    };
    arrivals.sort_unstable_by_key(|arrival| arrival.event);
    check_order(tile, row, &arrivals)?;
    check_formats(tile, row, &arrivals)?;
    place(tile, row, &arrivals)
}

fn settle_empty(fabric: Fabric<'_>, tile: TileId) -> Result<Vec<Landing>, Fault> {
    if let Some(row) = fabric.row(tile) {
        check_formats(tile, row, &[])?;
    }
    Ok(Vec::new())
}

/// The windows of one select register, neutral ones left out.
fn windows(tile: TileId, row: &TimedRow, kind: ControlKind) -> Result<Vec<Window>, Fault> {
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
        return Err(Fault::new(FaultRule::MuxNotNeutral, tile, what).at_event(start));
    }
    Ok(found)
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

/// One item lands at a time, and the row lasts until the last has.
fn check_order(tile: TileId, row: &TimedRow, arrivals: &[Arrival]) -> Result<(), Fault> {
    for pair in arrivals.windows(2) {
        if pair[1].event < pair[0].end() {
            let what = format!(
                "items of tile {} land before those of tile {} have",
                pair[1].source, pair[0].source
            );
            let fault = Fault::new(FaultRule::LandingOverlap, tile, what);
            return Err(fault.at_event(pair[1].event));
        }
    }
    let end = arrivals.last().map_or(0, Arrival::end);
    if row.horizon < end.saturating_add(RECEIVE_TAIL) {
        let what = format!(
            "the last item lands before event {end}, the row ends at {}, not {RECEIVE_TAIL} later",
            row.horizon
        );
        return Err(Fault::new(FaultRule::RowEndsEarly, tile, what).at_event(row.horizon));
    }
    Ok(())
}

/// The format fits each item from two events before its landing (64-bit) or at it (32-bit).
fn check_formats(tile: TileId, row: &TimedRow, arrivals: &[Arrival]) -> Result<(), Fault> {
    let writes: Vec<_> = row
        .controls
        .iter()
        .filter(|control| control.write.kind == ControlKind::Format)
        .map(|control| (i64::from(control.event), control.write.value))
        .collect();
    if let Some(&(event, value)) = writes.last().filter(|write| write.1 != 0) {
        let what = format!("the row ends in format {value}");
        let fault = Fault::new(FaultRule::FormatNotZero, tile, what);
        return Err(fault.at_event(u32::try_from(event).unwrap_or(u32::MAX)));
    }
    for arrival in arrivals {
        let lead = if arrival.format == 0 { 0 } else { FORMAT_LEAD };
        let start = i64::from(arrival.event) - lead;
        let end = start + i64::from(arrival.message.items);
        let first = writes.partition_point(|write| write.0 <= start);
        let before = first.checked_sub(1).map_or(0, |last| writes[last].1);
        let during = writes[first..].iter().take_while(|write| write.0 < end);
        let wrong = [before]
            .into_iter()
            .chain(during.map(|write| write.1))
            .find(|&value| value != arrival.format);
        if let Some(value) = wrong {
            let what = format!(
                "items of tile {} need format {} at events {start}..{end} and meet {value}",
                arrival.source, arrival.format
            );
            return Err(Fault::new(FaultRule::FormatMismatch, tile, what).at_event(arrival.event));
        }
    }
    Ok(())
}

/// Follows the landing pointer through the arrivals.
fn place(tile: TileId, row: &TimedRow, arrivals: &[Arrival]) -> Result<Vec<Landing>, Fault> {
    let mut pointer = PointerTrack::new(tile, row);
    let mut landings = Vec::with_capacity(arrivals.len());
    let mut previous_wide = false;
    for arrival in arrivals {
        let message = arrival.message;
        let fresh = pointer.advance(arrival.event, arrival.end())?;
        let fault = |rule, what: String| Fault::new(rule, tile, what).at_event(arrival.event);
        let address = pointer
            .cursor
            .filter(|_| fresh || !(message.wide() || previous_wide));
        let Some(address) = address else {
            let what = format!(
                "items of tile {} land without a pointer write",
                arrival.source
            );
            return Err(fault(FaultRule::PointerMissing, what));
        };
        let wrong = match u32::try_from(address) {
            Ok(address) if !address.is_multiple_of(message.item_bytes()) => {
                Some(FaultRule::AddressAlignment)
            }
            Ok(address) if sram::contains(address, message.bytes()) => None,
            _ => Some(FaultRule::AddressRange),
        };
        let (bytes, width) = (message.bytes(), message.item_bytes());
        if let Some(rule) = wrong {
            let what = format!("{bytes} bytes in items of {width} land at {address:#x}");
            return Err(fault(rule, what));
        }
        pointer.cursor = Some(address + u64::from(bytes));
        previous_wide = message.wide();
        landings.push(Landing {
            source: arrival.source,
            message: arrival.index,
            event: arrival.event,
            items: message.items,
            // In SRAM, as just checked.
            address: Address::try_from(address).unwrap_or(Address::MAX),
            source_address: message.address,
            wide: message.wide(),
        });
    }
    Ok(landings)
}

/// The landing pointer as a row moves it.
struct PointerTrack<'a> {
    tile: TileId,
    row: &'a TimedRow,
    /// Next control to apply.
    next: usize,
    /// Next base switch to apply.
    switch: usize,
    base: Address,
    /// Byte address of the next landing; unknown before the first write and after a base switch.
    cursor: Option<u64>,
}

impl<'a> PointerTrack<'a> {
    const fn new(tile: TileId, row: &'a TimedRow) -> Self {
        Self {
            tile,
            row,
            next: 0,
            switch: 0,
            base: row.incoming_base,
            cursor: None,
        }
    }

    /// Applies everything up to the landing events `start..end` and refuses what moves during them.
    /// Tells whether the pointer was written since the previous call.
    fn advance(&mut self, start: u32, end: u32) -> Result<bool, Fault> {
        let mut fresh = false;
        let switches = &self.row.base_switches;
        while let Some(control) = self.row.controls.get(self.next) {
            if control.event >= end {
                break;
            }
            self.next += 1;
            if control.write.kind != ControlKind::Pointer {
                continue;
            }
            if control.event > start {
                let what = "the landing pointer moves while a message lands";
                let fault = Fault::new(FaultRule::PointerMidPayload, self.tile, what);
                return Err(fault.at_event(control.event));
            }
            while switches
                .get(self.switch)
                .is_some_and(|s| s.end <= control.event)
            {
                self.base = switches[self.switch].base;
                self.switch += 1;
            }
            self.cursor = Some(u64::from(self.base) + 4 * u64::from(control.write.value));
            fresh = true;
        }
        while let Some(switch) = switches.get(self.switch).filter(|s| s.event < end) {
            if switch.end > start {
                let what = "the incoming base changes while a message lands";
                let fault = Fault::new(FaultRule::BaseSwitch, self.tile, what);
                return Err(fault.at_event(switch.event));
            }
            self.base = switch.base;
            self.switch += 1;
            // Whether the pointer survives a switch is unknown, so a new one is asked for.
            self.cursor = None;
        }
        Ok(fresh)
    }
}
