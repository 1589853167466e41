//! The viewer's files: one page for every address that opens a profile, and its assets.
//!
//! File names do not change from build to build, so a browser revalidates by content hash and
//! downloads only what changed. Text and WebAssembly are kept compressed, and sent so to whoever
//! takes it.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::OnceLock;

use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::error::AppError;
use crate::store::BlobId;

struct Asset {
    mime: &'static str,
    bytes: &'static [u8],
    /// Compressed with gzip, where that is worth it.
    gzip: Option<Vec<u8>>,
    etag: HeaderValue,
}

impl Asset {
    fn new(mime: &'static str, bytes: &'static [u8]) -> Self {
        let tag = format!("\"{}\"", BlobId::of(bytes));
        let etag = HeaderValue::try_from(tag).expect("a quoted hex tag is a header value");
        let gzip = gzip(bytes).filter(|packed| packed.len() < bytes.len() * 9 / 10);
        Self {
            mime,
            bytes,
            gzip,
            etag,
        }
    }
}

fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes).ok()?;
    packed.finish().ok()
}

/// The embedded files by path without the leading slash.
fn assets() -> &'static BTreeMap<&'static str, Asset> {
    static ASSETS: OnceLock<BTreeMap<&'static str, Asset>> = OnceLock::new();
    ASSETS.get_or_init(|| {
        let entry = |&(path, mime, bytes): &(&'static str, &'static str, &'static [u8])| {
            (path.trim_start_matches('/'), Asset::new(mime, bytes))
        };
        site::files().iter().map(entry).collect()
    })
}

/// Compresses the files before the first browser asks.
pub(super) fn prepare() {
    let _ready = assets();
}

/// The page, for `/`, `/a/<sha256>` and `/p/<id>`: the viewer reads the address itself.
pub(super) async fn page(headers: HeaderMap) -> Response {
    serve("index.html", &headers)
}

/// Any other embedded file.
pub(super) async fn asset(Path(path): Path<String>, headers: HeaderMap) -> Response {
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
        (header::CONTENT_TYPE, HeaderValue::from_static(asset.mime)),
        (header::VARY, HeaderValue::from_static("accept-encoding")),
    ];
    if super::artifacts::none_match(headers, &asset.etag) {
        return (StatusCode::NOT_MODIFIED, fixed).into_response();
    }
    match &asset.gzip {
        Some(packed) if takes_gzip(headers) => {
            let encoding = [(header::CONTENT_ENCODING, "gzip")];
            (fixed, encoding, packed.as_slice()).into_response()
        }
        _ => (fixed, asset.bytes).into_response(),
    }
}

/// Whether `Accept-Encoding` names gzip without refusing it.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter();
    let mut codings = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|it| it.split(','));
    codings.any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.replace(' ', "");
        let refused = weight
            .strip_prefix("q=")
            .is_some_and(|it| it.parse() == Ok(0.0));
        name.trim().eq_ignore_ascii_case("gzip") && !refused
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_taken_where_it_is_named_and_not_refused() {
        let cases = [
            ("gzip, deflate, br", true),
            ("br;q=1.0, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("gzip; q=0.0", false),
            ("br", false),
            ("", false),
        ];
        for (value, expected) in cases {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, value.parse().expect("a value"));
            assert_eq!(takes_gzip(&headers), expected, "{value}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
