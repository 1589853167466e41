//! Random damage to valid rows, from one seed: nothing panics, and what is still accepted leaves
//! every word where, and from where, the declaration says.

use std::collections::BTreeMap;

use analytics::units::TileId;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::plain;
use super::scene::{ROW, Scene, load};
use crate::exchange::{TimedRow, compare_deliveries, decode_row, resolve};
use crate::machine::memory::TileMemory;
use crate::package::model::Address;

const TILES: u16 = 12;
/// Damages to the rows of one phase before the next phase is drawn.
const DAMAGES: u32 = 2000;
/// Bytes that a transfer of a phase has for itself at its source and where it lands.
const SLOT: Address = 0x400;
/// Longest transfer in words, so that one fits a slot.
const WORDS: u32 = 150;

/// Numbers from a seed.
pub(crate) struct Draw(Xoshiro256PlusPlus);

impl Draw {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A number below `limit`, which is not 0.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        let number = self.0.next_u64() % u64::from(limit);
        u32::try_from(number).expect("below a 32-bit limit")
    }

    pub(crate) fn index(&mut self, length: usize) -> usize {
        self.below(u32::try_from(length).expect("short lists")) as usize
    }

    fn tile(&mut self) -> u16 {
        u16::try_from(self.below(u32::from(TILES))).expect("few tiles")
    }

    fn word(&mut self) -> u32 {
        self.below(u32::MAX)
    }
}

/// A legal phase of ordinary, multicast, paired, looped-back and forwarded transfers.
fn phase(draw: &mut Draw) -> Scene {
    let mut scene = Scene::new(TILES);
    let wanted = 1 + draw.below(12);
    for slot in 0..wanted {
        let earliest = 40 + draw.below(460);
        let next = match draw.below(10) {
            0..=5 => ordinary(&scene, draw, slot, earliest),
            6..=7 => paired(&scene, draw, slot, earliest),
            _ => forward(&scene, draw, slot),
        };
        if let Some(next) = next {
            scene = next;
        }
    }
    scene
}

const fn source(slot: u32) -> Address {
    0x6_0000 + SLOT * slot
}

const fn landing(slot: u32) -> Address {
    0x8_0000 + SLOT * slot
}

/// The first start from `earliest` on that is legal, among a bounded number.
fn first_legal(earliest: u32, at: impl Fn(u32) -> Option<Scene>) -> Option<Scene> {
    (earliest..earliest + 400).find_map(at)
}

fn ordinary(scene: &Scene, draw: &mut Draw, slot: u32, earliest: u32) -> Option<Scene> {
    let mut to: BTreeMap<u16, Address> = BTreeMap::new();
    for _ in 0..1 + draw.below(3) {
        to.insert(draw.tile(), landing(slot));
    }
    let to: Vec<_> = to.into_iter().collect();
    let (tile, words) = (draw.tile(), 1 + draw.below(WORDS));
    first_legal(earliest, |start| {
        scene.with(tile, start, words, source(slot), &to)
    })
}

fn paired(scene: &Scene, draw: &mut Draw, slot: u32, earliest: u32) -> Option<Scene> {
    let mut to: BTreeMap<u16, Address> = BTreeMap::new();
    for _ in 0..1 + draw.below(2) {
        let pair = draw.tile() & !1;
        to.insert(pair, landing(slot));
        to.insert(pair + 1, landing(slot) + 8 * draw.below(4));
    }
    let to: Vec<_> = to.into_iter().collect();
    let (tile, words) = (draw.tile(), 2 * (1 + draw.below(WORDS / 2)));
    first_legal(earliest, |start| {
        scene.with_paired(tile, start, words, source(slot), &to)
    })
}

/// Sends on what an earlier transfer brings.
fn forward(scene: &Scene, draw: &mut Draw, slot: u32) -> Option<Scene> {
    if scene.deliveries.is_empty() {
        return None;
    }
    let earlier = &scene.deliveries[draw.index(scene.deliveries.len())];
    let (tile, from) = earlier.destinations[draw.index(earlier.destinations.len())];
    let words = 1 + draw.below(earlier.bytes / 4);
    let to = [(draw.tile(), landing(slot))];
    let landings = &scene.run().expect("legal so far").outcome.landings[tile.index()];
    let ends = landings.iter().map(|landing| landing.end()).max()?;
    first_legal(ends, |start| {
        scene.with(tile.get(), start, words, from, &to)
    })
}

