//! Events of the plot → moves of the view, marks on the overlay, questions about a sample.

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{Element, HtmlElement, KeyboardEvent, PointerEvent, WheelEvent};

use super::input::{self, At, Drag, Grip, Key, KeyAction, Move, Released, Wheel};
use super::layout::{self, Marks, Size};
use super::viewport::Viewport;
use super::{canvas, frames};
use crate::browser;
use crate::engine::cell::CellAsked;
use crate::engine::protocol::{HitAsked, Request};
use crate::state::actions::App;
use crate::state::derived::{self, Derived};

/// CSS pixels of one line, for wheels that count in lines.
const LINE: f64 = 16.0;

/// The handlers of one plot.
#[derive(Clone, Copy)]
pub(crate) struct Pointer {
    app: App,
    derived: Derived,
    size: RwSignal<Size>,
    marks: RwSignal<Marks>,
    drag: StoredValue<Option<Drag>>,
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
        }
    }

    /// The pointer moves: a drag goes on, else the sample under it is asked for.
    pub(crate) fn moved(self, event: &PointerEvent) {
        let at = place(event);
        let plot = layout::plot_rect(self.size.get_untracked());
        let dragged = self.drag.try_update_value(|drag| {
            drag.as_mut()
                .map(|drag| (drag.moved_to(at, plot), drag.selection(plot)))
        });
        match dragged.flatten() {
            Some((viewport, selection)) => {
                self.marks.set(Marks {
                    pointer: None,
                    selection,
                });
                self.app.clear_hit();
                if let Some(viewport) = viewport {
                    show(self.app, &viewport);
                }
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
        let plot = layout::plot_rect(self.size.get_untracked());
        let viewport = self.derived.plot.get_untracked();
        let Some(viewport) = viewport.filter(|_| plot.contains(at.0, at.1)) else {
            return self.app.clear_hit();
        };
        let clock = self.app.view.with_untracked(|view| view.clock);
        let row = viewport.tile_at((at.1 - plot.y) / plot.height);
        let across = (at.0 - plot.x) / plot.width;
        let groups = self.derived.groups.get_untracked();
        self.app.ask(match groups {
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
        });
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
        let plot = layout::plot_rect(self.size.get_untracked());
        let mode = input::drag_mode(Grip {
            on_ruler: at.1 < plot.y,
            shift: event.shift_key(),
            control: event.ctrl_key() || event.meta_key(),
        });
        self.drag.set_value(Some(Drag::start(at, viewport, mode)));
    }

    /// The button comes up: a click focuses the kernel under the pointer.
    pub(crate) fn released(self, event: &PointerEvent) {
        let Some(drag) = self.drag.try_update_value(Option::take).flatten() else {
            return;
        };
        let plot = layout::plot_rect(self.size.get_untracked());
        self.marks.set(Marks {
            pointer: Some(place(event)),
            selection: None,
        });
        match drag.released(plot) {
            Released::Zoom(viewport) => show(self.app, &viewport),
            Released::Select(part) => {
                let summary = self.app.load.with_untracked(|load| load.summary().cloned());
                if let Some(summary) = summary {
                    self.app
                        .change_view(|view| derived::select(view, &part, &summary));
                }
            }
            Released::Panned => {}
            Released::Click if place(event).1 < plot.y => {
                self.app.change_view(|view| view.selection = None);
            }
            Released::Click => {
                let hit = self.app.hit.get_untracked();
                let kernel = hit.map(|it| it.kernel.clone()).filter(|it| !it.is_empty());
                if let Some(kernel) = kernel {
                    self.app.change_view(|view| view.toggle_kernel(&kernel));
                }
            }
        }
    }

    /// The pointer leaves the plot.
    pub(crate) fn left(self) {
        self.marks.set(Marks::default());
        self.app.point(None);
        self.app.clear_hit();
        self.drag.set_value(None);
    }

    /// The wheel turns.
    pub(crate) fn turned(self, event: &WheelEvent) {
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
        if let Some(by) = input::on_wheel(wheel, self.fractions(place(event))) {
            event.prevent_default();
            go(self.app, self.derived, &by);
        }
    }

    fn fractions(self, at: (f64, f64)) -> At {
        let plot = layout::plot_rect(self.size.get_untracked());
        let x = ((at.0 - plot.x) / plot.width).clamp(0.0, 1.0);
        let y = ((at.1 - plot.y) / plot.height).clamp(0.0, 1.0);
        At { x, y }
    }

    /// Keys work wherever the focus is, but for fields that take text.
    pub(crate) fn listen_to_keys(self) {
        let handle = window_event_listener(ev::keydown, move |event| {
            frames::measured(|| self.key(&event));
        });
        on_cleanup(move || handle.remove());
    }

    fn key(self, event: &KeyboardEvent) {
        if event.ctrl_key() || event.meta_key() || event.alt_key() || is_field(event) {
            return;
        }
        let pointer = self.marks.with_untracked(|marks| marks.pointer);
        let at = pointer.map_or(At { x: 0.5, y: 0.5 }, |at| self.fractions(at));
        let (code, key) = (event.code(), event.key());
        let key = Key {
            code: &code,
            key: &key,
            shift: event.shift_key(),
        };
        match input::on_key(key, at) {
            None => return,
            Some(KeyAction::Go(by)) => go(self.app, self.derived, &by),
            Some(KeyAction::Retrace(way)) => self.app.retrace(way),
            Some(KeyAction::Help) => self.app.help.update(|help| *help = !*help),
            Some(KeyAction::Find) => browser::focus("[data-testid=find]"),
            Some(KeyAction::Escape) if self.app.help.get_untracked() => self.app.help.set(false),
            Some(KeyAction::Escape) => self.app.change_view(|view| view.kernel = None),
        }
        event.prevent_default();
    }
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
    is_inside.then(|| viewport.cycle_at((at.0 - plot.x) / plot.width))
}

/// The element whose listener runs.
pub(crate) fn current_element(event: &web_sys::Event) -> Option<Element> {
    event.current_target()?.dyn_into().ok()
}

fn is_field(event: &KeyboardEvent) -> bool {
    let target = event
        .target()
        .and_then(|it| it.dyn_into::<HtmlElement>().ok());
    target.is_some_and(|it| matches!(it.tag_name().as_str(), "INPUT" | "SELECT" | "TEXTAREA"))
}
