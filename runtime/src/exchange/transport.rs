//! Moves the words of a resolved phase between tile memories, a message at a time.
//!
//! All messages are read before anything lands. One that reads what landed earlier in the same
//! phase sees the landed words: such messages are read in the order of their events, which is safe
//! because a word lands at least 19 events after it left (published route statistics), so that what
//! a message depends on has left at an earlier event.

use analytics::units::TileId;
use rayon::prelude::*;

use super::fabric::{ExchangeOutcome, Landing};
use super::row::Message;
use crate::machine::memory::{TileMemory, WordRun};

/// Moves every message of the phase to where it lands.
///
/// # Panics
///
/// If there are not as many memories as tiles in the outcome, or an address that `resolve` has
/// checked leaves SRAM.
pub fn move_words(outcome: &ExchangeOutcome, memories: &mut [TileMemory]) {
    assert_eq!(
        memories.len(),
        outcome.landings.len(),
        "one memory for each tile"
    );
    let flights = read(outcome, memories);
    let landings = outcome.landings.par_iter();
    memories
        .par_iter_mut()
        .zip(landings)
        .for_each(|(memory, landings)| {
            for landing in landings {
                let run = &flights[landing.source.index()][landing.message as usize];
                memory.land(landing.address, run).expect(CHECKED);
            }
        });
}

const CHECKED: &str = "the range was checked when the phase was resolved";

/// What every message carries.
fn read(outcome: &ExchangeOutcome, memories: &[TileMemory]) -> Vec<Vec<WordRun>> {
    let tiles = outcome
        .messages
        .par_iter()
        .zip(&outcome.landings)
        .zip(memories);
    let (mut flights, forwards): (Vec<_>, Vec<_>) = tiles
        .map(|((messages, landings), memory)| {
            let take = |m: &Message| memory.take(m.address, m.bytes()).expect(CHECKED);
            let flights: Vec<_> = messages.iter().map(take).collect();
            (flights, forwarded(messages, landings))
        })
        .unzip();
    let mut order: Vec<_> = (0_u16..)
        .map(TileId::new)
        .zip(&forwards)
        .flat_map(|(tile, indices)| indices.iter().map(move |&index| (tile, index)))
        .map(|(tile, index)| (outcome.messages[tile.index()][index].event, tile, index))
        .collect();
    order.sort_unstable();
    for (_, tile, index) in order {
        let message = outcome.messages[tile.index()][index];
        let mut run = std::mem::take(&mut flights[tile.index()][index]);
        for landing in &outcome.landings[tile.index()] {
            if landing.end() <= message.event {
                let landed = &flights[landing.source.index()][landing.message as usize];
                run.overlay(message.address, landing.address, landed);
            }
        }
        flights[tile.index()][index] = run;
    }
    flights
}

/// Indices of the messages that read what landed before them in this phase.
fn forwarded(messages: &[Message], landings: &[Landing]) -> Vec<usize> {
    // Ranges of landings by address; `reach` is the highest end so far, for ranges that nest.
    let mut ranges: Vec<_> = landings
        .iter()
        .map(|l| (l.address, l.address + l.bytes(), l.end()))
        .collect();
    ranges.sort_unstable();
    let mut reach = 0;
    let reaches: Vec<_> = ranges
        .iter()
        .map(|range| {
            reach = reach.max(range.1);
            reach
        })
        .collect();
    let reads_landed = |message: &Message| {
        let end = message.address + message.bytes();
        let first = reaches.partition_point(|&reach| reach <= message.address);
        let near = ranges[first..].iter().take_while(|range| range.0 < end);
        near.into_iter()
            .any(|range| range.1 > message.address && range.2 <= message.event)
    };
    (0..messages.len())
        .filter(|&index| reads_landed(&messages[index]))
        .collect()
}
