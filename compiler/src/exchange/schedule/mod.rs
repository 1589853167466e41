//! Chooses when each message is sent.
//!
//! Transfers → [`Schedule`]. The times obey every rule of the machine's exchange: transmit and
//! receive windows are disjoint, one control at an event, none at a send's first two events, reads
//! and landings that meet in a memory element do not meet in time, and program order holds where
//! bytes overlap. Messages are placed one by one at their first legal event. A second order of
//! placing is tried where the first leaves the busiest endpoint idle for long.

mod delay;
mod fit;
mod lanes;
mod order;
mod replay;

use analytics::units::{Cycles, TileId};
use rayon::prelude::*;
use runtime::machine::topology;

use super::encode::Row;
use super::hazard::{Edge, Hazards, earliest, hazards};
use super::message::{Messages, Pairing, Receiver, Width, can_pair, messages};
use super::timeline::{Timeline, timelines};
use super::transfer::{ExchangeContext, Transfer, TransferError, check};
use crate::options::ExchangeItems;
pub use delay::{DelayCount, DelayRule, Delays, delays};
use fit::{Board, EVENTS_MAX};
use order::{POLICIES, Policy, Totals, place_in_order, ranked};
pub use replay::{replay, structure};

/// Why transfers could not be scheduled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// A transfer is at fault whatever its time.
    #[error(transparent)]
    Transfer(#[from] TransferError),
    /// The exchange would be longer than rows are built for.
    #[error(
        "the {words} words that tile {tile} sends at {address:#x} find no place below event \
         {limit}; split the exchange"
    )]
    TooLong {
        /// Sending tile.
        tile: TileId,
        /// First byte at the source.
        address: u32,
        /// Length of the message in words.
        words: u32,
        /// The limit in events.
        limit: u32,
    },
}

/// How a schedule came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScheduleReport {
    /// Messages sent, a multicast counted once.
    pub messages: usize,
    /// Messages among them of 64-bit items.
    pub paired: usize,
    /// Pairs of messages that share bytes, so that their order is fixed.
    pub hazards: usize,
    /// Tiles on which no two controls share an event, since their row had no alignment for that.
    pub unmerged: usize,
    /// Name of the order in which messages were placed, `replayed` for the times of another
    /// exchange.
    pub order: &'static str,
    /// Longest row in events.
    pub horizon: Cycles,
    /// Items through the busiest endpoint, lanes that it lends included.
    pub bound: Cycles,
}

/// When each message of an exchange is sent, as one timeline a tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    pub(super) timelines: Vec<Timeline>,
    report: ScheduleReport,
    /// When each message is sent, for exchanges that are alike.
    starts: Vec<u32>,
    /// The order in which messages were placed.
    policy: Policy,
    merges: Vec<bool>,
    pairing: Pairing,
}

impl Schedule {
    /// How the schedule came out.
    #[must_use]
    pub fn report(&self) -> ScheduleReport {
        self.report
    }
}

/// Chooses the times of all messages.
///
/// # Errors
/// A transfer that cannot be, by position, or an exchange that is too long.
pub fn schedule(
    transfers: &[Transfer],
    context: &ExchangeContext<'_>,
) -> Result<Schedule, ScheduleError> {
    schedule_with(transfers, context, ExchangeItems::Auto)
}

/// Chooses the times of all messages, which may be of some items only.
///
/// # Errors
/// As [`schedule`].
pub fn schedule_with(
    transfers: &[Transfer],
    context: &ExchangeContext<'_>,
    items: ExchangeItems,
) -> Result<Schedule, ScheduleError> {
    check(transfers, context)?;
    let plain = schedule_as(transfers, context, Pairing::None, u64::MAX)?;
    let best = plain
        .as_ref()
        .map_or(u64::MAX, |it| it.report.horizon.get());
    let can_pair = items == ExchangeItems::Auto
        && transfers.iter().any(|transfer| can_pair(transfer, context));
    let paired = if can_pair {
        schedule_as(transfers, context, Pairing::All, best)?
    } else {
        None
    };
    let better = paired.filter(|it| it.report.horizon.get() < best);
    Ok(better
        .or(plain)
        .expect("no bound is above the largest number"))
}

/// A schedule with or without 64-bit items; nothing where the busiest endpoint alone takes `limit`
/// events or more.
pub(super) fn schedule_as(
    transfers: &[Transfer],
    context: &ExchangeContext<'_>,
    pairing: Pairing,
    limit: u64,
) -> Result<Option<Schedule>, ScheduleError> {
    let tiles = context.topology.tiles();
    // Whether a pointer and a selection may share an event on a tile. A tile whose row turns out to
    // have no alignment for such pairs does without them, and all is placed anew.
    let mut merges = vec![true; tiles];
    let mut rows = vec![Row::default(); tiles];
    let mut before = vec![Timeline::default(); tiles];
    loop {
        let problem = Problem::new(transfers, context, (&merges, pairing));
        if problem.totals.busiest() >= limit {
            return Ok(None);
        }
        let (starts, policy) = problem.solve()?;
        let timelines = timelines(&problem.messages, &starts, context);
        let unaligned: Vec<usize> = rows
            .par_iter_mut()
            .zip(&before)
            .zip(&timelines)
            .enumerate()
            .filter_map(|(tile, ((row, before), timeline))| {
                row.align(before, timeline).is_err().then_some(tile)
            })
            .collect();
        if unaligned.is_empty() {
            let report = problem.report(&timelines, policy.name());
            return Ok(Some(Schedule {
                timelines,
                report,
                starts,
                policy,
                merges,
                pairing,
            }));
        }
        for tile in unaligned {
            merges[tile] = false;
        }
        before = timelines;
    }
}

