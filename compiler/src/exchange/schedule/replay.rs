//! Exchanges that are alike up to addresses are scheduled once.
//!
//! The times of one exchange are those of another if every message may be sent then: that is
//! checked against the other's own addresses, so that elements and bytes in common decide anew.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use rayon::prelude::*;

use super::super::encode::Row;
use super::super::hazard::earliest;
use super::super::message::{Messages, Receiver, messages};
use super::super::timeline::{Timeline, timelines};
use super::super::transfer::{ExchangeContext, Transfer, check};
use super::fit::Board;
use super::{Problem, Schedule};

/// A number that exchanges with equal tiles, lengths and order share, whatever their addresses.
#[must_use]
pub fn structure(transfers: &[Transfer]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for transfer in transfers {
        (transfer.source, transfer.words).hash(&mut hasher);
        for (tile, _) in &transfer.destinations {
            tile.hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// The schedule of an exchange by the times of one that is alike; nothing where they are not alike
/// or the times break a rule at these addresses.
#[must_use]
pub fn replay(
    known: &Schedule,
    like: &[Transfer],
    transfers: &[Transfer],
    context: &ExchangeContext<'_>,
) -> Option<Schedule> {
    check(transfers, context).ok()?;
    let setting = (known.merges.as_slice(), known.pairing);
    let problem = Problem::new(transfers, context, setting);
    let same = is_alike(&problem.messages, &messages(like, context, setting));
    if !same || !problem.allows(&known.starts) {
        return None;
    }
    let timelines = timelines(&problem.messages, &known.starts, context);
    let nothing = Timeline::default();
    let aligned = |timeline: &Timeline| Row::default().align(&nothing, timeline).is_ok();
    if !timelines.par_iter().all(aligned) {
        return None;
    }
    let report = problem.report(&timelines, "replayed");
    Some(Schedule {
        timelines,
        report,
        starts: known.starts.clone(),
        policy: known.policy,
        merges: known.merges.clone(),
        pairing: known.pairing,
    })
}

/// Whether messages are the same but for addresses.
fn is_alike(one: &Messages, other: &Messages) -> bool {
    let messages = one.messages.iter().zip(&other.messages);
    let receivers = one.receivers.iter().zip(&other.receivers);
    one.messages.len() == other.messages.len()
        && one.receivers.len() == other.receivers.len()
        && messages.into_iter().all(|(a, b)| {
            (a.source, a.items, a.width, a.count) == (b.source, b.items, b.width, b.count)
        })
        && receivers.into_iter().all(|(a, b)| a.tile == b.tile)
}

impl Problem<'_> {
    /// Whether all messages may be sent at these events.
    fn allows(&self, starts: &[u32]) -> bool {
        let (messages, hazards) = (&self.messages, &self.hazards);
        let landing = |receiver: &Receiver| i64::from(self.landing[usize::from(receiver.tile)]);
        let in_order = hazards.edges.iter().all(|edge| {
            let start = starts[edge.earlier as usize];
            let from = earliest(edge, messages, start, landing);
            i64::from(starts[edge.later as usize]) >= from
        });
        let mut board = Board::new(messages, hazards, &self.landing, self.merges);
        in_order
            && messages
                .messages
                .iter()
                .zip(starts)
                .all(|(message, &start)| {
                    let fits = board.fits(message, start);
                    if fits {
                        board.place(message, start);
                    }
                    fits
                })
    }
}
