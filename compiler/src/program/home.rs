//! Where the units of a value lie on the device, and what must move to bring a block of it
//! elsewhere.

use std::ops::Range;

use crate::layout::{Block, Groups, LANES, UNIT_BYTES, View};

use super::{BufferId, Place};

/// A unit that lies nowhere: padding that nothing produced.
const NOWHERE: BufferId = BufferId::MAX;

/// The place of each unit of a value.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    /// How the value was seen when it was laid down.
    pub(crate) view: View,
    /// What each buffer holds, in the order of laying down.
    pub(crate) pieces: Vec<HomePiece>,
    /// Buffer and unit in it, by line and panel.
    cells: Vec<(BufferId, u32)>,
}

/// Units of a block in a buffer, from its start.
#[derive(Clone, Debug)]
pub(crate) struct HomePiece {
    pub(crate) block: Block,
    pub(crate) units: Range<u32>,
    pub(crate) buffer: BufferId,
}

/// A run of units that is contiguous at its source and in the image of the wanted block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// First byte at the source; `None` for padding that lies nowhere and has to be cleared.
    pub(crate) source: Option<Place>,
    /// First byte in the wanted image.
    pub(crate) offset: u32,
    /// Length.
    pub(crate) bytes: u32,
}

impl Home {
    /// No unit of the value lies anywhere yet.
    pub(crate) fn new(view: &View) -> Self {
        let cells = view.groups() as usize * 16 * view.panels() as usize;
        Self {
            view: *view,
            pieces: Vec::new(),
            cells: vec![(NOWHERE, 0); cells],
        }
    }

    fn index(&self, (line, panel): (u32, u32)) -> usize {
        line as usize * self.view.panels() as usize + panel as usize
    }

    /// Units `units` of the image of `block` lie in `buffer`, from its start.
    pub(crate) fn put(&mut self, block: &Block, units: Range<u32>, buffer: BufferId) {
        for (offset, unit) in (0..).zip(units.clone()) {
            let index = self.index(block.unit(unit));
            self.cells[index] = (buffer, offset);
        }
        let block = block.clone();
        self.pieces.push(HomePiece {
            block,
            units,
            buffer,
        });
    }

    /// The place of a unit of another view of the value, if it lies anywhere.
    fn find(&self, view: &View, (line, panel): (u32, u32)) -> (BufferId, u32) {
        let same = |wanted: Groups, laid: Groups, position: u32| {
            if wanted == laid {
                Some(position)
            } else {
                wanted
                    .element(position)
                    .map(|element| laid.position(element))
            }
        };
        let line = same(view.line_groups, self.view.line_groups, line);
        let depth = same(view.depth_groups, self.view.depth_groups, panel * LANES);
        debug_assert!(depth.is_none_or(|depth| depth.is_multiple_of(LANES)));
        let (Some(line), Some(depth)) = (line, depth) else {
            return (NOWHERE, 0);
        };
        if depth / LANES >= self.view.panels() {
            return (NOWHERE, 0);
        }
        let index = self.index((line, depth / LANES));
        self.cells.get(index).copied().unwrap_or((NOWHERE, 0))
    }

    /// The image of a block as runs from where its units lie.
    pub(crate) fn segments(&self, view: &View, block: &Block) -> Vec<Segment> {
        self.unit_segments(view, block, 0..block.units())
    }

    /// Some units of the image of a block as runs; offsets count from the first of them.
    pub(crate) fn unit_segments(
        &self,
        view: &View,
        block: &Block,
        units: Range<u32>,
    ) -> Vec<Segment> {
        let mut segments: Vec<Segment> = Vec::new();
        for (unit, at) in (0..).zip(units) {
            let (buffer, at) = self.find(view, block.unit(at));
            let source = (buffer != NOWHERE).then_some(Place {
                buffer,
                offset: at * UNIT_BYTES,
            });
            match segments.last_mut() {
                Some(last) if continues(last, source) => last.bytes += UNIT_BYTES,
                _ => segments.push(Segment {
                    source,
                    offset: unit * UNIT_BYTES,
                    bytes: UNIT_BYTES,
                }),
            }
        }
        segments
    }
}

/// Whether the next unit follows a segment at its source.
fn continues(last: &Segment, next: Option<Place>) -> bool {
    match (last.source, next) {
        (Some(last_source), Some(next)) => {
            last_source.buffer == next.buffer && last_source.offset + last.bytes == next.offset
        }
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::layout::{LineAxis, Order};

    use super::*;

    #[test]
    fn a_block_in_the_same_order_is_one_run_for_each_piece() {
        let view = View::new(8, 32, LineAxis::Rows);
        let block = Block {
            lines: 0..8,
            panels: 0..2,
            order: Order::Panels,
        };
        let mut home = Home::new(&view);
        home.put(&block, 0..10, 3);
        home.put(&block, 10..16, 5);
        let runs: Vec<_> = home
            .segments(&view, &block)
            .iter()
            .map(|s| (s.source.unwrap().buffer, s.bytes))
            .collect();
        assert_eq!(runs, [(3, 320), (5, 192)]);
    }

    #[test]
    fn results_feed_coefficients_in_runs_of_sixteen_lines_and_padding_is_a_hole() {
        let view = View::new(20, 32, LineAxis::Rows);
        let result = Block {
            lines: 0..20,
            panels: 0..2,
            order: Order::Panels,
        };
        let mut home = Home::new(&view);
        home.put(&result, 0..40, 0);
        let wanted = Block {
            lines: 0..32,
            panels: 0..2,
            order: Order::Coefficients,
        };
        let runs: Vec<_> = home
            .segments(&view, &wanted)
            .iter()
            .map(|s| (s.source.map(|source| source.offset / 32), s.bytes / 32))
            .collect();
        assert_eq!(
            runs,
            [
                (Some(0), 16),
                (Some(20), 16),
                (Some(16), 4),
                (None, 12),
                (Some(36), 4),
                (None, 12)
            ]
        );
    }
}
