//! Where the arrivals of one tile land: their order, the incoming format and the landing pointer.

use analytics::units::TileId;

use super::fabric::Landing;
use super::receive::Arrival;
use super::row::{Control, TimedRow};
use crate::fault::{Fault, FaultRule};
use crate::machine::arch::RECEIVE_TAIL;
use crate::machine::isa::ControlKind;
use crate::machine::sram;
use crate::package::model::Address;

/// Events by which INCOMING_FORMAT takes effect before the first item that it is for lands.
const FORMAT_LEAD: i64 = 2;

/// Lands the arrivals, which are in order of their events, on a tile with this row.
pub(super) fn land(
    tile: TileId,
    row: &TimedRow,
    arrivals: &[Arrival],
    faults: &mut Vec<Fault>,
) -> Vec<Landing> {
    check_order(tile, row, arrivals, faults);
    check_formats(tile, row, arrivals, faults);
    place(tile, row, arrivals, faults)
}

/// One item lands at a time, and the row lasts until the last has.
fn check_order(tile: TileId, row: &TimedRow, arrivals: &[Arrival], faults: &mut Vec<Fault>) {
    for pair in arrivals.windows(2) {
        if pair[1].event < pair[0].end() {
            let what = format!(
                "items of tile {} land before those of tile {} have",
                pair[1].source, pair[0].source
            );
            let fault = Fault::new(FaultRule::LandingOverlap, tile, what);
            faults.push(fault.at_event(pair[1].event));
        }
    }
    let Some(end) = arrivals.last().map(Arrival::end) else {
        return;
    };
    if row.horizon < end.saturating_add(RECEIVE_TAIL) {
        let what = format!(
            "the last item lands before event {end}, the row ends at {}, not {RECEIVE_TAIL} later",
            row.horizon
        );
        faults.push(Fault::new(FaultRule::RowEndsEarly, tile, what).at_event(row.horizon));
    }
}

/// Event and value of every write of INCOMING_FORMAT.
fn format_writes(row: &TimedRow) -> Vec<(i64, u32)> {
    let writes = row.controls.iter();
    writes
        .filter(|control| control.write.kind == ControlKind::Format)
        .map(|control| (i64::from(control.event), control.write.value))
        .collect()
}

/// An event inside a row, which fits 32 bits.
fn event(value: i64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// The format fits each item from two events before its landing (64-bit) or at it (32-bit).
fn check_formats(tile: TileId, row: &TimedRow, arrivals: &[Arrival], faults: &mut Vec<Fault>) {
    let writes = format_writes(row);
    if let Some(&(at, value)) = writes.last().filter(|write| write.1 != 0) {
        let what = format!("the row ends in format {value}");
        faults.push(Fault::new(FaultRule::FormatNotZero, tile, what).at_event(event(at)));
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
            let fault = Fault::new(FaultRule::FormatMismatch, tile, what);
            faults.push(fault.at_event(arrival.event));
        }
    }
}

/// The 64-bit format ends with the payload that it is for; payloads that abut share it.
pub(super) fn check_held(
    tile: TileId,
    row: &TimedRow,
    landings: &[Landing],
    faults: &mut Vec<Fault>,
) {
    let writes = format_writes(row);
    for pair in writes.windows(2) {
        let ((on, value), (off, _)) = (pair[0], pair[1]);
        if value == 0 {
            continue;
        }
        // Where the format must stand for a payload: from its first item to its last.
        let span = |landing: &Landing| {
            let start = i64::from(landing.event) - FORMAT_LEAD;
            (start, start + i64::from(landing.items))
        };
        let mut expected = None;
        for (start, end) in landings.iter().filter(|l| l.wide).map(span) {
            if start < on || start >= off || expected.is_some_and(|at| at != start) {
                continue;
            }
            expected = Some(end);
        }
        if expected == Some(off) {
            continue;
        }
        let what = match expected {
            Some(end) => format!("format {value} is held until event {off}, needed until {end}"),
            None => format!("no 64-bit payload needs format {value} at events {on}..{off}"),
        };
        faults.push(Fault::new(FaultRule::FormatHeld, tile, what).at_event(event(off)));
    }
}

/// Follows the landing pointer through the arrivals.
fn place(
    tile: TileId,
    row: &TimedRow,
    arrivals: &[Arrival],
    faults: &mut Vec<Fault>,
) -> Vec<Landing> {
    let mut pointer = PointerTrack::new(tile, row);
    let mut landings = Vec::with_capacity(arrivals.len());
    let mut previous_wide = false;
    for arrival in arrivals {
        let wide = arrival.message.wide();
        let placed = place_one(tile, arrival, &mut pointer, previous_wide);
        previous_wide = wide;
        match placed {
            Ok(landing) => landings.push(landing),
            Err(fault) => faults.push(fault),
        }
    }
    landings
}

fn place_one(
    tile: TileId,
    arrival: &Arrival,
    pointer: &mut PointerTrack<'_>,
    previous_wide: bool,
) -> Result<Landing, Fault> {
    let message = arrival.message;
    let fault = |rule, what: String| Fault::new(rule, tile, what).at_event(arrival.event);
    let fresh = pointer.advance(arrival.event, arrival.end())?;
    if message.wide() && fresh && pointer.is_merged {
        let what = format!(
            "the pointer of 64-bit items of tile {} is written together with a source",
            arrival.source
        );
        return Err(fault(FaultRule::PairedControlMerged, what));
    }
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
    pointer.cursor = Some(address + u64::from(bytes));
    // In SRAM where nothing is wrong.
    let in_sram = Address::try_from(address).unwrap_or(Address::MAX);
    if let Some(rule) = wrong {
        let what = format!("{bytes} bytes in items of {width} land at {address:#x}");
        return Err(fault(rule, what).at_address(in_sram));
    }
    Ok(Landing {
        source: arrival.source,
        message: arrival.index,
        event: arrival.event,
        items: message.items,
        address: in_sram,
        source_address: message.address,
        wide: message.wide(),
    })
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
    /// Whether the last pointer write shared its event with another control.
    is_merged: bool,
    /// Whether a pointer that came too late is still to be used.
    is_fresh: bool,
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
            is_merged: false,
            is_fresh: false,
        }
    }

    /// Applies everything up to the landing events `start..end` and refuses what moves during them.
    /// Tells whether the pointer was written since the previous call.
    fn advance(&mut self, start: u32, end: u32) -> Result<bool, Fault> {
        let mut fresh = std::mem::take(&mut self.is_fresh);
        while let Some(control) = self.row.controls.get(self.next) {
            if control.event >= end {
                break;
            }
            self.next += 1;
            if control.write.kind != ControlKind::Pointer {
                continue;
            }
            self.point(control);
            fresh = true;
            if control.event > start {
                // The next message has its pointer all the same.
                self.is_fresh = true;
                let what = "the landing pointer moves while a message lands";
                let fault = Fault::new(FaultRule::PointerMidPayload, self.tile, what);
                return Err(fault.at_event(control.event));
            }
        }
        let switches = &self.row.base_switches;
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

    /// Takes the pointer, which the control before the next one has written.
    fn point(&mut self, control: &Control) {
        let switches = self.row.base_switches[self.switch..].iter();
        for switch in switches.take_while(|switch| switch.end <= control.event) {
            self.base = switch.base;
            self.switch += 1;
        }
        // Only a two-word send writes twice at one event, the source first.
        let before = self
            .next
            .checked_sub(2)
            .map(|at| self.row.controls[at].event);
        self.is_merged = before == Some(control.event);
        self.cursor = Some(u64::from(self.base) + 4 * u64::from(control.write.value));
    }
}
