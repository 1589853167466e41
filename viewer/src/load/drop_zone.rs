//! Files dropped anywhere on the page.

use gloo_events::{EventListener, EventListenerOptions};
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{DragEvent, Element};

use crate::state::actions::use_app;

/// Whether a drop is on the part of the page that takes a second profile.
fn is_beside(event: &DragEvent) -> bool {
    let target = event.target().and_then(|it| it.dyn_into::<Element>().ok());
    let beside = target.and_then(|it| it.closest("[data-drop=beside]").ok().flatten());
    beside.is_some()
}

/// Takes drops from the whole window and shows that it would.
#[component]
pub(crate) fn DropZone() -> impl IntoView {
    let app = use_app();
    let over = RwSignal::new(false);
    // The browser opens a dropped file itself unless every dragover is refused.
    let on = |name: &'static str, handle: fn(&DragEvent, RwSignal<bool>)| {
        let options = EventListenerOptions::enable_prevent_default();
        EventListener::new_with_options(&window(), name, options, move |event| {
            if let Some(event) = event.dyn_ref::<DragEvent>() {
                event.prevent_default();
                handle(event, over);
            }
        })
        .forget();
    };
    on("dragenter", |_, over| over.set(true));
    on("dragover", |_, over| {
        if !over.get_untracked() {
            over.set(true);
        }
    });
    on("dragleave", |event, over| {
        // Leaving an element for one inside it is no leaving of the window.
        if event.related_target().is_none() {
            over.set(false);
        }
    });
    let options = EventListenerOptions::enable_prevent_default();
    EventListener::new_with_options(&window(), "drop", options, move |event| {
        event.prevent_default();
        over.set(false);
        let event = event.dyn_ref::<DragEvent>();
        let files = event
            .and_then(DragEvent::data_transfer)
            .and_then(|it| it.files());
        let Some(file) = files.and_then(|files| files.get(0)) else {
            return;
        };
        if event.is_some_and(is_beside) {
            app.open_other_file(&file);
        } else {
            app.open_dropped(&file);
        }
    })
    .forget();
    view! {
        <div class="drop" class:over=over aria-hidden="true" data-testid="drop-zone">
            <p>"Drop to open. It stays on this computer."</p>
        </div>
    }
}
