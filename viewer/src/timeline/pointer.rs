//! Events of the plot → moves of the view, marks on the overlay, questions about a sample.

use gloo_timers::callback::Timeout;
use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{Element, KeyboardEvent, PointerEvent, WheelEvent};

use super::input::{self, At, Drag, End, Key, KeyAction, Move, Touch};
use super::layout::{self, Marks, Size};
use super::steering::{clicked, drag_mode, finish, fractions, turned};
use super::viewport::Viewport;
use super::{canvas, frames, pace};
use crate::browser;
use crate::engine::cell::CellAsked;
use crate::engine::protocol::{HitAsked, Request};
use crate::state::actions::App;
use crate::state::derived::{self, Derived};
use crate::state::load::LoadState;
use crate::state::view::ViewState;

/// What scrolls by itself when it, or something in it, has the focus.
const SCROLLING: &str = ".scroll, .chart, .help, pre";

/// The handlers of one plot.
#[derive(Clone, Copy)]
pub(crate) struct Pointer {
    app: App,
    derived: Derived,
    size: RwSignal<Size>,
    marks: RwSignal<Marks>,
    drag: StoredValue<Option<Drag>>,
    touch: StoredValue<Touch>,
    /// Whether the sample in the middle of the view is read by keyboard.
    reads: StoredValue<bool>,
}

impl Pointer {
    pub(crate) fn new(
        app: App,
        derived: Derived,
        size: RwSignal<Size>,
        marks: RwSignal<Marks>,
    ) -> Self {
        Self {
            app,
            derived,
            size,
            marks,
            drag: StoredValue::new(None),
            touch: StoredValue::default(),
            reads: StoredValue::new(false),
        }
    }

    /// Another profile is shown: what was held and pointed at was of the one before.
    pub(crate) fn reset(self) {
        self.drag.set_value(None);
        self.touch.set_value(Touch::default());
        self.reads.set_value(false);
        self.marks.set(Marks::default());
    }

    /// The pointer moves: a drag goes on, else the sample under it is asked for.
    pub(crate) fn moved(self, event: &PointerEvent) {
        let at = place(event);
        let plot = layout::plot_rect(self.size.get_untracked());
        self.reads.set_value(false);
        if is_finger(event) {
            let finger = (event.pointer_id(), at);
            let pinched = self.touch.try_update_value(|it| it.moved(finger, plot));
            if let Some(viewport) = pinched.flatten() {
                return show(self.app, &viewport);
            }
        }
        let dragged = self.drag.try_update_value(|drag| {
            let drag = drag.as_mut()?;
            let moved = drag.moved_to(at, plot);
            Some((moved, drag.selection(plot), drag.is_click()))
        });
        match dragged.flatten() {
            // What was pressed on may yet be clicked.
            Some((_, _, true)) => {}
            Some((viewport, selection, false)) => {
                self.marks.set(Marks {
                    pointer: None,
                    selection,
                });
                self.app.clear_hit();
                if let Some(viewport) = viewport {
                    show(self.app, &viewport);
                }
                // The plate says where a rectangle ends, over the ruler too.
                let viewport = self.derived.viewport.get_untracked();
                let size = self.size.get_untracked();
                self.app
                    .point(viewport.and_then(|it| cycle_across(size, &it, at.0)));
            }
            None => {
                self.marks.set(Marks {
                    pointer: Some(at),
                    selection: None,
                });
                self.point(at);
                self.ask(at);
            }
        }
    }

    /// Tells the page which cycle the pointer is at.
    fn point(self, at: (f64, f64)) {
        let viewport = self.derived.viewport.get_untracked();
        let cycle = viewport.and_then(|it| cycle_at(self.size.get_untracked(), &it, at));
        self.app.point(cycle);
    }

    fn ask(self, at: (f64, f64)) {
        match self.question(at) {
            Some(question) => self.app.ask(question),
            None => self.app.clear_hit(),
        }
    }

