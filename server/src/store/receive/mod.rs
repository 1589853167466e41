//! Receiving a blob: bytes with the hash they must have → checked while they pass → at their key.
//!
//! A columnar profile streams: each piece is hashed, checked record by record and written on as
//! part of one multipart upload, which is completed only when all agree. Anything else must be
//! seen whole before it can be judged, so it is bounded, kept in a nameless temporary file and
//! judged there, one at a time. A number of slots bounds the memory of all uploads; who waits for
//! one is not read from.

use std::time::Duration;

use analytics::format::{FileKind, sniff};
use bytes::Bytes;
use futures::{Stream, StreamExt as _};
use object_store::{ObjectStoreExt as _, PutPayload};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::id::{BlobId, PublicationId};
use super::keys;
use super::publication::Facts;
use super::writer::Writer;
use super::{Store, StoreError};
use crate::open::{Refused, looks_rendered};

mod check;
mod spool;

use check::Check;

/// Bytes that tell what a file is.
const HEAD: usize = 64 << 10;

/// What uploads may take.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Largest upload in bytes.
    pub upload_bytes_max: u64,
    /// Largest upload that is not a columnar profile, in bytes.
    pub spool_bytes_max: u64,
    /// Bytes of all artifacts together; none: no bound.
    pub quota_bytes: Option<u64>,
    /// Uploads that are read from at a time.
    pub slots: usize,
    /// A time in which `window_bytes` must arrive, or the upload is given up.
    pub window: Duration,
    /// Bytes that must arrive in each `window`, unless the upload ends.
    pub window_bytes: u64,
    /// How long one call of the store may take: a part, the end of a write, a page of a list.
    pub call: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            upload_bytes_max: 1 << 30,
            spool_bytes_max: 256 << 20,
            quota_bytes: None,
            slots: 8,
            window: Duration::from_secs(20),
            window_bytes: 256 << 10,
            call: Duration::from_secs(300),
        }
    }
}

/// A body that ended before its end.
#[derive(Debug, thiserror::Error)]
#[error("the upload was cut off: {0}")]
pub struct BodyError(pub Box<dyn std::error::Error + Send + Sync>);

/// Why nothing was stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IntakeError {
    /// The connection broke.
    #[error(transparent)]
    Body(BodyError),
    /// The client sends next to nothing.
    #[error("the upload brought less than {bytes} bytes in {seconds} seconds")]
    TooSlow {
        /// Bytes that had to arrive.
        bytes: u64,
        /// Time they had.
        seconds: u64,
    },
    /// More bytes than the limit.
    #[error("the upload is larger than the limit of {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// A file that must be seen whole is too large for that.
    #[error("{what} of more than {limit} bytes is not taken")]
    TooLargeToJudge {
        /// What the file is.
        what: &'static str,
        /// The limit in bytes.
        limit: u64,
    },
    /// The store has no room for it.
    #[error("the server keeps at most {quota} bytes of artifacts, and they are used up")]
    OverQuota {
        /// The quota in bytes.
        quota: u64,
    },
    /// The bytes have another hash than they were to have.
    #[error("the body has the hash {found}, not the one it is uploaded under")]
    WrongHash {
        /// The hash of the bytes.
        found: BlobId,
    },
    /// A part of an upload in parts is not there.
    #[error("part {number} of the upload is missing")]
    MissingPart {
        /// Its number.
        number: u32,
    },
    /// The file is of no kind that is taken, or a damaged one.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The key of the client stands for another publication.
    #[error("the idempotency key was used for {0}")]
    KeyUsed(&'static str),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No room for a file while it is judged.
    #[error("the upload cannot be kept while it is checked: {0}")]
    Spool(std::io::Error),
    /// The check itself failed.
    #[error("checking the file failed inside the server: {0}")]
    Check(#[from] tokio::task::JoinError),
}

/// Parts that cannot be read back are the store's failure, not the client's.
impl From<BodyError> for IntakeError {
    fn from(error: BodyError) -> Self {
        match error.0.downcast::<object_store::Error>() {
            Ok(error) => Self::Store(StoreError::from(*error)),
            Err(error) => Self::Body(BodyError(error)),
        }
    }
}

/// Where the bytes of a blob come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// From outside: they count while they arrive.
    Client,
    /// From parts in the store, which count already.
    Parts,
}

