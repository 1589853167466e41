//! Controls of the view: zoom, clock, focus.

use analytics::clock::ClockKind;
use analytics::text;
use analytics::units::Cycles;
use leptos::prelude::*;

use super::menu::Menu;
use crate::state::actions::{App, use_app};
use crate::state::derived::use_derived;
use crate::state::trail::{Trail, Way};
use crate::state::view::{Colouring, Rows};
use crate::timeline::input::Move;
use crate::timeline::pointer::go;

/// Factor of one press of a zoom button.
const STEP: f64 = 1.6;

/// The line above the timeline.
#[component]
pub(crate) fn ViewControls() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let press = move |by: Move| move |_| go(app, derived, &by);
    let is_whole = move || {
        derived
            .viewport
            .with(|it| it.as_ref().is_none_or(|it| it.is_whole()))
    };
    // The trail is left when the view moves, and is another one in another tab.
    let has_back = move || {
        app.view.track();
        app.turn.track();
        app.trail.with_value(Trail::has_back)
    };
    view! {
        <div class="controls">
            <h2>"Timeline"</h2>
            <div class="group" role="group" aria-label="Zoom">
                <button type="button" title="Zoom out (S or −)" aria-label="Zoom out"
                    data-testid="zoom-out" on:click=press(Move::ZoomTime(0.5, STEP))>"−"</button>
                <button type="button" title="Zoom in (W or +)" aria-label="Zoom in"
                    data-testid="zoom-in"
                    on:click=press(Move::ZoomTime(0.5, 1.0 / STEP))>"+"</button>
                <button type="button" title="Whole run, all tiles (0)" data-testid="zoom-reset"
                    disabled=is_whole on:click=press(Move::Reset)>"Reset view"</button>
                <button type="button" title="What was in view before (Z)" data-testid="zoom-back"
                    disabled=move || !has_back()
                    on:click=move |_| app.retrace(Way::Back)>"Back"</button>
            </div>
            <Choices/>
            <Range/>
            <Focus/>
        </div>
    }
}

/// The clock, what colours say, and what a row stands for.
#[component]
fn Choices() -> impl IntoView {
    let clocks = [ClockKind::Cropped, ClockKind::Shared, ClockKind::Tile];
    let choose_clock = |app: App, name: &str| {
        let clock = ClockKind::from_name(name).unwrap_or_default();
        let crop = app
            .load
            .with_untracked(|load| load.summary().map_or(0, |it| it.crop));
        app.change_view(|view| view.change_clock(clock, crop));
    };
    view! {
        <Menu id="clock" label="Clock"
            title="cropped: common origin, start-up cut off · shared: common origin · \
                   tile: each tile's first sample is 0"
            items=clocks.map(|it| (it.name(), it.name())).to_vec()
            chosen=|view| view.clock.name() choose=choose_clock/>
        <Menu id="colour" label="Colour" title="What the colours of the timeline say"
            items=Colouring::ALL.map(|it| (it.name(), it.name())).to_vec()
            chosen=|view| view.colour.name()
            choose=|app, name| app.change_view(|view| {
                view.colour = Colouring::from_name(name).unwrap_or_default();
            })/>
        <Menu id="rows" label="Rows" title="What a row of the timeline stands for"
            items=Rows::ALL.map(|it| (it.name(), it.heading())).to_vec()
            chosen=|view| view.rows.name()
            choose=|app, name| app.change_view(|view| {
                view.rows = Rows::from_name(name).unwrap_or_default();
            })/>
    }
}

/// What is in view, in figures.
#[component]
fn Range() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let said = move || {
        let viewport = derived.viewport.get()?;
        let summary = app.load.with(|load| load.summary().cloned())?;
        let length = Cycles::new(viewport.span.len());
        let tiles = viewport.tiles.end - viewport.tiles.start;
        Some(format!(
            "{} – {} · {} cycles · {} · {} tiles",
            text::count(viewport.span.from),
            text::count(viewport.span.to),
            text::cycles(length),
            text::time(length, summary.clock_hz),
            text::count(u64::from(tiles))
        ))
    };
    view! { <output class="range in-bar" data-testid="view-range">{said}</output> }
}

/// The kernel in focus, with the way out.
#[component]
fn Focus() -> impl IntoView {
    let app = use_app();
    let kernel = move || app.view.with(|view| view.kernel.clone());
    view! {
        <Show when=move || kernel().is_some()>
            <button type="button" class="focus-chip" data-testid="clear-focus"
                title="Clear the focus (Esc)"
                on:click=move |_| app.change_view(|view| view.kernel = None)>
                <span>"Focus: " {kernel}</span>" ×"
            </button>
        </Show>
    }
}
