//! Several open profiles: one is shown, the others are parked with the view they were left in.
//!
//! Each has a worker of its own. Parked ones go on opening; questions about them are void.

use std::collections::BTreeMap;
use std::sync::Arc;

use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use wasm_bindgen_futures::spawn_local;
use web_sys::File;

use super::actions::App;
use super::answers::ParkedBeside;
use super::load::LoadState;
use super::trail::Trail;
use super::view::ViewState;
use crate::browser;
use crate::engine::cause::Failure;
use crate::engine::protocol::{Answer, Progress};
use crate::engine::summary::Summary;
use crate::engine::worker_client::WorkerClient;
use crate::load::place::Place;
use crate::load::recent;

/// Tells tabs apart for as long as the page lives.
pub(crate) type TabId = u64;

/// One tab, as the bar shows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tab {
    /// Which one.
    pub(crate) id: TabId,
    /// What is open in it; empty is nothing yet.
    pub(crate) name: String,
    /// State of its loading.
    pub(crate) state: &'static str,
}

/// A profile that is open and not shown.
pub(crate) struct Parked {
    pub(crate) client: WorkerClient,
    pub(crate) load: LoadState,
    pub(crate) view: ViewState,
    pub(crate) reading: Option<Progress>,
    pub(crate) trouble: Option<Failure>,
    pub(crate) package_to_come: Option<File>,
    pub(crate) sha: Option<String>,
    pub(crate) wanted_sha: Option<String>,
    pub(crate) place: Place,
    pub(crate) others: Vec<(String, String)>,
    pub(crate) hash_asked: bool,
    pub(crate) trail: Trail,
    pub(crate) beside: ParkedBeside,
}

impl Parked {
    /// A tab in which nothing is open yet.
    fn new(client: WorkerClient) -> Self {
        Self {
            client,
            load: LoadState::default(),
            view: ViewState::default(),
            reading: None,
            trouble: None,
            package_to_come: None,
            sha: None,
            wanted_sha: None,
            place: Place::default(),
            others: Vec::new(),
            hash_asked: false,
            trail: Trail::default(),
            beside: ParkedBeside::default(),
        }
    }

    /// Takes note of how opening went on, of the profile and of what is opened beside it.
    fn take(&mut self, answer: Answer) {
        match (answer, &mut self.load) {
            (Answer::Opened(summary), load) => {
                self.reading = self.reading.filter(|_| summary.is_partial);
                self.trouble.take_if(|_| !summary.is_partial);
                *load = LoadState::Ready(Arc::new(named(*summary, &self.place)));
            }
            (Answer::Progress(progress), LoadState::Loading { progress: it, .. }) => *it = progress,
            (Answer::Progress(progress), LoadState::Ready(_)) => {
                self.reading = Some(progress).filter(|it| !it.is_whole());
            }
            (Answer::Failed(failure), load @ LoadState::Loading { .. }) => load.fail(failure),
            (Answer::Lost(failure), load) => {
                load.fail(failure);
                let load = std::mem::take(load);
                let place = std::mem::take(&mut self.place);
                *self = Self {
                    load,
                    place,
                    view: self.view.clone(),
                    ..Self::new(self.client.clone())
                };
            }
            (Answer::Failed(failure) | Answer::ReadingFailed(failure), _) => {
                self.trouble = Some(failure);
            }
            (Answer::Hash(sha), _) => {
                self.wanted_sha.take_if(|it| *it == sha);
                self.sha = Some(sha);
            }
            (Answer::PackageOpened(opened), load) => {
                if let LoadState::Loading { name, .. } = load {
                    let name = std::mem::take(name);
                    *load = LoadState::Package { name };
                }
                self.beside.take_package(opened.map(|it| *it));
            }
            (Answer::OtherOpened(opened), _) => self.beside.take_other(opened.map(|it| *it)),
            _ => {}
        }
    }
}

/// What a profile of a place is called: one from an address by that, and by what was run where the
/// address is an identifier, which tells nobody what it is.
fn label(summary: &Summary, place: &Place) -> String {
    let said = summary.provenance.iter().find(|it| it.0 == "workload");
    let workload = said.map(|it| it.1.as_str()).filter(|it| !it.is_empty());
    match (place, workload) {
        (Place::Landing, _) => summary.name.clone(),
        (Place::Artifact(_) | Place::Publication(_), Some(workload)) => {
            format!("{workload} · {}", place.label())
        }
        _ => place.label(),
    }
}

/// The summary under the name that the page gives it.
pub(crate) fn named(summary: Summary, place: &Place) -> Summary {
    Summary {
        name: label(&summary, place),
        ..summary
    }
}

/// All tabs.
#[derive(Clone, Copy)]
pub(crate) struct Tabs {
    /// In the order they were opened.
    pub(crate) list: RwSignal<Vec<Tab>>,
    /// The one that is shown.
    pub(crate) shown: RwSignal<TabId>,
    parked: StoredValue<BTreeMap<TabId, Parked>, LocalStorage>,
    next: StoredValue<TabId>,
}

