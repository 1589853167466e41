//! Questions to a stored profile: the JSON of `profile-query`, byte for byte.
//!
//! The query of the address has the names of the command's flags, and is read by the command's own
//! parser. A profile is mapped from the store's folder, or from a temporary copy where the store
//! is a bucket; a few stay open.

use std::fs::File;
use std::sync::Arc;

use analytics::format::open_bytes;
use analytics::profile::ProfileReport;
use analytics::query::query;
use analytics::report::query_json;
use axum::extract::{Path, RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures::TryStreamExt as _;
use parking_lot::Mutex;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::Semaphore;

use super::Shared;
use super::error::AppError;
use crate::store::{BlobId, IntakeError, PublicationId, Store, StoreError};

/// Profiles that stay open.
const OPEN_MAX: usize = 4;
/// Questions answered at a time.
const AT_ONCE: usize = 2;
/// Longest query of an address in bytes.
const QUERY_BYTES_MAX: usize = 8 << 10;

/// Opened profiles, the last used last.
#[derive(Debug)]
pub(super) struct Profiles {
    open: Mutex<Vec<(BlobId, Arc<ProfileReport>)>>,
    turns: Semaphore,
}

impl Default for Profiles {
    fn default() -> Self {
        Self {
            open: Mutex::default(),
            turns: Semaphore::new(AT_ONCE),
        }
    }
}

/// `GET /api/artifacts/<sha256>/query?FLAGS`.
pub(super) async fn by_hash(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    RawQuery(flags): RawQuery,
) -> Result<Response, AppError> {
    let id: BlobId = id.parse()?;
    if !shared.store.is_public(id).await? {
        return Err(AppError::not_found("such artifact"));
    }
    answer(&shared, id, &flags.unwrap_or_default()).await
}

/// `GET /api/publications/<id>/query?FLAGS`.
pub(super) async fn by_publication(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    RawQuery(flags): RawQuery,
) -> Result<Response, AppError> {
    let id: PublicationId = id.parse()?;
    let found = shared.store.publication(id).await?;
    let found = found.ok_or_else(|| AppError::not_found("such publication"))?;
    answer(&shared, found.sha256, &flags.unwrap_or_default()).await
}

async fn answer(shared: &Shared, id: BlobId, flags: &str) -> Result<Response, AppError> {
    if flags.len() > QUERY_BYTES_MAX {
        let error = format!("the query is longer than {QUERY_BYTES_MAX} bytes");
        return Err(AppError::bad_request(error, "ask for less at once"));
    }
    let question = crate::cli::question(words(flags)?);
    let question = question.map_err(|error| {
        AppError::bad_request(
            error,
            "the names are the flags of `ipu-stack profile-query`",
        )
    })?;
    let _turn = shared.profiles.turns.acquire().await.ok();
    let report = report(shared, id).await?;
    let answered = tokio::task::spawn_blocking(move || {
        query(&report, &question).map(|answer| query_json(&answer))
    });
    let json = answered
        .await
        .map_err(IntakeError::Check)?
        .map_err(|error| {
            let hint = "see `ipu-stack profile-query --help`";
            AppError::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string(), hint)
        })?;
    let fixed = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "private, max-age=3600"),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    ];
    Ok((fixed, json).into_response())
}

/// `a=b&c` as `--a=b` and `--c`.
fn words(flags: &str) -> Result<Vec<String>, AppError> {
    let mut words = Vec::new();
    for pair in flags.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let is_flag = |it: u8| it.is_ascii_lowercase() || it == b'-';
        if name.is_empty() || name.starts_with('-') || !name.bytes().all(is_flag) {
            let hint = "the names are the flags of `ipu-stack profile-query`, without dashes";
            return Err(AppError::bad_request(format!("no flag {name:?}"), hint));
        }
        words.push(if value.is_empty() {
            format!("--{name}")
        } else {
            format!("--{name}={}", decoded(value)?)
        });
    }
    Ok(words)
}

/// Percent-decoded text; a plus is a space, as in forms.
fn decoded(value: &str) -> Result<String, AppError> {
    let spaced = value.replace('+', " ");
    let text = percent_encoding::percent_decode_str(&spaced).decode_utf8();
    text.map(std::borrow::Cow::into_owned)
        .map_err(|error| AppError::bad_request(error.to_string(), "percent-encode UTF-8"))
}

/// The opened profile of a blob.
async fn report(shared: &Shared, id: BlobId) -> Result<Arc<ProfileReport>, AppError> {
    {
        let mut open = shared.profiles.open.lock();
        if let Some(at) = open.iter().position(|entry| entry.0 == id) {
            let entry = open.remove(at);
            let report = Arc::clone(&entry.1);
            open.push(entry);
            return Ok(report);
        }
    }
    let file = file(&shared.store, id).await?;
    let opened = tokio::task::spawn_blocking(move || {
        let content = crate::open::map_open(&file).map_err(|error| error.to_string())?;
        open_bytes(content).map_err(|error| error.to_string())
    });
    let report = opened.await.map_err(IntakeError::Check)?.map_err(|error| {
        let hint = "only profiles can be asked";
        AppError::new(StatusCode::UNPROCESSABLE_ENTITY, error, hint)
    })?;
    let report = Arc::new(report);
    let mut open = shared.profiles.open.lock();
    if open.len() >= OPEN_MAX {
        open.remove(0);
    }
    open.push((id, Arc::clone(&report)));
    Ok(report)
}

/// The blob as a file, copied to a nameless one where the store has none.
async fn file(store: &Store, id: BlobId) -> Result<File, AppError> {
    if let Some(path) = store.path(id) {
        return File::open(path).map_err(|_gone| AppError::not_found("such artifact"));
    }
    let length = store.length(id).await?;
    let length = length.ok_or_else(|| AppError::not_found("such artifact"))?;
    let copy = tempfile::tempfile().map_err(IntakeError::Spool)?;
    let mut copy = tokio::fs::File::from_std(copy);
    let mut bytes = store.read(id, 0..length).await?;
    while let Some(piece) = bytes.try_next().await.map_err(StoreError::from)? {
        copy.write_all(&piece).await.map_err(IntakeError::Spool)?;
    }
    copy.flush().await.map_err(IntakeError::Spool)?;
    Ok(copy.into_std().await)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_become_flags_and_nothing_else_does() {
        let found = words("kind=compute&tile=3&tile=4&metadata=a%3Db+c&shared-clock&&strict=");
        let expected = [
            "--kind=compute",
            "--tile=3",
            "--tile=4",
            "--metadata=a=b c",
            "--shared-clock",
            "--strict",
        ];
        assert_eq!(found, Ok(expected.map(str::to_owned).to_vec()));
        for bad in ["-o=x", "=x", "Kind=x", "a b=1", "kind=%ff"] {
            assert!(words(bad).is_err(), "{bad}");
        }
    }
}
