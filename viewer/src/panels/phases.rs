//! Phases: who arrives last at each barrier, who waits for whom, and what balance would save. A
//! pressed phase comes closer, its straggler is marked and its tiles are listed by their slack.

use std::sync::Arc;

use analytics::clock::ClockKind;
use leptos::prelude::*;

use super::asked::{CopyOneAnswer, command_of, keep_asked, of, part};
use super::data_table::{DataTable, Kind, bring};
use super::facts::{Facts, Warnings};
use super::legend::Swatches;
use crate::engine::command;
use crate::engine::panel::PanelAsked;
use crate::engine::phases::{PhaseBar, PhasesAsked};
use crate::engine::protocol::Request;
use crate::engine::slack::SlackAsked;
use crate::pictures::waterfall::{self, Rows, WaterfallView};
use crate::state::actions::{App, use_app};
use crate::state::derived::{reveal, use_derived};
use crate::state::load::LoadState;
use crate::timeline::pointer::place;
use crate::timeline::stage::{Stage, keep_painted};

/// The panel.
#[component]
pub(crate) fn Phases() -> impl IntoView {
    let app = use_app();
    let answer = app.panels.phases;
    let asked = move || PhasesAsked {
        clock: app.view.with(|view| view.clock),
    };
    let answered = move || answer.with(|it| it.as_ref().map(|it| it.asked));
    let state = keep_asked(move || Some(asked()), PanelAsked::Phases, answered);
    let clock = of(answer, |it| it.clock);
    let facts = of(answer, |it| it.facts.clone());
    let warnings = of(answer, |it| it.warnings.clone());
    let pressed = Callback::new(move |at: usize| {
        let bar = answer.with_untracked(|it| it.as_ref()?.bars.get(at).cloned());
        if let Some(bar) = bar {
            go_to(app, clock.get_untracked(), &bar);
        }
    });
    let table = |id, label, is_main| Kind { id, label, is_main };
    let hint = move || format!("{} clock, the whole run", clock.get().name());
    view! {
        <section class="figures" data-testid="phases" data-panel data-state=state
            aria-label="Phases">
            <div class="controls">
                <h2>"Phases: for whom the tiles waited"</h2>
                <span class="hint">{hint}</span>
                <Copies asked=Signal::derive(asked)/>
            </div>
            <Facts id="phases" facts/>
            <Warnings warnings/>
            <OtherClock/>
            <Waterfall clock/>
            <Pressed clock/>
            <DataTable kind=table("phase-table", "Phases", true) clock
                list=part(answer, |it| it.phases.clone()) on_press=pressed/>
            <div class="side-by-side">
                <DataTable kind=table("path-table", "Kernels of the critical path", false) clock
                    list=part(answer, |it| it.kernels.clone())/>
                <DataTable kind=table("culprit-table", "Kernels that others waited for", false)
                    clock list=part(answer, |it| it.culprits.clone())/>
                <DataTable kind=table("late-tile-table", "Tiles that came last", false) clock
                    list=part(answer, |it| it.tiles.clone())/>
            </div>
        </section>
    }
}

/// Copies what the panel's figures are from: the path, and the boundaries that cut it.
#[component]
fn Copies(
    /// The question about the path.
    asked: Signal<PhasesAsked>,
) -> impl IntoView {
    let app = use_app();
    let path = move || Some(Request::PanelJson(PanelAsked::Phases(asked.get())));
    let path = Signal::derive(path);
    let path_command = command_of(move || Some(asked.get()), command::phases);
    // The question is the same of every profile; what was copied is of one.
    let is_open = move || app.load.with(LoadState::has_profile);
    let barriers = Signal::derive(move || is_open().then_some(Request::BarriersJson));
    let barriers_command = command_of(|| Some(()), command::barriers);
    view! {
        <CopyOneAnswer label="Critical path" id="phases" asked=path command=path_command
            title="Phases, what their last tiles did, and what balance would save"/>
        <CopyOneAnswer label="Barriers" id="barriers" asked=barriers command=barriers_command
            title="Who arrived last, how late, why, and who waited; on the shared clock"/>
    }
}

/// Brings a phase closer, and its straggler into view.
fn go_to(app: App, clock: ClockKind, bar: &PhaseBar) {
    let summary = app.load.with_untracked(|load| load.summary().cloned());
    let Some(summary) = summary else { return };
    app.jump_view(|view| {
        bring(view, clock, summary.run(clock), bar.from, bar.to);
        view.panels.phase = Some(bar.name.clone());
        if let Some(tile) = bar.straggler {
            reveal(view, tile, &summary);
        }
    });
}

