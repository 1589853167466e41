//! What was opened lately, kept by this browser alone: IndexedDB, never sent, off on request.
//!
//! Small files are kept whole, so that they open again without being looked for; of others and of
//! addresses the name stays. Every failure means "nothing is remembered": browsers may refuse.

use analytics::order;
use js_sys::{Array, Date, Object, Promise, Reflect};
use leptos::prelude::window;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    File, IdbDatabase, IdbObjectStore, IdbObjectStoreParameters, IdbOpenDbRequest, IdbRequest,
    IdbTransactionMode,
};

use crate::timeline::viewport::{rounded, to_float};

const DATABASE: &str = "ipu-stack";
const STORE: &str = "recent";
/// Key of the choice in the browser's storage.
const CHOICE: &str = "ipu-stack.recent";
/// Entries that are kept.
const KEPT: usize = 8;
/// Longest file that is kept whole.
const FILE_MAX: f64 = 64.0 * 1024.0 * 1024.0;

/// Something that was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recent {
    /// Tells entries apart.
    pub(crate) key: String,
    /// Name of the file, or the address.
    pub(crate) name: String,
    /// What the page called it when it was open.
    pub(crate) label: String,
    /// Length of the file; 0 for an address.
    pub(crate) bytes: u64,
    /// Milliseconds since 1970.
    pub(crate) opened: u64,
    /// What opens it again.
    pub(crate) way: Way,
}

/// How an entry is opened again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The browser has kept the file.
    Kept,
    /// The name is an address.
    Address,
    /// The person has to find the file.
    Name,
}

/// Whether the person wants files remembered.
pub(crate) fn is_on() -> bool {
    let storage = window().local_storage().ok().flatten();
    storage.is_some_and(|it| it.get_item(CHOICE).ok().flatten().as_deref() != Some("off"))
}

/// Remembers from now on, or never; what was remembered is forgotten with it.
pub(crate) async fn set_on(on: bool) {
    if let Some(storage) = window().local_storage().ok().flatten() {
        let _ = match on {
            true => storage.remove_item(CHOICE),
            false => storage.set_item(CHOICE, "off"),
        };
    }
    if !on {
        forget_all().await;
    }
}

/// Everything that is remembered, newest first.
pub(crate) async fn list() -> Vec<Recent> {
    let Ok(entries) = all().await else {
        return Vec::new();
    };
    let mut list: Vec<Recent> = entries.iter().filter_map(|it| read(&it)).collect();
    order::by_key(&mut list, |it| std::cmp::Reverse(it.opened));
    list
}

/// The file of an entry.
pub(crate) async fn file(key: &str) -> Option<File> {
    let store = store(IdbTransactionMode::Readonly).await.ok()?;
    let entry = done(&store.get(&key.into()).ok()?).await.ok()?;
    Reflect::get(&entry, &"file".into()).ok()?.dyn_into().ok()
}

/// Remembers a file, or an address where there is none.
pub(crate) async fn remember(name: String, label: String, file: Option<File>) {
    if is_on() {
        // Refused: nothing is remembered.
        let _ = write(&name, &label, file.as_ref()).await;
    }
}

/// Forgets everything.
pub(crate) async fn forget_all() {
    if let Ok(store) = store(IdbTransactionMode::Readwrite).await
        && let Ok(request) = store.clear()
    {
        let _ = done(&request).await;
    }
}

async fn write(name: &str, label: &str, file: Option<&File>) -> Result<(), JsValue> {
    let bytes = file.map_or(0.0, |file| file.size());
    let entry = Object::new();
    let set = |field: &str, value: &JsValue| Reflect::set(&entry, &field.into(), value);
    set("key", &format!("{name} {bytes}").into())?;
    set("name", &name.into())?;
    set("label", &label.into())?;
    set("bytes", &bytes.into())?;
    set("opened", &Date::now().into())?;
    set("address", &file.is_none().into())?;
    if let Some(file) = file.filter(|_| bytes <= FILE_MAX) {
        set("file", file)?;
    }
    let store = store(IdbTransactionMode::Readwrite).await?;
    done(&store.put(&entry)?).await?;
    for old in list().await.into_iter().skip(KEPT) {
        let store = self::store(IdbTransactionMode::Readwrite).await?;
        done(&store.delete(&old.key.into())?).await?;
    }
    Ok(())
}

