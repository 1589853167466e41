//! Sums of a part of the run, asked again whenever the part changes.

use leptos::prelude::*;

use crate::engine::protocol::Request;
use crate::engine::spent::SpentAsked;
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
