//! The open profiles side by side, where there are several.

use leptos::prelude::*;

use crate::state::actions::use_app;
use crate::state::tabs::TabId;

/// A button for each open profile.
#[component]
pub(crate) fn TabBar() -> impl IntoView {
    let app = use_app();
    let several = Memo::new(move |_| app.tabs.list.with(|list| list.len() > 1));
    let tabs = move || {
        app.tabs
            .list
            .with(|list| list.iter().map(|it| it.id).collect::<Vec<_>>())
    };
    view! {
        <Show when=move || several.get()>
            <nav class="profiles" aria-label="Open profiles" data-testid="profiles">
                <For each=tabs key=|id| *id children=|id| view! { <OneTab id/> }/>
            </nav>
        </Show>
    }
}

#[component]
fn OneTab(
    /// Which one.
    id: TabId,
) -> impl IntoView {
    let app = use_app();
    let is_shown = move || app.tabs.shown.get() == id;
    let tab = Memo::new(move |_| {
        let found = app
            .tabs
            .list
            .with(|list| list.iter().find(|it| it.id == id).cloned());
        found.map_or_else(Default::default, |it| (it.name, it.state))
    });
    let name = move || match tab.get().0 {
        name if name.is_empty() => "new".to_owned(),
        name => name,
    };
    let state = move || tab.get().1;
    view! {
        <span class="profile" class:shown=is_shown data-testid="profile" data-state=state>
            <button type="button" title=name aria-current=move || is_shown().to_string()
                on:click=move |_| app.show_tab(id)>{name}</button>
            <button type="button" class="close" aria-label=move || format!("Close {}", name())
                on:click=move |_| app.close_tab(id)>"×"</button>
        </span>
    }
}
