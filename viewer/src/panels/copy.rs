//! A button that copies a text, and says whether the text is on the clipboard.

use leptos::prelude::*;

use crate::browser::{self, Text};

/// Copies when pressed. What became of it is shown until another text is to be copied.
#[component]
pub(super) fn CopyButton(
    /// Name for tests.
    #[prop(into)]
    id: String,
    /// What it says before it is pressed.
    label: &'static str,
    /// What is copied.
    title: &'static str,
    /// The text; `None` where there is none yet.
    text: Callback<(), Option<Text>>,
    /// Reads whatever the text depends on: a memo that is tracked only has no value yet, and would
    /// change when its text is first asked for.
    of: Signal<()>,
    /// Look of the button.
    #[prop(default = "quiet")]
    class: &'static str,
    /// Whether there is nothing to copy.
    #[prop(optional)]
    disabled: Signal<bool>,
) -> impl IntoView {
    let is_copied = RwSignal::new(None::<bool>);
    let version = StoredValue::new(0_u32);
    Effect::new(move |_| {
        of.get();
        version.update_value(|it| *it = it.wrapping_add(1));
        is_copied.set(None);
    });
    let press = move |_| {
        is_copied.set(None);
        let copied = version.get_value();
        let done = move |is_there| {
            // Of a text that is no longer shown nothing is said.
            if version.try_get_value() == Some(copied) {
                is_copied.set(Some(is_there));
            }
        };
        match text.run(()) {
            Some(text) => browser::copy(text, done),
            None => done(false),
        }
    };
    let said = move || match is_copied.get() {
        None => label,
        Some(true) => "Copied",
        Some(false) => "Not copied",
    };
    view! {
        <button type="button" class=class data-testid=id title=title aria-live="polite"
            disabled=disabled on:click=press>{said}</button>
    }
}
