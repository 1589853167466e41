//! The check of bytes as they pass, against opening the whole file.

use analytics::clock::{ClockKind, Frame};
use analytics::format::{Checked, DecodeError, StreamCheck, open_slice};
use analytics::profile::{ChunkScratch, Condition};
use analytics::synth::{SynthOptions, generate_bytes};
use proptest::prelude::*;

fn profile(samples: u64, tiles: u32) -> Vec<u8> {
    let options = SynthOptions {
        samples,
        tiles,
        seed: 5,
        activities: true,
    };
    generate_bytes(&options).expect("a synthetic profile")
}

fn check(bytes: &[u8], piece: usize) -> Result<Checked, DecodeError> {
    let mut check = StreamCheck::new();
    for piece in bytes.chunks(piece) {
        check.push(piece)?;
    }
    check.finish()
}

/// Whether the whole file opens as complete and every chunk and activity of it decodes.
fn opens(bytes: &[u8]) -> bool {
    let Ok(report) = open_slice(bytes) else {
        return false;
    };
    let mut scratch = ChunkScratch::new();
    report.condition() == Condition::Complete
        && (0..report.chunks().len()).all(|it| report.decode_chunk(it, &mut scratch).is_ok())
        && report.visit_activities(&mut |_, _, _| {}).is_ok()
}

#[test]
fn a_whole_file_is_described_as_the_opened_report_describes_it() {
    for (bytes, piece) in [
        (profile(900, 30), 1),
        (profile(900, 30), 4_096),
        (profile(300_000, 200), 65_537),
        (profile(300_000, 200), usize::MAX),
    ] {
        let report = open_slice(&bytes).expect("it opens");
        let found = check(&bytes, piece).expect("it passes");
        let span = Frame::new(&report, ClockKind::Cropped).span(&report);
        assert_eq!(found.tiles, report.tiles().len() as u64);
        assert_eq!(found.samples, report.sample_count());
        assert_eq!(Ok(found.span), span);
        assert_eq!(&found.header, report.header());
    }
}

#[test]
fn a_cut_file_is_refused_wherever_it_is_cut() {
    let bytes = profile(900, 30);
    for cut in (0..bytes.len())
        .step_by(37)
        .chain([bytes.len() - 1, bytes.len() - 64])
    {
        assert!(check(&bytes[..cut], 1_000).is_err(), "cut at {cut}");
    }
    let mut longer = bytes.clone();
    longer.extend_from_slice(&bytes);
    assert!(check(&longer, 1_000).is_err());
    longer.truncate(bytes.len() + 8);
    assert!(check(&longer, 1_000).is_err());
}

#[test]
fn other_files_are_refused_at_their_first_bytes() {
    let mut other = StreamCheck::new();
    let error = other.push(&[0; 64]).expect_err("no magic");
    assert!(error.to_string().contains("byte 0"), "{error}");
    let mut long = profile(900, 30)[..64].to_vec();
    long[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(
        StreamCheck::new().push(&long).is_err(),
        "no record is as long as that"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damage_passes_only_where_the_file_still_opens(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..3),
        piece in 1..5_000usize,
    ) {
        let mut bytes = profile(900, 30);
        for (at, value) in edits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        prop_assert_eq!(check(&bytes, piece).is_ok(), opens(&bytes));
    }

    #[test]
    fn an_index_that_lies_with_a_valid_checksum_passes_only_where_it_opens(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = profile(900, 30);
        let end = bytes.len();
        let field = bytes[end - 24..end - 16].try_into().expect("eight bytes");
        let index = usize::try_from(u64::from_le_bytes(field)).expect("an offset in the file");
        for (at, value) in edits {
            let at = index + at.index(end - 4 - index);
            bytes[at] = value;
        }
        let checksum = crc32c::crc32c(&bytes[index..end - 4]);
        bytes[end - 4..].copy_from_slice(&checksum.to_le_bytes());
        if check(&bytes, 1_000).is_ok() {
            prop_assert!(opens(&bytes));
        }
    }
}
