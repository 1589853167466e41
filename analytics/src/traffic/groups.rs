//! Chunks by the tiles that they may hold, so that one group is in memory at a time.

use std::ops::Range;

use crate::order;
use crate::profile::ProfileReport;

/// Chunks of tiles that no other group holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Group {
    /// Tile indices.
    pub(super) tiles: Range<u32>,
    /// Positions in [`ProfileReport::chunks`], by first tile, then in file order.
    pub(super) chunks: Vec<usize>,
    /// Positions in [`ProfileReport::activity_chunks`], likewise.
    pub(super) activities: Vec<usize>,
}

/// The groups of `report`, ascending by tile.
pub(super) fn groups(report: &ProfileReport) -> Vec<Group> {
    let samples = report.chunks().iter().enumerate();
    let samples = samples.map(|(at, chunk)| (chunk.tiles.clone(), false, at));
    let activities = report.activity_chunks().iter().enumerate();
    let activities = activities.map(|(at, chunk)| (chunk.tiles.clone(), true, at));
    let mut all: Vec<(Range<u32>, bool, usize)> = samples.chain(activities).collect();
    order::by_key(&mut all, |(tiles, _, at)| (tiles.start, *at));
    gathered(all)
}

fn gathered(sorted: Vec<(Range<u32>, bool, usize)>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (tiles, is_activities, at) in sorted {
        let overlaps = groups.last().is_some_and(|it| tiles.start < it.tiles.end);
        if !overlaps {
            groups.push(Group {
                tiles: tiles.clone(),
                ..Group::default()
            });
        }
        if let Some(group) = groups.last_mut() {
            group.tiles.end = group.tiles.end.max(tiles.end);
            if is_activities {
                group.activities.push(at);
            } else {
                group.chunks.push(at);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_whose_tiles_overlap_stay_together() {
        let sorted = vec![
            (0..64, false, 0),
            (0..64, true, 0),
            (0..64, false, 2),
            (64..128, false, 1),
            (100..140, true, 1),
        ];
        let [first, second] = &gathered(sorted)[..] else {
            panic!("two groups");
        };
        assert_eq!(
            (&first.chunks[..], &first.activities[..]),
            (&[0, 2][..], &[0][..])
        );
        assert_eq!(
            (&second.chunks[..], &second.activities[..]),
            (&[1][..], &[1][..])
        );
        assert_eq!(second.tiles, 64..140);
    }
}
