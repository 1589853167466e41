//! Sorting, compiled once for values of all types.
//!
//! The standard library's sort is compiled anew for every type and key, some kilobytes each, which
//! were a tenth of what the viewer's page downloads. Here positions are sorted, by a comparison
//! behind a pointer, and values then follow their positions. It is for lists that no figure waits
//! for; what sorts samples uses the standard library.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Sorts as [`slice::sort_by`] does: equals keep their order.
pub fn by<T>(list: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut order = sorted(list.len(), &|a, b| compare(&list[a], &list[b]));
    arrange(list, &mut order);
}

/// Sorts as [`slice::sort_by_key`] does: equals keep their order.
pub fn by_key<T, K: Ord>(list: &mut [T], key: impl Fn(&T) -> K) {
    by(list, |a, b| key(a).cmp(&key(b)));
}

/// Sorts as [`slice::sort`] does.
pub fn ascending<T: Ord>(list: &mut [T]) {
    by(list, Ord::cmp);
}

/// What collecting into a map gives, without the sort that collecting begins with; of equal keys
/// the last one counts.
pub fn map<K: Ord, V>(pairs: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    for (key, value) in pairs {
        map.insert(key, value);
    }
    map
}

/// As [`map`], a set.
pub fn set<T: Ord>(values: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    for value in values {
        set.insert(value);
    }
    set
}

/// The order of names for people: digits in them count as numbers, so `tile 9` is before `tile 10`.
#[must_use]
pub fn names(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.as_bytes(), b.as_bytes());
    loop {
        let (digits, others) = (number(left), number(right));
        if let (Some((value, rest)), Some((other, other_rest))) = (digits, others) {
            let by_value = value.len().cmp(&other.len()).then_with(|| value.cmp(other));
            if by_value.is_ne() {
                return by_value;
            }
            (left, right) = (rest, other_rest);
            continue;
        }
        match (left, right) {
            ([first, rest @ ..], [other, other_rest @ ..]) if first == other => {
                (left, right) = (rest, other_rest);
            }
            // Names that differ in leading zeros alone are not the same.
            ([], []) => return a.cmp(b),
            _ => return left.first().cmp(&right.first()),
        }
    }
}

/// The digits that `text` begins with, without leading zeros, and what follows them.
fn number(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let is_other = |it: &u8| !it.is_ascii_digit();
    let end = text.iter().position(is_other).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let zeros = digits.iter().take_while(|&&it| it == b'0').count();
    (end > 0).then(|| (&digits[zeros..], rest))
}

fn sorted(length: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..length).collect();
    order.sort_by(|&a, &b| compare(a, b));
    order
}

/// Moves to each place the value whose position `order` has there, one cycle of places at a time.
/// Places that are done point at themselves.
fn arrange<T>(list: &mut [T], order: &mut [usize]) {
    for start in 0..list.len() {
        let mut place = start;
        while order[place] != start {
            let from = std::mem::replace(&mut order[place], place);
            list.swap(place, from);
            place = from;
        }
        order[place] = place;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_in_names_count_by_their_value() {
        let ascending = [
            "",
            "(no kernel)",
            "exchange phase 2/0",
            "gemm",
            "gemm_k8",
            "gemm_k16",
            "gemm_k16_c4",
            "phase 7/0",
            "phase 07/1",
            "phase 7/2",
            "phase 10/0",
            "tile 9",
            "tile 18446744073709551616",
        ];
        for (at, a) in ascending.iter().enumerate() {
            for (other, b) in ascending.iter().enumerate() {
                assert_eq!(names(a, b), at.cmp(&other), "{a} and {b}");
            }
        }
        assert_eq!(names("a01", "a1"), Ordering::Less);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn agrees_with_the_standard_library(
            list in prop::collection::vec((0u8..8, any::<u16>()), 0..60),
        ) {
            let (mut ours, mut theirs) = (list.clone(), list.clone());
            by_key(&mut ours, |it| it.0);
            theirs.sort_by_key(|it| it.0);
            prop_assert_eq!(&ours, &theirs);

            let (mut ours, mut theirs) = (list.clone(), list);
            ascending(&mut ours);
            theirs.sort();
            prop_assert_eq!(&ours, &theirs);

            let collected: BTreeMap<u8, u16> = ours.iter().copied().collect();
            prop_assert_eq!(map(ours.iter().copied()), collected);
            prop_assert_eq!(set(ours), theirs.into_iter().collect());
        }
    }
}
