//! The timeline: a canvas with the plot, elements for the marks on it, and the tooltip.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use gloo_timers::callback::Timeout;
use leptos::prelude::*;

use super::canvas::device;
use super::colour::Ink;
use super::cursor;
use super::frames;
use super::labels::Named;
use super::late::{self, Late};
use super::layout::{self, Marks, Picture, PlotView, Size};
use super::pace::{self, Step};
use super::pointer::Pointer;
use super::selected::Selected;
use super::stage::{follow_size, keep_marked, keep_painted_then};
use super::viewport::Viewport;
use super::words::description;
use crate::browser;
use crate::engine::lanes::Lane;
use crate::engine::places::PlacesAsked;
use crate::engine::protocol::Request;
use crate::engine::raster::{RasterAnswer, RasterAsked};
use crate::panels::legend::Legend;
use crate::panels::toolbar::ViewControls;
use crate::panels::tooltip::Tooltip;
use crate::state::actions::{App, use_app};
use crate::state::derived::{Derived, use_derived};
use crate::state::view::{Colouring, Rows, Span};
use crate::timeline::strip::Strip;

/// The whole device over time.
#[component]
pub(crate) fn Timeline() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let size = RwSignal::new(Size::default());
    let marks = RwSignal::new(Marks::default());
    let drawn = RwSignal::new(None::<Drawn>);
    let (host, base, overlay) = (NodeRef::new(), NodeRef::new(), NodeRef::new());
    follow_size(host, size);
    let asked = Memo::new(move |_| asked(app, derived, size.get()));
    ask_rows(app);
    let ruler = ask_phases(app, derived, size);
    let whole = cells_of_run(app, derived);
    ask_at_pace(app, asked, whole);
    let inked = StoredValue::new(VecDeque::new());
    let picture = picture(derived, app.raster, inked);
    let backdrop = self::picture(derived, whole, inked);
    let scene = move || plot_scene(app, derived, size, [backdrop, picture]);
    keep_painted_then(base, size, scene, move || {
        let now = app.raster.with_untracked(|it| it.as_deref().map(Drawn::of));
        if drawn.with_untracked(|it| *it != now) {
            drawn.set(now);
        }
    });
    let scene = move || overlay_scene(app, derived, size.get(), marks);
    keep_marked(overlay, size, scene);
    let pointer = Pointer::new(app, derived, size, marks);
    forget_the_profile_before(app, pointer, drawn, inked);
    pointer.listen_to_keys();
    pointer.follow_the_view();
    let pointed = Signal::derive(move || marks.with(|it| it.pointer));
    let state = move || {
        let asked = asked.get();
        match drawn.get().filter(|_| app.raster.with(Option::is_some)) {
            Some(drawn) if Some(drawn.asked) != asked => "pending",
            Some(drawn) if drawn.from_overview => "overview",
            Some(_) => "drawn",
            None => "pending",
        }
    };
    view! {
        <section class="timeline" class:short=derived.is_compared data-testid="timeline"
            data-state=state
            data-span=move || span_text(derived.plot) data-rows=move || rows_name(derived)
            data-phases=move || phase_count(app) data-ruler=ruler>
            <ViewControls/>
            <Strip/>
            <div class="plot" node_ref=host tabindex="0" role="img"
                aria-label=description(app, derived)
                on:pointermove=move |event| frames::measured(|| pointer.moved(&event))
                on:pointerdown=move |event| pointer.pressed(&event)
                on:pointerup=move |event| pointer.released(&event)
                on:pointercancel=move |event| pointer.cancelled(&event)
                on:pointerleave=move |_| pointer.left()
                on:wheel=move |event| frames::measured(|| pointer.turned(&event))>
                <canvas node_ref=base data-testid="timeline-base"></canvas>
                <div node_ref=overlay class="overlay" data-testid="timeline-overlay"></div>
                <Tooltip id="tooltip" hit=app.hit place=pointed size host/>
            </div>
            <Legend/>
            <Selected/>
        </section>
    }
}

/// The timeline stays where another profile is shown, or none; what it kept of the one before does
/// not.
fn forget_the_profile_before(
    app: App,
    pointer: Pointer,
    drawn: RwSignal<Option<Drawn>>,
    inked: Inked,
) {
    Effect::new(move |_| {
        app.turn.track();
        pointer.reset();
    });
    Effect::new(move |_| {
        if app.raster.with(Option::is_none) {
            drawn.set(None);
            inked.update_value(VecDeque::clear);
        }
    });
}

/// What the base canvas shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Drawn {
    asked: RasterAsked,
    from_overview: bool,
}

impl Drawn {
    fn of(raster: &RasterAnswer) -> Self {
        Self {
            asked: raster.asked,
            from_overview: raster.from_overview,
        }
    }
}

