//! One HTML page that carries the viewer and a profile and opens from `file://` without a server.
//!
//! Profile bytes and a title → HTML bytes. Module workers and `fetch` are refused on `file://`, so
//! the glue is a classic script whose text also makes the worker, and the WebAssembly and the
//! profile are base64 data blocks. The page's own policy forbids every connection.

use base64::Engine as _;
use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write as _;

const TEMPLATE: &str = include_str!("../offline/page.html");
const BOOT: &str = include_str!("../offline/boot.js");
const WORKER: &str = include_str!("../offline/worker.js");
const STYLE: &str = include_str!("../shell/style.css");
const ICON: &str = include_str!("../shell/icon.svg");
const GLUE: &str = include_str!(concat!(env!("OUT_DIR"), "/offline/viewer.js"));

/// Why no page could be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The build left the viewer out; the caller's build is at fault.
    #[error("this build has no viewer inside; build again without VIEWER_SKIP_BUILD")]
    NoViewer,
}

/// The page for `profile`, an `.ipuprofile` of either generation, shown under the name `title`.
///
/// # Errors
/// Where this build has no viewer inside.
pub fn render_single_file(profile: &[u8], title: &str) -> Result<Vec<u8>, RenderError> {
    let wasm = super::find("/viewer_bg.wasm");
    if wasm.is_empty() {
        return Err(RenderError::NoViewer);
    }
    let size = TEMPLATE.len() + STYLE.len() + GLUE.len() + (wasm.len() + profile.len()) * 4 / 3;
    let mut page = String::with_capacity(size + 4096);
    // The template is split at its markers, so nothing inserted is ever searched for markers.
    for (index, text) in TEMPLATE.split("{{").enumerate() {
        if index == 0 {
            page.push_str(text);
            continue;
        }
        let (marker, rest) = text.split_once("}}").unwrap_or((text, ""));
        insert(&mut page, marker, wasm, profile, title);
        page.push_str(rest);
    }
    Ok(page.into_bytes())
}

fn insert(page: &mut String, marker: &str, wasm: &[u8], profile: &[u8], title: &str) {
    match marker {
        "title" => push_escaped(page, title),
        "icon" => page.push_str(&STANDARD.encode(ICON)),
        "style" => page.push_str(STYLE),
        "glue" => push_script(page, GLUE),
        "worker" => push_script(page, WORKER),
        "boot" => push_script(page, BOOT),
        "wasm" => push_base64(page, wasm),
        "profile" => push_base64(page, profile),
        other => unreachable!("the template has an unknown marker {other}"),
    }
}

fn push_base64(page: &mut String, bytes: &[u8]) {
    let written = write!(page, "{}", Base64Display::new(bytes, &STANDARD));
    debug_assert!(written.is_ok(), "writing to a string cannot fail");
}

/// Script text inside an element: the only sequences that end or nest the element are broken up in
/// a way that means the same inside JavaScript strings and comments.
fn push_script(page: &mut String, script: &str) {
    page.push_str(
        &script
            .replace("</script", "<\\/script")
            .replace("<!--", "<\\!--"),
    );
}

fn push_escaped(page: &mut String, text: &str) {
    for it in text.chars() {
        match it {
            '&' => page.push_str("&amp;"),
            '<' => page.push_str("&lt;"),
            '>' => page.push_str("&gt;"),
            '"' => page.push_str("&quot;"),
            other => page.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
        page.split_once(from)
            .expect("starts")
            .1
            .split_once(to)
            .expect("ends")
            .0
    }

    #[test]
    fn the_page_carries_the_profile_and_loads_nothing() {
        let profile: Vec<u8> = (0..=255).cycle().take(1000).collect();
        let page = match render_single_file(&profile, "a <b> & \"c\" {{wasm}}") {
            Ok(page) => String::from_utf8(page).expect("the page is UTF-8"),
            Err(RenderError::NoViewer) => return assert!(!super::super::is_built()),
        };
        assert!(page.contains("<title>a &lt;b&gt; &amp; &quot;c&quot; {{wasm}}"));
        let data = between(&page, "id=\"profile\">", "</script>");
        assert_eq!(STANDARD.decode(data).expect("base64"), profile);
        let wasm = between(&page, "id=\"wasm\">", "</script>");
        assert_eq!(
            STANDARD.decode(wasm).expect("base64"),
            super::super::find("/viewer_bg.wasm")
        );
        assert!(!page.contains(" src=") && !page.contains("@import") && !page.contains("url("));
        assert!(page.contains("connect-src 'none'"));
    }

    #[test]
    fn every_marker_of_the_template_is_known() {
        let markers: Vec<_> = TEMPLATE
            .split("{{")
            .skip(1)
            .filter_map(|it| it.split_once("}}"))
            .collect();
        assert_eq!(markers.len(), 9);
        let mut page = String::new();
        for (marker, _) in markers {
            insert(&mut page, marker, b"w", b"p", "t");
        }
    }

    #[test]
    fn a_script_cannot_end_its_element() {
        let mut page = String::new();
        push_script(&mut page, "a('</script>'); b('<!--')");
        assert_eq!(page, "a('<\\/script>'); b('<\\!--')");
    }
}
