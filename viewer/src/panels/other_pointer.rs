//! The pointer over the other profile's timeline: as over the one above, under one cursor.

use leptos::prelude::*;
use web_sys::{PointerEvent, WheelEvent};

use crate::browser;
use crate::engine::cell::CellAsked;
use crate::engine::lanes::Lane;
use crate::engine::protocol::{HitAsked, Request};
use crate::state::actions::App;
use crate::state::derived::Derived;
use crate::state::view::Rows;
use crate::timeline::below::Below;
use crate::timeline::canvas::device;
use crate::timeline::layout::{self, Size};
use crate::timeline::pointer::{cycle_at, follow_the_view, place};
use crate::timeline::scene::Rect;
use crate::timeline::steering::{Steering, clicked};

/// Its handlers.
#[derive(Clone, Copy)]
pub(super) struct OtherPointer {
    app: App,
    size: RwSignal<Size>,
    below: Memo<Option<Below>>,
    /// Where it is, unless it drags.
    pub(super) place: RwSignal<Option<(f64, f64)>>,
    steering: Steering,
}

impl OtherPointer {
    pub(super) fn new(
        app: App,
        derived: Derived,
        size: RwSignal<Size>,
        below: Memo<Option<Below>>,
        has_same_rows: Signal<bool>,
    ) -> Self {
        let pointer = Self {
            app,
            size,
            below,
            place: RwSignal::new(None),
            steering: Steering::new(app, derived, size, has_same_rows),
        };
        follow_the_view(
            move || below.track(),
            move || pointer.place.try_get_untracked().flatten(),
            move |at| pointer.point(at),
            move |at| pointer.ask(at),
        );
        pointer
    }

    /// The rectangle that a drag draws.
    pub(super) fn drawn(self) -> Option<Rect> {
        self.steering.drawn()
    }

    /// A button goes down.
    pub(super) fn pressed(self, event: &PointerEvent) {
        self.steering.pressed(event);
    }

    /// The wheel turns.
    pub(super) fn turned(self, event: &WheelEvent) {
        self.steering.turned(event);
    }

    /// It moves: the sample under it is asked for, unless it drags.
    pub(super) fn moved(self, event: &PointerEvent) {
        let (drags, at) = (self.steering.moved(event), place(event));
        self.place.set((!drags).then_some(at));
        self.point(at);
        // What was pressed on may yet be clicked.
        if !drags {
            self.ask(at);
        }
    }

    /// Tells the page which cycle it is at.
    fn point(self, at: (f64, f64)) {
        let cycle = self.below.with_untracked(|below| {
            let below = below.as_ref()?;
            let cycle = cycle_at(self.size.get_untracked(), &below.viewport, at)?;
            Some(below.above(cycle))
        });
        self.app.point(cycle);
    }

    fn ask(self, at: (f64, f64)) {
        match self.question(at) {
            Some(question) => self.app.ask(question),
            None => self.clear_hit(),
        }
    }

    /// What is asked of a place; `None` where nothing of the profile is.
    fn question(self, at: (f64, f64)) -> Option<Request> {
        self.below.with_untracked(|below| {
            let (below, size) = (below.as_ref()?, self.size.get_untracked());
            let _inside = cycle_at(size, &below.viewport, at)?;
            self.question_in(below, size, at)
        })
    }

    /// Nothing is under it, whatever was asked.
    fn clear_hit(self) {
        self.app.void(Lane::OtherHit);
        self.app.panels.other_hit.set(None);
    }

    /// The same of a place in the plot.
    fn question_in(self, below: &Below, size: Size, at: (f64, f64)) -> Option<Request> {
        let plot = layout::plot_rect(size);
        let across = (at.0 - plot.x) / plot.width;
        let row = below.viewport.tile_at((at.1 - plot.y) / plot.height);
        let (clock, rows) = self.app.view.with_untracked(|view| (view.clock, view.rows));
        if !below.has_rows {
            return None;
        }
        Some(match rows {
            Rows::Tile => Request::OtherHit(HitAsked {
                clock,
                tile: row,
                at: below.own(below.viewport.cycle_at(across))?,
            }),
            by => {
                let columns = device(plot.width, browser::pixel_ratio());
                let cycles = below.viewport.column_at(across, columns);
                Request::OtherCellHit(CellAsked {
                    clock,
                    by,
                    group: row,
                    from: below.own(cycles.start)?,
                    to: below.own(cycles.end)?,
                })
            }
        })
    }

    /// A click focuses the kernel under the pointer; one on the ruler lets go of the selection.
    pub(super) fn released(self, event: &PointerEvent) {
        if !self.steering.let_go() {
            return self.clear_hit();
        }
        let plot = layout::plot_rect(self.size.get_untracked());
        clicked(self.app, place(event), plot, |at| self.question(at));
    }

    /// It leaves, or the browser takes it for something else.
    pub(super) fn left(self) {
        self.steering.forget();
        self.place.set(None);
        self.app.point(None);
        self.clear_hit();
    }
}
