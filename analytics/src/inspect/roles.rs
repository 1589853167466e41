//! What a tile's exchange port does during one visit: scheduled intervals in, cycles by role out.

use super::Window;
use crate::profile::{ActivityKind, ExchangeActivity};

/// Roles of a tile's exchange port, in the order of all arrays by role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Words leave the tile.
    Send,
    /// Words land on the tile.
    Receive,
    /// The pair partner borrows this tile's transmit lane.
    PartnerBusy,
}

impl Role {
    /// Number of roles.
    pub const COUNT: usize = 3;

    /// The role of an activity; `None` for kinds that this version does not know.
    #[must_use]
    pub const fn of(kind: ActivityKind) -> Option<Self> {
        match kind {
            ActivityKind::Send => Some(Self::Send),
            ActivityKind::Receive => Some(Self::Receive),
            ActivityKind::PartnerBusy => Some(Self::PartnerBusy),
            ActivityKind::Unknown(_) => None,
        }
    }
}

/// Cycles of one visit by role. Overlapping intervals of one role count once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RoleCycles {
    pub(super) send: u64,
    pub(super) receive: u64,
    /// Sending and receiving.
    pub(super) simultaneous: u64,
    pub(super) partner_busy: u64,
    /// In at least one role.
    pub(super) busy: u64,
}

impl RoleCycles {
    /// Sweeps over `activities`, placed so that the schedule ends with the window, and clamped to
    /// the visit.
    pub(super) fn of(
        activities: &[ExchangeActivity],
        window: &Window,
        start: u64,
        end: u64,
    ) -> Self {
        let visible = window.visible(start, end);
        let place = |event: u32| window.place(event, &visible);
        let mut edges: Vec<(u64, Role, i32)> = Vec::with_capacity(activities.len() * 2);
        for activity in activities {
            let Some(role) = Role::of(activity.kind) else {
                continue;
            };
            let (from, to) = (place(activity.start), place(activity.end));
            if from < to {
                edges.push((from, role, 1));
                edges.push((to, role, -1));
            }
        }
        edges.sort_unstable_by_key(|edge| edge.0);
        let mut cycles = Self::default();
        let mut depth = [0i32; Role::COUNT];
        let mut before = visible.start;
        for (at, role, change) in edges {
            cycles.add(depth, at - before);
            depth[role as usize] += change;
            before = at;
        }
        cycles
    }

    fn add(&mut self, depth: [i32; Role::COUNT], cycles: u64) {
        let [send, receive, partner] = depth.map(|depth| depth > 0);
        let when = |holds: bool| if holds { cycles } else { 0 };
        self.send += when(send);
        self.receive += when(receive);
        self.simultaneous += when(send && receive);
        self.partner_busy += when(partner);
        self.busy += when(send || receive || partner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn activity(kind: ActivityKind, start: u32, end: u32) -> ExchangeActivity {
        ExchangeActivity {
            kind,
            start,
            end,
            fanout: 1,
            paired: false,
        }
    }

    #[test]
    fn roles_are_placed_from_the_end_and_count_overlaps_once() {
        let window = Window {
            last_entry: 100,
            last_exit: 123,
            horizon: 13,
        };
        let activities = [
            activity(ActivityKind::Send, 2, 8),
            activity(ActivityKind::Send, 4, 6),
            activity(ActivityKind::Receive, 4, 10),
            activity(ActivityKind::PartnerBusy, 1, 12),
        ];
        let whole = RoleCycles {
            send: 6,
            receive: 6,
            simultaneous: 4,
            partner_busy: 11,
            busy: 11,
        };
        assert_eq!(RoleCycles::of(&activities, &window, 90, 123), whole);
        // A visit that ends at event 5 of the schedule, which starts at 110.
        let cut = RoleCycles {
            send: 3,
            receive: 1,
            simultaneous: 1,
            partner_busy: 4,
            busy: 4,
        };
        assert_eq!(RoleCycles::of(&activities, &window, 90, 115), cut);
    }
}
