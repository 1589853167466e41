//! Whole phases: what moves, what profiles show, what the comparison with declared deliveries
//! accepts.

use analytics::profile::ActivityKind;
use analytics::units::{Bytes, TileId};

use super::plain;
use super::scene::{Ran, Scene, load};
use crate::exchange::{compare_deliveries, move_words, resolve};
use crate::fault::FaultRule;
use crate::machine::memory::TileMemory;
use crate::package::model::{Address, Delivery};

/// Every declared delivery arrived with the bytes that its source held before the phase.
fn assert_delivered(scene: &Scene, ran: &Ran) {
    for delivery in &scene.deliveries {
        let source = &ran.before[delivery.source.index()];
        let sent = source
            .read(delivery.source_address, delivery.bytes)
            .expect("in SRAM");
        for &(tile, address) in &delivery.destinations {
            let memory = &ran.memories[tile.index()];
            assert_eq!(memory.read(address, delivery.bytes).expect("in SRAM"), sent);
            assert_eq!(
                memory.first_uninitialised(address, delivery.bytes),
                Ok(None)
            );
        }
    }
}

#[test]
fn every_tile_sends_to_the_next_at_once() {
    let mut scene = Scene::new(96);
    for tile in 0..96 {
        scene.transfer(tile, 100, 300, 0x6_0000, &[((tile + 1) % 96, 0x9_0000)]);
    }
    let ran = scene.run().expect("legal");
    assert_delivered(&scene, &ran);
    assert_eq!(ran.outcome.sent(), Bytes::new(96 * 1200));
    assert_eq!(ran.outcome.received(TileId::new(5)), Bytes::new(1200));
}

#[test]
fn a_multicast_may_include_its_sender() {
    let mut scene = Scene::new(64);
    let everyone: Vec<(u16, Address)> = (0..64)
        .map(|tile| (tile, 0x9_0000 + 64 * u32::from(tile)))
        .collect();
    scene.transfer(17, 90, 70, 0x6_0000, &everyone);
    let ran = scene.run().expect("legal");
    assert_delivered(&scene, &ran);
    let activities = ran.outcome.activities(&scene.topology);
    let own: Vec<_> = activities[17]
        .iter()
        .map(|a| (a.kind, a.start, a.end, a.fanout))
        .collect();
    let lands = ran.outcome.landings[17][0].event;
    assert_eq!(
        own,
        [
            (ActivityKind::Send, 90, 160, 64),
            (ActivityKind::Receive, lands, lands + 70, 64)
        ]
    );
}

#[test]
fn messages_abut_at_the_sender_and_at_the_receiver() {
    let mut scene = Scene::new(8);
    // Tile 2 receives from 0, 1 and 4 back to back; each source starts so that its words follow on.
    let mux = |s: u16| i64::from(scene.topology.route(TileId::new(s), TileId::new(2)).mux);
    let starts: Vec<_> = [0, 1, 4]
        .iter()
        .zip(0..)
        .map(|(&s, slot)| u32::try_from(200 + 52 * slot - mux(s)).expect("positive"))
        .collect();
    for ((source, start), slot) in [0, 1, 4].into_iter().zip(starts).zip(0..) {
        scene.transfer(source, start, 52, 0x6_0000, &[(2, 0x9_0000 + 208 * slot)]);
    }
    let ran = scene.run().expect("legal");
    assert_delivered(&scene, &ran);
    let lands: Vec<_> = ran.outcome.landings[2].iter().map(|l| l.event).collect();
    assert_eq!(lands, [lands[0], lands[0] + 52, lands[0] + 104]);
}

#[test]
fn a_contiguous_landing_needs_no_pointer() {
    let mut scene = Scene::new(8);
    scene.transfer(0, 100, 40, 0x6_0000, &[(2, 0x9_0000)]);
    scene.transfer(0, 300, 40, 0x6_0100, &[(2, 0x9_00A0)]);
    let writes = &mut scene.script(2).writes;
    let at = writes
        .iter()
        .rposition(|w| w.register == super::assembler::Register::Pointer);
    writes.remove(at.expect("there are two pointers"));
    let ran = scene.run().expect("legal");
    assert_delivered(&scene, &ran);
}

