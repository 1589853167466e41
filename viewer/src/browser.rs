//! Small things only a browser has: the address, storage, the shell's objects.

use js_sys::{Array, Object, Promise, Reflect};
use leptos::prelude::{document, window};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::{JsFuture, future_to_promise, spawn_local};
use web_sys::{
    Blob, Clipboard, ClipboardItem, File, HtmlDocument, HtmlElement, HtmlTextAreaElement,
};

use crate::theme::Theme;
use crate::timeline::canvas::rasterised;

/// Key of the chosen theme in the browser's storage.
const THEME_KEY: &str = "ipu-stack.theme";
/// Media type of what is copied.
const PLAIN_TEXT: &str = "text/plain";
/// Milliseconds for which a file that is being kept stays readable.
const READING: u32 = 30_000;

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

/// A link of this page as a whole address.
pub(crate) fn from_here(link: &str) -> String {
    let here = window().location().href().unwrap_or_default();
    web_sys::Url::new_with_base(link, &here).map_or(here, |it| it.href())
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

/// What is to be copied.
pub(crate) enum Text {
    /// A text that is here.
    Here(String),
    /// What a promise of a text becomes; anything else is no text.
    Promised(Promise),
}

/// Puts a text on the clipboard and says whether it is there. To be called while a press is
/// handled: browsers allow it no later, unless they take a promise.
pub(crate) fn copy(text: Text, done: impl FnOnce(bool) + 'static) {
    let written = match (&text, clipboard()) {
        (Text::Here(text), Some(clipboard)) => Some(clipboard.write_text(text)),
        (Text::Promised(text), Some(clipboard)) => {
            item(text).map(|item| clipboard.write(&Array::of1(&item)))
        }
        // Pages from other hosts without TLS have no clipboard.
        (Text::Here(text), None) => return done(copy_selected(text)),
        (Text::Promised(_), None) => None,
    };
    spawn_local(async move {
        let is_written = match written {
            Some(written) => JsFuture::from(written).await.is_ok(),
            None => false,
        };
        done(is_written || copy_later(text).await);
    });
}

/// The clipboard of secure pages.
fn clipboard() -> Option<Clipboard> {
    let clipboard = Reflect::get(&window().navigator(), &"clipboard".into()).ok()?;
    clipboard.is_object().then(|| clipboard.unchecked_into())
}

/// What the clipboard takes at once and waits for; `None` where a browser cannot.
fn item(text: &Promise) -> Option<ClipboardItem> {
    let text = JsFuture::from(text.clone());
    let blob = future_to_promise(async move {
        let text = text.await?.as_string();
        let blob = text.and_then(|it| blob(PLAIN_TEXT, &it));
        blob.map(JsValue::from).ok_or(JsValue::NULL)
    });
    let items = Object::new();
    Reflect::set(&items, &PLAIN_TEXT.into(), &blob).ok()?;
    ClipboardItem::new_with_record_from_str_to_blob_promise(&items).ok()
}

/// Puts a text on the clipboard by the ways that are left.
async fn copy_later(text: Text) -> bool {
    let text = match text {
        Text::Here(text) => Some(text),
        Text::Promised(text) => JsFuture::from(text)
            .await
            .ok()
            .and_then(|it| it.as_string()),
    };
    let Some(text) = text else { return false };
    let is_written = match clipboard() {
        Some(clipboard) => JsFuture::from(clipboard.write_text(&text)).await.is_ok(),
        None => false,
    };
    is_written || copy_selected(&text)
}

/// Copies as a person would: by selecting the text in a field.
fn copy_selected(text: &str) -> bool {
    let document = document();
    let field = document.create_element("textarea").ok();
    let field = field.and_then(|it| it.dyn_into::<HtmlTextAreaElement>().ok());
    let (Some(field), Some(body)) = (field, document.body()) else {
        return false;
    };
    let before = document.active_element();
    field.set_value(text);
    field.set_class_name("hidden");
    // Where it is in view already, focusing it scrolls nothing.
    let _ = field.style().set_property("position", "fixed");
    let _ = body.append_child(&field);
    let _ = field.focus();
    field.select();
    let page: HtmlDocument = document.unchecked_into();
    let is_copied = page.exec_command("copy").unwrap_or(false);
    field.remove();
    if let Some(before) = before.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
        let _ = before.focus();
    }
    is_copied
}

