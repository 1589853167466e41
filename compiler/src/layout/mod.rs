//! Where the elements of a matrix lie inside a block of SRAM.
//!
//! Everything moves in *units*: 16 consecutive F16 values along the contraction axis, 32 bytes. A
//! value is seen as *lines* (the axis that is not contracted) times *depth* (the axis that is), so
//! one view serves left and right operands and both orientations of a GEMM. A [`Block`] is a
//! rectangle of lines × depth panels of 16 in one of the two orders that the AMP unit reads; its
//! *image* is the sequence of its units.

pub mod boxes;

use std::ops::Range;

/// Elements of a unit, and the width of a panel.
pub const LANES: u32 = 16;
/// Bytes of a unit.
pub const UNIT_BYTES: u32 = 32;

/// Which axis of a folded matrix its lines are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LineAxis {
    /// Lines are rows, units run along a row: left operands and results of normal orientation.
    Rows,
    /// Lines are columns, units run down a column: right operands and results of swapped
    /// orientation.
    Columns,
}

/// How an axis is cut into equal groups that are padded one by one, such as heads of 72 columns in
/// 80. An axis without groups is one group that is not padded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Groups {
    /// Elements of a group.
    pub logical: u32,
    /// Positions of a group on the device, a multiple of 16 where there are several.
    pub padded: u32,
}

impl Groups {
    /// One group of everything.
    #[must_use]
    pub const fn whole(extent: u32) -> Self {
        Self {
            logical: extent,
            padded: extent,
        }
    }

    /// Groups padded to the next 16.
    #[must_use]
    pub const fn of(logical: u32) -> Self {
        Self {
            logical,
            padded: logical.next_multiple_of(LANES),
        }
    }

    /// Positions that `extent` elements take.
    #[must_use]
    pub const fn padded_extent(self, extent: u32) -> u32 {
        extent / self.logical * self.padded
    }

    /// The element at a position; `None` for padding.
    #[must_use]
    pub const fn element(self, position: u32) -> Option<u32> {
        let within = position % self.padded;
        if within < self.logical {
            Some(position / self.padded * self.logical + within)
        } else {
            None
        }
    }

    /// The position of an element.
    #[must_use]
    pub const fn position(self, element: u32) -> u32 {
        element / self.logical * self.padded + element % self.logical
    }

    /// Elements among positions below `end`.
    const fn below(self, end: u32) -> u32 {
        let within = end % self.padded;
        let within = if within < self.logical {
            within
        } else {
            self.logical
        };
        end / self.padded * self.logical + within
    }

    /// Elements among positions of an axis of `extent` positions.
    #[must_use]
    pub const fn count(self, range: &Range<u32>, extent: u32) -> u32 {
        let end = if range.end < extent {
            range.end
        } else {
            extent
        };
        let start = if range.start < end { range.start } else { end };
        self.below(end) - self.below(start)
    }
}

/// A folded matrix seen as lines × depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct View {
    /// What the lines are.
    pub axis: LineAxis,
    /// Lines, padding between groups included.
    pub lines: u32,
    /// Depth, padding between groups included.
    pub depth: u32,
    /// Groups of the lines.
    pub line_groups: Groups,
    /// Groups of the depth.
    pub depth_groups: Groups,
    /// Row-major elements from a line to the next.
    pub line_stride: i64,
    /// Row-major elements from a depth index to the next.
    pub depth_stride: i64,
    /// Row-major index of the first element.
    pub base: i64,
}

impl View {
    /// A matrix of `rows` × `columns` with its lines along `axis`.
    #[must_use]
    pub fn new(rows: u32, columns: u32, axis: LineAxis) -> Self {
        Self::grouped(
            (rows, Groups::whole(rows)),
            (columns, Groups::whole(columns)),
            axis,
        )
    }

    /// A matrix of `rows` × `columns` elements, each axis with its groups, lines along `axis`.
    #[must_use]
    pub fn grouped(
        (rows, row_groups): (u32, Groups),
        (columns, column_groups): (u32, Groups),
        axis: LineAxis,
    ) -> Self {
        let row_axis = (
            row_groups.padded_extent(rows),
            row_groups,
            i64::from(columns),
        );
        let column_axis = (column_groups.padded_extent(columns), column_groups, 1);
        let (line_axis, depth_axis) = match axis {
            LineAxis::Rows => (row_axis, column_axis),
            LineAxis::Columns => (column_axis, row_axis),
        };
        Self {
            axis,
            lines: line_axis.0,
            depth: depth_axis.0,
            line_groups: line_axis.1,
            depth_groups: depth_axis.1,
            line_stride: line_axis.2,
            depth_stride: depth_axis.2,
            base: 0,
        }
    }

