//! Runs of an image as affine copies: (view, block, unit range) → a few loop nests that visit every
//! logical element once and no padding.

use std::ops::Range;

use runtime::package::{AffineLoop, AffinePattern};

use super::{Block, Groups, LANES, Order, UNIT_BYTES, View};

/// An affine copy between a tensor and the image of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AffineBox {
    /// The loop nest.
    pub pattern: AffinePattern,
    /// Row-major tensor index of its first element.
    pub element: u64,
    /// Byte offset of its first element from the start of the unit range.
    pub offset: u32,
}

impl AffineBox {
    /// Elements it visits.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.pattern
            .loops
            .iter()
            .map(|each| u64::from(each.count))
            .product()
    }
}

/// Axis of a view that a digit counts along.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Axis {
    Line,
    Depth,
}

/// One digit of the mixed-radix unit index, outermost first.
#[derive(Clone, Copy)]
struct Digit {
    count: u32,
    axis: Axis,
    scale: u32,
    bytes: u32,
}

/// A range of each digit.
type Ranges = Vec<Range<u32>>;

/// The copies that move units `units` of the image of `block`.
#[must_use]
pub fn boxes(view: &View, block: &Block, units: Range<u32>) -> Vec<AffineBox> {
    let digits = digits(block);
    let mut ranges = Vec::new();
    if !units.is_empty() {
        let radices: Vec<u32> = digits[..digits.len() - 1].iter().map(|d| d.count).collect();
        decompose(&radices, units.clone(), &mut Vec::new(), &mut ranges);
    }
    for full in &mut ranges {
        full.push(0..LANES);
    }
    for (axis, first, extent, groups) in [
        (Axis::Line, block.lines.start, view.lines, view.line_groups),
        (
            Axis::Depth,
            block.panels.start * LANES,
            view.depth,
            view.depth_groups,
        ),
    ] {
        ranges = ranges
            .iter()
            .flat_map(|each| cut(&digits, each, axis, (first, extent, groups)))
            .collect();
    }
    let start = units.start * UNIT_BYTES;
    ranges
        .iter()
        .map(|each| affine(view, block, &digits, each, start))
        .collect()
}

/// Logical elements among units `units` of the image of `block`.
#[must_use]
pub fn logical_elements(view: &View, block: &Block, units: Range<u32>) -> u64 {
    boxes(view, block, units)
        .iter()
        .map(AffineBox::elements)
        .sum()
}

fn digits(block: &Block) -> Vec<Digit> {
    let (lines, panels) = (block.line_count(), block.panel_count());
    let lane = Digit {
        count: LANES,
        axis: Axis::Depth,
        scale: 1,
        bytes: 2,
    };
    match block.order {
        Order::Panels => vec![
            Digit {
                count: panels,
                axis: Axis::Depth,
                scale: LANES,
                bytes: lines * UNIT_BYTES,
            },
            Digit {
                count: lines,
                axis: Axis::Line,
                scale: 1,
                bytes: UNIT_BYTES,
            },
            lane,
        ],
        Order::Coefficients => {
            let panel_bytes = LANES * UNIT_BYTES;
            vec![
                Digit {
                    count: lines / LANES,
                    axis: Axis::Line,
                    scale: LANES,
                    bytes: panels * panel_bytes,
                },
                Digit {
                    count: panels,
                    axis: Axis::Depth,
                    scale: LANES,
                    bytes: panel_bytes,
                },
                Digit {
                    count: LANES,
                    axis: Axis::Line,
                    scale: 1,
                    bytes: UNIT_BYTES,
                },
                lane,
            ]
        }
        Order::Lines => vec![
            Digit {
                count: lines,
                axis: Axis::Line,
                scale: 1,
                bytes: panels * UNIT_BYTES,
            },
            Digit {
                count: panels,
                axis: Axis::Depth,
                scale: LANES,
                bytes: UNIT_BYTES,
            },
            lane,
        ],
    }
}

/// Splits a range of mixed-radix numbers into boxes, in order.
fn decompose(radices: &[u32], range: Range<u32>, prefix: &mut Ranges, out: &mut Vec<Ranges>) {
    let inner = &radices[1..];
    let stride: u32 = inner.iter().product();
    let mut at = range.start;
    while at < range.end {
        let digit = at / stride;
        let aligned_end = range.end - range.end % stride;
        if at.is_multiple_of(stride) && at < aligned_end {
            let mut each = prefix.clone();
            each.push(digit..aligned_end / stride);
            each.extend(inner.iter().map(|&radix| 0..radix));
            out.push(each);
            at = aligned_end;
        } else {
            let end = range.end.min((digit + 1) * stride);
            prefix.push(digit..digit + 1);
            decompose(
                inner,
                at - digit * stride..end - digit * stride,
                prefix,
                out,
            );
            prefix.pop();
            at = end;
        }
    }
}

