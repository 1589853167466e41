//! What the cycles and tiles in view were spent on; follows the timeline.

use leptos::prelude::*;

use super::spent::keep_spent;
use crate::engine::spent::{SpentAsked, SpentRow};
use crate::state::actions::use_app;
use crate::state::derived::use_derived;
use crate::state::view::Metric;

/// Headings of figures of a part, and what they mean.
pub(crate) const HEADINGS: [(&str, &str); 7] = [
    (
        "Kind or kernel",
        "Kinds first, then the kernels that compute in view",
    ),
    (
        "Tile cycles",
        "Cycles inside the view, summed over its tiles",
    ),
    ("Of the view", "Of all cycles × tiles in view"),
    ("Samples", "Samples that touch the view"),
    (
        "Useful efficiency",
        "U/D over samples that are inside whole and have an estimate",
    ),
    (
        "Work cycles (P/D)",
        "P/D over samples that are inside whole and have an estimate",
    ),
    (
        "Coverage",
        "Cycles of samples that are inside whole and have an estimate",
    ),
];

/// A heading of [`HEADINGS`].
pub(crate) fn heading((name, meaning): (&'static str, &'static str)) -> impl IntoView {
    view! { <th scope="col" title=meaning><span>{name}</span></th> }
}

/// The table of the part in view.
#[component]
pub(crate) fn InView() -> impl IntoView {
    let app = use_app();
    let state = keep_spent(move |viewport| SpentAsked {
        clock: app.view.with(|view| view.clock),
        from: viewport.span.from,
        to: viewport.span.to,
        tile_from: viewport.tiles.start,
        tile_to: viewport.tiles.end,
        focus: None,
        metric: Metric::Compute,
    });
    let rows = move || {
        let rows = app.spent.with(|it| it.as_ref().map(|it| it.rows.clone()));
        rows.unwrap_or_default()
    };
    view! {
        <section class="figures" data-testid="in-view" data-panel data-state=state>
            <p class="note">
                "Cycles count as far as they lie in view; work counts of samples inside whole. "
                "Shift + drag on the timeline zooms into a range; Ctrl + drag, or a drag on its \
                 ruler, selects one."
            </p>
            <div class="scroll" tabindex="0" role="region" aria-label="Figures of the view">
                <table>
                    <thead class="plain"><tr>{HEADINGS.map(heading)}</tr></thead>
                    <tbody>{move || rows().into_iter().map(row_view).collect_view()}</tbody>
                </table>
            </div>
        </section>
    }
}

/// A row of figures of a part.
pub(crate) fn row_view(row: SpentRow) -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let SpentRow {
        name,
        is_kernel,
        share,
        cells,
    } = row;
    let kernel = StoredValue::new(is_kernel.then(|| name.clone()));
    let label = name.clone();
    let colour = move || {
        let theme = app.theme.get();
        let kernel = kernel.get_value()?;
        Some(derived.hues.with(|hues| hues.colour(&kernel, theme).css()))
    };
    let press = move |_| {
        if let Some(kernel) = kernel.get_value() {
            app.change_view(|view| view.toggle_kernel(&kernel));
        }
    };
    let is_focused = move || {
        let focused = app.view.with(|view| view.kernel.clone());
        focused.is_some() && focused == kernel.get_value()
    };
    let fill = share.map(|it| format!("{:.1}%", it.clamp(0.0, 1.0) * 100.0));
    let cells = cells.into_iter().enumerate().map(move |(at, text)| {
        let fill = fill.clone().filter(|_| at == 1);
        view! { <td class:share=fill.is_some() style=("--fill", fill)>{text}</td> }
    });
    view! {
        <tr data-testid="in-view-row" data-name=name class:focused=is_focused
            on:click=press>
            <th scope="row"><span class="row-label"><i style:background-color=colour></i>{label}
            </span></th>
            {cells.collect_view()}
        </tr>
    }
}
