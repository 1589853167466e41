//! A multiset of durations: values in, exact percentiles out.
//!
//! Values are listed until the list is as long as a table of the smallest values would be; from
//! then on those are counted, and the table grows with the list. Values above the largest table are
//! listed in pieces of one length, which neither grow nor are copied or sorted. So a kernel that
//! runs often costs one increment a sample and 256 KiB, and a sample longer than 65,535 cycles four
//! bytes.

use crate::units::Cycles;

/// Length of the list at which there is a table first, and of that table.
const TABLE_MIN: usize = 1 << 12;
/// Length of the largest table, and of a piece of the list of larger values.
const TABLE_MAX: usize = 1 << 16;
/// Occurrences that a wrapped counter stands for.
const WRAPPED: u64 = 1 << 32;

/// A multiset of durations in cycles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Durations {
    /// Occurrences by value; empty until it pays.
    counts: Vec<u32>,
    /// Values that the table does not hold, but for those in `pieces`.
    list: Vec<u32>,
    /// Lists of [`TABLE_MAX`] values above the largest table.
    pieces: Vec<Vec<u32>>,
    /// The value of each counter that wrapped, once for every wrap.
    wrapped: Vec<u32>,
}

/// Exact order statistics of a multiset; zero for an empty one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ranks {
    /// Median, lower nearest rank.
    pub(crate) p50: Cycles,
    /// 95th percentile, lower nearest rank.
    pub(crate) p95: Cycles,
    /// Largest value.
    pub(crate) maximum: Cycles,
}

/// The rank of a percentile among values ranked from 0 to `last`: the lower nearest, without
/// interpolation.
pub(crate) const fn lower_rank(last: u64, percent: u64) -> u64 {
    last / 100 * percent + last % 100 * percent / 100
}

impl Durations {
    /// Adds one value.
    #[inline]
    pub(crate) fn add(&mut self, value: u32) {
        match self.counts.get_mut(value as usize) {
            Some(count) => {
                *count = count.wrapping_add(1);
                if *count == 0 {
                    self.wrapped.push(value);
                }
            }
            None => self.push(value),
        }
    }

    #[inline(never)]
    fn push(&mut self, value: u32) {
        if self.list.len() >= TABLE_MAX {
            self.pieces.push(std::mem::take(&mut self.list));
        }
        self.list.push(value);
        let longer = TABLE_MIN.max(self.counts.len() * 2);
        if self.list.len() >= longer && longer <= TABLE_MAX {
            self.counts.resize(longer, 0);
            for value in std::mem::take(&mut self.list) {
                match self.counts.get_mut(value as usize) {
                    // A new counter, which the short list cannot wrap.
                    Some(count) => *count += 1,
                    None => self.list.push(value),
                }
            }
        }
    }

    /// Adds all values of `other`.
    pub(crate) fn merge(&mut self, mut other: Self) {
        if self.counts.len() < other.counts.len() {
            std::mem::swap(self, &mut other);
        }
        for (value, count) in (0..).zip(other.counts) {
            let Some(mine) = self.counts.get_mut(value as usize) else {
                continue;
            };
            let (sum, over) = mine.overflowing_add(count);
            *mine = sum;
            if over {
                self.wrapped.push(value);
            }
        }
        // Only beside the largest table there are pieces, and that is now here.
        self.pieces.extend(other.pieces);
        other.list.into_iter().for_each(|value| self.add(value));
        self.wrapped.extend(other.wrapped);
    }

    /// The order statistics. Sorts the list, or passes over it some times, so it is not free.
    pub(crate) fn ranks(&mut self) -> Ranks {
        let counted: u64 = self.counts.iter().map(|&count| u64::from(count)).sum();
        let wraps = self.wrapped.len() as u64 * WRAPPED;
        let listed = self.list.len() + self.pieces.len() * TABLE_MAX;
        let total = counted + wraps + listed as u64;
        let Some(last) = total.checked_sub(1) else {
            return Ranks::default();
        };
        let ranks = [lower_rank(last, 50), lower_rank(last, 95), last];
        let [p50, p95, maximum] = self.values_at(ranks);
        Ranks { p50, p95, maximum }
    }

    /// The values at ascending ranks, all in range.
    fn values_at(&mut self, ranks: [u64; 3]) -> [Cycles; 3] {
        let mut values = [Cycles::ZERO; 3];
        let mut next = 0;
        let mut before = 0;
        for (value, &count) in (0..).zip(&self.counts) {
            let wraps = self.wrapped.iter().filter(|&&it| it == value).count() as u64;
            before += u64::from(count) + wraps * WRAPPED;
            while next < ranks.len() && ranks[next] < before {
                values[next] = Cycles::new(u64::from(value));
                next += 1;
            }
        }
        if self.pieces.is_empty() {
            self.list.sort_unstable();
        }
        for (value, rank) in values.iter_mut().zip(ranks).skip(next) {
            let rank = rank - before;
            let listed = if self.pieces.is_empty() {
                let at = usize::try_from(rank).ok();
                at.and_then(|at| self.list.get(at)).copied()
            } else {
                self.select(rank)
            };
            *value = Cycles::new(u64::from(listed.unwrap_or_default()));
        }
        values
    }

