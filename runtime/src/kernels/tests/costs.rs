//! The cost table against published C600 measurements.

use analytics::units::Cycles;

use crate::fidelity::pointwise::REDUCTIONS;
use crate::kernels::{Basis, Generation, basis, cycles, workers};
use crate::package::MemoryClass::{Interleaved, Standard};
use crate::package::{Add, Cast, Gemm, KernelSpec, MemoryClass, Merge, MergeAll};

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

/// What each basis claims is no more than what was published.
#[test]
fn no_basis_claims_more_than_was_published() {
    let merge = |half_output| {
        KernelSpec::Merge(Merge {
            rows: 8,
            columns: 72,
            padded: 80,
            first: false,
            last: true,
            half_output,
        })
    };
    let (old, new) = (Generation::G20260907, Generation::G20260913);
    let flat = KernelSpec::Cast(Cast::F16ToF143 {
        elements: 8320,
        scale: 0,
    });
    let stage = KernelSpec::StageInterleaved { bytes: 8192 };
    for (spec, generation, expected) in [
        // Six points of the earlier set with F32 results; none of the later one, none with F16.
        (merge(false), old, Basis::Measured),
        (merge(true), old, Basis::Fitted),
        (merge(false), new, Basis::Fitted),
        (merge(true), new, Basis::Fitted),
        // A planner's fallback, far from the one point.
        (flat, old, Basis::Assumed),
        (flat, new, Basis::Assumed),
        // One point makes no fit.
        (stage, old, Basis::Derived),
        (stage, new, Basis::Derived),
    ] {
        assert_eq!(basis(&spec, generation), expected, "{spec:?} {generation}");
    }
}

/// 294 + panels of K16 × C16 · (4 · 4R + 531.5), in whole cycles.
#[test]
fn f32_products_cost_what_the_early_planner_says() {
    for (rows, inner, columns, expected) in [
        (8, 16, 16, 294 + 128 + 532),
        (8, 32, 16, 294 + 256 + 1063),
        (100, 64, 48, 294 + 12 * 1600 + 6378),
    ] {
        let spec = KernelSpec::GemmF32(Gemm {
            rows,
            inner,
            columns,
            accumulate: false,
            coefficients: Interleaved,
        });
        assert_eq!(cycles(&spec, Generation::default()).get(), expected);
        assert_eq!(basis(&spec, Generation::default()), Basis::Assumed);
    }
}

/// As the F16 add, in blocks of 12 elements instead of 24.
#[test]
fn f32_adds_take_twice_the_blocks_of_f16_ones_and_are_assumed() {
    let (old, new) = (Generation::G20260907, Generation::G20260913);
    for (rows, width, generation, expected) in [
        (1, 24, new, 504 + 2 * 18),
        (1, 26, new, 504 + 3 * 18),
        (3, 24, new, 504 + 3 * 2 * 18 + 2 * 234),
        (1, 24, old, 492 + 2 * 24),
    ] {
        let spec = KernelSpec::AddF32(Add { rows, width });
        assert_eq!(cycles(&spec, generation).get(), expected, "{rows}x{width}");
        assert_eq!(basis(&spec, generation), Basis::Assumed);
    }
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
