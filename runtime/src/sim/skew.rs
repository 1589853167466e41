//! Start skew: how late each tile begins, bounded and seeded.

use analytics::units::Cycles;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The start of each tile, 0..=`bound` cycles after the run begins; a bound of zero starts all at
/// once.
pub(crate) fn starts(tiles: usize, seed: u64, bound: Cycles) -> Vec<u64> {
    let bound = bound.get();
    let mut random = SplitMix64::seed_from_u64(seed);
    let draw = |_| match bound.checked_add(1) {
        None => random.next_u64(),
        Some(choices) => random.next_u64() % choices,
    };
    (0..tiles).map(draw).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skew_is_bounded_seeded_and_off_by_default() {
        assert_eq!(starts(4, 7, Cycles::ZERO), [0; 4]);
        let skewed = starts(1472, 7, Cycles::new(300));
        assert!(skewed.iter().all(|&start| start <= 300));
        assert!(skewed.iter().any(|&start| start > 250));
        assert_eq!(skewed, starts(1472, 7, Cycles::new(300)));
        assert_ne!(skewed, starts(1472, 8, Cycles::new(300)));
    }
}
