//! The back end as a whole against a plain oracle: transfers done one after another in list order
//! must leave the same memories as the rows do on the machine.

use std::collections::BTreeMap;

use analytics::units::{Cycles, PhysicalTile, TileId};
use proptest::prelude::*;
use runtime::exchange::{PhaseContext, decode_row, execute};
use runtime::machine::memory::TileMemory;
use runtime::machine::sram;
use runtime::machine::topology::Topology;
use runtime::package::model::{Address, MemoryRange};

use super::message::Pairing;
use super::schedule::schedule_as;
use super::transfer::transfer;
use super::*;

/// Where the rows of a test lie: an element of their own.
const CODE: MemoryRange = MemoryRange {
    address: 0x5_0000,
    bytes: 0x4000 - sram::FETCH_GUARD_BYTES,
};
/// Memory that transfers of a test touch.
const DATA: std::ops::Range<Address> = 0x6_0000..0xb_8000;

fn value(tile: usize, address: Address) -> u32 {
    let mixed = (tile as u64 + 1) << 32 | u64::from(address);
    let [.., a, b, c, d] = (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 29).to_be_bytes();
    u32::from_be_bytes([a, b, c, d])
}

/// Memories with a different word at every place.
fn memories(tiles: usize) -> Vec<TileMemory> {
    let memory = |tile| {
        let words = DATA.step_by(4).flat_map(|at| value(tile, at).to_le_bytes());
        let mut memory = TileMemory::new();
        memory
            .write(DATA.start, &words.collect::<Vec<u8>>())
            .expect("it is in SRAM");
        memory
    };
    (0..tiles).map(memory).collect()
}

/// Words that differ from the initial ones after the transfers are done one by one.
fn one_by_one(transfers: &[Transfer]) -> BTreeMap<(usize, Address), u32> {
    let mut changed = BTreeMap::new();
    for transfer in transfers {
        let source = transfer.source.index();
        let addresses = (0..transfer.words).map(|k| transfer.source_address + 4 * k);
        let read = |at| *changed.get(&(source, at)).unwrap_or(&value(source, at));
        let words: Vec<u32> = addresses.map(read).collect();
        for &(tile, address) in &transfer.destinations {
            for (k, &word) in (0..).zip(&words) {
                changed.insert((tile.index(), address + 4 * k), word);
            }
        }
    }
    changed
}

/// Runs rows on the machine and gives the memories after them.
fn on_the_machine(rows: &[Option<EncodedRow>], topology: &Topology) -> Vec<TileMemory> {
    let mut memories = memories(topology.tiles());
    let mut timed = Vec::new();
    for (tile, (memory, row)) in (0_u16..).zip(memories.iter_mut().zip(rows)) {
        timed.push(row.as_ref().map(|row| {
            let code: Vec<u8> = row
                .words
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .collect();
            memory.write(CODE.address, &code).expect("rows are in SRAM");
            let decoded = decode_row(TileId::new(tile), memory, CODE.address, 0, 0);
            let decoded = decoded.unwrap_or_else(|fault| panic!("tile {tile}: {fault}"));
            assert_eq!(decoded.horizon, row.horizon, "horizon of tile {tile}");
            decoded
        }));
    }
    let context = PhaseContext::default();
    if let Err(fault) = execute(context, &timed, &mut memories, topology) {
        panic!("the machine faults: {fault}");
    }
    memories
}

/// Schedules, encodes, checks, runs and compares, with words alone and with 64-bit items too.
fn round_trip(transfers: &[Transfer], topology: &Topology) -> (ScheduleReport, usize) {
    let (report, words) = round_trip_as(transfers, topology, Pairing::None);
    round_trip_as(transfers, topology, Pairing::All);
    assert!(report.bound <= report.horizon);
    assert_eq!(report.bound, endpoint_bound(transfers));
    (report, words)
}

