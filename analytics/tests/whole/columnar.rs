//! Columnar files: what was recorded is what is read, whatever the order, the mode or the damage.

#![expect(clippy::cast_possible_truncation, reason = "inputs are small")]

use std::collections::BTreeMap;

use analytics::format::{
    ByteRange, DecodeError, FileKind, OpenMode, OpenStep, Opener, ProfileWriter, StreamCheck,
    open_slice, sniff,
};
use analytics::profile::{
    ActivityKind, ChunkScratch, Condition, Ending, ExchangeActivity, Granularity, ProfileHeader,
    ProfileReport, SampleKind, StepDescriptor, WorkEstimate,
};
use analytics::synth::{SynthOptions, generate_bytes};
use analytics::units::{PhysicalTile, RawCounter, StepId, Work};
use proptest::prelude::*;

/// A recording, told plainly: tiles in the order they were begun, absolute cycles.
#[derive(Clone, Debug)]
struct Model {
    steps: Vec<StepDescriptor>,
    tiles: Vec<(u32, Vec<Sample>)>,
    /// Counter at cycle 0.
    counter: u32,
}

#[derive(Clone, Debug)]
struct Sample {
    start: u64,
    duration: u32,
    step: usize,
    activities: Vec<ExchangeActivity>,
}

fn header() -> ProfileHeader {
    ProfileHeader {
        row_schema_version: 0,
        clock_hz: 1_500_000_000,
        granularity: Granularity::Step,
        target: "ipu21".to_owned(),
        simulated: Some(true),
        seed: Some(u64::MAX),
        provenance: vec![
            ("plan".to_owned(), "4x2".to_owned()),
            ("plan".to_owned(), String::new()),
        ],
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "hardware counters keep the low bits"
)]
fn write(model: &Model, interleaved: bool) -> Vec<u8> {
    let mut writer = ProfileWriter::new(&header());
    let steps: Vec<StepId> = model.steps.iter().map(|step| writer.step(step)).collect();
    let mut calls: Vec<(usize, u32, &Sample)> = Vec::new();
    for (tile, samples) in &model.tiles {
        writer.begin_tile(PhysicalTile::new(*tile));
        calls.extend(
            samples
                .iter()
                .enumerate()
                .map(|(at, sample)| (at, *tile, sample)),
        );
    }
    if interleaved {
        calls.sort_by_key(|&(at, _, _)| at);
    }
    for (_, tile, sample) in calls {
        let start = RawCounter::new(model.counter.wrapping_add(sample.start as u32));
        let end = RawCounter::new(start.get().wrapping_add(sample.duration));
        let step = steps[sample.step];
        writer.sample(
            PhysicalTile::new(tile),
            start,
            end,
            step,
            &sample.activities,
        );
    }
    writer.finish().unwrap()
}

/// All samples of a report by physical tile: start on the shared clock, duration, step.
fn read(report: &ProfileReport) -> BTreeMap<u32, Vec<(u64, u32, u32)>> {
    let mut tiles: BTreeMap<u32, Vec<_>> = report
        .tiles()
        .iter()
        .map(|tile| (tile.tile.get(), Vec::new()))
        .collect();
    let mut scratch = ChunkScratch::new();
    for (index, entry) in report.chunks().iter().enumerate() {
        report.decode_chunk(index, &mut scratch).unwrap();
        assert_eq!(scratch.start.len() as u64, entry.sample_count);
        for span in &scratch.spans {
            assert!(entry.tiles.contains(&span.tile));
            let samples = tiles
                .get_mut(&report.tiles()[span.tile as usize].tile.get())
                .unwrap();
            assert_eq!(
                samples.len() as u64,
                span.first_ordinal,
                "spans of a tile follow each other"
            );
            for at in span.samples.start as usize..span.samples.end as usize {
                let (start, duration) = (scratch.start[at], scratch.duration[at]);
                assert!(entry.cycles.start <= start);
                assert!(start + u64::from(duration) <= entry.cycles.end);
                samples.push((start, duration, scratch.step[at]));
            }
        }
    }
    tiles
}