/// Changes one word of a row.
fn damage(words: &mut Vec<u32>, draw: &mut Draw) {
    let at = draw.index(words.len());
    match draw.below(16) {
        0..=7 => words[at] ^= 1 << draw.below(32),
        8 => words[at] = draw.word(),
        9..=12 => words[at] = words[at].wrapping_add(draw.below(7)).wrapping_sub(3),
        13 if words.len() > 1 => {
            words.remove(at);
        }
        14 => words.insert(at, words[at]),
        _ => {
            let other = draw.index(words.len());
            words.swap(at, other);
        }
    }
}

/// The rows of the phase with damage to one to three of their words; `None` where nothing changed
/// or the damaged row does not decode.
fn damaged(
    words: &BTreeMap<u16, Vec<u32>>,
    rows: &[Option<TimedRow>],
    draw: &mut Draw,
) -> Option<Vec<Option<TimedRow>>> {
    let tiles: Vec<_> = words.keys().copied().collect();
    let tile = tiles[draw.index(tiles.len())];
    let mut own = words[&tile].clone();
    for _ in 0..1 + draw.below(3) {
        damage(&mut own, draw);
    }
    if own == words[&tile] {
        return None;
    }
    let mut memory = TileMemory::new();
    load(&mut memory, ROW, &own);
    let row = decode_row(TileId::new(tile), &memory, ROW, 0, 0).ok()?;
    let mut rows = rows.to_vec();
    rows[usize::from(tile)] = Some(row);
    Some(rows)
}

/// Damages rows `count` times; returns how many damaged phases were accepted.
fn mutate(seed: u64, count: u32) -> u32 {
    println!("seed {seed}, {count} mutations");
    let mut draw = Draw::new(seed);
    let (mut done, mut accepted) = (0, 0);
    while done < count {
        let scene = phase(&mut draw);
        let words = scene.words();
        if words.is_empty() {
            continue;
        }
        let rows = scene.rows(&words, &scene.memories(&words)).expect("legal");
        let sound = plain::declared(&scene.deliveries);
        assert_eq!(
            plain::origins(&rows, &scene.topology),
            sound,
            "before any damage"
        );
        for _ in 0..DAMAGES.min(count - done) {
            done += 1;
            let Some(rows) = damaged(&words, &rows, &mut draw) else {
                continue;
            };
            let Ok(outcome) = resolve(scene.context, &rows, &scene.topology) else {
                continue;
            };
            if compare_deliveries(&scene.deliveries, &outcome).is_ok() {
                accepted += 1;
                let found = plain::origins(&rows, &scene.topology);
                assert!(found == sound, "seed {seed}, mutation {done}: {rows:?}");
            }
        }
    }
    println!("{accepted} of {count} were accepted and deliver the same");
    accepted
}

/// Work on twelve tiles is too little to share between threads.
pub(crate) fn on_one_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.expect("a thread").install(work)
}

/// Seed and number of the mutations of a long run, which `MUTATION_SEED` and `MUTATION_COUNT` cut
/// into pieces.
pub(crate) fn long_run() -> (u64, u32) {
    let number = |name: &str, usual| {
        std::env::var(name).map_or(usual, |text| {
            text.parse().expect("a number in the environment")
        })
    };
    let count = number("MUTATION_COUNT", 500_000);
    let count = u32::try_from(count).expect("fewer than 2^32 mutations");
    (number("MUTATION_SEED", 2), count)
}

#[test]
fn damaged_rows_are_refused_or_deliver_what_is_declared() {
    let accepted = on_one_thread(|| mutate(1, 10_000));
    assert!((1..10_000).contains(&accepted));
}

#[test]
#[ignore = "half a million mutations take half a minute"]
fn half_a_million_damaged_rows_are_refused_or_deliver_what_is_declared() {
    let (seed, count) = long_run();
    on_one_thread(|| mutate(seed, count));
}
