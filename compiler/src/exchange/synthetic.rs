//! Exchange problems of a whole device, made from a seed: what `ipu-stack schedule-bench --write`
//! writes and the scheduler's figures are of.

use std::collections::BTreeMap;

use runtime::package::model::Address;

use super::problem::{FileText, PhaseText, ProblemError, TransferText, WIDE, WORD};
use crate::options::TILES_MAX;

/// A problem by its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Synthetic {
    /// A fragmented change of layout: 62,342 eight-word messages from 162 owners to all tiles.
    Prep62k,
    /// A balanced random redistribution: 200,000 eight-word messages.
    Unicast200k,
    /// One attention block: ten panels of 512 words in each of 16 heads, to the other 91 tiles.
    Broadcast,
    /// Every hazard: shared elements, bytes that are read after they are written, written after
    /// they are read and written twice, lengths from 1 to 4,148 words, landings that go on where
    /// the last ended, whole pairs of receivers, and sources among their receivers.
    Mixed,
}

/// The seed of all problems.
const SEED: u64 = 7;

impl Synthetic {
    /// All problems.
    pub const ALL: [Self; 4] = [
        Self::Prep62k,
        Self::Unicast200k,
        Self::Broadcast,
        Self::Mixed,
    ];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prep62k => "prep62k",
            Self::Unicast200k => "unicast200k",
            Self::Broadcast => "broadcast",
            Self::Mixed => "mixed",
        }
    }

    /// The text of the problem file, the same each time.
    ///
    /// # Errors
    /// Not with numbers like these.
    pub fn text(self) -> Result<String, ProblemError> {
        let mut random = Random(SEED);
        let transfers = match self {
            Self::Prep62k => prep(&mut random),
            Self::Unicast200k => unicast(&mut random),
            Self::Broadcast => broadcast(),
            Self::Mixed => mixed(&mut random),
        };
        let file = FileText {
            schema_version: 4,
            tile_count: TILES_MAX,
            phases: vec![PhaseText {
                phase: 0,
                transfers,
            }],
        };
        Ok(serde_json::to_string(&file)?)
    }
}

/// A SplitMix64 stream.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u16) -> u16 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let word = u128::from(word ^ (word >> 31));
        u16::try_from((word * u128::from(limit)) >> 64).unwrap_or(0)
    }

    fn percent(&mut self, percent: u16) -> bool {
        self.below(100) < percent
    }

    fn tile(&mut self) -> u16 {
        self.below(TILES_MAX)
    }

    /// A tile other than `tile`.
    fn other(&mut self, tile: u16) -> u16 {
        (tile + 1 + self.below(TILES_MAX - 1)) % TILES_MAX
    }

    /// Different numbers below a limit.
    fn distinct(&mut self, count: u16, limit: u16, without: u16) -> Vec<u16> {
        let mut chosen: Vec<u16> = Vec::new();
        while chosen.len() < usize::from(count) {
            let next = self.below(limit);
            if next != without && !chosen.contains(&next) {
                chosen.push(next);
            }
        }
        chosen
    }
}

/// Transfers whose ranges follow each other on each tile, from the start again at the end.
struct Rolling {
    sources: BTreeMap<u16, Address>,
    destinations: BTreeMap<u16, Address>,
    transfers: Vec<TransferText>,
}

/// Where sources and landings of [`Rolling`] start, and past which address they start again.
const SOURCES: (Address, Address) = (0x6_0000, 0x7_f000);
const LANDINGS: (Address, Address) = (0x9_0000, 0xd_0000);

impl Rolling {
    const fn new() -> Self {
        Self {
            sources: BTreeMap::new(),
            destinations: BTreeMap::new(),
            transfers: Vec::new(),
        }
    }

    fn add(&mut self, source: u16, destinations: &[u16], words: u32) {
        fn take(next: &mut Address, (start, end): (Address, Address), bytes: u32) -> Address {
            let address = *next;
            *next = if address + bytes > end {
                start
            } else {
                address + bytes
            };
            address
        }
        let next = self.sources.entry(source).or_insert(SOURCES.0);
        let source_address = take(next, SOURCES, 4 * words);
        // Eight bytes between two landings, so that each needs a pointer.
        let landings = destinations.iter().map(|&tile| {
            let next = self.destinations.entry(tile).or_insert(LANDINGS.0);
            (tile, take(next, LANDINGS, 4 * words + 8))
        });
        self.transfers.push(TransferText {
            source,
            source_addresses: vec![source_address],
            destinations: landings.collect(),
            words,
            width: WORD.to_owned(),
        });
    }
}

