//! Where the view has been: zooming back, and forward again. Pure.

use analytics::clock::ClockKind;

use super::view::{Span, TileIds};

/// Milliseconds of rest after which another move is another step.
const REST: f64 = 500.0;
/// Steps that are kept.
const KEPT: usize = 100;

/// The part in view; `None` is all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stay {
    /// The clock that the cycles are on.
    pub(crate) clock: ClockKind,
    /// Cycles.
    pub(crate) span: Option<Span>,
    /// Tiles.
    pub(crate) tiles: Option<TileIds>,
}

/// Along the trail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// To what was in view before.
    Back,
    /// To what going back left.
    Forward,
}

/// The way of the view through the run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Trail {
    back: Vec<Stay>,
    forward: Vec<Stay>,
    /// When the view last moved, in milliseconds.
    moved: Option<f64>,
}

impl Trail {
    /// The view moves away from `from` at `now`. Moves in quick succession are one step.
    pub(crate) fn leave(&mut self, from: Stay, now: f64) {
        let is_step = self.moved.is_none_or(|moved| now - moved > REST);
        if is_step && self.back.last() != Some(&from) {
            self.back.push(from);
            if self.back.len() > KEPT {
                self.back.remove(0);
            }
        }
        self.forward.clear();
        self.moved = Some(now);
    }

    /// The view jumps away from `from`: a step of its own, however soon after another.
    pub(crate) fn jump(&mut self, from: Stay) {
        self.moved = None;
        self.leave(from, 0.0);
        self.moved = None;
    }

    /// Whether there is a step to go back to.
    pub(crate) const fn has_back(&self) -> bool {
        !self.back.is_empty()
    }

    /// The step before the one that `here` belongs to.
    pub(crate) fn back(&mut self, here: Stay) -> Option<Stay> {
        let before = self.back.pop()?;
        self.forward.push(here);
        self.moved = None;
        Some(before)
    }

    /// The step that [`Self::back`] left.
    pub(crate) fn forward(&mut self, here: Stay) -> Option<Stay> {
        let after = self.forward.pop()?;
        self.back.push(here);
        self.moved = None;
        Some(after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stay(from: u64) -> Stay {
        Stay {
            span: Some(Span { from, to: from + 9 }),
            ..Stay::default()
        }
    }

    #[test]
    fn steps_go_back_and_forward_again() {
        let mut trail = Trail::default();
        trail.leave(Stay::default(), 0.0);
        trail.leave(stay(1), 50.0);
        trail.leave(stay(2), 900.0);
        assert_eq!(trail.back(stay(3)), Some(stay(2)), "a step after a rest");
        assert_eq!(
            trail.back(stay(2)),
            Some(Stay::default()),
            "quick moves are one"
        );
        assert_eq!(trail.back(Stay::default()), None);
        assert!(!trail.has_back());
        assert_eq!(trail.forward(Stay::default()), Some(stay(2)));
        assert!(trail.has_back());
        assert_eq!(trail.forward(stay(2)), Some(stay(3)));
        assert_eq!(trail.forward(stay(3)), None);
    }

    #[test]
    fn a_jump_is_a_step_however_soon() {
        let mut trail = Trail::default();
        trail.leave(Stay::default(), 0.0);
        trail.jump(stay(1));
        trail.leave(stay(2), 20.0);
        assert_eq!(trail.back(stay(3)), Some(stay(2)));
        assert_eq!(trail.back(stay(2)), Some(stay(1)));
        assert_eq!(trail.back(stay(1)), Some(Stay::default()));
    }

    #[test]
    fn a_new_way_forgets_the_old_one_forward() {
        let mut trail = Trail::default();
        trail.leave(Stay::default(), 0.0);
        assert_eq!(trail.back(stay(1)), Some(Stay::default()));
        trail.leave(Stay::default(), 9_000.0);
        assert_eq!(trail.forward(stay(5)), None);
        assert_eq!(trail.back(stay(5)), Some(Stay::default()));
    }
}
