//! Exports read back by other means and compared with the samples that a query counts.

use std::collections::BTreeMap;

use crate::support::naive::{self, Placed};
use crate::support::strategy::profiles;
use crate::support::{self, ModelProfile, estimate, step};
use analytics::clock::ClockKind;
use analytics::export::{ExportError, ExportFormat, ExportOptions, TimeUnit, export};
use analytics::profile::{ProfileReport, SampleKind};
use analytics::query::Query;
use analytics::units::PhysicalTile;
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;
use serde_json::Value;

/// Tile, first cycle, one past the last.
type Span = (u32, u64, u64);

fn exported(report: &ProfileReport, format: ExportFormat, options: &ExportOptions) -> Vec<u8> {
    let mut bytes = Vec::new();
    let done = export(report, format, options, &mut bytes).expect("exports");
    assert!(
        done.samples <= done.selected && done.selected <= done.total,
        "{done:?}"
    );
    bytes
}

fn json(report: &ProfileReport, format: ExportFormat, options: &ExportOptions) -> Value {
    serde_json::from_slice(&exported(report, format, options)).expect("is JSON")
}

fn expected<'a>(profile: &'a ModelProfile, options: &ExportOptions) -> Vec<Placed<'a>> {
    let query = Query {
        clock: options.clock,
        ..Query::default()
    };
    let mut all = naive::matching(profile, &query);
    all.retain(|it| {
        let touches = |(from, to): (u64, u64)| it.start < to && it.end > from;
        (options.tiles.is_empty() || options.tiles.contains(&PhysicalTile::new(it.tile)))
            && options.range.is_none_or(touches)
    });
    all.sort_by_key(|it| (it.tile, it.ordinal));
    all
}

fn spans(placed: &[Placed<'_>]) -> Vec<Span> {
    let mut spans: Vec<Span> = placed
        .iter()
        .map(|it| (it.tile, it.start, it.end))
        .collect();
    spans.sort_unstable();
    spans
}

fn parquet_rows(bytes: Vec<u8>) -> Vec<RecordBatch> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes));
    let reader = builder.expect("is Parquet").build().expect("reads");
    reader.map(|batch| batch.expect("decodes")).collect()
}

fn arrow_rows(bytes: &[u8]) -> Vec<RecordBatch> {
    let reader = arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(bytes), None);
    reader
        .expect("is Arrow")
        .map(|batch| batch.expect("decodes"))
        .collect()
}

fn texts(batch: &RecordBatch, column: &str) -> Vec<String> {
    let column = batch.column_by_name(column).expect("is a column");
    let coded = column.as_dictionary::<UInt32Type>();
    let values = coded.values().as_string::<i32>();
    let key = |key: &u32| values.value(*key as usize).to_owned();
    coded.keys().values().iter().map(key).collect()
}

