//! The part of the page below the timeline: figures of the whole run, of the part in view, or the
//! chip as a map.

use leptos::prelude::*;

use super::chip_map::ChipMap;
use super::compare::Compare;
use super::exchange::Exchange;
use super::in_view::InView;
use super::kernel_table::KernelTable;
use super::memory::Memory;
use super::phases::Phases;
use super::plots::Plots;
use crate::state::actions::use_app;
use crate::state::load::LoadState;
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
    let is_open = Memo::new(move |_| app.load.with(LoadState::has_profile));
    // The first one is there before a profile is; the others are made anew for each.
    let shown = Memo::new(move |_| {
        let chosen = chosen.get();
        (chosen == Lower::Figures || is_open.get()).then_some(chosen)
    });
    let panel = move || match shown.get() {
        None => ().into_any(),
        Some(Lower::Figures) => view! { <KernelTable/> }.into_any(),
        Some(Lower::InView) => view! { <InView/> }.into_any(),
        Some(Lower::Chip) => view! { <ChipMap/> }.into_any(),
        Some(Lower::Phases) => view! { <Phases/> }.into_any(),
        Some(Lower::Exchange) => view! { <Exchange/> }.into_any(),
        Some(Lower::Compare) => view! { <Compare/> }.into_any(),
        Some(Lower::Plots) => view! { <Plots/> }.into_any(),
        Some(Lower::Memory) => view! { <Memory/> }.into_any(),
    };
    open_what_links_name();
    view! {
        <nav class="tabs" aria-label="Below the timeline">{Lower::ALL.map(tab)}</nav>
        {panel}
    }
}

/// A link names what is to be opened beside the profile, and so do back and forward.
fn open_what_links_name() {
    let app = use_app();
    let wanted = Memo::new(move |_| {
        app.view
            .with(|view| (view.panels.compare.clone(), view.panels.package.clone()))
    });
    Effect::new(move |_| {
        // Two tabs may name the same addresses, and each opens them for itself.
        app.turn.track();
        let (compare, package) = wanted.get();
        if app.load.with_untracked(|load| !load.has_profile()) {
            return;
        }
        if let Some(address) = compare {
            app.open_other_place(&address);
        }
        if let Some(address) = package {
            app.open_package_place(&address);
        }
    });
}