/// The cells that fill the plot, one for each device pixel.
fn asked(app: App, derived: Derived, size: Size) -> Option<RasterAsked> {
    let viewport = derived.plot.get().filter(|_| size.width > 0.0)?;
    let plot = layout::plot_rect(size);
    let ratio = browser::pixel_ratio();
    Some(RasterAsked {
        clock: app.view.with(|view| view.clock),
        from: viewport.span.from,
        to: viewport.span.to,
        columns: device(plot.width, ratio),
        by: derived
            .groups
            .with(|it| it.as_ref().map_or(Rows::Tile, |it| it.by)),
        tile_from: viewport.tiles.start,
        tile_to: viewport.tiles.end,
        rows: device(plot.height, ratio),
        colour: app.view.with(|view| view.colour.of_cells()),
        focus: derived.ink.with(|ink| ink.focus()),
    })
}

type Cells = RwSignal<Option<Arc<RasterAnswer>>>;
type Pictures = Memo<Option<Picture>>;

/// Cells that are pixels already, in these colours; the newest last. The cells themselves, twice as
/// large, are not kept for this.
type Inked = StoredValue<VecDeque<(Weak<RasterAnswer>, Arc<Ink>, Picture)>>;

/// Pictures that are kept: of the cells in view, of those before, of those of the whole run.
const INKED_MAX: usize = 3;

/// Cells as pixels; painted anew when the cells, the theme or the focus change. Cells that are in
/// view and those of the whole run at once, or again, are painted once.
fn picture(derived: Derived, cells: Cells, inked: Inked) -> Pictures {
    Memo::new(move |_| {
        let raster = cells.get()?;
        let ink: Arc<Ink> = derived.ink.get();
        inked.try_update_value(|inked| {
            let is_it = |(of, with, _): &(Weak<_>, _, _)| {
                of.as_ptr() == Arc::as_ptr(&raster) && Arc::ptr_eq(with, &ink)
            };
            if let Some((.., picture)) = inked.iter().find(|it| is_it(it)) {
                return picture.clone();
            }
            let picture = Picture {
                asked: raster.asked,
                bitmap: Arc::new(ink.cells(&raster, next_id())),
            };
            if inked.len() == INKED_MAX {
                inked.pop_front();
            }
            inked.push_back((Arc::downgrade(&raster), Arc::clone(&ink), picture.clone()));
            picture
        })
    })
}

/// Asks for the phases of the first tile in view; says for `data-ruler` whether the ruler shows
/// them.
fn ask_phases(
    app: App,
    derived: Derived,
    size: RwSignal<Size>,
) -> impl Fn() -> &'static str + Copy + Send + Sync {
    let asked = Memo::new(move |_| {
        let viewport = derived.viewport.get()?;
        Some(PlacesAsked {
            clock: app.view.with(|view| view.clock),
            from: viewport.span.from,
            to: viewport.span.to,
            tile: viewport.tiles.start,
            most: device(size.get().width / 3.0, 1.0),
        })
    });
    Effect::new(move |_| {
        if let Some(asked) = asked.get() {
            app.ask(Request::Ruler(asked));
        }
    });
    move || {
        let answered = app.ruler.with(|it| it.as_ref().map(|it| it.asked));
        match answered.is_some() && answered == asked.get() {
            true => "ready",
            false => "pending",
        }
    }
}

/// Asks for the groups that rows stand for.
fn ask_rows(app: App) {
    let by = Memo::new(move |_| app.view.with(|view| view.rows));
    Effect::new(move |_| {
        if by.get() != Rows::Tile {
            app.ask(Request::Rows(by.get()));
        }
    });
}

/// Asks for the cells in view: at once where they are cheap, else when the view rests. Those of the
/// whole run are kept and asked for once.
fn ask_at_pace(app: App, asked: Memo<Option<RasterAsked>>, whole: Cells) {
    let pending: StoredValue<Option<Timeout>, LocalStorage> = StoredValue::new_local(None);
    let last = StoredValue::new(None::<(u32, f64)>);
    Effect::new(move |_| match app.raster.get() {
        // Another profile is shown.
        None => last.set_value(None),
        Some(raster) if raster.from_overview => {}
        Some(raster) => last.set_value(Some((raster.cost, raster.asked.area()))),
    });
    Effect::new(move |_| {
        // Dropping a timeout cancels it.
        pending.set_value(None);
        app.turn.track();
        let Some(asked) = asked.get() else { return };
        let kept = whole
            .get_untracked()
            .filter(|_| app.raster.with_untracked(Option::is_some));
        let kept = kept.filter(|it| it.asked == asked && !it.from_overview);
        if kept.is_some() {
            // An answer to an earlier view must not take their place.
            app.void(Lane::Raster);
            return app.raster.set(kept);
        }
        let (cost, part) = match last.get_value() {
            Some((cost, area)) => (Some(cost), asked.area() / area.max(1.0)),
            None => (None, 1.0),
        };
        let is_first = app.raster.with_untracked(Option::is_none);
        match pace::step(cost, part) {
            Step::Wait if !is_first => {
                let ask = move || app.ask(Request::Raster(asked));
                pending.set_value(Some(Timeout::new(pace::REST, ask)));
            }
            Step::Ask | Step::Wait => app.ask(Request::Raster(asked)),
        }
    });
}

