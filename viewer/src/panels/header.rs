//! The bar at the top: what is open, opening something else, link, theme, help.

use leptos::prelude::*;

use super::copy::CopyButton;
use crate::browser::{self, Text};
use crate::panels::landing::FilePicker;
use crate::state::actions::use_app;
use crate::state::load::LoadState;
use crate::theme::Theme;

/// The bar at the top.
#[component]
pub(crate) fn Header() -> impl IntoView {
    let app = use_app();
    let name = move || app.load.with(|load| load.label().to_owned());
    let theme_label = move || match app.theme.get() {
        Theme::Light => "Dark",
        Theme::Dark => "Light",
    };
    view! {
        <header class="bar">
            <a class="brand" href=if browser::is_embedded() { "#" } else { "/" }>
                <span class="mark" aria-hidden="true"></span>
                "ipu-stack"
            </a>
            <h1 class="file" data-testid="file-name" title=name>{name}</h1>
            <div class="actions">
                <FilePicker/>
                <CopyLink/>
                <button type="button" data-testid="theme-toggle"
                    title="Switch between light and dark"
                    on:click=move |_| app.toggle_theme()>{theme_label}</button>
                <button type="button" data-testid="help-toggle" title="Keys and terms (?)"
                    aria-expanded=move || app.help.get().to_string()
                    on:click=move |_| app.help.update(|help| *help = !*help)>"?"</button>
            </div>
        </header>
    }
}

/// Copies the address of what is shown.
#[component]
fn CopyLink() -> impl IntoView {
    let app = use_app();
    let is_open = move || app.load.with(LoadState::has_profile);
    let link = Callback::new(move |()| Some(Text::Here(app.address())));
    // Any other view is another link.
    let of = Signal::derive(move || app.view.track());
    view! {
        <Show when=is_open>
            <CopyButton id="copy-link" label="Copy link" class=""
                title="Copy the address of this view; a local file is named by its hash, not sent"
                text=link of/>
        </Show>
    }
}
