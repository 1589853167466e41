//! Answers as JSON for programs and as text for people.
//!
//! The two say the same; neither computes anything.

mod barriers;
mod critical;
mod diff;
mod diff_text;
mod inspect;
mod json;
mod table;
mod text;

pub use barriers::{BARRIERS_SCHEMA, barriers_json, barriers_text};
pub use critical::{CRITICAL_SCHEMA, critical_json, critical_text};
pub use diff::{DIFF_SCHEMA, diff_json};
pub use diff_text::{diff_markdown, diff_text};
pub use inspect::{INSPECT_SCHEMA, inspect_json, inspect_text};
pub use json::{QUERY_SCHEMA, query_json};
pub use text::query_text;
