//! A Perfetto trace: one track a tile in the order of physical ids, one slice a sample.
//!
//! Protocol buffers written from the field numbers of the published `.proto` files. Perfetto knows
//! nanoseconds only: in cycles, 1 ns is 1 cycle, and the name of the process says so.

use std::io::Write;

use prost::Message;

use super::ExportError;
use super::lanes::{Edge, edges, lane_name, lanes};
use super::select::{Selected, Slice};
use crate::profile::StepRow;

/// Every packet is of one sequence, which interned names belong to.
const SEQUENCE: u32 = 1;
/// The first packet of the sequence: names interned before are forgotten.
const CLEARED: u32 = 1;
/// A packet that uses interned names.
const NEEDS_NAMES: u32 = 2;
const SLICE_BEGIN: i32 = 1;
const SLICE_END: i32 = 2;
/// Children of a track are ordered by their ranks.
const EXPLICIT_ORDER: i32 = 3;
/// The track of the device, parent of the tiles.
const DEVICE: u64 = 1;

/// Interned names of the annotations.
const ANNOTATIONS: [&str; 4] = ["startCycle", "cycles", "phase", "epoch"];

#[derive(Clone, PartialEq, Message)]
struct Trace {
    #[prost(message, repeated, tag = "1")]
    packet: Vec<Packet>,
}

#[derive(Clone, PartialEq, Message)]
struct Packet {
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, tag = "10")]
    trusted_packet_sequence_id: u32,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    interned_data: Option<InternedData>,
    #[prost(uint32, optional, tag = "13")]
    sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackDescriptor {
    #[prost(uint64, tag = "1")]
    uuid: u64,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(message, optional, tag = "3")]
    process: Option<ProcessDescriptor>,
    #[prost(uint64, optional, tag = "5")]
    parent_uuid: Option<u64>,
    #[prost(int32, optional, tag = "11")]
    child_ordering: Option<i32>,
    #[prost(int32, optional, tag = "12")]
    sibling_order_rank: Option<i32>,
}

#[derive(Clone, PartialEq, Message)]
struct ProcessDescriptor {
    #[prost(int32, tag = "1")]
    pid: i32,
    #[prost(string, tag = "6")]
    process_name: String,
}

#[derive(Clone, PartialEq, Message)]
struct TrackEvent {
    #[prost(uint64, repeated, packed = "false", tag = "3")]
    category_iids: Vec<u64>,
    #[prost(message, repeated, tag = "4")]
    debug_annotations: Vec<DebugAnnotation>,
    #[prost(int32, tag = "9")]
    r#type: i32,
    #[prost(uint64, optional, tag = "10")]
    name_iid: Option<u64>,
    #[prost(uint64, tag = "11")]
    track_uuid: u64,
}

