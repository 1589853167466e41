//! Rules about a tile's row as a whole: lanes, memory elements, loopback and untried encodings.

use analytics::units::TileId;

use super::fabric::Landing;
use super::receive::Fabric;
use super::row::TimedRow;
use crate::fault::{Fault, FaultRule};
use crate::machine::sram::{self, FETCH_GUARD_BYTES, INTERLEAVED};
use crate::package::model::Address;

/// No control at the first or second event of a message.
///
/// Some encodings could express it, but no hardware run has tried them.
pub(super) fn untested(tile: TileId, row: &TimedRow, faults: &mut Vec<Fault>) {
    let mut controls = row.controls.iter().peekable();
    for message in &row.messages {
        while controls
            .next_if(|control| control.event < message.event)
            .is_some()
        {}
        if let Some(control) = controls.peek().filter(|c| c.event <= message.event + 1) {
            let what = format!(
                "{:?} is written at event {} of a send that starts at {}",
                control.write.kind, control.event, message.event
            );
            let fault = Fault::new(FaultRule::UntestedOnHardware, tile, what);
            faults.push(fault.at_event(control.event));
        }
    }
}

/// Every tile joins the barrier once: either all rows do at their entry, or the supervisors have
/// before they call them. Rows in the form that fewer have are at fault.
pub(super) fn barriers(rows: &[Option<TimedRow>], faults: &mut Vec<Fault>) {
    let known = || rows.iter().flatten();
    let joining = known().filter(|row| row.entry_sync).count();
    let others = known().count() - joining;
    if joining == 0 || others == 0 {
        return;
    }
    let is_odd = |row: &TimedRow| row.entry_sync == (joining <= others);
    let what = format!("{joining} rows join the barrier at their entry and {others} do not");
    for (tile, row) in (0..).map(TileId::new).zip(rows) {
        if let Some(row) = row.as_ref().filter(|row| is_odd(row)) {
            let fault = Fault::new(FaultRule::BarrierMismatch, tile, what.clone());
            faults.push(fault.at_event(0).at_address(row.address));
        }
    }
}

/// While 64-bit items leave a tile, its partner sends nothing.
pub(super) fn lanes(fabric: Fabric<'_>, tile: TileId, row: &TimedRow, faults: &mut Vec<Fault>) {
    let partner = fabric.topology.partner(tile);
    let lender = partner.and_then(|partner| Some((partner, fabric.row(partner)?)));
    let Some((partner, lender)) = lender else {
        return;
    };
    for message in row.messages.iter().filter(|message| message.wide()) {
        let first = lender
            .messages
            .partition_point(|m| m.end() <= message.event);
        if let Some(own) = lender
            .messages
            .get(first)
            .filter(|m| m.event < message.end())
        {
            let what = format!(
                "tile {partner} sends at events {}..{} while its lane is borrowed",
                own.event,
                own.end()
            );
            let fault = Fault::new(FaultRule::LaneConflict, tile, what);
            faults.push(fault.at_event(message.event).at_address(message.address));
        }
    }
}

/// What a transfer does to a tile's SRAM and when.
struct Use {
    start: u32,
    end: u32,
    address: Address,
    elements: u32,
}

impl Use {
    fn new(start: u32, items: u32, address: Address, bytes: u32) -> Self {
        Self {
            start,
            end: start + items,
            address,
            elements: sram::elements(address, bytes).unwrap_or(u32::MAX),
        }
    }
}

/// Reads, landings and the row itself use different elements where they meet in time.
pub(super) fn elements(
    tile: TileId,
    row: &TimedRow,
    landings: &[Landing],
    faults: &mut Vec<Fault>,
) {
    let reads = row.messages.iter();
    let reads: Vec<_> = reads
        .map(|m| Use::new(m.event, m.items, m.address, m.bytes()))
        .collect();
    let writes = landings.iter();
    let writes: Vec<_> = writes
        .map(|l| Use::new(l.event, l.items, l.address, l.bytes()))
        .collect();
    faults.extend(fetch_conflict(tile, row, reads.iter().chain(&writes)));
    let (mut read, mut write) = (reads.iter().peekable(), writes.iter().peekable());
    while let (Some(r), Some(w)) = (read.peek(), write.peek()) {
        if r.start < w.end && w.start < r.end && r.elements & w.elements != 0 {
            let what = format!(
                "events {}..{} read {:#x} and events {}..{} land at {:#x} in one element",
                r.start, r.end, r.address, w.start, w.end, w.address
            );
            let fault = Fault::new(FaultRule::ElementConflict, tile, what);
            faults.push(fault.at_event(r.start.max(w.start)).at_address(w.address));
        }
        if r.end <= w.end {
            read.next();
        } else {
            write.next();
        }
    }
}

/// The first exchanged data in an element that the row is fetched from.
fn fetch_conflict<'a>(
    tile: TileId,
    row: &TimedRow,
    mut data: impl Iterator<Item = &'a Use>,
) -> Option<Fault> {
    let fetched = (row.code_end + FETCH_GUARD_BYTES).min(INTERLEAVED) - row.address;
    let code = sram::elements(row.address, fetched).unwrap_or(u32::MAX);
    let data = data.find(|data| data.elements & code != 0)?;
    let what = format!(
        "the row at {:#x} is fetched from the same element",
        row.address
    );
    let fault = Fault::new(FaultRule::RowElementConflict, tile, what);
    Some(fault.at_event(data.start).at_address(data.address))
}

/// A message that lands on its own tile (64-bit: its own pair) lands elsewhere too.
pub(super) fn loopbacks(fabric: Fabric<'_>, landings: &[Vec<Landing>], faults: &mut Vec<Fault>) {
    /// Where a message lands.
    #[derive(Clone, Copy, Default)]
    struct Reach {
        own: bool,
        other: bool,
    }
    let sent = |row: &Option<TimedRow>| row.as_ref().map_or(0, |row| row.messages.len());
    let mut reach: Vec<_> = fabric
        .rows
        .iter()
        .map(|row| vec![Reach::default(); sent(row)])
        .collect();
    for (tile, landings) in (0..).map(TileId::new).zip(landings) {
        for landing in landings {
            let source = landing.source;
            let pair = landing.wide && fabric.topology.partner(source) == Some(tile);
            let reached = &mut reach[source.index()][landing.message as usize];
            if source == tile || pair {
                reached.own = true;
            } else {
                reached.other = true;
            }
        }
    }
    for (tile, (row, reach)) in (0..).map(TileId::new).zip(fabric.rows.iter().zip(&reach)) {
        let messages = row.iter().flat_map(|row| &row.messages);
        for (message, _) in messages.zip(reach).filter(|(_, r)| r.own && !r.other) {
            let what = "a message lands on its own tile or pair only";
            let fault = Fault::new(FaultRule::Loopback, tile, what);
            faults.push(fault.at_event(message.event).at_address(message.address));
        }
    }
}
