//! Reading artifacts: the list, and downloads with ranges and revalidation.
//!
//! A blob never changes under its name, so its tag is its hash and it may be cached for ever. Any
//! page may read a blob whose hash it knows (`Access-Control-Allow-Origin: *`, no credentials); the
//! list is readable by pages of this server only.

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};

use super::Shared;
use super::error::AppError;
use super::range::{Selection, select};
use crate::store::{Artifact, BlobId};

/// Most artifacts in one answer.
const LIST_MAX: usize = 1000;

#[derive(Deserialize)]
pub(super) struct ListQuery {
    limit: Option<usize>,
}

#[derive(Serialize)]
struct List {
    artifacts: Vec<Artifact>,
    total: usize,
}

/// `GET /api/artifacts?limit=N`: the newest N (100 by default, at most 1,000), and how many there
/// are.
pub(super) async fn list(
    State(shared): State<Shared>,
    Query(query): Query<ListQuery>,
) -> Result<Response, AppError> {
    let limit = query.limit.unwrap_or(100).min(LIST_MAX);
    let (artifacts, total) = shared.store.list(limit).await?;
    let fixed = [(header::CACHE_CONTROL, "no-store")];
    Ok((fixed, Json(List { artifacts, total })).into_response())
}

/// `GET` and `HEAD /api/artifacts/<sha256>`.
pub(super) async fn download(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, AppError> {
    let id = parse_id(&id)?;
    let Some(length) = shared.store.length(id).await? else {
        return Err(AppError::not_found("such artifact"));
    };
    let etag = HeaderValue::try_from(format!("\"{id}\""))
        .map_err(|error| AppError::new(StatusCode::BAD_REQUEST, error.to_string(), ""))?;
    let mut fixed = blob_headers(id, &etag);
    if none_match(&headers, &etag) {
        return Ok((StatusCode::NOT_MODIFIED, fixed).into_response());
    }
    let selection = selection(&headers, &etag, length);
    let (status, range) = match selection {
        Selection::Whole => (StatusCode::OK, 0..length),
        Selection::Part(range) => {
            let (first, last) = (range.start, range.end - 1);
            insert(
                &mut fixed,
                header::CONTENT_RANGE,
                &format!("bytes {first}-{last}/{length}"),
            );
            (StatusCode::PARTIAL_CONTENT, range)
        }
        Selection::Unsatisfiable => {
            insert(
                &mut fixed,
                header::CONTENT_RANGE,
                &format!("bytes */{length}"),
            );
            let hint = "ask for one range inside the artifact";
            let error = AppError::new(StatusCode::RANGE_NOT_SATISFIABLE, "no such range", hint);
            fixed.remove(header::CACHE_CONTROL);
            fixed.remove(header::CONTENT_TYPE);
            return Ok((fixed, error).into_response());
        }
    };
    insert(
        &mut fixed,
        header::CONTENT_LENGTH,
        &(range.end - range.start).to_string(),
    );
    if method == Method::HEAD {
        return Ok((status, fixed, Body::empty()).into_response());
    }
    let part = shared.store.read(id, range).await?;
    Ok((status, fixed, Body::from_stream(part.stream)).into_response())
}

/// The id in a path segment.
pub(super) fn parse_id(text: &str) -> Result<BlobId, AppError> {
    text.parse().map_err(|error: crate::store::BadId| {
        let hint = "name the artifact by the SHA-256 of its bytes, as `sha256sum FILE` prints it";
        AppError::new(StatusCode::BAD_REQUEST, error.to_string(), hint)
    })
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

fn blob_headers(id: BlobId, etag: &HeaderValue) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::ETAG, etag.clone());
    let exposed = "content-length, content-range, accept-ranges, etag";
    let fixed: [(HeaderName, &str); 7] = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::ACCEPT_RANGES, "bytes"),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (
            header::CONTENT_DISPOSITION,
            &format!("attachment; filename=\"{id}\""),
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
