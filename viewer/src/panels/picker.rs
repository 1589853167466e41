//! The ways to what is opened beside the profile: a file of this computer, an address, and what the
//! server of this page publishes.

use leptos::html;
use leptos::prelude::*;
use web_sys::{File, SubmitEvent};

use crate::browser;
use crate::load::shared_list::SharedOffers;
use crate::state::actions::{App, use_app};

/// What is picked.
#[derive(Clone, Copy)]
pub(super) struct Picked {
    /// Name for tests.
    pub(super) id: &'static str,
    /// On the button for files.
    pub(super) label: &'static str,
    /// On the button for addresses.
    pub(super) verb: &'static str,
    /// Whether it is a package.
    pub(super) is_package: bool,
    /// Takes a file of this computer.
    pub(super) take_file: fn(App, &File),
    /// Takes an address.
    pub(super) take_address: fn(App, String),
}

/// A button for files and a field for addresses.
#[component]
pub(super) fn Picker(
    /// What is picked.
    picked: Picked,
) -> impl IntoView {
    let app = use_app();
    let input = NodeRef::<html::Input>::new();
    let text = RwSignal::new(String::new());
    let is_asked = RwSignal::new(false);
    let pick = move |_| {
        let Some(input) = input.get_untracked() else {
            return;
        };
        if let Some(file) = input.files().and_then(|files| files.get(0)) {
            (picked.take_file)(app, &file);
        }
        // Picking the same file again opens it again.
        input.set_value("");
    };
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        let address = text.get_untracked().trim().to_owned();
        if !address.is_empty() {
            (picked.take_address)(app, address);
        }
    };
    let Picked { id, is_package, .. } = picked;
    let offers = if is_package {
        "package-offers"
    } else {
        "profile-offers"
    };
    view! {
        <label class="button">{picked.label}
            <input type="file" class="hidden" data-testid=format!("{id}-input") node_ref=input
                aria-label=format!("{} of this computer", picked.label) on:change=pick/>
        </label>
        <Show when=|| !browser::is_embedded()>
            <form class="address" on:submit=submit>
                <input type="text" inputmode="url" placeholder="or its address"
                    aria-label=format!("{}: its address", picked.label)
                    data-testid=format!("{id}-url") list=offers autocomplete="off"
                    on:focus=move |_| is_asked.set(true) bind:value=text/>
                <SharedOffers id=offers is_package asked=is_asked/>
                <button type="submit">{picked.verb}</button>
            </form>
        </Show>
    }
}
