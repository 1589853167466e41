//! The strip above the plot: what the device did over the whole run, and which part is in view.
//! Pressing or dragging on it moves the view there.

use std::sync::Arc;

use leptos::prelude::*;
use web_sys::PointerEvent;

use super::canvas::device;
use super::colour::Ink;
use super::component::next_id;
use super::layout::{self, Size};
use super::pointer::{current_element, place, show};
use super::scene::Bitmap;
use super::stage::{Stage, keep_painted};
use super::viewport::{Viewport, rounded, to_float};
use super::words::kinds_in_words;
use crate::browser;
use crate::engine::protocol::Request;
use crate::engine::raster::{StripAnswer, StripAsked};
use crate::state::actions::{App, use_app};
use crate::state::derived::{Derived, use_derived};
use crate::state::view::Span;

/// Rows of the strip's bitmap; stretched to its height.
const ROWS: u32 = 64;

/// The overview of the run.
#[component]
pub(crate) fn Strip() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let Stage { host, canvas, size } = Stage::new();
    ask(app, derived, size);
    // The view changes with every frame of a pan, its clock seldom.
    let clock = Memo::new(move |_| app.view.with(|view| view.clock));
    let overview = Memo::new(move |_| -> Option<(Arc<Bitmap>, u64)> {
        let strip = app.strip.get();
        let strip = strip.as_ref().and_then(|it| it.on(clock.get()))?;
        let pixels = |ink: &Arc<Ink>| ink.strip(strip, ROWS, next_id());
        Some((Arc::new(derived.ink.with(pixels)), strip.run))
    });
    let scene = move || {
        let viewport = derived.viewport.get()?;
        let palette = app.theme.get().palette();
        overview.with(|overview| {
            let overview = overview.as_ref().map(|(bitmap, run)| (bitmap, *run));
            Some(layout::strip(size.get(), &viewport, overview, palette))
        })
    };
    keep_painted(canvas, size, scene);
    let held = StoredValue::new(false);
    let let_go = move || held.set_value(false);
    Effect::new(move |_| {
        app.turn.track();
        let_go();
    });
    let move_to = move |event: &PointerEvent| {
        if let Some(viewport) = derived.viewport.get_untracked() {
            show(
                app,
                &centred(&viewport, place(event).0, size.get_untracked()),
            );
        }
    };
    let press = move |event: PointerEvent| {
        if event.button() != 0 {
            return;
        }
        if let Some(element) = current_element(&event) {
            let _ = element.set_pointer_capture(event.pointer_id());
        }
        held.set_value(true);
        move_to(&event);
    };
    view! {
        <div class="strip" node_ref=host role="img" data-testid="strip"
            aria-label=move || {
                app.strip.with(|it| in_words(it.as_ref().and_then(|it| it.on(clock.get()))))
            }
            title="The whole run: drag to move the view"
            on:pointerdown=press
            on:pointermove=move |event| if held.get_value() { move_to(&event) }
            on:pointerup=move |_| let_go()
            on:pointercancel=move |_| let_go()>
            <canvas node_ref=canvas></canvas>
        </div>
    }
}

/// Asks for as many columns as there are pixels.
fn ask(app: App, derived: Derived, size: RwSignal<Size>) {
    let asked = Memo::new(move |_| {
        let width = size.get().width;
        let columns = device(layout::strip_rect(size.get()).width, browser::pixel_ratio());
        let clock = app.view.with(|view| view.clock);
        let is_shown = width > 0.0 && derived.viewport.with(Option::is_some);
        is_shown.then_some(StripAsked { clock, columns })
    });
    Effect::new(move |_| {
        if let Some(asked) = asked.get() {
            app.ask(Request::Strip(asked));
        }
    });
}

/// The strip in words.
fn in_words(strip: Option<&StripAnswer>) -> String {
    let whole = strip.and_then(|it| {
        let run = Span {
            from: 0,
            to: it.run,
        };
        kinds_in_words(it, run)
    });
    let whole = whole.map(|it| format!(": {it}")).unwrap_or_default();
    format!("What tiles did over the whole run{whole}")
}

/// The viewport with the cycle at `x` of the strip in its middle.
fn centred(viewport: &Viewport, x: f64, size: Size) -> Viewport {
    let rect = layout::strip_rect(size);
    let part = ((x - rect.x) / rect.width).clamp(0.0, 1.0);
    let middle = rounded(part * to_float(viewport.run));
    let len = viewport.span.len();
    let from = middle.saturating_sub(len / 2);
    viewport.with_span(Span {
        from,
        to: from.saturating_add(len),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_press_brings_its_cycle_to_the_middle() {
        let view = Viewport::whole(1_000, 4).with_span(Span { from: 0, to: 100 });
        let size = Size {
            width: 1_044.0,
            height: 40.0,
        };
        assert_eq!(
            centred(&view, 544.0, size).span,
            Span { from: 450, to: 550 }
        );
        assert_eq!(centred(&view, 0.0, size).span, Span { from: 0, to: 100 });
        assert_eq!(
            centred(&view, 9_000.0, size).span,
            Span {
                from: 900,
                to: 1_000
            }
        );
    }
}