fn check_table(batches: &[RecordBatch], expected: &[Placed<'_>]) -> Result<(), TestCaseError> {
    let mut expected = expected.iter();
    for batch in batches {
        let (kernels, operations) = (texts(batch, "kernel"), texts(batch, "operation"));
        let column = |name: &str| batch.column_by_name(name).expect("is a column");
        let numbers = |name: &str| column(name).as_primitive::<UInt64Type>().values().to_vec();
        let (starts, cycles) = (numbers("start"), numbers("cycles"));
        let tiles = column("tile")
            .as_primitive::<UInt32Type>()
            .values()
            .to_vec();
        let useful = column("usefulCycles").as_primitive::<Float64Type>();
        let bases = column("workEstimateBasis").as_dictionary::<UInt32Type>();
        let metadata = column("metadata").as_map();
        for at in 0..batch.num_rows() {
            let it = expected.next().expect("no more rows than samples");
            prop_assert_eq!(
                (tiles[at], starts[at], cycles[at]),
                (it.tile, it.start, it.end - it.start)
            );
            prop_assert_eq!(
                (&kernels[at], &operations[at]),
                (&it.step.kernel, &it.step.operation)
            );
            let work = it.step.estimate.as_ref().filter(|_| !it.cut);
            let found = useful.iter().nth(at).expect("a row");
            prop_assert_eq!(found, work.map(|it| it.useful.as_cycles()));
            let named = bases.keys().iter().nth(at).expect("a row");
            let named = named.map(|key| bases.values().as_string::<i32>().value(key as usize));
            prop_assert_eq!(named, work.map(|it| it.basis.as_str()));
            let pairs = metadata.value(at);
            let text = |column: usize| pairs.column(column).as_string::<i32>();
            let pairs = text(0).iter().zip(text(1)).map(|(name, value)| {
                let known = |it: Option<&str>| it.expect("is no null").to_owned();
                (known(name), known(value))
            });
            prop_assert_eq!(pairs.collect::<Vec<_>>(), once(&it.step.metadata));
        }
    }
    prop_assert!(expected.next().is_none(), "every sample is a row");
    Ok(())
}

/// Pairs with the first value of each name.
fn once(pairs: &[(String, String)]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for pair in pairs {
        if !found.iter().any(|it| it.0 == pair.0) {
            found.push(pair.clone());
        }
    }
    found
}

fn check_csv(bytes: &[u8], expected: &[Placed<'_>]) -> Result<(), TestCaseError> {
    let mut reader = csv::Reader::from_reader(bytes);
    let header = reader.headers().expect("a header").clone();
    let at = |name| header.iter().position(|it| it == name).expect("a column");
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    prop_assert_eq!(rows.len(), expected.len());
    for (row, it) in rows.iter().zip(expected) {
        prop_assert_eq!(&row[at("tile")], it.tile.to_string());
        prop_assert_eq!(&row[at("start")], it.start.to_string());
        prop_assert_eq!(&row[at("cycles")], (it.end - it.start).to_string());
        prop_assert_eq!(&row[at("kernel")], &it.step.kernel);
        let work = it.step.estimate.as_ref().filter(|_| !it.cut);
        prop_assert_eq!(!row[at("usefulCycles")].is_empty(), work.is_some());
        let basis = work.map_or("", |it| it.basis.as_str());
        prop_assert_eq!(&row[at("workEstimateBasis")], basis);
        let metadata: BTreeMap<String, String> =
            serde_json::from_str(&row[at("metadata")]).expect("an object");
        let known: BTreeMap<_, _> = once(&it.step.metadata).into_iter().collect();
        prop_assert_eq!(metadata, known);
    }
    Ok(())
}

/// The tile in a lane's name.
fn tile_of(name: &str) -> u32 {
    let words: Vec<&str> = name.split(' ').collect();
    assert_eq!(words[0], "tile", "{name}");
    words[1].parse().expect("a number")
}

/// Opens and closes slices, and refuses what a viewer would.
#[derive(Default)]
struct Stack {
    open: Vec<u64>,
    at: u64,
}

impl Stack {
    fn open(&mut self, at: u64) {
        assert!(at >= self.at, "a slice opens at {at} after {}", self.at);
        self.at = at;
        self.open.push(at);
    }

    fn close(&mut self, at: u64) -> (u64, u64) {
        assert!(at >= self.at, "a slice closes at {at} after {}", self.at);
        self.at = at;
        (self.open.pop().expect("a slice is open"), at)
    }
}

fn chrome_spans(trace: &Value) -> Vec<Span> {
    let mut tiles = BTreeMap::new();
    let mut lanes: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    let mut found = Vec::new();
    for event in trace["traceEvents"].as_array().expect("events") {
        let tid = event["tid"].as_u64().expect("a thread");
        if event["name"] == "thread_name" {
            tiles.insert(
                tid,
                tile_of(event["args"]["name"].as_str().expect("a name")),
            );
        } else if event["ph"] == "X" {
            let start = event["ts"].as_u64().expect("whole");
            let end = start + event["dur"].as_u64().expect("whole");
            assert_eq!(event["args"]["cycles"].as_u64(), Some(end - start));
            for &(from, to) in lanes.entry(tid).or_default().iter() {
                let nests = to <= start || end <= from || (from <= start && end <= to);
                assert!(nests, "{start}..{end} crosses {from}..{to}");
            }
            lanes.entry(tid).or_default().push((start, end));
            found.push((tiles[&tid], start, end));
        }
    }
    found.sort_unstable();
    found
}

fn speedscope_spans(file: &Value) -> Vec<Span> {
    let frames = file["shared"]["frames"].as_array().expect("frames").len();
    let mut found = Vec::new();
    for profile in file["profiles"].as_array().expect("profiles") {
        assert_eq!(
            (&profile["type"], &profile["unit"]),
            (&"evented".into(), &"none".into())
        );
        let tile = tile_of(profile["name"].as_str().expect("a name"));
        let mut stack = Stack::default();
        let mut names = Vec::new();
        for event in profile["events"].as_array().expect("events") {
            let (at, frame) = (event["at"].as_u64().expect("whole"), &event["frame"]);
            assert!(frame.as_u64().expect("an index") < frames as u64);
            if event["type"] == "O" {
                stack.open(at);
                names.push(frame);
            } else {
                assert_eq!(names.pop(), Some(frame));
                let (start, end) = stack.close(at);
                found.push((tile, start, end));
            }
        }
        assert!(stack.open.is_empty());
        assert_eq!(profile["endValue"].as_u64(), Some(stack.at));
    }
    found.sort_unstable();
    found
}

fn firefox_spans(file: &Value) -> Vec<Span> {
    let mut found = Vec::new();
    for thread in file["threads"].as_array().expect("threads") {
        let tile = tile_of(thread["name"].as_str().expect("a name"));
        let data = thread["markers"]["data"].as_array().expect("data");
        for marker in data {
            // The format has floats alone; these hold whole numbers.
            let number = |key: &str| {
                let value = marker[key].as_f64().expect("a number");
                value.to_string().parse::<u64>().expect("whole")
            };
            found.push((tile, number("start"), number("start") + number("cycles")));
        }
        let length = thread["markers"]["length"].as_u64().expect("a length");
        assert_eq!(length, data.len() as u64);
    }
    found.sort_unstable();
    found
}

/// Protocol buffers by hand: the fields of one message.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, &[u8])> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        match key & 7 {
            0 => found.push((key >> 3, varint(&mut bytes), &[][..])),
            2 => {
                let length = usize::try_from(varint(&mut bytes)).expect("short");
                let (inner, rest) = bytes.split_at(length);
                found.push((key >> 3, 0, inner));
                bytes = rest;
            }
            other => panic!("wire type {other}"),
        }
    }
    found
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (first, rest) = bytes.split_first().expect("a varint ends");
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            break;
        }
    }
    value
}

