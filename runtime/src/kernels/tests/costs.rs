//! The cost table against published C600 measurements.

use analytics::units::Cycles;

use crate::fidelity::pointwise::REDUCTIONS;
use crate::kernels::{Basis, Generation, basis, cycles, workers};
use crate::package::MemoryClass::{Interleaved, Standard};
use crate::package::{KernelSpec, MemoryClass, Merge, MergeAll};

fn gemm(rows: u32, inner: u32, columns: u32, coefficients: MemoryClass) -> KernelSpec {
    KernelSpec::GemmF16 {
        rows,
        inner,
        columns,
        accumulate: false,
        coefficients,
    }
}

#[test]
fn reductions_cost_exactly_what_was_measured() {
    for &(partials, elements, expected) in REDUCTIONS {
        let spec = KernelSpec::ReduceSumF16 { partials, elements };
        for generation in Generation::ALL {
            assert_eq!(cycles(&spec, generation), Cycles::new(expected), "{spec:?}");
        }
        assert_eq!(basis(&spec, Generation::default()), Basis::Measured);
    }
}

#[test]
fn products_cost_within_two_percent_of_what_was_measured() {
    let measured = [
        (184, 288, 48, Interleaved, 48_654),
        (182, 288, 48, Interleaved, 48_180),
        (184, 288, 32, Interleaved, 32_538),
        (146, 576, 32, Interleaved, 53_718),
        (120, 80, 272, Interleaved, 55_344),
        (81, 80, 80, Interleaved, 12_402),
        (8, 80, 768, Standard, 54_744),
        (8, 768, 80, Standard, 53_712),
    ];
    for (rows, inner, columns, class, expected) in measured {
        let found = cycles(&gemm(rows, inner, columns, class), Generation::default()).get();
        let error = (found as f64 - f64::from(expected)) / f64::from(expected);
        println!("{rows}x{inner}x{columns} {class:?}: {found}, measured {expected}, {error:+.4}");
        assert!(
            error.abs() < 0.02,
            "{rows}x{inner}x{columns}: {found} for {expected}"
        );
    }
}

#[test]
fn copies_and_fills_follow_their_formulas() {
    let cost = |spec| cycles(&spec, Generation::default()).get();
    // 246 + 12(⌊w/6⌋ + [w mod 6 > 0]) for w words; 246 + 6⌈bytes/48⌉.
    assert_eq!(cost(KernelSpec::Copy { bytes: 8 }), 258);
    assert_eq!(cost(KernelSpec::Copy { bytes: 48 }), 258);
    assert_eq!(cost(KernelSpec::Copy { bytes: 56 }), 270);
    assert_eq!(cost(KernelSpec::ZeroFill { bytes: 48 }), 252);
    assert_eq!(cost(KernelSpec::ZeroFill { bytes: 56 }), 258);
    assert_eq!(
        basis(&KernelSpec::ZeroFill { bytes: 8 }, Generation::default()),
        Basis::Derived
    );
}

/// What nobody has measured is assumed, and worth its flag: it beats a merge for each part.
#[test]
fn a_merge_in_one_pass_is_assumed_and_shorter() {
    let generation = Generation::default();
    let all = KernelSpec::MergeAll(MergeAll {
        rows: 9,
        columns: 72,
        padded: 80,
        parts: 6,
        half_output: true,
    });
    // 222 + 6 · 2 rows a worker · (24 + 5 + 6 · 8 + 1 + 3 · 4 + 36 · (2 · 6 + 3)).
    assert_eq!(cycles(&all, generation).get(), 222 + 12 * 630);
    assert_eq!(basis(&all, generation), Basis::Assumed);
    let one = |part: u32| {
        let merge = KernelSpec::Merge(Merge {
            rows: 9,
            columns: 72,
            padded: 80,
            first: part == 0,
            last: part == 5,
            half_output: part == 5,
        });
        cycles(&merge, generation)
    };
    assert!(cycles(&all, generation) < (0..6).map(one).sum());
}

#[test]
fn absurd_extents_saturate() {
    let spec = gemm(u32::MAX, u32::MAX, u32::MAX, Standard);
    assert!(cycles(&spec, Generation::default()) > Cycles::new(u64::MAX / 2));
    let spec = KernelSpec::ReduceSumF16 {
        partials: u32::MAX,
        elements: u32::MAX,
    };
    assert!(cycles(&spec, Generation::default()) > Cycles::new(1 << 60));
}

#[test]
fn workers_share_items_contiguously_and_evenly() {
    for items in [0, 1, 5, 6, 7, 366] {
        let shares: Vec<_> = (0..workers::WORKERS)
            .map(|w| workers::share(items, w))
            .collect();
        assert_eq!(shares[0].start, 0);
        assert_eq!(shares[5].end, items);
        assert!(shares.windows(2).all(|pair| pair[0].end == pair[1].start));
        let lengths: Vec<_> = shares.iter().map(|share| share.len() as u64).collect();
        assert!(
            lengths
                .iter()
                .all(|&length| length + 1 >= workers::busiest(items))
        );
        assert_eq!(lengths.iter().max(), Some(&workers::busiest(items)));
    }
}

#[test]
fn generations_have_dates_for_names() {
    for generation in Generation::ALL {
        assert_eq!(generation.to_string().parse(), Ok(generation));
    }
    assert!("2026-09-08".parse::<Generation>().is_err());
}
