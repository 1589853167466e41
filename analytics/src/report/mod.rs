//! Answers as JSON for programs and as text for people.
//!
//! The two say the same; neither computes anything.

mod barriers;
mod critical;
mod diff;
mod diff_text;
mod exchange;
mod inspect;
mod json;
#[cfg(feature = "package")]
mod package_memory;
#[cfg(feature = "package")]
mod package_traffic;
mod part;
mod plot;
mod table;
mod text;

pub use barriers::{BARRIERS_SCHEMA, barriers_json, barriers_text};
pub use critical::{CRITICAL_SCHEMA, critical_json, critical_text};
pub use diff::{DIFF_SCHEMA, diff_json};
pub use diff_text::{diff_markdown, diff_parts, diff_text};
pub use exchange::{EXCHANGE_SCHEMA, exchange_json, exchange_text};
pub use inspect::{INSPECT_SCHEMA, inspect_json, inspect_text};
pub use json::{QUERY_SCHEMA, query_json};
#[cfg(feature = "package")]
pub use package_memory::{PACKAGE_MEMORY_SCHEMA, package_memory_json, package_memory_text};
#[cfg(feature = "package")]
pub use package_traffic::{PACKAGE_TRAFFIC_SCHEMA, package_traffic_json, package_traffic_text};
pub use part::{PART_SCHEMA, part_json, part_text};
pub use plot::{PLOT_SCHEMA, cumulative_json, durations_json};
pub use text::query_text;

/// How many of `count` things are shown where `limit` were asked for; 0 asks for all.
pub(crate) const fn shown(count: usize, limit: usize) -> usize {
    if limit == 0 || limit > count {
        count
    } else {
        limit
    }
}