#[test]
fn a_tile_forwards_what_landed_earlier_in_the_phase() {
    let mut scene = Scene::new(8);
    scene.transfer(0, 50, 16, 0x6_0000, &[(2, 0x9_0000)]);
    scene.transfer(2, 300, 16, 0x9_0000, &[(4, 0xA_0000)]);
    scene.transfer(4, 600, 16, 0xA_0000, &[(6, 0xB_0000)]);
    let words = scene.words();
    let mut memories = vec![TileMemory::new(); 8];
    for (&tile, words) in &words {
        load(&mut memories[usize::from(tile)], scene.row_address, words);
    }
    let data: Vec<_> = (7..23).collect();
    load(&mut memories[0], 0x6_0000, &data);
    load(&mut memories[2], 0x9_0000, &[99; 16]);
    let rows = scene.rows(&words, &memories).expect("decodes");
    let outcome = resolve(scene.context, &rows, &scene.topology).expect("legal");
    move_words(&outcome, &mut memories);
    let expected = memories[0].read(0x6_0000, 64).expect("in SRAM");
    assert_eq!(memories[6].read(0xB_0000, 64).expect("in SRAM"), expected);
    assert_eq!(memories[6].first_uninitialised(0xB_0000, 64), Ok(None));
}

#[test]
fn a_send_before_a_landing_sees_the_old_words() {
    let mut scene = Scene::new(8);
    scene.transfer(2, 60, 16, 0x9_0000, &[(4, 0xA_0000)]);
    scene.transfer(0, 300, 16, 0x6_0000, &[(2, 0x9_0000)]);
    let ran = scene.run().expect("legal");
    assert_delivered(&scene, &ran);
}

#[test]
fn words_that_were_never_written_stay_so_on_their_way() {
    let mut scene = Scene::new(4);
    scene.transfer(0, 100, 8, 0x6_0000, &[(2, 0x9_0000)]);
    let words = scene.words();
    let mut memories = vec![TileMemory::new(); 4];
    for (&tile, words) in &words {
        load(&mut memories[usize::from(tile)], scene.row_address, words);
    }
    load(&mut memories[0], 0x6_0004, &[1]);
    load(&mut memories[2], 0x9_0000, &[9; 8]);
    let rows = scene.rows(&words, &memories).expect("decodes");
    let outcome = resolve(scene.context, &rows, &scene.topology).expect("legal");
    move_words(&outcome, &mut memories);
    let written: Vec<_> = (0..8)
        .map(|w| memories[2].is_initialised(0x9_0000 + 4 * w))
        .collect();
    assert_eq!(
        written,
        [false, true, false, false, false, false, false, false]
    );
}

#[test]
fn a_paired_transfer_lends_the_partners_lane_and_leaves_it_receiving() {
    let mut scene = Scene::new(8);
    scene.paired(0, 31, 256, 0x5_0000, &[(2, 0x6_0000), (3, 0x7_0008)]);
    scene.transfer(5, 40, 100, 0x6_0000, &[(1, 0x9_0000)]);
    let ran = scene.run().expect("legal");
    assert_delivered(&scene, &ran);
    let activities = ran.outcome.activities(&scene.topology);
    let lent: Vec<_> = activities[1]
        .iter()
        .map(|a| (a.kind, a.paired, a.fanout))
        .collect();
    assert_eq!(lent[0], (ActivityKind::PartnerBusy, true, 2));
    assert_eq!(lent[1], (ActivityKind::Receive, false, 1));
    assert_eq!((activities[1][0].start, activities[1][0].end), (31, 159));
}

#[test]
fn a_pair_may_receive_its_own_paired_message_along_with_another() {
    for source in [0, 1] {
        let mut scene = Scene::new(8);
        let to = [(0, 0x6_4000), (1, 0x7_4008), (4, 0x6_0000), (5, 0x9_0000)];
        scene.paired(source, 100, 64, 0x5_0000, &to);
        let ran = scene.run().expect("legal");
        assert_delivered(&scene, &ran);
    }
}

