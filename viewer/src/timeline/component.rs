//! The timeline: a base canvas with the plot, an overlay canvas for the pointer, and the tooltip.

use std::cell::Cell;
use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;

use super::canvas::device;
use super::colour::Ink;
use super::layout::{self, Marks, Picture, PlotView, Size};
use super::pointer::Pointer;
use super::stage::{follow_size, keep_painted};
use crate::browser;
use crate::engine::protocol::{RasterAnswer, RasterAsked, Request};
use crate::panels::legend::Legend;
use crate::panels::toolbar::ViewControls;
use crate::panels::tooltip::Tooltip;
use crate::state::actions::{App, use_app};
use crate::state::derived::{Derived, use_derived};
use crate::state::view::Colouring;
use crate::timeline::strip::Strip;

/// The whole device over time.
#[component]
pub(crate) fn Timeline() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let size = RwSignal::new(Size::default());
    let marks = RwSignal::new(Marks::default());
    let drawn = RwSignal::new(None::<RasterAsked>);
    let (host, base, overlay) = (
        NodeRef::new(),
        NodeRef::new(),
        NodeRef::<html::Canvas>::new(),
    );
    follow_size(host, size);
    let asked = Memo::new(move |_| asked(app, derived, size.get()));
    Effect::new(move |_| {
        if let Some(asked) = asked.get() {
            app.ask(Request::Raster(asked));
        }
    });
    let picture = picture(derived, app.raster);
    let backdrop = picture_of_run(app, derived);
    let scene = move || plot_scene(app, derived, size, [backdrop, picture]);
    keep_painted(base, size, scene, move || {
        drawn.set(picture.with_untracked(|it| it.as_ref().map(|it| it.asked)));
    });
    let scene = move || overlay_scene(app, derived, size.get(), marks);
    keep_painted(overlay, size, scene, || {});
    let pointer = Pointer::new(app, derived, size, marks);
    pointer.listen_to_keys();
    let state = move || {
        if drawn.get() == asked.get() {
            "drawn"
        } else {
            "pending"
        }
    };
    view! {
        <section class="timeline" data-testid="timeline" data-state=state
            data-span=move || span_text(derived)>
            <ViewControls/>
            <Strip/>
            <div class="plot" node_ref=host tabindex="0" role="img"
                aria-label=move || description(app, derived)
                on:pointermove=move |event| pointer.moved(&event)
                on:pointerdown=move |event| pointer.pressed(&event)
                on:pointerup=move |event| pointer.released(&event)
                on:pointercancel=move |_| pointer.left()
                on:pointerleave=move |_| pointer.left()
                on:wheel=move |event| pointer.turned(&event)>
                <canvas node_ref=base data-testid="timeline-base"></canvas>
                <canvas node_ref=overlay class="overlay" data-testid="timeline-overlay"></canvas>
                <Tooltip marks size/>
            </div>
            <Legend/>
        </section>
    }
}

/// The cells that fill the plot, one for each device pixel.
fn asked(app: App, derived: Derived, size: Size) -> Option<RasterAsked> {
    let viewport = derived.viewport.get().filter(|_| size.width > 0.0)?;
    let plot = layout::plot_rect(size);
    let ratio = browser::pixel_ratio();
    Some(RasterAsked {
        clock: app.view.with(|view| view.clock),
        from: viewport.span.from,
        to: viewport.span.to,
        columns: device(plot.width, ratio),
        tile_from: viewport.tiles.start,
        tile_to: viewport.tiles.end,
        rows: device(plot.height, ratio),
        colour: match app.view.with(|view| view.colour) {
            // The same cells in fewer colours.
            Colouring::Kind => Colouring::Kernel,
            other => other,
        },
        focus: derived.ink.with(|ink| ink.focus()),
    })
}

type Cells = RwSignal<Option<Arc<RasterAnswer>>>;
type Pictures = Memo<Option<Picture>>;

/// Cells as pixels; painted anew when the cells, the theme or the focus change.
fn picture(derived: Derived, cells: Cells) -> Pictures {
    Memo::new(move |_| {
        let raster = cells.get()?;
        let ink: Arc<Ink> = derived.ink.get();
        Some(Picture {
            asked: raster.asked,
            bitmap: Arc::new(ink.cells(&raster, next_id())),
        })
    })
}

/// The newest picture of the whole run: it stands in wherever finer cells are still on their way.
fn picture_of_run(app: App, derived: Derived) -> Pictures {
    let whole: Cells = RwSignal::new(None);
    Effect::new(move |_| {
        let newest = app.raster.get();
        let viewport = derived.viewport.get_untracked();
        let is_whole = newest
            .as_ref()
            .zip(viewport)
            .is_some_and(|(raster, viewport)| {
                let RasterAsked {
                    from,
                    to,
                    tile_from,
                    tile_to,
                    ..
                } = raster.asked;
                from == 0 && to == viewport.run && (tile_from..tile_to) == (0..viewport.tile_count)
            });
        if is_whole || newest.is_none() {
            whole.set(newest);
        }
    });
    picture(derived, whole)
}

/// Bitmaps are told apart by number.
pub(crate) fn next_id() -> u64 {
    thread_local!(static NEXT: Cell<u64> = const { Cell::new(0) });
    NEXT.set(NEXT.get() + 1);
    NEXT.get()
}

fn plot_scene(
    app: App,
    derived: Derived,
    size: RwSignal<Size>,
    pictures: [Pictures; 2],
) -> Option<super::scene::Scene> {
    let viewport = derived.viewport.get()?;
    let summary = app.load.with(|load| load.summary().cloned())?;
    let clock = app.view.with(|view| view.clock);
    let palette = app.theme.get().palette();
    // Cells on another clock show other instants: they do not belong in this view.
    let pictures = pictures.map(|it| it.get().filter(|it| it.asked.clock == clock));
    Some(layout::plot(&PlotView {
        size: size.get(),
        viewport: &viewport,
        pictures: &pictures,
        tiles: &summary.tiles,
        clock_hz: summary.clock_hz,
        palette,
    }))
}

/// Marks of the pointer, over this timeline or another one of the page.
fn overlay_scene(
    app: App,
    derived: Derived,
    size: Size,
    marks: RwSignal<Marks>,
) -> Option<super::scene::Scene> {
    let palette = app.theme.get().palette();
    let viewport = derived.viewport.get()?;
    let mut scene = layout::overlay(size, &viewport, marks.get(), palette);
    if marks.with(|marks| marks.pointer.is_none())
        && let Some(cycle) = app.cursor.get()
    {
        let plot = layout::plot_rect(size);
        layout::cycle_line(&mut scene, plot, &viewport, cycle, palette);
    }
    Some(scene)
}

fn span_text(derived: Derived) -> String {
    derived.viewport.with(|it| {
        it.as_ref()
            .map(|it| format!("{}-{}", it.span.from, it.span.to))
            .unwrap_or_default()
    })
}

/// The picture in words.
fn description(app: App, derived: Derived) -> String {
    let Some(viewport) = derived.viewport.get() else {
        return String::new();
    };
    let clock = app.view.with(|view| view.clock.name());
    let tiles = viewport.tiles.end - viewport.tiles.start;
    let focus = app.view.with(|view| view.kernel.clone());
    let focus = focus
        .map(|it| format!(", kernel {it} in focus"))
        .unwrap_or_default();
    format!(
        "Timeline of {tiles} tiles, cycles {} to {} of {} on the {clock} clock{focus}. \
         Figures are in the table below.",
        viewport.span.from, viewport.span.to, viewport.run
    )
}
