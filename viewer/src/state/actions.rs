//! What people and links ask of the page: opening, closing, questions to the worker.

use std::sync::Arc;

use js_sys::{Function, Promise};
use leptos::prelude::*;
use leptos::reactive::graph::Observer;
use wasm_bindgen::JsValue;
use web_sys::{Blob, File, FileList};

use super::answers::PanelAnswers;
use super::beside;
use super::load::LoadState;
use super::tabs::{Parked, Tabs};
use super::trail::Trail;
use super::url::Fragment;
use super::view::ViewState;
use crate::browser;
use crate::engine::cause::Failure;
use crate::engine::lanes::Lane;
use crate::engine::places::RulerAnswer;
use crate::engine::protocol::{HitAnswer, Progress, Request, Source};
use crate::engine::raster::{RasterAnswer, RowsAnswer, StripAnswer};
use crate::engine::spent::SpentAnswer;
use crate::engine::table::TableAnswer;
use crate::engine::worker_client::WorkerClient;
use crate::load::place::{OnDisk, Part, Place};
use crate::theme::Theme;

/// Everything that the components share: signals to read, actions to call.
#[derive(Clone, Copy)]
pub(crate) struct App {
    /// How far the profile is.
    pub(crate) load: RwSignal<LoadState>,
    /// What is looked at.
    pub(crate) view: RwSignal<ViewState>,
    /// The colours in force.
    pub(crate) theme: RwSignal<Theme>,
    /// The newest rows.
    pub(crate) table: RwSignal<Option<Arc<TableAnswer>>>,
    /// The newest sums of a part.
    pub(crate) spent: RwSignal<Option<Arc<SpentAnswer>>>,
    /// The newest sums of the selected part.
    pub(crate) selected: RwSignal<Option<Arc<SpentAnswer>>>,
    /// The newest ruler of phases.
    pub(crate) ruler: RwSignal<Option<Arc<RulerAnswer>>>,
    /// The newest groups of tiles or samples.
    pub(crate) rows: RwSignal<Option<Arc<RowsAnswer>>>,
    /// The newest cells.
    pub(crate) raster: RwSignal<Option<Arc<RasterAnswer>>>,
    /// The newest strip.
    pub(crate) strip: RwSignal<Option<Arc<StripAnswer>>>,
    /// The sample under the pointer.
    pub(crate) hit: RwSignal<Option<Arc<HitAnswer>>>,
    /// How far reading the samples is; `None` where all are here.
    pub(crate) reading: RwSignal<Option<Progress>>,
    /// A question about the open profile failed: the figures may be incomplete.
    pub(crate) trouble: RwSignal<Option<Failure>>,
    /// SHA-256 of the local file, once known.
    pub(crate) sha: RwSignal<Option<String>>,
    /// SHA-256 of the local file that the link asks for.
    pub(crate) wanted_sha: RwSignal<Option<String>>,
    /// The newest answers of the panels.
    pub(crate) panels: PanelAnswers,
    /// The cycle under the pointer of whichever timeline it is over.
    pub(crate) cursor: RwSignal<Option<u64>>,
    /// Whether the help is shown.
    pub(crate) help: RwSignal<bool>,
    /// What the address says is open.
    pub(crate) place: StoredValue<Place>,
    /// Pairs of the fragment that are not ours.
    pub(crate) others: StoredValue<Vec<(String, String)>>,
    /// Where the view has been.
    pub(crate) trail: StoredValue<Trail>,
    /// Whether the newest view is one that was jumped to.
    pub(super) has_jumped: StoredValue<bool>,
    /// The package that came with the profile that is being opened.
    pub(super) package_to_come: StoredValue<Option<File>, LocalStorage>,
    /// All open profiles.
    pub(crate) tabs: Tabs,
    /// Counts how often another profile came into view: questions are asked anew.
    pub(crate) turn: RwSignal<u64>,
    /// Whether the hash of the open file was asked for.
    pub(super) hash_asked: StoredValue<bool>,
    /// The worker that rehearses.
    pub(super) rehearsal: StoredValue<Option<WorkerClient>, LocalStorage>,
    /// Takes the JSON that was asked for.
    wants_json: StoredValue<Option<Function>, LocalStorage>,
    pub(super) client: StoredValue<WorkerClient, LocalStorage>,
}

