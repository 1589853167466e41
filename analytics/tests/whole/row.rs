//! Row files: opened like any profile, and written back to the same content.

#![expect(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "inputs are known and small"
)]

use analytics::fixtures::{
    Layout, RowFile, RowSample, RowTile, compatibility, with_metadata_estimates, without_estimates,
};
use analytics::format::{
    DecodeError, FileKind, OpenMode, OpenStep, Opener, open_slice, row, sniff,
};
use analytics::profile::{ActivityKind, ChunkScratch, ExchangeActivity, ProfileReport, SampleKind};
use analytics::units::{PhysicalTile, StepId, Work};
use proptest::prelude::*;

/// Row to columnar to report to row, read by the hand-written reader.
fn there_and_back(bytes: &[u8]) -> RowFile {
    let columnar = row::to_columnar(bytes).unwrap();
    assert_eq!(sniff(&columnar), FileKind::Columnar);
    RowFile::decode(&row::encode(&open_slice(&columnar).unwrap()).unwrap())
}

/// All samples of one tile with their steps.
fn samples(report: &ProfileReport, physical: u32) -> Vec<(u64, u32, StepId)> {
    let tile = report.tile_index(PhysicalTile::new(physical)).unwrap();
    let (mut found, mut scratch) = (Vec::new(), ChunkScratch::new());
    for index in 0..report.chunks().len() {
        report.decode_chunk(index, &mut scratch).unwrap();
        for span in scratch.spans.iter().filter(|span| span.tile == tile) {
            for at in span.samples.start as usize..span.samples.end as usize {
                let step = StepId::new(scratch.step[at]);
                found.push((scratch.start[at], scratch.duration[at], step));
            }
        }
    }
    found
}

#[test]
fn the_compatibility_steps_are_read_field_by_field() {
    let file = compatibility();
    let report = open_slice(&file.encode(Layout::Whole)).unwrap();
    assert_eq!(report.header().row_schema_version, 5);
    assert_eq!(report.header().clock_hz, 1_500_000_000);
    assert_eq!(report.header().simulated, None);
    let found = samples(&report, 5);
    let times: Vec<_> = found
        .iter()
        .map(|&(start, duration, _)| (start, duration))
        .collect();
    assert_eq!(times, [(0, 30), (30, 60), (90, 10), (100, 60)]);
    let views: Vec<_> = found
        .iter()
        .map(|&(_, _, step)| report.step(step))
        .collect();
    let kinds: Vec<_> = views.iter().map(|view| view.row.kind).collect();
    use SampleKind::{Compute, Exchange, Idle, Synchronization};
    assert_eq!(kinds, [Exchange, Compute, Synchronization, Idle]);
    assert_eq!(
        (views[0].kernel, views[0].row.event_cycles),
        ("multicast", 13)
    );
    assert_eq!((views[0].row.place.phase, views[0].row.place.epoch), (7, 3));
    let metadata: Vec<_> = report.metadata(views[1].row.metadata).collect();
    assert_eq!(metadata, [("role", "gemm"), ("shape", "16x16x16")]);
    let partner_busy = ExchangeActivity {
        kind: ActivityKind::PartnerBusy,
        start: 1,
        end: 12,
        fanout: 3,
        paired: true,
    };
    assert_eq!(report.activities(0, 0).unwrap()[2], partner_busy);
    assert_eq!(report.activities(0, 1).unwrap(), []);
}

#[test]
fn files_of_every_version_come_back_as_they_were() {
    for file in [
        compatibility(),
        without_estimates(70, 6),
        with_metadata_estimates(70, 6),
    ] {
        for version in 1..=5 {
            for layout in [
                Layout::Whole,
                Layout::Segments(3_000),
                Layout::Segments(700),
            ] {
                let bytes = RowFile {
                    version,
                    ..file.clone()
                }
                .encode(layout);
                // What the version has no place for is gone before the codec sees it.
                assert_eq!(
                    there_and_back(&bytes),
                    RowFile::decode(&bytes),
                    "{version} {layout:?}"
                );
            }
        }
    }
}

#[test]
fn the_hand_written_reader_reads_what_the_hand_written_writer_wrote() {
    for file in [compatibility(), with_metadata_estimates(9, 5)] {
        for layout in [Layout::Whole, Layout::Segments(64)] {
            assert_eq!(RowFile::decode(&file.encode(layout)), file);
        }
    }
}

