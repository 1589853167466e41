//! Placeholder.

/// The embedded files: path from the root with a leading slash, media type, content.
#[must_use]
pub const fn files() -> &'static [(&'static str, &'static str, &'static [u8])] {
    &[("/index.html", "text/html; charset=utf-8", b"")]
}
