//! Published figures of the bases, and the block totals that they must add up to.

use super::*;
use crate::units::{Bytes, Elements, Flops};
use gemm::GemmExtent;

/// Asserts useful and physical work in issue-cycles.
#[track_caller]
fn check(estimate: &WorkEstimate, useful: f64, physical: f64) {
    assert_eq!(
        estimate.useful.as_cycles(),
        useful,
        "useful of {}",
        estimate.basis
    );
    assert_eq!(
        estimate.physical.as_cycles(),
        physical,
        "physical of {}",
        estimate.basis
    );
}

#[test]
fn gemm_divides_flop_by_the_rate_of_its_precision() {
    let logical = GemmExtent::new(3, 16, 16);
    let physical = GemmExtent::new(4, 16, 16);
    check(
        &gemm::estimate(logical, physical, Precision::F16),
        12.0,
        16.0,
    );
    check(&gemm::estimate(logical, physical, Precision::F8), 6.0, 8.0);
    check(
        &gemm::estimate(logical, physical, Precision::F32),
        48.0,
        64.0,
    );
}

#[test]
fn gemm_of_one_element_is_exact() {
    let one = GemmExtent::new(1, 1, 1);
    assert_eq!(
        gemm::estimate(one, one, Precision::F8).useful,
        Work::from_256ths(2)
    );
}

#[test]
fn vector_bases_cost_what_their_instructions_cost() {
    let (n, padded) = (Elements::new(10), Elements::new(12));
    check(&add::estimate(n, padded, Precision::F16), 2.5, 3.0);
    check(&add::estimate(n, padded, Precision::F32), 5.0, 6.0);
    check(&gelu::estimate(n, padded), 30.0, 36.0);
    check(&reduction::estimate(3, n, padded, Precision::F16), 5.0, 6.0);
    check(
        &reduction::estimate(3, n, padded, Precision::F32),
        10.0,
        12.0,
    );
    check(&reduction::estimate(1, n, padded, Precision::F16), 0.0, 0.0);
    check(
        &rearrange::estimate(Bytes::new(10), Bytes::new(12)),
        2.5,
        3.0,
    );
    check(&fill::padding_only(), 0.0, 0.0);
}

#[test]
fn casts_cost_by_direction_and_other_pairs_are_unknown() {
    let n = Elements::new(16);
    let cast = |from, to| cast::estimate(n, n, from, to).map(|it| it.useful.as_cycles());
    assert_eq!(cast(Precision::F16, Precision::F32), Some(8.0));
    assert_eq!(cast(Precision::F32, Precision::F16), Some(8.0));
    assert_eq!(cast(Precision::F16, Precision::F8), Some(2.0));
    assert_eq!(cast(Precision::F8, Precision::F16), Some(4.0));
    assert_eq!(cast(Precision::F8, Precision::F32), None);
    assert_eq!(cast(Precision::F16, Precision::F16), None);
}

#[test]
fn softmax_counts_an_odd_key_as_half_a_pair() {
    check(&softmax::estimate(1, 64), 261.0, 261.0);
    check(&softmax::estimate(2, 729), 2.0 * 2921.0, 2.0 * 2925.0);
}

/// The mathematical FLOP of the published blocks, from 729 tokens, 1,152 features, 16 heads of 72.
#[test]
fn shards_of_both_attention_strategies_add_up_to_the_mathematical_flop() {
    let projections = 3 * gemm::flops(GemmExtent::new(729, 1152, 1152)).get();
    let whole = gemm::flops(GemmExtent::new(729, 72, 729)).get();
    let blocked: u64 = (0..12)
        .map(|block| gemm::flops(GemmExtent::new(729, 72, (729 - block * 64).min(64))).get())
        .sum();
    assert_eq!(blocked, whole, "eleven blocks of 64 keys and one of 25");
    assert_eq!(projections + 16 * 2 * blocked, 8_253_633_024);
    let mlp = 2 * gemm::flops(GemmExtent::new(729, 1152, 4304)).get();
    assert_eq!(mlp, 14_458_134_528);
}

#[test]
fn lane_occupancies_of_the_published_attention_block() {
    let lanes = |it: &WorkEstimate| {
        format!(
            "{:.1}",
            100.0 * it.useful.as_cycles() / it.physical.as_cycles()
        )
    };
    let (logical, physical) = (GemmExtent::new(1, 72, 729), GemmExtent::new(1, 80, 768));
    assert_eq!(
        lanes(&gemm::estimate(logical, physical, Precision::F16)),
        "85.4"
    );
    assert_eq!(
        lanes(&rearrange::estimate(Bytes::new(9), Bytes::new(16))),
        "56.2"
    );
}

#[test]
fn sums_join_bases_and_one_unknown_call_makes_the_sum_unknown() {
    let fill = fill::padding_only();
    let gelu = gelu::estimate(Elements::new(4), Elements::new(8));
    let total = sum([Some(&gelu), Some(&fill), Some(&gelu)]).expect("all calls are known");
    check(&total, 24.0, 48.0);
    assert_eq!(
        total.basis,
        "FP16 GeLU 12 instructions / 4 values; padding-only fill"
    );
    assert_eq!(sum([Some(&gelu), None]), None);
    assert_eq!(sum([]), None);
}

#[test]
fn absurd_extents_saturate_instead_of_wrapping() {
    let huge = GemmExtent::new(u64::MAX, u64::MAX, u64::MAX);
    assert_eq!(gemm::flops(huge), Flops::new(u64::MAX));
    assert_eq!(
        gemm::estimate(huge, huge, Precision::F32)
            .useful
            .get_256ths(),
        u64::MAX
    );
    assert_eq!(
        softmax::estimate(u64::MAX, u64::MAX).physical.get_256ths(),
        u64::MAX
    );
}
