//! Answers as JSON for programs and as text for people.

mod json;

pub use json::query_json;
