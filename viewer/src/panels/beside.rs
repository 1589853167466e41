//! The other profile's timeline: the same tiles and as many cycles as the timeline above, under one
//! cursor.

use std::sync::Arc;

use leptos::prelude::*;
use web_sys::PointerEvent;

use super::legend::{Entry, focusing};
use super::tooltip::Tooltip;
use crate::browser;
use crate::engine::protocol::{HitAsked, Request};
use crate::engine::raster::RasterAsked;
use crate::engine::summary::Summary;
use crate::state::actions::{App, use_app};
use crate::state::derived::{Derived, use_derived};
use crate::state::panels::Aligned;
use crate::state::view::{Colouring, Rows};
use crate::theme::{HUES, KernelHues};
use crate::timeline::canvas::device;
use crate::timeline::colour::Ink;
use crate::timeline::component::{next_id, span_text};
use crate::timeline::cursor;
use crate::timeline::layout::{self, Picture, PlotView, Size};
use crate::timeline::pointer::{cycle_at, place};
use crate::timeline::scene::Scene;
use crate::timeline::stage::{Stage, keep_painted};
use crate::timeline::steering::Steering;
use crate::timeline::viewport::Viewport;

/// The other timeline.
#[component]
pub(super) fn Beside() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let aligned = Memo::new(move |_| app.view.with(|view| view.panels.aligned));
    let Stage { host, canvas, size } = Stage::new();
    let viewport = viewport_of_other(app, aligned);
    let asked = Memo::new(move |_| asked(app, &viewport.get()?, size.get()));
    Effect::new(move |_| {
        if let Some(asked) = asked.get() {
            app.ask(Request::OtherRaster(asked));
        }
    });
    let state = move || {
        let answered = app
            .panels
            .other_raster
            .with(|it| it.as_ref().map(|it| it.asked));
        if answered == asked.get() {
            "drawn"
        } else {
            "pending"
        }
    };
    let picture = picture_of_other(app);
    let scene = move || scene(app, aligned, &viewport.get()?, picture.get(), size.get());
    keep_painted(canvas, size, scene);
    let pointer = OtherPointer {
        app,
        aligned,
        size,
        viewport,
        place: RwSignal::new(None),
        steering: Steering::new(app, derived, size),
    };
    let is_aligned = move || aligned.with(Option::is_some);
    view! {
        <div class="controls">
            <h3>"The other profile, cycle by cycle below the timeline"</h3>
            <Show when=is_aligned>
                <button type="button" data-testid="unalign"
                    on:click=move |_| app.change_view(|view| view.panels.aligned = None)>
                    "Both from their first cycle"
                </button>
            </Show>
        </div>
        <div class="picture" node_ref=host role="img" data-testid="other-timeline"
            data-state=state data-span=move || span_text(viewport)
            aria-label="Timeline of the other profile, with the same tiles and as many cycles"
            on:pointerdown=move |event| pointer.steering.pressed(&event)
            on:pointerup=move |_| pointer.released()
            on:pointercancel=move |_| pointer.left()
            on:wheel=move |event| pointer.steering.turned(&event)
            on:pointermove=move |event| pointer.moved(&event)
            on:pointerleave=move |_| pointer.left()>
            <canvas node_ref=canvas></canvas>
            <Tooltip id="other-tooltip" hit=app.panels.other_hit place=pointer.place size host/>
        </div>
        <OwnKernels/>
    }
}

/// The pointer over the other timeline.
#[derive(Clone, Copy)]
struct OtherPointer {
    app: App,
    aligned: Memo<Option<Aligned>>,
    size: RwSignal<Size>,
    viewport: Memo<Option<Viewport>>,
    /// Where it is, unless it drags.
    place: RwSignal<Option<(f64, f64)>>,
    steering: Steering,
}

impl OtherPointer {
    fn moved(self, event: &PointerEvent) {
        let drags = self.steering.moved(event);
        let at = place(event);
        let size = self.size.get_untracked();
        let Some(viewport) = self.viewport.get_untracked() else {
            return;
        };
        let cycle = cycle_at(size, &viewport, at);
        let (here, there) = self.aligned.get_untracked().unwrap_or_default();
        let above = |cycle: u64| cycle.saturating_add(here).saturating_sub(there);
        self.app.point(cycle.map(above));
        self.place.set((!drags).then_some(at));
        match cycle {
            // What was pressed on may yet be clicked.
            _ if drags => {}
            Some(cycle) => self.ask(&viewport, size, cycle, at.1),
            None => self.app.panels.other_hit.set(None),
        }
    }

    fn ask(self, viewport: &Viewport, size: Size, cycle: u64, y: f64) {
        let plot = layout::plot_rect(size);
        self.app.ask(Request::OtherHit(HitAsked {
            clock: self.app.view.with_untracked(|view| view.clock),
            tile: viewport.tile_at((y - plot.y) / plot.height),
            at: cycle,
        }));
    }

    /// A click focuses the kernel under the pointer, as above.
    fn released(self) {
        let hit = self.app.panels.other_hit.get_untracked();
        let kernel = hit.map(|it| it.kernel.clone());
        if self.steering.let_go()
            && let Some(kernel) = kernel.filter(|it| !it.is_empty())
        {
            self.app.change_view(|view| view.toggle_kernel(&kernel));
        }
    }

    fn left(self) {
        self.steering.let_go();
        self.place.set(None);
        self.app.point(None);
        self.app.panels.other_hit.set(None);
    }
}