fn check(model: &Model, bytes: &[u8]) {
    let report = open_slice(bytes).unwrap();
    assert_eq!(report.condition(), Condition::Complete);
    check_report(model, &report);
    assert_eq!(report.header(), &header());
    let listed: Vec<u32> = report
        .tiles_in_file_order()
        .iter()
        .map(|&at| report.tiles()[at as usize].tile.get())
        .collect();
    assert_eq!(
        listed,
        model.tiles.iter().map(|tile| tile.0).collect::<Vec<_>>()
    );
}

fn check_report(model: &Model, report: &ProfileReport) {
    let firsts = model
        .tiles
        .iter()
        .filter_map(|(_, samples)| samples.first());
    let origin = firsts.map(|sample| sample.start).min().unwrap_or(0);
    let found = read(report);
    assert_eq!(found.len(), model.tiles.len());
    for (tile, samples) in &model.tiles {
        let plain: Vec<_> = samples
            .iter()
            .map(|sample| (sample.start - origin, sample.duration))
            .collect();
        let got = &found[tile];
        assert_eq!(
            got.iter()
                .map(|&(at, cycles, _)| (at, cycles))
                .collect::<Vec<_>>(),
            plain
        );
        let index = report.tile_index(PhysicalTile::new(*tile)).unwrap();
        for ((ordinal, sample), &(_, _, step)) in (0..).zip(samples).zip(got) {
            check_step(&model.steps[sample.step], report, StepId::new(step));
            assert_eq!(
                report.activities(index, ordinal).unwrap(),
                sample.activities
            );
        }
    }
}

fn check_step(expected: &StepDescriptor, report: &ProfileReport, id: StepId) {
    let view = report.step(id);
    assert_eq!(view.row.recorded_kind, expected.kind);
    assert_eq!(
        (view.kernel, view.operation),
        (&*expected.kernel, &*expected.operation)
    );
    assert_eq!(
        (view.row.place.phase, view.row.place.epoch),
        (expected.phase, expected.epoch)
    );
    assert_eq!(view.row.event_cycles, expected.exchange_event_cycles);
    let pairs = expected
        .metadata
        .iter()
        .map(|(name, value)| (&**name, &**value));
    assert!(report.metadata(view.row.metadata).eq(pairs));
    let estimate = view.row.estimate.map(|it| WorkEstimate {
        useful: it.useful,
        physical: it.physical,
        basis: view.basis.to_owned(),
    });
    assert_eq!(estimate, expected.estimate);
}

fn descriptors() -> impl Strategy<Value = StepDescriptor> {
    let name = prop_oneof![Just(String::new()), "[a-zé]{1,12}"];
    let metadata = prop::collection::vec(
        (
            prop_oneof![Just("active".to_owned()), name.clone()],
            "(false|true|[0-9]{1,3})",
        ),
        0..3,
    );
    let estimate = prop::option::of((any::<u32>(), any::<u32>(), name.clone()));
    (
        0u16..6,
        any::<u32>(),
        0u32..4,
        name.clone(),
        name,
        any::<u32>(),
        metadata,
        estimate,
    )
        .prop_map(
            |(kind, phase, epoch, operation, kernel, exchange_event_cycles, metadata, estimate)| {
                StepDescriptor {
                    kind: SampleKind::from_wire(kind),
                    phase,
                    epoch,
                    operation,
                    kernel,
                    exchange_event_cycles,
                    metadata,
                    estimate: estimate.map(|(useful, physical, basis)| WorkEstimate {
                        useful: Work::from_256ths(useful.into()),
                        physical: Work::from_256ths(physical.into()),
                        basis,
                    }),
                }
            },
        )
}

