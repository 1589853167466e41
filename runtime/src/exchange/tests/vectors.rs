//! Published rows: vendor assembler output and rows of the stand-alone builder, decoded and run.

use std::fmt::Write as _;

use analytics::units::TileId;
use expect_test::{Expect, expect};

use super::assembler::{NEUTRAL, Register, Sent, Write, assemble};
use super::scene::{ROW, Scene, load};
use crate::exchange::row::Message;
use crate::exchange::{Landing, PhaseContext, TimedRow, decode_row, resolve};
use crate::fault::FaultRule;
use crate::fidelity::exchange::{FOUR_MESSAGES, MULTICAST, Meeting, POINT_TO_POINT};
use crate::fidelity::sequences::{ABUTTING, ORDINARY, PAIR};
use crate::machine::arch::TILES;
use crate::machine::memory::TileMemory;
use crate::machine::topology::Topology;

fn decoded(words: &[u32], incoming: u32, outgoing: u32) -> TimedRow {
    let mut memory = TileMemory::new();
    load(&mut memory, ROW, words);
    decode_row(TileId::new(0), &memory, ROW, incoming, outgoing).expect("a published row decodes")
}

fn listing(row: &TimedRow) -> String {
    let mut text = String::new();
    for m in &row.messages {
        let Message {
            event,
            items,
            address,
            control,
        } = m;
        writeln!(
            text,
            "send {items} from {address:#x} control {control} @{event}"
        )
        .expect("text");
    }
    for c in &row.controls {
        writeln!(text, "{:?} {:#x} @{}", c.write.kind, c.write.value, c.event).expect("text");
    }
    writeln!(
        text,
        "end {}{}",
        row.horizon,
        if row.entry_sync { ", sync" } else { "" }
    )
    .expect("text");
    text
}

fn check(words: &[u32], expected: &Expect) {
    expected.assert_eq(&listing(&decoded(words, 0, 0x6_0000)));
}

