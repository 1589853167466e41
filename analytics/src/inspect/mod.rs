//! The figures of a profile as a file: a report in, seventeen counts and sums out.
//!
//! Intervals inside exchanges are *scheduled*, not measured. They are placed in the measured
//! exchange of their (epoch, phase): its window runs from the latest entry to the latest exit over
//! all tiles, and the schedule, as long as the longest horizon, ends with the window. Everything is
//! on the shared clock and nothing is cropped.
//!
//! A tile arrives at an exchange when its synchronization of the same (epoch, phase) starts; where
//! it has none, when its exchange does.

pub(crate) mod roles;

use std::ops::Range;

use crate::format::DecodeError;
use crate::profile::{ActivityKind, ChunkScratch, ProfileReport, SampleKind};
use roles::RoleCycles;

/// Counts and sums over a whole profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    /// Tile clock in hertz; 0 is unknown.
    pub clock_hz: u64,
    /// Profiled tiles, those without samples included.
    pub tiles: u64,
    /// All samples.
    pub samples: u64,
    /// Samples of kind exchange.
    pub exchange_samples: u64,
    /// Those with scheduled transfers in an exchange of known horizon.
    pub described_exchange_samples: u64,
    /// Scheduled intervals in which the tile sends.
    pub send_intervals: u64,
    /// Scheduled intervals in which the tile receives.
    pub receive_intervals: u64,
    /// Scheduled intervals in which the partner borrows the tile's transmit lane.
    pub partner_busy_intervals: u64,
    /// Tile-cycles in which a tile sends, by the schedule.
    pub send_cycles: u64,
    /// Tile-cycles in which a tile receives, by the schedule.
    pub receive_cycles: u64,
    /// Tile-cycles in which a tile does both; part of the two above.
    pub simultaneous_cycles: u64,
    /// Tile-cycles in which the partner borrows the transmit lane, by the schedule.
    pub partner_busy_cycles: u64,
    /// Tile-cycles of exchange windows in which a tile does none of the three.
    pub exchange_idle_cycles: u64,
    /// Sum over exchanges of known horizon of last exit − last arrival.
    pub measured_exchange_cycles: u64,
    /// Sum of their horizons.
    pub scheduled_exchange_cycles: u64,
    /// Sum over the same of last arrival − first arrival.
    pub arrival_wait_cycles: u64,
    /// Sum over the same of what measured exceeds scheduled.
    pub boundary_cycles: u64,
    /// What a reader should know before trusting the figures.
    pub warnings: Vec<String>,
}

/// One exchange over all tiles, on the shared clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Latest start of an exchange sample: scheduled transfers are placed from here on.
    pub(crate) last_entry: u64,
    pub(crate) last_exit: u64,
    /// Longest horizon in cycles; 0 is unknown.
    pub(crate) horizon: u64,
}

impl Window {
    /// The part of a visit, `start..end`, in which its exchange runs: after the last tile has
    /// entered.
    pub(crate) fn visible(&self, start: u64, end: u64) -> Range<u64> {
        let from = self.last_entry.max(start);
        from..end.min(self.last_exit).max(from)
    }

    /// When a scheduled event happens: the schedule ends with the window; inside `visible`.
    pub(crate) fn place(&self, event: u32, visible: &Range<u64>) -> u64 {
        let origin = i128::from(self.last_exit) - i128::from(self.horizon);
        let at = origin + i128::from(event);
        let clamped = at.clamp(i128::from(visible.start), i128::from(visible.end));
        u64::try_from(clamped).unwrap_or(visible.start)
    }

    /// The window with one more visit, `start..end`.
    pub(crate) fn widened(it: Option<Self>, start: u64, end: u64, event_cycles: u32) -> Self {
        let horizon = u64::from(event_cycles);
        let it = it.unwrap_or(Self {
            last_entry: start,
            last_exit: end,
            horizon,
        });
        Self {
            last_entry: it.last_entry.max(start),
            last_exit: it.last_exit.max(end),
            horizon: it.horizon.max(horizon),
        }
    }
}

/// An exchange sample of non-zero length.
#[derive(Clone, Copy, Debug)]
struct Visit {
    ordinal: u64,
    start: u64,
    end: u64,
    /// Row in [`ProfileReport::phases`].
    phase: u32,
}

/// By tile index, then ordinal.
type Visits = Vec<Vec<Visit>>;

/// First and last arrival at each phase row, and the phase row at which each tile arrived last.
struct Arrivals {
    of_phase: Vec<Option<(u64, u64)>>,
    at: Vec<Option<u32>>,
}

impl Arrivals {
    fn new(report: &ProfileReport) -> Self {
        Self {
            of_phase: vec![None; report.phases().len()],
            at: vec![None; report.tiles().len()],
        }
    }

