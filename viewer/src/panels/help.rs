//! Keys and terms.

use leptos::prelude::*;

use crate::state::actions::use_app;

const KEYS: [(&str, &str); 16] = [
    ("W S, + −", "zoom time at the pointer"),
    ("A D, ← →", "pan time"),
    ("Shift + W S", "zoom tiles at the pointer"),
    ("Shift + ↑ ↓", "pan tiles"),
    (
        "Ctrl or Shift + wheel",
        "zoom time at the pointer; a plain wheel scrolls the page",
    ),
    ("Alt + wheel", "zoom tiles at the pointer"),
    ("pinch", "zoom time between two fingers"),
    ("Z · Shift + Z", "what was in view before · undo that"),
    ("drag", "pan"),
    (
        "Shift + drag",
        "zoom into a range; drawn high, into its tiles too",
    ),
    (
        "drag on the ruler, Ctrl + drag",
        "select a part and see what it was spent on; click the ruler to clear",
    ),
    (
        "[ ]",
        "start · end the selection at the pointer, else at the edge of the view",
    ),
    (
        "click",
        "focus the kernel under the pointer; again to clear",
    ),
    (
        "I",
        "read the sample in the middle of the view, which moves below it; again or Esc to stop",
    ),
    (
        "/",
        "find rows of the table by a part of their name; Esc leaves the field",
    ),
    (
        "0 · Esc · ?",
        "whole run · clear the focus, then the selection · this help",
    ),
];

const TERMS: [(&str, &str); 9] = [
    (
        "D, U, P",
        "measured duration, useful work and physical work of a sample, in issue-cycles",
    ),
    (
        "Useful efficiency U/D",
        "part of the measured time that the mathematics needs",
    ),
    (
        "Work cycles P/D",
        "part of the measured time that the padded shapes need",
    ),
    (
        "Lane occupancy U/P",
        "part of the physical work that is useful",
    ),
    (
        "Coverage",
        "part of the measured cycles that has an estimate; unknown is never zero",
    ),
    (
        "Device useful",
        "useful work over the time in which the row ran × all profiled tiles",
    ),
    (
        "Phase cycles",
        "the longest tile of each phase, summed over phases",
    ),
    (
        "Critical path",
        "what the run waited for: up to each exchange the tile that came last; its parts sum to \
         the run",
    ),
    (
        "Of the run",
        "what a change made of the run: its cycles on the critical path, after minus before",
    ),
];

/// The help, on request.
#[component]
pub(crate) fn Help() -> impl IntoView {
    let app = use_app();
    let list = |pairs: &'static [(&'static str, &'static str)]| {
        let rows = pairs
            .iter()
            .map(|(name, meaning)| view! { <dt>{*name}</dt><dd>{*meaning}</dd> });
        view! { <dl>{rows.collect_view()}</dl> }
    };
    view! {
        <Show when=move || app.help.get()>
            <aside class="help" data-testid="help" aria-label="Help">
                <button type="button" class="close" aria-label="Close the help"
                    on:click=move |_| app.help.set(false)>"×"</button>
                <h2>"Keys"</h2>
                {list(&KEYS)}
                <h2>"Terms"</h2>
                {list(&TERMS)}
            </aside>
        </Show>
    }
}
