//! Files dropped anywhere on the page, files and addresses pasted into it.

use gloo_events::{EventListener, EventListenerOptions};
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use web_sys::{ClipboardEvent, DragEvent, Element};

use crate::state::actions::{App, use_app};

/// Opens files and addresses that are pasted anywhere but into a field.
fn listen_to_paste(app: App) {
    EventListener::new(&window(), "paste", move |event| {
        let is_field = event
            .target()
            .and_then(|it| it.dyn_into::<Element>().ok())
            .is_some_and(|it| matches!(it.tag_name().as_str(), "INPUT" | "TEXTAREA"));
        let data = event
            .dyn_ref::<ClipboardEvent>()
            .and_then(ClipboardEvent::clipboard_data);
        let Some(data) = data.filter(|_| !is_field) else {
            return;
        };
        if let Some(files) = data.files().filter(|it| it.length() > 0) {
            return app.open_files(&files);
        }
        let text = data.get_data("text/plain").unwrap_or_default();
        if let Some(url) = address_in(&text) {
            app.open_address(url);
        }
    })
    .forget();
}

/// The address that a pasted text is.
fn address_in(text: &str) -> Option<&str> {
    let text = text.trim();
    let is_one = !text.contains(char::is_whitespace);
    let is_web = text.starts_with("http://") || text.starts_with("https://");
    (is_one && is_web).then_some(text)
}

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
        let Some(files) = files else { return };
        match files.get(0) {
            Some(file) if event.is_some_and(is_beside) => app.open_other_file(&file),
            Some(file) if files.length() == 1 => app.open_dropped(&file),
            _ => app.open_files(&files),
        }
    })
    .forget();
    listen_to_paste(app);
    view! {
        <div class="drop" class:over=over aria-hidden="true" data-testid="drop-zone">
            <p>"Drop to open. It stays on this computer."</p>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_web_address_is_opened_and_other_texts_are_left_alone() {
        assert_eq!(
            address_in(" https://h/a.ipuprofile\n"),
            Some("https://h/a.ipuprofile")
        );
        assert_eq!(address_in("https://h/a and more"), None);
        assert_eq!(address_in("/home/me/a.ipuprofile"), None);
        assert_eq!(address_in(""), None);
    }
}
