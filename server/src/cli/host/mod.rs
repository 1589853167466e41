//! Subcommands about sharing: `serve` runs an artifact host, `publish`, `open` and `fetch` use one.

pub(super) mod args;
pub(super) mod client;
pub(super) mod fetch;
pub(super) mod link;
pub(super) mod open;
pub(super) mod publish;
pub(super) mod serve;
mod settings;
pub(super) mod token;