/// Everything that the placing of messages looks at.
struct Problem<'a> {
    messages: Messages,
    hazards: Hazards,
    totals: Totals,
    /// For each tile, events from selection to landing.
    landing: Vec<u32>,
    merges: &'a [bool],
}

impl<'a> Problem<'a> {
    fn new(
        transfers: &[Transfer],
        context: &ExchangeContext<'_>,
        (merges, pairing): (&'a [bool], Pairing),
    ) -> Self {
        let tiles = context.topology.tiles();
        let messages = messages(transfers, context, (merges, pairing));
        let hazards = hazards(&messages, tiles);
        let totals = Totals::new(&messages, tiles);
        let physical = context.topology.mapping().iter();
        let landing = physical
            .map(|&tile| topology::landing_delay(tile))
            .collect();
        Self {
            messages,
            hazards,
            totals,
            landing,
            merges,
        }
    }

    fn report(&self, timelines: &[Timeline], order: &'static str) -> ScheduleReport {
        let horizon = timelines.iter().map(|timeline| timeline.horizon).max();
        ScheduleReport {
            messages: self.messages.messages.len(),
            paired: self
                .messages
                .messages
                .iter()
                .filter(|message| message.width == Width::Pair)
                .count(),
            hazards: self.hazards.edges.len(),
            unmerged: self.merges.iter().filter(|&&merges| !merges).count(),
            order,
            horizon: Cycles::new(u64::from(horizon.unwrap_or(0))),
            bound: Cycles::new(self.totals.busiest()),
        }
    }

    /// Starts of all messages by the best policy.
    fn solve(&self) -> Result<(Vec<u32>, Policy), ScheduleError> {
        let mut best: Option<(u64, Vec<u32>, Policy)> = None;
        for policy in POLICIES {
            let ranked = ranked(policy, &self.messages, &self.totals);
            let starts = self.starts(&ranked)?;
            let span = self.span(&starts);
            if best.as_ref().is_none_or(|&(least, ..)| span < least) {
                best = Some((span, starts, policy));
            }
            if span <= good_enough(self.totals.busiest()) {
                break;
            }
        }
        let (_, starts, policy) = best.expect("there is a policy");
        Ok((starts, policy))
    }

    /// One past the last event of a send or landing on any tile.
    fn span(&self, starts: &[u32]) -> u64 {
        let ends = self
            .messages
            .messages
            .iter()
            .zip(starts)
            .map(|(message, &start)| {
                let landed = self.messages.receivers(message).iter().map(|receiver| {
                    let select = start.wrapping_add_signed(i32::from(receiver.select));
                    select + self.landing[usize::from(receiver.tile)] + message.width.delay()
                });
                u64::from(landed.max().unwrap_or(0).max(start)) + u64::from(message.items)
            });
        ends.max().unwrap_or(0)
    }

    /// The first event that program order allows a message, given its edges and the starts of all
    /// messages that it waits for.
    fn earliest(&self, edges: &[Edge], starts: &[u32]) -> u32 {
        let landing = |receiver: &Receiver| i64::from(self.landing[usize::from(receiver.tile)]);
        let waits = edges.iter().map(|edge| {
            let earlier = starts[edge.earlier as usize];
            earliest(edge, &self.messages, earlier, landing)
        });
        u32::try_from(waits.max().unwrap_or(0).max(0)).unwrap_or(u32::MAX)
    }

    /// Places every message by first fit.
    fn starts(&self, ranked: &[u32]) -> Result<Vec<u32>, ScheduleError> {
        let (messages, hazards) = (&self.messages, &self.hazards);
        let mut starts = vec![0_u32; messages.messages.len()];
        let mut board = Board::new(messages, hazards, &self.landing, self.merges);
        place_in_order(ranked, hazards, |number, edges| {
            let message = &messages.messages[number as usize];
            let from = self.earliest(edges, &starts);
            let Some(start) = board.first_fit(message, from) else {
                return Err(ScheduleError::TooLong {
                    tile: TileId::new(message.source),
                    address: message.address,
                    words: message.bytes() / 4,
                    limit: EVENTS_MAX,
                });
            };
            board.place(message, start);
            starts[number as usize] = start;
            Ok(())
        })?;
        Ok(starts)
    }
}

/// A span that no other order is tried against: a tenth over the busiest endpoint's words, and the
/// way there and back across the device.
const fn good_enough(busiest: u64) -> u64 {
    busiest + busiest / 10 + 170
}
