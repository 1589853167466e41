//! Words that are written and used otherwise too hold, at each use, what program order says.
//!
//! For each such word the uses by list order and the uses by event are two strings of writes and
//! reads that must be equal, reads between two writes in any order.

use rayon::prelude::*;

use super::super::transfer::Transfer;
use super::derive::Run;
use super::{VerifyError, logical};

/// One use of a range of words on one tile; the other end tells uses apart.
#[derive(Clone, Copy, Debug)]
struct Use {
    /// List position or event.
    time: u32,
    write: bool,
    address: u32,
    words: u32,
    other_tile: u16,
    other_address: u32,
    /// Words that share an event, where time passes from item to item; 0 where none passes.
    item_words: u32,
}

/// A use of one word: its address, when, whether it writes, the other end.
type WordUse = (u32, u32, bool, u16, u32);

/// Compares both orders on every tile.
pub(super) fn check(
    arrived: &[Run],
    transfers: &[Transfer],
    tiles: usize,
) -> Result<(), VerifyError> {
    let wanted = wanted(transfers, tiles);
    let contested: Vec<Vec<(u32, u32)>> = wanted.par_iter().map(|uses| contested(uses)).collect();
    if contested.iter().all(Vec::is_empty) {
        return Ok(());
    }
    let done = done(arrived, tiles);
    let checked: Vec<_> = (0..tiles)
        .into_par_iter()
        .map(|tile| {
            let ranges = &contested[tile];
            let (wanted, done) = (strings(&wanted[tile], ranges), strings(&done[tile], ranges));
            let differs = wanted
                .iter()
                .zip(&done)
                .find(|(wanted, done)| wanted != done);
            let beyond = wanted.get(done.len()).or(done.get(wanted.len()));
            match differs.map(|(wanted, done)| wanted.min(done)).or(beyond) {
                None => Ok(()),
                Some(&(address, ..)) => Err(VerifyError::Order {
                    tile: logical(tile),
                    address,
                }),
            }
        })
        .collect();
    checked.into_iter().collect()
}

fn wanted(transfers: &[Transfer], tiles: usize) -> Vec<Vec<Use>> {
    let mut uses = vec![Vec::new(); tiles];
    for (time, transfer) in (0..).zip(transfers) {
        for &(tile, address) in &transfer.destinations {
            let source = transfer.source;
            let read = Use {
                time,
                write: false,
                address: transfer.source_address,
                words: transfer.words,
                other_tile: tile.get(),
                other_address: address,
                item_words: 0,
            };
            uses[source.index()].push(read);
            uses[tile.index()].push(Use {
                write: true,
                address,
                other_tile: source.get(),
                other_address: transfer.source_address,
                ..read
            });
        }
    }
    uses
}

fn done(arrived: &[Run], tiles: usize) -> Vec<Vec<Use>> {
    let mut uses = vec![Vec::new(); tiles];
    for run in arrived {
        let read = Use {
            time: run.sent,
            write: false,
            address: run.source_address,
            words: run.words(),
            other_tile: run.tile.get(),
            other_address: run.address,
            item_words: run.item_words,
        };
        uses[run.source.index()].push(read);
        uses[run.tile.index()].push(Use {
            time: run.landed,
            write: true,
            address: run.address,
            other_tile: run.source.get(),
            other_address: run.source_address,
            ..read
        });
    }
    uses
}

/// Disjoint byte ranges that are written and used by another transfer too.
fn contested(uses: &[Use]) -> Vec<(u32, u32)> {
    let mut ends: Vec<(u32, bool, i32)> = Vec::with_capacity(2 * uses.len());
    for each in uses {
        ends.push((each.address, each.write, 1));
        ends.push((each.address + 4 * each.words, each.write, -1));
    }
    ends.sort_unstable_by_key(|&(address, ..)| address);
    let (mut reads, mut writes) = (0, 0);
    let mut ranges = Vec::new();
    let mut from = 0;
    for group in ends.chunk_by(|a, b| a.0 == b.0) {
        let address = group[0].0;
        let shared = writes > 0 && reads + writes > 1;
        if shared && from < address {
            ranges.push((from, address));
        }
        for &(_, write, change) in group {
            *(if write { &mut writes } else { &mut reads }) += change;
        }
        from = address;
    }
    ranges
}

/// The uses of the contested words by address and in order of time, where time is the number of
/// writes so far: uses between two writes are sorted by their other end.
fn strings(uses: &[Use], ranges: &[(u32, u32)]) -> Vec<WordUse> {
    let mut words: Vec<WordUse> = Vec::new();
    for each in uses {
        let end = each.address + 4 * each.words;
        let first = ranges.partition_point(|&(_, to)| to <= each.address);
        for &(from, to) in ranges[first..].iter().take_while(|&&(from, _)| from < end) {
            for address in (from.max(each.address)..to.min(end)).step_by(4) {
                let offset = address - each.address;
                let passed = (offset / 4).checked_div(each.item_words);
                let time = each.time + passed.unwrap_or(0);
                let other_address = each.other_address + offset;
                words.push((address, time, each.write, each.other_tile, other_address));
            }
        }
    }
    words.sort_unstable();
    for uses in words.chunk_by_mut(|a, b| a.0 == b.0) {
        let mut writes = 0;
        for (_, time, write, ..) in uses {
            writes += u32::from(*write);
            *time = writes;
        }
    }
    words.sort_unstable();
    words
}