    /// A tile's synchronization or exchange of a phase starts; only the first is its arrival.
    fn note(&mut self, tile: u32, phase: u32, start: u64) {
        if self.at[tile as usize].replace(phase) == Some(phase) {
            return;
        }
        let span = &mut self.of_phase[phase as usize];
        let (first, last) = span.unwrap_or((start, start));
        *span = Some((first.min(start), last.max(start)));
    }
}

/// Counts and sums of `report`.
///
/// # Errors
/// Where a sample or activity chunk cannot be decoded.
pub fn inspect(report: &ProfileReport) -> Result<Inspection, DecodeError> {
    let mut found = Inspection {
        clock_hz: report.header().clock_hz,
        tiles: report.tiles().len() as u64,
        samples: report.sample_count(),
        warnings: report.warnings(),
        ..Inspection::default()
    };
    let mut arrivals = Arrivals::new(report);
    let (visits, windows) = exchanges(report, &mut arrivals, &mut found)?;
    add_windows(&windows, &arrivals, &mut found);
    // Until a transfer is seen, a visit to a scheduled exchange is idle from end to end.
    let of_phase = |visit: &Visit| windows[visit.phase as usize].filter(|it| it.horizon > 0);
    let mut idle: u64 = visits
        .iter()
        .flatten()
        .filter_map(|visit| of_phase(visit).map(|it| it.visible(visit.start, visit.end)))
        .map(|visible| visible.end - visible.start)
        .sum();
    report.visit_activities(&mut |tile, ordinal, activities| {
        for activity in activities {
            match activity.kind {
                ActivityKind::Send => found.send_intervals += 1,
                ActivityKind::Receive => found.receive_intervals += 1,
                ActivityKind::PartnerBusy => found.partner_busy_intervals += 1,
                ActivityKind::Unknown(_) => {}
            }
        }
        let of_tile = &visits[tile as usize];
        let visit = of_tile.binary_search_by_key(&ordinal, |visit| visit.ordinal);
        let Some(visit) = visit.ok().map(|at| &of_tile[at]) else {
            return;
        };
        let Some(window) = of_phase(visit).filter(|_| !activities.is_empty()) else {
            return;
        };
        found.described_exchange_samples += 1;
        let cycles = RoleCycles::of(activities, &window, visit.start, visit.end);
        found.send_cycles += cycles.send;
        found.receive_cycles += cycles.receive;
        found.simultaneous_cycles += cycles.simultaneous;
        found.partner_busy_cycles += cycles.partner_busy;
        idle = idle.saturating_sub(cycles.busy);
    })?;
    found.exchange_idle_cycles = idle;
    Ok(found)
}

/// The exchange samples of each tile by ordinal, and the window of each phase row that has some.
fn exchanges(
    report: &ProfileReport,
    arrivals: &mut Arrivals,
    found: &mut Inspection,
) -> Result<(Visits, Vec<Option<Window>>), DecodeError> {
    let mut visits: Visits = vec![Vec::new(); report.tiles().len()];
    let mut windows: Vec<Option<Window>> = vec![None; report.phases().len()];
    let mut scratch = ChunkScratch::new();
    for index in 0..report.chunks().len() {
        report.decode_chunk(index, &mut scratch)?;
        for span in &scratch.spans {
            let first = span.samples.start as usize;
            for at in first..span.samples.end as usize {
                let step = &report.steps()[scratch.step[at] as usize];
                let (start, duration) = (scratch.start[at], u64::from(scratch.duration[at]));
                if step.kind == SampleKind::Synchronization {
                    arrivals.note(span.tile, step.phase_row, start);
                }
                if step.kind != SampleKind::Exchange {
                    continue;
                }
                found.exchange_samples += 1;
                if duration == 0 {
                    continue;
                }
                arrivals.note(span.tile, step.phase_row, start);
                let visit = Visit {
                    ordinal: span.first_ordinal + (at - first) as u64,
                    start,
                    end: start + duration,
                    phase: step.phase_row,
                };
                visits[span.tile as usize].push(visit);
                let window = &mut windows[step.phase_row as usize];
                *window = Some(Window::widened(
                    *window,
                    visit.start,
                    visit.end,
                    step.event_cycles,
                ));
            }
        }
    }
    Ok((visits, windows))
}

fn add_windows(windows: &[Option<Window>], arrivals: &Arrivals, found: &mut Inspection) {
    for (window, arrival) in windows.iter().zip(&arrivals.of_phase) {
        let (Some(window), Some((first, last))) = (window, arrival) else {
            continue;
        };
        if window.horizon == 0 {
            continue;
        }
        let measured = window.last_exit.saturating_sub(*last);
        found.measured_exchange_cycles += measured;
        found.scheduled_exchange_cycles += window.horizon;
        found.arrival_wait_cycles += last - first;
        found.boundary_cycles += measured.saturating_sub(window.horizon);
    }
}
