//! Profiles of the store, opened to be asked.
//!
//! A profile is mapped from the store's folder, or from a temporary copy where the store is a
//! bucket; a few stay open, and only so many are asked at a time.

use std::fs::File;
use std::sync::Arc;

use analytics::format::open_bytes;
use analytics::profile::ProfileReport;
use axum::http::StatusCode;
use futures::TryStreamExt as _;
use parking_lot::Mutex;
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::Shared;
use super::error::AppError;
use crate::store::{BlobId, IntakeError, PublicationId, Store, StoreError};

/// Profiles that stay open.
const OPEN_MAX: usize = 4;
/// Questions answered at a time.
const AT_ONCE: usize = 2;

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

impl Profiles {
    /// Waits until a question may be answered; it may for as long as what is returned lives.
    pub(super) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        self.turns.acquire().await.ok()
    }
}

/// A hash as text, where a public publication has it.
///
/// # Errors
/// Where the text is no hash or nothing public has it.
pub(super) async fn public(shared: &Shared, id: &str) -> Result<BlobId, AppError> {
    let id: BlobId = id.parse()?;
    if !shared.store.is_public(id).await? {
        return Err(AppError::not_found("such artifact"));
    }
    Ok(id)
}

/// The hash of a publication whose id is this text.
///
/// # Errors
/// Where the text is no id or there is no such publication.
pub(super) async fn published(shared: &Shared, id: &str) -> Result<BlobId, AppError> {
    let id: PublicationId = id.parse()?;
    let found = shared.store.publication(id).await?;
    let found = found.ok_or_else(|| AppError::not_found("such publication"))?;
    Ok(found.sha256)
}

/// The opened profile of a blob.
///
/// # Errors
/// Where the blob is gone, cannot be read, or is no profile.
pub(super) async fn report(shared: &Shared, id: BlobId) -> Result<Arc<ProfileReport>, AppError> {
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
    let mut bytes = match store.read(id, 0..length).await {
        Err(error) if error.is_missing() => return Err(AppError::not_found("such artifact")),
        bytes => bytes?,
    };
    while let Some(piece) = bytes.try_next().await.map_err(StoreError::from)? {
        copy.write_all(&piece).await.map_err(IntakeError::Spool)?;
    }
    copy.flush().await.map_err(IntakeError::Spool)?;
    Ok(copy.into_std().await)
}
