//! A part of tiles × time, by the positions of its tiles.

use std::ops::Range;

use super::spent::{Spent, spent_in};
use crate::clock::ClockKind;
use crate::format::DecodeError;
use crate::order;
use crate::profile::ProfileReport;
use crate::units::{PhysicalTile, StringId};

/// Some tiles over some cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DevicePart {
    /// The clock that the cycles are on.
    pub clock: ClockKind,
    /// Cycles.
    pub cycles: Range<u64>,
    /// Positions of tiles in the profile, ascending, none twice; neighbours are in one range.
    pub tiles: Vec<Range<u32>>,
}

impl DevicePart {
    /// The part of these tiles; ids that were not profiled are left out, no id at all is every
    /// tile.
    #[must_use]
    pub fn new(
        report: &ProfileReport,
        clock: ClockKind,
        cycles: Range<u64>,
        tiles: &[PhysicalTile],
    ) -> Self {
        let all = report.tiles();
        let count = u32::try_from(all.len()).unwrap_or(u32::MAX);
        if tiles.is_empty() {
            return Self::neighbours(report, clock, cycles, 0..count);
        }
        let wanted = order::set(tiles.iter().copied());
        let mut ranges: Vec<Range<u32>> = Vec::new();
        for (position, _) in (0..).zip(all).filter(|(_, it)| wanted.contains(&it.tile)) {
            match ranges.last_mut() {
                Some(last) if last.end == position => last.end += 1,
                _ => ranges.push(position..position + 1),
            }
        }
        Self {
            clock,
            cycles,
            tiles: ranges,
        }
    }

    /// The part of the tiles at the positions `tiles`, as far as there are that many.
    #[must_use]
    pub fn neighbours(
        report: &ProfileReport,
        clock: ClockKind,
        cycles: Range<u64>,
        tiles: Range<u32>,
    ) -> Self {
        let count = u32::try_from(report.tiles().len()).unwrap_or(u32::MAX);
        let tiles = tiles.start.min(count)..tiles.end.min(count);
        Self {
            clock,
            cycles,
            tiles: vec![tiles],
        }
    }

    /// Number of its tiles.
    #[must_use]
    pub fn tile_count(&self) -> u64 {
        let counts = self.tiles.iter().map(|it| u64::from(it.end - it.start));
        counts.sum()
    }

    /// Cycles of the part, in each of its tiles.
    #[must_use]
    pub const fn length(&self) -> u64 {
        self.cycles.end.saturating_sub(self.cycles.start)
    }

    /// Physical ids of the first and the last tile of each range.
    #[must_use]
    pub fn ends(&self, report: &ProfileReport) -> Vec<(PhysicalTile, PhysicalTile)> {
        let tile = |position: u32| report.tiles().get(position as usize).map(|it| it.tile);
        let ends = |it: &Range<u32>| tile(it.start).zip(tile(it.end.saturating_sub(1)));
        self.tiles.iter().filter_map(ends).collect()
    }
}

/// What is asked about a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartQuestion {
    /// The part.
    pub part: DevicePart,
    /// Whether its tiles are told one by one.
    pub by_tile: bool,
    /// The kernel that the compute sums of each tile are about; `None` is all of them.
    pub kernel: Option<StringId>,
}

impl PartQuestion {
    /// What the part spent.
    ///
    /// # Errors
    /// Where a chunk that the part touches cannot be decoded.
    pub fn answer(&self, report: &ProfileReport) -> Result<Spent, DecodeError> {
        spent_in(report, &self.part, self.kernel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{ProfileWriter, open_bytes};
    use crate::profile::ProfileHeader;

    #[test]
    fn neighbours_are_one_range_whatever_was_not_profiled_between_them() {
        let mut writer = ProfileWriter::new(&ProfileHeader::default());
        for tile in [1, 3, 7, 9] {
            writer.begin_tile(PhysicalTile::new(tile));
        }
        let report = open_bytes(writer.finish().expect("it is valid")).expect("it opens");
        let part = |tiles: &[u32]| {
            let tiles: Vec<_> = tiles.iter().copied().map(PhysicalTile::new).collect();
            DevicePart::new(&report, ClockKind::Shared, 5..9, &tiles)
        };
        for (tiles, ranges, count) in [
            (&[][..], &[(1, 9)][..], 4),
            (&[7, 3, 3, 4], &[(3, 7)], 2),
            (&[9, 1], &[(1, 1), (9, 9)], 2),
            (&[2], &[], 0),
        ] {
            let part = part(tiles);
            let ends = part.ends(&report).into_iter();
            let ends: Vec<_> = ends.map(|(a, b)| (a.get(), b.get())).collect();
            assert_eq!((&ends[..], part.tile_count()), (ranges, count), "{tiles:?}");
        }
        let all = DevicePart::neighbours(&report, ClockKind::Shared, 5..9, 0..99);
        assert_eq!(all, part(&[]));
        assert_eq!(all.length(), 4);
    }
}
