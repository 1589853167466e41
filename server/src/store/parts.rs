//! Uploads in parts, so that a broken connection costs one part: parts are stored as they come,
//! any number of times, then read back as one body.

use bytes::{Bytes, BytesMut};
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use object_store::{ObjectStoreExt as _, PutPayload};

use super::id::{BlobId, UploadId};
use super::receive::{Body, BodyError, IntakeError, Limits, Origin, Received};
use super::{Store, StoreError, keys};

/// Bytes of every part but the last.
pub const PART_BYTES: u64 = 8 << 20;
/// Parts of an upload, at most.
pub const PARTS_MAX: u32 = 10_000;

impl Store {
    /// Stores part `number`, from 0, of an upload; the same part again changes nothing.
    ///
    /// # Errors
    /// The body is longer than a part or reaches past the largest upload, broke off or is too slow,
    /// the quota is used up, or the store failed.
    pub async fn receive_part<S>(
        &self,
        upload: UploadId,
        number: u32,
        body: S,
    ) -> Result<(), IntakeError>
    where
        S: Stream<Item = Result<Bytes, BodyError>> + Send + Unpin,
    {
        let limits = Limits {
            upload_bytes_max: self.part_bytes_max(number)?,
            ..self.limits().clone()
        };
        let _slot = self.slot().await;
        let mut body = Body::new(body, &limits, self, Origin::Client);
        let mut part = BytesMut::new();
        while let Some(bytes) = body.next().await? {
            part.extend_from_slice(&bytes);
        }
        let bytes = part.len() as u64;
        let payload = PutPayload::from_bytes(part.freeze());
        let put = self
            .backend
            .objects
            .put(&keys::part(upload, number), payload)
            .await;
        put.map_err(StoreError::from)?;
        self.usage.keep_part((upload, number), bytes);
        Ok(())
    }

    /// Bytes that part `number` may have: none but the last is shorter than [`PART_BYTES`], so its
    /// number says where it lies.
    ///
    /// # Errors
    /// It lies past the largest upload.
    pub fn part_bytes_max(&self, number: u32) -> Result<u64, IntakeError> {
        let limit = self.limits().upload_bytes_max;
        let start = u64::from(number) * PART_BYTES;
        match limit.saturating_sub(start) {
            0 => Err(IntakeError::TooLarge { limit }),
            left => Ok(left.min(PART_BYTES)),
        }
    }

    /// The parts that are there, as (number, bytes) in order.
    ///
    /// # Errors
    /// The store failed.
    pub async fn parts(&self, upload: UploadId) -> Result<Vec<(u32, u64)>, StoreError> {
        let listed = self.backend.objects.list(Some(&keys::parts_of(upload)));
        let numbered = listed.try_filter_map(|meta| async move {
            Ok(keys::part_of(&meta.location).map(|number| (number, meta.size)))
        });
        let mut parts: Vec<_> = numbered.try_collect().await?;
        parts.sort_unstable();
        Ok(parts)
    }

    /// Receives parts 0 to `count` as one blob, as [`Store::receive`] does. The parts stay until
    /// they are forgotten or swept.
    ///
    /// # Errors
    /// As [`Store::receive`].
    pub async fn join_parts(
        &self,
        upload: UploadId,
        count: u32,
        id: BlobId,
    ) -> Result<Received, IntakeError> {
        let parts = self.parts(upload).await?;
        let numbers = (0..count).zip(
            parts
                .iter()
                .map(|part| Some(part.0))
                .chain(std::iter::repeat(None)),
        );
        for (number, found) in numbers {
            if found != Some(number) {
                return Err(IntakeError::MissingPart { number });
            }
        }
        let joined = Box::pin(self.joined(upload, count));
        self.receive_from(id, joined, Origin::Parts).await
    }

    /// Deletes the parts of an upload: they were joined and published.
    pub async fn forget_parts(&self, upload: UploadId) {
        let parts = self.parts(upload).await.unwrap_or_default();
        for (number, _) in parts {
            match self.delete(&keys::part(upload, number)).await {
                Ok(()) => self.usage.drop_part((upload, number)),
                Err(error) => tracing::info!(%error, "a part stays until it is swept"),
            }
        }
    }

    fn joined(
        &self,
        upload: UploadId,
        count: u32,
    ) -> impl Stream<Item = Result<Bytes, BodyError>> + Send + use<> {
        let objects = std::sync::Arc::clone(&self.backend.objects);
        futures::stream::iter(0..count)
            .then(move |number| {
                let objects = std::sync::Arc::clone(&objects);
                async move {
                    objects
                        .get(&keys::part(upload, number))
                        .await?
                        .bytes()
                        .await
                }
            })
            .map_err(|error: object_store::Error| BodyError(error.into()))
    }
}
