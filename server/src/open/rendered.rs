//! A rendered page: HTML with a profile inside, as `profile-render` writes it.
//!
//! Bytes → the profile's bytes. Only the marks around the profile are looked for: nothing of the
//! page is interpreted, since a server hands it out as a download.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// What a rendered page starts with.
const START: &[u8] = b"<!doctype html>";
/// What stands before the profile.
const BEFORE: &str = "<script type=\"application/octet-stream\" id=\"profile\">";
/// What stands after it.
const AFTER: &str = "</script>";

/// Whether the first bytes are those of an HTML page.
#[must_use]
pub(crate) fn looks_rendered(prefix: &[u8]) -> bool {
    prefix
        .get(..START.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(START))
}

/// The profile inside a rendered page, or why there is none.
pub(crate) fn profile_inside(page: &[u8]) -> Result<Vec<u8>, String> {
    let text = std::str::from_utf8(page).map_err(|error| error.to_string())?;
    let (_, rest) = text
        .split_once(BEFORE)
        .ok_or("it has no profile inside, as `ipu-stack profile-render` writes it")?;
    let (encoded, _) = rest
        .split_once(AFTER)
        .ok_or("the profile inside has no end")?;
    STANDARD
        .decode(encoded)
        .map_err(|error| format!("the profile inside is no base64: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_of_a_page_is_found_and_nothing_else_is() {
        let page = format!("<!DOCTYPE html>\n<p>{BEFORE}AQID{AFTER}{BEFORE}zzzz{AFTER}");
        assert!(looks_rendered(page.as_bytes()));
        assert_eq!(profile_inside(page.as_bytes()), Ok(vec![1, 2, 3]));
        for bad in [
            b"<!doctype html><script>alert(1)</script>".to_vec(),
            format!("<!doctype html>{BEFORE}AQID").into_bytes(),
            format!("<!doctype html>{BEFORE}%%{AFTER}").into_bytes(),
            b"\xff\xfe".to_vec(),
        ] {
            assert!(profile_inside(&bad).is_err());
        }
        assert!(!looks_rendered(b"<html>"));
    }
}
