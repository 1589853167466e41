//! Hash and record check of a columnar profile, a batch at a time off the async threads.

use analytics::format::{DecodeError, StreamCheck};
use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use super::IntakeError;
use crate::open::{Refused, workload_of};
use crate::store::id::BlobId;
use crate::store::publication::{ArtifactKind, Facts};

/// Bytes that are worth a hand-over to another thread.
const BATCH: usize = 512 << 10;

#[derive(Default)]
pub(super) struct Check {
    hash: Sha256,
    records: StreamCheck,
    /// What is wrong with the records; the rest is only hashed then, so that a transfer that
    /// damaged the file is told from a file that is damaged.
    refused: Option<DecodeError>,
    waiting: Vec<Bytes>,
    waiting_bytes: usize,
    bytes: u64,
}

impl Check {
    /// Takes the next bytes of the file.
    pub(super) async fn take(mut self, bytes: Bytes) -> Result<Self, IntakeError> {
        self.bytes += bytes.len() as u64;
        self.waiting_bytes += bytes.len();
        self.waiting.push(bytes);
        if self.waiting_bytes < BATCH {
            return Ok(self);
        }
        self.settle().await
    }

    /// Checks what waits.
    pub(super) async fn settle(mut self) -> Result<Self, IntakeError> {
        let checked = tokio::task::spawn_blocking(move || {
            for bytes in self.waiting.drain(..) {
                self.hash.update(&bytes);
                if self.refused.is_none() {
                    self.refused = self.records.push(&bytes).err();
                }
            }
            self.waiting_bytes = 0;
            self
        });
        Ok(checked.await?)
    }

    /// Whether the rest is worth writing.
    pub(super) const fn is_good(&self) -> bool {
        self.refused.is_none()
    }

    /// What the file is, now that it has ended, if it has the hash `id`.
    pub(super) fn finish(self, id: BlobId) -> Result<Facts, IntakeError> {
        let found = BlobId::from_digest(self.hash.finalize().into());
        if found != id {
            return Err(IntakeError::WrongHash { found });
        }
        if let Some(error) = self.refused {
            return Err(Refused::from(error).into());
        }
        let checked = self.records.finish().map_err(Refused::from)?;
        Ok(Facts {
            kind: ArtifactKind::Profile,
            bytes: self.bytes,
            workload: workload_of(&checked.header),
            tiles: checked.tiles,
            samples: checked.samples,
            cycles: checked.span.get(),
        })
    }
}
