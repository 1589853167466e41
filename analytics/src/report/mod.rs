//! Answers as JSON for programs and as text for people.
//!
//! The two say the same; neither computes anything.

mod inspect;
mod json;
mod table;
mod text;

pub use inspect::{INSPECT_SCHEMA, inspect_json, inspect_text};
pub use json::{QUERY_SCHEMA, query_json};
pub use text::query_text;
