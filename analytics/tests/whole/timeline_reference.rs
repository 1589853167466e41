//! Pictures, strips and hits against a naive reference, over generated profiles.

use std::collections::BTreeMap;

use crate::support::naive::{self, Placed};
use crate::support::strategy::profiles;
use analytics::clock::ClockKind;
use analytics::profile::{ProfileReport, SampleKind};
use analytics::timeline::{CellKind, Viewport, hit, kind_shares, raster};
use analytics::units::StringId;
use proptest::prelude::*;
use proptest::sample::select;

fn cell_kind(sample: &Placed<'_>) -> u8 {
    match naive::kind(sample.step) {
        SampleKind::Exchange => 0,
        SampleKind::Compute => 1,
        SampleKind::Synchronization => 2,
        SampleKind::Idle => 3,
        SampleKind::Unknown(_) => 4,
    }
}

/// Time that samples spend in a cell, in cycles / `columns`, by kind and kernel.
type Cell = BTreeMap<(u8, String), u128>;

fn cell(samples: &[&Placed<'_>], view: &Viewport, column: u32) -> Cell {
    let columns = u128::from(view.columns);
    let width = u128::from(view.cycles.end - view.cycles.start);
    let left = u128::from(view.cycles.start) * columns + u128::from(column) * width;
    let mut cell = Cell::new();
    for sample in samples {
        let start = (u128::from(sample.start) * columns).max(left);
        let end = (u128::from(sample.end) * columns).min(left + width);
        if end > start {
            let key = (cell_kind(sample), sample.step.kernel.clone());
            *cell.entry(key).or_default() += end - start;
        }
    }
    cell
}

fn check_cell(
    report: &ProfileReport,
    cell: &Cell,
    whole: u128,
    (kind, kernel, busy): (u8, u32, u8),
) -> Result<(), TestCaseError> {
    let of_kind = |kind: u8| -> u128 {
        cell.iter()
            .filter(|((it, _), _)| *it == kind)
            .map(|(_, units)| units)
            .sum()
    };
    let compute = of_kind(CellKind::Compute as u8) * 255 / whole;
    prop_assert_eq!(u128::from(busy), compute.min(255));
    if cell.is_empty() {
        prop_assert_eq!((kind, kernel), (CellKind::Nothing as u8, 0));
        return Ok(());
    }
    let most = (0..5).map(of_kind).max().expect("five kinds");
    let expected = (0..5)
        .find(|&kind| of_kind(kind) == most)
        .expect("one of them");
    prop_assert_eq!(kind, expected);
    let name = match kernel.checked_sub(1) {
        Some(id) => report.string(StringId::new(id)).to_owned(),
        None => String::new(),
    };
    let longest = cell
        .iter()
        .filter(|((it, _), _)| *it == kind)
        .map(|(_, units)| units)
        .max();
    prop_assert_eq!(cell.get(&(kind, name)), longest);
    Ok(())
}

fn viewports() -> impl Strategy<Value = Viewport> {
    let from = prop_oneof![Just(0u64), 0u64..3_000, 0u64..300_000];
    let width = prop_oneof![1u64..30, 1u64..3_000, 1u64..3_000_000];
    (
        select(ClockKind::ALL.to_vec()),
        from,
        width,
        1u32..20,
        0u32..4,
        1u32..8,
        1u32..8,
    )
        .prop_map(
            |(clock, from, width, columns, first, count, rows)| Viewport {
                clock,
                cycles: from..from + width,
                columns,
                tiles: first..first + count,
                rows,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_cell_shows_what_took_most_of_it(profile in profiles(), view in viewports()) {
        let report = profile.report();
        let raster = raster(&report, &view).expect("decodes");
        let tiles: Vec<_> = naive::by_tile(&profile, view.clock).into_values().collect();
        let end = (view.tiles.end as usize).min(tiles.len());
        let visible = &tiles[(view.tiles.start as usize).min(end)..end];
        prop_assert_eq!(raster.rows as usize, visible.len().min(view.rows as usize));
        prop_assert_eq!(raster.kinds.len(), (raster.rows * view.columns) as usize);
        let rows = raster.rows as usize;
        for row in 0..rows {
            let of_row = &visible[row * visible.len() / rows..(row + 1) * visible.len() / rows];
            let samples: Vec<_> = of_row.iter().flatten().collect();
            let whole = u128::from(view.cycles.end - view.cycles.start) * of_row.len() as u128;
            for column in 0..view.columns {
                let at = row * view.columns as usize + column as usize;
                let found = (raster.kinds[at], raster.kernels[at], raster.busy[at]);
                check_cell(&report, &cell(&samples, &view, column), whole, found)?;
            }
        }
    }

    #[test]
    fn the_strip_shares_out_all_time(
        profile in profiles(),
        clock in select(ClockKind::ALL.to_vec()),
        columns in 1u32..40,
    ) {
        let strip = kind_shares(&profile.report(), clock, columns).expect("decodes");
        let span = naive::span(&profile, clock);
        prop_assert_eq!(strip.span, span);
        let tiles = naive::by_tile(&profile, clock);
        let edge = |column: u32| u128::from(span) * u128::from(column) / u128::from(columns);
        for column in 0..columns {
            let (left, right) = (edge(column), edge(column + 1));
            let mut cycles = [0u128; 5];
            for sample in tiles.values().flatten() {
                let start = u128::from(sample.start).max(left);
                let end = u128::from(sample.end).min(right);
                cycles[cell_kind(sample) as usize] += end.saturating_sub(start);
            }
            for (kind, cycles) in cycles.into_iter().enumerate() {
                let whole = (right - left) * tiles.len() as u128;
                let expected = (cycles * 65_535).checked_div(whole).unwrap_or(0).min(65_535);
                let at = column as usize * CellKind::COUNT + kind;
                prop_assert_eq!(u128::from(strip.shares[at]), expected);
            }
        }
    }

    #[test]
    fn a_hit_is_the_last_sample_that_runs(
        profile in profiles(),
        clock in select(ClockKind::ALL.to_vec()),
        tile in 0u32..5,
        offset in prop_oneof![0u64..200, 0u64..3_000, 0u64..300_000],
    ) {
        let report = profile.report();
        let found = hit(&report, clock, tile, offset).expect("decodes");
        let tiles = naive::by_tile(&profile, clock);
        let expected = tiles.values().nth(tile as usize).and_then(|samples| {
            samples.iter().rev().find(|it| it.start <= offset && offset < it.end)
        });
        prop_assert_eq!(found.is_some(), expected.is_some());
        if let (Some(found), Some(expected)) = (found, expected) {
            prop_assert_eq!(found.tile.get(), expected.tile);
            prop_assert_eq!(found.ordinal, expected.ordinal as u64);
            prop_assert_eq!(found.offset, expected.start);
            prop_assert_eq!(found.duration.get(), expected.end - expected.start);
            prop_assert_eq!(found.cut, expected.cut);
            prop_assert_eq!(found.kernel, expected.step.kernel.clone());
        }
    }
}