impl App {
    /// Signals in their first state, and a worker that waits.
    pub(crate) fn new(theme: Theme) -> Self {
        let client = WorkerClient::start();
        let app = Self {
            load: RwSignal::default(),
            view: RwSignal::default(),
            theme: RwSignal::new(theme),
            table: RwSignal::default(),
            spent: RwSignal::default(),
            selected: RwSignal::default(),
            ruler: RwSignal::default(),
            rows: RwSignal::default(),
            raster: RwSignal::default(),
            strip: RwSignal::default(),
            hit: RwSignal::default(),
            reading: RwSignal::default(),
            trouble: RwSignal::default(),
            sha: RwSignal::default(),
            wanted_sha: RwSignal::default(),
            panels: PanelAnswers::default(),
            cursor: RwSignal::default(),
            help: RwSignal::new(false),
            place: StoredValue::default(),
            others: StoredValue::default(),
            trail: StoredValue::default(),
            has_jumped: StoredValue::new(false),
            package_to_come: StoredValue::new_local(None),
            tabs: Tabs::new(),
            turn: RwSignal::new(0),
            hash_asked: StoredValue::new(false),
            rehearsal: StoredValue::new_local(None),
            wants_json: StoredValue::new_local(None),
            client: StoredValue::new_local(client.clone()),
        };
        client.set_on_answer(move |answer| app.take_for(0, answer));
        app
    }

    /// Opens a file of this computer. The view of the profile before would mislead; a link that
    /// asks for a file keeps its own.
    pub(crate) fn open_file(self, file: &File) {
        self.make_room();
        if self.wanted_sha.with_untracked(Option::is_none) {
            self.view.set(ViewState::default());
        }
        self.open_local(file);
    }

    /// Opens files of this computer, each in a tab of its own, and shows the first. A package that
    /// comes with one profile is opened beside it.
    pub(crate) fn open_files(self, files: &FileList) {
        let files: Vec<File> = (0..files.length()).filter_map(|at| files.get(at)).collect();
        if let Some((profile, package)) = beside::pair(&files) {
            self.open_file(profile);
            return self.package_to_come.set_value(Some(package.clone()));
        }
        let mut first = None;
        for file in &files {
            self.open_file(file);
            first.get_or_insert(self.tabs.shown.get_untracked());
        }
        if let Some(first) = first {
            self.show_tab(first);
        }
    }

    /// Opens an address that the person gave.
    pub(crate) fn open_address(self, url: &str) {
        self.make_room();
        let place = Place::from_url(url, &browser::origin());
        self.open_place(place, Fragment::default());
    }

    /// Opens the file that the page carries, with the view of the fragment.
    pub(crate) fn open_embedded(self, file: &File, fragment: Fragment) {
        self.take_fragment(fragment);
        self.open_local(file);
    }

    fn open_local(self, file: &File) {
        self.place.set_value(Place::Landing);
        self.open(Source::File { name: file.name() }, file.name(), Some(file));
    }

    /// Opens what an address names, with the view of its fragment.
    pub(crate) fn open_place(self, place: Place, fragment: Fragment) {
        let Some(source) = place.source() else {
            self.close();
            return self.take_fragment(fragment);
        };
        let label = place.label();
        self.place.set_value(place);
        self.take_fragment(fragment);
        let url = browser::absolute(&source);
        self.open(Source::Address { url }, label, None);
    }

    /// Takes over the view of a fragment.
    pub(crate) fn take_fragment(self, fragment: Fragment) {
        self.others.set_value(fragment.others);
        if self.sha.with_untracked(Option::is_none) {
            self.wanted_sha.set(fragment.sha);
        }
        if self.view.with_untracked(|view| *view != fragment.view) {
            self.view.set(fragment.view);
        }
    }

    /// Forgets what is open, and stops opening it.
    pub(crate) fn close(self) {
        // A worker that was given nothing is as good as a new one.
        if self.load.with_untracked(|load| *load != LoadState::Empty) {
            self.client.with_value(WorkerClient::close);
        }
        self.place.set_value(Place::Landing);
        self.others.set_value(Vec::new());
        self.forget();
        self.load.set(LoadState::Empty);
    }

    /// Reads every sample, or no more than what is looked at.
    pub(crate) fn read_all(self, all: bool) {
        self.trouble.set(None);
        self.ask(if all {
            Request::ReadAll
        } else {
            Request::ReadLess
        });
    }

    fn open(self, source: Source, name: String, file: Option<&Blob>) {
        self.end_rehearsal();
        self.forget();
        self.load.set(LoadState::Loading {
            name,
            progress: Progress::default(),
        });
        self.client.with_value(|client| client.open(source, file));
    }

