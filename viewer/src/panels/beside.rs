//! The other profile's timeline: the same tiles and as many cycles as the timeline above, under one
//! cursor.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;

use crate::browser;
use crate::engine::protocol::Request;
use crate::engine::raster::RasterAsked;
use crate::engine::summary::Summary;
use crate::state::actions::{App, use_app};
use crate::state::derived::use_derived;
use crate::state::panels::Aligned;
use crate::state::view::Rows;
use crate::theme::KernelHues;
use crate::timeline::canvas::device;
use crate::timeline::colour::Ink;
use crate::timeline::component::{next_id, span_text};
use crate::timeline::cursor;
use crate::timeline::layout::{self, Picture, PlotView, Size};
use crate::timeline::pointer::{cycle_at, place};
use crate::timeline::scene::Scene;
use crate::timeline::stage::{follow_size, keep_painted};
use crate::timeline::steering::Steering;
use crate::timeline::viewport::Viewport;

/// The other timeline.
#[component]
pub(super) fn Beside() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let aligned = Memo::new(move |_| app.view.with(|view| view.panels.aligned));
    let size = RwSignal::new(Size::default());
    let (host, canvas) = (NodeRef::new(), NodeRef::<html::Canvas>::new());
    follow_size(host, size);
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
    keep_painted(
        canvas,
        size,
        move || scene(app, aligned, &viewport.get()?, picture.get(), size.get()),
        || {},
    );
    let steering = Steering::new(app, derived, size);
    let moved = move |event: web_sys::PointerEvent| {
        steering.moved(&event);
        let at = place(&event);
        let viewport = viewport.get_untracked();
        let cycle = viewport.and_then(|it| cycle_at(size.get_untracked(), &it, at));
        let pair = aligned.get_untracked().unwrap_or_default();
        app.point(cycle.map(|it| it.saturating_add(pair.0).saturating_sub(pair.1)));
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
            on:pointerdown=move |event| steering.pressed(&event)
            on:pointerup=move |_| steering.let_go() on:pointercancel=move |_| steering.let_go()
            on:wheel=move |event| steering.turned(&event)
            on:pointermove=moved on:pointerleave=move |_| app.point(None)>
            <canvas node_ref=canvas></canvas>
        </div>
    }
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
        // What only the other one has gets a colour of its own, too.
        let own = other.kernels.iter().map(|(_, name)| name.as_str());
        let hues = derived.hues.with(|hues| KernelHues::clone(hues)).and(own);
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