#[test]
fn estimates_are_read_from_metadata() {
    let report = open_slice(&with_metadata_estimates(2, 4).encode(Layout::Whole)).unwrap();
    let estimates: Vec<_> = samples(&report, 1)
        .into_iter()
        .map(|(_, _, step)| report.step(step))
        .filter(|view| view.row.kind == SampleKind::Compute)
        .map(|view| {
            view.row
                .estimate
                .map(|it| (it.useful, it.physical, it.rounded, view.basis))
        })
        .collect();
    let work = Work::from_256ths;
    let basis = "GEMM FLOP / 128";
    assert_eq!(
        estimates,
        [
            Some((work(50 * 256), work(60 * 256 + 128), false, basis)),
            // 33.3 is 8524.8 / 256.
            Some((work(8_525), work(40 * 256), true, basis)),
            Some((work(80 * 256), work(72 * 256 + 64), false, basis)),
            None,
        ]
    );
    let without = open_slice(&without_estimates(2, 4).encode(Layout::Whole)).unwrap();
    assert!(without.steps().iter().all(|step| step.estimate.is_none()));
}

#[test]
fn tiles_keep_their_order_and_share_one_origin() {
    let file = without_estimates(20, 3);
    let report = open_slice(&file.encode(Layout::Segments(500))).unwrap();
    let order = report.tiles_in_file_order().iter();
    let listed: Vec<_> = order
        .map(|&at| report.tiles()[at as usize].tile.get())
        .collect();
    assert_eq!(listed, (0..20).rev().collect::<Vec<_>>());
    // Tile 7 starts seven cycles before tile 0; both leave the first barrier at the same instant.
    assert_eq!(samples(&report, 7)[0].0, 0);
    assert_eq!(samples(&report, 0)[0].0, 7);
    assert_eq!(samples(&report, 0)[1].0, samples(&report, 7)[1].0);
    // The counters wrap inside the run, instants do not.
    assert_eq!(samples(&report, 0)[4].0, 7 + 40 + 300);
}

#[test]
fn versions_outside_one_to_five_are_named() {
    for version in [0, 6, u32::MAX] {
        let bytes = RowFile {
            version,
            ..compatibility()
        }
        .encode(Layout::Whole);
        assert_eq!(
            open_slice(&bytes).unwrap_err(),
            DecodeError::RowVersion { version }
        );
    }
}

#[test]
fn cut_and_padded_files_are_named() {
    let bytes = without_estimates(9, 3).encode(Layout::Segments(300));
    let whole = bytes.len() as u64;
    let cut = open_slice(&bytes[..bytes.len() - 100]).unwrap_err();
    let found = whole - 100;
    assert_eq!(
        cut,
        DecodeError::Cut {
            what: "the row profile",
            needed: whole,
            found
        }
    );
    let mut padded = bytes.clone();
    padded.extend([0; 8]);
    let error = open_slice(&padded).unwrap_err();
    assert!(
        matches!(error, DecodeError::Corrupt { at, .. } if at == whole),
        "{error}"
    );
    let mut twice = without_estimates(2, 1);
    twice.tiles[1].physical = 1;
    let error = open_slice(&twice.encode(Layout::Whole)).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("physical tile 1 is listed twice"),
        "{error}"
    );
}

#[test]
fn a_memory_profile_is_not_taken_for_a_row_profile() {
    // Root and tiles alike; regions have five data words and two pointers.
    let mut words = vec![
        0u64,
        2 << 32 | 1 << 48,
        1,
        1_500_000_000,
        1 | 7 << 32 | 2 << 35,
    ];
    words.extend([1 << 2 | 1 << 32 | 1 << 48, 0, 1 | 7 << 32 | 7 << 35]);
    words.extend([1 << 2 | 5 << 32 | 2 << 48, 1, 2, 3, 4, 5, 0, 0]);
    words[0] = (words.len() as u64 - 1) << 32;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(sniff(&bytes), FileKind::MemoryProfile);
    let found = FileKind::MemoryProfile;
    assert_eq!(
        open_slice(&bytes).unwrap_err(),
        DecodeError::NotAProfile { found }
    );
}

