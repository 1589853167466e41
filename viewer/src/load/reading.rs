//! How far reading the samples of the open profile is, with the way to stop it and to go on.

use leptos::prelude::*;

use crate::state::actions::use_app;

/// A line at the lower edge of the window, while samples are missing.
#[component]
pub(crate) fn Reading() -> impl IntoView {
    let app = use_app();
    let progress = move || app.reading.get().unwrap_or_default();
    let goes_on = Memo::new(move |_| progress().goes_on);
    let is_shown = Memo::new(move |_| app.reading.with(Option::is_some));
    let state = move || if goes_on.get() { "reading" } else { "resting" };
    let said = move || match goes_on.get() {
        true => format!("Reading samples: {}", progress().text()),
        false => format!(
            "Overview and sums of the file; details are read where you zoom in. {} here.",
            progress().text()
        ),
    };
    let label = move || match goes_on.get() {
        true => "Stop",
        false => "Read all samples",
    };
    view! {
        <Show when=move || is_shown.get()>
            <aside class="reading" data-testid="reading" data-state=state>
                <progress max="1" prop:value=move || progress().part()
                    aria-label="Part of the samples that was read"></progress>
                <span data-testid="reading-text">{said}</span>
                <button type="button" data-testid="reading-toggle"
                    on:click=move |_| app.read_all(!goes_on.get_untracked())>{label}</button>
            </aside>
        </Show>
    }
}
