//! Placeholder.
/// Starts the role this module was loaded for.
pub fn start() {
    use leptos::prelude::*;
    mount_to_body(|| view! { <p>"hello"</p> });
}
