//! A panel's question, asked again whenever it changes.

use std::sync::Arc;

use leptos::prelude::*;

use crate::browser;
use crate::engine::panel::PanelAsked;
use crate::engine::protocol::{Request, Summary};
use crate::state::actions::use_app;

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
    let asked = Memo::new(move |_| app.load.with(|it| it.summary().is_some()).then(&asked)?);
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

/// The command behind a question about the open profile; `None` without either.
pub(super) fn command_of<Asked: 'static>(
    asked: impl Fn() -> Option<Asked> + Send + Sync + 'static,
    command: fn(&Asked, &Summary) -> String,
) -> Memo<Option<String>> {
    let app = use_app();
    Memo::new(move |_| {
        let asked = asked()?;
        app.load
            .with(|it| it.summary().map(|summary| command(&asked, summary)))
    })
}

/// The command behind a question about the open package, likewise.
pub(super) fn command_of_package<Asked: 'static>(
    asked: impl Fn() -> Option<Asked> + Send + Sync + 'static,
    command: fn(&Asked, &str) -> String,
) -> Memo<Option<String>> {
    let package = use_app().panels.package;
    Memo::new(move |_| {
        let asked = asked()?;
        package.with(|it| it.ready().map(|(_, of)| command(&asked, &of.name)))
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
    /// The command after `ipu-stack`.
    command: Memo<Option<String>>,
) -> impl IntoView {
    let app = use_app();
    let copy_json = move |_| {
        if let Some(asked) = asked.get_untracked() {
            app.ask(asked);
        }
    };
    view! {
        <CopyCommand id command/>
        <button type="button" class="quiet" data-testid=format!("{id}-answer")
            disabled=move || asked.with(Option::is_none)
            title="Copy the whole answer as JSON" on:click=copy_json>"Copy answer as JSON"</button>
    }
}

/// Copies the command that prints the panel's answer.
#[component]
pub(super) fn CopyCommand(
    /// Name for tests.
    id: &'static str,
    /// The command after `ipu-stack`.
    command: Memo<Option<String>>,
) -> impl IntoView {
    let copied = RwSignal::new(false);
    Effect::new(move |_| {
        command.track();
        copied.set(false);
    });
    let copy_command = move |_| {
        if let Some(text) = command.get_untracked() {
            browser::copy(&format!("ipu-stack {text}"));
            copied.set(true);
        }
    };
    view! {
        <Show when=move || command.with(Option::is_some)>
            <button type="button" class="quiet" data-testid=format!("{id}-command")
                title="Copy the command that prints the same as JSON" on:click=copy_command>
                {move || if copied.get() { "Copied" } else { "Copy as command" }}
            </button>
        </Show>
    }
}
