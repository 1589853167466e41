//! Shares of the kinds over time, for the strip above a timeline.

use std::ops::Range;

use super::cells::quotient;
use crate::clock::{ClockKind, Frame};
use crate::format::DecodeError;
use crate::profile::{ChunkScratch, ProfileReport, TileEntry};
use crate::timeline::CellKind;

/// Tile-cycles of each kind in each column of the whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindShares {
    /// Number of columns.
    pub columns: u32,
    /// Length of the run in cycles; column `c` covers `span·c/columns .. span·(c+1)/columns`, both
    /// rounded down.
    pub span: u64,
    /// `columns` × [`CellKind::COUNT`], a column's kinds together: tile-cycles of the kind in
    /// 1/65535 of all profiled tiles × the width of the column, rounded down. What is left was not
    /// recorded.
    pub shares: Vec<u16>,
}

/// The shares of the kinds in `columns` equal parts of the run.
///
/// # Errors
/// Where a chunk cannot be decoded.
pub fn kind_shares(
    report: &ProfileReport,
    clock: ClockKind,
    columns: u32,
) -> Result<KindShares, DecodeError> {
    let frame = Frame::new(report, clock);
    let span = frame.span(report)?.get();
    let mut strip = Strip::new(span, columns);
    if span > 0 && columns > 0 {
        strip.add_report(report, frame)?;
    }
    Ok(KindShares {
        columns,
        span,
        shares: strip.shares(report.tiles().len() as u64),
    })
}

/// Tile-cycles by column, then kind.
struct Strip {
    /// Left edges of the columns, and the right edge of the last.
    edges: Vec<u64>,
    cycles: Vec<[u64; CellKind::COUNT]>,
}

impl Strip {
    fn new(span: u64, columns: u32) -> Self {
        let edge = |column: u32| {
            let edge = u128::from(span) * u128::from(column) / u128::from(columns.max(1));
            u64::try_from(edge).unwrap_or(span)
        };
        Self {
            edges: (0..=columns).map(edge).collect(),
            cycles: vec![[0; CellKind::COUNT]; columns as usize],
        }
    }

    fn add_report(&mut self, report: &ProfileReport, frame: Frame) -> Result<(), DecodeError> {
        let kinds: Vec<u8> = report
            .steps()
            .iter()
            .map(|step| CellKind::of(step.kind) as u8)
            .collect();
        let mut scratch = ChunkScratch::new();
        for index in 0..report.chunks().len() {
            report.decode_chunk(index, &mut scratch)?;
            for span in &scratch.spans {
                let tile = &report.tiles()[span.tile as usize];
                let samples = span.samples.start as usize..span.samples.end as usize;
                self.add_samples(frame, tile, &kinds, &scratch, samples);
            }
        }
        Ok(())
    }

    /// Adds consecutive samples of a tile. A call of its own: browsers optimise a function when it
    /// is entered again, not while it runs.
    #[inline(never)]
    fn add_samples(
        &mut self,
        frame: Frame,
        tile: &TileEntry,
        kinds: &[u8],
        scratch: &ChunkScratch,
        samples: Range<usize>,
    ) {
        let mut column = 0;
        for at in samples {
            let placed = frame.place(tile, scratch.start[at], scratch.duration[at]);
            let Some(placed) = placed else { continue };
            let kind = usize::from(kinds[scratch.step[at] as usize]);
            column = self.add(column, kind, placed.offset, placed.end());
        }
    }

    /// Adds `start..end` and returns the column of its end, where the tile's next sample is looked
    /// for.
    fn add(&mut self, from: usize, kind: usize, start: u64, end: u64) -> usize {
        let last = self.cycles.len() - 1;
        let mut column = from;
        // The usual cases are the same column and the next one; a jump is found by bisection.
        if column < last && self.edges[column + 1] <= start {
            column += 1;
        }
        if !(self.edges[column]..self.edges[column + 1]).contains(&start) {
            let after = self.edges.partition_point(|&edge| edge <= start);
            column = after.saturating_sub(1).min(last);
        }
        let mut at = start;
        while column < last && end > self.edges[column + 1] {
            self.cycles[column][kind] += self.edges[column + 1] - at;
            at = self.edges[column + 1];
            column += 1;
        }
        let column = column.min(last);
        self.cycles[column][kind] += end - at;
        column
    }

    fn shares(&self, tiles: u64) -> Vec<u16> {
        let share = |cycles: u64, width: u64| {
            let whole = u128::from(width) * u128::from(tiles);
            let parts = quotient(u128::from(cycles) * u128::from(u16::MAX), whole);
            u16::try_from(parts).unwrap_or(u16::MAX)
        };
        let columns = self.cycles.iter().zip(self.edges.windows(2));
        columns
            .flat_map(|(kinds, edges)| kinds.map(|cycles| share(cycles, edges[1] - edges[0])))
            .collect()
    }
}
