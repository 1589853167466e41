//! What went wrong, verbatim, once.

use leptos::prelude::*;

use crate::engine::cause::Failure;
use crate::load::place::is_package_name;
use crate::state::actions::use_app;
use crate::state::load::LoadState;

/// The failure of opening, or of a later question.
#[component]
pub(crate) fn Banner() -> impl IntoView {
    let app = use_app();
    let shown = move || -> Option<(Option<String>, Failure)> {
        let opening = app.load.with(|load| match load {
            LoadState::Failed { name, failure } => Some((Some(name.clone()), failure.clone())),
            _ => None,
        });
        opening.or_else(|| app.trouble.get().map(|failure| (None, failure)))
    };
    view! {
        {move || shown().map(|(name, failure)| view! {
            <div class="banner" role="alert" data-testid="error-banner"
                data-cause=failure.cause.name()>
                <strong>{failure.cause.heading(what(name.as_deref()))}</strong>
                {name.map(|name| view! { <span class="which">{name}</span> })}
                <p data-testid="error-message">{failure.message}</p>
            </div>
        })}
    }
}

/// What a file was to be, by its name.
fn what(name: Option<&str>) -> &'static str {
    match name {
        Some(name) if is_package_name(name) => "package",
        _ => "profile",
    }
}

/// A file that is not the one the link was made from.
#[component]
pub(crate) fn OtherFile() -> impl IntoView {
    let app = use_app();
    let differs = move || {
        app.wanted_sha
            .get()
            .zip(app.sha.get())
            .is_some_and(|(a, b)| a != b)
    };
    view! {
        <Show when=differs>
            <div class="banner mild" role="status" data-testid="other-file">
                <strong>"Another file"</strong>
                <p>
                    "The link was made from the file with SHA-256 "
                    <code>{move || app.wanted_sha.get()}</code>
                    ". This one has another content, so the view may not fit."
                </p>
            </div>
        </Show>
    }
}
