//! Which rules keep transfers from earlier events.
//!
//! The messages of a schedule are placed once more, in the same order and at the times they have.
//! Before each is entered, every event before its start is put to each rule alone. So a rule is
//! judged against what was placed before, as the scheduler was; what a different order would have
//! spared is not seen.

use std::convert::Infallible;

use super::super::message::Message;
use super::super::transfer::{ExchangeContext, Transfer};
use super::fit::{Board, narrow, selection};
use super::lanes::Fit;
use super::order::{place_in_order, ranked};
use super::{Problem, Schedule};

/// A rule that may forbid an event to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayRule {
    /// Bytes in common with an earlier transfer, one of them written.
    ProgramOrder,
    /// The sender sends something else.
    SendLane,
    /// The partner whose lane is borrowed sends or lends it already.
    LentLane,
    /// A receiver receives something else.
    ReceiveLane,
    /// A control at the first two events of a send, or two of 64-bit items at one event.
    Controls,
    /// Two controls at one event on a tile whose row has no alignment for them.
    Alignment,
    /// A read and a landing in one memory element of a tile.
    Element,
}

impl DelayRule {
    /// All rules.
    pub const ALL: [Self; 7] = [
        Self::ProgramOrder,
        Self::SendLane,
        Self::LentLane,
        Self::ReceiveLane,
        Self::Controls,
        Self::Alignment,
        Self::Element,
    ];

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ProgramOrder => "program order",
            Self::SendLane => "send lane",
            Self::LentLane => "lent lane",
            Self::ReceiveLane => "receive lane",
            Self::Controls => "controls",
            Self::Alignment => "alignment",
            Self::Element => "memory element",
        }
    }
}

/// Transfers that one rule delayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayCount {
    /// The rule.
    pub rule: DelayRule,
    /// Transfers that it forbade at least one earlier event.
    pub forbidden: usize,
    /// Transfers that would have gone earlier without this rule alone.
    pub decided: usize,
}

/// Which rules delayed how many transfers of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// All transfers.
    pub transfers: usize,
    /// Transfers that do not go at the first event that the way to their receivers allows.
    pub delayed: usize,
    /// Each rule's part, as in [`DelayRule::ALL`].
    pub rules: [DelayCount; DelayRule::ALL.len()],
}

/// Rules as bits by their position in [`DelayRule::ALL`].
#[derive(Clone, Copy, Debug, Default)]
struct HeldBack {
    forbidden: u8,
    decided: u8,
}

/// Counts the transfers of a schedule that each rule delayed. A transfer counts where any of the
/// messages that it was cut into does.
#[must_use]
pub fn delays(
    schedule: &Schedule,
    transfers: &[Transfer],
    context: &ExchangeContext<'_>,
) -> Delays {
    let setting = (schedule.merges.as_slice(), schedule.pairing);
    let problem = Problem::new(transfers, context, setting);
    let held_back = problem.held_back(schedule);
    let mut messages = problem.messages.messages.iter().zip(held_back);
    let count = |rule| DelayCount {
        rule,
        forbidden: 0,
        decided: 0,
    };
    let mut delays = Delays {
        transfers: transfers.len(),
        delayed: 0,
        rules: DelayRule::ALL.map(count),
    };
    for transfer in transfers {
        let (mut rest, mut all) = (4 * transfer.words, HeldBack::default());
        while rest > 0 {
            let (message, own) = messages.next().expect("messages carry all words");
            rest -= message.bytes();
            all.forbidden |= own.forbidden;
            all.decided |= own.decided;
        }
        delays.delayed += usize::from(all.forbidden != 0);
        for (bit, rule) in delays.rules.iter_mut().enumerate() {
            rule.forbidden += usize::from(all.forbidden >> bit & 1);
            rule.decided += usize::from(all.decided >> bit & 1);
        }
    }
    delays
}

impl Problem<'_> {
    /// What held each message back.
    fn held_back(&self, schedule: &Schedule) -> Vec<HeldBack> {
        let (messages, hazards) = (&self.messages, &self.hazards);
        let ranked = ranked(schedule.policy, messages, &self.totals);
        let mut board = Board::new(messages, hazards, &self.landing, self.merges);
        let mut found = vec![HeldBack::default(); messages.messages.len()];
        let place = |number: u32, edges: &[_]| {
            let message = &messages.messages[number as usize];
            let start = schedule.starts[number as usize];
            let from = self.earliest(edges, &schedule.starts);
            let events = board.first_start(message)..start;
            found[number as usize] = held_back(events.step_by(64), |at| {
                (start, self.allowed(&board, message, (at, from)))
            });
            board.place(message, start);
            Ok::<(), Infallible>(())
        };
        let Ok(()) = place_in_order(&ranked, hazards, place);
        found
    }

    /// For each rule, the starts that it allows among the 64 from `at`; program order allows those
    /// from `from`.
    fn allowed(
        &self,
        board: &Board<'_>,
        message: &Message,
        (at, from): (u32, u32),
    ) -> [u64; DelayRule::ALL.len()] {
        let waits = from.saturating_sub(at);
        let (mut receive, mut element) = (Fit::ALL, board.unwritten(message, at, Fit::ALL));
        let (mut controls, mut unmerged) = (board.sender_controls(message, at), 0);
        for receiver in self.messages.receivers(message) {
            let select = selection(receiver, at);
            receive = narrow(receive, board.receiver_free(message, receiver, select));
            controls |= board.receiver_controls(message, receiver, select);
            unmerged |= board.unmerged_controls(message, receiver, select);
            element = board.unread(message, receiver, at, element);
        }
        DelayRule::ALL.map(|rule| match rule {
            DelayRule::ProgramOrder => u64::MAX.checked_shl(waits).unwrap_or(0),
            DelayRule::SendLane => board.sender_free(message, at).mask,
            DelayRule::LentLane => board.lender_free(message, at).mask,
            DelayRule::ReceiveLane => receive.mask,
            DelayRule::Controls => !controls,
            DelayRule::Alignment => !unmerged,
            DelayRule::Element => element.mask,
        })
    }
}