    /// What is asked of a place; `None` out of the plot.
    fn question(self, at: (f64, f64)) -> Option<Request> {
        let plot = layout::plot_rect(self.size.get_untracked());
        let viewport = self.derived.plot.get_untracked();
        let viewport = viewport.filter(|_| plot.contains(at.0, at.1))?;
        let clock = self.app.view.with_untracked(|view| view.clock);
        let row = viewport.tile_at((at.1 - plot.y) / plot.height);
        let across = (at.0 - plot.x) / plot.width;
        let groups = self.derived.groups.get_untracked();
        Some(match groups {
            None => Request::Hit(HitAsked {
                clock,
                tile: row,
                at: viewport.cycle_at(across),
            }),
            // The row of a group is many tiles: what is under the pointer is a cell of it.
            Some(groups) => {
                let columns = canvas::device(plot.width, browser::pixel_ratio());
                let cycles = viewport.column_at(across, columns);
                Request::CellHit(CellAsked {
                    clock,
                    by: groups.by,
                    group: row,
                    from: cycles.start,
                    to: cycles.end,
                })
            }
        })
    }

    /// A button goes down on the plot.
    pub(crate) fn pressed(self, event: &PointerEvent) {
        let at = place(event);
        let Some(viewport) = self.derived.plot.get_untracked() else {
            return;
        };
        if event.button() != 0 {
            return;
        }
        if let Some(element) = current_element(event) {
            // The drag goes on outside of the plot; without capture it would just end there.
            let _ = element.set_pointer_capture(event.pointer_id());
        }
        if is_finger(event) && self.touched((event.pointer_id(), at), &viewport) {
            return;
        }
        let mode = drag_mode(event, at, layout::plot_rect(self.size.get_untracked()));
        self.drag.set_value(Some(Drag::start(at, viewport, mode)));
    }

    /// A finger goes down; whether it is the second one, which ends what the first one began.
    fn touched(self, finger: (i32, (f64, f64)), viewport: &Viewport) -> bool {
        let is_pinch = self.touch.try_update_value(|touch| {
            touch.down(finger, viewport);
            touch.is_pinching()
        });
        if is_pinch != Some(true) {
            return false;
        }
        self.drag.set_value(None);
        self.marks.set(Marks::default());
        self.app.clear_hit();
        true
    }

    /// The browser takes the pointer for something else.
    pub(crate) fn cancelled(self, event: &PointerEvent) {
        self.touch.update_value(|it| it.up(event.pointer_id()));
        self.left();
    }

    /// The button comes up: a click focuses the kernel under the pointer.
    pub(crate) fn released(self, event: &PointerEvent) {
        self.touch.update_value(|it| it.up(event.pointer_id()));
        let Some(drag) = self.drag.try_update_value(Option::take).flatten() else {
            return;
        };
        let plot = layout::plot_rect(self.size.get_untracked());
        self.marks.set(Marks {
            pointer: Some(place(event)),
            selection: None,
        });
        if !finish(self.app, drag.released(plot)) {
            return;
        }
        clicked(self.app, place(event), plot, |at| self.question(at));
    }

    /// The view moves under a pointer that rests.
    pub(crate) fn follow_the_view(self) {
        let plot = self.derived.plot;
        follow_the_view(
            move || plot.track(),
            move || self.resting(),
            move |at| self.point(at),
            move |at| self.ask(at),
        );
    }

    /// Where the pointer is, unless it drags.
    fn resting(self) -> Option<(f64, f64)> {
        let drags = self.drag.try_with_value(Option::is_some).unwrap_or(true);
        let at = self.marks.try_get_untracked()?.pointer;
        at.filter(|_| !drags)
    }

    /// The pointer leaves the plot.
    pub(crate) fn left(self) {
        self.reads.set_value(false);
        self.marks.set(Marks::default());
        self.app.point(None);
        self.app.clear_hit();
        self.drag.set_value(None);
    }

