//! The sample under the pointer.

use crate::aggregate::{SampleRef, runs_at};
use crate::clock::{ClockKind, Frame};
use crate::format::DecodeError;
use crate::profile::{ChunkScratch, ProfileReport};
use crate::query::{SampleDetail, detail};

/// The sample of the tile at position `tile` of [`ProfileReport::tiles`] that runs at cycle
/// `offset` of `clock`; `None` where nothing was recorded. Of samples that overlap, the last one.
///
/// Decodes only chunks that can hold it: one, unless samples overlap.
///
/// # Errors
/// Where such a chunk cannot be decoded.
pub fn hit(
    report: &ProfileReport,
    clock: ClockKind,
    tile: u32,
    offset: u64,
) -> Result<Option<SampleDetail>, DecodeError> {
    let Some(entry) = report.tiles().get(tile as usize) else {
        return Ok(None);
    };
    let frame = Frame::new(report, clock);
    let cycle = frame.origin(entry).saturating_add(offset);
    let mut scratch = ChunkScratch::new();
    for (index, chunk) in report.chunks().iter().enumerate().rev() {
        if !chunk.tiles.contains(&tile) || !chunk.cycles.contains(&cycle) {
            continue;
        }
        report.decode_chunk(index, &mut scratch)?;
        for span in scratch.spans.iter().filter(|span| span.tile == tile) {
            let first = span.samples.start as usize;
            let runs = |at: &usize| runs_at(scratch.start[*at], scratch.duration[*at], cycle);
            let running = (first..span.samples.end as usize).rev().find(runs);
            let Some(at) = running else { continue };
            let placed = frame.place(entry, scratch.start[at], scratch.duration[at]);
            return Ok(placed.map(|placed| {
                let sample = SampleRef {
                    duration: placed.duration,
                    tile,
                    offset: placed.offset,
                    ordinal: span.first_ordinal + (at - first) as u64,
                    step: scratch.step[at],
                    cut: placed.cut,
                };
                detail(report, &sample)
            }));
        }
    }
    Ok(None)
}
