//! Reading blobs: downloads by hash or by publication, with ranges and revalidation.
//!
//! A blob never changes under its name, so its tag is its hash and it may be cached for ever. Any
//! page may read a blob whose hash or publication it knows (`Access-Control-Allow-Origin: *`, no
//! credentials). By its hash only a blob with a public publication is there at all.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::Shared;
use super::error::AppError;
use super::extract::Named;
use super::range::{Selection, select};
use crate::store::{ArtifactKind, BlobId, PublicationId};

/// How a blob may be kept by caches: blobs of private publications by the reader's own only.
const PUBLIC: &str = "public, max-age=31536000, immutable";
const PRIVATE: &str = "private, max-age=31536000, immutable";

/// `GET` and `HEAD /api/artifacts/<sha256>`.
pub(super) async fn download(
    State(shared): State<Shared>,
    Named(id): Named<String>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, AppError> {
    let id: BlobId = id.parse()?;
    if !shared.store.is_public(id).await? {
        return Err(AppError::not_found("such artifact"));
    }
    send(&shared, id, &file_name(id, None), PUBLIC, &method, &headers).await
}

/// `GET` and `HEAD /api/publications/<id>/content`.
pub(super) async fn content(
    State(shared): State<Shared>,
    Named(id): Named<String>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, AppError> {
    let id: PublicationId = id.parse()?;
    let found = shared.store.publication(id).await?;
    let found = found.ok_or_else(|| AppError::not_found("such publication"))?;
    let name = file_name(found.sha256, Some(found.facts.kind));
    send(&shared, found.sha256, &name, PRIVATE, &method, &headers).await
}

/// A name for a saved file: nothing a publisher wrote is in it.
fn file_name(id: BlobId, kind: Option<ArtifactKind>) -> String {
    let end = match kind {
        Some(ArtifactKind::Profile) => ".ipuprofile",
        Some(ArtifactKind::Package) => ".ipuexe",
        Some(ArtifactKind::Report) => ".html",
        None => "",
    };
    format!("{id}{end}")
}

async fn send(
    shared: &Shared,
    id: BlobId,
    name: &str,
    caching: &str,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Response, AppError> {
    let Some(length) = shared.store.length(id).await? else {
        return Err(AppError::not_found("such artifact"));
    };
    let etag = HeaderValue::try_from(format!("\"{id}\""))
        .map_err(|error| AppError::bad_request(error.to_string(), ""))?;
    let mut fixed = blob_headers(name, caching, &etag);
    if none_match(headers, &etag) {
        return Ok((StatusCode::NOT_MODIFIED, fixed).into_response());
    }
    let (status, range) = match selection(headers, &etag, length) {
        Selection::Whole => (StatusCode::OK, 0..length),
        Selection::Part(range) => {
            let (first, last) = (range.start, range.end - 1);
            let part = format!("bytes {first}-{last}/{length}");
            insert(&mut fixed, header::CONTENT_RANGE, &part);
            (StatusCode::PARTIAL_CONTENT, range)
        }
        Selection::Unsatisfiable => return Ok(unsatisfiable(fixed, length)),
    };
    let bytes = range.end - range.start;
    insert(&mut fixed, header::CONTENT_LENGTH, &bytes.to_string());
    if method == Method::HEAD {
        return Ok((status, fixed, Body::empty()).into_response());
    }
    let part = match shared.store.read(id, range).await {
        Err(error) if error.is_missing() => return Err(AppError::not_found("such artifact")),
        part => part?,
    };
    Ok((status, fixed, Body::from_stream(part)).into_response())
}

fn unsatisfiable(mut fixed: HeaderMap, length: u64) -> Response {
    let all = format!("bytes */{length}");
    insert(&mut fixed, header::CONTENT_RANGE, &all);
    fixed.remove(header::CACHE_CONTROL);
    fixed.remove(header::CONTENT_TYPE);
    let hint = "ask for one range inside the artifact";
    let error = AppError::new(StatusCode::RANGE_NOT_SATISFIABLE, "no such range", hint);
    (fixed, error).into_response()
}

/// Whether `If-None-Match` holds the tag, by weak comparison, or `*`.
pub(super) fn none_match(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    let matches = |value: &HeaderValue| {
        value.to_str().is_ok_and(|value| {
            value.split(',').map(str::trim).any(|tag| {
                tag == "*" || tag.strip_prefix("W/").unwrap_or(tag).as_bytes() == etag.as_bytes()
            })
        })
    };
    headers.get_all(header::IF_NONE_MATCH).iter().any(matches)
}

/// What to send, given `Range` and `If-Range`; a range of another version of the bytes is no range.
fn selection(headers: &HeaderMap, etag: &HeaderValue, length: u64) -> Selection {
    let stale = headers.get(header::IF_RANGE).is_some_and(|tag| tag != etag);
    match headers
        .get(header::RANGE)
        .and_then(|value| value.to_str().ok())
    {
        Some(range) if !stale => select(range, length),
        _ => Selection::Whole,
    }
}

fn blob_headers(name: &str, caching: &str, etag: &HeaderValue) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::ETAG, etag.clone());
    let exposed = "content-length, content-range, accept-ranges, etag";
    let fixed: [(HeaderName, &str); 7] = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::ACCEPT_RANGES, "bytes"),
        (header::CACHE_CONTROL, caching),
        (
            header::CONTENT_DISPOSITION,
            &format!("attachment; filename=\"{name}\""),
        ),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "cross-origin",
        ),
    ];
    for (name, value) in fixed {
        insert(&mut headers, name, value);
    }
    headers
}

/// Sets a header whose value is visible ASCII by construction.
fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
