//! Questions about a made-up profile, before a real one is there.
//!
//! Browsers compile WebAssembly in haste, and well only what has run for a while. What was compiled
//! serves every worker of the page, so one that holds no profile runs what the first questions will
//! run, and ends: the first file that is dropped finds it compiled.

use analytics::clock::ClockKind;
use analytics::format::{ProfileWriter, open_bytes};
use analytics::profile::{ProfileHeader, SampleKind, StepDescriptor};
use analytics::units::{PhysicalTile, RawCounter};
use bytes::Bytes;

use super::answer;
use super::cause::{Cause, Failure};
use super::held::Held;
use super::places::PlacesAsked;
use super::protocol::{Answer, Request, TableAsked};
use super::raster::{RasterAsked, StripAsked};
use super::read::Input;
use super::summary::Summary;
use crate::state::view::{Colouring, Grouping, KindFilter, Rows};

/// The made-up device and its run.
const TILES: u32 = 1_472;
const SAMPLES: u32 = 32;
const STEPS: u32 = 24;
/// Cells of the picture.
const COLUMNS: u32 = 1_600;
const ROWS: u32 = 500;
/// How often all is opened and asked.
const ROUNDS: usize = 3;

/// Opens the made-up profile and asks what a page asks first; gives the answers of the last round.
///
/// # Errors
/// Where the profile is not one: a bug.
pub(crate) fn rehearse() -> Result<Vec<Answer>, Failure> {
    let bytes = Bytes::from(made_up()?);
    let mut answers = Vec::new();
    for _ in 0..ROUNDS {
        answers = answered(&bytes)?;
    }
    Ok(answers)
}

fn answered(bytes: &Bytes) -> Result<Vec<Answer>, Failure> {
    let report = open_bytes(bytes.clone())?;
    let held = Held::new(0, String::new(), report, Input::Whole(Bytes::new()));
    let report = held.report.borrow();
    let summary = answer::summary(&report, "", bytes.len() as u64)?;
    let asked = questions(&summary);
    let ask = |it| answer::exact(&held.sources(&report, None), it, &held.groups);
    let mut answers = asked.into_iter().map(ask).collect::<Result<Vec<_>, _>>()?;
    answers.push(Answer::Opened(Box::new(summary)));
    Ok(answers)
}

/// What the page asks when a profile is open, in its order.
fn questions(summary: &Summary) -> [Request; 4] {
    let clock = ClockKind::default();
    let (from, to) = (0, summary.run(clock));
    [
        Request::Table(TableAsked {
            by: Grouping::default(),
            key: String::new(),
            kind: KindFilter::default(),
            kernel: None,
            clock,
        }),
        Request::Ruler(PlacesAsked {
            clock,
            from,
            to,
            tile: 0,
            most: ROWS,
        }),
        Request::Strip(StripAsked {
            clock,
            columns: COLUMNS,
        }),
        Request::Raster(RasterAsked {
            clock,
            from,
            to,
            columns: COLUMNS,
            by: Rows::Tile,
            tile_from: 0,
            tile_to: summary.tiles.count(),
            rows: ROWS,
            colour: Colouring::default(),
            focus: None,
        }),
    ]
}

/// A profile like those of a simulated run: every tile computes, exchanges and waits in turn.
fn made_up() -> Result<Vec<u8>, Failure> {
    let mut writer = ProfileWriter::new(&ProfileHeader::default());
    let steps: Vec<_> = (0..STEPS).map(|at| writer.step(&step(at))).collect();
    for tile in 0..TILES {
        let mut at = 0;
        for (sample, step) in (0..SAMPLES).zip(steps.iter().cycle()) {
            let end = at + 1_000 + (tile * 7 + sample * 131) % 900;
            let (start, stop) = (RawCounter::new(at), RawCounter::new(end));
            writer.sample(PhysicalTile::new(tile), start, stop, *step, &[]);
            at = end + sample % 2;
        }
    }
    writer.finish().map_err(|error| {
        let message = format!("the made-up profile is none: {error}");
        Failure::new(Cause::Internal, message)
    })
}

fn step(at: u32) -> StepDescriptor {
    let (kind, kernel) = match at % 3 {
        0 => (SampleKind::Compute, format!("kernel{at}")),
        1 => (SampleKind::Exchange, String::new()),
        _ => (SampleKind::Synchronization, String::new()),
    };
    StepDescriptor {
        kind,
        phase: at,
        epoch: 0,
        operation: format!("operation{}", at / 6),
        kernel,
        exchange_event_cycles: 0,
        metadata: Vec::new(),
        estimate: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_of_a_page_is_answered_of_the_whole_made_up_run() {
        let answers = rehearse().expect("the made-up profile is one");
        let [
            Answer::Table(table),
            Answer::Ruler(ruler),
            Answer::Strip(strip),
            Answer::Raster(raster),
            Answer::Opened(summary),
        ] = &answers[..]
        else {
            panic!("{} answers", answers.len());
        };
        assert_eq!(summary.samples, u64::from(TILES * SAMPLES));
        assert_eq!(table.rows.len(), STEPS as usize / 3, "one row a kernel");
        let phases = ruler.phases.as_ref().map(Vec::len);
        assert_eq!(phases, Some(SAMPLES as usize));
        assert_eq!(strip.columns, COLUMNS);
        assert_eq!(strip.on(ClockKind::Cropped), Some(strip));
        assert_eq!(strip.on(ClockKind::Shared), None, "other cycles");
        assert_eq!(raster.kinds.len(), (COLUMNS * ROWS) as usize);
        assert!(!raster.from_overview);
    }
}
