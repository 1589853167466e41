//! The viewer's files: one page for every address that opens a profile, and its assets.
//!
//! File names do not change from build to build, so a browser revalidates by content hash and
//! downloads only what changed. Text and WebAssembly were compressed when this program was built,
//! and are sent so to whoever takes it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::error::AppError;
use super::extract::Named;
use crate::store::BlobId;

struct Asset {
    file: &'static site::File,
    etag: HeaderValue,
}

impl Asset {
    fn new(file: &'static site::File) -> Self {
        let tag = format!("\"{}\"", BlobId::of(file.bytes));
        let etag = HeaderValue::try_from(tag).expect("a quoted hex tag is a header value");
        Self { file, etag }
    }

    /// What to send to a reader that takes these codings: the bytes and how they are coded.
    fn body(&self, headers: &HeaderMap) -> (&'static [u8], Option<&'static str>) {
        let brotli = self.file.brotli.map(|it| ("br", it));
        let gzip = self.file.gzip.map(|it| ("gzip", it));
        // Of equals the last is taken.
        let coded = [gzip, brotli].into_iter().flatten();
        let taken = coded.map(|(name, bytes)| (weight(headers, name), name, bytes));
        let best = taken.filter(|it| it.0 > 0).max_by_key(|it| it.0);
        best.map_or((self.file.bytes, None), |(_, name, bytes)| {
            (bytes, Some(name))
        })
    }
}

/// The embedded files by path without the leading slash.
fn assets() -> &'static BTreeMap<&'static str, Asset> {
    static ASSETS: OnceLock<BTreeMap<&'static str, Asset>> = OnceLock::new();
    ASSETS.get_or_init(|| {
        let files = site::files().iter();
        files
            .map(|file| (file.path.trim_start_matches('/'), Asset::new(file)))
            .collect()
    })
}

/// Hashes the files before the first browser asks.
pub(super) fn prepare() {
    let _ready = assets();
}

/// The page, for `/`, `/a/<sha256>` and `/p/<id>`: the viewer reads the address itself.
pub(super) async fn page(headers: HeaderMap) -> Response {
    serve("index.html", &headers)
}

/// Any other embedded file.
pub(super) async fn asset(Named(path): Named<String>, headers: HeaderMap) -> Response {
    serve(&path, &headers)
}

fn serve(path: &str, headers: &HeaderMap) -> Response {
    let Some(asset) = assets().get(path) else {
        return AppError::not_found("such page").into_response();
    };
    let fixed = [
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::ETAG, asset.etag.clone()),
        // On a revalidation too: the type decides the policy, which replaces the stored one.
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static(asset.file.mime),
        ),
        (header::VARY, HeaderValue::from_static("accept-encoding")),
    ];
    if super::artifacts::none_match(headers, &asset.etag) {
        return (StatusCode::NOT_MODIFIED, fixed).into_response();
    }
    match asset.body(headers) {
        (bytes, Some(coding)) => {
            (fixed, [(header::CONTENT_ENCODING, coding)], bytes).into_response()
        }
        (bytes, None) => (fixed, bytes).into_response(),
    }
}

/// How much `Accept-Encoding` wants this coding, in thousandths; zero: not at all.
fn weight(headers: &HeaderMap, coding: &str) -> u32 {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter();
    let listed = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|it| it.split(','));
    let found = listed.map(|it| {
        let (name, parameter) = it.split_once(';').unwrap_or((it, ""));
        (name.trim(), thousandths(parameter))
    });
    found
        .filter(|it| it.0.eq_ignore_ascii_case(coding))
        .map(|it| it.1)
        .max()
        .unwrap_or(0)
}

/// The weight `q=0.5` as 500; what cannot be read is 1000, as is none.
fn thousandths(parameter: &str) -> u32 {
    let text = parameter.replace(' ', "");
    let weight = text.strip_prefix("q=").unwrap_or("1");
    let (whole, part) = weight.split_once('.').unwrap_or((weight, ""));
    let digits = format!("{part:0<3}");
    match (whole, digits.get(..3).map(str::parse)) {
        ("0", Some(Ok(part))) => part,
        _ => 1_000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static FILE: site::File = site::File {
        path: "/x",
        mime: "text/plain",
        bytes: b"plain",
        gzip: Some(b"gzip"),
        brotli: Some(b"brotli"),
    };

    fn sent(asset: &Asset, accepted: &str) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_ENCODING, accepted.parse().expect("a value"));
        String::from_utf8_lossy(asset.body(&headers).0).into_owned()
    }

    #[test]
    fn the_coding_that_is_wanted_most_is_sent_and_no_refused_one() {
        let cases = [
            ("gzip, deflate, br", "brotli"),
            ("br;q=0.5, GZIP;q=1.0", "gzip"),
            ("br;q=0.91, gzip; q=0.9", "brotli"),
            ("gzip;q=0, br;q=0.000", "plain"),
            ("gzip; q=0.0", "plain"),
            ("br;q=0.001", "brotli"),
            ("gzip;q=x", "gzip"),
            ("zstd, identity", "plain"),
            ("", "plain"),
        ];
        for (accepted, expected) in cases {
            assert_eq!(sent(&Asset::new(&FILE), accepted), expected, "{accepted}");
        }
        assert_eq!(Asset::new(&FILE).body(&HeaderMap::new()).1, None);
    }

    #[test]
    fn a_file_without_a_compressed_form_is_sent_as_it_is() {
        static BARE: site::File = site::File {
            gzip: None,
            brotli: None,
            path: "/x",
            mime: "text/plain",
            bytes: b"plain",
        };
        assert_eq!(sent(&Asset::new(&BARE), "br, gzip"), "plain");
    }
}