    /// A run of `count` elements from `base`, as one line.
    #[must_use]
    pub fn run(base: u64, count: u32) -> Self {
        Self {
            base: base.cast_signed(),
            ..Self::new(1, count, LineAxis::Rows)
        }
    }

    /// Elements among the positions of a block.
    #[must_use]
    pub fn elements(&self, block: &Block) -> u64 {
        let depth = block.panels.start * LANES..block.panels.end * LANES;
        u64::from(self.line_groups.count(&block.lines, self.lines))
            * u64::from(self.depth_groups.count(&depth, self.depth))
    }

    /// Panels of 16 along the depth, the last one padded.
    #[must_use]
    pub const fn panels(&self) -> u32 {
        self.depth.div_ceil(LANES)
    }

    /// Groups of 16 lines, the last one padded.
    #[must_use]
    pub const fn groups(&self) -> u32 {
        self.lines.div_ceil(LANES)
    }
}

/// Order of the units of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// AMP left operand and result: panel by panel, all lines inside a panel.
    Panels,
    /// AMP coefficients: 16 lines by 16 lines, panel by panel, the 16 lines inside a panel.
    Coefficients,
    /// Line by line, all panels inside a line: row-major with lines padded to whole panels.
    Lines,
}

/// A rectangle of a [`View`] in one order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Lines; for [`Order::Coefficients`] both ends are multiples of 16, the end may be padding.
    pub lines: Range<u32>,
    /// Panels along the depth.
    pub panels: Range<u32>,
    /// Order of the units.
    pub order: Order,
}

impl Block {
    /// Number of lines, padding included.
    #[must_use]
    pub const fn line_count(&self) -> u32 {
        self.lines.end - self.lines.start
    }

    /// Number of panels.
    #[must_use]
    pub const fn panel_count(&self) -> u32 {
        self.panels.end - self.panels.start
    }

    /// Number of units.
    #[must_use]
    pub const fn units(&self) -> u32 {
        self.line_count() * self.panel_count()
    }

    /// Bytes of the image.
    #[must_use]
    pub const fn bytes(&self) -> u32 {
        self.units() * UNIT_BYTES
    }

    /// Line and panel of a unit of the image.
    #[must_use]
    pub const fn unit(&self, unit: u32) -> (u32, u32) {
        match self.order {
            Order::Panels => {
                let lines = self.line_count();
                (
                    self.lines.start + unit % lines,
                    self.panels.start + unit / lines,
                )
            }
            Order::Coefficients => {
                let (block, line) = (unit / LANES, unit % LANES);
                let (group, panel) = (block / self.panel_count(), block % self.panel_count());
                (
                    self.lines.start + group * LANES + line,
                    self.panels.start + panel,
                )
            }
            Order::Lines => {
                let panels = self.panel_count();
                (
                    self.lines.start + unit / panels,
                    self.panels.start + unit % panels,
                )
            }
        }
    }
}

/// The `index`-th of `parts` nearly equal contiguous parts of `0..total`, long ones first.
#[must_use]
pub const fn split(total: u32, parts: u32, index: u32) -> Range<u32> {
    let (short, long_parts) = (total / parts, total % parts);
    let earlier_long = if index < long_parts {
        index
    } else {
        long_parts
    };
    let start = index * short + earlier_long;
    let length = short + (index < long_parts) as u32;
    start..start + length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_whole_and_differ_by_one() {
        for (total, parts) in [(729, 5), (72, 12), (5, 8), (0, 3), (1472, 1472)] {
            let ranges: Vec<_> = (0..parts).map(|index| split(total, parts, index)).collect();
            assert_eq!(ranges[0].start, 0);
            assert_eq!(ranges.last().unwrap().end, total);
            for pair in ranges.windows(2) {
                assert_eq!(pair[0].end, pair[1].start);
                assert!(pair[0].len() >= pair[1].len() && pair[0].len() <= pair[1].len() + 1);
            }
        }
    }

    #[test]
    fn units_follow_the_published_orders() {
        let left = Block {
            lines: 10..13,
            panels: 2..4,
            order: Order::Panels,
        };
        let units: Vec<_> = (0..left.units()).map(|unit| left.unit(unit)).collect();
        assert_eq!(
            units,
            [(10, 2), (11, 2), (12, 2), (10, 3), (11, 3), (12, 3)]
        );
        let right = Block {
            lines: 16..48,
            panels: 0..2,
            order: Order::Coefficients,
        };
        assert_eq!(right.unit(0), (16, 0));
        assert_eq!(right.unit(17), (17, 1));
        assert_eq!(right.unit(33), (33, 0));
        assert_eq!(right.unit(right.units() - 1), (47, 1));
    }
}