/// Judges blocks of 64 events, of which those before the start count.
fn held_back(
    blocks: impl Iterator<Item = u32>,
    allowed: impl Fn(u32) -> (u32, [u64; DelayRule::ALL.len()]),
) -> HeldBack {
    let mut found = HeldBack::default();
    for at in blocks {
        let (start, allowed) = allowed(at);
        let earlier = u64::MAX >> (64 - (start - at).min(64));
        for (bit, own) in allowed.iter().enumerate() {
            let others = allowed
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != bit);
            let free = others.fold(earlier, |free, (_, mask)| free & mask);
            found.forbidden |= u8::from(!own & earlier != 0) << bit;
            found.decided |= u8::from(free != 0) << bit;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::super::transfer::transfer;
    use super::super::schedule;
    use super::*;
    use DelayRule::{Element, ProgramOrder, ReceiveLane, SendLane};
    use runtime::machine::topology::Topology;

    /// Rules that forbade an event to any transfer, and rules that decided, with their counts.
    fn of(transfers: &[Transfer]) -> [Vec<(DelayRule, usize)>; 2] {
        let topology = Topology::first_tiles(16);
        let context = ExchangeContext {
            topology: &topology,
            row_code: &[],
        };
        let schedule = schedule(transfers, &context).expect("it can be scheduled");
        let delays = delays(&schedule, transfers, &context);
        assert_eq!(delays.transfers, transfers.len());
        let most = delays.rules.iter().map(|it| it.forbidden).max();
        assert!(most <= Some(delays.delayed) && delays.delayed <= transfers.len());
        let some = |count: fn(&DelayCount) -> usize| {
            let rules = delays.rules.iter().map(|it| (it.rule, count(it)));
            rules.filter(|(_, count)| *count > 0).collect()
        };
        [some(|it| it.forbidden), some(|it| it.decided)]
    }

    #[test]
    fn each_rule_is_named_where_it_alone_delays() {
        let first = transfer(0, 0x6_0000, 40, &[(1, 0x9_0000)]);
        let free = transfer(4, 0x6_0000, 40, &[(5, 0x9_0000)]);
        assert_eq!(of(&[first.clone(), free]), [vec![], vec![]]);
        let same_sender = transfer(0, 0x7_0000, 40, &[(2, 0x9_0000)]);
        let after = of(&[first.clone(), same_sender]);
        assert!(after[1].contains(&(SendLane, 1)), "{after:?}");
        // The order of the two does not matter, the receiver's port does.
        let same_receiver = transfer(4, 0x6_0000, 40, &[(1, 0xa_0000)]);
        assert_eq!(of(&[first.clone(), same_receiver])[1], [(ReceiveLane, 1)]);
        // Tile 1 passes on the start of what it receives; it could before the words land.
        let passed_on = transfer(1, 0x9_0000, 8, &[(6, 0x9_0000)]);
        let after = of(&[first.clone(), passed_on]);
        assert_eq!(after[1], [(ProgramOrder, 1)]);
        // Tile 1 sends other bytes of the element that it receives into.
        let same_element = transfer(1, 0x9_1000, 400, &[(6, 0x9_0000)]);
        let after = of(&[first.clone(), same_element]);
        assert_eq!(after[1], [(Element, 1)]);
    }

    #[test]
    fn no_event_before_a_start_is_allowed_by_all_rules() {
        let transfers: Vec<Transfer> = (0..400_u16)
            .map(|k| {
                let (from, to) = (k * 7 % 16, (k * 11 + 5) % 16);
                let to = if to == from { (to + 1) % 16 } else { to };
                let words = 1 + u32::from(k) * 37 % 150;
                let [read, write] = [3, 5].map(|step| 0x6_0000 + u32::from(k) * step % 64 * 512);
                transfer(from, read, words, &[(to, write)])
            })
            .collect();
        let topology = Topology::first_tiles(16);
        let context = ExchangeContext {
            topology: &topology,
            row_code: &[],
        };
        let schedule = schedule(&transfers, &context).expect("it can be scheduled");
        let setting = (schedule.merges.as_slice(), schedule.pairing);
        let problem = Problem::new(&transfers, &context, setting);
        let ranked = ranked(schedule.policy, &problem.messages, &problem.totals);
        let (messages, hazards) = (&problem.messages, &problem.hazards);
        let mut board = Board::new(messages, hazards, &problem.landing, problem.merges);
        let mut waited = 0;
        let Ok(()) = place_in_order(&ranked, hazards, |number, edges| {
            let message = &messages.messages[number as usize];
            let start = schedule.starts[number as usize];
            let from = problem.earliest(edges, &schedule.starts);
            for at in board.first_start(message)..=start {
                let allowed = problem.allowed(&board, message, (at, from));
                let all = allowed.iter().fold(1, |all, mask| all & mask);
                assert_eq!(all == 1, at == start, "message {number} at {at}");
                waited += u32::from(at < start);
            }
            board.place(message, start);
            Ok::<(), Infallible>(())
        });
        assert!(waited > 10_000, "only {waited} events were waited");
    }
}