fn activities() -> impl Strategy<Value = Vec<ExchangeActivity>> {
    let one = (
        0u16..5,
        any::<u32>(),
        any::<u32>(),
        any::<u16>(),
        any::<bool>(),
    )
        .prop_map(|(kind, start, end, fanout, paired)| ExchangeActivity {
            kind: ActivityKind::from_wire(kind),
            start,
            end,
            fanout,
            paired,
        });
    prop_oneof![5 => Just(Vec::new()), 1 => prop::collection::vec(one, 1..5)]
}

fn models() -> impl Strategy<Value = Model> {
    let sample = (
        prop_oneof![6 => Just(0u32), 1 => 1u32..300, 1 => 0..1u32 << 31],
        prop_oneof![1 => Just(0u32), 6 => 1u32..9_000, 1 => any::<u32>()],
        any::<prop::sample::Index>(),
        activities(),
    );
    let tile = (0u64..5_000, prop::collection::vec(sample, 0..60));
    let tiles = prop::collection::btree_map(prop_oneof![0u32..200, 1_000u32..1_472], tile, 1..20);
    (
        prop::collection::vec(descriptors(), 1..9),
        tiles,
        any::<u32>(),
    )
        .prop_map(|(steps, tiles, counter)| {
            let build = |(first, samples): (u64, Vec<(u32, u32, prop::sample::Index, _)>)| {
                let mut at = first;
                let place =
                    |(gap, duration, step, activities): (u32, u32, prop::sample::Index, _)| {
                        let start = at + u64::from(gap);
                        at = start + u64::from(duration);
                        Sample {
                            start,
                            duration,
                            step: step.index(steps.len()),
                            activities,
                        }
                    };
                samples.into_iter().map(place).collect::<Vec<_>>()
            };
            // A first sample's gap is part of where the tile starts: keep the tiles within a wrap.
            let tiles: Vec<_> = tiles
                .into_iter()
                .map(|(id, (first, mut samples))| {
                    if let Some(sample) = samples.first_mut() {
                        sample.0 = 0;
                    }
                    (id, build((first, samples)))
                })
                .collect();
            Model {
                steps,
                tiles,
                counter,
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_was_recorded_is_what_is_read(model in models(), interleaved in any::<bool>()) {
        let bytes = write(&model, interleaved);
        check(&model, &bytes);
    }
}

fn long_model(tiles: u32, samples: usize) -> Model {
    let step = |phase, kind| StepDescriptor {
        kind,
        phase,
        epoch: 0,
        operation: format!("operation {phase}"),
        kernel: "gemm".to_owned(),
        exchange_event_cycles: 0,
        metadata: Vec::new(),
        estimate: None,
    };
    let steps: Vec<_> = (0..500)
        .map(|phase| step(phase, SampleKind::Compute))
        .collect();
    let one = |tile: u32| {
        let mut at = u64::from(tile % 7);
        let sample = |ordinal: usize| {
            let gap = u64::from(ordinal % 900 == 7) * 11;
            let duration = 100 + (ordinal as u32 * 37 + tile) % 513;
            let start = at + gap;
            at = start + u64::from(duration);
            Sample {
                start,
                duration,
                step: ordinal % steps.len(),
                activities: Vec::new(),
            }
        };
        (tile, (0..samples).map(sample).collect())
    };
    let tiles = (0..tiles).rev().map(one).collect();
    Model {
        steps,
        tiles,
        counter: u32::MAX - 50_000,
    }
}

#[test]
fn long_tiles_span_chunks_in_either_order() {
    let model = long_model(130, 2_500);
    for interleaved in [false, true] {
        let bytes = write(&model, interleaved);
        check(&model, &bytes);
    }
}

#[test]
fn an_empty_profile_opens() {
    let model = Model {
        steps: Vec::new(),
        tiles: vec![(9, Vec::new()), (3, Vec::new())],
        counter: 0,
    };
    check(&model, &write(&model, false));
    let nothing = ProfileWriter::new(&header()).finish().unwrap();
    assert_eq!(open_slice(&nothing).unwrap().sample_count(), 0);
}

#[test]
fn overlapping_samples_are_kept_where_they_were() {
    let mut writer = ProfileWriter::new(&header());
    let step = writer.step(&long_model(1, 1).steps[0]);
    let tile = PhysicalTile::new(5);
    for (start, end) in [(100, 200), (150, 260), (260, 300)] {
        writer.sample(
            tile,
            RawCounter::new(start),
            RawCounter::new(end),
            step,
            &[],
        );
    }
    let report = open_slice(&writer.finish().unwrap()).unwrap();
    assert_eq!(read(&report)[&5], [(0, 100, 0), (50, 110, 0), (160, 40, 0)]);
}

#[test]
fn taken_bytes_and_the_rest_are_the_file() {
    let options = SynthOptions {
        samples: 2_000_000,
        tiles: 200,
        seed: 5,
        activities: false,
    };
    let whole = generate_bytes(&options).unwrap();
    let mut pieces = 0;
    let mut joined = Vec::new();
    analytics::synth::generate(&options, &mut |piece| {
        pieces += 1;
        joined.extend_from_slice(piece);
    })
    .unwrap();
    assert!(pieces > 2, "the recording was not handed out while it ran");
    assert!(joined == whole);
}

fn synthetic() -> Vec<u8> {
    let options = SynthOptions {
        samples: 60_000,
        tiles: 100,
        seed: 2,
        activities: true,
    };
    generate_bytes(&options).unwrap()
}

#[test]
fn every_record_carries_the_generation() {
    let bytes = synthetic();
    assert_eq!(&bytes[16..24], b"IPUPROF2");
    assert_eq!(sniff(&bytes[..64]), FileKind::Columnar);
    let (mut at, mut records) = (0, 0);
    while at < bytes.len() {
        assert_eq!(bytes[at..at + 4], [0; 4], "one segment");
        assert_eq!(&bytes[at + 16..at + 24], b"IPUPROF2");
        at += 8 + 8 * u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
        records += 1;
    }
    assert_eq!(at, bytes.len());
    assert!(records > 6);
}

fn drive(bytes: &[u8], mode: OpenMode, largest: u64) -> (ProfileReport, u64, usize) {
    let mut opener = Opener::new(bytes.len() as u64, mode);
    let (mut read, mut requests) = (0, 0);
    loop {
        match opener.step().unwrap() {
            OpenStep::Ready(report) => return (*report, read, requests),
            OpenStep::Need(ranges) => {
                assert!(!ranges.is_empty());
                for range in ranges {
                    let part = ByteRange::new(
                        range.start,
                        range.end.min(range.start.saturating_add(largest)),
                    );
                    let piece = &bytes[part.start as usize..part.end as usize];
                    opener.supply(part, piece.to_vec()).unwrap();
                    read += part.len();
                    requests += 1;
                }
            }
        }
    }
}

#[test]
fn an_overview_reads_little_and_takes_pages_later() {
    let options = SynthOptions {
        samples: 3_000_000,
        tiles: 300,
        seed: 2,
        activities: true,
    };
    let bytes = generate_bytes(&options).unwrap();
    let whole = open_slice(&bytes).unwrap();
    let (mut report, read_bytes, requests) = drive(&bytes, OpenMode::Overview, u64::MAX);
    assert!(
        read_bytes < bytes.len() as u64 / 3,
        "read {read_bytes} of {}",
        bytes.len()
    );
    assert!(requests <= 4, "{requests} requests");
    assert_eq!(tables(&report), tables(&whole));
    assert_eq!(report.overview(), whole.overview());
    assert_eq!(report.summary(), whole.summary());
    assert!(report.summary().is_some() && report.overview().is_some());
    let missing = report.pages_missing();
    assert_eq!(
        missing.len(),
        report.chunks().len() + report.activity_chunks().len()
    );
    let error = report
        .decode_chunk(0, &mut ChunkScratch::new())
        .unwrap_err();
    assert_eq!(
        error,
        DecodeError::PageMissing {
            range: report.chunks()[0].bytes
        }
    );
    for range in missing {
        let piece = bytes[range.start as usize..range.end as usize].to_vec();
        report.supply_page(range, piece).unwrap();
    }
    assert_eq!(report.pages_missing(), []);
    assert_eq!(read(&report), read(&whole));
}

/// Kinds of the records of a file with their first bytes, in order.
fn records(bytes: &[u8]) -> Vec<(u16, usize)> {
    let (mut at, mut found) = (0, Vec::new());
    while at < bytes.len() {
        found.push((u16::from_le_bytes([bytes[at + 28], bytes[at + 29]]), at));
        at += 8 + 8 * u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
    }
    found
}

/// All that steps refer to.
fn tables(report: &ProfileReport) -> Vec<String> {
    let steps = (0..).take(report.steps().len()).map(|id| {
        let step = report.step(StepId::new(id));
        let pairs: Vec<_> = report.metadata(step.row.metadata).collect();
        format!("{step:?} {pairs:?}")
    });
    steps.collect()
}

const CATALOG: u16 = 10;

fn step(operation: &str) -> StepDescriptor {
    StepDescriptor {
        kind: SampleKind::Compute,
        phase: 0,
        epoch: 0,
        operation: operation.to_owned(),
        kernel: "k".to_owned(),
        exchange_event_cycles: 0,
        metadata: Vec::new(),
        estimate: None,
    }
}

/// Steps that come up one after another, more samples than wait in memory.
fn long_recording(writer: ProfileWriter) -> Vec<u8> {
    let mut writer = writer;
    for number in 0..2_000u32 {
        let id = writer.step(&StepDescriptor {
            phase: number,
            metadata: vec![("number".to_owned(), number.to_string())],
            ..step(&format!("operation {number}"))
        });
        for tile in 0..1_000 {
            let (start, end) = (RawCounter::new(number * 7), RawCounter::new(number * 7 + 5));
            writer.sample(PhysicalTile::new(tile), start, end, id, &[]);
        }
    }
    writer.finish().unwrap()
}

#[test]
fn tables_between_chunks_are_repeated_in_one_place_and_those_before_all_chunks_are_not() {
    let kinds = |bytes: &[u8]| -> Vec<u16> { records(bytes).iter().map(|it| it.0).collect() };
    let with = long_recording(ProfileWriter::new(&header()).with_catalog());
    let without = long_recording(ProfileWriter::new(&header()));
    assert!(kinds(&with).contains(&CATALOG) && !kinds(&without).contains(&CATALOG));
    assert!(with.len() < without.len() + without.len() / 10);
    let (gathered, plain) = (open_slice(&with).unwrap(), open_slice(&without).unwrap());
    assert_eq!(tables(&gathered), tables(&plain));
    assert_eq!(read(&gathered), read(&plain));
    assert_eq!(gathered.summary(), plain.summary());
    let cut = open_slice(&with[..with.len() - 8]).unwrap();
    assert!(matches!(cut.condition(), Condition::Truncated { .. }));
    assert_eq!(tables(&cut), tables(&plain), "a cut file has no use for it");
    let mut short = ProfileWriter::new(&header()).with_catalog();
    let id = short.step(&step(""));
    short.sample(
        PhysicalTile::new(1),
        RawCounter::new(0),
        RawCounter::new(9),
        id,
        &[],
    );
    assert!(!kinds(&short.finish().unwrap()).contains(&CATALOG));
}

/// The file with a byte of record `at` damaged, index and trailer mended.
fn resealed(mut bytes: Vec<u8>, at: usize, part: usize) -> Vec<u8> {
    let end = bytes.len();
    let length = 8 + 8 * u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
    let before = crc32c::crc32c(&bytes[at..at + length]);
    bytes[at + length * part / 100] ^= 0x10;
    let after = crc32c::crc32c(&bytes[at..at + length]);
    let field = bytes[end - 24..end - 16].try_into().unwrap();
    let index = u64::from_le_bytes(field) as usize;
    let listed = (index..end).find(|&at| bytes[at..at + 4] == before.to_le_bytes());
    bytes[listed.unwrap()..][..4].copy_from_slice(&after.to_le_bytes());
    let sum = crc32c::crc32c(&bytes[index..end - 4]);
    bytes[end - 4..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

#[test]
fn a_catalog_that_is_not_what_the_tables_are_is_refused_by_the_check() {
    let bytes = long_recording(ProfileWriter::new(&header()).with_catalog());
    let check = |bytes: &[u8]| {
        let mut check = StreamCheck::new();
        check.push(bytes).and_then(|()| check.finish())
    };
    assert!(check(&bytes).is_ok());
    let at = records(&bytes).iter().find(|it| it.0 == CATALOG).unwrap().1;
    for part in (0..100).step_by(7) {
        let damaged = resealed(bytes.clone(), at, part);
        assert!(check(&damaged).is_err(), "damaged at {part} %");
        let _never_panics = open_slice(&damaged);
    }
    let error = check(&resealed(bytes, at, 50)).unwrap_err().to_string();
    assert!(error.contains("catalog"), "{error}");
}

#[test]
fn the_fault_that_ended_a_run_is_kept() {
    let ending = Ending {
        rule: "mux-window".to_owned(),
        message: "tile 3: it looked away".to_owned(),
        tile: PhysicalTile::new(3),
        count: 2,
    };
    let mut writer = ProfileWriter::new(&header());
    writer.begin_tile(PhysicalTile::new(3));
    writer.end(&ending);
    let bytes = writer.finish().unwrap();
    assert_eq!(open_slice(&bytes).unwrap().ending(), Some(&ending));
    assert_eq!(open_slice(&synthetic()).unwrap().ending(), None);
    let cut = open_slice(&bytes[..bytes.len() - 8]).unwrap();
    assert_eq!(cut.ending(), Some(&ending), "a cut file tells it too");
}

#[test]
fn small_supplies_open_the_same_profile() {
    let bytes = generate_bytes(&SynthOptions {
        samples: 800_000,
        tiles: 90,
        seed: 8,
        activities: true,
    })
    .unwrap();
    let whole = open_slice(&bytes).unwrap();
    let (report, ..) = drive(&bytes, OpenMode::Everything, 100_001);
    assert_eq!(report.pages_missing(), []);
    assert_eq!(read(&report), read(&whole));
}

#[test]
fn a_cut_file_is_salvaged_up_to_its_last_whole_record() {
    let model = long_model(70, 1_500);
    let bytes = write(&model, false);
    let whole = open_slice(&bytes).unwrap();
    let second = whole.chunks()[1].bytes;
    for (cut, chunks) in [(second.end, 2), (second.end - 1, 1), (second.start + 3, 1)] {
        let report = open_slice(&bytes[..cut as usize]).unwrap();
        let at = if chunks == 2 {
            second.end
        } else {
            second.start
        };
        assert_eq!(report.condition(), Condition::Truncated { at });
        assert_eq!(report.chunks().len(), chunks);
        let (all, found) = (read(&whole), read(&report));
        assert!(!found.is_empty());
        for (tile, samples) in found {
            assert_eq!(samples, all[&tile][..samples.len()]);
        }
    }
    let (report, ..) = drive(&bytes[..bytes.len() - 8], OpenMode::Overview, u64::MAX);
    assert_eq!(read(&report), read(&whole));
}

#[test]
fn a_file_that_ends_in_its_header_says_how_long_that_is() {
    let bytes = synthetic();
    let header = 8 + 8 * u64::from(u32::from_le_bytes(bytes[4..8].try_into().unwrap()));
    for cut in [32, 100, header as usize - 1] {
        let error = open_slice(&bytes[..cut]).unwrap_err();
        let DecodeError::Cut { needed, found, .. } = error else {
            panic!("{error}");
        };
        assert_eq!((needed, found), (header, cut as u64));
    }
    let mut broken = bytes[..header as usize].to_vec();
    broken[48..80].fill(0xff);
    let error = open_slice(&broken).unwrap_err();
    assert!(matches!(error, DecodeError::Corrupt { .. }), "{error}");
}

#[test]
fn damage_is_named_with_its_record_and_byte() {
    let bytes = synthetic();
    let whole = open_slice(&bytes).unwrap();
    let chunk = whole.chunks()[0].bytes;
    let mut damaged = bytes.clone();
    damaged[chunk.start as usize + 900] ^= 4;
    let error = open_slice(&damaged).unwrap_err();
    assert!(
        matches!(
            error,
            DecodeError::Checksum { record: "sample chunk", at, .. } if at == chunk.start
        ),
        "{error}"
    );
    let mut newer = bytes.clone();
    newer[24] = 2;
    let error = open_slice(&newer).unwrap_err();
    assert_eq!(
        error,
        DecodeError::TooNew {
            major: 2,
            supported: 1
        }
    );
    let mut index = bytes.clone();
    let at = index.len() - 64 - 100;
    index[at] ^= 1;
    let error = open_slice(&index).unwrap_err();
    assert!(
        matches!(
            error,
            DecodeError::Checksum {
                record: "index",
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn other_files_are_named() {
    let package = {
        let mut it = vec![0; 200];
        it[4] = 24;
        it[12] = 2;
        it[14] = 12;
        it
    };
    for (bytes, found) in [
        (&b""[..], FileKind::Unknown),
        (b"hello, world, this is text", FileKind::Unknown),
        (&[0x1f, 0x8b, 8, 0], FileKind::Gzip),
        (&[0x28, 0xb5, 0x2f, 0xfd, 0], FileKind::Zstd),
        (&package, FileKind::Package),
    ] {
        assert_eq!(
            open_slice(bytes).unwrap_err(),
            DecodeError::NotAProfile { found }
        );
    }
}

#[test]
fn inactive_computes_are_idle_and_remember_what_was_recorded() {
    let mut step = long_model(1, 1).steps[0].clone();
    step.metadata = vec![("active".to_owned(), "false".to_owned())];
    let mut writer = ProfileWriter::new(&header());
    let id = writer.step(&step);
    assert_eq!(writer.step(&step), id);
    let report = open_slice(&writer.finish().unwrap()).unwrap();
    let row = report.steps()[id.index()];
    assert_eq!(
        (row.kind, row.recorded_kind),
        (SampleKind::Idle, SampleKind::Compute)
    );
}

fn small() -> Vec<u8> {
    use std::sync::OnceLock;
    static SMALL: OnceLock<Vec<u8>> = OnceLock::new();
    let options = SynthOptions {
        samples: 900,
        tiles: 30,
        seed: 1,
        activities: true,
    };
    SMALL
        .get_or_init(|| generate_bytes(&options).unwrap())
        .clone()
}

/// Whatever the bytes, opening and decoding end, with a value or an error.
fn use_all(bytes: &[u8]) {
    if let Ok(report) = open_slice(bytes) {
        let mut scratch = ChunkScratch::new();
        for index in 0..report.chunks().len() {
            let _ = report.decode_chunk(index, &mut scratch);
        }
        for tile in 0..report.tiles().len().min(50) {
            let _ = report.activities(tile as u32, 1);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn damaged_files_never_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
        without_trailer in any::<bool>(),
    ) {
        let mut bytes = small();
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        } else if without_trailer {
            // No checksum shields the records then.
            bytes.truncate(bytes.len() - 64);
        }
        use_all(&bytes);
    }

    #[test]
    fn indices_that_lie_with_a_valid_checksum_never_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = small();
        let end = bytes.len();
        let index = u64::from_le_bytes(bytes[end - 24..end - 16].try_into().unwrap()) as usize;
        for (at, value) in edits {
            let at = index + at.index(end - 4 - index);
            bytes[at] = value;
        }
        let checksum = crc32c::crc32c(&bytes[index..end - 4]);
        bytes[end - 4..].copy_from_slice(&checksum.to_le_bytes());
        use_all(&bytes);
    }
}
