#![doc = include_str!("../README.md")]

mod offline;

pub use offline::{RenderError, render_single_file};

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// One file of the site.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Path in a URL, with the leading slash.
    pub path: &'static str,
    /// Media type.
    pub mime: &'static str,
    /// Content uncompressed.
    pub bytes: &'static [u8],
    /// Content in gzip, where that is a tenth smaller at least.
    pub gzip: Option<&'static [u8]>,
    /// Content in brotli, likewise.
    pub brotli: Option<&'static [u8]>,
}

/// Every file that a server hands out, by path; the page is `/index.html`, and the same page serves
/// `/`, `/a/<sha256>` and `/p/<id>`. Links between the files start at the root.
#[must_use]
pub const fn files() -> &'static [File] {
    FILES
}

/// Whether the viewer was compiled into this build (`VIEWER_SKIP_BUILD` and clippy leave it out).
#[must_use]
pub fn is_built() -> bool {
    !find("/viewer_bg.wasm").is_empty()
}

/// The content of the file at `path`, empty where there is none.
fn find(path: &str) -> &'static [u8] {
    FILES
        .iter()
        .find(|file| file.path == path)
        .map_or(&[], |file| file.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_only_files_that_exist() {
        let page = str::from_utf8(find("/index.html")).expect("the page is UTF-8");
        let links = page.split("=\"/").skip(1).map(|rest| {
            format!(
                "/{}",
                rest.split('"').next().expect("an attribute value ends")
            )
        });
        let mut count = 0;
        for link in links {
            assert!(
                FILES.iter().any(|file| file.path == link),
                "{link} is not part of the site"
            );
            count += 1;
        }
        assert!(
            count >= 3,
            "the page links its script, its style and its icon"
        );
    }

    #[test]
    fn the_page_has_no_inline_script_or_style() {
        let page = str::from_utf8(find("/index.html")).expect("the page is UTF-8");
        assert!(!page.contains("<style") && !page.contains(" style="));
        for script in page.split("<script").skip(1) {
            let (attributes, rest) = script.split_once('>').expect("a tag ends");
            assert!(
                attributes.contains("src=\"/"),
                "a script without a source: {attributes}"
            );
            assert!(rest.starts_with("</script>"), "a script with inline text");
        }
    }
}
