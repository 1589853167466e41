//! Vendor rows, stand-alone rows and superstep overheads.

use analytics::units::TileId;

use super::{Bound, Row, cycles};
use crate::exchange::{PhaseContext, TimedRow, decode_row, resolve};
use crate::machine::arch::{BARRIER_RELEASE, EXCHANGE_EXIT, TILES};
use crate::machine::isa::{ControlKind, PUT_BASE_EVENTS};
use crate::machine::memory::TileMemory;
use crate::machine::topology::Topology;

const VENDOR: &str = "row words of the vendor SDK, whose data passed on hardware";
const STAND_ALONE: &str = "published row words of a stand-alone builder, run on a C600";
const DECODED: &str = "decoded events of a vendor SDK program, whose data passed on hardware";
const OVERHEAD: &str = "published C600 sample: latest exit - latest arrival - horizon";
const CONTROL: &str = "published C600 measurement";

/// Where a row is decoded from.
const AT: u32 = 0x5_8000;
/// Words of the vendor's row that receives four messages of 52 words.
pub(crate) const FOUR_MESSAGES: &[u32] = &[
    0x6400_0082,
    0x40A0_0032,
    0xF660_0000,
    0x0301_4048,
    0xF660_0000,
    0x0309_5000,
    0xF660_0000,
    0x0401_6000,
    0xF720_0000,
    0x1901_7000,
    0x43A0_0000,
];
/// Events of its pointer writes.
const FOUR_POINTERS: [u64; 4] = [53, 105, 157, 209];

/// Logical source and destination, items, the sender's words, the receiver's words without the
/// source id, ends of both.
pub(crate) type PointToPoint = (u16, u16, u32, &'static [u32], &'static [u32], [u64; 2]);

pub(crate) const POINT_TO_POINT: &[PointToPoint] = &[
    (
        0,
        1286,
        3,
        &[0x4180_0003, 0x40A0_0086, 0x7840_0001, 0x43A0_0000],
        &[
            0x4180_0003,
            0x641C_0000,
            0x6400_8640,
            0x6180_0000,
            0x40A0_0007,
            0x43A0_0000,
        ],
        [138, 173],
    ),
    (
        736,
        100,
        52,
        &[0x4180_0003, 0x40A0_003E, 0x7E60_0002, 0x43A0_0000],
        &[
            0x4180_0003,
            0x641C_0000,
            0x61D8_0000,
            0x6400_0640,
            0x40A0_0038,
            0x43A0_0000,
        ],
        [115, 231],
    ),
    (
        1286,
        1471,
        65,
        &[
            0x4180_0003,
            0x40A0_007D,
            0x7FE0_0002,
            0x7000_0002,
            0x43A0_0000,
        ],
        &[
            0x4180_0003,
            0x641C_0000,
            0x6198_0000,
            0x6403_0640,
            0x40A0_0038,
            0x43A0_0000,
        ],
        [191, 235],
    ),
    (
        32,
        0,
        4148,
        &[
            0x4180_0003,
            0x40A0_006C,
            0x7FE0_0001,
            0x766F_C001,
            0x43A0_0000,
        ],
        &[
            0x4180_0003,
            0x641C_0000,
            0x6198_0000,
            0x67FF_C640,
            0x40A0_0038,
            0x43A0_0000,
        ],
        [4257, 4318],
    ),
];

/// Sender and receiver of the published multicast 0 → {274, 1286}, and the receivers' end.
pub(crate) const MULTICAST: (&[u32], &[u32], u64) = (
    &[0x4180_0003, 0x40A0_0016, 0x7840_0003, 0x43A0_0000],
    &[
        0x4180_0003,
        0x6400_0000,
        0x6400_8640,
        0x6181_4000,
        0x40A0_0007,
        0x43A0_0000,
    ],
    61,
);

/// (latest exit − latest arrival) − horizon of eleven measured phases.
const OVERHEADS: [u64; 11] = [237, 237, 238, 229, 248, 267, 273, 275, 278, 294, 295];

/// A row that does not decode or resolve reports this, which no published figure is.
const REFUSED: u64 = 0;

fn decoded(words: &[u32], incoming: u32) -> Option<TimedRow> {
    let mut memory = TileMemory::new();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    memory.write(AT, &bytes).ok()?;
    decode_row(TileId::new(0), &memory, AT, incoming, 0x6_0000).ok()
}

