//! Samples tile by tile: tiles and a time range in, each tile's samples in order out.
//!
//! A chunk holds a stretch of time of many tiles, a row of a picture a long time of few; so the
//! visible samples of one block of tiles are copied together. That is the only scratch besides one
//! chunk.

use std::ops::Range;

use crate::aggregate::blocks;
use crate::clock::Frame;
use crate::format::DecodeError;
use crate::profile::{ChunkEntry, ChunkScratch, ProfileReport, TileEntry, TileSpan};

/// Consecutive samples of one tile.
#[derive(Clone, Debug, Default)]
pub(super) struct TileSamples {
    /// Start on the shared clock.
    pub(super) starts: Vec<u64>,
    /// Length in cycles; may be zero.
    pub(super) durations: Vec<u32>,
    /// Step ids.
    pub(super) steps: Vec<u32>,
}

impl TileSamples {
    fn clear(&mut self) {
        self.starts.clear();
        self.durations.clear();
        self.steps.clear();
    }

    fn extend(&mut self, scratch: &ChunkScratch, samples: Range<usize>) {
        self.starts
            .extend_from_slice(&scratch.start[samples.clone()]);
        self.durations
            .extend_from_slice(&scratch.duration[samples.clone()]);
        self.steps.extend_from_slice(&scratch.step[samples]);
    }

    /// Start, length and step of each sample.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, u32, u32)> {
        let columns = self.starts.iter().zip(&self.durations).zip(&self.steps);
        columns.map(|((&start, &duration), &step)| (start, duration, step))
    }
}

/// Calls `visit` for each of `tiles`, ascending, with its samples that touch `cycles` of the clock.
pub(super) fn for_each_tile(
    report: &ProfileReport,
    frame: Frame,
    tiles: Range<u32>,
    cycles: Range<u64>,
    mut visit: impl FnMut(u32, &TileSamples),
) -> Result<(), DecodeError> {
    let view = View {
        report,
        frame,
        tiles: tiles.clone(),
        cycles,
    };
    let mut scratch = ChunkScratch::new();
    let mut gathered: Vec<TileSamples> = Vec::new();
    let mut next = tiles.start;
    for block in blocks(report, |chunk| view.touches(&report.chunks()[chunk])) {
        let end = block.tiles.end.min(tiles.end);
        for tile in next..block.tiles.start.max(next) {
            visit(tile, &TileSamples::default());
        }
        next = next.max(block.tiles.start);
        gathered.resize_with(
            gathered.len().max((end - next) as usize),
            TileSamples::default,
        );
        gathered.iter_mut().for_each(TileSamples::clear);
        for &chunk in &block.chunks {
            report.decode_chunk(chunk, &mut scratch)?;
            for span in scratch
                .spans
                .iter()
                .filter(|span| (next..end).contains(&span.tile))
            {
                let visible = view.visible(&scratch, span);
                gathered[(span.tile - next) as usize].extend(&scratch, visible);
            }
        }
        for (tile, samples) in (next..end).zip(&gathered) {
            visit(tile, samples);
        }
        next = end;
    }
    for tile in next..tiles.end {
        visit(tile, &TileSamples::default());
    }
    Ok(())
}

/// Some cycles of some tiles.
pub(crate) struct View<'a> {
    pub(crate) report: &'a ProfileReport,
    pub(crate) frame: Frame,
    pub(crate) tiles: Range<u32>,
    pub(crate) cycles: Range<u64>,
}

impl View<'_> {
    /// Whether samples of a chunk may be inside.
    pub(crate) fn touches(&self, chunk: &ChunkEntry) -> bool {
        let tiles = chunk.tiles.start.max(self.tiles.start)..chunk.tiles.end.min(self.tiles.end);
        let sees = |tile: u32| {
            let window = self.window(&self.report.tiles()[tile as usize]);
            chunk.cycles.start < window.end && window.start < chunk.cycles.end
        };
        tiles.into_iter().any(sees)
    }

    /// Whether `span` on the shared clock, of the tile at position `tile`, has cycles inside.
    pub(crate) fn sees(&self, tile: u32, span: &Range<u64>) -> bool {
        let window = self.window(&self.report.tiles()[tile as usize]);
        self.tiles.contains(&tile) && span.start < window.end && window.start < span.end
    }

    /// The visible cycles of a tile on the shared clock.
    fn window(&self, tile: &TileEntry) -> Range<u64> {
        let origin = self.frame.origin(tile);
        origin.saturating_add(self.cycles.start)..origin.saturating_add(self.cycles.end)
    }

    /// The part of a tile's piece between the first and the last sample that touch the visible
    /// cycles, as indices into the scratch. Starts ascend; ends need not.
    fn visible(&self, scratch: &ChunkScratch, span: &TileSpan) -> Range<usize> {
        let window = self.window(&self.report.tiles()[span.tile as usize]);
        let first = span.samples.start as usize;
        let starts = &scratch.start[first..span.samples.end as usize];
        let end = first + starts.partition_point(|&start| start < window.end);
        let reaches = |at: &usize| {
            scratch.start[*at].saturating_add(u64::from(scratch.duration[*at])) > window.start
        };
        (first..end).find(reaches).unwrap_or(end)..end
    }
}
