//! Exchange boundaries: worked by hand, and against a naive reference over generated programs.

use std::collections::BTreeMap;

use crate::support::bsp::{Program, programs};
use crate::support::strategy::profiles;
use crate::support::{self, ModelProfile, ModelSample, step};
use analytics::barriers::{Barrier, BarrierReport, BarrierSort, barriers, barriers_for};
use analytics::format::{ProfileWriter, open_bytes};
use analytics::profile::{ProfileHeader, ProfileReport, SampleKind, StepDescriptor};
use analytics::report::{barriers_json, barriers_text};
use analytics::units::{PhysicalTile, RawCounter};
use proptest::prelude::*;

fn exchange(phase: u32, epoch: u32, horizon: u32) -> StepDescriptor {
    StepDescriptor {
        exchange_event_cycles: horizon,
        ..step(SampleKind::Exchange, "", phase, epoch)
    }
}

/// Phase 7/0: tile 2 runs −20..50 with horizon 40, tile 3 runs 5..55; phase 7/1 has no horizon.
fn exchanges_alone() -> ProfileReport {
    let mut writer = ProfileWriter::new(&ProfileHeader::default());
    let described = writer.step(&exchange(7, 0, 40));
    let unknown = writer.step(&exchange(7, 1, 0));
    let counter = |at: i32| RawCounter::new(1_000u32.wrapping_add_signed(at));
    let samples = [
        (2, described, -20, 50),
        (2, unknown, 80, 100),
        (3, described, 5, 55),
    ];
    for (tile, step, start, end) in samples {
        let tile = PhysicalTile::new(tile);
        writer.sample(tile, counter(start), counter(end), step, &[]);
    }
    open_bytes(writer.finish().expect("writes")).expect("opens")
}

#[test]
fn exchanges_without_synchronization_arrive_at_their_start() {
    let found = barriers(&exchanges_alone()).expect("decodes");
    let [first, second] = &found.barriers[..] else {
        panic!("{found:?}");
    };
    assert_eq!((first.epoch, first.phase, first.tiles), (0, 7, 2));
    // The shared clock starts at the earliest sample, 20 cycles before zero.
    assert_eq!(
        (first.first_entry, first.last_entry, first.last_exit),
        (0, 25, 75)
    );
    assert_eq!(
        (first.arrival_spread(), first.after_last_arrival()),
        (25, 50)
    );
    assert_eq!((first.scheduled, first.overhead()), (Some(40), Some(10)));
    assert_eq!(
        (first.last_tile.get(), first.late_by, first.waiting),
        (3, 25, 25)
    );
    assert_eq!(first.late_work, None);
    assert_eq!(
        (second.epoch, second.scheduled, second.overhead()),
        (1, None, None)
    );
    assert_eq!((second.tiles, second.late_by, second.waiting), (1, 0, 0));
    assert_eq!(found.tiles[0].waiting_in_exchange, 25);
    assert_eq!(found.synchronization(), 0);
}

/// Two tiles compute, wait and exchange; tile 5 computes 60 cycles longer, and a checkpoint
/// follows.
fn two_tiles() -> ModelProfile {
    let mut checkpoint = step(SampleKind::Synchronization, "", 9, 0);
    checkpoint.operation = "checkpoint".to_owned();
    let mut gemm = step(SampleKind::Compute, "gemm", 0, 0);
    gemm.operation = "up".to_owned();
    let steps = vec![
        gemm,
        step(SampleKind::Compute, "copy", 1, 0),
        step(SampleKind::Synchronization, "", 2, 0),
        exchange(2, 0, 30),
        checkpoint,
    ];
    support::profile(
        steps,
        &[
            (4, 0, 0, 100),
            (4, 2, 100, 298),
            (4, 3, 298, 340),
            (4, 4, 340, 345),
            (5, 1, 0, 70),
            (5, 0, 70, 160),
            (5, 2, 160, 298),
            (5, 3, 298, 360),
        ],
    )
}

