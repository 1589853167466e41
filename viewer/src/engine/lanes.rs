//! Which question is sent when: latest wins.
//!
//! A lane has at most one question with the worker and one waiting; a newer question replaces the
//! one that waits. A question that has its early answer no longer holds up a newer one, which makes
//! it void. Answers to questions of another profile are dropped.

use super::panel::PanelAsked;
use super::protocol::Request;

/// Questions of one sort follow each other in one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Opening a profile.
    Open,
    /// The table.
    Table,
    /// The JSON behind a table.
    Json,
    /// Sums of a part.
    Spent,
    /// Sums of the selected part.
    Selected,
    /// Groups of the timeline.
    Rows,
    /// The ruler.
    Ruler,
    /// The timeline.
    Raster,
    /// The strip.
    Strip,
    /// The pointer.
    Hit,
    /// A question in words.
    Query,
    /// The hash of the file.
    Hash,
    /// How much is read.
    Reading,
    /// Phases.
    Phases,
    /// Bytes of exchanges.
    Traffic,
    /// Exchange ports in view.
    Ports,
    /// Differences of two profiles.
    Compare,
    /// A chart.
    Plot,
    /// Opening a second profile.
    Other,
    /// The second profile's timeline.
    OtherRaster,
    /// The second profile's groups.
    OtherRows,
    /// The second profile's sample under the pointer.
    OtherHit,
    /// Opening a package.
    Package,
    /// The memory of a tile.
    Memory,
    /// Who sends to whom.
    Matrix,
    /// The tiles of a phase.
    Slack,
    /// The items that a tile was in.
    Items,
    /// What was clicked.
    Click,
}

impl Lane {
    const COUNT: usize = 28;

    /// The lane of a question.
    pub(crate) const fn of(request: &Request) -> Self {
        match request {
            Request::Open(_) | Request::Rehearse => Self::Open,
            Request::Table(_) => Self::Table,
            Request::Json(_) => Self::Json,
            Request::Spent(_) => Self::Spent,
            Request::Selected(_) => Self::Selected,
            Request::Rows(_) => Self::Rows,
            Request::Ruler(_) => Self::Ruler,
            Request::Raster(_) => Self::Raster,
            Request::Strip(_) => Self::Strip,
            Request::Hit(_) | Request::CellHit(_) => Self::Hit,
            Request::Query(_) => Self::Query,
            Request::Hash => Self::Hash,
            Request::ReadAll | Request::ReadLess => Self::Reading,
            Request::PanelJson(_)
            | Request::BarriersJson
            | Request::SpentJson(..)
            | Request::MemoryJson(_)
            | Request::MatrixJson(_) => Self::Json,
            Request::Panel(asked) => match asked {
                PanelAsked::Phases(_) => Self::Phases,
                PanelAsked::Traffic(_) => Self::Traffic,
                PanelAsked::Ports(_) => Self::Ports,
                PanelAsked::Compare(_) => Self::Compare,
                PanelAsked::Plot(_) => Self::Plot,
                PanelAsked::Slack(_) => Self::Slack,
            },
            Request::OpenOther(_) => Self::Other,
            Request::OtherRaster(_) => Self::OtherRaster,
            Request::OtherRows(_) => Self::OtherRows,
            Request::OtherHit(_) | Request::OtherCellHit(_) => Self::OtherHit,
            Request::OpenPackage(_) => Self::Package,
            Request::Memory(_) => Self::Memory,
            Request::Matrix(_) => Self::Matrix,
            Request::Items(_) => Self::Items,
            Request::Clicked(_) => Self::Click,
        }
    }
}

/// A question on its way, numbered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Numbered {
    /// Tells answers apart.
    pub(crate) id: u64,
    /// The question.
    pub(crate) request: Request,
}

#[derive(Debug, Default)]
struct LaneState {
    in_flight: Option<u64>,
    /// Whether the question in flight has its early answer.
    has_early: bool,
    /// Whether nobody wants the answer to the question in flight any more.
    is_void: bool,
    waiting: Option<Request>,
}

/// All lanes of one worker.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    next_id: u64,
    lanes: [LaneState; Lane::COUNT],
}

impl Lanes {
    /// Takes a question; gives it back numbered when it is to be sent now. Opening is sent at once
    /// and makes every earlier question void.
    pub(crate) fn ask(&mut self, request: Request) -> Option<Numbered> {
        let lane = Lane::of(&request);
        if lane == Lane::Open {
            self.lanes = Default::default();
        }
        let state = &mut self.lanes[lane as usize];
        if state.in_flight.is_some() && !state.has_early && lane != Lane::Reading {
            state.waiting = Some(request);
            return None;
        }
        Some(self.send(lane, request))
    }

    /// Takes a question that does not wait: earlier ones of its lane become void.
    pub(crate) fn ask_now(&mut self, request: Request) -> Numbered {
        let lane = Lane::of(&request);
        self.lanes[lane as usize].waiting = None;
        self.send(lane, request)
    }

    /// Nobody wants what was asked in a lane any more: what waits is forgotten, and the answer to
    /// what is in flight frees the lane without counting.
    pub(crate) fn void(&mut self, lane: Lane) {
        let state = &mut self.lanes[lane as usize];
        state.waiting = None;
        state.is_void = true;
    }

