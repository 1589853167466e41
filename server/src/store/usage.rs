//! Bytes of all blobs as far as this server knows, and bytes that uploads under way may add.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[derive(Debug, Default)]
pub(super) struct Usage {
    stored: AtomicU64,
    under_way: AtomicU64,
}

impl Usage {
    pub(super) fn stored(&self) -> u64 {
        self.stored.load(Relaxed)
    }

    /// What a sweep has counted.
    pub(super) fn set_stored(&self, bytes: u64) {
        self.stored.store(bytes, Relaxed);
    }

    /// Counts bytes that arrived; returns what all would come to.
    pub(super) fn arrive(&self, bytes: u64) -> u64 {
        let under_way = self
            .under_way
            .fetch_add(bytes, Relaxed)
            .saturating_add(bytes);
        self.stored().saturating_add(under_way)
    }

    /// An upload has ended, whether its bytes were stored or not.
    pub(super) fn end(&self, bytes: u64, were_stored: bool) {
        self.under_way.fetch_sub(bytes, Relaxed);
        if were_stored {
            self.stored.fetch_add(bytes, Relaxed);
        }
    }
}