/// Offers a text as a file to keep.
pub(crate) fn save(name: &str, media_type: &str, text: &str) {
    if let Some(blob) = blob(media_type, text) {
        offer(name, &blob);
    }
}

/// Offers a picture, given as SVG of `size` CSS pixels, as PNG with twice as many.
pub(crate) fn save_as_png(name: &str, svg: &str, size: (u32, u32)) {
    let Some(blob) = blob("image/svg+xml", svg) else {
        return;
    };
    let (Ok(url), Ok(image)) = (
        web_sys::Url::create_object_url_with_blob(&blob),
        web_sys::HtmlImageElement::new(),
    ) else {
        return;
    };
    let (name, loaded) = (name.to_owned(), image.clone());
    let address = url.clone();
    let on_load = Closure::once_into_js(move || {
        let _ = web_sys::Url::revoke_object_url(&address);
        let Some(canvas) = rasterised(&loaded, size, 2.0) else {
            return;
        };
        let on_blob = Closure::once_into_js(move |blob: JsValue| {
            if let Ok(blob) = blob.dyn_into::<Blob>() {
                offer(&name, &blob);
            }
        });
        let _ = canvas.to_blob(on_blob.unchecked_ref());
    });
    image.set_onload(Some(on_load.unchecked_ref()));
    image.set_src(&url);
}

fn blob(media_type: &str, text: &str) -> Option<Blob> {
    let options = web_sys::BlobPropertyBag::new();
    options.set_type(media_type);
    let parts = Array::of1(&text.into());
    Blob::new_with_str_sequence_and_options(&parts, &options).ok()
}

/// Lets the browser keep a blob under a name.
fn offer(name: &str, blob: &Blob) {
    let Ok(url) = web_sys::Url::create_object_url_with_blob(blob) else {
        return;
    };
    let anchor = document().create_element("a").ok();
    let anchor = anchor.and_then(|it| it.dyn_into::<web_sys::HtmlAnchorElement>().ok());
    if let Some(anchor) = anchor {
        anchor.set_href(&url);
        anchor.set_download(name);
        anchor.click();
    }
    // The browser may still be reading.
    let revoke = move || {
        let _ = web_sys::Url::revoke_object_url(&url);
    };
    gloo_timers::callback::Timeout::new(READING, revoke).forget();
}

/// A word of a command line: in quotes where a shell would not take it as it is.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_./=+:,@".contains(it);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Device pixels for each CSS pixel.
pub(crate) fn pixel_ratio() -> f64 {
    window().device_pixel_ratio().clamp(0.5, 4.0)
}

/// Height of the window in CSS pixels; at least one.
pub(crate) fn window_height() -> f64 {
    let height = window().inner_height().ok().and_then(|it| it.as_f64());
    height.unwrap_or_default().max(1.0)
}

/// Writes `data-<name>` of the first element that `selector` finds.
pub(crate) fn mark(selector: &str, name: &str, value: &str) {
    let element = document().query_selector(selector).ok().flatten();
    if let Some(element) = element {
        // Fails only for names that are no attribute names.
        let _ = element.set_attribute(&format!("data-{name}"), value);
    }
}

/// Moves the keyboard's focus to the first element that `selector` finds.
pub(crate) fn focus(selector: &str) {
    let element = document()
        .query_selector(selector)
        .ok()
        .flatten()
        .and_then(|it| it.dyn_into::<HtmlElement>().ok());
    if let Some(element) = element {
        let _ = element.focus();
    }
}

/// Takes the focus from what has it.
pub(crate) fn unfocus() {
    let active = document().active_element();
    if let Some(element) = active.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
        let _ = element.blur();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell_where_they_need_it() {
        assert_eq!(quoted("a/b-c_1.ipuprofile"), "a/b-c_1.ipuprofile");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
