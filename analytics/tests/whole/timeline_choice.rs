//! What cells tell beside their kind, and what a part of the device spent, against a naive
//! reference over generated profiles.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::support::ModelProfile;
use crate::support::naive::{self, Placed};
use crate::support::strategy::profiles;
use analytics::clock::ClockKind;
use analytics::profile::{ProfileReport, SampleKind};
use analytics::timeline::{
    CellChoice, CellKind, CellNames, FULL_EFFICIENCY, NO_EFFICIENCY, RowGroups, RowsBy, Sums,
    Viewport, chosen_raster, raster, spent, spent_of_group,
};
use analytics::units::StringId;
use proptest::prelude::*;
use proptest::sample::select;

/// Samples of each tile, tiles ascending.
fn tiles(profile: &ModelProfile, clock: ClockKind) -> Vec<Vec<Placed<'_>>> {
    naive::by_tile(profile, clock).into_values().collect()
}

/// Cycles of a sample inside a range, multiplied by `scale`.
fn inside(sample: &Placed<'_>, range: &Range<u128>, scale: u128) -> u128 {
    let start = (u128::from(sample.start) * scale).max(range.start);
    let end = (u128::from(sample.end) * scale).min(range.end);
    end.saturating_sub(start)
}

fn computes(sample: &Placed<'_>) -> bool {
    naive::kind(sample.step) == SampleKind::Compute
}

/// Useful work over duration as a floating-point number, unless unknown.
fn efficiency(sample: &Placed<'_>) -> Option<f64> {
    let estimate = sample.step.estimate.as_ref().filter(|_| !sample.cut)?;
    Some(estimate.useful.as_cycles() / (sample.end - sample.start) as f64)
}

fn kernel_id(report: &ProfileReport, at: usize) -> Option<StringId> {
    let kernels = report.kernels();
    kernels.get(at % kernels.len().max(1)).copied()
}