    /// The wheel turns.
    pub(crate) fn turned(self, event: &WheelEvent) {
        turned(self.app, self.derived, self.size, event);
    }

    fn fractions(self, at: (f64, f64)) -> At {
        fractions(self.size.get_untracked(), at)
    }

    /// Keys work wherever the focus is, but for fields that take text.
    pub(crate) fn listen_to_keys(self) {
        let handle = window_event_listener(ev::keydown, move |event| {
            frames::measured(|| self.key(&event));
        });
        on_cleanup(move || handle.remove());
    }

    fn key(self, event: &KeyboardEvent) {
        if is_text(event) && event.key() == "Escape" && !event.is_composing() {
            // The keys of the timeline work again.
            return browser::unfocus();
        }
        if event.ctrl_key() || event.meta_key() || event.alt_key() || is_field(event) {
            return;
        }
        let pointer = self.marks.with_untracked(|marks| marks.pointer);
        let at = pointer.map_or(At { x: 0.5, y: 0.5 }, |at| self.fractions(at));
        let (code, key) = (event.code(), event.key());
        if code.starts_with("Arrow") && scrolls(event) {
            return;
        }
        let key = Key {
            code: &code,
            key: &key,
            shift: event.shift_key(),
        };
        let is_open = self.app.load.with_untracked(LoadState::has_profile);
        let is_helped = self.app.help.get_untracked();
        match input::on_key(key, at) {
            None => return,
            // The timeline is there before a profile is.
            Some(KeyAction::Help) => self.app.help.set(!is_helped),
            Some(KeyAction::Escape) if is_helped => self.app.help.set(false),
            // A rectangle that is being drawn is given up, and nothing else.
            Some(KeyAction::Escape) if self.drops() || self.stops_reading() => {}
            Some(_) if !is_open => return,
            Some(KeyAction::Go(by)) => go(self.app, self.derived, &by),
            Some(KeyAction::Retrace(way)) => self.app.retrace(way),
            Some(KeyAction::Select(end)) => self.select(end, pointer),
            Some(KeyAction::Find) => browser::focus("[data-find]"),
            Some(KeyAction::Read) => self.read(),
            Some(KeyAction::Escape) => self.app.change_view(ViewState::let_go),
        }
        event.prevent_default();
    }

    /// Lets go of what is dragged; whether something was.
    fn drops(self) -> bool {
        let held = self.drag.try_update_value(Option::take).flatten();
        if held.is_some() {
            self.marks.set(Marks::default());
            self.app.point(None);
        }
        held.is_some()
    }

    /// Reads the sample in the middle of the view, as if the pointer rested there: the view moves
    /// below it. Again, no longer.
    fn read(self) {
        if self.stops_reading() {
            return;
        }
        let plot = layout::plot_rect(self.size.get_untracked());
        let middle = (plot.x + plot.width / 2.0, plot.y + plot.height / 2.0);
        self.reads.set_value(true);
        self.marks.set(Marks {
            pointer: Some(middle),
            selection: None,
        });
        self.point(middle);
        self.ask(middle);
    }

    /// Reads no longer; whether it did.
    fn stops_reading(self) -> bool {
        let reads = self.reads.try_update_value(std::mem::take) == Some(true);
        if reads {
            self.left();
        }
        reads
    }

    /// Sets an end of the selection at the pointer, else at the edge of the view.
    fn select(self, end: End, pointer: Option<(f64, f64)>) {
        let summary = self.app.load.with_untracked(|load| load.summary().cloned());
        let viewport = self.derived.plot.get_untracked();
        if let Some((summary, viewport)) = summary.zip(viewport) {
            let size = self.size.get_untracked();
            let cycle = pointer.and_then(|at| cycle_at(size, &viewport, at));
            let before = self.derived.selected.get_untracked();
            let part = input::selected(&viewport, before.as_ref(), end, cycle);
            self.app
                .change_view(|view| derived::select(view, &part, &summary));
        }
    }
}

