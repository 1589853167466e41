//! Random phases against the plain fabric, and random words to the decoder.

use proptest::prelude::*;

use super::plain;
use super::scene::{ROW, Scene, load};
use crate::exchange::decode_row;
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
