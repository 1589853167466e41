//! Artifacts by content hash and their publications, over any object store.
//!
//! Input: streams of bytes with the hash they must have; output: publications, lists, byte ranges.
//! A blob is written by one multipart upload to its final key, which is completed only when hash
//! and content agree, so a torn blob cannot exist and any number of servers share one bucket. A
//! publication is written after its blob, its list entry last: whatever is listed can be read.
//! [`keys`] has the layout.

mod backend;
mod catalog;
mod error;
mod id;
mod keys;
mod parts;
mod publication;
mod publish;
mod readable;
mod receive;
mod sweep;
mod timed;
mod usage;
mod writer;

pub use catalog::{ListQuery, Page};
pub use error::{StoreError, Trouble};
pub use id::{
    BadId, BlobId, DeleteToken, IdempotencyKey, PublicationId, Ticket, TokenHash, UploadId,
};
pub use parts::{PART_BYTES, PARTS_MAX};
pub use publication::{ArtifactKind, BadText, Draft, Facts, Lifetime, Publication, Visibility};
pub use publish::{Published, Withdrawal};
pub use receive::{BodyError, IntakeError, Limits, Received};
pub use sweep::Swept;

use std::ops::Range;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use object_store::{GetOptions, ObjectStore, ObjectStoreExt as _, PutPayload};
use parking_lot::Mutex;

use backend::Backend;
use catalog::Catalog;
use readable::Readable;
use timed::Timed;
use usage::Usage;

/// Ranges up to this length are read in one call and answered from memory.
const READ_AT_ONCE: u64 = 1 << 20;
/// How long a store that was written counts as one that can be.
const WRITABLE: Duration = Duration::from_secs(10);

/// Artifacts and publications in an object store. Clones share everything.
#[derive(Clone, Debug)]
pub struct Store {
    backend: Backend,
    catalog: Arc<Catalog>,
    readable: Arc<Readable>,
    intake: Arc<receive::Intake>,
    usage: Arc<Usage>,
    /// When [`Store::is_ready`] last wrote to it.
    written: Arc<Mutex<Option<Instant>>>,
    timed: Timed,
}

/// Part of a blob as a stream.
pub type BlobPart = BoxStream<'static, Result<Bytes, object_store::Error>>;

impl Store {
    /// Artifacts in a local folder, which is made if missing.
    ///
    /// # Errors
    /// The folder cannot be made or opened.
    pub fn local(folder: &FilePath) -> Result<Self, StoreError> {
        Backend::local(folder).map(|it| Self::with(it, Limits::default()))
    }

    /// Artifacts that live as long as the process.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::with(Backend::in_memory(), Limits::default())
    }

    /// Artifacts in any object store whose lists are ordered by key.
    #[must_use]
    pub fn over(objects: Arc<dyn ObjectStore>) -> Self {
        Self::with(Backend::over(objects), Limits::default())
    }

    /// Artifacts at `s3://`, `gs://` or `az://` with bucket and prefix, or in a folder.
    ///
    /// # Errors
    /// The name means nothing, the environment lacks credentials, or the folder cannot be made.
    pub fn by_url(url: &str) -> Result<Self, StoreError> {
        Backend::by_url(url).map(|it| Self::with(it, Limits::default()))
    }

    /// The same store with other limits for uploads.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        self.timed.set(limits.call);
        Self {
            intake: Arc::new(receive::Intake::new(limits)),
            ..self
        }
    }

    fn with(mut backend: Backend, limits: Limits) -> Self {
        let timed = Timed::new(backend.objects, limits.call);
        backend.objects = Arc::new(timed.clone());
        Self {
            timed,
            catalog: Arc::new(Catalog::new(&backend)),
            readable: Arc::default(),
            intake: Arc::new(receive::Intake::new(limits)),
            usage: Arc::default(),
            written: Arc::default(),
            backend,
        }
    }

    /// What uploads may take.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        self.intake.limits()
    }

    /// Bytes of all artifacts, as counted by the last sweep and by this server since.
    #[must_use]
    pub fn used_bytes(&self) -> u64 {
        self.usage.stored()
    }

    /// Length of a blob in bytes, or `None` where there is none. Says nothing of who may read it.
    ///
    /// # Errors
    /// The store failed.
    pub async fn length(&self, id: BlobId) -> Result<Option<u64>, StoreError> {
        if let Some(length) = self.readable.length(id) {
            return Ok(Some(length));
        }
        match self.backend.objects.head(&keys::blob(id)).await {
            Ok(meta) => {
                self.readable.keep_length(id, meta.size);
                Ok(Some(meta.size))
            }
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The bytes `range` of a blob, which must lie inside it.
    ///
    /// # Errors
    /// The store failed, or the blob is gone ([`StoreError::is_missing`]).
    pub async fn read(&self, id: BlobId, range: Range<u64>) -> Result<BlobPart, StoreError> {
        let read = self.read_part(id, range).await;
        if read.as_ref().is_err_and(StoreError::is_missing) {
            self.readable.forget(id);
        }
        read
    }

    async fn read_part(&self, id: BlobId, range: Range<u64>) -> Result<BlobPart, StoreError> {
        let (objects, key) = (&self.backend.objects, keys::blob(id));
        if range.is_empty() {
            return Ok(futures::stream::empty().boxed());
        }
        if range.end - range.start <= READ_AT_ONCE {
            let bytes = objects.get_range(&key, range).await?;
            return Ok(futures::stream::iter([Ok(bytes)]).boxed());
        }
        let options = GetOptions {
            range: Some(range.into()),
            ..GetOptions::default()
        };
        Ok(objects.get_opts(&key, options).await?.into_stream())
    }

    /// The file of a blob, where the store is a folder.
    #[must_use]
    pub fn path(&self, id: BlobId) -> Option<PathBuf> {
        let folder = self.backend.folder.as_ref()?;
        Some(folder.path.join(keys::BLOBS).join(id.to_string()))
    }

    /// One page of the public publications, newest first.
    ///
    /// # Errors
    /// The store failed.
    pub async fn list(&self, query: &ListQuery) -> Result<Page, StoreError> {
        self.catalog.refresh().await?;
        Ok(self.catalog.page(query, now_ms()))
    }

    /// Whether the store can be read and written and answers within two seconds.
    ///
    /// # Errors
    /// It does not, or says that it cannot.
    pub async fn is_ready(&self) -> Result<(), StoreError> {
        let asked = async {
            self.is_there(&keys::blob(BlobId::of(b""))).await?;
            let lately = |at: Instant| at.elapsed() < WRITABLE;
            if !self.written.lock().is_some_and(lately) {
                let objects = &self.backend.objects;
                objects.put(&keys::ready(), PutPayload::new()).await?;
                *self.written.lock() = Some(Instant::now());
            }
            Ok(())
        };
        let answered = tokio::time::timeout(Duration::from_secs(2), asked).await;
        answered.unwrap_or(Err(StoreError::Slow))
    }
}

/// Milliseconds since 1970-01-01 UTC.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