/// A view moves, which `view` tracks, under a pointer that rests at `resting`: another cycle is
/// below it at once, and another sample when the view rests too. Until then nothing dear is asked
/// for.
pub(crate) fn follow_the_view(
    view: impl Fn() + 'static,
    resting: impl Fn() -> Option<(f64, f64)> + Copy + 'static,
    point: impl Fn((f64, f64)) + 'static,
    ask: impl Fn((f64, f64)) + Copy + 'static,
) {
    let pending: StoredValue<Option<Timeout>, LocalStorage> = StoredValue::new_local(None);
    Effect::new(move |_| {
        view();
        // Dropping a timeout cancels it.
        pending.set_value(None);
        let Some(at) = resting() else { return };
        point(at);
        pending.set_value(Some(Timeout::new(pace::REST, move || {
            if let Some(at) = resting() {
                ask(at);
            }
        })));
    });
}

/// Moves the view.
pub(crate) fn go(app: App, derived: Derived, by: &Move) {
    if let Some(viewport) = derived.plot.get_untracked() {
        show(app, &input::moved(&viewport, by));
    }
}

/// Brings `viewport` into view.
pub(crate) fn show(app: App, viewport: &Viewport) {
    let summary = app.load.with_untracked(|load| load.summary().cloned());
    if let Some(summary) = summary {
        app.move_view(|view| derived::place(view, viewport, &summary));
    }
}

/// The place of an event in CSS pixels of the element that listens to it.
pub(crate) fn place(event: &web_sys::MouseEvent) -> (f64, f64) {
    let rect = current_element(event).map(|it| it.get_bounding_client_rect());
    let (left, top) = rect.map_or((0.0, 0.0), |it| (it.left(), it.top()));
    (
        f64::from(event.client_x()) - left,
        f64::from(event.client_y()) - top,
    )
}

/// The cycle at a place of a canvas; `None` out of the plot.
pub(crate) fn cycle_at(size: Size, viewport: &Viewport, at: (f64, f64)) -> Option<u64> {
    let plot = layout::plot_rect(size);
    let is_inside = plot.contains(at.0, at.1);
    is_inside
        .then(|| cycle_across(size, viewport, at.0))
        .flatten()
}

/// The cycle at a place from left to right, however high; `None` beside the plot.
pub(crate) fn cycle_across(size: Size, viewport: &Viewport, x: f64) -> Option<u64> {
    let plot = layout::plot_rect(size);
    let is_inside = (plot.x..plot.x + plot.width).contains(&x);
    is_inside.then(|| viewport.cycle_at((x - plot.x) / plot.width))
}

/// The element whose listener runs.
pub(crate) fn current_element(event: &web_sys::Event) -> Option<Element> {
    event.current_target()?.dyn_into().ok()
}

/// Whether a field that takes text has the focus.
fn is_text(event: &KeyboardEvent) -> bool {
    target(event).is_some_and(|it| match it.tag_name().as_str() {
        // Which files are picked in takes none.
        "INPUT" => it.get_attribute("type").as_deref() != Some("file"),
        name => name == "TEXTAREA",
    })
}

/// Whether keys mean something to what has the focus.
fn is_field(event: &KeyboardEvent) -> bool {
    is_text(event) || target(event).is_some_and(|it| it.tag_name() == "SELECT")
}

/// Whether the focus is on something that arrow keys scroll.
fn scrolls(event: &KeyboardEvent) -> bool {
    let around = target(event).and_then(|it| it.closest(SCROLLING).ok().flatten());
    around.is_some()
}

fn target(event: &KeyboardEvent) -> Option<Element> {
    event.target()?.dyn_into().ok()
}

fn is_finger(event: &PointerEvent) -> bool {
    event.pointer_type() == "touch"
}
