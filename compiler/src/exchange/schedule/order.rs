//! In which order messages are placed: program order where bytes are shared, else by rank.
//!
//! A rank is a total order on the messages, so the outcome depends on nothing else.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::hazard::{Edge, Hazards};
use super::super::message::{Messages, index};

/// How messages are ranked, first placed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    /// As listed.
    Listed,
    /// Messages of the busiest endpoints first, longer first among equals.
    Pressure,
}

impl Policy {
    /// The name in reports.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Listed => "listed",
            Self::Pressure => "pressure",
        }
    }
}

/// All policies; ties between their outcomes go to the earlier one.
pub(super) const POLICIES: [Policy; 2] = [Policy::Listed, Policy::Pressure];

/// Items that each tile sends, or lends its lane for, and receives.
pub(super) struct Totals {
    pub(super) sent: Vec<u64>,
    pub(super) received: Vec<u64>,
}

impl Totals {
    pub(super) fn new(messages: &Messages, tiles: usize) -> Self {
        let mut totals = Self {
            sent: vec![0; tiles],
            received: vec![0; tiles],
        };
        for message in &messages.messages {
            let items = u64::from(message.items);
            for tile in [Some(message.source), message.lender].into_iter().flatten() {
                totals.sent[usize::from(tile)] += items;
            }
            for receiver in messages.receivers(message) {
                totals.received[usize::from(receiver.tile)] += items;
            }
        }
        totals
    }

    pub(super) fn busiest(&self) -> u64 {
        self.sent
            .iter()
            .chain(&self.received)
            .copied()
            .max()
            .unwrap_or(0)
    }
}

/// Message numbers by rank.
pub(super) fn ranked(policy: Policy, messages: &Messages, totals: &Totals) -> Vec<u32> {
    let mut order: Vec<u32> = (0..index(messages.messages.len())).collect();
    if policy == Policy::Pressure {
        order.sort_by_cached_key(|&number| {
            let message = &messages.messages[number as usize];
            let received = messages.receivers(message).iter();
            let received = received.map(|receiver| totals.received[usize::from(receiver.tile)]);
            let pressure =
                totals.sent[usize::from(message.source)].max(received.max().unwrap_or(0));
            (Reverse(pressure), Reverse(message.items), number)
        });
    }
    order
}

/// Calls `place` with each message after all that it waits for, by rank among those that are free
/// to go, and with the edges it waits on. Stops at the first error.
pub(super) fn place_in_order<E>(
    ranked: &[u32],
    hazards: &Hazards,
    mut place: impl FnMut(u32, &[Edge]) -> Result<(), E>,
) -> Result<(), E> {
    if hazards.edges.is_empty() {
        return ranked.iter().try_for_each(|&number| place(number, &[]));
    }
    let mut rank = vec![0_u32; ranked.len()];
    for (position, &number) in (0..).zip(ranked) {
        rank[number as usize] = position;
    }
    let mut waits = vec![0_u32; ranked.len()];
    let mut followers: Vec<Vec<u32>> = vec![Vec::new(); ranked.len()];
    for edge in &hazards.edges {
        waits[edge.later as usize] += 1;
        followers[edge.earlier as usize].push(edge.later);
    }
    let free = ranked.iter().filter(|&&number| waits[number as usize] == 0);
    let mut ready: BinaryHeap<Reverse<u32>> =
        free.map(|&number| Reverse(rank[number as usize])).collect();
    while let Some(Reverse(position)) = ready.pop() {
        let number = ranked[position as usize];
        let first = hazards.edges.partition_point(|edge| edge.later < number);
        let last = hazards.edges.partition_point(|edge| edge.later <= number);
        place(number, &hazards.edges[first..last])?;
        for &later in &followers[number as usize] {
            waits[later as usize] -= 1;
            if waits[later as usize] == 0 {
                ready.push(Reverse(rank[later as usize]));
            }
        }
    }
    Ok(())
}
