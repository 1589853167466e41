//! Small things only a browser has: the address, storage, the shell's objects.

use js_sys::Reflect;
use leptos::prelude::window;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::File;

use crate::theme::Theme;

/// Key of the chosen theme in the browser's storage.
const THEME_KEY: &str = "ipu-stack.theme";

/// The profile that a self-contained page carries.
pub(crate) fn embedded() -> Option<File> {
    let shell = Reflect::get(&js_sys::global(), &"ipuStack".into()).ok()?;
    Reflect::get(&shell, &"embedded".into())
        .ok()?
        .dyn_into()
        .ok()
}

/// Whether the page carries its profile and has no server.
pub(crate) fn is_embedded() -> bool {
    embedded().is_some()
}

/// An address of a worker's point of view: relative ones start at the page's origin.
pub(crate) fn absolute(url: &str) -> String {
    let origin = window().location().origin().unwrap_or_default();
    web_sys::Url::new_with_base(url, &origin).map_or_else(|_| url.to_owned(), |it| it.href())
}

/// The origin of the page.
pub(crate) fn origin() -> String {
    window().location().origin().unwrap_or_default()
}

/// Path, query and fragment of the page; the fragment alone on a self-contained page.
pub(crate) fn current_link() -> String {
    let location = window().location();
    let hash = location.hash().unwrap_or_default();
    if is_embedded() {
        return hash;
    }
    let path = location.pathname().unwrap_or_default();
    let query = location.search().unwrap_or_default();
    format!("{path}{query}{hash}")
}

/// The part of a link before its fragment; `None` where there is none.
pub(crate) fn without_fragment(link: &str) -> Option<&str> {
    let place = link.split('#').next()?;
    (!place.is_empty()).then_some(place)
}

/// Adds an entry to the history.
pub(crate) fn push(link: &str) {
    if let Ok(history) = window().history() {
        // Browsers refuse when there are too many; the view stays right without.
        let _ = history.push_state_with_url(&JsValue::NULL, "", Some(link));
    }
}

/// Replaces the entry of the history.
pub(crate) fn replace(link: &str) {
    if let Ok(history) = window().history() {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(link));
    }
}

/// The theme that was chosen before, else the system's.
pub(crate) fn first_theme() -> Theme {
    let stored = window().local_storage().ok().flatten();
    let stored = stored.and_then(|it| it.get_item(THEME_KEY).ok().flatten());
    match stored.as_deref() {
        Some("light") => Theme::Light,
        Some("dark") => Theme::Dark,
        _ => system_theme(),
    }
}

fn system_theme() -> Theme {
    let dark = window()
        .match_media("(prefers-color-scheme: dark)")
        .ok()
        .flatten();
    if dark.is_some_and(|it| it.matches()) {
        Theme::Dark
    } else {
        Theme::Light
    }
}

/// Remembers a chosen theme, where the browser allows it.
pub(crate) fn remember_theme(theme: Theme) {
    if let Some(storage) = window().local_storage().ok().flatten() {
        let _ = storage.set_item(THEME_KEY, theme.name());
    }
}

/// Puts a text on the clipboard, where the browser allows it.
pub(crate) fn copy(text: &str) {
    let clipboard = Reflect::get(&window().navigator(), &"clipboard".into());
    if clipboard.is_ok_and(|it| it.is_object()) {
        let _ = window().navigator().clipboard().write_text(text);
    }
}

/// Device pixels for each CSS pixel.
pub(crate) fn pixel_ratio() -> f64 {
    window().device_pixel_ratio().clamp(0.5, 4.0)
}

/// The address of the page as it stands.
pub(crate) fn address() -> String {
    window().location().href().unwrap_or_default()
}

/// Writes `data-<name>` of the first element that `selector` finds.
pub(crate) fn mark(selector: &str, name: &str, value: &str) {
    let element = leptos::prelude::document()
        .query_selector(selector)
        .ok()
        .flatten();
    if let Some(element) = element {
        // Fails only for names that are no attribute names.
        let _ = element.set_attribute(&format!("data-{name}"), value);
    }
}

/// Moves the keyboard's focus to the first element that `selector` finds.
pub(crate) fn focus(selector: &str) {
    let element = leptos::prelude::document()
        .query_selector(selector)
        .ok()
        .flatten()
        .and_then(|it| it.dyn_into::<web_sys::HtmlElement>().ok());
    if let Some(element) = element {
        let _ = element.focus();
    }
}

/// Whether a click was on a button inside the element that listens.
pub(crate) fn is_inside_button(event: &web_sys::MouseEvent) -> bool {
    let target = event
        .target()
        .and_then(|it| it.dyn_into::<web_sys::Element>().ok());
    target
        .and_then(|it| it.closest("button").ok().flatten())
        .is_some()
}
