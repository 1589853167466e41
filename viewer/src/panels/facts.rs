//! What is said about a whole panel: figures in one line, and warnings.

use leptos::prelude::*;

use crate::engine::protocol::Fact;

/// Figures in one line.
#[component]
pub(super) fn Facts(
    /// Name for tests.
    id: &'static str,
    /// The figures in reading order.
    #[prop(into)]
    facts: Signal<Vec<Fact>>,
) -> impl IntoView {
    let one = move |fact: Fact| {
        view! {
            <div>
                <dt>{fact.label}</dt>
                <dd data-testid=format!("{id}-{}", fact.id)>{fact.text}</dd>
            </div>
        }
    };
    view! { <dl class="facts">{move || facts.get().into_iter().map(one).collect_view()}</dl> }
}

/// What to know before trusting the figures.
#[component]
pub(super) fn Warnings(
    /// One a line.
    #[prop(into)]
    warnings: Signal<Vec<String>>,
) -> impl IntoView {
    let one = |warning: String| view! { <p class="note" data-testid="warning">{warning}</p> };
    view! { {move || warnings.get().into_iter().map(one).collect_view()} }
}
