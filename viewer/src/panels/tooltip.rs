//! The sample under the pointer, in full.

use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;

use crate::browser;
use crate::engine::protocol::HitAnswer;
use crate::timeline::layout::Size;

/// Width that the tooltip may take, in CSS pixels; the style sheet has the same.
const WIDTH: f64 = 330.0;
/// Metadata pairs that are shown before the rest is counted.
const METADATA_MAX: usize = 12;

/// A panel beside the pointer; on the other side of it near the right edge.
#[component]
pub(crate) fn Tooltip(
    /// Name for tests.
    id: &'static str,
    /// The sample.
    hit: RwSignal<Option<Arc<HitAnswer>>>,
    /// Where the pointer is, while it is over the plot.
    #[prop(into)]
    place: Signal<Option<(f64, f64)>>,
    /// Size of the plot's canvas.
    size: RwSignal<Size>,
    /// The plot.
    host: NodeRef<html::Div>,
) -> impl IntoView {
    let hit = move || hit.get().filter(|_| place.with(Option::is_some));
    let pointer = move || place.get().unwrap_or_default();
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
                <div class="tooltip" role="tooltip" data-testid=id data-kind=hit.kind.clone()
                    style:left=left style:right=right style:top=top style:transform=shift>
                    <strong>{hit.heading.clone()}</strong>
                    <dl>
                        {hit.facts.iter().map(|fact| view! {
                            <dt>{fact.label.clone()}</dt>
                            <dd data-testid=format!("{id}-{}", fact.id)>{fact.text.clone()}</dd>
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
