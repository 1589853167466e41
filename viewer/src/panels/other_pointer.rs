//! The pointer over the other profile's timeline: as over the one above, under one cursor.

use leptos::prelude::*;
use web_sys::{PointerEvent, WheelEvent};

use crate::browser;
use crate::engine::cell::CellAsked;
use crate::engine::protocol::{HitAsked, Request};
use crate::state::actions::App;
use crate::state::derived::Derived;
use crate::state::view::Rows;
use crate::timeline::below::Below;
use crate::timeline::canvas::device;
use crate::timeline::layout::{self, Size};
use crate::timeline::pointer::{cycle_at, place};
use crate::timeline::scene::Rect;
use crate::timeline::steering::Steering;

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
    ) -> Self {
        Self {
            app,
            size,
            below,
            place: RwSignal::new(None),
            steering: Steering::new(app, derived, size),
        }
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
        let drags = self.steering.moved(event);
        let (at, size) = (place(event), self.size.get_untracked());
        let Some(below) = self.below.get_untracked() else {
            return;
        };
        let cycle = cycle_at(size, &below.viewport, at);
        self.app.point(cycle.map(|cycle| below.above(cycle)));
        self.place.set((!drags).then_some(at));
        // What was pressed on may yet be clicked.
        if drags {
            return;
        }
        match cycle.and_then(|_| self.question(&below, size, at)) {
            Some(question) => self.app.ask(question),
            None => self.app.panels.other_hit.set(None),
        }
    }

    /// What is asked of a place; `None` where nothing of the profile is.
    fn question(self, below: &Below, size: Size, at: (f64, f64)) -> Option<Request> {
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

    /// A click focuses the kernel under the pointer.
    pub(super) fn released(self) {
        let hit = self.app.panels.other_hit.get_untracked();
        let kernel = hit.map(|it| it.kernel.clone());
        if self.steering.let_go()
            && let Some(kernel) = kernel.filter(|it| !it.is_empty())
        {
            self.app.change_view(|view| view.toggle_kernel(&kernel));
        }
    }

    /// It leaves, or the browser takes it for something else.
    pub(super) fn left(self) {
        self.steering.forget();
        self.place.set(None);
        self.app.point(None);
        self.app.panels.other_hit.set(None);
    }
}
