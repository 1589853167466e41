//! Housekeeping: what has ended and what broke off is deleted, after a grace time.
//!
//! Ended publications go with their refs and list entries; blobs that no publication and no upload
//! under way needs; claims, parts and half-written files of uploads that broke off. Every server
//! may sweep at any time: what is needed or young is never touched.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path as FilePath;
use std::time::{Duration, SystemTime};

use futures::TryStreamExt as _;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStoreExt as _};

use super::id::{BlobId, PublicationId};
use super::keys::{self, ListKey, Ref};
use super::{Store, StoreError, now_ms};

/// What a sweep deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Publications that had ended.
    pub ended: u64,
    /// Blobs that nothing needed.
    pub blobs: u64,
    /// Claims, parts, half-written files, and records that broke off.
    pub leftovers: u64,
}

impl Store {
    /// Deletes what has ended, and what is older than `grace` and needed by nothing.
    ///
    /// # Errors
    /// The store failed; the rest is swept next time.
    pub async fn sweep(&self, grace: Duration) -> Result<Swept, StoreError> {
        let now = now_ms();
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        let old_ms = now.saturating_sub(grace_ms);
        let mut swept = Swept::default();
        if let Some(folder) = &self.backend.folder {
            swept.leftovers += staged_files(&folder.path, grace);
        }
        for folder in [keys::CLAIMS, keys::PARTS] {
            for meta in self.listed(folder).await? {
                if written_ms(&meta) <= old_ms {
                    self.delete(&meta.location).await?;
                    swept.leftovers += 1;
                }
            }
        }
        let needed = self.sweep_publications(now, old_ms, &mut swept).await?;
        self.sweep_blobs(&needed, old_ms, &mut swept).await?;
        Ok(swept)
    }

    /// Deletes ended publications and halves of ones; returns the blobs that live ones need.
    async fn sweep_publications(
        &self,
        now: u64,
        old_ms: u64,
        swept: &mut Swept,
    ) -> Result<BTreeSet<BlobId>, StoreError> {
        // Records are listed before refs: a publication being made has its record first.
        let mut records = BTreeMap::new();
        for meta in self.listed(keys::PUBLICATIONS).await? {
            if let Some(id) = keys::publication_of(&meta.location) {
                records.insert(id, written_ms(&meta));
            }
        }
        let mut needed = BTreeSet::new();
        let mut referring: BTreeSet<PublicationId> = BTreeSet::new();
        for meta in self.listed(keys::REFS).await? {
            let Some(it) = Ref::parse(&meta.location) else {
                continue;
            };
            if !it.is_live(now) {
                match self.record(it.id).await? {
                    Some(record) => self.unwrite(&record.publication).await?,
                    None => self.delete(&meta.location).await?,
                }
                records.remove(&it.id);
                swept.ended += 1;
            } else if !records.contains_key(&it.id) && written_ms(&meta) <= old_ms {
                self.delete(&meta.location).await?;
                swept.leftovers += 1;
            } else {
                needed.insert(it.blob);
                referring.insert(it.id);
            }
        }
        for (id, written) in &records {
            if !referring.contains(id) && *written <= old_ms {
                self.delete(&keys::record(*id)).await?;
                swept.leftovers += 1;
            }
        }
        for meta in self.listed(keys::META).await? {
            let Some(key) = meta.location.filename().and_then(ListKey::parse) else {
                continue;
            };
            if !records.contains_key(&key.id()) && written_ms(&meta) <= old_ms {
                self.catalog.remove(key);
                self.delete(&meta.location).await?;
                swept.leftovers += 1;
            }
        }
        Ok(needed)
    }

    async fn sweep_blobs(
        &self,
        needed: &BTreeSet<BlobId>,
        old_ms: u64,
        swept: &mut Swept,
    ) -> Result<(), StoreError> {
        let mut claimed = BTreeSet::new();
        for meta in self.listed(keys::CLAIMS).await? {
            claimed.extend(keys::blob_of(&meta.location));
        }
        let mut used = 0;
        for meta in self.listed(keys::BLOBS).await? {
            let Some(id) = keys::blob_of(&meta.location) else {
                continue;
            };
            let spare = !needed.contains(&id) && !claimed.contains(&id);
            if spare && written_ms(&meta) <= old_ms && self.still_spare(&meta.location, id).await? {
                self.delete(&meta.location).await?;
                self.readable.forget(id);
                swept.blobs += 1;
            } else {
                used += meta.size;
            }
        }
        self.usage.set_stored(used);
        Ok(())
    }

    /// Asks again right before the deletion, since listing took its time.
    async fn still_spare(&self, key: &Path, id: BlobId) -> Result<bool, StoreError> {
        let claims = Path::from(format!("{}/{id}", keys::CLAIMS));
        for folder in [claims, keys::refs_of(id)] {
            let mut listed = self.backend.objects.list(Some(&folder));
            if listed.try_next().await?.is_some() {
                return Ok(false);
            }
        }
        Ok(self.backend.objects.head(key).await.is_ok())
    }

    async fn listed(&self, folder: &str) -> Result<Vec<ObjectMeta>, StoreError> {
        let listed = self.backend.objects.list(Some(&Path::from(folder)));
        Ok(listed.try_collect().await?)
    }
}

/// When an object was written, in milliseconds since 1970-01-01 UTC.
fn written_ms(meta: &ObjectMeta) -> u64 {
    u64::try_from(meta.last_modified.timestamp_millis()).unwrap_or(0)
}

/// Deletes half-written files that were last written more than `grace` ago; says how many.
pub(super) fn staged_files(folder: &FilePath, grace: Duration) -> u64 {
    let mut swept = 0;
    let folders = [keys::BLOBS, keys::PUBLICATIONS, keys::META, keys::REFS];
    let others = [keys::CLAIMS, keys::PARTS];
    for name in folders.into_iter().chain(others) {
        sweep_folder(&folder.join(name), grace, 2, &mut swept);
    }
    swept
}

fn sweep_folder(folder: &FilePath, grace: Duration, depth: u32, swept: &mut u64) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if depth > 1 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            sweep_folder(&path, grace, depth - 1, swept);
        } else if is_staged(&path) && written_before(&path, grace) {
            match std::fs::remove_file(&path) {
                Ok(()) => *swept += 1,
                Err(error) => tracing::warn!(path = %path.display(), %error, "not swept"),
            }
        }
    }
}

/// Whether the object store would ignore the file as a write under way: `NAME#NUMBER`.
fn is_staged(path: &FilePath) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let number = name.and_then(|name| Some(name.rsplit_once('#')?.1));
    number.is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
}

fn written_before(path: &FilePath, grace: Duration) -> bool {
    let written = std::fs::metadata(path).and_then(|it| it.modified());
    let age = |written| {
        SystemTime::now()
            .duration_since(written)
            .unwrap_or_default()
    };
    written.is_ok_and(|written| age(written) >= grace)
}
