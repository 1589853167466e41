//! A multiset of durations: values in, exact percentiles out.
//!
//! Values are listed until the list is as long as a table of the smallest values would be; from
//! then on those are counted, and the table grows with the list. So a value costs at most eight
//! bytes, and a kernel that runs often costs one increment a sample.

use crate::units::Cycles;

/// Length of the list at which there is a table first, and of that table.
const TABLE_MIN: usize = 1 << 12;
/// Length of the largest table: larger values are always listed.
const TABLE_MAX: usize = 1 << 16;
/// Occurrences that a wrapped counter stands for.
const WRAPPED: u64 = 1 << 32;

/// A multiset of durations in cycles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Durations {
    /// Occurrences by value; empty until it pays.
    counts: Vec<u32>,
    /// Values that the table does not hold.
    list: Vec<u32>,
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
        other.list.into_iter().for_each(|value| self.add(value));
        self.wrapped.extend(other.wrapped);
    }

    /// The order statistics. Sorts the list, so it is not free.
    pub(crate) fn ranks(&mut self) -> Ranks {
        self.list.sort_unstable();
        let counted: u64 = self.counts.iter().map(|&count| u64::from(count)).sum();
        let wraps = self.wrapped.len() as u64 * WRAPPED;
        let total = counted + wraps + self.list.len() as u64;
        let Some(last) = total.checked_sub(1) else {
            return Ranks::default();
        };
        let ranks = [lower_rank(last, 50), lower_rank(last, 95), last];
        let [p50, p95, maximum] = self.values_at(ranks);
        Ranks { p50, p95, maximum }
    }

    /// The values at ascending ranks, all in range. The list is sorted.
    fn values_at(&self, ranks: [u64; 3]) -> [Cycles; 3] {
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
        for (value, rank) in values.iter_mut().zip(ranks).skip(next) {
            let at = usize::try_from(rank - before).ok();
            let listed = at.and_then(|at| self.list.get(at)).copied();
            *value = Cycles::new(u64::from(listed.unwrap_or_default()));
        }
        values
    }
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
