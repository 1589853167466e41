//! Taking a file in: full bounded parse → description → published.
//!
//! The one door into the store, for uploads and for files named on the command line.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Artifact, BlobId, Store, StoreError};
use crate::open::{self, Inspected, Refused};

/// Why a file was not published.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IntakeError {
    /// The file is no profile and no package, or a damaged one.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The check itself failed.
    #[error("checking the file failed inside the server: {0}")]
    Check(#[from] tokio::task::JoinError),
}

/// Publishes the file at `path`, whose content has the hash `id`, unless it is there already.
///
/// The result says whether it is new.
///
/// # Errors
/// The file is refused or the store failed; nothing is listed then.
pub async fn take_in(
    store: &Store,
    path: &Path,
    id: BlobId,
) -> Result<(Artifact, bool), IntakeError> {
    if let Some(artifact) = store.describe(id).await? {
        return Ok((artifact, false));
    }
    let checked = path.to_path_buf();
    let inspected = tokio::task::spawn_blocking(move || open::inspect(&checked)).await??;
    let Inspected {
        kind,
        bytes,
        workload,
        tiles,
        samples,
    } = inspected;
    let since_epoch = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let created_ms = u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX);
    let artifact = Artifact {
        sha256: id,
        kind,
        bytes,
        created_ms,
        workload,
        tiles,
        samples,
    };
    store.publish(&artifact, path).await?;
    Ok((artifact, true))
}
