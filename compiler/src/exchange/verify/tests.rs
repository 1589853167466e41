//! Tests of the check: rows that break one rule each are refused.

use expect_test::{Expect, expect};
use runtime::machine::isa::{self, Instruction};
use runtime::machine::topology::Topology;
use runtime::package::model::MemoryRange;

use super::super::transfer::transfer;
use super::super::{EncodedRow, ExchangeContext, Transfer, encode, schedule};
use super::verify;

const TILES: u16 = 8;
const CODE: [MemoryRange; TILES as usize] = [MemoryRange {
    address: 0x5_0000,
    bytes: 0x3000,
}; TILES as usize];

/// Unicasts, multicasts, a loopback, controls that ride sends, merged ones, a chain.
fn transfers() -> Vec<Transfer> {
    vec![
        transfer(
            0,
            0x6_0000,
            100,
            &[(1, 0x9_0000), (2, 0x9_0000), (0, 0x9_0000)],
        ),
        transfer(1, 0x6_0000, 100, &[(0, 0x9_8000)]),
        transfer(2, 0x6_0000, 52, &[(0, 0x9_9000)]),
        transfer(3, 0x6_0000, 52, &[(0, 0x9_9100)]),
        transfer(1, 0x9_0000, 10, &[(3, 0xa_0000)]),
        transfer(4, 0x6_0000, 80, &[(5, 0x9_0000)]),
        transfer(5, 0x6_0000, 70, &[(4, 0x9_0000), (6, 0x9_0000)]),
        transfer(4, 0x7_0000, 8, &[(5, 0x9_0140)]),
    ]
}

fn rows(transfers: &[Transfer]) -> Vec<Option<EncodedRow>> {
    let topology = Topology::first_tiles(TILES);
    let context = ExchangeContext {
        topology: &topology,
        row_code: &CODE,
    };
    let schedule = schedule(transfers, &context).expect("it can be scheduled");
    encode(&schedule, &context).expect("it can be encoded")
}

fn verdict(rows: &[Option<EncodedRow>], transfers: &[Transfer], code: &[MemoryRange]) -> String {
    let topology = Topology::first_tiles(TILES);
    let context = ExchangeContext {
        topology: &topology,
        row_code: code,
    };
    match verify(rows, transfers, &context) {
        Ok(()) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Changes the rows of [`transfers`] and compares what the check says.
fn check(change: impl FnOnce(&mut Vec<Option<EncodedRow>>), expected: &Expect) {
    let transfers = transfers();
    let mut rows = rows(&transfers);
    change(&mut rows);
    expected.assert_eq(&verdict(&rows, &transfers, &CODE));
}

fn words(rows: &mut [Option<EncodedRow>], tile: usize) -> &mut Vec<u32> {
    &mut rows[tile].as_mut().expect("the tile has a row").words
}

/// Positions of the first words of a row's instructions of one kind.
fn positions(words: &[u32], wanted: impl Fn(Instruction) -> bool) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let next = words.get(at + 1).copied().unwrap_or(0);
        if isa::decode(words[at], next).is_some_and(&wanted) {
            found.push(at);
        }
        at += if isa::is_pair(words[at]) { 2 } else { 1 };
    }
    found
}

