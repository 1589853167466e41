//! Actions that change the view: what is in it, where it was, which cycle is pointed at.

use leptos::prelude::*;

use super::actions::App;
use super::panels::Over;
use super::trail::{Trail, Way};
use super::view::ViewState;
use crate::timeline::frames;

impl App {
    /// Changes the view.
    pub(crate) fn change_view(self, change: impl FnOnce(&mut ViewState)) {
        let mut view = self.view.get_untracked();
        change(&mut view);
        if self.view.with_untracked(|old| *old != view) {
            self.view.set(view);
        }
    }

    /// Moves the view, which can be undone.
    pub(crate) fn move_view(self, change: impl FnOnce(&mut ViewState)) {
        let before = self.view.with_untracked(ViewState::stay);
        self.change_view(change);
        if self.view.with_untracked(ViewState::stay) != before {
            let now = frames::now();
            self.trail.update_value(|trail| trail.leave(before, now));
        }
    }

    /// Brings back the part that was in view before, or undoes that.
    pub(crate) fn retrace(self, way: Way) {
        let here = self.view.with_untracked(ViewState::stay);
        let step = |trail: &mut Trail| match way {
            Way::Back => trail.back(here),
            Way::Forward => trail.forward(here),
        };
        if let Some(stay) = self.trail.try_update_value(step).flatten() {
            self.change_view(|view| view.return_to(stay));
        }
    }

    /// Focuses a kernel; where it is in focus already, lets go of it.
    pub(super) fn focus(self, kernel: &str) {
        if !kernel.is_empty() {
            self.change_view(|view| view.toggle_kernel(kernel));
        }
    }

    /// The pointer is over a cycle of a timeline, or over none. A map that follows it stays at the
    /// last cycle: the way to the map leads off the timeline.
    pub(crate) fn point(self, cycle: Option<u64>) {
        let last = self.cursor.get_untracked();
        if last == cycle {
            return;
        }
        if cycle.is_none() {
            self.change_view(|view| {
                if view.panels.over == Over::Cursor {
                    view.panels.cycle = last;
                }
            });
        }
        self.cursor.set(cycle);
    }
}
