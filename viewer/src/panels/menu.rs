//! A menu of one choice that the view holds.

use leptos::children::Children;
use leptos::prelude::*;

use crate::state::actions::{App, use_app};
use crate::state::view::ViewState;

/// Name in links, and what the menu says.
pub(super) type MenuItem = (&'static str, &'static str);

/// The menu.
#[component]
pub(super) fn Menu(
    /// Name for tests.
    id: &'static str,
    /// What stands before it.
    label: &'static str,
    /// What is chosen, in a few more words.
    #[prop(optional)]
    title: Option<&'static str>,
    /// What there is to choose.
    items: Vec<MenuItem>,
    /// The name of the chosen item.
    chosen: fn(&ViewState) -> &'static str,
    /// Chooses the item with a name.
    choose: fn(App, &str),
    /// Items that only the open profile has.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let app = use_app();
    let item = |(name, said): MenuItem| {
        let is_chosen = move || app.view.with(|view| chosen(view) == name);
        view! { <option value=name prop:selected=is_chosen>{said}</option> }
    };
    view! {
        <label class="choice" title=title>{label}
            <select data-testid=id on:change=move |event| choose(app, &event_target_value(&event))>
                {items.into_iter().map(item).collect_view()}
                {children.map(|children| children())}
            </select>
        </label>
    }
    .into_any()
}