/// A blob that is at its key.
#[derive(Clone, Debug)]
pub struct Received {
    /// What it is.
    pub facts: Facts,
    /// What keeps the blob until it is published.
    pub claim: PublicationId,
}

/// What uploads share.
#[derive(Debug)]
pub(super) struct Intake {
    limits: Limits,
    slots: Semaphore,
    judging: Semaphore,
}

impl Intake {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            slots: Semaphore::new(limits.slots.max(1)),
            judging: Semaphore::new(1),
            limits,
        }
    }

    pub(super) const fn limits(&self) -> &Limits {
        &self.limits
    }
}

impl Store {
    /// Stores the bytes of `body`, which must have the hash `id`, under a claim that keeps them
    /// until they are published or the claim is too old.
    ///
    /// # Errors
    /// The bytes are not what they should be, are too many, or the store failed; nothing is there
    /// then that was not there before.
    pub async fn receive<S>(&self, id: BlobId, body: S) -> Result<Received, IntakeError>
    where
        S: Stream<Item = Result<Bytes, BodyError>> + Send + Unpin,
    {
        self.receive_from(id, body, Origin::Client).await
    }

    pub(super) async fn receive_from<S>(
        &self,
        id: BlobId,
        body: S,
        origin: Origin,
    ) -> Result<Received, IntakeError>
    where
        S: Stream<Item = Result<Bytes, BodyError>> + Send + Unpin,
    {
        let intake = &self.intake;
        let _slot = self.slot().await;
        let claim = PublicationId::random().map_err(StoreError::from)?;
        let key = keys::claim(id, claim);
        let claimed = self.backend.objects.put(&key, PutPayload::new()).await;
        claimed.map_err(StoreError::from)?;
        let mut body = Body::new(body, intake.limits(), self, origin);
        let facts = self.take(id, &mut body).await;
        match facts {
            Ok(facts) => {
                self.usage.keep_blob(id, facts.bytes);
                self.readable.keep_length(id, facts.bytes);
                Ok(Received { facts, claim })
            }
            Err(error) => {
                // A claim that stays is swept.
                let _gone = self.delete(&key).await;
                Err(error)
            }
        }
    }

    /// Waits for a slot, which is free again when the value is dropped.
    pub(super) async fn slot(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore lives as long as the store and is never closed.
        self.intake.slots.acquire().await.ok()
    }

    /// Whether another publication may be made, which takes room though its blob is there.
    ///
    /// # Errors
    /// The quota is used up.
    pub fn ensure_room(&self) -> Result<(), IntakeError> {
        match self.limits().quota_bytes {
            Some(quota) if self.used_bytes() >= quota => Err(IntakeError::OverQuota { quota }),
            _ => Ok(()),
        }
    }

    /// Gives up a claim: the publication was made, or will not be.
    pub async fn release(&self, id: BlobId, claim: PublicationId) {
        if let Err(error) = self.delete(&keys::claim(id, claim)).await {
            tracing::info!(%error, "a claim stays until it is swept");
        }
    }

