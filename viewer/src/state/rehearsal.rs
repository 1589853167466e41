//! A worker that rehearses while nothing is open: see [`crate::engine::rehearsal`].

use leptos::prelude::*;

use super::actions::App;
use super::load::LoadState;
use crate::engine::protocol::Request;
use crate::engine::worker_client::WorkerClient;

impl App {
    /// Starts one, unless something is open or about to be.
    pub(crate) fn rehearse(self) {
        if self.load.with_untracked(|load| *load == LoadState::Empty) {
            let client = WorkerClient::start();
            client.set_on_answer(move |_| self.end_rehearsal());
            client.ask(Request::Rehearse);
            self.rehearsal.set_value(Some(client));
        }
    }

    /// Ends it, done or not.
    pub(super) fn end_rehearsal(self) {
        if let Some(Some(client)) = self.rehearsal.try_update_value(Option::take) {
            client.end();
        }
    }
}