/// The tiles of the pressed phase, by their slack.
#[component]
fn Pressed(
    /// The clock of the answer.
    clock: Signal<ClockKind>,
) -> impl IntoView {
    let phase = use_derived().phase;
    view! { <Show when=move || phase.with(Option::is_some)><Slack clock/></Show> }
}

#[component]
fn Slack(
    /// The clock of the answer.
    clock: Signal<ClockKind>,
) -> impl IntoView {
    let app = use_app();
    let phase = use_derived().phase;
    let answer = app.panels.slack;
    let asked = move || {
        let boundary = phase.with(|it| it.as_ref().map(|it| it.boundary))?;
        let clock = clock.get();
        Some(SlackAsked { clock, boundary })
    };
    let answered = move || answer.with(|it| it.as_ref().map(|it| it.asked));
    let state = keep_asked(asked, PanelAsked::Slack, answered);
    let said = move || phase.with(|it| it.as_ref().map(|it| it.said.clone()));
    let kind = Kind {
        id: "slack-table",
        label: "Slack of the tiles of the phase",
        is_main: false,
    };
    let clear = move |_| app.change_view(|view| view.panels.phase = None);
    view! {
        <div data-testid="slack" data-state=state>
            <div class="controls">
                <output data-testid="pressed-phase">{said}</output>
                <button type="button" data-testid="phase-clear" on:click=clear>"Clear"</button>
            </div>
            <DataTable kind clock list=part(answer, |it| it.tiles.clone())/>
        </div>
    }
}

/// Says where the picture is on another clock than the timeline.
#[component]
fn OtherClock() -> impl IntoView {
    let app = use_app();
    let said = Memo::new(move |_| waterfall::on_other_clock(app.view.with(|view| view.clock)));
    let note = |said: String| view! { <p class="note" data-testid="waterfall-clock">{said}</p> };
    view! { {move || said.get().map(note)} }
}

/// The picture of the phases in view; pressing one brings it closer.
#[component]
fn Waterfall(
    /// The clock of the answer.
    clock: Signal<ClockKind>,
) -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let Stage { host, canvas, size } = Stage::new();
    let pointed = RwSignal::new(None::<usize>);
    let bars = part(app.panels.phases, |it| it.bars.clone());
    let pressed = move |bars: &[PhaseBar]| {
        let is_it = |it: &PhaseBar| bars.iter().position(|bar| bar.name == it.name);
        derived.phase.with(|it| it.as_ref().and_then(is_it))
    };
    let shown = Memo::new(move |_| {
        let view = derived.viewport.get()?;
        let run = app
            .load
            .with(|load| Some(load.summary()?.run(clock.get())))?;
        waterfall::shown(clock.get(), app.view.with(|it| it.clock), &view, run)
    });
    let scene = move || {
        let (viewport, bars) = (shown.get()?, bars.get()?);
        Some(derived.hues.with(|hues| {
            waterfall::scene(&WaterfallView {
                size: size.get(),
                viewport: &viewport,
                bars: &bars,
                pointed: pointed.get().or_else(|| pressed(&bars)),
                hues,
                theme: app.theme.get(),
            })
        }))
    };
    keep_painted(canvas, size, scene);
    let at = move |event: &web_sys::PointerEvent| -> Option<usize> {
        let (viewport, bars) = (shown.get_untracked()?, bars.get_untracked()?);
        let size = size.get_untracked();
        Rows::new(&bars, &viewport, size).phase_at(size, place(event).1)
    };
    let of = move |at: usize| -> Option<PhaseBar> {
        bars.with_untracked(|bars: &Option<Arc<Vec<PhaseBar>>>| bars.as_ref()?.get(at).cloned())
    };
    let said = move || match pointed.get().and_then(of) {
        Some(bar) => bar.said,
        None => "one row a phase in view; its parts are sums, in the order of a superstep; a dark \
                 line is the time from the first arrival to the last; press to bring a phase closer"
            .to_owned(),
    };
    let press = move |event| {
        if let Some(bar) = at(&event).and_then(of) {
            go_to(app, clock.get_untracked(), &bar);
        }
    };
    let legend = move || waterfall::legend(app.theme.get().palette());
    view! {
        <div class="picture" node_ref=host role="img" data-testid="waterfall"
            aria-label="Phases in view, one below the other over time. The table below has the \
                        same figures."
            on:pointermove=move |event| pointed.set(at(&event))
            on:pointerleave=move |_| pointed.set(None)
            on:pointerup=press>
            <canvas node_ref=canvas data-testid="waterfall-canvas"></canvas>
        </div>
        <output class="range said" data-testid="waterfall-said">{said}</output>
        <Swatches id="waterfall-legend" label="Colours of the phases" entries=legend/>
    }
}
