//! What the selected part of tiles × time was spent on, whatever is in view.

use analytics::text;
use analytics::units::Cycles;
use leptos::prelude::*;

use super::pointer::show;
use super::viewport::Viewport;
use crate::engine::protocol::Request;
use crate::engine::spent::{SpentAsked, Told};
use crate::panels::data_table::Kind;
use crate::panels::spent::{CopySpent, SpentTable};
use crate::state::actions::use_app;
use crate::state::derived::use_derived;
use crate::state::view::Metric;

/// The figures of the selection, where there is one.
#[component]
pub(crate) fn Selected() -> impl IntoView {
    let app = use_app();
    let is_some = Memo::new(move |_| app.view.with(|view| view.selection.is_some()));
    view! { <Show when=move || is_some.get()><Figures/></Show> }
}

/// Cycles, time and tiles of a part.
fn extent(part: &Viewport, clock_hz: u64) -> String {
    let length = Cycles::new(part.span.len());
    format!(
        "{} – {} · {} cycles · {} · {} tiles",
        text::count(part.span.from),
        text::count(part.span.to),
        text::cycles(length),
        text::time(length, clock_hz),
        text::count(u64::from(part.tiles.end - part.tiles.start)),
    )
}

#[component]
fn Figures() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let part = derived.selected;
    let asked = Memo::new(move |_| {
        let (clock, part) = (app.view.with(|view| view.clock), part.get()?);
        Some(SpentAsked {
            clock,
            from: part.span.from,
            to: part.span.to,
            tile_from: part.tiles.start,
            tile_to: part.tiles.end,
            focus: None,
            metric: Metric::Compute,
        })
    });
    Effect::new(move |_| {
        if let Some(asked) = asked.get() {
            app.ask(Request::Selected(asked));
        }
    });
    let state = move || {
        let answered = app.selected.with(|it| it.as_ref().map(|it| it.asked));
        match answered == asked.get() {
            true => "ready",
            false => "pending",
        }
    };
    let said = move || {
        let clock_hz = app.load.with(|load| load.summary().map(|it| it.clock_hz))?;
        Some(extent(&part.get()?, clock_hz))
    };
    let kind = Kind {
        id: "selection-table",
        label: "Figures of the selection",
        is_main: false,
    };
    let zoom = move |_| {
        if let Some(part) = part.get_untracked() {
            show(app, &part);
        }
    };
    view! {
        <section class="selected" data-testid="selection" data-state=state
            aria-label="Figures of the selection">
            <div class="controls">
                <h3>"Selection"</h3>
                <output class="range" data-testid="selection-range"
                    title="Work counts where a whole sample is selected">{said}</output>
                <button type="button" data-testid="selection-zoom" on:click=zoom>
                    "Zoom to it"
                </button>
                <button type="button" data-testid="selection-clear"
                    on:click=move |_| app.change_view(|view| view.selection = None)>
                    "Clear"
                </button>
                <CopySpent id="selection" answer=app.selected told=Told::Sums/>
            </div>
            <SpentTable kind answer=app.selected/>
        </section>
    }
}