#[test]
fn a_row_file_is_asked_for_whole_in_overview_mode_too() {
    let bytes = without_estimates(64, 300).encode(Layout::Segments(4_096));
    assert!(bytes.len() > 2 << 20, "large enough not to be read at once");
    let mut opener = Opener::new(bytes.len() as u64, OpenMode::Overview);
    let mut rounds = 0;
    let report = loop {
        rounds += 1;
        match opener.step().unwrap() {
            OpenStep::Ready(report) => break report,
            OpenStep::Need(ranges) => {
                for range in ranges {
                    let piece = bytes[range.start as usize..range.end as usize].to_vec();
                    opener.supply(range, piece).unwrap();
                }
            }
        }
    };
    assert_eq!(rounds, 3);
    assert_eq!(report.pages_missing(), []);
    assert_eq!(report.sample_count(), 64 * 900);
}

#[test]
fn recorded_estimates_survive_the_way_through_a_row_file() {
    let options = analytics::synth::SynthOptions {
        samples: 3_000,
        tiles: 40,
        seed: 6,
        activities: true,
    };
    let bytes = analytics::synth::generate_bytes(&options).unwrap();
    let first = open_slice(&bytes).unwrap();
    let row_bytes = row::encode(&first).unwrap();
    let second = open_slice(&row_bytes).unwrap();
    assert_eq!(row::encode(&second).unwrap(), row_bytes);
    for tile in [0, 17, 39] {
        let (a, b) = (samples(&first, tile), samples(&second, tile));
        assert_eq!(a.len(), b.len());
        for (a, b) in a.into_iter().zip(b) {
            assert_eq!((a.0, a.1), (b.0, b.1));
            let (one, other) = (first.step(a.2), second.step(b.2));
            assert_eq!(
                one.row.estimate.map(|it| (it.useful, it.physical)),
                other.row.estimate.map(|it| (it.useful, it.physical))
            );
            assert_eq!(
                (one.kernel, one.operation, one.basis),
                (other.kernel, other.operation, other.basis)
            );
            assert!(
                first
                    .metadata(one.row.metadata)
                    .eq(second.metadata(other.row.metadata))
            );
        }
    }
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-zä0-9 .]{1,20}"]
}

fn row_samples() -> impl Strategy<Value = RowSample> {
    let names = prop_oneof![
        texts(),
        Just("usefulCycles".to_owned()),
        Just("physicalWorkCycles".to_owned()),
        Just("workEstimateBasis".to_owned()),
        Just("active".to_owned()),
    ];
    let values = prop_oneof![
        texts(),
        "[0-9]{1,4}(\\.[0-9]{1,3})?",
        Just("false".to_owned())
    ];
    let activity = (
        any::<u16>(),
        any::<u32>(),
        any::<u32>(),
        any::<u16>(),
        any::<bool>(),
    );
    let numbers = (
        any::<u32>(),
        any::<u32>(),
        any::<u32>(),
        any::<u32>(),
        0u32..3,
        any::<u32>(),
    );
    (
        numbers,
        0u16..7,
        (texts(), texts()),
        prop::collection::vec((names, values), 0..5),
        prop::collection::vec(activity, 0..3),
    )
        .prop_map(
            |(numbers, kind, (operation, kernel), metadata, activities)| {
                let (start, end, local_index, phase, epoch, event_cycles) = numbers;
                let activity = |(kind, start, end, fanout, paired)| ExchangeActivity {
                    kind: ActivityKind::from_wire(kind),
                    start,
                    end,
                    fanout,
                    paired,
                };
                let activities = activities.into_iter().map(activity).collect();
                RowSample {
                    start,
                    end,
                    local_index,
                    phase,
                    epoch,
                    kind,
                    operation,
                    kernel,
                    metadata,
                    activities,
                    event_cycles,
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_row_file_comes_back_as_it_was(
        tiles in prop::collection::btree_map(
            0u32..1_472,
            prop::collection::vec(row_samples(), 0..12),
            0..7,
        ),
        clock_hz in any::<u64>(),
        version in 4u32..6,
        words in 20usize..2_000,
    ) {
        let tile = |(physical, samples)| RowTile { physical, samples };
        let tiles = tiles.into_iter().rev().map(tile);
        let file = RowFile { version, clock_hz, tiles: tiles.collect() };
        prop_assert_eq!(there_and_back(&file.encode(Layout::Segments(words))), file);
    }

    #[test]
    fn damaged_row_files_never_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        words in 20usize..400,
    ) {
        let mut bytes = with_metadata_estimates(6, 3).encode(Layout::Segments(words));
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Ok(report) = open_slice(&bytes) {
            let _ = row::encode(&report);
        }
    }
}
