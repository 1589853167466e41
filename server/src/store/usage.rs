//! Bytes that the store holds as far as this server knows, and bytes that uploads under way may
//! add.
//!
//! Blobs and parts are counted by their names, so that none counts twice; sweeps correct what other
//! servers changed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use parking_lot::Mutex;

use super::id::{BlobId, UploadId};

/// A part of an upload.
pub(super) type PartId = (UploadId, u32);

#[derive(Debug, Default)]
pub(super) struct Usage {
    stored: Mutex<Stored>,
    under_way: AtomicU64,
}

#[derive(Debug, Default)]
struct Stored {
    blobs: BTreeMap<BlobId, Kept>,
    parts: BTreeMap<PartId, Kept>,
    /// Of publications and of the list.
    descriptions: u64,
    /// Of blobs and parts together.
    sum: u64,
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    bytes: u64,
    since: Instant,
}

impl Kept {
    fn now(bytes: u64) -> Self {
        let since = Instant::now();
        Self { bytes, since }
    }
}

/// What a sweep has found and left.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) started: Instant,
    pub(super) blobs: Vec<(BlobId, u64)>,
    pub(super) parts: Vec<(PartId, u64)>,
    pub(super) descriptions: u64,
}

impl Found {
    pub(super) fn nothing_yet() -> Self {
        Self {
            started: Instant::now(),
            blobs: Vec::new(),
            parts: Vec::new(),
            descriptions: 0,
        }
    }
}

impl Usage {
    pub(super) fn stored(&self) -> u64 {
        let stored = self.stored.lock();
        stored.sum.saturating_add(stored.descriptions)
    }

    /// Takes over what a sweep has found; what was stored while it ran stays counted.
    pub(super) fn set(&self, found: Found) {
        let mut stored = self.stored.lock();
        let Found { started, .. } = found;
        refresh(&mut stored.blobs, found.blobs, started);
        refresh(&mut stored.parts, found.parts, started);
        stored.descriptions = found.descriptions;
        let (blobs, parts) = (stored.blobs.values(), stored.parts.values());
        stored.sum = blobs.chain(parts).map(|it| it.bytes).sum();
    }

    pub(super) fn keep_blob(&self, id: BlobId, bytes: u64) {
        let mut stored = self.stored.lock();
        let before = stored.blobs.insert(id, Kept::now(bytes));
        stored.count(before, bytes);
    }

    pub(super) fn drop_blob(&self, id: BlobId) {
        let mut stored = self.stored.lock();
        let before = stored.blobs.remove(&id);
        stored.count(before, 0);
    }

    pub(super) fn keep_part(&self, part: PartId, bytes: u64) {
        let mut stored = self.stored.lock();
        let before = stored.parts.insert(part, Kept::now(bytes));
        stored.count(before, bytes);
    }

    pub(super) fn drop_part(&self, part: PartId) {
        let mut stored = self.stored.lock();
        let before = stored.parts.remove(&part);
        stored.count(before, 0);
    }

    pub(super) fn describe(&self, bytes: u64) {
        self.stored.lock().descriptions += bytes;
    }

    pub(super) fn undescribe(&self, bytes: u64) {
        let mut stored = self.stored.lock();
        stored.descriptions = stored.descriptions.saturating_sub(bytes);
    }

    /// Counts bytes that arrived; returns what all would come to.
    pub(super) fn arrive(&self, bytes: u64) -> u64 {
        let before = self.under_way.fetch_add(bytes, Relaxed);
        self.stored().saturating_add(before).saturating_add(bytes)
    }

    /// An upload of so many bytes has ended.
    pub(super) fn end(&self, bytes: u64) {
        self.under_way.fetch_sub(bytes, Relaxed);
    }
}

impl Stored {
    fn count(&mut self, before: Option<Kept>, bytes: u64) {
        let before = before.map_or(0, |it| it.bytes);
        self.sum = self.sum.saturating_sub(before).saturating_add(bytes);
    }
}

fn refresh<K: Ord>(known: &mut BTreeMap<K, Kept>, found: Vec<(K, u64)>, started: Instant) {
    known.retain(|_, it| it.since >= started);
    for (key, bytes) in found {
        known.entry(key).or_insert(Kept {
            bytes,
            since: started,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_counts_twice_and_a_sweep_forgets_nothing_that_came_while_it_ran() {
        let usage = Usage::default();
        let [one, other] = [b"x", b"y"].map(|it| BlobId::of(it));
        let part = (UploadId::from_digest(&one), 0);
        for _ in 0..3 {
            usage.keep_blob(one, 10);
            usage.keep_part(part, 5);
        }
        usage.describe(2);
        assert_eq!(usage.stored(), 17);
        let mut found = Found::nothing_yet();
        usage.keep_blob(other, 100);
        found.parts.push((part, 5));
        usage.set(found);
        assert_eq!(usage.stored(), 105);
        usage.drop_part(part);
        assert_eq!(usage.arrive(7), 107);
        usage.end(7);
        usage.drop_blob(other);
        usage.undescribe(3);
        assert_eq!(usage.stored(), 0);
    }
}
