//! The part of the page below the timeline: figures of the whole run, of the part in view, or the
//! chip as a map.

use leptos::prelude::*;

use super::chip_map::ChipMap;
use super::in_view::InView;
use super::kernel_table::KernelTable;
use crate::state::actions::use_app;
use crate::state::view::Lower;

/// The choice and what was chosen.
#[component]
pub(crate) fn LowerPanel() -> impl IntoView {
    let app = use_app();
    let chosen = Memo::new(move |_| app.view.with(|view| view.lower));
    let tab = move |it: Lower| {
        let press = move |_| app.change_view(|view| view.lower = it);
        view! {
            <button type="button" aria-pressed=move || (chosen.get() == it).to_string()
                data-testid=format!("show-{}", it.name()) title=it.meaning() on:click=press>
                {it.heading()}
            </button>
        }
    };
    let panel = move || match chosen.get() {
        Lower::Figures => view! { <KernelTable/> }.into_any(),
        Lower::InView => view! { <InView/> }.into_any(),
        Lower::Chip => view! { <ChipMap/> }.into_any(),
    };
    view! {
        <nav class="tabs" aria-label="Below the timeline">{Lower::ALL.map(tab)}</nav>
        {panel}
    }
}