/// The parts of a box that hold elements, cut where a group of the axis ends. The axis has `extent`
/// positions and the block starts at `first`.
fn cut(
    digits: &[Digit],
    ranges: &Ranges,
    axis: Axis,
    (first, extent, groups): (u32, u32, Groups),
) -> Vec<Ranges> {
    let digit = |scale| {
        digits
            .iter()
            .position(|digit| digit.axis == axis && digit.scale == scale)
    };
    let Some(inner) = digit(1) else {
        return vec![ranges.clone()];
    };
    let outer = digit(LANES);
    let (low, high) = match outer {
        Some(outer) => (
            first + ranges[outer].start * LANES,
            first + ranges[outer].end * LANES,
        ),
        None => (first + ranges[inner].start, first + ranges[inner].end),
    };
    let mut parts = Vec::new();
    for group in low / groups.padded..high.min(extent).div_ceil(groups.padded) {
        let start = group * groups.padded;
        let end = (start + groups.logical).min(extent);
        let (start, end) = (start.max(low) - first, end.max(first) - first);
        match outer {
            None => {
                let mut part = ranges.clone();
                part[inner] = part[inner].start.max(start)..part[inner].end.min(end);
                parts.push(part);
            }
            Some(outer) => {
                let (full, rest) = (end / LANES, end % LANES);
                let mut whole = ranges.clone();
                whole[outer] = whole[outer].start.max(start / LANES)..whole[outer].end.min(full);
                parts.push(whole);
                if ranges[outer].contains(&full) {
                    let mut edge = ranges.clone();
                    edge[outer] = full..full + 1;
                    edge[inner].end = edge[inner].end.min(rest);
                    parts.push(edge);
                }
            }
        }
    }
    parts.retain(|part| part.iter().all(|range| range.start < range.end));
    parts
}

fn affine(view: &View, block: &Block, digits: &[Digit], ranges: &Ranges, start: u32) -> AffineBox {
    let (mut line, mut depth) = (block.lines.start, block.panels.start * LANES);
    let mut offset = 0;
    let mut loops = Vec::new();
    for (digit, range) in digits.iter().zip(ranges) {
        let stride = match digit.axis {
            Axis::Line => {
                line += range.start * digit.scale;
                view.line_stride
            }
            Axis::Depth => {
                depth += range.start * digit.scale;
                view.depth_stride
            }
        };
        offset += range.start * digit.bytes;
        let count = range.end - range.start;
        if count > 1 {
            let tensor_stride = stride * i64::from(digit.scale);
            loops.push(AffineLoop {
                count,
                tensor_stride,
                memory_stride: digit.bytes.cast_signed(),
            });
        }
    }
    let line = view.line_groups.element(line).unwrap_or(0);
    let depth = view.depth_groups.element(depth).unwrap_or(0);
    let element =
        view.base + i64::from(line) * view.line_stride + i64::from(depth) * view.depth_stride;
    AffineBox {
        pattern: AffinePattern { loops },
        element: element.cast_unsigned(),
        offset: offset - start,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::LineAxis;
    use super::*;

    /// Element and byte offset of every visit, by running the loops.
    fn visits(each: &AffineBox) -> Vec<(u64, u32)> {
        let mut out = vec![(each.element.cast_signed(), i64::from(each.offset))];
        for step in &each.pattern.loops {
            out = out
                .iter()
                .flat_map(|&(element, offset)| {
                    (0..i64::from(step.count)).map(move |index| {
                        let moved = offset + index * i64::from(step.memory_stride);
                        (element + index * step.tensor_stride, moved)
                    })
                })
                .collect();
        }
        out.into_iter()
            .map(|(element, offset)| (element.cast_unsigned(), u32::try_from(offset).unwrap()))
            .collect()
    }

    /// The definition: walk the units, place each lane.
    fn plain(view: &View, block: &Block, units: Range<u32>) -> BTreeMap<u64, u32> {
        let mut out = BTreeMap::new();
        for unit in units.clone() {
            let (line, panel) = block.unit(unit);
            for lane in 0..LANES {
                let depth = panel * LANES + lane;
                if line >= view.lines || depth >= view.depth {
                    continue;
                }
                let line = view.line_groups.element(line);
                if let (Some(line), Some(depth)) = (line, view.depth_groups.element(depth)) {
                    let element =
                        i64::from(line) * view.line_stride + i64::from(depth) * view.depth_stride;
                    out.insert(
                        element.cast_unsigned(),
                        (unit - units.start) * UNIT_BYTES + lane * 2,
                    );
                }
            }
        }
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn boxes_visit_each_logical_element_once_where_it_lies(
            rows in 1_u32..70, columns in 1_u32..70, swapped: bool, coefficients in 0..3,
            row_groups in 1_u32..4, column_groups in 1_u32..4,
            cut in prop::array::uniform6(0_u32..1000),
        ) {
            let axis = if swapped { LineAxis::Columns } else { LineAxis::Rows };
            let groups = |extent: u32, count: u32| match count {
                1 => (extent, Groups::whole(extent)),
                _ => (extent * count, Groups::of(extent)),
            };
            let (rows, columns) = (groups(rows, row_groups), groups(columns, column_groups));
            let view = View::grouped(rows, columns, axis);
            let part = |total: u32, from: u32, to: u32| {
                let start = total * from / 1000;
                start..(start + 1 + (total - start) * to / 1000).min(total)
            };
            let panels = part(view.panels(), cut[0], cut[1]);
            let block = if coefficients == 1 {
                let groups = part(view.groups(), cut[2], cut[3]);
                let lines = groups.start * LANES..groups.end * LANES;
                Block { lines, panels, order: Order::Coefficients }
            } else {
                let order = if coefficients == 2 { Order::Lines } else { Order::Panels };
                Block { lines: part(view.lines, cut[2], cut[3]), panels, order }
            };
            let units = part(block.units(), cut[4], cut[5]);
            let boxes = boxes(&view, &block, units.clone());
            let all: Vec<_> = boxes.iter().flat_map(visits).collect();
            let found: BTreeMap<u64, u32> = all.iter().copied().collect();
            prop_assert_eq!(all.len(), found.len(), "an element is visited twice");
            prop_assert_eq!(&found, &plain(&view, &block, units.clone()));
            prop_assert_eq!(logical_elements(&view, &block, units), found.len() as u64);
            let groups = row_groups * column_groups;
            prop_assert!(boxes.len() <= 20 * groups as usize);
        }
    }
}
