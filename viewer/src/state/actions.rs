//! The only writers of the page's signals.

use std::sync::Arc;

use leptos::prelude::*;
use web_sys::{Blob, File};

use super::answers::{Beside, PanelAnswers};
use super::load::LoadState;
use super::url::Fragment;
use super::view::{Lower, ViewState};
use crate::browser;
use crate::engine::cause::Failure;
use crate::engine::memory::PackageSummary;
use crate::engine::protocol::{
    Answer, HitAnswer, Progress, RasterAnswer, Request, Source, StripAnswer, Summary,
};
use crate::engine::spent::SpentAnswer;
use crate::engine::table::TableAnswer;
use crate::engine::worker_client::WorkerClient;
use crate::load::place::Place;
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
    /// The newest cells.
    pub(crate) raster: RwSignal<Option<Arc<RasterAnswer>>>,
    /// The newest strip.
    pub(crate) strip: RwSignal<Option<Arc<StripAnswer>>>,
    /// The sample under the pointer.
    pub(crate) hit: RwSignal<Option<Arc<HitAnswer>>>,
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
    /// Whether the JSON of the table was put on the clipboard.
    pub(crate) copied: RwSignal<bool>,
    /// Whether the help is shown.
    pub(crate) help: RwSignal<bool>,
    /// What the address says is open.
    pub(crate) place: StoredValue<Place>,
    /// Pairs of the fragment that are not ours.
    pub(crate) others: StoredValue<Vec<(String, String)>>,
    client: StoredValue<WorkerClient, LocalStorage>,
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
            raster: RwSignal::default(),
            strip: RwSignal::default(),
            hit: RwSignal::default(),
            trouble: RwSignal::default(),
            sha: RwSignal::default(),
            wanted_sha: RwSignal::default(),
            panels: PanelAnswers::default(),
            cursor: RwSignal::default(),
            copied: RwSignal::new(false),
            help: RwSignal::new(false),
            place: StoredValue::default(),
            others: StoredValue::default(),
            client: StoredValue::new_local(client.clone()),
        };
        client.set_on_answer(move |answer| app.take(answer));
        app
    }

    /// Opens a package of this computer beside the open profile.
    pub(crate) fn open_package_file(self, file: &File) {
        self.change_view(|view| {
            view.panels.package = None;
            view.lower = Lower::Memory;
        });
        self.open_package(Source::File { name: file.name() }, file.name(), Some(file));
    }

    /// Opens the package that an address names beside the open profile, unless it is there
    /// already.
    pub(crate) fn open_package_place(self, address: &str) {
        if !self.panels.is_news(1, address) {
            return;
        }
        let place = Place::of_link(address, &browser::origin());
        if let Some(url) = place.source().map(|it| browser::absolute(&it)) {
            self.open_package(Source::Address { url }, place.label(), None);
        }
    }

    fn open_package(self, source: Source, name: String, file: Option<&Blob>) {
        self.panels.package.set(Beside::Loading { name });
        self.client
            .with_value(|client| client.open_package(source, file));
    }

    /// Opens a dropped file: a package beside the open profile, where there is one.
    pub(crate) fn open_dropped(self, file: &File) {
        let has_profile = self.load.with_untracked(|load| load.summary().is_some());
        if has_profile && file.name().ends_with(".ipuexe") {
            self.open_package_file(file);
        } else {
            self.open_file(file);
        }
    }

    /// Opens a file of this computer. The view of the profile before would mislead; a link that
    /// asks for a file keeps its own.
    pub(crate) fn open_file(self, file: &File) {
        if self.wanted_sha.with_untracked(Option::is_none) {
            self.view.set(ViewState::default());
        }
        self.open_local(file);
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
        let source = place.source();
        let label = place.label();
        self.place.set_value(place);
        self.take_fragment(fragment);
        match source.map(|it| browser::absolute(&it)) {
            Some(url) => self.open(Source::Address { url }, label, None),
            None => self.close(),
        }
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

    fn close(self) {
        self.forget();
        self.load.set(LoadState::Empty);
    }

    fn open(self, source: Source, name: String, file: Option<&Blob>) {
        self.forget();
        self.load.set(LoadState::Loading {
            name,
            progress: Progress::default(),
        });
        self.client.with_value(|client| client.open(source, file));
    }

    fn forget(self) {
        self.table.set(None);
        self.spent.set(None);
        self.raster.set(None);
        self.strip.set(None);
        self.hit.set(None);
        self.trouble.set(None);
        self.sha.set(None);
        self.panels.forget();
    }

    /// Opens a file of this computer beside the open profile, to compare the two.
    pub(crate) fn open_other_file(self, file: &File) {
        self.change_view(|view| {
            view.panels.compare = None;
            view.lower = Lower::Compare;
        });
        self.open_other(Source::File { name: file.name() }, file.name(), Some(file));
    }

    /// Opens what an address names beside the open profile, unless it is there already.
    pub(crate) fn open_other_place(self, address: &str) {
        if !self.panels.is_news(0, address) {
            return;
        }
        let place = Place::of_link(address, &browser::origin());
        if let Some(url) = place.source().map(|it| browser::absolute(&it)) {
            self.open_other(Source::Address { url }, place.label(), None);
        }
    }

    fn open_other(self, source: Source, name: String, file: Option<&Blob>) {
        self.panels.compare.set(None);
        self.panels.other_raster.set(None);
        self.panels.other.set(Beside::Loading { name });
        self.client
            .with_value(|client| client.open_other(source, file));
    }

    /// Asks the worker about the open profile.
    pub(crate) fn ask(self, request: Request) {
        self.client.with_value(|client| client.ask(request));
    }

    /// Changes the view.
    pub(crate) fn change_view(self, change: impl FnOnce(&mut ViewState)) {
        let mut view = self.view.get_untracked();
        change(&mut view);
        if self.view.with_untracked(|old| *old != view) {
            self.view.set(view);
        }
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

    /// The pointer is over a cycle of a timeline, or over none.
    pub(crate) fn point(self, cycle: Option<u64>) {
        if self.cursor.with_untracked(|old| *old != cycle) {
            self.cursor.set(cycle);
        }
    }

    /// The pointer left the timeline.
    pub(crate) fn clear_hit(self) {
        if self.hit.with_untracked(Option::is_some) {
            self.hit.set(None);
        }
    }

    fn take(self, answer: Answer) {
        match answer {
            Answer::Progress(progress) => self.load.update(|load| {
                if let LoadState::Loading {
                    progress: shown, ..
                } = load
                {
                    *shown = progress;
                }
            }),
            Answer::Opened(summary) => self.opened(*summary),
            Answer::Table(table) => {
                self.ask_hash_once();
                self.table.set(Some(Arc::new(table)));
            }
            Answer::Json(json) => {
                browser::copy(&json);
                self.copied.set(true);
            }
            Answer::Spent(spent) => self.spent.set(Some(Arc::new(spent))),
            Answer::Raster(raster) => self.raster.set(Some(Arc::new(raster))),
            Answer::Strip(strip) => self.strip.set(Some(Arc::new(strip))),
            Answer::Hit(hit) => self.hit.set(hit.map(Arc::new)),
            Answer::Panel(answer) => self.panels.take(*answer),
            Answer::OtherOpened(opened) => self.panels.take_other(opened.map(|it| *it)),
            Answer::OtherRaster(raster) => {
                self.panels.other_raster.set(Some(Arc::new(raster)));
            }
            Answer::PackageOpened(opened) => self.package_opened(opened.map(|it| *it)),
            Answer::Memory(memory) => self.panels.memory.set(Some(Arc::new(*memory))),
            Answer::Matrix(matrix) => self.panels.matrix.set(Some(Arc::new(matrix))),
            // Asked by scripts that talk to a worker of their own.
            Answer::Query(_) => {}
            Answer::Hash(sha) => {
                if self
                    .wanted_sha
                    .with_untracked(|it| it.as_ref() == Some(&sha))
                {
                    self.wanted_sha.set(None);
                }
                self.sha.set(Some(sha));
            }
            Answer::Failed(failure) => self.failed(failure),
        }
    }

    fn package_opened(self, opened: Result<PackageSummary, Failure>) {
        let loading = self.load.with_untracked(|load| match load {
            LoadState::Loading { name, .. } => Some(name.clone()),
            _ => None,
        });
        self.panels.take_package(opened);
        if let Some(name) = loading {
            self.load.set(LoadState::Package { name });
        }
    }

    fn opened(self, mut summary: Summary) {
        let (is_local, label) = self
            .place
            .with_value(|place| (*place == Place::Landing, place.label()));
        if !is_local {
            summary.name = label;
        }
        self.load.set(LoadState::Ready(Arc::new(summary)));
    }

    /// A local file is named by its hash in links. Figures come first: the hash reads the file
    /// again.
    fn ask_hash_once(self) {
        let is_local = self.place.with_value(|place| *place == Place::Landing);
        let is_first = self.table.with_untracked(Option::is_none);
        if is_local && is_first && !browser::is_embedded() {
            self.ask(Request::Hash);
        }
    }

    /// While opening, a failure is the outcome; later it is a trouble beside what is shown.
    fn failed(self, failure: Failure) {
        let opening = self.load.with_untracked(|load| match load {
            LoadState::Loading { name, .. } => Some(name.clone()),
            _ => None,
        });
        match opening {
            Some(name) => self.load.set(LoadState::Failed { name, failure }),
            None => self.trouble.set(Some(failure)),
        }
    }
}

/// The shared state, from any component.
pub(crate) fn use_app() -> App {
    expect_context::<App>()
}