#[test]
fn waiting_is_split_from_the_cost_of_the_barrier_and_has_a_culprit() {
    let found = barriers(&two_tiles().report()).expect("decodes");
    let [row] = &found.barriers[..] else {
        panic!("{found:?}");
    };
    let late = row.late_work.as_ref().expect("it computed");
    assert_eq!(
        (late.kernel.as_str(), late.operation.as_str(), late.cycles),
        ("gemm", "up", 90)
    );
    assert_eq!((row.last_tile.get(), row.late_by, row.waiting), (5, 60, 60));
    assert_eq!(found.at(row.phase, row.epoch), Some(row));
    assert_eq!(found.at(row.phase, row.epoch + 1), None);
    assert_eq!(row.waiting_within(100, 298), 60, "of the one that waited");
    assert_eq!(row.waiting_within(160, 298), 0, "of the last one");
    assert_eq!(row.waiting_within(120, 130), 10, "all of it before");
    let [early, last] = &found.tiles[..] else {
        panic!("{found:?}");
    };
    assert_eq!(
        (
            early.synchronization,
            early.waiting,
            early.barrier,
            early.elsewhere
        ),
        (203, 60, 138, 5)
    );
    assert_eq!((early.last_at, early.caused), (0, 0));
    assert_eq!(
        (last.synchronization, last.waiting, last.barrier),
        (138, 0, 138)
    );
    assert_eq!((last.last_at, last.caused), (1, 60));
    let [culprit] = &found.culprits[..] else {
        panic!("{found:?}");
    };
    assert_eq!(culprit.kernel.as_deref(), Some("gemm"));
    assert_eq!(
        (culprit.barriers, culprit.tiles, culprit.waiting),
        (1, 1, 60)
    );
}

#[test]
fn the_others_wait_for_what_the_last_tile_runs_meanwhile() {
    // All run the same gemm, which ends at 1,030 on most of them; two go on.
    let steps = vec![
        step(SampleKind::Compute, "gemm", 0, 0),
        step(SampleKind::Compute, "fill", 1, 0),
        step(SampleKind::Compute, "copy", 1, 0),
        exchange(2, 0, 0),
    ];
    let mut samples = Vec::new();
    for tile in 0..6 {
        let arrival = match tile {
            2 => 1_040,
            5 => 1_060,
            _ => 1_030,
        };
        match tile {
            2 => samples.extend([(tile, 0, 0, 1_000), (tile, 1, 1_000, arrival)]),
            5 => samples.extend([
                (tile, 0, 0, 1_000),
                (tile, 1, 1_005, 1_035),
                (tile, 2, 1_035, arrival),
            ]),
            _ => samples.push((tile, 0, 0, arrival)),
        }
        samples.push((tile, 3, arrival, 1_100));
    }
    let found = barriers(&support::profile(steps, &samples).report()).expect("decodes");
    let row = &found.barriers[0];
    assert_eq!((row.last_tile.get(), row.waiting), (5, 4 * 30 + 20));
    let late = row.late_work.as_ref().expect("it computed");
    // Four wait for 5 cycles of its longer fill; four for all 25 of its copy, and tile 2 for 20.
    assert_eq!((late.kernel.as_str(), late.cycles), ("copy", 25));
    assert_eq!(found.culprits[0].kernel.as_deref(), Some("copy"));
}

