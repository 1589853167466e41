//! Scheduled intervals of an exchange for profiles: send, receive and lent lanes.

use analytics::profile::{ActivityKind, ExchangeActivity};
use analytics::units::TileId;

use super::fabric::ExchangeOutcome;
use crate::machine::topology::Topology;

/// The intervals of each tile, ordered by start, then kind.
pub(super) fn activities(
    outcome: &ExchangeOutcome,
    topology: &Topology,
) -> Vec<Vec<ExchangeActivity>> {
    let fanouts = fanouts(outcome);
    let mut activities: Vec<Vec<ExchangeActivity>> = vec![Vec::new(); outcome.messages.len()];
    for (tile, messages) in (0..).map(TileId::new).zip(&outcome.messages) {
        for (message, &fanout) in messages.iter().zip(&fanouts[tile.index()]) {
            let send = ExchangeActivity {
                kind: ActivityKind::Send,
                start: message.event,
                end: message.end(),
                fanout,
                paired: message.wide(),
            };
            activities[tile.index()].push(send);
            if let Some(partner) = topology.partner(tile).filter(|_| message.wide()) {
                let kind = ActivityKind::PartnerBusy;
                activities[partner.index()].push(ExchangeActivity { kind, ..send });
            }
        }
    }
    for (list, landings) in activities.iter_mut().zip(&outcome.landings) {
        list.extend(landings.iter().map(|landing| ExchangeActivity {
            kind: ActivityKind::Receive,
            start: landing.event,
            end: landing.end(),
            fanout: fanouts[landing.source.index()][landing.message as usize],
            paired: landing.wide,
        }));
        list.sort_unstable_by_key(|activity| (activity.start, activity.kind, activity.end));
    }
    activities
}

/// Destination tiles of each message.
fn fanouts(outcome: &ExchangeOutcome) -> Vec<Vec<u16>> {
    let mut fanouts: Vec<_> = outcome
        .messages
        .iter()
        .map(|m| vec![0_u16; m.len()])
        .collect();
    for landing in outcome.landings.iter().flatten() {
        // At most once a tile, and tiles are counted in 16 bits.
        fanouts[landing.source.index()][landing.message as usize] += 1;
    }
    fanouts
}
