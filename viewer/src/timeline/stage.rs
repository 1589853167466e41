//! Keeps a canvas painted with the newest scene, once a frame, and knows the size of an element.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, ResizeObserver};

use super::canvas::CanvasSurface;
use super::frames;
use super::layout::Size;
use super::paint::paint;
use super::scene::Scene;
use super::surface::Surface as _;
use crate::browser;

/// Repaints `canvas` in the frame after `scene` gives another picture; `painted` runs after it.
/// What has no picture any more is cleared at once.
pub(crate) fn keep_painted(
    canvas: NodeRef<html::Canvas>,
    size: RwSignal<Size>,
    scene: impl Fn() -> Option<Scene> + 'static,
    painted: impl Fn() + Copy + 'static,
) {
    let surface = StoredValue::new_local(None::<CanvasSurface>);
    let newest = StoredValue::new_local(None::<Scene>);
    let is_waiting = StoredValue::new(false);
    let frame = move || {
        // The component may be gone by now.
        if is_waiting.try_set_value(false).is_some() {
            return;
        }
        frames::measured(|| {
            surface.update_value(|surface| {
                if surface.is_none() {
                    *surface = canvas.get_untracked().and_then(CanvasSurface::new);
                }
                if let (Some(surface), Some(scene)) = (surface, newest.get_value()) {
                    surface.resize(size.get_untracked(), browser::pixel_ratio());
                    paint(&scene, surface);
                }
            });
            painted();
        });
    };
    Effect::new(move |_| {
        let is_there = size.get().width > 0.0 && canvas.get().is_some();
        let made = is_there.then(|| frames::measured(&scene)).flatten();
        let is_made = made.is_some();
        newest.set_value(made);
        if !is_made {
            surface.update_value(|surface| {
                if let Some(surface) = surface {
                    surface.clear();
                }
            });
            return;
        }
        if !is_waiting.get_value() {
            is_waiting.set_value(true);
            request_animation_frame(frame);
        }
    });
}

/// Stops observing when dropped.
struct Observed {
    observer: ResizeObserver,
    _callback: Closure<dyn Fn()>,
}

impl Drop for Observed {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// Writes the size of `element` into `size`, now and whenever it changes.
pub(crate) fn follow_size(element: NodeRef<html::Div>, size: RwSignal<Size>) {
    let observed = StoredValue::new_local(None::<Observed>);
    Effect::new(move |_| {
        let Some(element) = element.get() else { return };
        let element: Element = element.unchecked_into();
        let measured = element.clone();
        let callback = Closure::<dyn Fn()>::new(move || {
            let rect = measured.get_bounding_client_rect();
            let now = Size {
                width: rect.width(),
                height: rect.height(),
            };
            if size.try_get_untracked().is_some_and(|old| old != now) {
                size.set(now);
            }
        });
        if let Ok(observer) = ResizeObserver::new(callback.as_ref().unchecked_ref()) {
            observer.observe(&element);
            observed.set_value(Some(Observed {
                observer,
                _callback: callback,
            }));
        }
    });
}
