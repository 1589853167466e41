//! Which colour means what.

use leptos::prelude::*;

use crate::state::actions::use_app;
use crate::state::derived::use_derived;

/// Kernels named in the legend; the table names them all.
const KERNELS_MAX: usize = 12;

/// Kinds and the largest kernels with their colours.
#[component]
pub(crate) fn Legend() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let kinds = move || {
        let palette = app.theme.get().palette();
        [
            ("exchange", palette.exchange),
            ("synchronization", palette.synchronization),
            ("idle", palette.idle),
            ("nothing recorded", palette.nothing),
        ]
    };
    let all = move || {
        app.load
            .with(|load| load.summary().map_or(0, |it| it.kernels.len()))
    };
    let kernels = move || {
        let theme = app.theme.get();
        let names = app.load.with(|load| {
            let kernels = load
                .summary()
                .map(|it| it.kernels.clone())
                .unwrap_or_default();
            kernels.into_iter().take(KERNELS_MAX).collect::<Vec<_>>()
        });
        derived.hues.with(|hues| {
            names
                .into_iter()
                .map(|(_, name)| (hues.colour(&name, theme).css(), name))
                .collect::<Vec<_>>()
        })
    };
    let has_more = move || all() > KERNELS_MAX;
    view! {
        <ul class="legend" aria-label="Colours">
            {move || kernels().into_iter().map(|(colour, name)| view! {
                <li><i style:background-color=colour></i>{name}</li>
            }).collect_view()}
            <Show when=has_more>
                <li>{move || format!("and {} more kernels", all() - KERNELS_MAX)}</li>
            </Show>
            {move || kinds().map(|(name, colour)| view! {
                <li><i style:background-color=colour.css()></i>{name}</li>
            }).collect_view()}
            <li class="hint">
                "Ctrl + wheel or W S zooms · drag or A D pans · Shift + drag selects"
            </li>
        </ul>
    }
}
