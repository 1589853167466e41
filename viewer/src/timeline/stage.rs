//! Keeps a canvas painted with the newest scene, once a frame, and knows the size of an element.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, ResizeObserver};

use super::canvas::CanvasSurface;
use super::elements::ElementSurface;
use super::frames;
use super::layout::Size;
use super::paint::paint;
use super::scene::Scene;
use super::surface::Surface;
use crate::browser;

/// A canvas in an element whose size it takes.
#[derive(Clone, Copy)]
pub(crate) struct Stage {
    /// The element.
    pub(crate) host: NodeRef<html::Div>,
    /// The canvas in it.
    pub(crate) canvas: NodeRef<html::Canvas>,
    /// The size of both.
    pub(crate) size: RwSignal<Size>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let stage = Self {
            host: NodeRef::new(),
            canvas: NodeRef::new(),
            size: RwSignal::new(Size::default()),
        };
        follow_size(stage.host, stage.size);
        stage
    }
}

/// Repaints `canvas` in the frame after `scene` gives another picture. What has no picture any more
/// is cleared at once.
pub(crate) fn keep_painted(
    canvas: NodeRef<html::Canvas>,
    size: RwSignal<Size>,
    scene: impl Fn() -> Option<Scene> + 'static,
) {
    keep_painted_then(canvas, size, scene, || {});
}

/// The same; `painted` runs after each picture.
pub(crate) fn keep_painted_then(
    canvas: NodeRef<html::Canvas>,
    size: RwSignal<Size>,
    scene: impl Fn() -> Option<Scene> + 'static,
    painted: impl Fn() + 'static,
) {
    let surface = move || {
        let surface = CanvasSurface::new(canvas.get()?)?;
        Some(Box::new(surface) as Box<dyn Surface>)
    };
    keep(Kept {
        surface: Box::new(surface),
        size,
        scene: Box::new(scene),
        painted: Box::new(painted),
    });
}

/// The same with elements in `host`, for marks.
pub(crate) fn keep_marked(
    host: NodeRef<html::Div>,
    size: RwSignal<Size>,
    scene: impl Fn() -> Option<Scene> + 'static,
) {
    let surface = move || {
        let surface = ElementSurface::new(host.get()?.unchecked_into());
        Some(Box::new(surface) as Box<dyn Surface>)
    };
    keep(Kept {
        surface: Box::new(surface),
        size,
        scene: Box::new(scene),
        painted: Box::new(|| {}),
    });
}

/// What keeps one surface painted. Boxed, as there are many and none is in a hurry.
struct Kept {
    /// Makes the surface once its element is there.
    surface: Box<dyn Fn() -> Option<Box<dyn Surface>>>,
    size: RwSignal<Size>,
    scene: Box<dyn Fn() -> Option<Scene>>,
    painted: Box<dyn Fn()>,
}

fn keep(kept: Kept) {
    let Kept {
        surface: make,
        size,
        scene,
        painted,
    } = kept;
    let surface = StoredValue::new_local(None::<Box<dyn Surface>>);
    let newest = StoredValue::new_local(None::<Scene>);
    let is_waiting = StoredValue::new(false);
    let painted = StoredValue::new_local(painted);
    let frame = move || {
        // The component may be gone by now.
        if is_waiting.try_set_value(false).is_some() {
            return;
        }
        frames::measured(|| {
            surface.update_value(|surface| {
                if let (Some(surface), Some(scene)) = (surface, newest.get_value()) {
                    surface.resize(size.get_untracked(), browser::pixel_ratio());
                    paint(&scene, &mut **surface);
                }
            });
            painted.with_value(|painted| painted());
        });
    };
    Effect::new(move |_| {
        if surface.with_value(Option::is_none) {
            surface.set_value(make());
        }
        let is_there = size.get().width > 0.0 && surface.with_value(Option::is_some);
        let made = is_there.then(|| frames::measured(&scene)).flatten();
        let is_made = made.is_some();
        newest.set_value(made);
        if !is_made {
            surface.update_value(|surface| {
                if let Some(surface) = surface {
                    paint(&Scene::default(), &mut **surface);
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