fn perfetto_spans(bytes: &[u8]) -> Vec<Span> {
    let mut tiles = BTreeMap::new();
    let mut stacks: BTreeMap<u64, Stack> = BTreeMap::new();
    let mut found = Vec::new();
    for (_, _, packet) in fields(bytes) {
        let packet = fields(packet);
        let of = |number| packet.iter().find(|it| it.0 == number);
        assert_eq!(of(10).map(|it| it.1), Some(1), "the sequence");
        if let Some((_, _, track)) = of(60) {
            let track = fields(track);
            let text = |number| track.iter().find(|it| it.0 == number).map(|it| it.2);
            let name = std::str::from_utf8(text(2).expect("a name")).expect("UTF-8");
            if name.starts_with("tile ") {
                tiles.insert(track[0].1, tile_of(name));
            }
        }
        if let Some((_, _, event)) = of(11) {
            let at = of(8).expect("a time").1;
            let event = fields(event);
            let number = |number| event.iter().find(|it| it.0 == number).map(|it| it.1);
            let track = number(11).expect("a track");
            let stack = stacks.entry(track).or_default();
            match number(9) {
                Some(1) => stack.open(at),
                Some(2) => {
                    let (start, end) = stack.close(at);
                    found.push((tiles[&track], start, end));
                }
                other => panic!("event type {other:?}"),
            }
        }
    }
    assert!(stacks.values().all(|it| it.open.is_empty()));
    found.sort_unstable();
    found
}

