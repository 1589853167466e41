//! Artifacts by content hash, over any object store.
//!
//! Input: a file that was spooled, hashed and checked; output: byte ranges and descriptions. Keys
//! are `blobs/<sha256>` for the bytes and `meta/<sha256>.json` for the description. A blob is
//! written whole by the store's own multipart upload, which publishes at its end, so a torn blob
//! cannot exist; the description follows it, so whatever is listed can be read.

mod artifact;
mod id;
mod intake;

pub use artifact::{Artifact, ArtifactKind};
pub use id::{BadId, BlobId};
pub use intake::{IntakeError, take_in};

use std::ops::Range;
use std::path::Path as FilePath;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt as _, TryStreamExt as _};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{GetOptions, ObjectStore, ObjectStoreExt as _, WriteMultipart};
use tokio::io::AsyncReadExt as _;

/// Bytes read and uploaded at a time.
const PART_BYTES: usize = 5 << 20;

/// The object store failed, or holds something that is not ours.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The local folder cannot be made or opened.
    #[error("cannot use the artifact folder {folder}: {cause}")]
    Folder {
        /// The folder.
        folder: String,
        /// What the system said.
        cause: String,
    },
    /// A call to the object store failed.
    #[error("the artifact store failed: {0}")]
    Object(#[from] object_store::Error),
    /// The spooled upload cannot be read back.
    #[error("cannot read the spooled upload: {0}")]
    Spool(#[from] std::io::Error),
    /// A description is no description.
    #[error("the description of artifact {id} is damaged: {cause}")]
    Description {
        /// The artifact.
        id: String,
        /// What the parser said.
        cause: String,
    },
}

/// Artifacts in an object store.
#[derive(Clone, Debug)]
pub struct Store {
    objects: Arc<dyn ObjectStore>,
}

/// Part of a blob as a stream.
pub struct BlobPart {
    /// Length of the whole blob in bytes.
    pub total: u64,
    /// The bytes asked for.
    pub stream: BoxStream<'static, Result<Bytes, object_store::Error>>,
}

impl Store {
    /// Artifacts in a local folder, which is made if missing.
    ///
    /// # Errors
    /// The folder cannot be made or opened.
    pub fn local(folder: &FilePath) -> Result<Self, StoreError> {
        let fail = |cause: String| {
            let folder = folder.display().to_string();
            StoreError::Folder { folder, cause }
        };
        std::fs::create_dir_all(folder).map_err(|error| fail(error.to_string()))?;
        let objects = LocalFileSystem::new_with_prefix(folder).map_err(|e| fail(e.to_string()))?;
        Ok(Self::over(Arc::new(objects)))
    }

    /// Artifacts that live as long as the process.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::over(Arc::new(InMemory::new()))
    }

    /// Artifacts in any object store.
    #[must_use]
    pub fn over(objects: Arc<dyn ObjectStore>) -> Self {
        Self { objects }
    }

    /// Length of a blob in bytes, or `None` where there is none.
    ///
    /// # Errors
    /// The store failed.
    pub async fn length(&self, id: BlobId) -> Result<Option<u64>, StoreError> {
        match self.objects.head(&blob_key(id)).await {
            Ok(meta) => Ok(Some(meta.size)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The bytes `range` of a blob, which must lie inside it.
    ///
    /// # Errors
    /// The store failed, or there is no such blob.
    pub async fn read(&self, id: BlobId, range: Range<u64>) -> Result<BlobPart, StoreError> {
        let options = if range.is_empty() {
            GetOptions::default()
        } else {
            GetOptions {
                range: Some(range.into()),
                ..GetOptions::default()
            }
        };
        let result = self.objects.get_opts(&blob_key(id), options).await?;
        Ok(BlobPart {
            total: result.meta.size,
            stream: result.into_stream(),
        })
    }

    /// Publishes the bytes of `spool` under the id of `artifact`: the blob, then its description.
    ///
    /// # Errors
    /// The store or the spool failed; nothing is listed then.
    pub async fn publish(&self, artifact: &Artifact, spool: &FilePath) -> Result<(), StoreError> {
        let key = blob_key(artifact.sha256);
        let mut file = tokio::fs::File::open(spool).await?;
        let upload = self.objects.put_multipart(&key).await?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, PART_BYTES);
        let mut buffer = vec![0; PART_BYTES];
        loop {
            let count = file.read(&mut buffer).await?;
            if count == 0 {
                break;
            }
            upload.wait_for_capacity(2).await?;
            upload.write(&buffer[..count]);
        }
        upload.finish().await?;
        let text = artifact.to_json();
        self.objects
            .put(&meta_key(artifact.sha256), text.into_bytes().into())
            .await?;
        Ok(())
    }

    /// The description of an artifact, or `None` where there is none.
    ///
    /// # Errors
    /// The store failed, or the description is damaged.
    pub async fn describe(&self, id: BlobId) -> Result<Option<Artifact>, StoreError> {
        let result = match self.objects.get(&meta_key(id)).await {
            Ok(result) => result,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        Artifact::from_json(id, &result.bytes().await?).map(Some)
    }

    /// The `limit` newest artifacts, newest first, and how many there are in all.
    ///
    /// # Errors
    /// The store failed, or a description is damaged.
    pub async fn list(&self, limit: usize) -> Result<(Vec<Artifact>, usize), StoreError> {
        let mut found: Vec<_> = self
            .objects
            .list(Some(&Path::from("meta")))
            .try_filter_map(|meta| async move {
                let name = meta
                    .location
                    .filename()
                    .and_then(|name| name.strip_suffix(".json"));
                let id = name.and_then(|name| name.parse::<BlobId>().ok());
                Ok(id.map(|id| (meta.last_modified, id)))
            })
            .try_collect()
            .await?;
        found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        let total = found.len();
        found.truncate(limit);
        let described = futures::stream::iter(found)
            .map(|(_, id)| self.describe(id))
            .buffered(16)
            .try_filter_map(|artifact| async move { Ok(artifact) })
            .try_collect()
            .await?;
        Ok((described, total))
    }
}

fn blob_key(id: BlobId) -> Path {
    Path::from(format!("blobs/{id}"))
}

fn meta_key(id: BlobId) -> Path {
    Path::from(format!("meta/{id}.json"))
}
