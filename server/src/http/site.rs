//! The viewer's files: one page for every address that opens a profile, and its assets.
//!
//! File names do not change from build to build, so a browser revalidates by content hash and
//! downloads only what changed.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::error::AppError;
use crate::store::BlobId;

struct Asset {
    mime: &'static str,
    bytes: &'static [u8],
    etag: HeaderValue,
}

/// The embedded files by path without the leading slash.
fn assets() -> &'static BTreeMap<&'static str, Asset> {
    static ASSETS: OnceLock<BTreeMap<&'static str, Asset>> = OnceLock::new();
    ASSETS.get_or_init(|| {
        let entry = |&(path, mime, bytes): &(&'static str, &'static str, &'static [u8])| {
            let tag = format!("\"{}\"", BlobId::of(bytes));
            let etag = HeaderValue::try_from(tag).expect("a quoted hex tag is a header value");
            (path.trim_start_matches('/'), Asset { mime, bytes, etag })
        };
        site::files().iter().map(entry).collect()
    })
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
    ];
    if super::artifacts::none_match(headers, &asset.etag) {
        return (StatusCode::NOT_MODIFIED, fixed).into_response();
    }
    (fixed, asset.bytes).into_response()
}