/// The newest cells of the whole run: they stand in wherever finer ones are still on their way.
fn cells_of_run(app: App, derived: Derived) -> Cells {
    let whole: Cells = RwSignal::new(None);
    Effect::new(move |_| {
        let newest = app.raster.get();
        let viewport = derived.plot.get_untracked();
        let is_whole = newest
            .as_ref()
            .zip(viewport)
            .is_some_and(|(raster, viewport)| {
                let RasterAsked {
                    from,
                    to,
                    tile_from,
                    tile_to,
                    by,
                    ..
                } = raster.asked;
                let rows = derived
                    .groups
                    .with_untracked(|it| it.as_ref().map(|it| it.by));
                by == rows.unwrap_or_default()
                    && from == 0
                    && to == viewport.run
                    && (tile_from..tile_to) == (0..viewport.tile_count)
            });
        if is_whole || newest.is_none() {
            whole.set(newest);
        }
    });
    whole
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
    let viewport = derived.plot.get()?;
    let summary = app.load.with(|load| load.summary().cloned())?;
    let clock = app.view.with(|view| view.clock);
    let palette = app.theme.get().palette();
    // Cells on another clock show other instants, those of other rows other tiles: they do not
    // belong in this view.
    let raster = app.raster.get();
    let is_by_operation = |it: &RasterAnswer| it.asked.colour == Colouring::Operation;
    let of_tiles = |it: &&Arc<RasterAnswer>| it.asked.by == Rows::Tile && it.asked.clock == clock;
    let named = raster.as_ref().filter(of_tiles).map(|cells| Named {
        cells,
        names: match is_by_operation(cells) {
            true => &summary.operations,
            false => &summary.kernels,
        },
    });
    let phases = app.ruler.get();
    let phases = phases.filter(|it| it.asked.clock == clock);
    let phases = phases.and_then(|it| it.phases.clone()).unwrap_or_default();
    let groups = derived.groups.get();
    let by = groups.as_ref().map_or(Rows::Tile, |it| it.by);
    let is_of_view = |it: &Picture| it.asked.clock == clock && it.asked.by == by;
    let pictures = pictures.map(|it| it.get().filter(is_of_view));
    Some(layout::plot(&PlotView {
        size: size.get(),
        viewport: &viewport,
        pictures: &pictures,
        tiles: &summary.tiles,
        groups: groups.as_deref(),
        named,
        phases: &phases,
        lead: 0,
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
    let viewport = derived.plot.get()?;
    let selected = derived.selected.get();
    let (plot, marks) = (layout::plot_rect(size), marks.get());
    let clock_hz = app.load.with(|load| load.summary().map(|it| it.clock_hz))?;
    let selected = selected.as_ref();
    let mut scene = layout::overlay(size, &viewport, selected, marks, clock_hz, palette);
    if let Some(late) = late(app, derived) {
        late::mark(&mut scene, plot, &viewport, &late, palette);
    }
    if marks.pointer.is_none()
        && let Some(cycle) = app.cursor.get()
    {
        let at = cursor::At { cycle, clock_hz };
        cursor::line(&mut scene, plot, &viewport, at, palette);
    }
    Some(scene)
}

/// The straggler of the pressed phase; `None` where rows are no tiles, or cycles are on a clock
/// without a common origin.
fn late(app: App, derived: Derived) -> Option<Late> {
    let bar = derived.phase.get()?;
    let tile = bar.straggler?;
    let clock = app
        .panels
        .phases
        .with(|it| it.as_ref().map(|it| it.clock))?;
    let is_shown = app
        .view
        .with(|view| view.rows == Rows::Tile && view.clock == clock);
    let row = app
        .load
        .with(|load| load.summary()?.tiles.positions(tile, tile));
    row.filter(|_| is_shown).map(|row| Late {
        row,
        span: Span {
            from: bar.from,
            to: bar.to,
        },
        name: format!("tile {tile} comes last"),
    })
}

fn rows_name(derived: Derived) -> &'static str {
    derived
        .groups
        .with(|it| it.as_ref().map_or(Rows::Tile, |it| it.by).name())
}

/// Phases on the ruler.
fn phase_count(app: App) -> String {
    let phases = app
        .ruler
        .get()
        .and_then(|it| it.phases.as_ref().map(Vec::len));
    phases.map(|it| it.to_string()).unwrap_or_default()
}

/// The cycles in view, for tests.
pub(crate) fn span_text(viewport: Memo<Option<Viewport>>) -> String {
    viewport.with(|it| {
        it.as_ref()
            .map(|it| format!("{}-{}", it.span.from, it.span.to))
            .unwrap_or_default()
    })
}