#[test]
fn text_fits_eighty_columns_and_json_says_how_much_it_shows() {
    let report = barriers(&two_tiles().report()).expect("decodes");
    let text = barriers_text(&report, BarrierSort::LastExit, 20);
    assert!(text.contains("1 of 1 exchange boundaries"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let mut twice = report.clone();
    twice.barriers.push(report.barriers[0].clone());
    let json = barriers_json(&twice, BarrierSort::Waiting, 1);
    let json: serde_json::Value = serde_json::from_str(&json).expect("is JSON");
    assert_eq!(json["barrierCount"], 2);
    assert_eq!(json["shownBarrierCount"], 1);
    assert_eq!(json["barriers"].as_array().map(Vec::len), Some(1));
    assert_eq!(json["barriers"][0]["lateKernel"], "gemm");
}

#[test]
fn a_kernel_that_is_not_there_gives_near_names() {
    let found = barriers_for(&two_tiles().report(), "gemn").expect("decodes");
    assert_eq!(found.warnings, ["no kernel is named `gemn`; near: `gemm`"]);
    let text = barriers_text(&found, BarrierSort::LastExit, 20);
    assert!(
        text.ends_with("warning: no kernel is named `gemn`; near: `gemm`\n"),
        "{text}"
    );
    let json = barriers_json(&found, BarrierSort::LastExit, 20);
    assert!(json.contains("near: `gemm`"), "{json}");
    // Nobody waits for a copy, which is an answer.
    let none = barriers_for(&two_tiles().report(), "copy").expect("decodes");
    assert_eq!((none.barriers.len(), none.warnings.len()), (0, 0));
}

#[test]
fn ties_say_how_many_tiles_are_as_late_as_the_last() {
    let steps = vec![
        step(SampleKind::Compute, "gemm", 0, 0),
        step(SampleKind::Compute, "copy", 0, 0),
        exchange(1, 0, 0),
    ];
    // Arrivals 100, 90, 76, 75: three within 24 cycles.
    let mut samples = Vec::new();
    for (tile, step, arrival) in [(0, 0, 76), (1, 1, 100), (2, 0, 90), (3, 1, 75)] {
        samples.extend([(tile, step, 0, arrival), (tile, 2, arrival, 120)]);
    }
    let found = barriers(&support::profile(steps, &samples).report()).expect("decodes");
    let row = &found.barriers[0];
    assert_eq!(
        (row.last_tile.get(), row.late_by, row.late_tiles),
        (1, 10, 3)
    );
    assert!(row.is_tie());
    assert_eq!((found.culprits[0].barriers, found.culprits[0].ties), (1, 1));
    let json = barriers_json(&found, BarrierSort::LastExit, 0);
    let json: serde_json::Value = serde_json::from_str(&json).expect("is JSON");
    assert_eq!(json["barriers"][0]["lateTileCount"], 3);
    assert_eq!(json["culprits"][0]["tieCount"], 1);
}

#[test]
fn a_profile_without_exchanges_has_no_boundaries() {
    let report = support::profile(vec![step(SampleKind::Compute, "k", 0, 0)], &[(0, 0, 0, 9)]);
    let found = barriers(&report.report()).expect("decodes");
    assert_eq!(found.barriers, []);
    assert!(barriers_text(&found, BarrierSort::LastExit, 20).contains("nothing waits"));
}

/// Arrival, exit and physical tile of each visit, by (epoch, phase).
type Visits = BTreeMap<(u32, u32), Vec<(u64, u64, u32)>>;

/// Arrivals and exits, straight from the definitions.
fn naive(profile: &ModelProfile) -> Visits {
    let origin = profile
        .tiles
        .iter()
        .filter_map(|tile| tile.samples.first())
        .map(|it| it.start)
        .min()
        .unwrap_or(0);
    let is_exchange = |it: &StepDescriptor| it.kind == SampleKind::Exchange;
    let mut visits: Visits = BTreeMap::new();
    let mut places = Vec::new();
    for tile in &profile.tiles {
        let mut at = None;
        for sample in &tile.samples {
            let step = &profile.steps[sample.step];
            let member = step.kind == SampleKind::Synchronization
                || (is_exchange(step) && sample.duration > 0);
            if !member {
                continue;
            }
            let place = (step.epoch, step.phase);
            if is_exchange(step) {
                places.push(place);
            }
            let (start, end) = (sample.start - origin, sample.start - origin);
            let end = end + u64::from(sample.duration);
            let list = visits.entry(place).or_default();
            if at.replace(place) == Some(place) {
                let last = list.iter_mut().rev().find(|it| it.2 == tile.physical);
                let last = last.expect("it was visited");
                last.1 = last.1.max(end);
            } else {
                list.push((start, end, tile.physical));
            }
        }
    }
    visits.retain(|place, _| places.contains(place));
    visits
}

/// Whether a sample is a stay at its place.
fn is_member(step: &StepDescriptor, sample: &ModelSample) -> bool {
    let exchanges = step.kind == SampleKind::Exchange && sample.duration > 0;
    step.kind == SampleKind::Synchronization || exchanges
}

/// Kernel and operation, tile-cycles of waiting meanwhile, own cycles.
type Named = ((String, String), u64, u64);

/// Whether a step is no idle one in disguise.
fn computes(step: &StepDescriptor) -> bool {
    let first = step.metadata.iter().find(|it| it.0 == "active");
    step.kind == SampleKind::Compute && first.is_none_or(|it| it.1 != "false")
}

/// Kernel and operation that `tile` ran before it arrived at `place` while most of the others'
/// waiting went by; of equal ones the one with most cycles, then the one that ran first.
fn naive_late(
    profile: &ModelProfile,
    visits: &Visits,
    place: (u32, u32),
    tile: u32,
    [last_entry, until]: [u64; 2],
) -> Option<(String, String)> {
    let starts = profile.tiles.iter().filter_map(|it| it.samples.first());
    let origin = starts.map(|it| it.start).min().unwrap_or(0);
    // When tiles wait there: from each stay's start to the last arrival.
    let mut waits: Vec<(u64, u64)> = Vec::new();
    for sample in profile.tiles.iter().flat_map(|it| &it.samples) {
        let step = &profile.steps[sample.step];
        if is_member(step, sample) && (step.epoch, step.phase) == place {
            let from = sample.start - origin;
            waits.push((from, (from + u64::from(sample.duration)).min(last_entry)));
        }
    }
    let tile = profile.tiles.iter().find(|it| it.physical == tile)?;
    let mut ran: Vec<Named> = Vec::new();
    let mut ran_before = Vec::new();
    let mut at = None;
    for sample in &tile.samples {
        let step = &profile.steps[sample.step];
        let (from, to) = (
            sample.start - origin,
            sample.start - origin + u64::from(sample.duration),
        );
        if is_member(step, sample) {
            let here = (step.epoch, step.phase);
            let is_first = at.replace(here) != Some(here);
            if is_first && visits.contains_key(&here) {
                let before = std::mem::take(&mut ran);
                if here == place {
                    // Of several visits, the last one.
                    ran_before = before;
                }
            }
        } else if computes(step) && sample.duration > 0 && from < until {
            let name = (step.kernel.clone(), step.operation.clone());
            let during = |it: &(u64, u64)| to.min(it.1).saturating_sub(from.max(it.0));
            let waits: u64 = waits.iter().map(during).sum();
            match ran.iter_mut().find(|it| it.0 == name) {
                Some(it) => (it.1, it.2) = (it.1 + waits, it.2 + to - from),
                None => ran.push((name, waits, to - from)),
            }
        }
    }
    let most = ran_before.into_iter().rev().max_by_key(|it| (it.1, it.2));
    most.map(|it| it.0)
}

fn check(profile: &ModelProfile) -> Result<(), TestCaseError> {
    let found: BarrierReport = barriers(&profile.report()).expect("decodes");
    let expected = naive(profile);
    prop_assert_eq!(found.barriers.len(), expected.len());
    for row in &found.barriers {
        let visits = &expected[&(row.epoch, row.phase)];
        let mut arrivals: Vec<u64> = visits.iter().map(|it| it.0).collect();
        arrivals.sort_unstable();
        let last = *arrivals.last().expect("somebody arrives");
        prop_assert_eq!(row.tiles, visits.len() as u64);
        prop_assert_eq!(row.first_entry, arrivals[0]);
        prop_assert_eq!(row.last_entry, last);
        prop_assert_eq!(Some(row.last_exit), visits.iter().map(|it| it.1).max());
        prop_assert_eq!(
            row.late_by,
            last - arrivals[arrivals.len().saturating_sub(2)]
        );
        prop_assert_eq!(
            row.waiting,
            arrivals.iter().map(|it| last - it).sum::<u64>()
        );
        let tied = arrivals.iter().filter(|&&it| last - it <= 24).count();
        prop_assert_eq!(row.late_tiles, tied as u64);
        let late = visits.iter().find(|it| it.0 == last).expect("the last");
        prop_assert_eq!(row.last_tile.get(), late.2);
        let place = (row.epoch, row.phase);
        // What a tile runs after it was last somewhere for the last time, nobody waits for.
        let same = found
            .barriers
            .iter()
            .filter(|it| it.last_tile == row.last_tile);
        let until = same.map(|it| it.last_entry).max().unwrap_or(0);
        let expected = naive_late(profile, &expected, place, late.2, [last, until]);
        let found = row.late_work.as_ref();
        prop_assert_eq!(
            found.map(|it| (it.kernel.clone(), it.operation.clone())),
            expected
        );
    }
    for tile in &found.tiles {
        let parts = tile.waiting + tile.barrier + tile.elsewhere;
        prop_assert_eq!(tile.synchronization, parts);
    }
    let caused: u64 = found.tiles.iter().map(|tile| tile.caused).sum();
    prop_assert_eq!(caused, found.waiting());
    let ties = found.barriers.iter().filter(|it| it.late_tiles > 1).count();
    let blamed: u64 = found.culprits.iter().map(|it| it.ties).sum();
    prop_assert_eq!(blamed, ties as u64);
    let blamed: u64 = found.culprits.iter().map(|it| it.waiting).sum();
    prop_assert_eq!(blamed, found.waiting());
    Ok(())
}

/// Asked for one kernel after the other, boundaries and waits are those of all, no more, no less.
fn check_kernels(profile: &ModelProfile) -> Result<(), TestCaseError> {
    let report = profile.report();
    let all = barriers(&report).expect("decodes");
    let late = |row: &Barrier| row.late_work.as_ref().map(|it| it.kernel.clone());
    let mut waited = vec![0; all.tiles.len()];
    for culprit in &all.culprits {
        let Some(kernel) = &culprit.kernel else {
            return Ok(());
        };
        let own = barriers_for(&report, kernel).expect("decodes");
        let mut expected = all.barriers.clone();
        expected.retain(|row| late(row).as_ref() == Some(kernel));
        prop_assert_eq!(&own.barriers, &expected);
        prop_assert_eq!(&own.culprits[..], std::slice::from_ref(culprit));
        for (sum, tile) in waited.iter_mut().zip(&own.tiles) {
            *sum += tile.waiting + tile.waiting_in_exchange;
        }
    }
    let whole = all
        .tiles
        .iter()
        .map(|it| it.waiting + it.waiting_in_exchange);
    prop_assert_eq!(waited, whole.collect::<Vec<u64>>());
    let none = barriers_for(&report, "no such kernel").expect("decodes");
    prop_assert_eq!((none.barriers.len(), none.waiting()), (0, 0));
    Ok(())
}

/// In a program as we record it, all waiting is in the synchronization samples.
fn check_program(program: &Program) -> Result<(), TestCaseError> {
    let profile = program.run();
    check(&profile)?;
    check_kernels(&profile)?;
    let found = barriers(&profile.report()).expect("decodes");
    let waited: u64 = found.tiles.iter().map(|tile| tile.waiting).sum();
    prop_assert_eq!(waited, found.waiting());
    for tile in &found.tiles {
        prop_assert_eq!(tile.waiting_in_exchange, 0);
        prop_assert_eq!(
            tile.barrier,
            support::bsp::RELEASE * found.barriers.len() as u64
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_boundary_equals_the_naive_one(profile in profiles()) {
        check(&profile)?;
        check_kernels(&profile)?;
    }

    #[test]
    fn recorded_programs_wait_in_their_synchronization(program in programs()) {
        check_program(&program)?;
    }
}
