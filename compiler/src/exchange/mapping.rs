//! Which tile runs what a plan says for another: bijections that bring receivers of long multicasts
//! together in pairs, so that they can be sent as 64-bit items.
//!
//! A bijection renames tiles, and the load of words alone only moves with the names: its largest is
//! the same for every mapping and is computed once. What changes is which transfers go to whole
//! pairs; only those are looked at again for each mapping. Loads are events of transmit lanes,
//! borrowed ones included, of receivers, and of memory elements.

use std::collections::BTreeSet;

use analytics::units::{PhysicalTile, TileId};
use rayon::prelude::*;
use runtime::machine::sram;
use runtime::machine::topology::{Topology, default_physical};

use super::message::may_pair;
use super::transfer::Transfer;

/// The place on the device, as a logical tile, of each planned tile.
pub type Mapping = Vec<u16>;

/// How far a mapping lets exchanges be shortened; smaller is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MappingScore {
    /// Events of the busiest endpoint or element, summed over the exchanges as often as they run.
    pub busiest: u64,
    /// Squares of all loads, summed: how much is near the busiest.
    pub pressure: u128,
}

/// An exchange with how often it runs.
pub type Run<'a> = (&'a [Transfer], u32);

/// The mapping that leaves every tile where it is.
#[must_use]
pub fn identity(tiles: u16) -> Mapping {
    (0..tiles).collect()
}

/// The tiles that run the planned ones.
///
/// # Panics
/// If the mapping is no bijection onto the first tiles of the device.
#[must_use]
pub fn topology(mapping: &Mapping) -> Topology {
    let physical: Vec<PhysicalTile> = mapping
        .iter()
        .map(|&place| default_physical(TileId::new(place)))
        .collect();
    Topology::from_mapping(&physical).expect("a bijection gives distinct tiles")
}

/// Transposes within blocks of tiles: place l of each whole block of `b` goes to
/// (l mod w)·(b/w) + l div w, for every divisor w.
#[must_use]
pub fn candidates(tiles: u16, blocks: &[u16]) -> Vec<Mapping> {
    let blocks: BTreeSet<u16> = blocks.iter().copied().chain([tiles]).collect();
    let mut found = BTreeSet::new();
    for &block in blocks.iter().filter(|&&block| (4..=tiles).contains(&block)) {
        for width in (2..block).filter(|&width| block.is_multiple_of(width)) {
            let whole = tiles / block * block;
            let place = |tile: u16| {
                let (start, at) = (tile / block * block, tile % block);
                if tile < whole {
                    start + at % width * (block / width) + at / width
                } else {
                    tile
                }
            };
            found.insert((0..tiles).map(place).collect::<Mapping>());
        }
    }
    found.remove(&identity(tiles));
    found.into_iter().collect()
}

/// The mappings that make the busiest less busy than it is without, best first, ties in order.
#[must_use]
pub fn better(scorer: &Scorer, mappings: Vec<Mapping>) -> Vec<Mapping> {
    let tiles = u16::try_from(scorer.tiles).unwrap_or(u16::MAX);
    let without = scorer.score(&identity(tiles));
    let scored = mappings.into_par_iter().map(|it| (scorer.score(&it), it));
    let mut scored: Vec<(MappingScore, Mapping)> = scored.collect();
    scored.retain(|(score, _)| score.busiest < without.busiest);
    scored.sort_by_key(|(score, _)| *score);
    scored.into_iter().map(|(_, mapping)| mapping).collect()
}

/// Memory elements of a tile, and of its two lanes: where loads are counted.
const ELEMENTS: usize = 32;
const SEND: usize = ELEMENTS;
const RECEIVE: usize = ELEMENTS + 1;
const SLOTS: usize = ELEMENTS + 2;

/// Loads of one exchange by planned tile.
struct Phase {
    runs: u64,
    loads: Vec<u64>,
    busiest: u64,
    squares: u128,
    wide: Vec<Wide>,
}

/// A transfer that can be sent as 64-bit items where its receivers are whole pairs.
struct Wide {
    source: u16,
    receivers: Vec<u16>,
    words: u64,
    /// Slots that it loads with every word.
    slots: Vec<usize>,
}

/// What all mappings have in common.
pub struct Scorer {
    tiles: usize,
    phases: Vec<Phase>,
}

