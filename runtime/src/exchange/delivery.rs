//! What a package declares to arrive against what did arrive.
//!
//! Both sides are brought to one form for each receiving tile: ranges that carry on at the source
//! and at the destination are one range, so that it does not matter how transfers were cut into
//! messages.

use analytics::units::TileId;
use rayon::prelude::*;

use super::fabric::ExchangeOutcome;
use super::order;
use crate::fault::{Fault, FaultRule, Faults};
use crate::package::model::{Address, Delivery};

/// Bytes from one place to another; ordered so that ranges that carry on are neighbours.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    source: TileId,
    /// Destination minus source address, wrapping: equal for ranges of one copy.
    shift: u32,
    address: Address,
    bytes: u64,
}

impl Span {
    const fn new(source: TileId, from: Address, to: Address, bytes: u32) -> Self {
        Self {
            source,
            shift: to.wrapping_sub(from),
            address: to,
            bytes: bytes as u64,
        }
    }
}

/// Compares declared deliveries with what the words did; how they are cut does not matter, and
/// their order only where they touch the same bytes.
///
/// # Errors
///
/// For each receiving tile the first range that arrived without being declared or was declared and
/// did not arrive; if there is none, the bytes on which the order of deliveries was not kept.
pub fn compare_deliveries(
    deliveries: &[Delivery],
    outcome: &ExchangeOutcome,
) -> Result<(), Faults> {
    let mut declared: Vec<Vec<Span>> = vec![Vec::new(); outcome.landings.len()];
    for delivery in deliveries.iter().filter(|delivery| delivery.bytes > 0) {
        for &(tile, address) in &delivery.destinations {
            let from = delivery.source_address;
            let Some(spans) = declared.get_mut(tile.index()) else {
                let what = "a delivery is declared to a tile that the program does not have";
                return Err(Fault::new(FaultRule::DeliveryMismatch, tile, what).into());
            };
            spans.push(Span::new(delivery.source, from, address, delivery.bytes));
        }
    }
    let found: Vec<_> = declared
        .into_par_iter()
        .zip(&outcome.landings)
        .map(|(declared, landings)| {
            let arrived = landings
                .iter()
                .map(|l| Span::new(l.source, l.source_address, l.address, l.bytes()))
                .collect();
            difference(&normal(declared), &normal(arrived))
        })
        .collect();
    let tiles = (0..).map(TileId::new).zip(found);
    Faults::check(tiles.filter_map(|(tile, found)| Some(mismatch(tile, found?))))?;
    Faults::check(order::check(deliveries, outcome))
}

fn mismatch(tile: TileId, (span, what): (Span, &str)) -> Fault {
    let from = span.address.wrapping_sub(span.shift);
    let what = format!(
        "{} bytes from tile {} at {from:#x} {what}",
        span.bytes, span.source
    );
    Fault::new(FaultRule::DeliveryMismatch, tile, what).at_address(span.address)
}

fn normal(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    spans.dedup_by(|next, last| {
        let same = next.source == last.source && next.shift == last.shift;
        let abut = u64::from(last.address) + last.bytes == u64::from(next.address);
        if same && abut {
            last.bytes += next.bytes;
        }
        same && abut
    });
    spans
}

/// The first span in which two sorted lists differ, with what is wrong with it.
fn difference(declared: &[Span], arrived: &[Span]) -> Option<(Span, &'static str)> {
    let at = declared
        .iter()
        .zip(arrived)
        .take_while(|(d, a)| d == a)
        .count();
    match (declared.get(at), arrived.get(at)) {
        (None, None) => None,
        (Some(&span), None) => Some((span, "were declared and did not arrive")),
        (None, Some(&span)) => Some((span, "arrived and were not declared")),
        (Some(&d), Some(&a)) if d < a => Some((d, "were declared and did not arrive so")),
        (Some(_), Some(&a)) => Some((a, "arrived and were not declared so")),
    }
}
