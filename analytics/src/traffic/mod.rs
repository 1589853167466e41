//! What the exchange ports do: who sends and receives when, and how much.
//!
//! Transfers inside exchange samples are *scheduled*, not measured. They are placed in the measured
//! exchange of their (epoch, phase): its window runs from the latest entry to the latest exit over
//! all tiles, and the schedule ends with the window. An event moves one word of four bytes, two
//! where the transfer borrows the pair partner's lane.

mod grid;
mod groups;
mod part;
mod totals;

use std::ops::Range;

use crate::clock::{ClockKind, Frame};
use crate::format::{DecodeError, visit_activity_chunk_of};
use crate::inspect::Window;
use crate::profile::{ExchangeActivity, ProfileReport, SampleKind, visit_chunk};
use crate::timeline::View;
use crate::units::PhysicalTile;
use grid::Grid;
use groups::{Group, groups};

pub use crate::inspect::roles::Role;
pub use part::{PartTraffic, traffic_in};
pub use totals::{ExchangeTotals, PortTotals, Totals, totals};

/// Bytes of a word.
const WORD: u64 = 4;

/// Where the exchanges of a report are: made once, asked often.
#[derive(Clone, Debug, Default)]
pub struct Exchanges {
    /// By phase row: first entry and window of the exchange there.
    pub(crate) windows: Vec<Option<(u64, Window)>>,
    /// Samples of kind exchange that take time.
    pub samples: u64,
}

impl Exchanges {
    /// The exchanges of `report`, in one pass over its samples.
    ///
    /// # Errors
    /// Where a sample chunk cannot be decoded.
    pub fn find(report: &ProfileReport) -> Result<Self, DecodeError> {
        let mut windows: Vec<Option<(u64, Window)>> = vec![None; report.phases().len()];
        let mut samples = 0;
        report.visit_samples(|sample| {
            let step = &report.steps()[sample.step as usize];
            if step.kind != SampleKind::Exchange || sample.duration == 0 {
                return;
            }
            samples += 1;
            let row = &mut windows[step.phase_row as usize];
            let first = row.map_or(sample.start, |(first, _)| first.min(sample.start));
            let window = row.map(|(_, window)| window);
            let events = step.event_cycles;
            let window = Window::widened(window, sample.start, sample.end(), events);
            *row = Some((first, window));
        })?;
        Ok(Self { windows, samples })
    }

    /// The window of a phase row whose schedule is known.
    fn scheduled(&self, phase_row: u32) -> Option<&Window> {
        let (_, window) = self.windows[phase_row as usize].as_ref()?;
        (window.horizon > 0).then_some(window)
    }
}

/// Which part of the device, and how finely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanesAsked {
    /// The clock that the cycles are on.
    pub clock: ClockKind,
    /// Cycles.
    pub cycles: Range<u64>,
    /// Columns of cells, at least one.
    pub columns: u32,
    /// Tile indices.
    pub tiles: Range<u32>,
    /// Rows of cells; no more than tiles are made.
    pub rows: u32,
}

/// What the ports did in a part: pictures of it and sums over it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lanes {
    /// Columns of cells.
    pub columns: u32,
    /// Rows of cells.
    pub rows: u32,
    /// By [`Role`], row-major: tile-cycles of the role in each cell, in 1/255 of the cell, rounded
    /// up.
    pub roles: [Vec<u8>; Role::COUNT],
    /// Row-major: the same for being inside an exchange that all tiles have entered.
    pub exchange: Vec<u8>,
    /// One for each tile of the part.
    pub tiles: Vec<TileTraffic>,
}

/// One tile's port over a part. Cycles and bytes count as far as they lie in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TileTraffic {
    /// Physical id.
    pub tile: PhysicalTile,
    /// Cycles by [`Role`].
    pub cycles: [u64; Role::COUNT],
    /// Bytes by [`Role`]; those of partner-busy are the partner's.
    pub bytes: [u64; Role::COUNT],
}

