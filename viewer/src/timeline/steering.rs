//! Moves of the view from the pictures below the timeline that have its cycles across.

use leptos::prelude::*;
use web_sys::{PointerEvent, WheelEvent};

use super::input::{self, At, Drag, DragMode, Grip, Released, Wheel};
use super::layout::{self, Size};
use super::pointer::{current_element, go, place, show};
use super::scene::Rect;
use super::viewport::Viewport;
use crate::engine::protocol::Request;
use crate::state::actions::App;
use crate::state::derived::{self, Derived};

/// CSS pixels of one line, for wheels that count in lines.
const LINE: f64 = 16.0;

/// The wheel and the drags of one picture of tiles × cycles.
#[derive(Clone, Copy)]
pub(crate) struct Steering {
    app: App,
    derived: Derived,
    size: RwSignal<Size>,
    /// Whether its rows are those of the timeline; else drags are of cycles alone.
    has_same_rows: Signal<bool>,
    /// What is held, by which pointer.
    drag: RwSignal<Option<(i32, Drag)>>,
}

impl Steering {
    /// Of a picture of `size` with the layout of the timeline.
    pub(crate) fn new(
        app: App,
        derived: Derived,
        size: RwSignal<Size>,
        has_same_rows: Signal<bool>,
    ) -> Self {
        let steering = Self {
            app,
            derived,
            size,
            has_same_rows,
            drag: RwSignal::new(None),
        };
        // What was held was of the profile before.
        Effect::new(move |_| {
            app.turn.track();
            steering.forget();
        });
        steering
    }

    /// The rectangle that a drag draws, to zoom into or to select.
    pub(crate) fn drawn(self) -> Option<Rect> {
        let plot = layout::plot_rect(self.size.get());
        self.drag.with(|drag| drag.as_ref()?.1.selection(plot))
    }

    /// The wheel turns over the picture.
    pub(crate) fn turned(self, event: &WheelEvent) {
        turned(self.app, self.derived, self.size, event);
    }

    /// A button goes down on the picture: a drag begins. A second finger ends it.
    pub(crate) fn pressed(self, event: &PointerEvent) {
        let viewport = self.derived.plot.get_untracked();
        let is_held = self.drag.with_untracked(Option::is_some);
        let Some(viewport) = viewport.filter(|_| event.button() == 0 && !is_held) else {
            return self.forget();
        };
        if let Some(element) = current_element(event) {
            let _ = element.set_pointer_capture(event.pointer_id());
        }
        let at = place(event);
        let mode = drag_mode(event, at, layout::plot_rect(self.size.get_untracked()));
        let drag = Drag::start(at, viewport, mode);
        self.drag.set(Some((event.pointer_id(), drag)));
    }

    /// The pointer moves over the picture; whether it drags.
    pub(crate) fn moved(self, event: &PointerEvent) -> bool {
        let plot = layout::plot_rect(self.size.get_untracked());
        if self.drag.with_untracked(Option::is_none) {
            return false;
        }
        let moved = self.drag.try_update(|drag| {
            let drag = drag.as_mut().filter(|it| it.0 == event.pointer_id());
            drag?.1.moved_to(place(event), plot)
        });
        if let Some(viewport) = moved.flatten() {
            show(self.app, &self.in_rows(viewport));
        }
        true
    }

    /// The button comes up: what was drawn is zoomed into or selected. Whether it was a click.
    pub(crate) fn let_go(self) -> bool {
        let plot = layout::plot_rect(self.size.get_untracked());
        let Some((_, drag)) = self.drag.try_update(Option::take).flatten() else {
            return false;
        };
        let released = match drag.released(plot) {
            Released::Zoom(part) => Released::Zoom(self.in_rows(part)),
            Released::Select(part) => Released::Select(self.in_rows(part)),
            other => other,
        };
        finish(self.app, released)
    }

    /// The browser takes the pointer for something else.
    pub(crate) fn forget(self) {
        if self.drag.with_untracked(Option::is_some) {
            self.drag.set(None);
        }
    }

    /// The rows of another profile are not those of the open one.
    fn in_rows(self, part: Viewport) -> Viewport {
        match self.derived.plot.get_untracked() {
            Some(now) if !self.has_same_rows.get_untracked() => part.with_tiles(&now.tiles),
            _ => part,
        }
    }
}

/// What a drag that begins at `at` does.
pub(super) fn drag_mode(event: &PointerEvent, at: (f64, f64), plot: Rect) -> DragMode {
    input::drag_mode(Grip {
        on_ruler: at.1 < plot.y,
        shift: event.shift_key(),
        control: event.ctrl_key() || event.meta_key(),
    })
}

/// Does what a drag asks for; whether it was but a click.
pub(super) fn finish(app: App, released: Released) -> bool {
    match released {
        Released::Zoom(viewport) => show(app, &viewport),
        Released::Select(part) => {
            let summary = app.load.with_untracked(|load| load.summary().cloned());
            if let Some(summary) = summary {
                app.change_view(|view| derived::select(view, &part, &summary));
            }
        }
        Released::Panned => {}
        Released::Click => return true,
    }
    false
}

/// A click at a place: above the plot, on the ruler, it lets go of the selection, else it focuses
/// the kernel of the sample there; again it clears the focus. `question` is what is asked of a
/// place: what the tooltip says may be of another one, and a finger has none.
pub(crate) fn clicked(
    app: App,
    at: (f64, f64),
    plot: Rect,
    question: impl FnOnce((f64, f64)) -> Option<Request>,
) {
    if at.1 < plot.y {
        return app.change_view(|view| view.selection = None);
    }
    if let Some(question) = question(at) {
        app.ask(Request::Clicked(Box::new(question)));
    }
}

/// The wheel turns over a picture of `size`, which has the layout of the timeline.
pub(crate) fn turned(app: App, derived: Derived, size: RwSignal<Size>, event: &WheelEvent) {
    let unit = if event.delta_mode() == WheelEvent::DOM_DELTA_LINE {
        LINE
    } else {
        1.0
    };
    let wheel = Wheel {
        x: event.delta_x() * unit,
        y: event.delta_y() * unit,
        time: event.ctrl_key() || event.meta_key() || event.shift_key(),
        tiles: event.alt_key(),
    };
    let at = fractions(size.get_untracked(), place(event));
    if let Some(by) = input::on_wheel(wheel, at) {
        event.prevent_default();
        go(app, derived, &by);
    }
}

/// A place on a canvas of `size` as parts of its plot.
pub(super) fn fractions(size: Size, at: (f64, f64)) -> At {
    let plot = layout::plot_rect(size);
    let x = ((at.0 - plot.x) / plot.width).clamp(0.0, 1.0);
    let y = ((at.1 - plot.y) / plot.height).clamp(0.0, 1.0);
    At { x, y }
}
