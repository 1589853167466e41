//! The open profiles side by side, where there are several.

use leptos::prelude::*;

use crate::state::actions::use_app;
use crate::state::tabs::Tab;

/// A button for each open profile.
#[component]
pub(crate) fn TabBar() -> impl IntoView {
    let app = use_app();
    let several = Memo::new(move |_| app.tabs.list.with(|list| list.len() > 1));
    let tabs = move || app.tabs.list.get();
    // A tab with another name is drawn anew.
    let key = Tab::clone;
    view! {
        <Show when=move || several.get()>
            <nav class="profiles" aria-label="Open profiles" data-testid="profiles">
                <For each=tabs key=key children=|tab| view! { <OneTab tab/> }/>
            </nav>
        </Show>
    }
}

#[component]
fn OneTab(
    /// What the tab says.
    tab: Tab,
) -> impl IntoView {
    let app = use_app();
    let Tab { id, name, state } = tab;
    let is_shown = move || app.tabs.shown.get() == id;
    let name = if name.is_empty() {
        "new".to_owned()
    } else {
        name
    };
    let close = format!("Close {name}");
    view! {
        <span class="profile" class:shown=is_shown data-testid="profile" data-state=state>
            <button type="button" title=name.clone() aria-current=move || is_shown().to_string()
                on:click=move |_| app.show_tab(id)>{name.clone()}</button>
            <button type="button" class="close" aria-label=close
                on:click=move |_| app.close_tab(id)>"×"</button>
        </span>
    }
}
