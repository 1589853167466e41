//! Exchange: when tiles send and receive, bytes of each exchange, hottest receivers.

use std::sync::Arc;

use leptos::prelude::*;

use super::asked::{CopyOneAnswer, command_of, keep_asked, of, part};
use super::data_table::{DataTable, Kind};
use super::facts::Facts;
use super::legend::Swatches;
use crate::browser;
use crate::engine::command;
use crate::engine::panel::PanelAsked;
use crate::engine::ports::PortsAsked;
use crate::engine::protocol::Request;
use crate::engine::raster::RasterAsked;
use crate::engine::traffic::TrafficAsked;
use crate::pictures::ports;
use crate::state::actions::{App, use_app};
use crate::state::derived::{Derived, use_derived};
use crate::state::view::{Colouring, Rows};
use crate::timeline::canvas::device;
use crate::timeline::component::next_id;
use crate::timeline::cursor;
use crate::timeline::layout::{self, Picture, PlotView, Size};
use crate::timeline::pointer::{cycle_at, place};
use crate::timeline::scene::{Bitmap, Colour, Rect, Scene};
use crate::timeline::stage::{Stage, keep_painted};
use crate::timeline::steering::Steering;

/// The panel.
#[component]
pub(crate) fn Exchange() -> impl IntoView {
    let app = use_app();
    let answer = app.panels.traffic;
    let asked = move || {
        let clock = app.view.with(|view| view.clock);
        Some(TrafficAsked { clock })
    };
    let answered = move || answer.with(|it| it.as_ref().map(|it| it.asked));
    let state = keep_asked(asked, PanelAsked::Traffic, answered);
    let clock = of(answer, |it| it.clock);
    let facts = of(answer, |it| it.facts.clone());
    let question = move || Some(Request::PanelJson(PanelAsked::Traffic(asked()?)));
    let question = Signal::derive(question);
    let command = command_of(asked, command::traffic);
    let table = |id, label, is_main| Kind { id, label, is_main };
    view! {
        <section class="figures" data-testid="exchange" data-panel data-state=state
            aria-label="Exchange">
            <div class="controls">
                <h2>"Exchange: who sends and receives when"</h2>
                <span class="hint">
                    "transfers are scheduled, placed in the measured exchanges"
                </span>
                <CopyOneAnswer label="Whole run" id="exchange" asked=question command
                    title="Bytes by exchange and by tile"/>
            </div>
            <Ports/>
            <Facts id="traffic" facts/>
            <DataTable kind=table("exchange-table", "Exchanges of the run", true) clock
                list=part(answer, |it| it.exchanges.clone())/>
            <super::matrix::Matrix/>
            <DataTable kind=table("port-table", "Tiles by bytes that land on them", false) clock
                list=part(answer, |it| it.tiles.clone())/>
        </section>
    }
}

/// The part in view, one cell for each device pixel.
fn asked(app: App, derived: Derived, size: Size) -> Option<PortsAsked> {
    let viewport = derived.viewport.get().filter(|_| size.width > 0.0)?;
    let plot = layout::plot_rect(size);
    let ratio = browser::pixel_ratio();
    Some(PortsAsked {
        clock: app.view.with(|view| view.clock),
        from: viewport.span.from,
        to: viewport.span.to,
        columns: device(plot.width, ratio),
        tile_from: viewport.tiles.start,
        tile_to: viewport.tiles.end,
        rows: device(plot.height, ratio),
    })
}

/// Pixels with the place that they show.
fn picture(asked: PortsAsked, bitmap: Arc<Bitmap>) -> Picture {
    Picture {
        asked: RasterAsked {
            clock: asked.clock,
            from: asked.from,
            to: asked.to,
            columns: asked.columns,
            by: Rows::Tile,
            tile_from: asked.tile_from,
            tile_to: asked.tile_to,
            rows: asked.rows,
            colour: Colouring::default(),
            focus: None,
        },
        bitmap,
    }
}

