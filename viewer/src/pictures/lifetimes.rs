//! When the allocations of a tile are live, from left to right: by items of the schedule, each as
//! long as the others, or by the cycles that the tile spent in them. Pure.

use std::ops::Range;

use crate::engine::memory::{Block, MemoryAnswer};
use crate::engine::places::ItemMark;
use crate::timeline::viewport::to_float;

/// What lies from left to right.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Axis<'a> {
    /// All items of the schedule.
    Items,
    /// Cycles, and the items that the tile was in then, in order.
    Cycles {
        /// First cycle.
        from: u64,
        /// One past the last cycle.
        to: u64,
        /// The items; those of other cycles are passed over.
        marks: &'a [ItemMark],
    },
}

/// Allocations and live bytes, placed on an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lifetimes {
    /// Items or cycles of the whole axis.
    pub(crate) whole: Range<u64>,
    /// Whether it is cycles.
    pub(crate) in_cycles: bool,
    /// When each block is live, in the order of the blocks.
    pub(crate) of_blocks: Vec<Vec<Stretch>>,
    /// Live bytes, in order: where a stretch has several items, the most of them.
    pub(crate) live: Vec<(Range<u64>, u64)>,
}

/// A part of the axis at which a block is live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// Items or cycles.
    pub(crate) at: Range<u64>,
    /// Whether it is live all the time; else at some item of those that the samples tell together.
    pub(crate) is_whole: bool,
}

impl Lifetimes {
    /// Places what `memory` says.
    pub(crate) fn new(memory: &MemoryAnswer, axis: Axis<'_>) -> Self {
        let blocks = memory.blocks.iter();
        match axis {
            Axis::Items => Self {
                whole: 0..memory.live.len() as u64,
                in_cycles: false,
                of_blocks: blocks.map(|it| vec![items_of(it)]).collect(),
                live: (0..)
                    .zip(&memory.live)
                    .map(|(at, &bytes)| (at..at + 1, bytes))
                    .collect(),
            },
            Axis::Cycles { from, to, marks } => {
                let marks = inside(from..to, marks);
                let most = |it: &ItemMark| (it.from..it.to, most_of(&memory.live, it));
                Self {
                    whole: from..to.max(from.saturating_add(1)),
                    in_cycles: true,
                    of_blocks: blocks.map(|it| cycles_of(it, &marks)).collect(),
                    live: marks.iter().map(most).collect(),
                }
            }
        }
    }

    /// How far along the axis a place is: 0 is its start, 1 its end.
    pub(crate) fn fraction(&self, at: u64) -> f64 {
        let inside = at.clamp(self.whole.start, self.whole.end) - self.whole.start;
        to_float(inside) / to_float((self.whole.end - self.whole.start).max(1))
    }

    /// Most live bytes in each of `count` equal parts of the axis; `None` where nothing is known.
    pub(crate) fn most_live(&self, count: usize) -> Vec<Option<u64>> {
        let mut most = vec![None; count];
        let parts = u128::from(count as u64);
        let length = u128::from((self.whole.end - self.whole.start).max(1));
        let part = |at: u64| u128::from(at.saturating_sub(self.whole.start)) * parts;
        for (at, bytes) in &self.live {
            let first = usize::try_from(part(at.start) / length).unwrap_or(count);
            let after = usize::try_from(part(at.end).div_ceil(length)).unwrap_or(count);
            for it in &mut most[first.min(count)..after.min(count)] {
                *it = (*it).max(Some(*bytes));
            }
        }
        most
    }

    /// When a block is live, in words; empty where the axis is items, which the block itself says.
    pub(crate) fn said(&self, block: usize) -> String {
        let stretches = self.of_blocks.get(block).filter(|_| self.in_cycles);
        let stretches = stretches.map_or(&[][..], Vec::as_slice);
        let of = |is_whole| {
            let these = stretches.iter().filter(move |it| it.is_whole == is_whole);
            range_in_words(these.map(|it| &it.at))
        };
        match (of(true), of(false)) {
            (None, None) => String::new(),
            (Some(whole), None) => format!("; in view live in cycles {whole}"),
            (None, Some(part)) => format!("; in view live for a part of cycles {part}"),
            (Some(whole), Some(part)) => {
                format!("; in view live in cycles {whole} and for a part of {part}")
            }
        }
    }
}

/// From the first cycle to the last one, and how often.
fn range_in_words<'a>(ranges: impl Iterator<Item = &'a Range<u64>>) -> Option<String> {
    let count = analytics::text::count;
    let mut ranges = ranges.peekable();
    let first = ranges.peek()?.start;
    let (times, last) = ranges.fold((0_u64, first), |(times, last), it| {
        (times + 1, last.max(it.end))
    });
    let range = format!("{} – {}", count(first), count(last));
    Some(match times {
        1 => range,
        times => format!("{range} in {} stretches", count(times)),
    })
}

/// Most live bytes of the items of a mark, which a file may give any numbers.
fn most_of(live: &[u64], mark: &ItemMark) -> u64 {
    let after = live.len().min(mark.after as usize);
    let first = after.min(mark.first as usize);
    live[first..after].iter().copied().max().unwrap_or(0)
}

/// The marks that touch `cycles`, cut to them.
fn inside(cycles: Range<u64>, marks: &[ItemMark]) -> Vec<ItemMark> {
    let cut = |it: &ItemMark| ItemMark {
        from: it.from.max(cycles.start),
        to: it.to.min(cycles.end),
        ..*it
    };
    marks.iter().map(cut).filter(|it| it.from < it.to).collect()
}