/// Cycles, samples, cycles with an estimate, useful and physical work of the samples.
fn sums<'a>(samples: impl Iterator<Item = &'a Placed<'a>>, range: &Range<u64>) -> Sums {
    let range = u128::from(range.start)..u128::from(range.end);
    let mut sums = Sums::default();
    for sample in samples {
        let cycles = u64::try_from(inside(sample, &range, 1)).expect("it is short");
        if cycles == 0 {
            continue;
        }
        sums.samples += 1;
        sums.cycles += analytics::units::Cycles::new(cycles);
        let measured = sample.end - sample.start;
        // The crop leaves nobody knows which part of the work; an instant tells of whole samples.
        let counts = !sample.cut && (cycles == measured || range.end - range.start == 1);
        if let Some(estimate) = sample.step.estimate.as_ref().filter(|_| counts) {
            sums.covered += analytics::units::Cycles::new(cycles);
            sums.estimated += analytics::units::Cycles::new(measured);
            sums.useful += estimate.useful;
            sums.physical += estimate.physical;
        }
    }
    sums
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn cells_know_the_share_and_the_efficiency_of_the_focus(
        profile in profiles(),
        clock in select(ClockKind::ALL.to_vec()),
        (from, width) in (0u64..3_000, 1u64..30_000),
        columns in 1u32..12,
        focus in proptest::option::of(0usize..8),
        names in select(vec![CellNames::Kernel, CellNames::Operation]),
    ) {
        let report = profile.report();
        let focus = focus.and_then(|at| kernel_id(&report, at));
        let choice = CellChoice { names, focus, efficiency: true, ..CellChoice::default() };
        let tiles = tiles(&profile, clock);
        let count = u32::try_from(tiles.len()).expect("a few");
        prop_assume!(count > 0);
        let cycles = from..from + width;
        let view = Viewport { clock, cycles, columns, tiles: 0..count, rows: 1 };
        let found = chosen_raster(&report, &view, choice).expect("decodes");
        let plain = raster(&report, &view).expect("decodes");
        prop_assert_eq!(&found.kinds, &plain.kinds);
        prop_assert_eq!(&found.busy, &plain.busy);
        prop_assert!(plain.focused.is_empty() && plain.efficiency.is_empty());
        for column in 0..columns {
            let (scale, width) = (u128::from(columns), u128::from(width));
            let left = u128::from(from) * scale + u128::from(column) * width;
            let range = left..left + width;
            let in_focus = |it: &&Placed<'_>| {
                computes(it) && focus.is_none_or(|id| report.string(id) == it.step.kernel)
            };
            let of_focus: Vec<_> = tiles.iter().flatten().filter(in_focus).collect();
            let share: u128 = of_focus.iter().map(|it| inside(it, &range, scale)).sum();
            let whole = width * u128::from(count);
            let at = column as usize;
            let expected = focus.map(|_| (share * 255).div_ceil(whole).min(255));
            prop_assert_eq!(found.focused.get(at).map(|&it| u128::from(it)), expected);
            let (mut useful, mut measured) = (0.0, 0.0);
            for sample in of_focus {
                let units = inside(sample, &range, scale) as f64;
                if let Some(efficiency) = efficiency(sample).filter(|_| units > 0.0) {
                    let level = (efficiency * f64::from(FULL_EFFICIENCY)).min(254.0);
                    useful += level * units;
                    measured += units;
                }
            }
            if measured == 0.0 {
                prop_assert_eq!(found.efficiency[at], NO_EFFICIENCY);
            } else {
                // Each sample and the mean are rounded to a level.
                let off = (f64::from(found.efficiency[at]) - useful / measured).abs();
                prop_assert!(off <= 1.001, "{} is {} off", found.efficiency[at], off);
            }
        }
    }

    #[test]
    fn cells_by_operation_name_the_longest_one(
        profile in profiles(),
        clock in select(ClockKind::ALL.to_vec()),
        (from, width) in (0u64..3_000, 1u64..30_000),
    ) {
        let report = profile.report();
        let choice = CellChoice { names: CellNames::Operation, ..CellChoice::default() };
        let tiles = tiles(&profile, clock);
        let count = u32::try_from(tiles.len()).expect("a few");
        prop_assume!(count > 0);
        let cycles = from..from + width;
        let view = Viewport { clock, cycles, columns: 1, tiles: 0..count, rows: 1 };
        let found = chosen_raster(&report, &view, choice).expect("decodes");
        let range = u128::from(from)..u128::from(from + width);
        let mut operations: BTreeMap<&str, u128> = BTreeMap::new();
        for sample in tiles.iter().flatten() {
            let kind = CellKind::of(naive::kind(sample.step)) as u8;
            let cycles = inside(sample, &range, 1);
            if kind == found.kinds[0] && cycles > 0 {
                *operations.entry(&sample.step.operation).or_default() += cycles;
            }
        }
        let name = match found.kernels[0].checked_sub(1) {
            Some(id) => report.string(StringId::new(id)),
            None => "",
        };
        prop_assert_eq!(operations.get(name), operations.values().max());
    }

    #[test]
    fn what_was_spent_is_the_sum_of_what_lies_inside(
        profile in profiles(),
        clock in select(ClockKind::ALL.to_vec()),
        (from, width) in (0u64..3_000, prop_oneof![3 => 1u64..30_000, 1 => Just(1)]),
        (first, count) in (0u32..3, 1u32..6),
        focus in proptest::option::of(0usize..8),
    ) {
        let report = profile.report();
        let focus = focus.and_then(|at| kernel_id(&report, at));
        let cycles = from..from + width;
        let range = first..first + count;
        let found = spent(&report, clock, cycles.clone(), range, focus).expect("decodes");
        let all = tiles(&profile, clock);
        let end = all.len().min((first + count) as usize);
        let visible = &all[(first as usize).min(end)..end];
        prop_assert_eq!(found.tiles.len(), visible.len());
        prop_assert_eq!(found.whole.get(), width * visible.len() as u64);
        for kind in 0..CellKind::COUNT {
            let of_kind = |it: &&Placed<'_>| CellKind::of(naive::kind(it.step)) as usize == kind;
            let expected = sums(visible.iter().flatten().filter(of_kind), &cycles);
            prop_assert_eq!(found.kinds[kind], expected);
            for (tile, samples) in found.tiles.iter().zip(visible) {
                let expected = sums(samples.iter().filter(of_kind), &cycles);
                prop_assert_eq!(tile.kinds[kind], expected.cycles);
            }
        }
        for (tile, samples) in found.tiles.iter().zip(visible) {
            let in_focus = |it: &&Placed<'_>| {
                computes(it) && focus.is_none_or(|id| report.string(id) == it.step.kernel)
            };
            prop_assert_eq!(tile.compute, sums(samples.iter().filter(in_focus), &cycles));
        }
        for (kernel, of_kernel) in &found.kernels {
            let name = report.string(*kernel);
            let is_it = |it: &&Placed<'_>| computes(it) && it.step.kernel == name;
            prop_assert_eq!(*of_kernel, sums(visible.iter().flatten().filter(is_it), &cycles));
        }
        let listed: u64 = found.kernels.iter().map(|(_, sums)| sums.samples).sum();
        prop_assert_eq!(listed, found.kinds[CellKind::Compute as usize].samples);
        prop_assert!(found.kernels.is_sorted_by(|a, b| a.1.cycles >= b.1.cycles));
    }

    #[test]
    fn groups_share_all_that_was_spent(
        profile in profiles(),
        clock in select(ClockKind::ALL.to_vec()),
        (from, width) in (0u64..3_000, 1u64..30_000),
        by in select(vec![RowsBy::ChipColumn, RowsBy::ChipRow, RowsBy::Cohort, RowsBy::Operation]),
    ) {
        let report = profile.report();
        let groups = RowGroups::new(&report, by).expect("decodes").expect("no tiles");
        let cycles = from..from + width;
        let all = spent(&report, clock, cycles.clone(), 0..u32::MAX, None).expect("decodes");
        let tiles = naive::by_tile(&profile, clock);
        let mut samples = [0; CellKind::COUNT];
        for group in (0..).take(groups.names.len()) {
            let found = spent_of_group(&report, clock, cycles.clone(), &groups, group);
            let found = found.expect("decodes");
            let members = u64::from(groups.tiles[group as usize]);
            prop_assert_eq!(found.whole.get(), width * members);
            for (sum, kind) in samples.iter_mut().zip(&found.kinds) {
                *sum += kind.samples;
            }
            let name = format!("column {group}");
            let of_kernels: u64 = found.kernels.iter().map(|(_, sums)| sums.samples).sum();
            prop_assert_eq!(of_kernels, found.kinds[CellKind::Compute as usize].samples);
            if by == RowsBy::ChipColumn && groups.names[group as usize] == name {
                let is_in = |id: u32| id >> 2 & 15 == group;
                let inside = tiles.iter().filter(|(id, _)| is_in(**id)).flat_map(|it| it.1);
                let inside = inside.filter(|it| computes(it));
                prop_assert_eq!(found.kinds[CellKind::Compute as usize], sums(inside, &cycles));
            }
        }
        prop_assert_eq!(samples, all.kinds.map(|it| it.samples));
    }
}