    async fn take<S>(&self, id: BlobId, body: &mut Body<'_, S>) -> Result<Facts, IntakeError>
    where
        S: Stream<Item = Result<Bytes, BodyError>> + Send + Unpin,
    {
        let head = body.head().await?;
        if sniff(&head) == FileKind::Columnar {
            return self.stream(id, head, body).await;
        }
        let what = match sniff(&head) {
            FileKind::RowProfile => "a row profile",
            FileKind::Package => "a package",
            _ if looks_rendered(&head) => "a rendered page",
            found => {
                let refused = analytics::format::DecodeError::NotAProfile { found };
                return Err(Refused::from(refused).into());
            }
        };
        let file = spool::spool(head, body, what).await?;
        if file.id != id {
            return Err(IntakeError::WrongHash { found: file.id });
        }
        let turn = self.intake.judging.acquire().await.ok();
        let (facts, content) = spool::judge(file).await?;
        drop(turn);
        let mut writer = self.writer(id).await?;
        for at in (0..content.len()).step_by(self.backend.part_bytes) {
            let end = content.len().min(at + self.backend.part_bytes);
            if let Err(error) = writer.write(content.slice(at..end)).await {
                writer.abort().await;
                return Err(error.into());
            }
        }
        writer.complete().await?;
        Ok(facts)
    }

    async fn writer(&self, id: BlobId) -> Result<Writer, StoreError> {
        let backend = &self.backend;
        Writer::start(&*backend.objects, &keys::blob(id), backend.part_bytes).await
    }

    /// Checks a columnar profile while it is written.
    async fn stream<S>(
        &self,
        id: BlobId,
        head: Bytes,
        body: &mut Body<'_, S>,
    ) -> Result<Facts, IntakeError>
    where
        S: Stream<Item = Result<Bytes, BodyError>> + Send + Unpin,
    {
        let mut writer = self.writer(id).await?;
        let passed = pass(head, body, &mut writer).await;
        match passed.and_then(|check| check.finish(id)) {
            Ok(facts) => {
                writer.complete().await?;
                Ok(facts)
            }
            Err(error) => {
                writer.abort().await;
                Err(error)
            }
        }
    }
}

/// Every byte through the check and into the writer.
async fn pass<S>(
    head: Bytes,
    body: &mut Body<'_, S>,
    writer: &mut Writer,
) -> Result<Check, IntakeError>
where
    S: Stream<Item = Result<Bytes, BodyError>> + Send + Unpin,
{
    let mut check = Check::default();
    let mut next = Some(head);
    while let Some(bytes) = next {
        check = check.take(bytes.clone()).await?;
        if check.is_good() {
            writer.write(bytes).await?;
        }
        next = body.next().await?;
    }
    check.settle().await
}

/// A body with its limits: length, quota and pace.
pub(super) struct Body<'a, S> {
    stream: S,
    limits: &'a Limits,
    store: &'a Store,
    origin: Origin,
    bytes: u64,
    waited: Duration,
    in_window: u64,
}

impl<'a, S> Body<'a, S>
where
    S: Stream<Item = Result<Bytes, BodyError>> + Send + Unpin,
{
    pub(super) fn new(stream: S, limits: &'a Limits, store: &'a Store, origin: Origin) -> Self {
        Self {
            stream,
            limits,
            store,
            origin,
            bytes: 0,
            waited: Duration::ZERO,
            in_window: 0,
        }
    }

    /// The first bytes, enough to tell what the file is where it has as many.
    async fn head(&mut self) -> Result<Bytes, IntakeError> {
        let mut head = bytes::BytesMut::new();
        while head.len() < HEAD {
            match self.next().await? {
                Some(bytes) => head.extend_from_slice(&bytes),
                None => break,
            }
        }
        Ok(head.freeze())
    }

    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, IntakeError> {
        let slow = IntakeError::TooSlow {
            bytes: self.limits.window_bytes,
            seconds: self.limits.window.as_secs(),
        };
        let asked = tokio::time::Instant::now();
        let left = self.limits.window.saturating_sub(self.waited);
        let next = tokio::time::timeout(left, self.stream.next()).await;
        // Time in which the store was written is not the client's.
        self.waited += asked.elapsed();
        let bytes = match next {
            Ok(None) => return Ok(None),
            Ok(Some(bytes)) => bytes?,
            Err(_elapsed) if self.in_window < self.limits.window_bytes => return Err(slow),
            Err(_elapsed) => Bytes::new(),
        };
        self.in_window += bytes.len() as u64;
        if self.waited >= self.limits.window {
            if self.in_window < self.limits.window_bytes {
                return Err(slow);
            }
            (self.waited, self.in_window) = (Duration::ZERO, 0);
        }
        self.count(bytes.len() as u64)?;
        Ok(Some(bytes))
    }

    fn count(&mut self, more: u64) -> Result<(), IntakeError> {
        self.bytes += more;
        let limit = self.limits.upload_bytes_max;
        if self.origin == Origin::Parts {
            let fits = self.bytes <= limit;
            return fits.then_some(()).ok_or(IntakeError::TooLarge { limit });
        }
        let used = self.store.usage.arrive(more);
        if self.bytes > limit {
            return Err(IntakeError::TooLarge { limit });
        }
        match self.limits.quota_bytes {
            Some(quota) if used > quota => Err(IntakeError::OverQuota { quota }),
            _ => Ok(()),
        }
    }
}

impl<S> Drop for Body<'_, S> {
    fn drop(&mut self) {
        if self.origin == Origin::Client {
            self.store.usage.end(self.bytes);
        }
    }
}
