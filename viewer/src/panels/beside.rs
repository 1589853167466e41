//! The other profile's timeline: the same rows and as many cycles as the timeline above, under one
//! cursor.

use std::sync::Arc;

use leptos::prelude::*;

use super::legend::{Entry, focusing};
use super::other_pointer::OtherPointer;
use super::tooltip::Tooltip;
use crate::browser;
use crate::engine::protocol::Request;
use crate::engine::raster::{RasterAsked, RowsAnswer};
use crate::state::actions::{App, use_app};
use crate::state::derived::use_derived;
use crate::state::view::{Colouring, Rows};
use crate::theme::HUES;
use crate::timeline::below::{self, Below};
use crate::timeline::canvas::device;
use crate::timeline::colour::Ink;
use crate::timeline::component::next_id;
use crate::timeline::cursor;
use crate::timeline::layout::{self, Picture, PlotView, Size};
use crate::timeline::scene::{Anchor, Rect, Scene};
use crate::timeline::stage::{Stage, keep_painted};

/// The other timeline.
#[component]
pub(super) fn Beside() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let Stage { host, canvas, size } = Stage::new();
    let groups = groups_of_other(app);
    let below = below(app, groups);
    let asked = Memo::new(move |_| asked(app, &below.get()?, size.get()));
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
        match asked.get() {
            // Nothing of it is in view.
            None if below.with(Option::is_some) => "drawn",
            None => "pending",
            asked if answered == asked => "drawn",
            _ => "pending",
        }
    };
    let has_same_rows = has_same_rows(app);
    let pointer = OtherPointer::new(app, derived, size, below, has_same_rows);
    let picture = picture_of_other(app, below);
    let scene = move || {
        let groups = groups.get();
        // Cells of other rows, or on another clock, lie elsewhere.
        let of = |it: &RasterAsked| (it.by, it.clock);
        let wanted = asked.with(|it| it.as_ref().map(of));
        let picture = picture.get().filter(|it| wanted == Some(of(&it.asked)));
        let drawn = pointer.drawn();
        scene(
            app,
            &below.get()?,
            picture,
            groups.as_deref(),
            size.get(),
            drawn,
        )
    };
    keep_painted(canvas, size, scene);
    view! {
        <BesideHeading has_same_rows/>
        <div class="picture" node_ref=host role="img" data-testid="other-timeline"
            data-state=state
            data-span=move || below.with(|it| it.as_ref().map(Below::span_text))
            data-rows=move || groups.with(|it| it.as_ref().map_or(Rows::Tile, |it| it.by).name())
            aria-label="Timeline of the other profile, with the same rows and as many cycles"
            on:pointerdown=move |event| pointer.pressed(&event)
            on:pointerup=move |event| pointer.released(&event)
            on:pointercancel=move |_| pointer.left()
            on:wheel=move |event| pointer.turned(&event)
            on:pointermove=move |event| pointer.moved(&event)
            on:pointerleave=move |_| pointer.left()>
            <canvas node_ref=canvas></canvas>
            <Tooltip id="other-tooltip" hit=app.panels.other_hit place=pointer.place size host/>
        </div>
        <OwnKernels/>
    }
}

/// What the picture is, and how its cycles lie below the others.
#[component]
fn BesideHeading(
    /// Whether the rows of both timelines are the same tiles.
    has_same_rows: Signal<bool>,
) -> impl IntoView {
    let app = use_app();
    let aligned = Memo::new(move |_| app.view.with(|view| view.panels.aligned));
    let is_aligned = move || aligned.with(Option::is_some);
    let hint = move || below::hint(aligned.get().unwrap_or_default(), has_same_rows.get());
    view! {
        <div class="controls">
            <h3>"The other profile, cycle by cycle below the timeline"</h3>
            <Show when=is_aligned>
                <button type="button" data-testid="unalign"
                    on:click=move |_| app.change_view(|view| view.panels.aligned = None)>
                    "Both from their first cycle"
                </button>
            </Show>
            <span class="hint" data-testid="beside-hint">{hint}</span>
        </div>
    }
}

