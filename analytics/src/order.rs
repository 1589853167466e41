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
