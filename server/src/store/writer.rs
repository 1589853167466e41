//! A multipart write to the final key: nothing is there until it is completed.

use bytes::{Bytes, BytesMut};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, PutPayload};
use tokio::task::JoinHandle;

use super::StoreError;

/// Gathers bytes into parts and uploads one while the next fills.
#[derive(Debug)]
pub(super) struct Writer {
    upload: Box<dyn MultipartUpload>,
    part_bytes: usize,
    pending: BytesMut,
    under_way: Option<JoinHandle<object_store::Result<()>>>,
}

impl Writer {
    pub(super) async fn start(
        objects: &dyn ObjectStore,
        key: &Path,
        part_bytes: usize,
    ) -> Result<Self, StoreError> {
        let upload = objects
            .put_multipart_opts(key, object_store::PutMultipartOptions::default())
            .await?;
        Ok(Self {
            upload,
            part_bytes,
            pending: BytesMut::new(),
            under_way: None,
        })
    }

    pub(super) async fn write(&mut self, mut bytes: Bytes) -> Result<(), StoreError> {
        while self.pending.len() + bytes.len() >= self.part_bytes {
            let rest = bytes.split_off(self.part_bytes - self.pending.len());
            self.pending.extend_from_slice(&bytes);
            self.send().await?;
            bytes = rest;
        }
        // Copied, since a small network read would keep its whole buffer alive.
        self.pending.extend_from_slice(&bytes);
        Ok(())
    }

    /// Hands over the pending part once the one before has arrived.
    async fn send(&mut self) -> Result<(), StoreError> {
        self.arrived().await?;
        let part = std::mem::take(&mut self.pending).freeze();
        let part = self.upload.put_part(PutPayload::from_bytes(part));
        self.under_way = Some(tokio::spawn(part));
        Ok(())
    }

    async fn arrived(&mut self) -> Result<(), StoreError> {
        match self.under_way.take() {
            Some(part) => Ok(part.await.map_err(object_store::Error::from)??),
            None => Ok(()),
        }
    }

    /// Makes the object exist.
    pub(super) async fn complete(mut self) -> Result<(), StoreError> {
        if !self.pending.is_empty() {
            self.send().await?;
        }
        self.arrived().await?;
        self.upload.complete().await?;
        Ok(())
    }

    /// Forgets everything that was written.
    pub(super) async fn abort(mut self) {
        // What cannot be taken back now is swept later; the failure itself is being reported.
        let _part = self.arrived().await;
        if let Err(error) = self.upload.abort().await {
            tracing::warn!(%error, "an unfinished upload could not be taken back");
        }
    }
}
