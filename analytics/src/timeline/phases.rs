//! The places in the schedule that a tile was in, over time: a ruler for a timeline.

use std::ops::Range;

use super::gather::for_each_tile;
use crate::clock::{ClockKind, Frame};
use crate::format::DecodeError;
use crate::profile::{PhaseKey, ProfileReport};

/// A stretch of time that one tile spent in one place of the schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseSpan {
    /// The place.
    pub phase: PhaseKey,
    /// Cycles on the clock in force.
    pub cycles: Range<u64>,
}

/// The places of the tile at position `tile` inside `cycles` of `clock`, in order, adjacent samples
/// of one place joined; `None` where there are more than `most`.
///
/// # Errors
/// Where a chunk that holds them cannot be decoded.
pub fn phase_spans(
    report: &ProfileReport,
    clock: ClockKind,
    cycles: Range<u64>,
    tile: u32,
    most: usize,
) -> Result<Option<Vec<PhaseSpan>>, DecodeError> {
    let frame = Frame::new(report, clock);
    let mut spans: Vec<PhaseSpan> = Vec::new();
    if tile as usize >= report.tiles().len() {
        return Ok(Some(spans));
    }
    let tiles = tile..tile + 1;
    for_each_tile(report, frame, tiles, cycles.clone(), |tile, samples| {
        let entry = &report.tiles()[tile as usize];
        for (start, duration, step) in samples.iter() {
            if spans.len() > most {
                return;
            }
            let Some(placed) = frame.place(entry, start, duration) else {
                continue;
            };
            let phase = report.steps()[step as usize].place;
            let (from, to) = (
                placed.offset.max(cycles.start),
                placed.end().min(cycles.end),
            );
            match spans.last_mut() {
                _ if from >= to => {}
                Some(last) if last.phase == phase => last.cycles.end = to.max(last.cycles.end),
                _ => spans.push(PhaseSpan {
                    phase,
                    cycles: from..to,
                }),
            }
        }
    })?;
    Ok((spans.len() <= most).then_some(spans))
}