    /// The listed value at a rank among them, by the upper half of its bits, then by the lower: two
    /// passes and no copy.
    fn select(&self, rank: u64) -> Option<u32> {
        let listed = || self.pieces.iter().flatten().chain(&self.list).copied();
        let (high, rank) = rank_in(listed().map(|value| value >> 16), rank)?;
        let with_high = listed().filter(|value| value >> 16 == high);
        let (low, _) = rank_in(with_high.map(|value| value & 0xFFFF), rank)?;
        Some(high << 16 | low)
    }
}

/// The value at a rank among values of 16 bits, and the rank among those equal to it.
fn rank_in(values: impl Iterator<Item = u32>, mut rank: u64) -> Option<(u32, u64)> {
    let mut counts = vec![0u64; 1 << 16];
    values.for_each(|value| counts[value as usize] += 1);
    for (value, &count) in (0..).zip(&counts) {
        if rank < count {
            return Some((value, rank));
        }
        rank -= count;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranks_of(values: impl IntoIterator<Item = u32>) -> Ranks {
        let mut durations = Durations::default();
        values.into_iter().for_each(|value| durations.add(value));
        durations.ranks()
    }

    fn sorted_ranks(mut values: Vec<u32>) -> Ranks {
        values.sort_unstable();
        let at = |percent: usize| {
            let rank = values.len().saturating_sub(1) * percent / 100;
            Cycles::new(values.get(rank).copied().unwrap_or(0).into())
        };
        Ranks {
            p50: at(50),
            p95: at(95),
            maximum: at(100),
        }
    }

    #[test]
    fn ranks_are_the_lower_nearest() {
        for (n, p50, p95) in [
            (1, 1, 1),
            (4, 2, 3),
            (10, 5, 9),
            (20, 10, 19),
            (100, 50, 95),
        ] {
            let ranks = ranks_of(1..=n);
            assert_eq!(
                (ranks.p50.get(), ranks.p95.get()),
                (p50, p95),
                "values 1..={n}"
            );
            assert_eq!(ranks.maximum.get(), u64::from(n));
        }
        assert_eq!(ranks_of([]), Ranks::default());
    }

    #[test]
    fn a_counter_that_wraps_keeps_its_occurrences() {
        let mut durations = Durations {
            counts: vec![0; TABLE_MAX],
            ..Default::default()
        };
        durations.counts[7] = u32::MAX;
        durations.add(7);
        durations.add(100_000);
        assert_eq!(durations.counts[7], 0);
        assert_eq!(durations.ranks().p95, Cycles::new(7));
        let mut other = Durations {
            counts: vec![1; TABLE_MAX],
            ..Default::default()
        };
        other.counts[9] = u32::MAX;
        durations.merge(other.clone());
        durations.merge(other);
        assert_eq!(durations.wrapped, [7, 9]);
    }

    #[test]
    fn values_above_the_table_cost_four_bytes_and_keep_their_ranks() {
        // 200,000 distinct values in a scrambled order, in two multisets.
        let value = |at: u32| 70_000 + at.wrapping_mul(7_919) % 200_000 * 16;
        let mut halves = [Durations::default(), Durations::default()];
        for at in 0..200_000 {
            halves[at as usize % 2].add(value(at));
        }
        let [mut whole, other] = halves;
        whole.merge(other);
        assert_eq!(whole.pieces.len(), 3);
        let bytes = |list: &Vec<u32>| list.capacity() * size_of::<u32>();
        assert!(whole.pieces.iter().all(|it| bytes(it) == 4 * it.len()));
        assert!(
            bytes(&whole.list) <= 4 * TABLE_MAX,
            "one piece that is being filled"
        );
        assert_eq!(
            whole.ranks(),
            sorted_ranks((0..200_000).map(value).collect())
        );
    }

    /// Few distinct values, so that the table of a small input is not mostly zero.
    fn values() -> impl Strategy<Value = Vec<u32>> {
        let value = prop_oneof![0..300u32, 65_000..66_000u32, Just(u32::MAX)];
        (
            prop::collection::vec(value, 0..300),
            prop_oneof![Just(1usize), Just(400)],
        )
            .prop_map(|(values, times)| values.repeat(times))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn ranks_equal_those_of_the_sorted_values(mut a in values(), b in values()) {
            let mut durations = Durations::default();
            a.iter().for_each(|&value| durations.add(value));
            let mut other = Durations::default();
            b.iter().for_each(|&value| other.add(value));
            durations.merge(other);
            a.extend(b);
            prop_assert_eq!(durations.ranks(), sorted_ranks(a));
        }
    }
}
