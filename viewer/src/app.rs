//! The page: what is shown in which state.

use std::time::Duration;

use leptos::prelude::*;

use crate::browser;
use crate::load::drop_zone::DropZone;
use crate::load::reading::Reading;
use crate::load::tab_bar::TabBar;
use crate::panels::banner::{Banner, OtherFile};
use crate::panels::header::Header;
use crate::panels::help::Help;
use crate::panels::landing::{Landing, Loading};
use crate::panels::lower::LowerPanel;
use crate::panels::memory::Memory;
use crate::panels::summary::SummaryPanel;
use crate::state::actions::{App, use_app};
use crate::state::derived::Derived;
use crate::state::history;
use crate::timeline::component::Timeline;
use crate::timeline::frames;

/// How long the first page is left alone before the view of a profile is prepared behind it.
const LANDED: Duration = Duration::from_millis(150);

/// The whole page.
#[component]
pub(crate) fn Page() -> impl IntoView {
    let app = App::new(browser::first_theme());
    let derived = Derived::new(app);
    provide_context(app);
    provide_context(derived);
    mark_body(app);
    frames::publish();
    app.label_tabs();
    history::follow(app);
    let state = Memo::new(move |_| app.load.with(|load| load.name()));
    let main = move || match state.get() {
        "loading" => view! { <Loading/> }.into_any(),
        "ready" => ().into_any(),
        "package" => view! { <Memory/> }.into_any(),
        _ => view! { <Landing/> }.into_any(),
    };
    view! {
        <Header/>
        <TabBar/>
        <main data-testid="app" data-state=move || state.get()>
            <Banner/>
            <OtherFile/>
            {main}
            <Prepared state/>
        </main>
        <Reading/>
        <Help/>
        <DropZone/>
    }
}

/// The view of a profile, which is made before one is open and filled when it is: to make it takes
/// the page as long as the worker needs to open a file. It stays for the files after the first.
#[component]
fn Prepared(
    /// The state of loading.
    state: Memo<&'static str>,
) -> impl IntoView {
    let app = use_app();
    let is_due = RwSignal::new(false);
    let landed = move || {
        is_due.set(true);
        app.rehearse();
    };
    set_timeout(landed, LANDED);
    Effect::new(move |_| {
        if state.get() == "loading" {
            // After the frame that says so.
            request_animation_frame(move || set_timeout(move || is_due.set(true), Duration::ZERO));
        }
    });
    let is_made = Memo::new(move |_| is_due.get() || state.get() == "ready");
    view! {
        <Show when=move || is_made.get()>
            <div class="of-profile" hidden=move || state.get() != "ready">
                <SummaryPanel/>
                <Timeline/>
                <LowerPanel/>
            </div>
        </Show>
    }
}

/// The state of loading and the theme, where styles and tests find them.
fn mark_body(app: App) {
    Effect::new(move |_| {
        let state = app.load.with(|load| load.name());
        let name = app
            .load
            .with(|load| load.summary().map(|it| it.name.clone()));
        browser::mark("body", "state", state);
        document().set_title(&match name {
            Some(name) => format!("{name} · ipu-stack"),
            None => "ipu-stack profile viewer".to_owned(),
        });
    });
    Effect::new(move |_| browser::mark("html", "theme", app.theme.get().name()));
}
