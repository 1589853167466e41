//! Sums of a part of the run: asked again whenever the part changes, as a table, and copied.

use std::sync::Arc;

use leptos::prelude::*;

use super::asked::{CopyAnswer, command_of, part};
use super::data_table::{DataTable, Kind};
use crate::engine::command;
use crate::engine::protocol::Request;
use crate::engine::spent::{SpentAnswer, SpentAsked, Told};
use crate::state::actions::use_app;
use crate::state::derived::use_derived;
use crate::timeline::viewport::Viewport;

/// Keeps the sums of `part` asked for while a profile is open, and says for a panel's `data-state`
/// whether those on the page are of it.
pub(super) fn keep_spent(
    part: impl Fn(&Viewport) -> SpentAsked + Send + Sync + 'static,
) -> impl Fn() -> &'static str + Copy {
    let (app, derived) = (use_app(), use_derived());
    let asked = Memo::new(move |_| derived.viewport.get().as_ref().map(&part));
    Effect::new(move |_| {
        if let Some(asked) = asked.get() {
            app.ask(Request::Spent(asked));
        }
    });
    move || {
        let answered = app.spent.with(|it| it.as_ref().map(|it| it.asked));
        if answered == asked.get() {
            "ready"
        } else {
            "pending"
        }
    }
}

/// The sums on the page.
type Answer = RwSignal<Option<Arc<SpentAnswer>>>;

/// Sums of kinds and kernels.
#[component]
pub(crate) fn SpentTable(
    /// Which table it is.
    kind: Kind,
    /// The sums.
    answer: Answer,
) -> impl IntoView {
    let app = use_app();
    let clock = Signal::derive(move || app.view.with(|view| view.clock));
    view! { <DataTable kind clock list=part(answer, |it| it.rows.clone())/> }
}

/// Copies the sums on the page as the command line prints them.
#[component]
pub(crate) fn CopySpent(
    /// Name for tests.
    id: &'static str,
    /// The sums.
    answer: Answer,
    /// What of them.
    told: Told,
) -> impl IntoView {
    let answered = move || answer.with(|it| it.as_ref().map(|it| it.asked));
    let question = move || Some(Request::SpentJson(answered()?, told));
    let command = command_of(
        move || Some((answered()?, told)),
        |(asked, told), of| command::spent(asked, *told, of),
    );
    view! { <CopyAnswer id asked=Signal::derive(question) command/> }
}