#[test]
fn the_plain_fabric_agrees_on_a_busy_phase() {
    let mut scene = Scene::new(46);
    for tile in 0..46_u16 {
        let near = (tile + 7) % 46;
        let far = (tile * 5 + 3) % 46;
        scene.transfer_when_legal(
            tile,
            100,
            33 + u32::from(tile),
            0x6_0000,
            &[(near, 0x9_0000)],
        );
        if tile % 4 == 0 && far != tile {
            scene.transfer_when_legal(
                tile,
                700 + 90 * u32::from(tile),
                60,
                0x6_8000,
                &[(far, 0xA_0000)],
            );
        }
    }
    let ran = scene.run().expect("legal");
    assert_delivered(&scene, &ran);
    let plain = plain::run(&ran.rows, &scene.topology, &ran.before);
    for (tile, (fast, plain)) in ran.memories.iter().zip(&plain).enumerate() {
        let all = (0x4_c000, 0x9_c000);
        assert!(
            fast.read(all.0, all.1) == plain.read(all.0, all.1),
            "tile {tile} differs"
        );
    }
}

fn delivery(source: u16, from: Address, bytes: u32, to: &[(u16, Address)]) -> Delivery {
    Delivery {
        source: TileId::new(source),
        source_address: from,
        bytes,
        destinations: to
            .iter()
            .map(|&(tile, at)| (TileId::new(tile), at))
            .collect(),
    }
}

#[test]
fn deliveries_compare_whatever_their_cuts_and_order() {
    let mut scene = Scene::new(8);
    scene.transfer(0, 100, 40, 0x6_0000, &[(2, 0x9_0000), (4, 0xA_0000)]);
    scene.transfer(0, 300, 40, 0x6_00A0, &[(2, 0x9_00A0)]);
    let ran = scene.run().expect("legal");
    let whole = [
        delivery(0, 0x6_0000, 320, &[(2, 0x9_0000)]),
        delivery(0, 0x6_0000, 160, &[(4, 0xA_0000)]),
    ];
    assert_eq!(compare_deliveries(&whole, &ran.outcome), Ok(()));
    let cut = [
        delivery(0, 0x6_0050, 240, &[(2, 0x9_0050)]),
        delivery(0, 0x6_0000, 80, &[(4, 0xA_0000), (2, 0x9_0000)]),
        delivery(0, 0x6_0050, 80, &[(4, 0xA_0050)]),
        delivery(0, 0x6_0050, 0, &[(5, 0xA_0050)]),
    ];
    assert_eq!(compare_deliveries(&cut, &ran.outcome), Ok(()));
}

#[test]
fn deliveries_that_differ_name_the_tile_and_the_range() {
    let mut scene = Scene::new(8);
    scene.transfer(0, 100, 40, 0x6_0000, &[(2, 0x9_0000), (4, 0xA_0000)]);
    let ran = scene.run().expect("legal");
    let complete = delivery(0, 0x6_0000, 160, &[(2, 0x9_0000), (4, 0xA_0000)]);
    let cases = [
        (vec![], 2, "were not declared"),
        (
            vec![delivery(0, 0x6_0000, 160, &[(4, 0xA_0000)])],
            2,
            "were not declared",
        ),
        (
            vec![delivery(0, 0x6_0000, 160, &[(2, 0x9_0000), (4, 0xA_0004)])],
            4,
            "not declared so",
        ),
        (
            vec![complete.clone(), delivery(3, 0x6_0000, 4, &[(7, 0x9_0000)])],
            7,
            "did not arrive",
        ),
        (vec![complete.clone(), complete], 2, "did not arrive"),
        (
            vec![delivery(1, 0x6_0000, 160, &[(2, 0x9_0000), (4, 0xA_0000)])],
            2,
            "not declared so",
        ),
        (
            vec![delivery(0, 0x6_0000, 160, &[(9, 0x9_0000)])],
            9,
            "does not have",
        ),
    ];
    for (declared, tile, what) in cases {
        let faults = compare_deliveries(&declared, &ran.outcome).expect_err("they differ");
        let fault = faults.first();
        assert_eq!(
            (fault.rule, fault.tile.get()),
            (FaultRule::DeliveryMismatch, tile)
        );
        assert!(fault.detail.contains(what), "{fault}");
    }
}
