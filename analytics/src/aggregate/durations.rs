//! A multiset of durations: values in, exact percentiles out.
//!
//! Values below 65,536 are listed in two bytes each until the list is as long as a table of the
//! smallest values would be; from then on those are counted, and the table grows with the list.
//! Larger values are listed in four bytes each, in pieces of one length, which neither grow nor are
//! copied. So a kernel that runs often costs one increment a sample and 256 KiB, many groups of few
//! samples cost two to four bytes a sample, since a list has spare room, and a sample longer than
//! 65,535 cycles always costs four.

use crate::units::Cycles;

/// Length of the list at which there is a table first, and of that table.
const TABLE_MIN: usize = 1 << 12;
/// Length of the largest table, which holds every value of two bytes.
const TABLE_MAX: usize = 1 << 16;
/// Values of a piece of the list of larger ones.
const PIECE: usize = 1 << 14;
/// Occurrences that a wrapped counter stands for.
const WRAPPED: u64 = 1 << 32;
/// Bits of a value that are looked at together in a search for a rank: first bit and number.
const DIGITS: [(u32, u32); 3] = [(21, 11), (10, 11), (0, 10)];

/// A multiset of durations in cycles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Durations {
    /// Occurrences by value; empty until it pays.
    counts: Vec<u32>,
    /// Values of two bytes that the table does not hold.
    short: Vec<u16>,
    /// Larger values, but for those in `pieces`.
    long: Vec<u32>,
    /// [`PIECE`] larger values each.
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
        let Ok(short) = u16::try_from(value) else {
            return self.push_long(value);
        };
        self.short.push(short);
        let longer = TABLE_MIN.max(self.counts.len() * 2);
        if self.short.len() >= longer && longer <= TABLE_MAX {
            self.counts.resize(longer, 0);
            for value in std::mem::take(&mut self.short) {
                match self.counts.get_mut(usize::from(value)) {
                    // A new counter, which the short list cannot wrap.
                    Some(count) => *count += 1,
                    None => self.short.push(value),
                }
            }
        }
    }

    fn push_long(&mut self, value: u32) {
        if self.long.len() >= PIECE {
            self.pieces.push(std::mem::take(&mut self.long));
        }
        self.long.push(value);
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
        self.pieces.extend(other.pieces);
        other
            .long
            .into_iter()
            .for_each(|value| self.push_long(value));
        let short = other.short.into_iter().map(u32::from);
        short.for_each(|value| self.add(value));
        self.wrapped.extend(other.wrapped);
    }

    /// The order statistics. Passes over the lists some times, so it is not free.
    pub(crate) fn ranks(&self) -> Ranks {
        let counted: u64 = self.counts.iter().map(|&count| u64::from(count)).sum();
        let wraps = self.wrapped.len() as u64 * WRAPPED;
        let listed = self.short.len() + self.long.len() + self.pieces.len() * PIECE;
        let total = counted + wraps + listed as u64;
        let Some(last) = total.checked_sub(1) else {
            return Ranks::default();
        };
        let ranks = [lower_rank(last, 50), lower_rank(last, 95), last];
        let [p50, p95, maximum] = self.values_at(ranks);
        Ranks { p50, p95, maximum }
    }

    /// The values at ascending ranks, all in range.
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
            *value = Cycles::new(u64::from(self.listed_at(rank - before)));
        }
        values
    }

    /// The listed value at a rank among them, found digit by digit: no copy and no sort.
    fn listed_at(&self, mut rank: u64) -> u32 {
        let (mut found, mut mask) = (0, 0);
        for (shift, bits) in DIGITS {
            let mut counts = [0u64; 1 << 11];
            let digits = (1u32 << bits) - 1;
            let short = self.short.iter().map(|&value| u32::from(value));
            let long = self.pieces.iter().flatten().chain(&self.long).copied();
            short.chain(long).for_each(|value| {
                if value & mask == found {
                    counts[((value >> shift) & digits) as usize] += 1;
                }
            });
            for (digit, count) in (0..=digits).zip(counts) {
                if rank < count {
                    found |= digit << shift;
                    break;
                }
                rank -= count;
            }
            mask |= digits << shift;
        }
        found
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

    #[test]
    fn listed_values_cost_two_or_four_bytes_and_keep_their_ranks() {
        // 200,000 distinct values in a scrambled order, in two multisets.
        let value = |at: u32| 70_000 + at.wrapping_mul(7_919) % 200_000 * 16;
        let mut halves = [Durations::default(), Durations::default()];
        for at in 0..200_000 {
            halves[at as usize % 2].add(value(at));
        }
        let [mut whole, other] = halves;
        whole.merge(other);
        assert_eq!(whole.pieces.len(), 200_000 / PIECE);
        assert!(whole.pieces.iter().all(|it| it.capacity() == PIECE));
        assert!(
            whole.long.capacity() <= PIECE,
            "a piece that is being filled"
        );
        assert_eq!(
            whole.ranks(),
            sorted_ranks((0..200_000).map(value).collect())
        );
        // A group of few samples has no table.
        let mut few = Durations::default();
        (1..4_096).for_each(|at| few.add(at * 13));
        assert_eq!((few.counts.len(), few.long.len()), (0, 0));
        assert!(few.short.capacity() <= TABLE_MIN);
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