#[derive(Clone, PartialEq, Message)]
struct DebugAnnotation {
    #[prost(uint64, tag = "1")]
    name_iid: u64,
    #[prost(uint64, optional, tag = "3")]
    uint_value: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
struct InternedData {
    #[prost(message, repeated, tag = "1")]
    event_categories: Vec<Interned>,
    #[prost(message, repeated, tag = "2")]
    event_names: Vec<Interned>,
    #[prost(message, repeated, tag = "3")]
    debug_annotation_names: Vec<Interned>,
}

#[derive(Clone, PartialEq, Message)]
struct Interned {
    #[prost(uint64, tag = "1")]
    iid: u64,
    #[prost(string, tag = "2")]
    name: String,
}

fn packet() -> Packet {
    Packet {
        trusted_packet_sequence_id: SEQUENCE,
        ..Packet::default()
    }
}

/// Numbers texts from 1.
fn interned(texts: impl IntoIterator<Item = String>) -> Vec<Interned> {
    let numbered = (1..).zip(texts);
    numbered.map(|(iid, name)| Interned { iid, name }).collect()
}

pub(super) fn write(
    selected: &Selected<'_>,
    out: &mut (dyn Write + Send),
) -> Result<(), ExportError> {
    let names = Names::new(selected);
    let mut packets = vec![device(selected), names.packet()];
    flush(&mut packets, out)?;
    let mut uuid = DEVICE;
    let mut rank = 0;
    selected.for_each_tile(|tile, slices| {
        let physical = selected.report.tiles()[tile as usize].tile.get();
        let lane_of = lanes(slices);
        let count = lane_of.iter().max().map_or(0, |last| last + 1);
        for lane in 0..count {
            uuid += 1;
            rank += 1;
            packets.push(track(uuid, rank, lane_name(physical, lane)));
            let own = slices.iter().zip(&lane_of).filter(|it| *it.1 == lane);
            edges(own.map(|it| it.0), &mut |edge, slice| {
                packets.push(event(selected, &names, edge, slice, uuid));
            });
        }
        flush(&mut packets, out)
    })?;
    flush(&mut packets, out)
}

/// Traces concatenate: each piece is a trace of its own.
fn flush(packets: &mut Vec<Packet>, out: &mut (dyn Write + Send)) -> Result<(), ExportError> {
    let trace = Trace {
        packet: std::mem::take(packets),
    };
    out.write_all(&trace.encode_to_vec())?;
    Ok(())
}

fn device(selected: &Selected<'_>) -> Packet {
    let name = format!("tiles: {}", selected.unit_note("ns"));
    Packet {
        track_descriptor: Some(TrackDescriptor {
            uuid: DEVICE,
            name: name.clone(),
            process: Some(ProcessDescriptor {
                pid: 1,
                process_name: name,
            }),
            child_ordering: Some(EXPLICIT_ORDER),
            ..TrackDescriptor::default()
        }),
        ..packet()
    }
}

fn track(uuid: u64, rank: i32, name: String) -> Packet {
    Packet {
        track_descriptor: Some(TrackDescriptor {
            uuid,
            name,
            parent_uuid: Some(DEVICE),
            sibling_order_rank: Some(rank),
            ..TrackDescriptor::default()
        }),
        ..packet()
    }
}

/// Interned names, by step.
struct Names {
    texts: Vec<String>,
    of_step: Vec<u64>,
}

impl Names {
    fn new(selected: &Selected<'_>) -> Self {
        let mut known = std::collections::BTreeMap::new();
        let mut texts = Vec::new();
        let mut number = |step: &StepRow| {
            let name = selected.name(step);
            *known.entry(name.clone()).or_insert_with(|| {
                texts.push(name);
                texts.len() as u64
            })
        };
        let of_step = selected.report.steps().iter().map(&mut number).collect();
        Self { texts, of_step }
    }

    fn packet(&self) -> Packet {
        let kinds = super::table::KINDS.map(str::to_owned);
        Packet {
            interned_data: Some(InternedData {
                event_categories: interned(kinds),
                event_names: interned(self.texts.iter().cloned()),
                debug_annotation_names: interned(ANNOTATIONS.map(str::to_owned)),
            }),
            sequence_flags: Some(CLEARED | NEEDS_NAMES),
            ..packet()
        }
    }
}

fn event(
    selected: &Selected<'_>,
    names: &Names,
    edge: Edge,
    slice: &Slice,
    track_uuid: u64,
) -> Packet {
    let (instant, event) = match edge {
        Edge::Open => (slice.start, begin(selected, names, slice, track_uuid)),
        Edge::Close => {
            let end = TrackEvent {
                r#type: SLICE_END,
                track_uuid,
                ..TrackEvent::default()
            };
            (slice.end, end)
        }
    };
    Packet {
        timestamp: Some(selected.instant(instant)),
        track_event: Some(event),
        sequence_flags: Some(NEEDS_NAMES),
        ..packet()
    }
}

fn begin(selected: &Selected<'_>, names: &Names, slice: &Slice, track_uuid: u64) -> TrackEvent {
    let step = selected.step(slice);
    let annotation = |(name_iid, value): (u64, u64)| DebugAnnotation {
        name_iid,
        uint_value: Some(value),
    };
    // In cycles the first two are the slice's own start and length.
    let cycles = [(1, slice.start), (2, slice.cycles())];
    let place = [(3, step.place.phase.into()), (4, step.place.epoch.into())];
    let cycles = cycles.into_iter().filter(|_| selected.is_real_time());
    TrackEvent {
        category_iids: vec![u64::from(super::table::kind_key(step.kind)) + 1],
        debug_annotations: cycles.chain(place).map(annotation).collect(),
        r#type: SLICE_BEGIN,
        name_iid: Some(names.of_step[slice.step as usize]),
        track_uuid,
    }
}