fn items_of(block: &Block) -> Stretch {
    Stretch {
        at: u64::from(block.first)..u64::from(block.after),
        is_whole: true,
    }
}

/// Neighbours are joined, with the time between them: the tile went from one item to the next.
fn cycles_of(block: &Block, marks: &[ItemMark]) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut goes_on = false;
    for mark in marks {
        let is_live = mark.first < block.after && block.first < mark.after;
        let is_whole = block.first <= mark.first && mark.after <= block.after;
        match stretches.last_mut() {
            _ if !is_live => {}
            Some(last) if goes_on && last.is_whole == is_whole => {
                last.at.end = last.at.end.max(mark.to);
            }
            _ => stretches.push(Stretch {
                at: mark.from..mark.to,
                is_whole,
            }),
        }
        goes_on = is_live;
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::list::List;
    use crate::engine::memory::MemoryAsked;

    fn block(first: u32, after: u32) -> Block {
        Block {
            address: 0x5_0000,
            end: 0x5_0040,
            first,
            after,
            label: String::new(),
            said: String::new(),
        }
    }

    fn memory() -> MemoryAnswer {
        MemoryAnswer {
            asked: MemoryAsked {
                package: 1,
                tile: 0,
            },
            facts: Vec::new(),
            blocks: vec![block(0, 4), block(1, 2), block(2, 3)],
            live: vec![10, 30, 20, 10],
            allocations: List::new(&[]),
        }
    }

    fn mark(cycles: Range<u64>, items: Range<u32>) -> ItemMark {
        ItemMark {
            from: cycles.start,
            to: cycles.end,
            first: items.start,
            after: items.end,
        }
    }

    fn cycles(cycles: Range<u64>, marks: &[ItemMark]) -> Axis<'_> {
        Axis::Cycles {
            from: cycles.start,
            to: cycles.end,
            marks,
        }
    }

    fn whole(at: Range<u64>) -> Stretch {
        Stretch { at, is_whole: true }
    }

    #[test]
    fn by_items_every_item_is_as_long_as_the_others() {
        let placed = Lifetimes::new(&memory(), Axis::Items);
        assert_eq!(
            placed.of_blocks,
            [[whole(0..4)], [whole(1..2)], [whole(2..3)]]
        );
        assert_eq!(placed.most_live(2), [Some(30), Some(20)]);
        assert_eq!(placed.fraction(1).to_bits(), 0.25_f64.to_bits());
        assert_eq!(placed.said(0), "");
    }

    #[test]
    fn by_cycles_an_allocation_is_live_whenever_its_tile_is_in_its_items() {
        // Items 1 and 2 once, and the later iterations of both told together. In item 3 the tile
        // spends no time.
        let marks = [
            mark(100..110, 0..1),
            mark(110..150, 1..2),
            mark(160..200, 2..3),
            mark(200..300, 1..3),
        ];
        let placed = Lifetimes::new(&memory(), cycles(100..300, &marks));
        let part = Stretch {
            at: 200..300,
            is_whole: false,
        };
        let expected = [
            vec![whole(100..300)],
            vec![whole(110..150), part.clone()],
            vec![whole(160..200), part],
        ];
        assert_eq!(placed.of_blocks, expected);
        assert_eq!(
            placed.most_live(4),
            [Some(30), Some(20), Some(30), Some(30)]
        );
        assert_eq!(placed.said(0), "; in view live in cycles 100 – 300");
        let said = "; in view live in cycles 110 – 150 and for a part of 200 – 300";
        assert_eq!(placed.said(1), said);
    }

    #[test]
    fn what_nobody_recorded_has_no_live_bytes() {
        let marks = [mark(100..110, 0..1), mark(190..200, 3..4)];
        let placed = Lifetimes::new(&memory(), cycles(100..200, &marks));
        let most = placed.most_live(10);
        assert_eq!((most[0], most[5], most[9]), (Some(10), None, Some(10)));
        assert_eq!(placed.of_blocks[1], []);
        let moved = Lifetimes::new(&memory(), cycles(105..195, &marks));
        assert_eq!(
            moved.of_blocks[0],
            [whole(105..195)],
            "cut to what is in view"
        );
        let nothing = Lifetimes::new(&memory(), cycles(7..7, &[]));
        assert_eq!(nothing.most_live(2), [None, None]);
    }
    #[test]
    fn strange_numbers_of_a_file_place_nothing_wrong() {
        // Samples may overlap, and extents may be of no item.
        let marks = [
            mark(0..100, 1..2),
            mark(10..20, 1..2),
            mark(100..u64::MAX, 3..u32::MAX),
        ];
        let placed = Lifetimes::new(&memory(), cycles(0..u64::MAX, &marks));
        assert_eq!(placed.of_blocks[1], [whole(0..100)]);
        assert_eq!(
            placed.live[2],
            (100..u64::MAX, 10),
            "of the item that there is"
        );
        assert_eq!(placed.most_live(3).len(), 3);
        assert!((0.0..=1.0).contains(&placed.fraction(u64::MAX - 1)));
        let beyond = [mark(0..10, 9..12)];
        let placed = Lifetimes::new(&memory(), cycles(0..10, &beyond));
        assert_eq!((placed.live[0].1, placed.of_blocks[0].len()), (0, 0));
    }
}
