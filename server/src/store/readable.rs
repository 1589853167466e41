//! What was lately found of blobs: their length, and until when they count as public.
//!
//! A length never changes. That a blob is public is believed for a short time only, so that a
//! deletion by another server is obeyed soon.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::id::BlobId;

/// How long a blob found public is taken to be so.
pub(super) const BELIEF: Duration = Duration::from_secs(2);
/// Blobs remembered; at this number all are forgotten.
const BLOBS_MAX: usize = 16_384;

#[derive(Clone, Copy, Debug, Default)]
struct Known {
    length: Option<u64>,
    public_until: Option<Instant>,
}

#[derive(Debug, Default)]
pub(super) struct Readable {
    known: Mutex<BTreeMap<BlobId, Known>>,
}

impl Readable {
    pub(super) fn length(&self, id: BlobId) -> Option<u64> {
        self.known.lock().get(&id)?.length
    }

    pub(super) fn is_public(&self, id: BlobId) -> bool {
        let until = self.known.lock().get(&id).and_then(|it| it.public_until);
        until.is_some_and(|until| Instant::now() < until)
    }

    pub(super) fn keep_length(&self, id: BlobId, length: u64) {
        self.update(id, |known| known.length = Some(length));
    }

    /// Believes for a while, at most `remaining_ms`, that the blob is public.
    pub(super) fn keep_public(&self, id: BlobId, remaining_ms: u64) {
        let belief = BELIEF.min(Duration::from_millis(remaining_ms));
        self.update(id, |known| {
            known.public_until = Some(Instant::now() + belief)
        });
    }

    pub(super) fn forget(&self, id: BlobId) {
        self.known.lock().remove(&id);
    }

    fn update(&self, id: BlobId, change: impl FnOnce(&mut Known)) {
        let mut known = self.known.lock();
        if known.len() >= BLOBS_MAX && !known.contains_key(&id) {
            known.clear();
        }
        change(known.entry(id).or_default());
    }
}