    /// Brings another profile into view and gives the one that was.
    pub(super) fn exchange(self, next: Parked) -> Parked {
        let before = Parked {
            client: self.client.get_value(),
            load: self.load.get_untracked(),
            view: self.view.get_untracked(),
            reading: self.reading.get_untracked(),
            trouble: self.trouble.get_untracked(),
            package_to_come: self
                .package_to_come
                .try_update_value(Option::take)
                .flatten(),
            sha: self.sha.get_untracked(),
            wanted_sha: self.wanted_sha.get_untracked(),
            place: self.place.get_value(),
            others: self.others.get_value(),
            hash_asked: self.hash_asked.get_value(),
            trail: self.trail.get_value(),
            beside: self.panels.parked(),
        };
        self.forget();
        self.client.set_value(next.client);
        self.place.set_value(next.place);
        self.others.set_value(next.others);
        self.hash_asked.set_value(next.hash_asked);
        self.trail.set_value(next.trail);
        self.panels.unpark(next.beside);
        self.sha.set(next.sha);
        self.wanted_sha.set(next.wanted_sha);
        self.reading.set(next.reading);
        self.trouble.set(next.trouble);
        self.package_to_come.set_value(next.package_to_come);
        self.view.set(next.view);
        self.load.set(next.load);
        before
    }

    /// Name and handle of the file that is shown.
    pub(super) fn opened_file(self) -> (String, Option<Blob>) {
        self.client.with_value(WorkerClient::opened)
    }

    pub(super) fn forget(self) {
        self.give_json(&JsValue::NULL);
        self.table.set(None);
        self.spent.set(None);
        self.selected.set(None);
        self.ruler.set(None);
        self.rows.set(None);
        self.raster.set(None);
        self.strip.set(None);
        self.hit.set(None);
        self.cursor.set(None);
        self.trail.set_value(Trail::default());
        self.reading.set(None);
        self.trouble.set(None);
        self.sha.set(None);
        self.hash_asked.set_value(false);
        self.package_to_come.set_value(None);
        self.panels.forget();
    }

    /// Asks the worker about what is open; nothing where nothing is. An effect that asks runs again
    /// when another profile comes into view.
    pub(crate) fn ask(self, request: Request) {
        if Observer::get().is_some() {
            self.turn.track();
        }
        let is_open = self
            .load
            .with_untracked(|load| match request.is_of_package() {
                true => load.is_open(),
                false => load.has_profile(),
            });
        if is_open {
            self.client.with_value(|client| client.ask(request));
        }
    }

    /// Asks for JSON: a promise of the text, or of null where there will be none. Who asked before
    /// is told so.
    pub(crate) fn ask_json(self, request: Request) -> Promise {
        self.give_json(&JsValue::NULL);
        self.void(Lane::Json);
        let promise = Promise::new(&mut |take, _| self.wants_json.set_value(Some(take)));
        self.ask(request);
        promise
    }

    pub(super) fn give_json(self, json: &JsValue) {
        if let Some(Some(take)) = self.wants_json.try_update_value(Option::take) {
            // A promise takes whatever it is given.
            let _ = take.call1(&JsValue::NULL, json);
        }
    }

    /// The open profile as commands find it; `None` without one.
    pub(crate) fn on_disk(self) -> Option<OnDisk> {
        let name = self
            .load
            .with(|load| load.summary().map(|it| it.name.clone()))?;
        let place = self.place.get_value();
        Some(place.on_disk(&name, Part::Profile, browser::absolute))
    }

    /// Nobody wants what was asked in a lane any more.
    pub(crate) fn void(self, lane: Lane) {
        self.client.with_value(|client| client.void(lane));
    }

    /// Whether the last answer of a lane is still to come.
    pub(crate) fn waits(self, lane: Lane) -> bool {
        self.client.with_value(|client| client.waits(lane))
    }

    /// Switches to the other theme and remembers it.
    pub(crate) fn toggle_theme(self) {
        let other = match self.theme.get_untracked() {
            Theme::Light => Theme::Dark,
            Theme::Dark => Theme::Light,
        };
        self.theme.set(other);
        browser::remember_theme(other);
    }

    /// Nothing is under the pointer, whatever was asked: an answer on its way would be shown when
    /// the pointer comes back, of a place where it was.
    pub(crate) fn clear_hit(self) {
        self.void(Lane::Hit);
        if self.hit.with_untracked(Option::is_some) {
            self.hit.set(None);
        }
    }
}

/// The shared state, from any component.
pub(crate) fn use_app() -> App {
    expect_context::<App>()
}