/// Colours of the kernels that only the other profile has.
#[component]
fn OwnKernels() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let entries = Memo::new(move |_| -> Vec<Entry> {
        let is_shown = app.view.with(|view| view.colour == Colouring::Kernel);
        let Some(other) = app.panels.compared().filter(|_| is_shown) else {
            return Vec::new();
        };
        let theme = app.theme.get();
        let known = app.load.with(|load| load.summary().cloned());
        let known = known.map_or_else(Vec::new, |it| it.kernels.clone());
        let own = other.kernels.iter().map(|(_, name)| name);
        let own = own.filter(|name| !known.iter().any(|it| it.1 == **name));
        derived.hues.with(|hues| {
            own.take(HUES)
                .map(|name| (hues.colour(name, theme).css(), name.clone()))
                .collect()
        })
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

/// Whether the rows of both timelines are the same tiles.
fn has_same_rows(app: App) -> Signal<bool> {
    Signal::derive(move || {
        let other = app.panels.compared();
        app.load.with(|load| {
            let open = load.summary().map(|it| &it.tiles);
            other.as_ref().map(|it| &it.tiles) == open
        })
    })
}

type Groups = Memo<Option<Arc<RowsAnswer>>>;

/// The groups that rows stand for; `None` where they are tiles, or not yet known.
fn groups_of_other(app: App) -> Groups {
    let rows = Memo::new(move |_| app.view.with(|view| view.rows));
    Effect::new(move |_| {
        if app.panels.compared().is_some() && rows.get() != Rows::Tile {
            app.ask(Request::OtherRows(rows.get()));
        }
    });
    Memo::new(move |_| {
        let rows = rows.get();
        let groups = app.panels.other_rows.get();
        groups.filter(|it| it.by == rows && rows != Rows::Tile)
    })
}

/// As many cycles as the timeline above shows, at the same scale, and the same rows.
fn below(app: App, groups: Groups) -> Memo<Option<Below>> {
    let derived = use_derived();
    Memo::new(move |_| {
        let (above, other) = (derived.viewport.get()?, app.panels.compared()?);
        let (clock, rows, tiles, aligned) = app.view.with(|view| {
            let aligned = view.panels.aligned.unwrap_or_default();
            (view.clock, view.rows, view.shown_tiles(), aligned)
        });
        let count = match (rows, groups.get()) {
            (Rows::Tile, _) => other.tiles.count(),
            (_, groups) => u32::try_from(groups?.names.len()).unwrap_or(u32::MAX),
        };
        let shown = match tiles {
            Some(ids) if rows == Rows::Tile => other.tiles.positions(ids.first, ids.last),
            _ => Some(0..count),
        };
        let extent = (other.run(clock), count);
        Some(Below::new(&above, aligned, extent, shown.as_ref()))
    })
}

fn asked(app: App, below: &Below, size: Size) -> Option<RasterAsked> {
    let (cycles, viewport) = (below.cycles(), &below.viewport);
    if size.width <= 0.0 || cycles.is_empty() || !below.has_rows {
        return None;
    }
    let plot = layout::plot_rect(size);
    let ratio = browser::pixel_ratio();
    let part = viewport.fraction_of_cycle(cycles.end + below.lead)
        - viewport.fraction_of_cycle(cycles.start + below.lead);
    let (clock, rows, colour) = app
        .view
        .with(|view| (view.clock, view.rows, view.colour.of_cells()));
    Some(RasterAsked {
        clock,
        from: cycles.start,
        to: cycles.end,
        columns: device(plot.width * part, ratio),
        by: rows,
        tile_from: viewport.tiles.start,
        tile_to: viewport.tiles.end,
        rows: device(plot.height, ratio),
        colour,
        focus: focus(app),
    })
}

/// String id, in the other profile, of the kernel in focus.
fn focus(app: App) -> Option<u32> {
    let kernel = app.view.with(|view| view.kernel.clone())?;
    let other = app.panels.compared()?;
    let found = other.kernels.iter().find(|(_, name)| *name == kernel);
    found.map(|it| it.0)
}

/// Equal kernels have equal colours in both timelines.
fn picture_of_other(app: App, below: Memo<Option<Below>>) -> Memo<Option<Picture>> {
    let derived = use_derived();
    // Where only cycles in view change, the pixels are the same.
    let inks = Memo::new(move |_| app.view.with(|view| (view.kernel.clone(), view.colour)));
    let inked = Memo::new(move |_| {
        let raster = app.panels.other_raster.get()?;
        let other = app.panels.compared()?;
        let names = [&other.kernels[..], &other.operations[..]];
        let (focus, colour) = inks.get();
        let theme = app.theme.get();
        let ink = derived
            .hues
            .with(|hues| Ink::new(names, hues, theme, focus.as_deref()));
        let bitmap = ink.with_colouring(colour).cells(&raster, next_id());
        Some((raster.asked, Arc::new(bitmap)))
    });
    Memo::new(move |_| {
        let lead = below.with(|it| it.as_ref().map(|it| it.lead))?;
        let (asked, bitmap) = inked.get()?;
        let asked = RasterAsked {
            from: asked.from.saturating_add(lead),
            to: asked.to.saturating_add(lead),
            ..asked
        };
        Some(Picture { asked, bitmap })
    })
}

fn scene(
    app: App,
    below: &Below,
    picture: Option<Picture>,
    groups: Option<&RowsAnswer>,
    size: Size,
    drawn: Option<Rect>,
) -> Option<Scene> {
    let other = app.panels.compared()?;
    let palette = app.theme.get().palette();
    let mut scene = layout::plot(&PlotView {
        size,
        viewport: &below.viewport,
        pictures: &[picture],
        tiles: &other.tiles,
        groups,
        named: None,
        phases: &[],
        lead: below.lead,
        clock_hz: other.clock_hz,
        palette,
    });
    let plot = layout::plot_rect(size);
    if !below.has_rows {
        let middle = (plot.x + plot.width / 2.0, plot.y + plot.height / 2.0);
        let said = "the other profile has none of these tiles";
        scene.text(middle, Anchor::Middle, said, palette.text);
    }
    if let Some(rect) = drawn {
        layout::dragged(&mut scene, rect, palette);
    }
    let cycle = app.cursor.get().and_then(|cycle| below.at(cycle));
    if let Some((cycle, own)) = cycle.and_then(|it| Some((it, below.own(it)?))) {
        let across = below.viewport.fraction_of_cycle(cycle);
        let at = cursor::At {
            cycle: own,
            clock_hz: other.clock_hz,
        };
        cursor::line_across(&mut scene, plot, across, at, palette);
    }
    Some(scene)
}
