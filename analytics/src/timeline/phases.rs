//! The places in the schedule that a tile was in, over time: for a ruler, and for what lives as
//! long as its items of the schedule do.

use std::ops::Range;

use super::gather::for_each_tile;
use crate::clock::{ClockKind, Frame};
use crate::format::DecodeError;
use crate::profile::{PhaseKey, ProfileReport, StepRow};

/// Metadata of a sample that stands for several items of the schedule: the first one, and one past
/// the last one.
const EXTENT: [&str; 2] = ["phase_start", "phase_end"];

/// A stretch of time that one tile spent in one place of the schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseSpan {
    /// The place.
    pub phase: PhaseKey,
    /// Cycles on the clock in force.
    pub cycles: Range<u64>,
}

/// A stretch of time that one tile spent in consecutive items of the schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemSpan {
    /// The items, at least one; several where samples are coarser than items, or stand for the
    /// later iterations of a Repeat.
    pub items: Range<u32>,
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
    let spans = joined(report, clock, cycles, tile, most, |step| step.place)?;
    let named = |(phase, cycles)| PhaseSpan { phase, cycles };
    Ok(spans.map(|spans| spans.into_iter().map(named).collect()))
}

/// The same by items of the flattened schedule, which our recorder numbers phases by: a sample
/// whose metadata gives an extent stands for all items in it; one that ends before it starts is
/// none.
///
/// # Errors
/// As [`phase_spans`].
pub fn item_spans(
    report: &ProfileReport,
    clock: ClockKind,
    cycles: Range<u64>,
    tile: u32,
    most: usize,
) -> Result<Option<Vec<ItemSpan>>, DecodeError> {
    let items = |step: &StepRow| {
        let extent = EXTENT.map(|name| {
            let mut pairs = report.metadata(step.metadata);
            let found = pairs.find(|pair| pair.0 == name)?;
            found.1.parse::<u32>().ok()
        });
        let items = match extent {
            [Some(first), Some(after)] if first < after => first..after,
            _ => {
                let phase = step.place.phase.min(u32::MAX - 1);
                phase..phase + 1
            }
        };
        (step.place.epoch, items)
    };
    let spans = joined(report, clock, cycles, tile, most, items)?;
    let named = |((_, items), cycles)| ItemSpan { items, cycles };
    Ok(spans.map(|spans| spans.into_iter().map(named).collect()))
}

/// Places with the cycles that the tile was in them.
type Stretches<P> = Vec<(P, Range<u64>)>;

/// Stretches of one tile's samples that `place` finds alike.
fn joined<P: PartialEq>(
    report: &ProfileReport,
    clock: ClockKind,
    cycles: Range<u64>,
    tile: u32,
    most: usize,
    place: impl Fn(&StepRow) -> P,
) -> Result<Option<Stretches<P>>, DecodeError> {
    let frame = Frame::new(report, clock);
    let mut spans: Stretches<P> = Vec::new();
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
            let (from, to) = (
                placed.offset.max(cycles.start),
                placed.end().min(cycles.end),
            );
            if from >= to {
                continue;
            }
            let place = place(&report.steps()[step as usize]);
            match spans.last_mut() {
                Some((last, cycles)) if *last == place => cycles.end = to.max(cycles.end),
                _ => spans.push((place, from..to)),
            }
        }
    })?;
    Ok((spans.len() <= most).then_some(spans))
}