impl Scorer {
    /// The loads of exchanges on so many tiles.
    #[must_use]
    pub fn new(exchanges: &[Run<'_>], tiles: u16) -> Self {
        let tiles = usize::from(tiles);
        let phase = |&(transfers, runs): &Run<'_>| phase(transfers, runs, tiles);
        Self {
            tiles,
            phases: exchanges.par_iter().map(phase).collect(),
        }
    }

    /// The score of a mapping: of each exchange the better of words alone and of 64-bit items
    /// wherever they can be.
    #[must_use]
    pub fn score(&self, mapping: &Mapping) -> MappingScore {
        let mut planned = vec![u16::MAX; mapping.len()];
        for (tile, &place) in (0..).zip(mapping) {
            planned[usize::from(place)] = tile;
        }
        let partner = |tile: u16| {
            let place = usize::from(mapping[usize::from(tile)] ^ 1);
            planned.get(place).copied()
        };
        let mut total = MappingScore::default();
        let mut changed: Vec<(usize, i64)> = Vec::new();
        for phase in &self.phases {
            let (busiest, squares) = phase.best(partner, &mut changed);
            total.busiest += phase.runs * busiest;
            total.pressure += u128::from(phase.runs) * squares;
        }
        total
    }
}

impl Phase {
    /// Busiest load and sum of squares in the better form.
    fn best(
        &self,
        partner: impl Fn(u16) -> Option<u16>,
        changed: &mut Vec<(usize, i64)>,
    ) -> (u64, u128) {
        let plain = (self.busiest, self.squares);
        changed.clear();
        for wide in &self.wide {
            let Some(lender) = wide.paired_with(&partner) else {
                continue;
            };
            let half = (wide.words / 2).cast_signed();
            changed.extend(wide.slots.iter().map(|&slot| (slot, -half)));
            changed.extend(lender.map(|tile| (usize::from(tile) * SLOTS + SEND, half)));
        }
        if changed.is_empty() {
            return plain;
        }
        changed.sort_unstable();
        let (mut loads, mut squares) = (self.loads.clone(), self.squares);
        for &(slot, change) in &*changed {
            let before = loads[slot];
            loads[slot] = before.saturating_add_signed(change);
            squares = squares + square(loads[slot]) - square(before);
        }
        let busiest = loads.iter().copied().max().unwrap_or(0);
        plain.min((busiest, squares))
    }
}

impl Wide {
    /// The tile whose lane is borrowed, which may be none of the program; nothing at all where the
    /// receivers are not whole pairs.
    fn paired_with(&self, partner: impl Fn(u16) -> Option<u16>) -> Option<Option<u16>> {
        let lender = partner(self.source);
        let whole = self.receivers.iter().all(|&tile| {
            let other = partner(tile);
            other.is_some_and(|other| self.receivers.binary_search(&other).is_ok())
                && Some(tile) != lender
        });
        whole.then_some(lender)
    }
}

const fn square(load: u64) -> u128 {
    let load = load as u128;
    load * load
}

fn phase(transfers: &[Transfer], runs: u32, tiles: usize) -> Phase {
    let mut loads = vec![0; tiles * SLOTS];
    let mut wide = Vec::new();
    for transfer in transfers {
        let words = u64::from(transfer.words);
        let slots = slots(transfer);
        for &slot in &slots {
            loads[slot] += words;
        }
        if may_pair(transfer) {
            let mut receivers: Vec<u16> = transfer
                .destinations
                .iter()
                .map(|(tile, _)| tile.get())
                .collect();
            receivers.sort_unstable();
            wide.push(Wide {
                source: transfer.source.get(),
                receivers,
                words,
                slots,
            });
        }
    }
    Phase {
        runs: u64::from(runs),
        busiest: loads.iter().copied().max().unwrap_or(0),
        squares: loads.iter().map(|&load| square(load)).sum(),
        loads,
        wide,
    }
}

/// Everything that a transfer keeps busy, as positions among the loads.
fn slots(transfer: &Transfer) -> Vec<usize> {
    let bytes = 4 * transfer.words;
    let of = |mask: u32| (0..ELEMENTS).filter(move |element| mask >> element & 1 == 1);
    let elements = |address: u32| sram::elements(address, bytes).unwrap_or(0);
    let offsets = transfer.steps.offsets();
    let read = offsets.fold(0, |all, at| all | elements(transfer.source_address + at));
    let source = transfer.source.index() * SLOTS;
    let mut slots = vec![source + SEND];
    slots.extend(of(read).map(|element| source + element));
    for &(tile, address) in &transfer.destinations {
        let tile = tile.index() * SLOTS;
        slots.push(tile + RECEIVE);
        slots.extend(of(elements(address)).map(|element| tile + element));
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::super::message::can_pair;
    use super::super::transfer::{ExchangeContext, SourceSteps};
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The score by definition: the transfers on their places, every load anew.
    fn by_definition(exchanges: &[Run<'_>], mapping: &Mapping) -> MappingScore {
        let topology = topology(mapping);
        let context = ExchangeContext {
            topology: &topology,
            row_code: &[],
        };
        let mut total = MappingScore::default();
        for &(transfers, runs) in exchanges {
            let form = |pairing: bool| {
                let mut loads: BTreeMap<(TileId, String), u64> = BTreeMap::new();
                let mut add = |tile: TileId, what: String, events: u32| {
                    *loads.entry((tile, what)).or_default() += u64::from(events);
                };
                for it in transfers {
                    let wide = pairing && can_pair(it, &context);
                    let events = if wide { it.words / 2 } else { it.words };
                    let touched = |at: u32| -> BTreeSet<u32> {
                        let words = (at..at + 4 * it.words).step_by(4);
                        words.map(|at| sram::element(at).unwrap()).collect()
                    };
                    add(it.source, "send".to_owned(), events);
                    for element in touched(it.source_address) {
                        add(it.source, element.to_string(), events);
                    }
                    if let Some(lender) = topology.partner(it.source).filter(|_| wide) {
                        add(lender, "send".to_owned(), events);
                    }
                    for &(tile, at) in &it.destinations {
                        add(tile, "receive".to_owned(), events);
                        for element in touched(at) {
                            add(tile, element.to_string(), events);
                        }
                    }
                }
                let busiest = loads.values().copied().max().unwrap_or(0);
                let squares: u128 = loads.values().map(|&load| square(load)).sum();
                (busiest, squares)
            };
            let (busiest, squares) = form(false).min(form(true));
            total.busiest += u64::from(runs) * busiest;
            total.pressure += u128::from(runs) * squares;
        }
        total
    }

    fn permutations(tiles: &[u16]) -> Vec<Mapping> {
        if tiles.is_empty() {
            return vec![Vec::new()];
        }
        let each = (0..tiles.len()).flat_map(|first| {
            let mut rest = tiles.to_vec();
            let tile = rest.remove(first);
            permutations(&rest).into_iter().map(move |mut rest| {
                rest.insert(0, tile);
                rest
            })
        });
        each.collect()
    }

    prop_compose! {
        fn any_transfer()(
            source in 0_u16..4,
            at in 0_u32..40,
            words in prop_oneof![1_u32..300, (64_u32..200).prop_map(|half| 2 * half)],
            step in prop_oneof![Just(4_u32), Just(8_u32)],
            receivers in prop::sample::subsequence((0_u16..4).collect::<Vec<_>>(), 1..=3),
        ) -> Transfer {
            let destinations = receivers.into_iter().filter(|&tile| tile != source);
            let place = |tile: u16| (TileId::new(tile), 0x9_0000 + step * at + 0x7f00);
            let mut destinations: Vec<_> = destinations.map(place).collect();
            if destinations.is_empty() {
                destinations.push(place((source + 1) % 4));
            }
            Transfer {
                source: TileId::new(source),
                source_address: 0x6_0000 + step * at,
                steps: SourceSteps::NONE,
                words,
                destinations,
            }
        }
    }

    proptest! {
        #[test]
        fn scores_are_those_by_definition_for_all_permutations_of_four_tiles(
            first in prop::collection::vec(any_transfer(), 1..12),
            second in prop::collection::vec(any_transfer(), 1..6),
        ) {
            let exchanges: [Run<'_>; 2] = [(&first, 1), (&second, 3)];
            let scorer = Scorer::new(&exchanges, 4);
            let all = permutations(&[0, 1, 2, 3]);
            prop_assert_eq!(all.len(), 24);
            for mapping in &all {
                prop_assert_eq!(scorer.score(mapping), by_definition(&exchanges, mapping));
            }
        }
    }

    #[test]
    fn candidates_are_bijections_and_bring_distant_receivers_together() {
        for mapping in candidates(96, &[12, 6, 1000]) {
            let mut sorted = mapping.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, identity(96));
        }
        let transfer = Transfer {
            source: TileId::new(1),
            source_address: 0x6_0000,
            steps: SourceSteps::NONE,
            words: 256,
            destinations: [0, 4].map(|tile| (TileId::new(tile), 0x9_0000)).to_vec(),
        };
        let transfers = [transfer];
        let scorer = Scorer::new(&[(&transfers, 2)], 8);
        let found = better(&scorer, candidates(8, &[])).swap_remove(0);
        assert_eq!(scorer.score(&identity(8)).busiest, 2 * 256);
        assert_eq!(scorer.score(&found).busiest, 2 * 128);
    }
}