fn round_trip_as(
    transfers: &[Transfer],
    topology: &Topology,
    pairing: Pairing,
) -> (ScheduleReport, usize) {
    let code = vec![CODE; topology.tiles()];
    let context = ExchangeContext {
        topology,
        row_code: &code,
    };
    let schedule = schedule_as(transfers, &context, pairing, u64::MAX)
        .expect("it can be scheduled")
        .expect("no bound reaches the limit");
    let rows = encode(&schedule, &context).expect("it can be encoded");
    verify(&rows, transfers, &context).expect("the rows do the transfers");
    let memories = on_the_machine(&rows, topology);
    let expected = one_by_one(transfers);
    for (tile, memory) in memories.iter().enumerate() {
        let bytes = memory
            .read(DATA.start, DATA.end - DATA.start)
            .expect("it is in SRAM");
        for (at, word) in DATA.step_by(4).zip(bytes.chunks_exact(4)) {
            let wanted = expected
                .get(&(tile, at))
                .copied()
                .unwrap_or_else(|| value(tile, at));
            assert_eq!(word, wanted.to_le_bytes(), "tile {tile}, address {at:#x}");
        }
    }
    let report = schedule.report();
    assert!(report.bound <= report.horizon);
    (
        report,
        rows.iter().flatten().map(|row| row.words.len()).sum(),
    )
}

const TILES: u16 = 10;

fn any_address() -> impl Strategy<Value = Address> {
    // Few places, so that ranges meet.
    let base = prop_oneof![
        Just(0x6_0000),
        Just(0x6_4000),
        Just(0x8_0000),
        Just(0x9_0000)
    ];
    (base, 0_u32..24).prop_map(|(base, words)| base + 4 * words)
}

fn any_words() -> impl Strategy<Value = u32> {
    prop_oneof![
        6 => 1_u32..10,
        3 => 26_u32..31,
        3 => 50_u32..67,
        1 => 100_u32..300,
        1 => Just(4150_u32),
    ]
}

prop_compose! {
    /// A transfer between tiles 0..TILES, sometimes to its own source too.
    fn any_transfer()(
        source in 0..TILES,
        at in any_address(),
        words in any_words(),
        wanted in prop::collection::btree_map(0..TILES, any_address(), 1..5),
        spare in 1..TILES,
    ) -> Transfer {
        let apart = |to: Address| to.abs_diff(at) >= 4 * words;
        let mut wanted = wanted;
        let others = wanted.keys().any(|&tile| tile != source);
        if wanted.get(&source).is_some_and(|&to| !apart(to) || !others) {
            let to = wanted.remove(&source).unwrap_or(0x9_0000);
            wanted.entry((source + spare) % TILES).or_insert(to);
        }
        transfer(source, at, words, &wanted.into_iter().collect::<Vec<_>>())
    }
}

prop_compose! {
    /// Ten tiles anywhere on the device.
    fn any_topology()(
        physical in prop::sample::subsequence(
            (0_u32..1472).collect::<Vec<_>>(),
            usize::from(TILES),
        ),
    ) -> Topology {
        let physical: Vec<_> = physical.into_iter().map(PhysicalTile::new).collect();
        Topology::from_mapping(&physical).expect("they are distinct")
    }
}

prop_compose! {
    /// A transfer from a tile to some of the other pairs, which may be sent as 64-bit items, or a
    /// short one to one tile.
    fn any_wide_transfer()(
        source in 0..TILES,
        at in 0_u32..64,
        items in 1_u32..160,
        pairs in prop::collection::btree_map(0..TILES / 2, (0_u32..64, 0_u32..64), 1..3),
        is_short in prop::bool::weighted(0.3),
    ) -> Transfer {
        let place = |at: u32| 0x9_0000 + 0x2000 * (at % 3) + 8 * at;
        let words = if is_short { items } else { 126 + 2 * items };
        let others = pairs.into_iter().filter(|&(pair, _)| pair != source / 2);
        let mut wanted: Vec<_> = others
            .flat_map(|(pair, (one, other))| {
                [(2 * pair, place(one)), (2 * pair + 1, place(other))]
            })
            .collect();
        if wanted.is_empty() {
            wanted.push(((source + 2) % TILES, 0x9_0000));
        }
        if is_short {
            wanted.truncate(1);
        }
        transfer(source, 0x6_0000 + 8 * at + 0x4000 * (at % 2), words, &wanted)
    }
}

