//! Slices: every kept sample as it was, and no other.

use crate::support::strategy::profiles;
use crate::support::{self, ModelProfile, step};
use analytics::clock::{ClockKind, initial_sync_crop};
use analytics::format::{SliceError, SliceOptions, open_bytes, slice};
use analytics::profile::{ProfileReport, Sample, StepDescriptor, WorkEstimate};
use analytics::synth::{SynthOptions, generate};
use analytics::units::{PhysicalTile, StepId};
use proptest::prelude::*;

fn descriptor(report: &ProfileReport, id: u32) -> StepDescriptor {
    let step = report.step(StepId::new(id));
    let pairs = report.metadata(step.row.metadata);
    StepDescriptor {
        kind: step.row.recorded_kind,
        phase: step.row.place.phase,
        epoch: step.row.place.epoch,
        operation: step.operation.to_owned(),
        kernel: step.kernel.to_owned(),
        exchange_event_cycles: step.row.event_cycles,
        metadata: pairs.map(|(a, b)| (a.to_owned(), b.to_owned())).collect(),
        estimate: step.row.estimate.map(|it| WorkEstimate {
            useful: it.useful,
            physical: it.physical,
            basis: step.basis.to_owned(),
        }),
    }
}

/// Physical tile, low 32 bits of the start counter, duration and step of every kept sample.
fn samples(
    report: &ProfileReport,
    keep: impl Fn(&Sample) -> bool,
) -> Vec<(u32, u32, u32, StepDescriptor)> {
    let mut found = Vec::new();
    report
        .visit_samples(|sample| {
            if !keep(sample) {
                return;
            }
            let entry = &report.tiles()[sample.tile as usize];
            let since = sample.start.wrapping_sub(entry.first_start) & u64::from(u32::MAX);
            let since = u32::try_from(since).expect("masked");
            let counter = entry.first_counter.get().wrapping_add(since);
            let step = descriptor(report, sample.step);
            found.push((entry.tile.get(), counter, sample.duration, step));
        })
        .expect("decodes");
    found.sort_by_key(|it| it.0);
    found
}

fn check(profile: &ModelProfile, options: &SliceOptions) -> Result<(), TestCaseError> {
    let report = profile.report();
    let crop = initial_sync_crop(&report).get();
    let kept = |sample: &Sample| {
        let entry = &report.tiles()[sample.tile as usize];
        let zero = match options.clock {
            ClockKind::Tile => entry.first_start,
            ClockKind::Shared => 0,
            ClockKind::Cropped => crop,
        };
        let inside = options.range.is_none_or(|(from, to)| {
            let last = sample.start + u64::from(sample.duration.max(1)) - 1;
            sample.start < zero + to && last >= zero + from
        });
        inside && (options.tiles.is_empty() || options.tiles.contains(&entry.tile))
    };
    let expected = samples(&report, kept);
    match slice(&report, options) {
        Err(SliceError::Empty) => prop_assert_eq!(expected.len(), 0),
        Err(SliceError::NoSuchTile(tile)) => {
            prop_assert!(profile.tiles.iter().all(|it| it.physical != tile.get()));
        }
        Err(other) => prop_assert!(false, "{other}"),
        Ok(bytes) => {
            let cut = open_bytes(bytes).expect("a slice opens");
            prop_assert_eq!(samples(&cut, |_| true), expected);
        }
    }
    Ok(())
}

#[test]
fn transfers_of_kept_samples_are_kept() {
    let mut bytes = Vec::new();
    let options = SynthOptions {
        samples: 4_000,
        tiles: 70,
        activities: true,
        ..SynthOptions::default()
    };
    generate(&options, &mut |piece| bytes.extend_from_slice(piece)).expect("generates");
    let whole = open_bytes(bytes).expect("opens");
    let tiles = [3, 65].map(PhysicalTile::new).to_vec();
    let options = SliceOptions {
        tiles: tiles.clone(),
        range: Some((20_000, 60_000)),
        clock: ClockKind::Cropped,
    };
    let cut = open_bytes(slice(&whole, &options).expect("cuts")).expect("opens");
    let transfers = |report: &ProfileReport| {
        let mut found = Vec::new();
        let mut add = |tile: u32, list: &[_]| {
            found.push((report.tiles()[tile as usize].tile, list.to_vec()));
        };
        report
            .visit_activities(&mut |tile, _, list| add(tile, list))
            .expect("decodes");
        found
    };
    let (all, kept) = (transfers(&whole), transfers(&cut));
    assert!(
        !kept.is_empty() && kept.len() < all.len(),
        "{} of {}",
        kept.len(),
        all.len()
    );
    assert!(
        kept.iter()
            .all(|it| tiles.contains(&it.0) && all.contains(it))
    );
    let notes: Vec<&str> = cut
        .header()
        .provenance
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert!(
        notes.ends_with(&["slice_range", "slice_tiles"]),
        "{notes:?}"
    );
}

#[test]
fn nothing_left_is_an_error() {
    let profile = support::profile(
        vec![step(analytics::profile::SampleKind::Compute, "k", 0, 0)],
        &[(3, 0, 0, 10)],
    );
    let cut = |tiles: Vec<PhysicalTile>, range| {
        let clock = ClockKind::Shared;
        let options = SliceOptions {
            tiles,
            range,
            clock,
        };
        slice(&profile.report(), &options).map(|bytes| !bytes.is_empty())
    };
    assert_eq!(cut(vec![], Some((10, 20))), Err(SliceError::Empty));
    assert_eq!(cut(vec![], Some((9, 20))), Ok(true));
    let absent = PhysicalTile::new(4);
    assert_eq!(cut(vec![absent], None), Err(SliceError::NoSuchTile(absent)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn a_slice_has_every_sample_that_touches_the_range_and_no_other(
        profile in profiles(),
        pick in proptest::collection::vec(0u32..12, 0..3),
        from in 0u64..200_000,
        length in 1u64..200_000,
        whole in any::<bool>(),
        clock in proptest::sample::select(ClockKind::ALL.to_vec()),
    ) {
        let tiles = pick.into_iter().map(PhysicalTile::new).collect();
        let range = (!whole).then_some((from, from + length));
        check(&profile, &SliceOptions { tiles, range, clock })?;
    }
}