/// Whether an instruction writes the landing pointer and nothing else.
fn writes_pointer(instruction: Instruction) -> bool {
    match instruction {
        Instruction::DelayControl { control, .. } | Instruction::SendControl { control, .. } => {
            control.kind == isa::ControlKind::Pointer
        }
        _ => false,
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let transfers = transfers();
    let good = rows(&transfers);
    assert_eq!(verdict(&good, &transfers, &CODE), "accepted");
    let mut flips = 0;
    for tile in 0..usize::from(TILES) {
        let Some(row) = &good[tile] else { continue };
        // A two-word wait sends nothing, so its address has no effect; and a
        // send may leave on a side where nobody listens too.
        let waits = positions(&row.words, |instruction| {
            matches!(instruction, Instruction::SendPair { control: 0, .. })
        });
        let sends = positions(&row.words, |i| matches!(i, Instruction::Send { .. }));
        // The value field of a continued send is five bits wider than a source.
        let riding = positions(&row.words, |instruction| {
            matches!(instruction, Instruction::SendControl { control, .. }
                if control.kind == isa::ControlKind::Mux)
        });
        for word in 0..row.words.len() {
            let harmless = match word {
                _ if riding.contains(&word) => 0x1f << 13,
                _ if waits.contains(&word) => 0x3_ffff << 3,
                _ if sends.contains(&word) && row.words[word] & 3 == 3 => 3,
                _ if sends.contains(&word) => !row.words[word] & 3,
                _ => 0_u32,
            };
            for bit in (0..32).filter(|bit| harmless >> bit & 1 == 0) {
                let mut bad = good.clone();
                words(&mut bad, tile)[word] ^= 1 << bit;
                let verdict = verdict(&bad, &transfers, &CODE);
                assert_ne!(verdict, "accepted", "tile {tile}, word {word}, bit {bit}");
                flips += 1;
            }
        }
    }
    assert!(flips > 1500, "only {flips} flips were tried");
}

#[test]
fn the_rows_of_the_tests_hold_every_instruction() {
    let rows = rows(&transfers());
    let all: Vec<u32> = rows
        .into_iter()
        .flatten()
        .flat_map(|row| row.words)
        .collect();
    type Form = fn(Instruction) -> bool;
    let forms: [(&str, Form); 6] = [
        ("delay", |i| matches!(i, Instruction::Delay { .. })),
        ("delay and control", |i| {
            matches!(i, Instruction::DelayControl { .. })
        }),
        ("send", |i| matches!(i, Instruction::Send { .. })),
        ("continued send", |i| {
            matches!(i, Instruction::SendOff { .. })
        }),
        ("send and control", |i| {
            matches!(i, Instruction::SendControl { .. })
        }),
        ("pair", |i| matches!(i, Instruction::SendPair { .. })),
    ];
    for (name, form) in forms {
        assert!(!positions(&all, form).is_empty(), "no {name}");
    }
}

#[test]
fn a_shifted_pointer_is_a_wrong_delivery() {
    let change = |rows: &mut Vec<Option<EncodedRow>>| {
        let words = words(rows, 6);
        let pointer = positions(words, writes_pointer);
        words[pointer[0]] += 1;
    };
    check(
        change,
        &expect![
            "tile 6, address 0x90004: the word at 0x60000 of tile 5 arrives +1 times too often"
        ],
    );
}

#[test]
fn a_shifted_source_is_a_wrong_delivery() {
    let change = |rows: &mut Vec<Option<EncodedRow>>| {
        let words = words(rows, 3);
        let send = positions(words, |i| matches!(i, Instruction::Send { .. }));
        words[send[0]] += 1 << 3;
    };
    check(
        change,
        &expect![
            "tile 0, address 0x99100: the word at 0x60000 of tile 3 arrives -1 times too often"
        ],
    );
}

#[test]
fn a_send_one_event_late_is_heard_by_nobody() {
    let change = |rows: &mut Vec<Option<EncodedRow>>| {
        let row = rows[3].as_mut().expect("it sends");
        row.words.insert(0, 0x40A0_0000);
        row.horizon += 1;
    };
    check(
        change,
        &expect!["tile 0, event 255: the selected source is silent"],
    );
}

#[test]
fn a_send_on_the_wrong_side_is_noticed() {
    let change = |rows: &mut Vec<Option<EncodedRow>>| {
        let words = words(rows, 3);
        let send = positions(words, |i| matches!(i, Instruction::Send { .. }));
        words[send[0]] ^= 3;
    };
    check(
        change,
        &expect!["tile 0, event 255: the source sends the other way"],
    );
}

#[test]
fn a_dropped_row_leaves_its_source_silent() {
    check(
        |rows| rows[4] = None,
        &expect!["tile 5, event 1: the selected source is silent"],
    );
}

#[test]
fn a_dropped_neutral_selection_is_noticed() {
    let change = |rows: &mut Vec<Option<EncodedRow>>| {
        let words = words(rows, 6);
        let neutral = positions(words, |instruction| {
            matches!(instruction, Instruction::DelayControl { control, .. }
                if control.value == 0x640)
        });
        let events = (words[neutral[0]] >> 14) & 0xfff;
        words[neutral[0]] = 0x40A0_0000 | events;
    };
    check(
        change,
        &expect!["tile 6, event 1: a source is still selected when the row returns"],
    );
}

#[test]
fn a_missing_return_and_a_second_one_are_noticed() {
    check(
        |rows| {
            words(rows, 6).pop();
        },
        &expect!["tile 6, word 4: is missing: the row does not return"],
    );
    check(
        |rows| words(rows, 6).push(0x43A0_0000),
        &expect!["tile 6, word 4: returns before the last word"],
    );
}

#[test]
fn a_row_that_ends_early_or_lies_about_its_length_is_noticed() {
    let shorter = |rows: &mut Vec<Option<EncodedRow>>| {
        let row = rows[6].as_mut().expect("it receives");
        let last = row.words.len() - 2;
        row.words[last] -= 1;
        row.horizon -= 1;
    };
    check(
        shorter,
        &expect!["tile 6, event 133: the row returns before its last words have landed"],
    );
    let lie = |rows: &mut Vec<Option<EncodedRow>>| {
        rows[6].as_mut().expect("it receives").horizon += 1;
    };
    check(
        lie,
        &expect!["tile 6, event 134: the row does not last as long as it says"],
    );
}

#[test]
fn missing_and_additional_transfers_are_noticed() {
    let mut wished = transfers();
    let rows = rows(&wished);
    wished.push(transfer(6, 0x6_0000, 4, &[(7, 0x9_0000)]));
    expect!["tile 7, address 0x90000: the word at 0x60000 of tile 6 arrives -1 times too often"]
        .assert_eq(&verdict(&rows, &wished, &CODE));
    wished.truncate(7);
    expect!["tile 5, address 0x90140: the word at 0x70000 of tile 4 arrives +1 times too often"]
        .assert_eq(&verdict(&rows, &wished, &CODE));
}

#[test]
fn rows_in_an_element_with_data_are_refused() {
    let mut code = CODE;
    code[5] = MemoryRange {
        address: 0x5_c000,
        bytes: 0x4000 - 60,
    };
    let transfers = transfers();
    let rows = rows(&transfers);
    let verdict = verdict(&rows, &transfers, &code);
    assert!(
        verdict.starts_with("transfer 6: 70 words at 0x60000 of tile 5 share"),
        "{verdict}"
    );
}

#[test]
fn words_that_land_where_the_tile_reads_are_refused() {
    // Tile 1 receives for 100 events while it sends 100 words; the same rows with the landings
    // moved into the element that is read.
    let apart = [
        transfer(0, 0x6_0000, 100, &[(1, 0x9_0000)]),
        transfer(1, 0x6_0000, 100, &[(2, 0x9_0000)]),
    ];
    let mut rows = rows(&apart);
    let together = [
        transfer(0, 0x6_0000, 100, &[(1, 0x6_2000)]),
        apart[1].clone(),
    ];
    let words = words(&mut rows, 1);
    let set = positions(words, writes_pointer);
    words[set[0]] = (words[set[0]] & !0x3_ffff) | (0x6_2000 / 4);
    expect!["tile 1, event 53, address 0x62000: words land in an element that is read at the time"]
        .assert_eq(&verdict(&rows, &together, &CODE));
}

#[test]
fn rows_for_another_order_of_dependent_transfers_are_refused() {
    let read_first = [
        transfer(0, 0x6_0000, 30, &[(1, 0x9_0000)]),
        transfer(2, 0x6_0000, 30, &[(0, 0x6_0000)]),
    ];
    let write_first = [read_first[1].clone(), read_first[0].clone()];
    expect!["tile 0, address 0x60000: its reads and writes are out of program order"]
        .assert_eq(&verdict(&rows(&read_first), &write_first, &CODE));
    expect!["tile 0, address 0x60000: its reads and writes are out of program order"]
        .assert_eq(&verdict(&rows(&write_first), &read_first, &CODE));
    let overwritten = [
        transfer(0, 0x6_0000, 30, &[(1, 0x9_0000)]),
        transfer(2, 0x6_0000, 30, &[(1, 0x9_0004)]),
    ];
    let reversed = [overwritten[1].clone(), overwritten[0].clone()];
    expect!["tile 1, address 0x90004: its reads and writes are out of program order"]
        .assert_eq(&verdict(&rows(&overwritten), &reversed, &CODE));
}

#[test]
fn a_tile_too_few_is_refused() {
    check(
        |rows| {
            rows.pop();
        },
        &expect!["7 rows for 8 tiles"],
    );
}
