//! Plots: charts of the profile, each to be kept as SVG, PNG and data.

use analytics::chart::Chart;
use leptos::html;
use leptos::prelude::*;

use super::asked::{CopyCommand, command_of, keep_asked};
use super::copy::CopyButton;
use super::menu::Menu;
use crate::browser::{self, Text};
use crate::engine::command;
use crate::engine::panel::PanelAsked;
use crate::engine::plot::PlotAsked;
use crate::state::actions::{App, use_app};
use crate::state::kind_choice::kind_called;
use crate::theme::Theme;
use crate::timeline::canvas::device;
use crate::timeline::layout::Size;
use crate::timeline::stage::follow_size;

/// Height of a chart in CSS pixels.
const HEIGHT: u32 = 420;
/// Widest and narrowest chart; a narrower page scrolls.
const WIDTH_MAX: u32 = 1_400;
const WIDTH_MIN: u32 = 480;

/// The panel.
#[component]
pub(crate) fn Plots() -> impl IntoView {
    let app = use_app();
    let size = RwSignal::new(Size::default());
    let host = NodeRef::<html::Div>::new();
    follow_size(host, size);
    let answer = app.panels.plot;
    let answered = move || answer.with(|it| it.as_ref().map(|it| it.asked.clone()));
    let state = keep_asked(move || asked(app, size.get()), PanelAsked::Plot, answered);
    let svg = move || {
        answer
            .with(|it| it.as_ref().map(|it| it.svg.clone()))
            .unwrap_or_default()
    };
    let about = move || match app.view.with(|view| view.kernel.clone()) {
        Some(kernel) => match kind_called(&kernel) {
            Some(kind) => format!("of kind {}", kind.name()),
            None => format!("of kernel {kernel}"),
        },
        None => "of all kernels; focus one to see it alone".to_owned(),
    };
    let label = move || {
        let chart = app.view.with(|view| view.panels.chart);
        let said = answer.with(|it| {
            let it = it.as_ref().filter(|it| it.asked.chart == chart);
            it.map(|it| format!(": {}", it.said)).unwrap_or_default()
        });
        format!(
            "{}, {}{said}. Its data can be copied as CSV or JSON.",
            chart.title(),
            about()
        )
    };
    view! {
        <section class="figures" data-testid="plots" data-panel data-state=state
            aria-label="Plots">
            <div class="controls">
                <h2>"Plots"</h2>
                <Menu id="plot" label="Chart"
                    items=Chart::ALL.map(|it| (it.name(), it.title())).to_vec()
                    chosen=|view| view.panels.chart.name()
                    choose=|app, name| app.change_view(|view| {
                        view.panels.chart = Chart::from_name(name).unwrap_or_default();
                    })/>
                <span class="hint">{about}</span>
                <Keep/>
            </div>
            <div class="chart" node_ref=host role="img" data-testid="chart" tabindex="0"
                aria-label=label inner_html=svg></div>
        </section>
    }
}

fn asked(app: App, size: Size) -> Option<PlotAsked> {
    if size.width <= 0.0 {
        return None;
    }
    let (chart, clock, kernel) = app
        .view
        .with(|view| (view.panels.chart, view.clock, view.kernel.clone()));
    let width = device(size.width, 1.0).clamp(WIDTH_MIN, WIDTH_MAX);
    Some(PlotAsked {
        chart,
        clock,
        kernel,
        size: (width, HEIGHT),
        dark: app.theme.get() == Theme::Dark,
    })
}

/// Keeps the chart and its data as files or on the clipboard.
#[component]
fn Keep() -> impl IntoView {
    let app = use_app();
    let answer = app.panels.plot;
    let name = move |ending: &str| {
        let chart =
            answer.with_untracked(|it| it.as_ref().map_or("chart", |it| it.asked.chart.name()));
        format!("{chart}.{ending}")
    };
    let svg = move |_| {
        if let Some(it) = answer.get_untracked() {
            browser::save(&name("svg"), "image/svg+xml", &it.svg);
        }
    };
    let png = move |_| {
        if let Some(it) = answer.get_untracked() {
            browser::save_as_png(&name("png"), &it.svg, it.asked.size);
        }
    };
    let csv = move |_| {
        if let Some(it) = answer.get_untracked() {
            browser::save(&name("csv"), "text/csv", &it.csv);
        }
    };
    let json = move |_| {
        if let Some(it) = answer.get_untracked() {
            browser::save(&name("json"), "application/json", &it.json);
        }
    };
    let of = Signal::derive(move || answer.with(|_| ()));
    let copied = Callback::new(move |()| {
        answer.with_untracked(|it| it.as_ref().map(|it| Text::Here(it.json.clone())))
    });
    let answered = move || answer.with(|it| it.as_ref().map(|it| it.asked.clone()));
    let command = command_of(answered, command::plot);
    view! {
        <div class="group" role="group" aria-label="Keep the chart">
            <button type="button" data-testid="plot-svg" on:click=svg>"SVG"</button>
            <button type="button" data-testid="plot-png" on:click=png>"PNG"</button>
            <button type="button" data-testid="plot-csv" on:click=csv>"CSV"</button>
            <button type="button" data-testid="plot-json" on:click=json>"JSON"</button>
        </div>
        <CopyCommand id="plot" command/>
        <CopyButton id="plot-copy" label="Copy answer as JSON"
            title="Copy the figures of the chart as JSON" text=copied of/>
    }
}
