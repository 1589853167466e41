//! Moves of the view from the pictures below the timeline that have its cycles across.

use leptos::prelude::*;
use web_sys::{PointerEvent, WheelEvent};

use super::input::{self, At, Drag, DragMode, Released, Wheel};
use super::layout::{self, Size};
use super::pointer::{current_element, go, place, show};
use crate::state::actions::App;
use crate::state::derived::Derived;

/// CSS pixels of one line, for wheels that count in lines.
const LINE: f64 = 16.0;

/// The wheel and the drags of one picture of tiles × cycles.
#[derive(Clone, Copy)]
pub(crate) struct Steering {
    app: App,
    derived: Derived,
    size: RwSignal<Size>,
    drag: StoredValue<Option<Drag>>,
}

impl Steering {
    /// Of a picture of `size` with the layout of the timeline.
    pub(crate) fn new(app: App, derived: Derived, size: RwSignal<Size>) -> Self {
        Self {
            app,
            derived,
            size,
            drag: StoredValue::new(None),
        }
    }

    /// The wheel turns over the picture.
    pub(crate) fn turned(self, event: &WheelEvent) {
        turned(self.app, self.derived, self.size, event);
    }

    /// A button goes down on the picture: what is below the pointer goes with it.
    pub(crate) fn pressed(self, event: &PointerEvent) {
        let viewport = self.derived.viewport.get_untracked();
        let Some(viewport) = viewport.filter(|_| event.button() == 0) else {
            return;
        };
        if let Some(element) = current_element(event) {
            let _ = element.set_pointer_capture(event.pointer_id());
        }
        let drag = Drag::start(place(event), viewport, DragMode::Pan);
        self.drag.set_value(Some(drag));
    }

    /// The pointer moves over the picture; whether it drags.
    pub(crate) fn moved(self, event: &PointerEvent) -> bool {
        let plot = layout::plot_rect(self.size.get_untracked());
        let dragged = self.drag.try_update_value(|drag| {
            let drag = drag.as_mut();
            drag.map(|drag| drag.moved_to(place(event), plot))
        });
        let dragged = dragged.flatten();
        if let Some(Some(viewport)) = &dragged {
            show(self.app, viewport);
        }
        dragged.is_some()
    }

    /// The button comes up, or the browser takes the pointer for something else; whether it was a
    /// click.
    pub(crate) fn let_go(self) -> bool {
        let plot = layout::plot_rect(self.size.get_untracked());
        let drag = self.drag.try_update_value(Option::take).flatten();
        drag.is_some_and(|drag| matches!(drag.released(plot), Released::Click))
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
