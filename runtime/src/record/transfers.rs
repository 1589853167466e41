//! What each tile sends and receives in an exchange, from the declared deliveries.
//!
//! The simulator has compared the declaration with the words that moved, so this is what happened.

use crate::package::{Delivery, Exchange};

/// Traffic of one tile in one exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Traffic {
    /// Messages that leave, a multicast counted once.
    pub(super) sends: u32,
    /// Messages that land.
    pub(super) receives: u32,
    /// Bytes that leave, a multicast counted once.
    pub(super) send_bytes: u64,
    /// Bytes that land.
    pub(super) receive_bytes: u64,
}

impl Traffic {
    /// The tile takes part in the exchange.
    pub(super) fn is_any(&self) -> bool {
        *self != Self::default()
    }
}

/// Traffic of every tile.
pub(super) fn traffic(exchange: &Exchange, tiles: usize) -> Vec<Traffic> {
    let mut traffic = vec![Traffic::default(); tiles];
    for delivery in &exchange.deliveries {
        let bytes = u64::from(delivery.bytes);
        let source = &mut traffic[delivery.source.index()];
        source.sends += 1;
        source.send_bytes += bytes;
        for (tile, _) in &delivery.destinations {
            let destination = &mut traffic[tile.index()];
            destination.receives += 1;
            destination.receive_bytes += bytes;
        }
    }
    traffic
}

/// The transfer lines of every tile at `step` granularity, in declaration order.
pub(super) fn lines(exchange: &Exchange, tiles: usize) -> Vec<Vec<(String, String)>> {
    let mut lines = vec![Vec::new(); tiles];
    let mut counts = vec![(0_u32, 0_u32); tiles];
    for delivery in &exchange.deliveries {
        let Delivery {
            source,
            source_address,
            bytes,
            destinations,
        } = delivery;
        let first = destinations.first().map_or(0, |(tile, _)| tile.get());
        let count = &mut counts[source.index()].0;
        let value = format!(
            "destination_tile={first},destinations={},bytes={bytes},address={source_address:#x}",
            destinations.len()
        );
        lines[source.index()].push((format!("send_{count}"), value));
        *count += 1;
        for (tile, address) in destinations {
            let count = &mut counts[tile.index()].1;
            let value = format!("source_tile={source},bytes={bytes},address={address:#x}");
            lines[tile.index()].push((format!("receive_{count}"), value));
            *count += 1;
        }
    }
    lines
}
