//! The sample under the pointer, in full.

use leptos::prelude::*;

use crate::state::actions::use_app;
use crate::timeline::layout::{Marks, Size};

/// Width that the tooltip may take, in CSS pixels; the style sheet has the same.
const WIDTH: f64 = 330.0;
/// Metadata pairs that are shown before the rest is counted.
const METADATA_MAX: usize = 12;

/// A panel beside the pointer; on the other side of it near the edges.
#[component]
pub(crate) fn Tooltip(
    /// Where the pointer is.
    marks: RwSignal<Marks>,
    /// Size of the plot's canvas.
    size: RwSignal<Size>,
) -> impl IntoView {
    let app = use_app();
    let hit = move || {
        app.hit
            .get()
            .filter(|_| marks.with(|it| it.pointer.is_some()))
    };
    let pointer = move || marks.with(|marks| marks.pointer).unwrap_or_default();
    let is_right = move || pointer().0 + WIDTH + 24.0 > size.get().width;
    let is_low = move || pointer().1 > size.get().height * 0.5;
    let near = |at: f64| format!("{:.0}px", at + 14.0);
    let left = move || {
        if is_right() {
            "auto".to_owned()
        } else {
            near(pointer().0)
        }
    };
    let right = move || {
        if is_right() {
            near((size.get().width - pointer().0).max(0.0))
        } else {
            "auto".to_owned()
        }
    };
    let top = move || {
        if is_low() {
            "auto".to_owned()
        } else {
            near(pointer().1)
        }
    };
    let bottom = move || {
        if is_low() {
            near((size.get().height - pointer().1).max(0.0))
        } else {
            "auto".to_owned()
        }
    };
    view! {
        {move || hit().map(|hit| {
            let more = hit.metadata.len().saturating_sub(METADATA_MAX);
            view! {
                <div class="tooltip" data-testid="tooltip" data-kind=hit.kind.clone()
                    style:left=left style:right=right style:top=top style:bottom=bottom>
                    <strong>{hit.heading.clone()}</strong>
                    <dl>
                        {hit.facts.iter().map(|fact| view! {
                            <dt>{fact.label.clone()}</dt>
                            <dd data-testid=format!("tooltip-{}", fact.id)>{fact.text.clone()}</dd>
                        }).collect_view()}
                        {hit.metadata.iter().take(METADATA_MAX).map(|(name, value)| view! {
                            <dt class="meta">{name.clone()}</dt>
                            <dd class="meta">{value.clone()}</dd>
                        }).collect_view()}
                    </dl>
                    {(more > 0).then(|| view! { <p>{format!("and {more} more metadata")}</p> })}
                </div>
            }
        })}
    }
}