    /// Takes note of an answer. `None` where its question no longer holds the lane: drop it.
    pub(crate) fn answered(&mut self, id: u64, which: Which) -> Option<Answered> {
        let index = self
            .lanes
            .iter()
            .position(|lane| lane.in_flight == Some(id))?;
        let state = &mut self.lanes[index];
        let counts = !state.is_void;
        match which {
            Which::Progress => return Some(Answered { next: None, counts }),
            Which::Early => state.has_early = true,
            Which::Last => state.in_flight = None,
        }
        let waiting = state.waiting.take();
        let next = waiting.map(|request| self.send(Lane::of(&request), request));
        Some(Answered { next, counts })
    }

    /// Whether the last answer of a lane is still to come.
    pub(crate) fn waits(&self, lane: Lane) -> bool {
        self.lanes[lane as usize].in_flight.is_some()
    }

    fn send(&mut self, lane: Lane, request: Request) -> Numbered {
        self.next_id += 1;
        let state = &mut self.lanes[lane as usize];
        state.in_flight = Some(self.next_id);
        state.has_early = false;
        state.is_void = false;
        Numbered {
            id: self.next_id,
            request,
        }
    }
}

/// What an answer is to its question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// It tells how far the answer is.
    Progress,
    /// It says what is known so far.
    Early,
    /// Nothing follows.
    Last,
}

/// What follows from an answer.
#[derive(Debug, PartialEq)]
pub(crate) struct Answered {
    /// Whether somebody still wants it.
    pub(crate) counts: bool,
    /// The question to send now.
    pub(crate) next: Option<Numbered>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::protocol::{HitAsked, Source};
    use analytics::clock::ClockKind;

    fn hit(at: u64) -> Request {
        Request::Hit(HitAsked {
            clock: ClockKind::Shared,
            tile: 0,
            at,
        })
    }

    fn open() -> Request {
        Request::Open(Source::File {
            name: "a".to_owned(),
        })
    }

    #[test]
    fn one_is_sent_and_the_latest_waits() {
        let mut lanes = Lanes::default();
        let first = lanes.ask(hit(1)).expect("the lane is free");
        assert_eq!(lanes.ask(hit(2)), None);
        assert_eq!(lanes.ask(hit(3)), None);
        let next = lanes
            .answered(first.id, Which::Last)
            .expect("it counts")
            .next
            .expect("one waits");
        assert_eq!(next.request, hit(3));
        assert_eq!(
            lanes.answered(next.id, Which::Last),
            Some(Answered {
                counts: true,
                next: None
            })
        );
        assert_eq!(
            lanes.answered(next.id, Which::Last),
            None,
            "an answer counts once"
        );
    }

    #[test]
    fn lanes_do_not_wait_for_each_other() {
        let mut lanes = Lanes::default();
        assert!(lanes.ask(hit(1)).is_some());
        assert!(lanes.ask(Request::Hash).is_some());
    }

    #[test]
    fn an_early_answer_frees_the_lane() {
        let mut lanes = Lanes::default();
        let first = lanes.ask(hit(1)).expect("the lane is free");
        assert_eq!(lanes.ask(hit(2)), None);
        let next = lanes.answered(first.id, Which::Early).expect("it counts");
        let second = next.next.expect("the one that waited goes at once");
        assert_eq!(lanes.answered(first.id, Which::Last), None, "it is void");
        assert!(lanes.answered(second.id, Which::Early).is_some());
        let third = lanes.ask(hit(3)).expect("the second has its early answer");
        assert!(lanes.answered(third.id, Which::Last).is_some());
    }

    #[test]
    fn a_void_answer_frees_the_lane_and_does_not_count() {
        let mut lanes = Lanes::default();
        let first = lanes.ask(hit(1)).expect("the lane is free");
        assert_eq!(lanes.ask(hit(2)), None);
        lanes.void(Lane::Hit);
        let early = lanes.answered(first.id, Which::Early).expect("it is late");
        assert!(!early.counts && early.next.is_none(), "what waited is gone");
        let second = lanes.ask(hit(3)).expect("the first has its early answer");
        assert_eq!(lanes.answered(first.id, Which::Last), None);
        assert!(
            lanes
                .answered(second.id, Which::Last)
                .is_some_and(|it| it.counts)
        );

        let third = lanes.ask(hit(4)).expect("the lane is free");
        lanes.void(Lane::Hit);
        assert_eq!(lanes.ask(hit(5)), None, "one at a time goes to the worker");
        let late = lanes
            .answered(third.id, Which::Last)
            .expect("it frees the lane");
        assert!(!late.counts);
        assert_eq!(late.next.expect("one waits").request, hit(5));
        lanes.void(Lane::Ruler);
        let ruler = lanes
            .ask(Request::Hash)
            .expect("a free lane has nothing to void");
        assert!(
            lanes
                .answered(ruler.id, Which::Last)
                .is_some_and(|it| it.counts)
        );
    }

    #[test]
    fn opening_voids_what_was_asked_before() {
        let mut lanes = Lanes::default();
        let old = lanes.ask(hit(1)).expect("the lane is free");
        let first = lanes.ask(open()).expect("opening never waits");
        assert_eq!(lanes.answered(old.id, Which::Last), None);
        let second = lanes.ask(open()).expect("opening never waits");
        assert_eq!(lanes.answered(first.id, Which::Last), None);
        assert!(
            lanes.answered(second.id, Which::Progress).is_some(),
            "progress leaves the lane busy"
        );
        assert!(lanes.answered(second.id, Which::Last).is_some());
    }
}