/// Colours of the kernels that only the other profile has.
#[component]
fn OwnKernels() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let entries = Memo::new(move |_| -> Vec<Entry> {
        let is_shown = app.view.with(|view| view.colour == Colouring::Kernel);
        let Some(other) = summary_of_other(app).filter(|_| is_shown) else {
            return Vec::new();
        };
        let hues = hues_of_both(derived, &other);
        let theme = app.theme.get();
        let known = app.load.with(|load| load.summary().cloned());
        let known = known.map_or_else(Vec::new, |it| it.kernels.clone());
        let own = other.kernels.iter().map(|(_, name)| name);
        let own = own.filter(|name| !known.iter().any(|it| it.1 == **name));
        own.take(HUES)
            .map(|name| (hues.colour(name, theme).css(), name.clone()))
            .collect()
    });
    view! {
        <Show when=move || entries.with(|it| !it.is_empty())>
            <ul class="legend" data-testid="own-kernels"
                aria-label="Colours of kernels of the other profile alone">
                <li>"only there:"</li>
                {move || entries.get().into_iter().map(|it| focusing(app, it)).collect_view()}
            </ul>
        </Show>
    }
}

/// Hues of the kernels of the open profile, then of those that only the other one has.
fn hues_of_both(derived: Derived, other: &Summary) -> KernelHues {
    let own = other.kernels.iter().map(|(_, name)| name.as_str());
    derived.hues.with(|hues| KernelHues::clone(hues)).and(own)
}

fn summary_of_other(app: App) -> Option<Arc<Summary>> {
    app.panels
        .other
        .with(|it| it.ready().map(|it| Arc::clone(it.1)))
}

/// As many cycles as the timeline above shows, at the same scale, and the same tiles.
fn viewport_of_other(app: App, aligned: Memo<Option<Aligned>>) -> Memo<Option<Viewport>> {
    let derived = use_derived();
    Memo::new(move |_| {
        let (above, other) = (derived.viewport.get()?, summary_of_other(app)?);
        let (clock, tiles) = app.view.with(|view| (view.clock, view.tiles));
        let (here, there) = aligned.get().unwrap_or_default();
        let from = above.span.from.saturating_add(there).saturating_sub(here);
        let to = from.saturating_add(above.span.len());
        // Beyond its own end the other profile shows nothing, at the scale of the one above.
        let run = other.run(clock).max(to);
        let whole = Viewport::whole(run, other.tiles.count());
        let placed = whole.with_span(crate::state::view::Span { from, to });
        let tiles = tiles.and_then(|ids| other.tiles.positions(ids.first, ids.last));
        Some(match tiles {
            Some(tiles) => placed.with_tiles(&tiles),
            None => placed,
        })
    })
}

fn asked(app: App, viewport: &Viewport, size: Size) -> Option<RasterAsked> {
    let plot = layout::plot_rect(size);
    let ratio = browser::pixel_ratio();
    let clock = app.view.with(|view| view.clock);
    (size.width > 0.0).then(|| RasterAsked {
        clock,
        from: viewport.span.from,
        to: viewport.span.to,
        columns: device(plot.width, ratio),
        by: Rows::Tile,
        tile_from: viewport.tiles.start,
        tile_to: viewport.tiles.end,
        rows: device(plot.height, ratio),
        colour: app.view.with(|view| view.colour.of_cells()),
        focus: focus(app),
    })
}

/// String id, in the other profile, of the kernel in focus.
fn focus(app: App) -> Option<u32> {
    let kernel = app.view.with(|view| view.kernel.clone())?;
    let other = summary_of_other(app)?;
    let found = other.kernels.iter().find(|(_, name)| *name == kernel);
    found.map(|it| it.0)
}

/// Equal kernels have equal colours in both timelines.
fn picture_of_other(app: App) -> Memo<Option<Picture>> {
    let derived = use_derived();
    Memo::new(move |_| {
        let raster = app.panels.other_raster.get()?;
        let other = summary_of_other(app)?;
        let names = [&other.kernels[..], &other.operations[..]];
        let (focus, colour) = app.view.with(|view| (view.kernel.clone(), view.colour));
        let theme = app.theme.get();
        let hues = hues_of_both(derived, &other);
        let ink = Ink::new(names, &hues, theme, focus.as_deref());
        let bitmap = ink.with_colouring(colour).cells(&raster, next_id());
        Some(Picture {
            asked: raster.asked,
            bitmap: Arc::new(bitmap),
        })
    })
}

fn scene(
    app: App,
    aligned: Memo<Option<Aligned>>,
    viewport: &Viewport,
    picture: Option<Picture>,
    size: Size,
) -> Option<Scene> {
    let other = summary_of_other(app)?;
    let palette = app.theme.get().palette();
    let mut scene = layout::plot(&PlotView {
        size,
        viewport,
        pictures: &[picture],
        tiles: &other.tiles,
        groups: None,
        named: None,
        phases: &[],
        clock_hz: other.clock_hz,
        palette,
    });
    if let Some(cycle) = app.cursor.get() {
        let (here, there) = aligned.get().unwrap_or_default();
        let cycle = cycle.saturating_add(there).saturating_sub(here);
        let plot = layout::plot_rect(size);
        let at = cursor::At {
            cycle,
            clock_hz: other.clock_hz,
        };
        cursor::line(&mut scene, plot, viewport, at, palette);
    }
    Some(scene)
}
