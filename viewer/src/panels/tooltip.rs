//! The sample under the pointer, in full.

use leptos::html;
use leptos::prelude::*;

use crate::browser;
use crate::state::actions::use_app;
use crate::timeline::layout::{Marks, Size};

/// Width that the tooltip may take, in CSS pixels; the style sheet has the same.
const WIDTH: f64 = 330.0;
/// Metadata pairs that are shown before the rest is counted.
const METADATA_MAX: usize = 12;

/// A panel beside the pointer; on the other side of it near the right edge.
#[component]
pub(crate) fn Tooltip(
    /// Where the pointer is.
    marks: RwSignal<Marks>,
    /// Size of the plot's canvas.
    size: RwSignal<Size>,
    /// The plot.
    host: NodeRef<html::Div>,
) -> impl IntoView {
    let app = use_app();
    let hit = move || {
        app.hit
            .get()
            .filter(|_| marks.with(|it| it.pointer.is_some()))
    };
    let pointer = move || marks.with(|marks| marks.pointer).unwrap_or_default();
    let is_right = move || pointer().0 + WIDTH + 24.0 > size.get().width;
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
    // As far above the pointer as the pointer is below the window's top: whatever its height, all
    // of it is in the window.
    let top = move || format!("{:.0}px", pointer().1);
    let shift = move || {
        let host = host.get().map(|it| it.get_bounding_client_rect().top());
        let part = (host.unwrap_or_default() + pointer().1) / browser::window_height();
        format!("translateY(-{:.1}%)", part.clamp(0.0, 1.0) * 100.0)
    };
    view! {
        {move || hit().map(|hit| {
            let more = hit.metadata.len().saturating_sub(METADATA_MAX);
            view! {
                <div class="tooltip" data-testid="tooltip" data-kind=hit.kind.clone()
                    style:left=left style:right=right style:top=top style:transform=shift>
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
