//! Which pages a part of tiles × time needs: what a driver reads before it can answer exactly.

use std::ops::Range;

use super::gather::View;
use crate::clock::{ClockKind, Frame};
use crate::format::ByteRange;
use crate::profile::{ProfileReport, in_file_order};

/// Byte ranges of the sample pages that touch `cycles` of `clock` on the tiles at positions `tiles`
/// and that are not here, in the order of the file. Empty where the part can be answered exactly.
#[must_use]
pub fn pages_needed(
    report: &ProfileReport,
    clock: ClockKind,
    cycles: Range<u64>,
    tiles: Range<u32>,
) -> Vec<ByteRange> {
    let count = u32::try_from(report.tiles().len()).unwrap_or(u32::MAX);
    let view = View {
        report,
        frame: Frame::new(report, clock),
        tiles: tiles.start.min(count)..tiles.end.min(count),
        cycles,
    };
    let chunks = report.chunks().iter().zip(&report.pages);
    let missing = chunks.filter(|(chunk, page)| page.bytes.is_none() && view.touches(chunk));
    in_file_order(missing.map(|(chunk, _)| chunk.bytes).collect())
}
