//! What the page does with an answer of its worker.

use std::sync::Arc;

use leptos::prelude::*;
use wasm_bindgen::JsValue;

use super::actions::App;
use super::load::LoadState;
use super::tabs;
use super::view::Lower;
use crate::browser;
use crate::engine::cause::Failure;
use crate::engine::lanes::Lane;
use crate::engine::memory::PackageSummary;
use crate::engine::protocol::{Answer, Progress, Request};
use crate::engine::summary::Summary;
use crate::load::place::Place;

impl App {
    /// Takes over an answer about the profile that is shown.
    pub(super) fn take(self, answer: Answer) {
        match answer {
            Answer::Progress(progress) => self.take_progress(progress),
            Answer::Opened(summary) => self.opened(*summary),
            Answer::Table(table) => {
                let is_exact = !table.is_from_file;
                self.table.set(Some(Arc::new(table)));
                if is_exact {
                    self.ask_hash_once();
                }
            }
            Answer::Json(json) => self.give_json(&json.into()),
            Answer::Spent(spent) => self.spent.set(Some(Arc::new(spent))),
            Answer::Selected(spent) => self.selected.set(Some(Arc::new(spent))),
            Answer::Ruler(ruler) => self.ruler.set(Some(Arc::new(ruler))),
            Answer::Rows(rows) => self.rows.set(Some(Arc::new(rows))),
            Answer::Raster(raster) => {
                let is_exact = !raster.from_overview;
                self.raster.set(Some(Arc::new(raster)));
                // Where the table is not shown, nothing else tells that figures are here.
                if is_exact
                    && self
                        .view
                        .with_untracked(|view| view.lower != Lower::Figures)
                {
                    self.ask_hash_once();
                }
            }
            Answer::Strip(strip) => self.strip.set(Some(Arc::new(strip))),
            Answer::Hit(hit) => self.hit.set(hit.map(Arc::new)),
            Answer::Clicked(kernel) => self.focus(&kernel),
            Answer::Panel(answer) => self.panels.take(*answer),
            Answer::OtherOpened(opened) => self.panels.take_other(opened.map(|it| *it)),
            Answer::OtherRaster(raster) => {
                self.panels.other_raster.set(Some(Arc::new(raster)));
            }
            Answer::OtherRows(rows) => self.panels.other_rows.set(Some(Arc::new(rows))),
            Answer::OtherHit(hit) => self.panels.other_hit.set(hit.map(Arc::new)),
            Answer::PackageOpened(opened) => self.package_opened(opened.map(|it| *it)),
            Answer::Memory(memory) => self.panels.memory.set(Some(Arc::new(*memory))),
            Answer::Items(items) => self.panels.items.set(Some(Arc::new(items))),
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
            Answer::ReadingFailed(failure) => self.trouble.set(Some(failure)),
            Answer::Failed(failure) => self.failed(failure),
            Answer::Lost(failure) => {
                self.forget();
                self.load.update(|load| load.fail(failure));
            }
            // The client takes these apart.
            Answer::Early(_) | Answer::Converted { .. } | Answer::Rehearsed => {}
        }
    }

    fn take_progress(self, progress: Progress) {
        if !self.load.with_untracked(LoadState::is_loading) {
            let some = Some(progress).filter(|it| !it.is_whole());
            return self.reading.set(some);
        }
        self.load.update(|load| {
            if let LoadState::Loading {
                progress: shown, ..
            } = load
            {
                *shown = progress;
            }
        });
    }

    fn package_opened(self, opened: Result<PackageSummary, Failure>) {
        let loading = self.load.with_untracked(|load| match load {
            LoadState::Loading { name, .. } => Some(name.clone()),
            _ => None,
        });
        self.panels.take_package(opened);
        if let Some(name) = loading {
            self.load.set(LoadState::Package { name });
            self.turn.update(|turn| *turn += 1);
        }
    }

    fn opened(self, summary: Summary) {
        let summary = self.place.with_value(|place| tabs::named(summary, place));
        if !summary.is_partial {
            self.reading.set(None);
            self.trouble.set(None);
        }
        let is_news = self.load.with_untracked(|load| !load.is_open());
        self.load.set(LoadState::Ready(Arc::new(summary)));
        if is_news {
            self.turn.update(|turn| *turn += 1);
        }
        self.take_package_to_come();
    }

    /// A local file is named by its hash in links. Figures come first: the hash reads the file
    /// again.
    fn ask_hash_once(self) {
        let is_local = self.place.with_value(|place| *place == Place::Landing);
        if is_local && !self.hash_asked.get_value() && !browser::is_embedded() {
            self.hash_asked.set_value(true);
            self.ask(Request::Hash);
        }
    }

    /// While opening, a failure is the outcome; later it is a trouble beside what is shown.
    fn failed(self, failure: Failure) {
        if self.load.with_untracked(LoadState::is_loading) {
            return self.load.update(|load| load.fail(failure));
        }
        // Unless something else failed, and it is still on its way.
        if !self.waits(Lane::Json) {
            self.give_json(&JsValue::NULL);
        }
        self.trouble.set(Some(failure));
    }
}