/// Five pairs of tiles anywhere on the device.
fn any_pairs() -> impl Strategy<Value = Topology> {
    let pairs = (0_u32..1472).filter(|id| id & 2 == 0).collect::<Vec<_>>();
    prop::sample::subsequence(pairs, usize::from(TILES / 2)).prop_map(|pairs| {
        let both = pairs.into_iter().flat_map(|id| [id, id ^ 2]);
        let physical: Vec<_> = both.map(PhysicalTile::new).collect();
        Topology::from_mapping(&physical).expect("they are distinct")
    })
}

#[test]
fn a_lone_paired_transfer_is_the_published_one() {
    let topology = Topology::first_tiles(8);
    // Physical 0 -> {1, 3}: logical neighbours are two apart.
    let transfers = [transfer(0, 0x6_0000, 128, &[(2, 0x9_0000), (3, 0x9_0000)])];
    let (report, _) = round_trip_as(&transfers, &topology, Pairing::All);
    assert_eq!((report.paired, report.messages), (1, 1));
    let (plain, _) = round_trip_as(&transfers, &topology, Pairing::None);
    assert_eq!(report.horizon.get() + 64, plain.horizon.get());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn transfers_to_pairs_leave_what_one_after_another_leaves(
        transfers in prop::collection::vec(any_wide_transfer(), 1..24),
        topology in any_pairs(),
    ) {
        round_trip(&transfers, &topology);
    }

    #[test]
    fn rows_leave_the_memories_that_one_transfer_after_another_leaves(
        transfers in prop::collection::vec(any_transfer(), 1..40),
        topology in any_topology(),
    ) {
        round_trip(&transfers, &topology);
    }

    #[test]
    fn dense_single_words_find_an_alignment(
        transfers in prop::collection::vec((0..TILES, 0_u32..3, 0_u32..60), 60..200),
        topology in any_topology(),
    ) {
        let transfers: Vec<_> = transfers
            .iter()
            .map(|&(source, more, to)| {
                let destination = (source + 1 + source % 2) % TILES;
                transfer(source, 0x6_0000, 1 + more, &[(destination, 0x9_0000 + 4 * to)])
            })
            .collect();
        round_trip(&transfers, &topology);
    }
}

#[test]
fn a_tile_without_room_for_alignment_does_without_merged_controls() {
    // One word an event from two senders; each third word continues the one before it, so that it
    // needs no pointer and stands between two pairs of controls.
    let topology = Topology::first_tiles(4);
    let transfers: Vec<_> = (0..240_u16)
        .map(|k| {
            let place = u32::from(k / 3 * 4 + k % 3);
            let place = if k % 3 == 2 { place + 1 } else { place };
            transfer(k % 2, 0x6_0000, 1, &[(2, 0x9_0000 + 4 * place)])
        })
        .collect();
    let (report, _) = round_trip(&transfers, &topology);
    assert_eq!(report.unmerged, 1);
}

#[test]
fn words_that_go_on_where_the_last_ended_need_no_pointer() {
    let topology = Topology::first_tiles(8);
    let row_words = |gap: u32| {
        let transfers: Vec<_> = (0..16_u16)
            .map(|k| {
                let to = 0x9_0000 + u32::from(k) * (32 + gap);
                transfer(k % 4, 0x6_0000 + 64 * u32::from(k), 8, &[(5, to)])
            })
            .collect();
        round_trip(&transfers, &topology).1
    };
    assert!(
        row_words(0) + 14 <= row_words(8),
        "{} against {}",
        row_words(0),
        row_words(8)
    );
}

#[test]
fn messages_abut_at_a_busy_receiver() {
    let topology = Topology::first_tiles(64);
    let transfers: Vec<_> = (1..64_u16)
        .map(|k| transfer(k, 0x6_0000, 40, &[(0, 0x9_0000 + 200 * u32::from(k))]))
        .collect();
    let (report, _) = round_trip(&transfers, &topology);
    assert_eq!(report.bound, Cycles::new(63 * 40));
    // The first selection is at most the longest route away, the last landing 52 later, the return
    // 5.
    assert!(
        report.horizon.get() <= 63 * 40 + 1 + 112 + 52 + 5,
        "{}",
        report.horizon
    );
}

