//! Vendor rows, stand-alone rows, base switches and superstep overheads.

use analytics::units::TileId;

use super::{Bound, Row, cycles};
use crate::exchange::{ExchangeOutcome, PhaseContext, TimedRow, decode_row, resolve};
use crate::machine::arch::{PATCH_CYCLES, TILES};
use crate::machine::isa::ControlKind;
use crate::machine::memory::TileMemory;
use crate::machine::topology::Topology;
use crate::sim::TimingParameters;
use crate::sim::superstep::superstep;

const VENDOR: &str = "row words of the vendor SDK, whose data passed on hardware";
const STAND_ALONE: &str = "published row words of a stand-alone builder, run on a C600";
const OVERHEAD: &str = "published C600 sample: latest exit - latest arrival - horizon";
const PATCHED: &str = "published C600 sample: the same with 87 row words patched, at most";
const CONTROL: &str = "published C600 measurement";
const DRAIN: &str = "published C600 measurement; what drains between the sections is not modelled";

/// Where a row is decoded from.
const AT: u32 = 0x5_8000;
/// Where the stand-alone rows send from, by their outgoing base.
const SOURCE: u32 = 0x6_0000;

/// The words of the rows of some logical tiles.
pub(crate) type Meeting = &'static [(u16, &'static [u32])];

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
/// Row words patched before one more phase, and the most that its overhead was.
const PATCHES: (u64, u64) = (87, 2786);

/// SETZI m0, 0, then both bases from m0.
const SETZI: u32 = 0x1900_0000;
const PUT_INCOMING: u32 = 0x4300_80A4;
const PUT_OUTGOING: u32 = 0x4300_80A7;
const RETURN: u32 = 0x43A0_0000;

/// 52 words from tile 4, then as soon as the bases are switched 52 from tile 6, to tile 2.
const JOIN: Meeting = &[
    (
        2,
        &[
            0x6400_4080,
            0x640C_C640,
            0x600A_4000,
            0x6406_40C0,
            0x40A0_0019,
            SETZI,
            PUT_INCOMING,
            PUT_OUTGOING,
            0x6002_4100,
            0x6400_0640,
            0x40A0_0037,
            RETURN,
        ],
    ),
    (4, &[0x40A0_001B, 0x7E6C_0001, RETURN]),
    (6, &[0x40A0_0069, 0x7E6C_0001, RETURN]),
];

/// A row that does not decode or resolve reports this, which no published figure is.
pub(super) const REFUSED: u64 = 0;

pub(super) fn decoded(words: &[u32], incoming: u32, outgoing: u32) -> Option<TimedRow> {
    let mut memory = TileMemory::new();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    memory.write(AT, &bytes).ok()?;
    decode_row(TileId::new(0), &memory, AT, incoming, outgoing).ok()
}

/// What the rows of some tiles do when they meet on the fabric, if the machine accepts them.
pub(super) fn outcome(rows: &[(u16, TimedRow)]) -> Option<ExchangeOutcome> {
    let topology = Topology::first_tiles(TILES);
    let mut all = vec![None; usize::from(TILES)];
    for (tile, row) in rows {
        all[usize::from(*tile)] = Some(row.clone());
    }
    resolve(PhaseContext::default(), &all, &topology).ok()
}

/// Ends of the rows of some tiles after they met on the fabric.
fn ends(rows: Vec<(u16, Option<TimedRow>)>, of: &[u16]) -> Vec<u64> {
    let rows: Option<Vec<_>> = rows
        .into_iter()
        .map(|(tile, row)| Some((tile, row?)))
        .collect();
    let Some(outcome) = rows.and_then(|rows| outcome(&rows)) else {
        return vec![REFUSED; of.len()];
    };
    of.iter()
        .map(|&tile| u64::from(outcome.horizons[usize::from(tile)]))
        .collect()
}

pub(super) fn events(name: String, both: (u64, u64), provenance: &'static str) -> Row {
    cycles("exchange-rows", name, both, Bound::Exact, provenance).in_unit("events")
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = vendor_rows();
    for &(source, destination, items, sender, receiver, published) in POINT_TO_POINT {
        let topology = Topology::first_tiles(TILES);
        let mut receiver = receiver.to_vec();
        receiver[1] |= topology.physical(TileId::new(source)).get();
        let meeting = vec![
            (source, decoded(sender, 0, SOURCE)),
            (destination, decoded(&receiver, 0x9_0000, SOURCE)),
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
        (0, decoded(sender, 0, SOURCE)),
        (274, decoded(receiver, 0, SOURCE)),
        (1286, decoded(receiver, 0, SOURCE)),
    ];
    for (end, tile) in ends(meeting, &[274, 1286]).into_iter().zip([274, 1286]) {
        let name = format!("0 to 274 and 1286, 3 items, end of {tile}");
        rows.push(events(name, (end, published), STAND_ALONE));
    }
    rows.extend(super::sequences::rows());
    rows.extend(base_switches());
    rows.extend(overheads());
    rows
}

fn vendor_rows() -> Vec<Row> {
    let row = decoded(FOUR_MESSAGES, 0, SOURCE);
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
    rows
}

/// What switching bases inside a row takes: events of the decoded rows, and from the end of one
/// landing to the first word of the next one.
fn base_switches() -> [Row; 3] {
    let put = decoded(&[SETZI, PUT_INCOMING, RETURN], 0, 0);
    let put = put.and_then(|row| row.base_switches.first().map(|it| it.end - it.event));
    let both = decoded(&[SETZI, PUT_INCOMING, PUT_OUTGOING, RETURN], 0, 0);
    let rows = JOIN
        .iter()
        .map(|&(tile, words)| Some((tile, decoded(words, 0, 0)?)));
    let joined = rows.collect::<Option<Vec<_>>>();
    let joined = joined.and_then(|rows| match outcome(&rows)?.landings[2][..] {
        [first, next] => Some(next.event - first.end()),
        _ => None,
    });
    let row = |name: &str, found: Option<u32>, published, bound, provenance| {
        let both = (found.map_or(REFUSED, u64::from), published);
        cycles("base-switch", name.to_owned(), both, bound, provenance).in_unit("events")
    };
    let switch = both.map(|row| row.horizon);
    [
        row("write of a base register", put, 13, Bound::Exact, CONTROL),
        row("switch of both bases", switch, 27, Bound::Exact, CONTROL),
        row(
            "join of two base sections",
            joined,
            46,
            Bound::Unclaimed,
            DRAIN,
        ),
    ]
}

fn overheads() -> Vec<Row> {
    let simulated = overhead(0);
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
    let (patches, published) = PATCHES;
    rows.push(cycles(
        "superstep",
        format!("superstep overhead, {patches} patched words"),
        (overhead(patches), published),
        Bound::Percent(5.0),
        PATCHED,
    ));
    rows
}

/// From where a lone tile would have arrived, had it no words to patch, to its exit, less its row.
fn overhead(patches: u64) -> u64 {
    const HORIZON: u32 = 1000;
    let arrival = patches * PATCH_CYCLES.get();
    let step = superstep(&[arrival], [HORIZON], &TimingParameters::default());
    step.exits[0] - u64::from(HORIZON)
}
