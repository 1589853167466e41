//! The address of the page follows the view, and the view follows back and forward.
//!
//! Selections and jumps push an entry; moving the view replaces it after a rest, so that zooming
//! does not fill the history.

use gloo_events::EventListener;
use gloo_timers::callback::Timeout;
use leptos::prelude::*;

use super::actions::App;
use super::url::{self, Fragment};
use super::view::ViewState;
use crate::browser;
use crate::load::place::Place;

/// Milliseconds for which the view must rest before the address follows.
const REST: u32 = 250;

/// Opens what the address says, then keeps both in step for as long as the page lives.
pub(crate) fn follow(app: App) {
    let (place, fragment) = here();
    if let Some(file) = browser::embedded() {
        app.open_embedded(&file, fragment);
    } else {
        app.open_place(place, fragment);
    }
    write_on_change(app);
    let on_move = EventListener::new(&window(), "popstate", move |_| restore(app));
    on_move.forget();
}

impl App {
    /// Jumps to another part: a step of its own on the way back, of the view and of the browser.
    /// Gives whether that moved the view.
    pub(crate) fn jump_view(self, change: impl FnOnce(&mut ViewState)) -> bool {
        let before = self.view.with_untracked(ViewState::stay);
        self.change_view(change);
        let has_moved = self.view.with_untracked(ViewState::stay) != before;
        if has_moved {
            self.trail.update_value(|trail| trail.jump(before));
            self.has_jumped.set_value(true);
        }
        has_moved
    }

    /// The address that shows what is shown now, though the address bar may follow a moment later.
    pub(crate) fn address(self) -> String {
        let link = untrack(|| self.view.with(|view| link(self, view)));
        browser::from_here(&link)
    }
}

/// Back and forward: the view at once, another profile where the address names one.
fn restore(app: App) {
    let (place, fragment) = here();
    let is_shown = match &fragment.sha {
        Some(sha) if place == Place::Landing => {
            app.sha.with_untracked(|it| it.as_ref() == Some(sha))
        }
        _ => app.place.with_value(|it| *it == place),
    };
    let parked = app.tab_of(&place, fragment.sha.as_deref());
    if let Some(tab) = parked.filter(|_| !is_shown) {
        app.show_tab(tab);
        app.take_fragment(fragment);
    } else if browser::is_embedded() || app.place.with_value(|it| *it == place) {
        app.take_fragment(fragment);
    } else {
        app.open_place(place, fragment);
    }
}

fn here() -> (Place, Fragment) {
    let location = window().location();
    let part = |it: Result<String, _>| it.unwrap_or_default();
    let (path, query) = (part(location.pathname()), part(location.search()));
    let place = Place::parse(&path, &query, &part(location.origin()));
    (place, url::parse(&part(location.hash())))
}

/// What the address last said.
#[derive(Clone, Debug, PartialEq)]
struct Written {
    view: ViewState,
    link: String,
}

fn write_on_change(app: App) {
    let written: StoredValue<Option<Written>> = StoredValue::new(None);
    // The link that the rest of the view would have been written to.
    let unwritten: StoredValue<Option<String>> = StoredValue::new(None);
    let pending: StoredValue<Option<Timeout>, LocalStorage> = StoredValue::new_local(None);
    Effect::new(move |_| {
        let view = app.view.get();
        let link = link(app, &view);
        // Dropping a timeout cancels it.
        pending.set_value(None);
        let has_jumped = app.has_jumped.try_update_value(std::mem::take);
        let left = unwritten.try_update_value(Option::take).flatten();
        if app.load.with(|load| !load.is_open()) {
            written.set_value(None);
            return;
        }
        let previous = written.get_value();
        let is_selection = previous
            .as_ref()
            .is_some_and(|it| has_jumped == Some(true) || !it.view.differs_only_in_place(&view));
        let is_elsewhere = browser::without_fragment(&link).is_some_and(|place| {
            browser::without_fragment(&browser::current_link()) != Some(place)
        });
        let waiting = link.clone();
        let write = move || {
            if browser::current_link() == link {
                // Back or forward brought the view here.
            } else if is_selection || is_elsewhere {
                if let Some(left) = left.filter(|_| !is_elsewhere) {
                    browser::replace(&left);
                }
                browser::push(&link);
            } else {
                browser::replace(&link);
            }
            written.set_value(Some(Written { view, link }));
        };
        if is_selection || previous.is_none() {
            write();
        } else {
            unwritten.set_value(Some(waiting));
            pending.set_value(Some(Timeout::new(REST, move || {
                unwritten.set_value(None);
                write();
            })));
        }
    });
}

/// Path, query and fragment that show what is shown now.
fn link(app: App, view: &ViewState) -> String {
    let sha = app.sha.get().or_else(|| app.wanted_sha.get());
    let others = app.others.get_value();
    let fragment = url::format(&Fragment {
        view: view.clone(),
        sha,
        others,
    });
    if browser::is_embedded() {
        return format!("#{fragment}");
    }
    let place = app.place.with_value(Place::link);
    format!("{place}#{fragment}")
}