/// A chain of every kind of dependence, more than one tile long.
fn chain() -> Vec<Transfer> {
    vec![
        transfer(0, 0x6_0000, 60, &[(1, 0x9_0000), (2, 0x9_0000)]),
        transfer(1, 0x9_0010, 40, &[(3, 0x9_8000)]),
        transfer(3, 0x9_8000, 40, &[(1, 0x9_0000), (0, 0x6_0000)]),
        transfer(2, 0x6_0000, 8, &[(1, 0x9_0020)]),
        transfer(1, 0x9_0000, 60, &[(2, 0xa_0000)]),
    ]
}

#[test]
fn dependent_transfers_wait_for_each_other() {
    let (report, _) = round_trip(&chain(), &Topology::first_tiles(4));
    // 1 and 2 read what came before them; 2 overwrites what 0 wrote, what 0 and 1 read; 3
    // overwrites 2; 4 reads what 0, 2 and 3 wrote.
    assert_eq!(report.hazards, 2 + 3 + 1 + 3);
    // Four transfers wait in a row, the shortest route takes 19 events.
    assert!(report.horizon.get() > 60 + 40 + 40 + 60 + 3 * 19);
}

#[test]
fn one_thread_and_many_give_the_same_rows() {
    let transfers: Vec<_> = (0..6000_u32)
        .map(|k| {
            let word = value(k as usize, 0);
            let source = (word % 1472) as u16;
            let to = (source + 1 + (word / 1472 % 1470) as u16) % 1472;
            let at = 0x6_0000 + word / 64 % 512 * 4;
            transfer(source, at, 1 + word % 70, &[(to, 0x9_0000 + k % 97 * 64)])
        })
        .collect();
    let topology = Topology::first_tiles(1472);
    let context = ExchangeContext {
        topology: &topology,
        row_code: &[],
    };
    let rows = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        pool.install(|| {
            let schedule = schedule(&transfers, &context).expect("it can be scheduled");
            assert!(schedule.report().hazards > 0);
            encode(&schedule, &context).expect("it can be encoded")
        })
    };
    let one = rows(1);
    assert_eq!(one, rows(2));
    assert_eq!(one, rows(7));
    verify(&one, &transfers, &context).expect("the rows do the transfers");
}

#[test]
fn estimates_lie_above_the_bound_and_near_the_schedule() {
    let topology = Topology::first_tiles(368);
    let context = ExchangeContext {
        topology: &topology,
        row_code: &[],
    };
    for words in [4, 8, 64, 512] {
        let transfers: Vec<_> = (0..8000_u32 / words * 4)
            .map(|k| {
                let word = value(k as usize, words);
                let source = (word % 368) as u16;
                let to = (source + 1 + (word / 368 % 366) as u16) % 368;
                let place = |base| base + 4 * words * (k / 368);
                transfer(source, place(0x6_0000), words, &[(to, place(0x9_0000))])
            })
            .collect();
        let horizon = schedule(&transfers, &context)
            .expect("it fits")
            .report()
            .horizon
            .get();
        let (bound, estimate) = (endpoint_bound(&transfers).get(), estimate(&transfers).get());
        assert!(bound <= horizon && bound <= estimate);
        assert!(
            estimate.abs_diff(horizon) * 100 <= 15 * horizon,
            "{words}: {estimate} {horizon}"
        );
    }
}

#[test]
fn no_transfers_are_no_rows() {
    let (report, words) = round_trip(&[], &Topology::first_tiles(4));
    assert_eq!((report.horizon, words), (Cycles::ZERO, 0));
    assert_eq!(estimate(&[]), Cycles::ZERO);
}

#[test]
fn a_row_longer_than_its_reserve_is_refused() {
    let topology = Topology::first_tiles(4);
    let code = [MemoryRange {
        address: 0x5_0000,
        bytes: 8,
    }; 4];
    let context = ExchangeContext {
        topology: &topology,
        row_code: &code,
    };
    let schedule = schedule(&chain(), &context).expect("it can be scheduled");
    let error = encode(&schedule, &context).expect_err("eight bytes are too few");
    assert!(
        matches!(error, EncodeError::Reserve { reserved: 8, .. }),
        "{error}"
    );
}
