//! Random phases against the plain fabric, and random damage to rows: nothing panics, and what is
//! still accepted delivers the same.

use proptest::prelude::*;

use super::plain;
use super::scene::{ROW, Scene, load};
use crate::exchange::{TimedRow, compare_deliveries, decode_row, resolve};
use crate::machine::memory::TileMemory;
use crate::package::model::Address;
use analytics::units::TileId;

const TILES: u16 = 12;

/// A transfer to be placed at its first legal start.
type Wish = (u16, Vec<u16>, u32, u32);

fn wishes() -> impl Strategy<Value = Vec<Wish>> {
    let receivers = prop::collection::btree_set(0..TILES, 1..4);
    let wish = (0..TILES, receivers, 1_u32..150, 40_u32..500);
    let wish = wish
        .prop_map(|(source, to, words, start)| (source, to.into_iter().collect(), words, start));
    prop::collection::vec(wish, 1..16)
}

fn scene(wishes: &[Wish]) -> Scene {
    let mut scene = Scene::new(TILES);
    for ((source, to, words, start), slot) in wishes.iter().zip(0..) {
        if to == &[*source] {
            continue;
        }
        let to: Vec<(u16, Address)> = to
            .iter()
            .map(|&tile| (tile, 0x8_0000 + 0x400 * slot))
            .collect();
        let from = 0x6_0000 + 0x400 * slot;
        // A loopback of 28 or 29 words ends its own selection as its send begins, at any start.
        let alone = Scene::new(TILES).with(*source, *start, *words, from, &to);
        if alone.is_some() {
            scene.transfer_when_legal(*source, *start, *words, from, &to);
        }
    }
    scene
}

/// What to do to one word of one row.
#[derive(Clone, Copy, Debug)]
struct Damage {
    row: prop::sample::Index,
    word: prop::sample::Index,
    kind: DamageKind,
}

#[derive(Clone, Copy, Debug)]
enum DamageKind {
    Flip(u8),
    Replace(u32),
    Add(i32),
    Drop,
    Double,
    SwapWithNext,
}

fn damage() -> impl Strategy<Value = Damage> {
    let kind = prop_oneof![
        8 => (0_u8..32).prop_map(DamageKind::Flip),
        1 => any::<u32>().prop_map(DamageKind::Replace),
        4 => (-3_i32..=3).prop_map(DamageKind::Add),
        1 => Just(DamageKind::Drop),
        1 => Just(DamageKind::Double),
        1 => Just(DamageKind::SwapWithNext),
    ];
    let place = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        kind,
    );
    place.prop_map(|(row, word, kind)| Damage { row, word, kind })
}

fn damaged(words: &[u32], damage: Damage) -> Vec<u32> {
    let mut words = words.to_vec();
    let at = damage.word.index(words.len());
    match damage.kind {
        DamageKind::Flip(bit) => words[at] ^= 1 << bit,
        DamageKind::Replace(word) => words[at] = word,
        DamageKind::Add(by) => words[at] = words[at].wrapping_add_signed(by),
        DamageKind::Drop => {
            words.remove(at);
        }
        DamageKind::Double => words.insert(at, words[at]),
        DamageKind::SwapWithNext => {
            let next = (at + 1).min(words.len() - 1);
            words.swap(at, next);
        }
    }
    words
}

/// What lands where from where, whenever it does.
fn deliveries(rows: &[Option<TimedRow>], scene: &Scene) -> Vec<(usize, u32, usize, u32)> {
    let words = plain::landed(rows, &scene.topology).into_iter();
    let mut words: Vec<_> = words
        .map(|(_, to, address, from, source)| (to, address, from, source))
        .collect();
    words.sort_unstable();
    words
}

/// Any word, and often one of the exchange families.
fn likely_word() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        0x6000_0000_u32..0x8000_0000,
        0xF000_0000_u32..
    ]
}

fn small(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(small(24))]

    #[test]
    fn phases_leave_the_memory_that_the_plain_fabric_leaves(wishes in wishes()) {
        let scene = scene(&wishes);
        let ran = scene.run().expect("placed where legal");
        let plain = plain::run(&ran.rows, &scene.topology, &ran.before);
        for (fast, plain) in ran.memories.iter().zip(&plain) {
            prop_assert!(fast.read(0x4_c000, 0x9_c000) == plain.read(0x4_c000, 0x9_c000));
        }
    }

    #[test]
    fn damaged_rows_are_refused_or_deliver_the_same(
        wishes in wishes(),
        damages in prop::collection::vec(damage(), 400),
    ) {
        let scene = scene(&wishes);
        let words = scene.words();
        prop_assume!(!words.is_empty());
        let memories = scene.memories(&words);
        let rows = scene.rows(&words, &memories).expect("legal");
        let sound = deliveries(&rows, &scene);
        let tiles: Vec<_> = words.keys().copied().collect();
        for damage in damages {
            let tile = tiles[damage.row.index(tiles.len())];
            let mut memory = TileMemory::new();
            load(&mut memory, ROW, &damaged(&words[&tile], damage));
            let Ok(row) = decode_row(TileId::new(tile), &memory, ROW, 0, 0) else {
                continue;
            };
            let mut rows = rows.clone();
            rows[usize::from(tile)] = Some(row);
            let Ok(outcome) = resolve(scene.context, &rows, &scene.topology) else {
                continue;
            };
            if compare_deliveries(&scene.deliveries, &outcome).is_ok() {
                prop_assert_eq!(deliveries(&rows, &scene), sound.clone(), "{:?}", damage);
            }
        }
    }

    #[test]
    fn any_words_decode_or_are_refused(
        words in prop::collection::vec(likely_word(), 1..40),
        bases in any::<(u32, u32)>(),
    ) {
        let mut memory = TileMemory::new();
        load(&mut memory, ROW, &words);
        let base = |value: u32| 0x4_c000 + (value % 0x9_c000) / 8 * 8;
        let _ = decode_row(TileId::new(0), &memory, ROW, base(bases.0), base(bases.1));
    }
}
