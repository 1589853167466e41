//! A panel's question, asked again whenever it changes.

use std::sync::Arc;

use leptos::prelude::*;

use super::copy::CopyButton;
use crate::browser::{self, Text};
use crate::engine::panel::PanelAsked;
use crate::engine::protocol::Request;
use crate::engine::summary::Summary;
use crate::load::place::{Part, Place};
use crate::state::actions::use_app;
use crate::state::load::LoadState;

/// Keeps a question asked while a profile is open, and says for a panel's `data-state` whether the
/// answer on the page is to it.
pub(super) fn keep_asked<Asked>(
    asked: impl Fn() -> Option<Asked> + Send + Sync + 'static,
    request: fn(Asked) -> PanelAsked,
    answered: impl Fn() -> Option<Asked> + Copy + Send + Sync + 'static,
) -> impl Fn() -> &'static str + Copy + Send + Sync
where
    Asked: Clone + PartialEq + Send + Sync + 'static,
{
    let app = use_app();
    let asked = Memo::new(move |_| app.load.with(LoadState::has_profile).then(&asked)?);
    Effect::new(move |_| {
        if let Some(asked) = asked.get() {
            app.ask(Request::Panel(request(asked)));
        }
    });
    move || {
        let asked = asked.get();
        if asked.is_some() && answered() == asked {
            "ready"
        } else {
            "pending"
        }
    }
}

/// What an answer says of one thing; its default without an answer.
pub(super) fn of<A, T>(answer: RwSignal<Option<Arc<A>>>, part: fn(&A) -> T) -> Signal<T>
where
    A: Send + Sync + 'static,
    T: Default + Send + Sync + 'static,
{
    Signal::derive(move || {
        answer
            .with(|it| it.as_ref().map(|it| part(it)))
            .unwrap_or_default()
    })
}

/// A part of an answer, once it is here.
pub(super) fn part<A, T>(
    answer: RwSignal<Option<Arc<A>>>,
    part: fn(&A) -> T,
) -> Memo<Option<Arc<T>>>
where
    A: Send + Sync + 'static,
    T: PartialEq + Send + Sync + 'static,
{
    Memo::new(move |_| answer.with(|it| it.as_ref().map(|it| Arc::new(part(it)))))
}

/// The command behind a question about the open profile, after those that bring its file; `None`
/// without either. `command` is given the file as a word.
pub(super) fn command_of<Asked: 'static>(
    asked: impl Fn() -> Option<Asked> + Send + Sync + 'static,
    command: fn(&Asked, &str, &Summary) -> String,
) -> Memo<Option<String>> {
    let app = use_app();
    Memo::new(move |_| {
        let (asked, disk) = (asked()?, app.on_disk()?);
        app.load.with(|load| {
            let words = command(&asked, &disk.file, load.summary()?);
            Some(disk.command(&words))
        })
    })
}

/// The command behind a question about the open package, likewise.
pub(super) fn command_of_package<Asked: 'static>(
    asked: impl Fn() -> Option<Asked> + Send + Sync + 'static,
    command: fn(&Asked, &str) -> String,
) -> Memo<Option<String>> {
    let app = use_app();
    Memo::new(move |_| {
        let asked = asked()?;
        let name = app
            .panels
            .package
            .with(|it| it.ready().map(|(_, of)| of.name.clone()))?;
        let is_alone = app.load.with(|load| !load.has_profile());
        let place = match app.view.with(|view| view.panels.package.clone()) {
            // What is open without a profile is what the page was asked for.
            _ if is_alone => app.place.get_value(),
            Some(address) => Place::from_url(&address, &browser::origin()),
            None => Place::Landing,
        };
        let disk = place.on_disk(&name, Part::Package, browser::absolute);
        Some(disk.command(&command(&asked, &disk.file)))
    })
}

/// Copies the panel's answer as JSON, and as the command that prints the same.
#[component]
pub(super) fn CopyAnswer(
    /// Name for tests.
    id: &'static str,
    /// The question for the JSON; without one there is nothing to copy.
    #[prop(into)]
    asked: Signal<Option<Request>>,
    /// The command.
    command: Memo<Option<String>>,
) -> impl IntoView {
    let app = use_app();
    let json = move |()| Some(Text::Promised(app.ask_json(asked.get_untracked()?)));
    view! {
        <CopyCommand id command/>
        <CopyButton id=format!("{id}-answer") label="Copy answer as JSON"
            title="Copy the whole answer as JSON" text=Callback::new(json)
            of=Signal::derive(move || asked.with(|_| ()))
            disabled=Signal::derive(move || asked.with(Option::is_none))/>
    }
}

/// The same for one of several answers of a panel, which `label` names.
#[component]
pub(super) fn CopyOneAnswer(
    /// What the answer is.
    label: &'static str,
    /// What is in it.
    title: &'static str,
    /// Name for tests.
    id: &'static str,
    /// The question for the JSON.
    #[prop(into)]
    asked: Signal<Option<Request>>,
    /// The command.
    command: Memo<Option<String>>,
) -> impl IntoView {
    view! {
        <span class="copies" role="group" aria-label=label>
            <span title=title>{label}</span>
            <CopyAnswer id asked command/>
        </span>
    }
}

/// Copies the command that prints the panel's answer.
#[component]
pub(super) fn CopyCommand(
    /// Name for tests.
    id: &'static str,
    /// The command.
    command: Memo<Option<String>>,
) -> impl IntoView {
    let text = move |()| command.get_untracked().map(Text::Here);
    let of = Signal::derive(move || command.with(|_| ()));
    view! {
        <Show when=move || command.with(Option::is_some)>
            <CopyButton id=format!("{id}-command") label="Copy as command"
                title="Copy the command that prints the same as JSON"
                text=Callback::new(text) of/>
        </Show>
    }
}
