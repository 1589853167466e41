//! Compare: this profile against another one, in a table, on a map of the chip, and under one
//! cursor.

use leptos::prelude::*;

use super::asked::{CopyAnswer, keep_asked, of, part};
use super::beside::Beside;
use super::change_map::ChangeMap;
use super::data_table::{DataTable, Kind};
use super::facts::{Facts, Warnings};
use super::menu::Menu;
use super::picker::{Picked, Picker};
use crate::browser;
use crate::engine::compare::CompareAsked;
use crate::engine::panel::PanelAsked;
use crate::engine::protocol::Request;
use crate::load::place::{OnDisk, Part, Place};
use crate::state::actions::{App, use_app};
use crate::state::answers::Beside as State;
use crate::state::panels::Pairs;

/// The panel.
#[component]
pub(crate) fn Compare() -> impl IntoView {
    let app = use_app();
    let state = Memo::new(move |_| app.panels.other.with(State::name));
    let body = move || match state.get() {
        "ready" => view! { <Differences/> }.into_any(),
        "loading" => {
            view! { <p class="note" role="status">"Opening the other profile…"</p> }.into_any()
        }
        "failed" => view! { <Failed/> }.into_any(),
        _ => view! {
            <p class="note" data-testid="compare-hint">
                "Drop a profile here, pick one or paste its address. It is taken as the run \
                 before, the open profile as the run after, until you swap them."
            </p>
        }
        .into_any(),
    };
    // Without a second profile there is nothing to wait for.
    let settled = move || {
        if state.get() == "loading" {
            "pending"
        } else {
            "ready"
        }
    };
    let panel = move || (state.get() != "ready").then_some("");
    let is_local =
        move || state.get() == "ready" && app.view.with(|view| view.panels.compare.is_none());
    view! {
        <section class="figures" data-testid="compare" data-drop="beside" aria-label="Compare"
            data-panel=panel data-state=settled data-other=move || state.get()>
            <div class="controls">
                <h2>"Compared with another profile"</h2>
                <Picker picked=PICKED/>
                <span class="range" data-testid="other-name">{move || name_of_other()}</span>
                <Show when=is_local>
                    <span class="hint">"of this computer: a link leaves it out"</span>
                </Show>
            </div>
            {body}
        </section>
    }
}

fn name_of_other() -> String {
    use_app().panels.other.with(|other| match other {
        State::Nothing => String::new(),
        State::Loading { name } | State::Failed { name, .. } => name.clone(),
        State::Ready { summary, .. } => summary.name.clone(),
    })
}

#[component]
fn Failed() -> impl IntoView {
    let app = use_app();
    let said = move || app.panels.other.with(|it| it.trouble("profile"));
    view! { <p class="note" role="alert" data-testid="compare-failed">{said}</p> }
}

/// The ways to a second profile.
const PICKED: Picked = Picked {
    id: "other",
    label: "Choose profile",
    verb: "Compare",
    is_package: false,
    take_file: App::open_other_file,
    take_address: |app, address| {
        app.change_view(|view| view.panels.compare_with(Some(address.clone())));
        // The same one again, where it failed before.
        app.open_other_place(&address);
    },
};

/// Everything there is to say once both are open.
#[component]
fn Differences() -> impl IntoView {
    let app = use_app();
    let answer = app.panels.compare;
    let asked = move || {
        let other = app.panels.other.with(|it| it.ready().map(|it| it.0))?;
        Some(app.view.with(|view| CompareAsked {
            other,
            clock: view.clock,
            pairs: view.panels.pairs,
            force: view.panels.force,
            swapped: view.panels.swapped,
        }))
    };
    let answered = move || answer.with(|it| it.as_ref().map(|it| it.asked.clone()));
    let state = keep_asked(asked, PanelAsked::Compare, answered);
    let refusal = move || answer.with(|it| it.as_ref().and_then(|it| it.refusal.clone()));
    // Nothing was compared then, and the command would say why.
    let accepted = move || asked().filter(|_| refusal().is_none());
    let question = move || Some(Request::PanelJson(PanelAsked::Compare(accepted()?)));
    let question = Signal::derive(question);
    let command = Memo::new(move |_| command(app, &accepted()?));
    let facts = of(answer, |it| it.facts.clone());
    let warnings = of(answer, |it| it.warnings.clone());
    // Pressing a row that both have lays its two starts over each other.
    let pressed = Callback::new(move |at: usize| {
        let starts = answer.with_untracked(|it| {
            let it = it.as_ref()?;
            let by_place = matches!(it.asked.pairs, Pairs::Phase | Pairs::Operation);
            it.starts.get(at).copied().filter(|_| by_place)
        });
        if let Some((here, there)) = starts {
            app.change_view(|view| view.panels.aligned = here.zip(there));
        }
    });
    // Of the rows that are shown, which a newer choice may not have changed yet.
    let clock = move || answer.with(|it| it.as_ref().map(|it| it.asked.clock));
    let clock = Signal::derive(move || clock().unwrap_or_default());
    let kind = Kind {
        id: "compare-table",
        label: "Differences",
        is_main: true,
    };
    view! {
        <div data-panel data-testid="differences" data-state=state>
            <div class="controls">
                <Choices/>
                <CopyAnswer id="compare" asked=question command/>
            </div>
            {move || refusal().map(|refusal| view! {
                <p class="note" role="alert" data-testid="compare-refusal">
                    {refusal} ": record both alike, or "
                    <button type="button" data-testid="compare-force"
                        on:click=move |_| app.change_view(|view| view.panels.force = true)>
                        "Compare all the same"
                    </button>
                </p>
            })}
            <Facts id="compare" facts/>
            <Warnings warnings/>
            <Beside/>
            <Show when=move || refusal().is_none()>
                <DataTable kind clock list=part(answer, |it| it.changes.clone()) on_press=pressed/>
                <ChangeMap/>
            </Show>
        </div>
    }
}

/// What a row stands for, and which run is the one before.
#[component]
fn Choices() -> impl IntoView {
    let app = use_app();
    view! {
        <Menu id="pairs" label="Differences by"
            items=Pairs::ALL.map(|it| (it.name(), it.name())).to_vec()
            chosen=|view| view.panels.pairs.name()
            choose=|app, name| app.change_view(|view| {
                view.panels.pairs = Pairs::from_name(name).unwrap_or_default();
                view.panels.order = None;
            })/>
        <button type="button" data-testid="swap"
            title="Take the open profile as the run before, or as the run after again"
            on:click=move |_| app.change_view(|view| {
                view.panels.swapped = !view.panels.swapped;
            })>
            "Swap before and after"
        </button>
    }
}

/// The second profile as commands find it.
fn other_on_disk(app: App) -> OnDisk {
    let address = app.view.with(|view| view.panels.compare.clone());
    let place = match address {
        Some(address) => Place::from_url(&address, &browser::origin()),
        None => Place::Landing,
    };
    place.on_disk(&name_of_other(), Part::Before, browser::absolute)
}

/// The command that prints the same.
fn command(app: App, asked: &CompareAsked) -> Option<String> {
    let (here, other) = (app.on_disk()?, other_on_disk(app));
    // Two files of one name are in two folders, which a page is not told.
    if other.file == here.file {
        return None;
    }
    let force = if asked.force { " --force" } else { "" };
    let clock = asked.clock.name();
    let (before, after) = match asked.swapped {
        true => (&here.file, &other.file),
        false => (&other.file, &here.file),
    };
    let words = format!("profile-diff {before} {after} --clock {clock}{force} --limit 0 --json");
    Some(format!("{}{}", other.first, here.command(&words)))
}
