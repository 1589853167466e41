//! What the cycles and tiles in view were spent on; follows the timeline.

use leptos::prelude::*;

use super::data_table::Kind;
use super::spent::{CopySpent, SpentTable, keep_spent};
use crate::engine::spent::{SpentAsked, Told};
use crate::state::actions::use_app;
use crate::state::view::Metric;

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
    let kind = Kind {
        id: "in-view-table",
        label: "Figures of the view",
        is_main: true,
    };
    view! {
        <section class="figures" data-testid="in-view" data-panel data-state=state>
            <div class="controls">
                <h2>"What the view was spent on"</h2>
                <CopySpent id="in-view" answer=app.spent told=Told::Sums/>
            </div>
            <p class="note">
                "Cycles count as far as they lie in view, work where a whole sample does: a view \
                 inside one sample has no efficiency. "
                "Shift + drag on the timeline zooms into a range; Ctrl + drag, or a drag on its \
                 ruler, selects one."
            </p>
            <SpentTable kind answer=app.spent/>
        </section>
    }
}
