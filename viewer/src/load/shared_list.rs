//! What the server of this page publishes, on the landing page, to be found and opened.

use gloo_timers::callback::Timeout;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use super::recent;
use super::shared::{Listed, Published, listed};

/// Publications that are shown at a time.
const PAGE: u32 = 10;
/// Publications that are offered by name.
const OFFERED: u32 = 100;
/// Milliseconds without a key after which typed words are looked for.
const REST: u32 = 200;

/// The list as far as it was asked for.
#[derive(Clone, Copy)]
struct List {
    /// What was given, all pages joined.
    found: RwSignal<Listed>,
    /// What is looked for.
    words: StoredValue<String>,
    state: RwSignal<&'static str>,
    /// Whether the server ever had anything.
    is_used: RwSignal<bool>,
    /// Whether it ever had more than a glance shows.
    is_long: RwSignal<bool>,
    /// Number of the newest question: answers to others are old.
    newest: StoredValue<u32>,
}

impl List {
    /// Asks for the page after the cursor `after`, the first one where it is empty.
    fn ask(self, after: String) {
        let number = self.newest.get_value().wrapping_add(1);
        self.newest.set_value(number);
        self.state.set("pending");
        let words = self.words.get_value();
        spawn_local(async move {
            let answer = listed(&words, &after, PAGE).await;
            // The page may have moved on by now.
            if self.newest.try_get_value() != Some(number) {
                return;
            }
            let Some(mut page) = answer else {
                return self.state.set("failed");
            };
            if !after.is_empty() {
                let before = self.found.with_untracked(|it| it.publications.clone());
                page.publications.splice(0..0, before);
            }
            if page.next.is_some() {
                self.is_long.set(true);
            }
            if page.total > 0 {
                self.is_used.set(true);
            }
            self.found.set(page);
            self.state.set("ready");
        });
    }

    /// Looks for what is typed, once it rests.
    fn looks(self) -> impl FnMut(web_sys::Event) {
        let pending: StoredValue<Option<Timeout>, LocalStorage> = StoredValue::new_local(None);
        move |event| {
            self.words
                .set_value(event_target_value(&event).trim().to_owned());
            // What is shown is of other words.
            self.state.set("pending");
            let ask = Timeout::new(REST, move || self.ask(String::new()));
            // Dropping the one before cancels it.
            pending.set_value(Some(ask));
        }
    }
}

/// Public profiles and packages of the server; nothing where it has none.
#[component]
pub(crate) fn SharedFiles() -> impl IntoView {
    let list = List {
        found: RwSignal::default(),
        words: StoredValue::default(),
        state: RwSignal::new("pending"),
        is_used: RwSignal::new(false),
        is_long: RwSignal::new(false),
        newest: StoredValue::new(0),
    };
    list.ask(String::new());
    let said = move || match (list.state.get(), list.found.with(|it| it.total)) {
        ("failed", _) => "What this server publishes is not known just now.",
        ("ready", 0) => "Nothing holds these words.",
        _ => "",
    };
    let entries = move || {
        list.found.with(|it| {
            let now = recent::now();
            let publications = it.publications.iter();
            publications.map(|it| entry(it, now)).collect_view()
        })
    };
    let rest = move || {
        let shown = |it: &Listed| it.total.saturating_sub(it.publications.len() as u64);
        let rest = analytics::text::count(list.found.with(shown));
        format!("Show more of {rest}")
    };
    let next = move || list.found.with(|it| it.next.clone());
    // What has no content yet, or no more, is not there for anybody; nothing is made anew.
    view! {
        <section class="recent" data-testid="shared" data-state=list.state
            hidden=move || !list.is_used.get()>
            <h3>"On this server"</h3>
            <input type="text" class="find" data-testid="shared-find"
                placeholder="title, note, workload or hash"
                aria-label="Find what this server publishes"
                hidden=move || !list.is_long.get() on:input=list.looks()/>
            <ul>{entries}</ul>
            <p class="note" role="status">{said}</p>
            <button type="button" class="link" data-testid="shared-more"
                hidden=move || next().is_none() disabled=move || list.state.get() != "ready"
                on:click=move |_| list.ask(next().unwrap_or_default())>{rest}</button>
        </section>
    }
}

fn entry(published: &Published, now: u64) -> impl IntoView + use<> {
    view! {
        <li>
            <a href=published.link() title=published.memo().to_owned()
                data-testid="shared-file">{published.name()}</a>
            <div class="note">{published.about(now)}</div>
        </li>
    }
}

/// The newest publications as what an input offers: their addresses under their names. They are
/// asked for when `asked` first says so.
#[component]
pub(crate) fn SharedOffers(
    /// Id that the input names.
    id: &'static str,
    /// Whether packages are offered, or profiles.
    is_package: bool,
    /// Whether somebody is about to choose.
    #[prop(into)]
    asked: Signal<bool>,
) -> impl IntoView {
    let found = RwSignal::new(Listed::default());
    Effect::new(move |was: Option<bool>| {
        let (was, asked) = (was.unwrap_or_default(), asked.get());
        if asked && !was {
            spawn_local(async move {
                if let Some(page) = listed("", "", OFFERED).await {
                    let _ = found.try_set(page);
                }
            });
        }
        was || asked
    });
    let offers = move || {
        found.with(|it| {
            let now = recent::now();
            let offer = |it: &Published| {
                let label = format!("{}, {}", it.name(), it.about(now));
                view! { <option value=it.link()>{label}</option> }
            };
            let all = it.publications.iter();
            let kind = if is_package { "package" } else { "profile" };
            let fitting = all.filter(|it| it.is(kind));
            fitting.map(offer).collect_view()
        })
    };
    view! { <datalist id=id>{offers}</datalist> }
}