fn read(entry: &JsValue) -> Option<Recent> {
    let get = |field: &str| Reflect::get(entry, &field.into()).ok();
    let is_address = get("address")?.is_truthy();
    let is_kept = get("file").is_some_and(|it| it.is_object());
    let name = get("name")?.as_string()?;
    // What was remembered before there were labels has none.
    let label = get("label").and_then(|it| it.as_string());
    Some(Recent {
        key: get("key")?.as_string()?,
        label: label
            .filter(|it| !it.is_empty())
            .unwrap_or_else(|| name.clone()),
        name,
        bytes: rounded(get("bytes")?.as_f64()?),
        opened: rounded(get("opened")?.as_f64()?),
        way: match (is_address, is_kept) {
            (true, _) => Way::Address,
            (false, true) => Way::Kept,
            (false, false) => Way::Name,
        },
    })
}

async fn all() -> Result<Array, JsValue> {
    let store = store(IdbTransactionMode::Readonly).await?;
    done(&store.get_all()?).await?.dyn_into()
}

async fn store(mode: IdbTransactionMode) -> Result<IdbObjectStore, JsValue> {
    let factory = window().indexed_db()?.ok_or(JsValue::NULL)?;
    let request: IdbOpenDbRequest = factory.open_with_u32(DATABASE, 1)?;
    let made = request.clone();
    let make = Closure::once_into_js(move || {
        let database: Option<IdbDatabase> = made.result().ok().and_then(|it| it.dyn_into().ok());
        let options = IdbObjectStoreParameters::new();
        options.set_key_path(&"key".into());
        if let Some(database) = database {
            // It exists already where another tab was faster.
            let _ = database.create_object_store_with_optional_parameters(STORE, &options);
        }
    });
    request.set_onupgradeneeded(Some(make.unchecked_ref()));
    let database: IdbDatabase = done(&request).await?.dyn_into()?;
    database
        .transaction_with_str_and_mode(STORE, mode)?
        .object_store(STORE)
}

/// The result of a request.
async fn done(request: &IdbRequest) -> Result<JsValue, JsValue> {
    let promise = Promise::new(&mut |resolve, reject| {
        let source = request.clone();
        let success = Closure::once_into_js(move || {
            let result = source.result().unwrap_or(JsValue::UNDEFINED);
            // A promise's own function does not throw.
            let _ = resolve.call1(&JsValue::NULL, &result);
        });
        let failure = Closure::once_into_js(move || {
            let _ = reject.call0(&JsValue::NULL);
        });
        request.set_onsuccess(Some(success.unchecked_ref()));
        request.set_onerror(Some(failure.unchecked_ref()));
    });
    JsFuture::from(promise).await
}

/// How long ago, in words.
pub(crate) fn ago(opened: u64, now: u64) -> String {
    let minutes = now.saturating_sub(opened) / 60_000;
    match minutes {
        0 => "just now".to_owned(),
        1..60 => format!("{minutes} min ago"),
        60..2_880 => format!("{} h ago", minutes / 60),
        _ => format!("{} days ago", minutes / 1_440),
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    rounded(Date::now())
}

/// A length for people.
pub(crate) fn size(bytes: u64) -> String {
    let megabytes = to_float(bytes) / 1e6;
    format!("{} MB", analytics::text::decimal(megabytes, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_round() {
        let minute = 60_000;
        assert_eq!(ago(1_000, 2_000), "just now");
        assert_eq!(ago(0, 59 * minute), "59 min ago");
        assert_eq!(ago(0, 60 * minute), "1 h ago");
        assert_eq!(ago(0, 3 * 1_440 * minute), "3 days ago");
        assert_eq!(ago(9, 0), "just now", "clocks go back");
    }

    #[test]
    fn sizes_are_in_megabytes() {
        assert_eq!(size(119_000_000), "119.0 MB");
    }
}
