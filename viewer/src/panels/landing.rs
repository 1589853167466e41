//! The first page, and the ways to open a file.

use leptos::html;
use leptos::prelude::*;
use web_sys::SubmitEvent;

use crate::browser;
use crate::load::recent_list::RecentFiles;
use crate::load::shared_list::SharedFiles;
use crate::state::actions::use_app;
use crate::state::load::LoadState;

/// What is shown without a profile.
#[component]
pub(crate) fn Landing() -> impl IntoView {
    let app = use_app();
    let wanted = move || app.wanted_sha.get();
    view! {
        <section class="landing" data-testid="landing">
            <h2>"Where every cycle of every tile went"</h2>
            <p class="lead">
                "Drop an "<code>".ipuprofile"</code>" anywhere on this page."
            </p>
            <Show when=move || wanted().is_some()>
                <p class="note" data-testid="wanted-file">
                    "This link was made from a file on somebody's computer. "
                    "Open the file with SHA-256 "
                    <code>{move || wanted().unwrap_or_default()}</code>
                    " to see the same view."
                </p>
            </Show>
            <div class="ways">
                <FilePicker/>
                <Show when=|| !browser::is_embedded()>
                    <OpenAddress/>
                </Show>
            </div>
            <p class="privacy" data-testid="privacy">
                "Your profile is decoded inside this browser tab and is never sent anywhere."
            </p>
            <Show when=|| !browser::is_embedded()>
                <SharedFiles/>
                <RecentFiles/>
            </Show>
        </section>
    }
}

/// Opens a file of this computer.
#[component]
pub(crate) fn FilePicker() -> impl IntoView {
    let app = use_app();
    let input = NodeRef::<html::Input>::new();
    let picked = move |_| {
        let Some(input) = input.get_untracked() else {
            return;
        };
        if let Some(files) = input.files() {
            app.open_files(&files);
        }
        // Picking the same file again opens it again.
        input.set_value("");
    };
    view! {
        <label class="button primary">
            "Open file"
            <input type="file" multiple class="hidden" data-testid="file-input" node_ref=input
                aria-label="Open a profile of this computer" on:change=picked/>
        </label>
    }
}

/// Opens an address.
#[component]
fn OpenAddress() -> impl IntoView {
    let app = use_app();
    let text = RwSignal::new(String::new());
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        let url = text.get_untracked();
        let url = url.trim();
        if !url.is_empty() {
            app.open_address(url);
        }
    };
    view! {
        <form class="address" on:submit=submit>
            <input type="text" inputmode="url" placeholder="or paste the address of a profile"
                aria-label="Address of a profile" data-testid="url-input"
                bind:value=text/>
            <button type="submit">"Open"</button>
        </form>
    }
}

/// How far opening is.
#[component]
pub(crate) fn Loading() -> impl IntoView {
    let app = use_app();
    let progress = move || {
        app.load.with(|load| match load {
            LoadState::Loading { name, progress } => (name.clone(), *progress),
            _ => Default::default(),
        })
    };
    let part = move || progress().1.part();
    let said = move || progress().1.text();
    view! {
        <section class="landing" data-testid="loading">
            <p class="lead" role="status">"Opening "<strong>{move || progress().0}</strong></p>
            <progress max="1" prop:value=part aria-label="Bytes read"></progress>
            <p class="note">{said}</p>
            <button type="button" data-testid="cancel" on:click=move |_| app.close()>
                "Cancel"
            </button>
        </section>
    }
}