impl Tabs {
    /// One tab, which is shown.
    pub(crate) fn new() -> Self {
        let first = Tab {
            id: 0,
            name: String::new(),
            state: "empty",
        };
        Self {
            list: RwSignal::new(vec![first]),
            shown: RwSignal::new(0),
            parked: StoredValue::new_local(BTreeMap::new()),
            next: StoredValue::new(1),
        }
    }

    /// Keeps what the bar says of a tab up to date.
    fn label(self, id: TabId, load: &LoadState) {
        let tab = Tab {
            id,
            name: load.label().to_owned(),
            state: load.name(),
        };
        let is_same = self.list.with_untracked(|list| list.contains(&tab));
        if !is_same {
            self.list.update(|list| {
                if let Some(old) = list.iter_mut().find(|it| it.id == id) {
                    *old = tab;
                }
            });
        }
    }
}

impl App {
    /// Follows the names of the tabs for as long as the page lives.
    pub(crate) fn label_tabs(self) {
        Effect::new(move |_| {
            let shown = self.tabs.shown.get();
            self.load.with(|load| self.tabs.label(shown, load));
        });
    }

    /// An answer of the worker of a tab.
    pub(crate) fn take_for(self, id: TabId, answer: Answer) {
        if let Answer::Opened(summary) = &answer
            && !browser::is_embedded()
        {
            self.remember(id, summary);
        }
        if self.tabs.shown.get_untracked() == id {
            return self.take(answer);
        }
        self.tabs.parked.update_value(|parked| {
            if let Some(tab) = parked.get_mut(&id) {
                tab.take(answer);
                self.tabs.label(id, &tab.load);
            }
        });
    }

    /// Keeps a file that is open for the list of recent ones. A local one is read whole first.
    fn remember(self, id: TabId, summary: &Summary) {
        let ((name, file), label) = match self.tabs.shown.get_untracked() == id {
            true => {
                let label = self.place.with_value(|place| label(summary, place));
                (self.opened_file(), label)
            }
            false => {
                let of_parked = |it: &BTreeMap<TabId, Parked>| {
                    let it = it.get(&id)?;
                    Some((it.client.opened(), label(summary, &it.place)))
                };
                self.tabs.parked.with_value(of_parked).unwrap_or_default()
            }
        };
        let file: Option<File> = file.and_then(|it| it.dyn_into().ok());
        if !summary.is_partial || file.is_none() {
            spawn_local(recent::remember(name, label, file));
        }
    }

    /// Shows a new tab, unless nothing is open in the one that is shown.
    pub(crate) fn make_room(self) {
        let is_taken = self
            .load
            .with_untracked(|it| it.is_open() || it.is_loading());
        if !is_taken {
            return;
        }
        let id = self.tabs.next.get_value();
        self.tabs.next.set_value(id + 1);
        let client = WorkerClient::start();
        client.set_on_answer(move |answer| self.take_for(id, answer));
        self.tabs
            .parked
            .update_value(|parked| drop(parked.insert(id, Parked::new(client))));
        self.tabs.list.update(|list| {
            list.push(Tab {
                id,
                name: String::new(),
                state: "empty",
            });
        });
        self.show_tab(id);
    }

    /// Shows a tab; the one that was shown is parked.
    pub(crate) fn show_tab(self, id: TabId) {
        let old = self.tabs.shown.get_untracked();
        let next = self.tabs.parked.try_update_value(|it| it.remove(&id));
        let Some(next) = next.flatten().filter(|_| old != id) else {
            return;
        };
        let before = self.exchange(next);
        self.tabs
            .parked
            .update_value(|parked| drop(parked.insert(old, before)));
        self.tabs.shown.set(id);
        self.turn.update(|turn| *turn += 1);
        self.take_package_to_come();
    }

    /// Closes a tab; the last one becomes empty.
    pub(crate) fn close_tab(self, id: TabId) {
        let list = self.tabs.list.get_untracked();
        if list.len() == 1 {
            return self.close();
        }
        if self.tabs.shown.get_untracked() == id {
            let at = list.iter().position(|it| it.id == id).unwrap_or(0);
            let next = list.get(at + 1).or_else(|| list.get(at.wrapping_sub(1)));
            if let Some(next) = next {
                self.show_tab(next.id);
            }
        }
        let gone = self.tabs.parked.try_update_value(|it| it.remove(&id));
        if let Some(gone) = gone.flatten() {
            gone.client.end();
        }
        self.tabs.list.update(|list| list.retain(|it| it.id != id));
    }

    /// The parked tab that shows what an address means.
    pub(crate) fn tab_of(self, place: &Place, sha: Option<&str>) -> Option<TabId> {
        self.tabs.parked.with_value(|parked| {
            let is_it = |tab: &&Parked| match place {
                Place::Landing => sha.is_some() && tab.sha.as_deref() == sha,
                place => tab.place == *place,
            };
            let found = parked.iter().find(|(_, tab)| is_it(tab));
            found.map(|(id, _)| *id)
        })
    }
}