fn check(profile: &ModelProfile, options: &ExportOptions) -> Result<(), TestCaseError> {
    let report = profile.report();
    let wanted = expected(profile, options);
    let bytes = |format| exported(&report, format, options);
    check_table(&parquet_rows(bytes(ExportFormat::Parquet)), &wanted)?;
    check_table(&arrow_rows(&bytes(ExportFormat::Arrow)), &wanted)?;
    check_csv(&bytes(ExportFormat::Csv), &wanted)?;
    let wanted = spans(&wanted);
    prop_assert_eq!(&perfetto_spans(&bytes(ExportFormat::Perfetto)), &wanted);
    let json = |format| json(&report, format, options);
    prop_assert_eq!(&chrome_spans(&json(ExportFormat::ChromeJson)), &wanted);
    prop_assert_eq!(&speedscope_spans(&json(ExportFormat::Speedscope)), &wanted);
    prop_assert_eq!(&firefox_spans(&json(ExportFormat::Firefox)), &wanted);
    Ok(())
}

fn small() -> ModelProfile {
    let mut gemm = step(SampleKind::Compute, "gemm", 1, 0);
    gemm.estimate = estimate(40, 50);
    let steps = vec![gemm, step(SampleKind::Synchronization, "", 2, 0)];
    support::profile(steps, &[(7, 0, 0, 100), (7, 1, 100, 130), (9, 0, 0, 90)])
}

#[test]
fn real_time_is_nanoseconds_rounded_down() {
    let options = ExportOptions {
        time: TimeUnit::Clock,
        ..ExportOptions::default()
    };
    // 100 and 130 cycles at 1.5 GHz are 66.7 and 86.7 ns.
    let spans = perfetto_spans(&exported(
        &small().report(),
        ExportFormat::Perfetto,
        &options,
    ));
    assert_eq!(spans, [(7, 0, 66), (7, 66, 86), (9, 0, 60)]);
    let mut unknown = small();
    unknown.clock_hz = 0;
    let refused = export(
        &unknown.report(),
        ExportFormat::Perfetto,
        &options,
        &mut Vec::new(),
    );
    assert!(
        matches!(refused, Err(ExportError::ClockUnknown)),
        "{refused:?}"
    );
}

#[test]
fn outputs_that_no_tool_survives_are_refused_before_a_byte_is_written() {
    let options = ExportOptions {
        max_bytes: Some(100),
        ..ExportOptions::default()
    };
    let mut bytes = Vec::new();
    let refused = export(
        &small().report(),
        ExportFormat::ChromeJson,
        &options,
        &mut bytes,
    );
    assert!(
        matches!(refused, Err(ExportError::TooLarge { samples: 3, .. })),
        "{refused:?}"
    );
    assert!(bytes.is_empty());
    let tile = PhysicalTile::new(8);
    let options = ExportOptions {
        tiles: vec![tile],
        ..ExportOptions::default()
    };
    let refused = export(&small().report(), ExportFormat::Csv, &options, &mut bytes);
    assert!(
        matches!(refused, Err(ExportError::NoSuchTile(it)) if it == tile),
        "{refused:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn every_format_has_the_samples_that_a_query_counts(
        profile in profiles(),
        clock in proptest::sample::select(ClockKind::ALL.to_vec()),
        range in proptest::option::of((0u64..100_000, 1u64..100_000)),
        first_only in any::<bool>(),
    ) {
        let first = PhysicalTile::new(profile.tiles[0].physical);
        let options = ExportOptions {
            tiles: if first_only { vec![first] } else { Vec::new() },
            range: range.map(|(from, length)| (from, from + length)),
            clock,
            ..ExportOptions::default()
        };
        check(&profile, &options)?;
    }
}
