//! Files that must be seen whole: kept in a temporary file without a name, which goes away with
//! the process whatever happens, and judged there.

use std::fs::File;

use bytes::Bytes;
use futures::Stream;
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncWriteExt as _;

use super::{Body, BodyError, IntakeError};
use crate::open::{self, Refused};
use crate::store::id::BlobId;
use crate::store::publication::Facts;

/// A file that was received whole.
pub(super) struct Spooled {
    file: File,
    pub(super) id: BlobId,
}

/// Writes the body to a file of at most `spool_bytes_max` bytes.
pub(super) async fn spool<S>(
    head: Bytes,
    body: &mut Body<'_, S>,
    what: &'static str,
) -> Result<Spooled, IntakeError>
where
    S: Stream<Item = Result<Bytes, BodyError>> + Send + Unpin,
{
    let limit = body.limits.spool_bytes_max;
    let file = tempfile::tempfile().map_err(IntakeError::Spool)?;
    let mut file = tokio::fs::File::from_std(file);
    let mut hash = Sha256::new();
    let mut next = Some(head);
    while let Some(bytes) = next {
        if body.bytes > limit {
            return Err(IntakeError::TooLargeToJudge { what, limit });
        }
        hash.update(&bytes);
        file.write_all(&bytes).await.map_err(IntakeError::Spool)?;
        next = body.next().await?;
    }
    file.flush().await.map_err(IntakeError::Spool)?;
    Ok(Spooled {
        file: file.into_std().await,
        id: BlobId::from_digest(hash.finalize().into()),
    })
}

/// Parses the file with bounds; its content comes back as memory that maps it.
pub(super) async fn judge(spooled: Spooled) -> Result<(Facts, Bytes), IntakeError> {
    let judged = tokio::task::spawn_blocking(move || {
        let content = open::map_open(&spooled.file).map_err(Refused::from)?;
        Ok::<_, Refused>((open::inspect(content.clone())?, content))
    });
    Ok(judged.await??)
}