/// Ends of the rows of some tiles after they met on the fabric.
fn ends(rows: Vec<(u16, Option<TimedRow>)>, of: &[u16]) -> Vec<u64> {
    let topology = Topology::first_tiles(TILES);
    let mut all = vec![None; usize::from(TILES)];
    for (tile, row) in rows {
        all[usize::from(tile)] = row;
    }
    let Ok(outcome) = resolve(PhaseContext::default(), &all, &topology) else {
        return vec![REFUSED; of.len()];
    };
    of.iter()
        .map(|&tile| u64::from(outcome.horizons[usize::from(tile)]))
        .collect()
}

fn events(name: String, both: (u64, u64), provenance: &'static str) -> Row {
    cycles("exchange-rows", name, both, Bound::Exact, provenance).in_unit("events")
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = vendor_rows();
    for &(source, destination, items, sender, receiver, published) in POINT_TO_POINT {
        let topology = Topology::first_tiles(TILES);
        let mut receiver = receiver.to_vec();
        receiver[1] |= topology.physical(TileId::new(source)).get();
        let meeting = vec![
            (source, decoded(sender, 0)),
            (destination, decoded(&receiver, 0x9_0000)),
        ];
        let ends = ends(meeting, &[source, destination]);
        for (end, published, side) in [
            (ends[0], published[0], "sender"),
            (ends[1], published[1], "receiver"),
        ] {
            let name = format!("{source} to {destination}, {items} items, {side} end");
            rows.push(events(name, (end, published), STAND_ALONE));
        }
    }
    let (sender, receiver, published) = MULTICAST;
    let meeting = vec![
        (0, decoded(sender, 0)),
        (274, decoded(receiver, 0)),
        (1286, decoded(receiver, 0)),
    ];
    for (end, tile) in ends(meeting, &[274, 1286]).into_iter().zip([274, 1286]) {
        let name = format!("0 to 274 and 1286, 3 items, end of {tile}");
        rows.push(events(name, (end, published), STAND_ALONE));
    }
    rows.extend(overheads());
    rows
}

fn vendor_rows() -> Vec<Row> {
    let row = decoded(FOUR_MESSAGES, 0);
    let horizon = row.as_ref().map_or(REFUSED, |row| u64::from(row.horizon));
    let mut rows = vec![events(
        "four messages of 52, end".to_owned(),
        (horizon, 266),
        VENDOR,
    )];
    let controls = row.map(|row| row.controls).unwrap_or_default();
    let pointers: Vec<u64> = controls
        .iter()
        .filter(|control| control.write.kind == ControlKind::Pointer)
        .map(|control| u64::from(control.event))
        .collect();
    for (at, published) in FOUR_POINTERS.into_iter().enumerate() {
        let simulated = pointers.get(at).copied().unwrap_or(REFUSED);
        let name = format!("four messages of 52, pointer {at}");
        rows.push(events(name, (simulated, published), VENDOR));
    }
    // Source selects at 2, 54, 106, 158 and pointers at 56, 108, 160, 212 of logical tile 2; paired
    // ones at 1, 177, 353, 529 and 56, 232, 408, 584.
    let delay = u64::from(Topology::first_tiles(TILES).landing_delay(TileId::new(2)));
    for select in [2, 54, 106, 158] {
        let name = format!("logical tile 2, ordinary pointer of the select at {select}");
        rows.push(events(name, (select + delay, select + 54), DECODED));
    }
    for select in [1, 177, 353, 529] {
        let name = format!("logical tile 2, paired pointer of the select at {select}");
        rows.push(events(name, (select + delay + 1, select + 55), DECODED));
    }
    rows
}

fn overheads() -> Vec<Row> {
    let simulated = (BARRIER_RELEASE + EXCHANGE_EXIT).get();
    let sample = |(at, published): (usize, u64)| {
        let bound = Bound::Percent(15.0);
        let name = format!("superstep overhead, sample {at}");
        cycles("superstep", name, (simulated, published), bound, OVERHEAD)
    };
    let mut rows: Vec<Row> = OVERHEADS.into_iter().enumerate().map(sample).collect();
    let mean = OVERHEADS.iter().sum::<u64>() / OVERHEADS.len() as u64;
    let name = "superstep overhead, mean of the samples".to_owned();
    rows.push(cycles(
        "superstep",
        name,
        (simulated, mean),
        Bound::Exact,
        OVERHEAD,
    ));
    let put = u64::from(PUT_BASE_EVENTS);
    for (name, both) in [
        ("write of a base register in a row", (put, 13)),
        ("switch of both bases in a row", (2 * put + 1, 27)),
    ] {
        rows.push(events(name.to_owned(), both, CONTROL));
    }
    rows
}