/// What the ports of `report` did in a part of it. Only the chunks that the part touches are
/// decoded.
///
/// # Errors
/// Where a chunk cannot be decoded.
///
/// # Panics
/// Where the tiles are not of this profile.
pub fn lanes(
    report: &ProfileReport,
    exchanges: &Exchanges,
    asked: &LanesAsked,
) -> Result<Lanes, DecodeError> {
    let frame = Frame::new(report, asked.clock);
    let mut grid = Grid::new(asked);
    let of_part = &report.tiles()[asked.tiles.start as usize..asked.tiles.end as usize];
    let mut tiles: Vec<TileTraffic> = of_part
        .iter()
        .map(|entry| TileTraffic {
            tile: entry.tile,
            ..TileTraffic::default()
        })
        .collect();
    let part = View {
        report,
        frame,
        tiles: asked.tiles.clone(),
        cycles: asked.cycles.start..asked.cycles.end.max(asked.cycles.start.saturating_add(1)),
    };
    for group in groups(report) {
        if group.tiles.end <= asked.tiles.start || asked.tiles.end <= group.tiles.start {
            continue;
        }
        visit_group(report, exchanges, &group, Some(&part), &mut |transfers| {
            let origin = frame.origin(&report.tiles()[transfers.tile as usize]);
            let tile = &mut tiles[(transfers.tile - asked.tiles.start) as usize];
            add(&mut grid, tile, transfers, origin);
        })?;
    }
    Ok(grid.finish(tiles))
}

/// Adds the transfers of one exchange sample; `origin` is the zero of the clock.
fn add(grid: &mut Grid, tile: &mut TileTraffic, transfers: &Transfers<'_>, origin: u64) {
    let on_clock =
        |span: &Range<u64>| span.start.saturating_sub(origin)..span.end.saturating_sub(origin);
    grid.add_exchange(transfers.tile, on_clock(&transfers.visible));
    for activity in transfers.activities {
        let Some(role) = Role::of(activity.kind) else {
            continue;
        };
        let place = |event| transfers.window.place(event, &transfers.visible);
        let span = on_clock(&(place(activity.start)..place(activity.end)));
        let cycles = grid.add_role(transfers.tile, role, span);
        tile.cycles[role as usize] += cycles;
        tile.bytes[role as usize] += cycles * bytes_per_event(activity);
    }
}

/// What one event of a transfer moves.
const fn bytes_per_event(activity: &ExchangeActivity) -> u64 {
    if activity.paired { 2 * WORD } else { WORD }
}

/// The transfers of one exchange sample.
struct Transfers<'a> {
    tile: u32,
    phase_row: u32,
    window: &'a Window,
    /// Cycles on the shared clock in which they are placed.
    visible: Range<u64>,
    activities: &'a [ExchangeActivity],
}

/// Visits the exchange samples of a group of tiles that have transfers and a known schedule: those
/// in `part`, where one is given.
/// Memory grows with the exchange samples of the group alone.
fn visit_group(
    report: &ProfileReport,
    exchanges: &Exchanges,
    group: &Group,
    part: Option<&View<'_>>,
    visit: &mut dyn FnMut(&Transfers<'_>),
) -> Result<(), DecodeError> {
    let mut visits: Vec<(u32, u64, u32, Range<u64>)> = Vec::new();
    let mut scratch = crate::profile::ChunkScratch::new();
    let touched = |&&index: &&usize| part.is_none_or(|it| it.touches(&report.chunks()[index]));
    for &index in group.chunks.iter().filter(touched) {
        report.decode_chunk(index, &mut scratch)?;
        visit_chunk(&scratch, &mut |sample| {
            let step = &report.steps()[sample.step as usize];
            let is_inside =
                part.is_none_or(|it| it.sees(sample.tile, &(sample.start..sample.end())));
            if step.kind != SampleKind::Exchange || sample.duration == 0 || !is_inside {
                return;
            }
            if let Some(window) = exchanges.scheduled(step.phase_row) {
                let visible = window.visible(sample.start, sample.end());
                visits.push((sample.tile, sample.ordinal, step.phase_row, visible));
            }
        });
    }
    visits.sort_unstable_by_key(|it| (it.0, it.1));
    let mut call = |at: &(u32, u64, u32, Range<u64>), activities: &[ExchangeActivity]| {
        if let Some(window) = exchanges.scheduled(at.2) {
            visit(&Transfers {
                tile: at.0,
                phase_row: at.2,
                window,
                visible: at.3.clone(),
                activities,
            });
        }
    };
    let find = |tile, ordinal| visits.binary_search_by_key(&(tile, ordinal), |it| (it.0, it.1));
    let wants = |tile, ordinal| find(tile, ordinal).is_ok();
    for &index in &group.activities {
        visit_activity_chunk_of(report, index, &wants, &mut |tile, ordinal, activities| {
            if let Ok(at) = find(tile, ordinal) {
                call(&visits[at], activities);
            }
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::ActivityKind;

    #[test]
    fn a_borrowed_lane_doubles_the_bytes() {
        let activity = |paired| ExchangeActivity {
            kind: ActivityKind::Send,
            start: 0,
            end: 1,
            fanout: 1,
            paired,
        };
        assert_eq!(bytes_per_event(&activity(false)), 4);
        assert_eq!(bytes_per_event(&activity(true)), 8);
    }
}