#[test]
fn a_vendor_row_that_receives_four_messages_decodes() {
    check(
        FOUR_MESSAGES,
        &expect![[r#"
            Mux 0x82 @1
            Mux 0xc0 @53
            Pointer 0x14048 @53
            Mux 0xc2 @105
            Pointer 0x15000 @105
            Mux 0x100 @157
            Pointer 0x16000 @157
            Mux 0x640 @209
            Pointer 0x17000 @209
            end 266
        "#]],
    );
}

#[test]
fn stand_alone_senders_decode() {
    let expected = [
        expect![[r#"
            send 3 from 0x60000 control 1 @135
            end 138, sync
        "#]],
        expect![[r#"
            send 52 from 0x60000 control 2 @63
            end 115, sync
        "#]],
        expect![[r#"
            send 65 from 0x60000 control 2 @126
            end 191, sync
        "#]],
        expect![[r#"
            send 4148 from 0x60000 control 1 @109
            end 4257, sync
        "#]],
    ];
    assert_eq!(POINT_TO_POINT.len(), expected.len());
    for (&(_, _, _, sender, ..), expected) in POINT_TO_POINT.iter().zip(&expected) {
        check(sender, expected);
    }
}

#[test]
fn stand_alone_rows_meet_on_the_fabric() {
    let topology = Topology::first_tiles(TILES);
    for &(s, d, items, sender, receiver, [_, end]) in POINT_TO_POINT {
        let mut receiver = receiver.to_vec();
        receiver[1] |= topology.physical(TileId::new(s)).get();
        let mut rows = vec![None; usize::from(TILES)];
        rows[usize::from(s)] = Some(decoded(sender, 0, 0x6_0000));
        rows[usize::from(d)] = Some(decoded(&receiver, 0x9_0000, 0));
        let outcome = resolve(PhaseContext::default(), &rows, &topology).expect("a published pair");
        assert_eq!(
            u64::from(outcome.horizons[usize::from(d)]),
            end,
            "{s} to {d}"
        );
        // The select is at event 113 in all of these rows.
        let event = 113 + topology.landing_delay(TileId::new(d));
        let expected = Landing {
            source: TileId::new(s),
            message: 0,
            event,
            items,
            address: 0x9_0000,
            source_address: 0x6_0000,
            wide: false,
        };
        assert_eq!(outcome.landings[usize::from(d)], [expected], "{s} to {d}");
        assert_eq!(outcome.landings.iter().flatten().count(), 1);
    }
}

#[test]
fn stand_alone_multicast_rows_meet_on_the_fabric() {
    let topology = Topology::first_tiles(TILES);
    let mut rows = vec![None; usize::from(TILES)];
    let (sender, receiver, end) = MULTICAST;
    rows[0] = Some(decoded(sender, 0, 0x6_0000));
    rows[274] = Some(decoded(receiver, 0, 0));
    rows[1286] = Some(decoded(receiver, 0, 0));
    let outcome =
        resolve(PhaseContext::default(), &rows, &topology).expect("a published multicast");
    for d in [274, 1286] {
        assert_eq!(u64::from(outcome.horizons[d]), end);
        let landing = outcome.landings[d][0];
        assert_eq!(
            (landing.event, landing.items, landing.address),
            (53, 3, 0x5_0000)
        );
    }
}

#[test]
fn a_published_paired_transfer_has_the_published_events() {
    let mut scene = Scene::new(4);
    scene.paired(0, 31, 128, 0x5_0000, &[(2, 0x6_0000), (3, 0x6_0000)]);
    let ran = scene.run().expect("the published transfer is legal");
    let rows: Vec<_> = ran.rows.iter().flatten().map(listing).collect();
    expect![[r#"
        send 64 from 0x50000 control 5 @31
        end 95
    "#]]
    .assert_eq(&rows[0]);
    expect![[r#"
        MuxPair 0x0 @1
        Format 0x1 @54
        Pointer 0x18000 @56
        MuxPair 0x640 @65
        Format 0x0 @118
        end 125
    "#]]
    .assert_eq(&rows[1]);
    expect![[r#"
        Format 0x1 @54
        Pointer 0x18000 @56
        Format 0x0 @118
        end 125
    "#]]
    .assert_eq(&rows[2]);
    for tile in [2, 3] {
        let landing = ran.outcome.landings[tile][0];
        assert_eq!((landing.event, landing.items, landing.wide), (56, 64, true));
        assert_eq!(
            ran.memories[tile].read(0x6_0000, 512),
            ran.before[0].read(0x5_0000, 512)
        );
    }
}

/// The words of a meeting do what the rows of a phase do.
#[track_caller]
fn same_rows(meeting: Meeting, rows: &[Option<TimedRow>]) {
    assert_eq!(rows.iter().flatten().count(), meeting.len());
    for &(tile, words) in meeting {
        let row = rows[usize::from(tile)].as_ref().expect("a row");
        assert_eq!(listing(&decoded(words, 0, 0)), listing(row), "tile {tile}");
    }
}

/// Sources of the four messages to tile 2, which spell the published select events.
const SOURCES: [u16; 4] = [4, 6, 8, 10];

#[test]
fn published_sequences_are_the_words_of_the_transfers_that_they_stand_for() {
    let mut pair = Scene::new(4);
    pair.paired(0, 31, 128, 0x5_0000, &[(2, 0x6_0000), (3, 0x6_0000)]);
    same_rows(PAIR, &pair.run().expect("legal").rows);
    let mut ordinary = Scene::new(12);
    for (at, source) in (0..).zip(SOURCES) {
        let to = [(2, 0x9_0000 + at * 0x400)];
        ordinary.transfer(source, 28 + at * 50, 52, 0x6_0000, &to);
    }
    same_rows(ORDINARY, &ordinary.run().expect("legal").rows);
}

/// Four messages of 176 pairs to tiles 2 and 3, the second `late` events after it could start,
/// with one format over all of them.
fn abutting(late: u32) -> Scene {
    let mut scene = Scene::new(12);
    for (at, source) in (0..).zip(SOURCES) {
        let to = [2, 3].map(|tile| (tile, 0x9_0000 + at * 0x800));
        let late = if at == 0 { 0 } else { late };
        scene.paired(source, 27 + at * 174 + late, 352, 0x6_0000, &to);
    }
    for tile in [2, 3] {
        let writes = &mut scene.script(tile).writes;
        let formats = writes
            .iter()
            .filter(|write| write.register == Register::Format)
            .copied();
        let ends: Vec<_> = formats.collect();
        let (first, last) = (ends[0], ends[ends.len() - 1]);
        writes.retain(|write| write.register != Register::Format || [first, last].contains(write));
    }
    scene
}

#[test]
fn abutting_64_bit_payloads_share_one_format() {
    let ran = abutting(0).run().expect("the vendor's sequence is legal");
    same_rows(ABUTTING, &ran.rows);
    for tile in [2, 3] {
        let landings = &ran.outcome.landings[tile];
        let events: Vec<_> = landings.iter().map(|it| (it.event, it.items)).collect();
        assert_eq!(events, [(56, 176), (232, 176), (408, 176), (584, 176)]);
        assert_eq!(ran.outcome.horizons[tile], 765);
        for (at, source) in (0..).zip(SOURCES) {
            let arrived = ran.memories[tile].read(0x9_0000 + at * 0x800, 1408);
            let sent = ran.before[usize::from(source)].read(0x6_0000, 1408);
            assert_eq!(arrived, sent, "tile {tile}, message {at}");
        }
    }
    // One event later the second payload no longer abuts the first.
    let fault = abutting(1)
        .run()
        .map(|_| ())
        .expect_err("the format is held");
    assert_eq!((fault.rule, fault.tile.get()), (FaultRule::FormatHeld, 2));
}

#[test]
fn the_member_that_selects_for_its_pair_is_the_one_reached_first() {
    for (source, early, late) in [(2, 0, 1), (0, 47, 46), (0, 2, 3)] {
        let mut scene = Scene::new(48);
        scene.paired(
            source,
            200,
            16,
            0x5_0000,
            &[(early, 0x6_0000), (late, 0x7_0000)],
        );
        let selects = |tile: u16| {
            let writes = &scene.scripts[&tile].writes;
            writes
                .iter()
                .any(|write| write.register == Register::MuxPair)
        };
        assert!(
            selects(early) && !selects(late),
            "{source} to {early} and {late}"
        );
        scene.run().expect("legal");
    }
}

#[test]
fn rows_decode_to_what_was_assembled() {
    let sent = [
        Sent {
            event: 3,
            items: 200,
            address: 0x1_8000,
            control: 3,
        },
        Sent {
            event: 203,
            items: 5000,
            address: 0x2_0000,
            control: 1,
        },
        Sent {
            event: 6000,
            items: 64,
            address: 0xC000,
            control: 6,
        },
    ];
    let write = |event, register, value| Write {
        event,
        register,
        value,
    };
    let writes = [
        write(2, Register::Mux, 5),
        write(50, Register::Pointer, 0x1_5000),
        write(52, Register::Mux, 6),
        write(52, Register::Pointer, 0x1_5100),
        write(203, Register::Mux, NEUTRAL),
        write(5202, Register::Mux, 7),
        write(5202, Register::Pointer, 0x1_6000),
        write(5700, Register::Mux, NEUTRAL),
        write(5700, Register::Pointer, 0x1_7000),
        write(6010, Register::Format, 2),
        write(6020, Register::MuxPair, 9),
        write(6030, Register::MuxPair, NEUTRAL),
        write(6050, Register::Format, 0),
    ];
    let words = assemble(&sent, &writes, 9999).expect("expressible");
    let row = decoded(&words, 0, 0);
    expect![[r#"
        send 200 from 0x60000 control 3 @3
        send 5000 from 0x80000 control 1 @203
        send 64 from 0x60000 control 6 @6000
        Mux 0x5 @2
        Pointer 0x15000 @50
        Mux 0x6 @52
        Pointer 0x15100 @52
        Mux 0x640 @203
        Mux 0x7 @5202
        Pointer 0x16000 @5202
        Mux 0x640 @5700
        Pointer 0x17000 @5700
        Format 0x2 @6010
        MuxPair 0x9 @6020
        MuxPair 0x640 @6030
        Format 0x0 @6050
        end 9999
    "#]]
    .assert_eq(&listing(&row));
    assert_eq!(
        row.code_end,
        ROW + 4 * u32::try_from(words.len()).expect("short")
    );
}
