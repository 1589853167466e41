//! Which colour means what.

use leptos::prelude::*;

use crate::state::actions::{App, use_app};
use crate::state::derived::{Derived, use_derived};
use crate::state::view::Colouring;
use crate::theme::{HUES, KernelHues, scale};

/// Names in the legend before it is asked for all, no more than there are hues.
const NAMES_MAX: usize = HUES;

/// A colour as CSS writes it, and what it means.
pub(crate) type Entry = (String, String);

/// The colours in force and their meaning: of kernels those that took most tile cycles first. A
/// kernel's name focuses it.
#[component]
pub(crate) fn Legend() -> impl IntoView {
    let (app, derived) = (use_app(), use_derived());
    let colour = Memo::new(move |_| app.view.with(|view| view.colour));
    let all = RwSignal::new(false);
    let plain = move || match colour.get() {
        Colouring::Efficiency | Colouring::Occupancy => levels(app, "no estimate"),
        Colouring::Kind => vec![(app.theme.get().palette().compute.css(), "compute".into())],
        Colouring::Operation => names(app, derived, colour.get(), all.get()),
        Colouring::Kernel => Vec::new(),
    };
    let kernels = move || match colour.get() {
        Colouring::Kernel => names(app, derived, colour.get(), all.get()),
        _ => Vec::new(),
    };
    view! {
        <ul class="legend" aria-label="Colours" data-testid="legend">
            {move || kernels().into_iter().map(|it| focusing(app, it)).collect_view()}
            {move || plain().into_iter().map(swatch).collect_view()}
            {move || more(app, colour.get()).map(|count| more_view(count, all))}
            {move || kinds(app, colour.get()).into_iter().map(swatch).collect_view()}
            <li class="hint">
                "Ctrl + wheel or W S zooms · drag or A D pans · Shift + drag zooms into a range · "
                "Ctrl + drag selects"
            </li>
        </ul>
    }
}

/// The colour of a kernel, and its name to press.
pub(super) fn focusing(app: App, (colour, name): Entry) -> impl IntoView {
    let kernel = StoredValue::new(name.clone());
    let is_focused = move || {
        let focus = app.view.with(|view| view.kernel.clone());
        kernel
            .with_value(|it| focus.as_ref() == Some(it))
            .to_string()
    };
    let press = move |_| app.change_view(|view| kernel.with_value(|it| view.toggle_kernel(it)));
    view! {
        <li>
            <button type="button" title="Focus this kernel; again to clear"
                aria-pressed=is_focused on:click=press>
                <i style:background-color=colour></i>{name}
            </button>
        </li>
    }
}

/// Colours of a canvas and what they mean.
#[component]
pub(crate) fn Swatches(
    /// Name for tests.
    id: &'static str,
    /// What a screen reader calls them.
    label: &'static str,
    /// The colours in order.
    #[prop(into)]
    entries: Signal<Vec<Entry>>,
) -> impl IntoView {
    view! {
        <ul class="legend" aria-label=label data-testid=id>
            {move || entries.get().into_iter().map(swatch).collect_view()}
        </ul>
    }
}

/// A colour and what it means.
pub(super) fn swatch((colour, name): Entry) -> impl IntoView {
    view! { <li><i style:background-color=colour></i>{name}</li> }
}

/// The scale of shares; `unknown` is what a place without one is called.
pub(crate) fn levels(app: App, unknown: &str) -> Vec<Entry> {
    let shares = [
        (0.0, "0 %"),
        (0.25, "25 %"),
        (0.5, "50 %"),
        (0.75, "75 %"),
        (1.0, "100 %"),
    ];
    let mut levels = shares
        .map(|(share, name)| (scale(share).css(), name.to_owned()))
        .to_vec();
    levels.push((scale(2.0).css(), "above 100 %".to_owned()));
    let colour = app.theme.get().palette().compute.css();
    levels.push((colour, unknown.to_owned()));
    levels
}

/// The kernels or the operations of the profile with their colours: `all`, or the first ones.
fn names(app: App, derived: Derived, colour: Colouring, all: bool) -> Vec<Entry> {
    let theme = app.theme.get();
    let by_operation = colour == Colouring::Operation;
    let named = app.load.with(|load| {
        let summary = load.summary();
        summary.map_or_else(Vec::new, |it| match by_operation {
            true => it.operations.clone(),
            false => it.kernels.clone(),
        })
    });
    let hues = match by_operation {
        true => KernelHues::new(named.iter().map(|(_, name)| name.as_str())),
        false => derived.hues.with(|hues| KernelHues::clone(hues)),
    };
    let entry = |(_, name): (u32, String)| (hues.colour(&name, theme).css(), name);
    let most = if all { usize::MAX } else { NAMES_MAX };
    named.into_iter().take(most).map(entry).collect()
}

/// How many names follow the first ones, where some do.
fn more(app: App, colour: Colouring) -> Option<usize> {
    let count = app.load.with(|load| {
        let summary = load.summary()?;
        Some(match colour {
            Colouring::Operation => summary.operations.len(),
            Colouring::Kernel => summary.kernels.len(),
            _ => 0,
        })
    });
    count?.checked_sub(NAMES_MAX).filter(|more| *more > 0)
}

/// Shows the names that follow the first ones, or hides them again.
fn more_view(count: usize, all: RwSignal<bool>) -> impl IntoView {
    let said = move || match all.get() {
        true => "fewer".to_owned(),
        false => format!("and {count} more"),
    };
    view! {
        <li>
            <button type="button" data-testid="legend-more"
                title="Beyond twelve names, hues come again, lighter and darker"
                aria-expanded=move || all.get().to_string()
                on:click=move |_| all.update(|it| *it = !*it)>{said}</button>
        </li>
    }
}

fn kinds(app: App, colouring: Colouring) -> Vec<Entry> {
    let palette = app.theme.get().palette();
    let others = match colouring {
        Colouring::Efficiency | Colouring::Occupancy => {
            vec![("exchange or synchronization", palette.dimmed)]
        }
        _ => vec![
            ("exchange", palette.exchange),
            ("synchronization", palette.synchronization),
        ],
    };
    let always = [
        ("idle", palette.idle),
        ("nothing recorded", palette.nothing),
    ];
    let kinds = others.into_iter().chain(always);
    kinds
        .map(|(name, colour)| (colour.css(), name.to_owned()))
        .collect()
}
