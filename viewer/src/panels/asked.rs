//! A panel's question, asked again whenever it changes.

use std::sync::Arc;

use leptos::prelude::*;

use super::copy::CopyButton;
use crate::browser::Text;
use crate::engine::panel::PanelAsked;
use crate::engine::protocol::Request;
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

/// Copies the panel's answer as JSON, and as the command that prints the same.
#[component]
pub(super) fn CopyAnswer(
    /// Name for tests.
    id: &'static str,
    /// The question behind the panel.
    #[prop(into)]
    asked: Signal<Option<PanelAsked>>,
    /// The command after `ipu-stack`, given the file as a word of it.
    command: fn(&PanelAsked, &str) -> Option<String>,
    /// Commands that bring what else the command reads.
    #[prop(optional, into)]
    first: Signal<String>,
) -> impl IntoView {
    let app = use_app();
    let text = Memo::new(move |_| {
        let disk = app.on_disk()?;
        let words = command(&asked.get()?, &disk.file)?;
        Some(format!("{}{}", first.get(), disk.command(&words)))
    });
    let json = move |()| {
        let request = Request::PanelJson(asked.get_untracked()?);
        Some(Text::Promised(app.ask_json(request)))
    };
    let of = Signal::derive(move || asked.track());
    view! {
        <Show when=move || text.with(Option::is_some)>
            <CopyButton id=format!("{id}-command") label="Copy as command"
                title="Copy the command that prints the same as JSON"
                text=Callback::new(move |()| text.get_untracked().map(Text::Here)) of/>
        </Show>
        <CopyButton id=format!("{id}-answer") label="Copy answer as JSON"
            title="Copy the whole answer as JSON" text=Callback::new(json) of/>
    }
}
