//! Lanes in which slices nest: the slices of a tile in, a lane for each out.
//!
//! Viewers draw slices of one track as a stack, and drop or shorten one that starts inside another
//! and ends after it. Such a slice goes to another lane of its tile.

use std::cmp::Reverse;

use super::select::Slice;

/// Sorts the slices as they open, outer ones first, and gives each the first lane in which it lies
/// beside or inside every other.
pub(super) fn lanes(slices: &mut [Slice]) -> Vec<usize> {
    slices.sort_by_key(|slice| (slice.start, Reverse(slice.end)));
    // By lane: the ends of the slices that are open.
    let mut open: Vec<Vec<u64>> = Vec::new();
    let place = |slice: &Slice| {
        for ends in &mut open {
            while ends.last().is_some_and(|&end| end <= slice.start) {
                ends.pop();
            }
        }
        let fits = |ends: &Vec<u64>| ends.last().is_none_or(|&end| slice.end <= end);
        let lane = open.iter().position(fits).unwrap_or(open.len());
        if lane == open.len() {
            open.push(Vec::new());
        }
        open[lane].push(slice.end);
        lane
    };
    slices.iter().map(place).collect()
}

/// A slice opens or closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    Open,
    Close,
}

/// The edges of the slices of one lane in time order, balanced: an inner slice closes before an
/// outer one. `slices` are as [`lanes`] sorts them.
pub(super) fn edges<'s>(
    slices: impl Iterator<Item = &'s Slice>,
    visit: &mut dyn FnMut(Edge, &'s Slice),
) {
    let mut open: Vec<&Slice> = Vec::new();
    for slice in slices {
        while open.last().is_some_and(|outer| outer.end <= slice.start) {
            if let Some(closed) = open.pop() {
                visit(Edge::Close, closed);
            }
        }
        visit(Edge::Open, slice);
        open.push(slice);
    }
    while let Some(closed) = open.pop() {
        visit(Edge::Close, closed);
    }
}

/// The name of a lane of a tile. Zeroes in front make names sort as numbers.
pub(super) fn lane_name(tile: u32, lane: usize) -> String {
    match lane {
        0 => format!("tile {tile:04}"),
        _ => format!("tile {tile:04} overlap {lane}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn slice(start: u64, end: u64) -> Slice {
        Slice {
            start,
            end,
            step: 0,
            cut: false,
        }
    }

    #[test]
    fn a_slice_that_crosses_another_gets_its_own_lane() {
        let mut slices = [slice(10, 20), slice(0, 30), slice(25, 40), slice(30, 35)];
        let lanes = lanes(&mut slices);
        let found: Vec<_> = slices
            .iter()
            .zip(lanes)
            .map(|(it, lane)| (it.start, lane))
            .collect();
        assert_eq!(found, [(0, 0), (10, 0), (25, 1), (30, 0)]);
    }

    proptest! {
        #[test]
        fn slices_of_a_lane_nest_and_their_edges_balance(
            spans in vec((0u64..60, 1u64..40), 0..40),
        ) {
            let mut slices: Vec<Slice> =
                spans.iter().map(|&(start, length)| slice(start, start + length)).collect();
            let lane_of = lanes(&mut slices);
            for (at, (a, lane)) in slices.iter().zip(&lane_of).enumerate() {
                for (b, other) in slices[at + 1..].iter().zip(&lane_of[at + 1..]) {
                    let nests = a.end <= b.start || b.end <= a.end;
                    prop_assert!(lane != other || nests, "{a:?} {b:?}");
                }
            }
            for lane in 0..lane_of.iter().max().map_or(0, |last| last + 1) {
                let own = slices.iter().zip(&lane_of).filter(|it| *it.1 == lane).map(|it| it.0);
                let (mut open, mut at) = (Vec::new(), 0);
                edges(own, &mut |edge, slice| {
                    let now = if edge == Edge::Open { slice.start } else { slice.end };
                    assert!(now >= at, "time runs backwards");
                    at = now;
                    match edge {
                        Edge::Open => open.push(*slice),
                        Edge::Close => assert_eq!(open.pop(), Some(*slice)),
                    }
                });
                prop_assert!(open.is_empty());
            }
        }
    }
}