fn prep(random: &mut Random) -> Vec<TransferText> {
    let owners = random.distinct(162, TILES_MAX, TILES_MAX);
    let mut rolling = Rolling::new();
    for &owner in owners.iter().cycle().take(62_342) {
        rolling.add(owner, &[random.other(owner)], 8);
    }
    rolling.transfers
}

fn unicast(random: &mut Random) -> Vec<TransferText> {
    let mut rolling = Rolling::new();
    for source in (0..TILES_MAX).cycle().take(200_000) {
        rolling.add(source, &[random.other(source)], 8);
    }
    rolling.transfers
}

fn broadcast() -> Vec<TransferText> {
    let mut rolling = Rolling::new();
    for head in 0..16_u16 {
        let group: Vec<u16> = (0..92).map(|place| head + 16 * place).collect();
        for panel in 0..10 {
            let source = group[usize::from((panel * 9 + head) % 92)];
            let others = group.iter().copied().filter(|&tile| tile != source);
            rolling.add(source, &others.collect::<Vec<_>>(), 512);
        }
    }
    rolling.transfers
}

/// Few places, so that ranges meet.
const BASES: [Address; 8] = [
    0x6_0000, 0x6_4000, 0x7_0000, 0x8_0000, 0x8_8000, 0x9_0000, 0xa_0000, 0xc_0000,
];
/// Lengths around the limits of the encoding, short ones most often.
const LENGTHS: [u32; 13] = [1, 2, 8, 8, 8, 16, 51, 52, 53, 64, 65, 128, 512];
/// The longest message.
const LONGEST: u32 = 4148;
/// First byte that no chained landing reaches.
const CHAIN_END: Address = 0xe_0000;

/// Transfers that get in each other's way.
struct Tangle<'a> {
    random: &'a mut Random,
    /// End of the newest landing on each tile.
    ends: BTreeMap<u16, Address>,
}

impl Tangle<'_> {
    fn place(&mut self) -> Address {
        let base = BASES[usize::from(self.random.below(8))];
        base + 8 * u32::from(self.random.below(64))
    }

    /// Where a source lies: often what has just landed there.
    fn source(&mut self, tile: u16, bytes: u32) -> Address {
        let landed = self.ends.get(&tile).map(|end| end.saturating_sub(bytes));
        let landed = landed.filter(|&start| start >= BASES[0]);
        match landed.filter(|_| self.random.percent(30)) {
            Some(start) => start & !7,
            None => self.place(),
        }
    }

    /// Where a landing starts: often where the newest one ended.
    fn landing(&mut self, tile: u16, bytes: u32) -> Address {
        let end = self.ends.get(&tile).copied();
        let end = end.filter(|end| end + bytes < CHAIN_END);
        let chained = end.filter(|_| self.random.percent(30));
        chained.unwrap_or_else(|| self.place())
    }

    fn transfer(&mut self, number: u32) -> TransferText {
        let source = self.random.tile();
        let mut words = LENGTHS[usize::from(self.random.below(13))];
        if number.is_multiple_of(997) {
            words = LONGEST;
        }
        let form = self.random.below(100);
        let is_wide = form >= 85;
        let tiles = if form < 70 {
            vec![self.random.other(source)]
        } else if is_wide {
            words = words.next_multiple_of(2);
            let count = 1 + self.random.below(3);
            let pairs = self.random.distinct(count, TILES_MAX / 2, source / 2);
            pairs
                .into_iter()
                .flat_map(|pair| [2 * pair, 2 * pair + 1])
                .collect()
        } else {
            let count = 2 + self.random.below(22);
            let mut tiles = self.random.distinct(count, TILES_MAX, source);
            if self.random.percent(10) {
                tiles.push(source);
            }
            tiles
        };
        let bytes = 4 * words;
        let source_address = self.source(source, bytes);
        let mut destinations = Vec::new();
        for tile in tiles {
            let landing = if tile == source {
                // Far from what is read.
                if source_address < 0x9_0000 {
                    0xd_0000
                } else {
                    BASES[0]
                }
            } else {
                self.landing(tile, bytes)
            };
            let landing = if is_wide {
                landing.next_multiple_of(8)
            } else {
                landing
            };
            self.ends.insert(tile, landing + bytes);
            destinations.push((tile, landing));
        }
        TransferText {
            source,
            source_addresses: vec![source_address],
            destinations,
            words,
            width: if is_wide { WIDE } else { WORD }.to_owned(),
        }
    }
}

fn mixed(random: &mut Random) -> Vec<TransferText> {
    let mut tangle = Tangle {
        random,
        ends: BTreeMap::new(),
    };
    (0..20_000).map(|number| tangle.transfer(number)).collect()
}