/// Lanes of the ports in view.
#[component]
fn Ports() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let Stage { host, canvas, size } = Stage::new();
    let answer = app.panels.ports;
    let answered = move || answer.with(|it| it.as_ref().and_then(|it| it.asked));
    let state = keep_asked(
        move || asked(app, derived, size.get()),
        PanelAsked::Ports,
        answered,
    );
    let bitmap = Memo::new(move |_| -> Option<Arc<Bitmap>> {
        let theme = app.theme.get();
        answer.with(|it| Some(Arc::new(ports::bitmap(it.as_ref()?, theme, next_id()))))
    });
    let steering = Steering::new(app, derived, size, Signal::from(true));
    let scene = move || {
        let bitmap = bitmap.get()?;
        let clock = app.view.with(|view| view.clock);
        let shown = answer.with(|it| it.as_ref()?.on(clock));
        let picture = shown.map(|asked| picture(asked, bitmap));
        scene(app, derived, size.get(), picture, steering.drawn())
    };
    keep_painted(canvas, size, scene);
    let point = move |at: (f64, f64)| {
        let viewport = derived.viewport.get_untracked();
        app.point(viewport.and_then(|it| cycle_at(size.get_untracked(), &it, at)));
    };
    let moved = move |event: web_sys::PointerEvent| {
        steering.moved(&event);
        point(place(&event));
    };
    let turned = move |event: web_sys::WheelEvent| {
        steering.turned(&event);
        point(place(&event));
    };
    let left = move |_| {
        steering.forget();
        app.point(None);
    };
    let facts = of(answer, |it| it.facts.clone());
    let question = move || Some(Request::PanelJson(PanelAsked::Ports(answered()?)));
    let question = Signal::derive(question);
    let command = command_of(answered, command::ports);
    view! {
        <div class="picture tall" node_ref=host role="img" data-testid="ports" data-state=state
            aria-label="Exchange ports of the tiles in view over the cycles in view. The tables \
                        below have bytes by exchange and by tile."
            on:pointerdown=move |event| steering.pressed(&event)
            on:pointerup=move |_| { steering.let_go(); }
            on:pointercancel=move |_| steering.forget()
            on:wheel=turned on:pointermove=moved on:pointerleave=left>
            <canvas node_ref=canvas data-testid="ports-canvas"></canvas>
        </div>
        <div class="controls">
            <PortLegend/>
            <CopyOneAnswer label="Ports in view" id="ports" asked=question command
                title="When tiles send and receive"/>
        </div>
        <Facts id="ports" facts/>
    }
}

fn scene(
    app: App,
    derived: Derived,
    size: Size,
    picture: Option<Picture>,
    drawn: Option<Rect>,
) -> Option<Scene> {
    let viewport = derived.viewport.get()?;
    let summary = app.load.with(|load| load.summary().cloned())?;
    let (palette, clock_hz) = (app.theme.get().palette(), summary.clock_hz);
    let mut scene = layout::plot(&PlotView {
        size,
        viewport: &viewport,
        pictures: &[picture],
        tiles: &summary.tiles,
        groups: None,
        named: None,
        phases: &[],
        lead: 0,
        clock_hz,
        palette,
    });
    if let Some(rect) = drawn {
        layout::dragged(&mut scene, rect, palette);
    }
    if let Some(cycle) = app.cursor.get() {
        let (plot, at) = (layout::plot_rect(size), cursor::At { cycle, clock_hz });
        cursor::line(&mut scene, plot, &viewport, at, palette);
    }
    Some(scene)
}

#[component]
fn PortLegend() -> impl IntoView {
    let app = use_app();
    let entries = move || {
        let inks = app.theme.get().ports();
        let entries = [
            (inks.send, "sends"),
            (inks.receive, "receives"),
            (inks.both, "both"),
            (inks.lent, "lane lent to the partner"),
            (inks.open, "in an exchange, without a transfer"),
        ];
        let entry = |(colour, name): (Colour, &str)| (colour.css(), name.to_owned());
        entries.map(entry).to_vec()
    };
    view! { <Swatches id="port-legend" label="Colours of ports" entries/> }
}
