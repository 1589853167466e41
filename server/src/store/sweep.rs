//! Housekeeping: what has ended and what broke off is deleted, after a grace time.
//!
//! Publications go with their refs and list entries a grace time after they ended; blobs that no
//! publication, no recent deletion and no upload under way needs; claims, parts and half-written
//! files of uploads that broke off. Every server may sweep at any time: what is needed or young is
//! never touched.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path as FilePath;
use std::time::{Duration, SystemTime};

use futures::TryStreamExt as _;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStoreExt as _};

use super::id::{BlobId, PublicationId};
use super::keys::{self, ListKey, Ref};
use super::usage::Found;
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
        let mut found = Found::nothing_yet();
        if let Some(folder) = &self.backend.folder {
            swept.leftovers += staged_files(&folder.path, grace);
        }
        self.sweep_uploads(old_ms, &mut found, &mut swept).await?;
        let mut needed = self
            .sweep_publications(old_ms, &mut found, &mut swept)
            .await?;
        for meta in self.listed(keys::CLAIMS).await? {
            needed.extend(keys::blob_of(&meta.location));
        }
        self.sweep_trash(&needed, old_ms, &mut swept).await?;
        self.sweep_blobs(&needed, old_ms, &mut found, &mut swept)
            .await?;
        self.usage.set(found);
        Ok(swept)
    }

    /// Deletes claims and parts that are old.
    async fn sweep_uploads(
        &self,
        old_ms: u64,
        found: &mut Found,
        swept: &mut Swept,
    ) -> Result<(), StoreError> {
        for folder in [keys::CLAIMS, keys::PARTS] {
            for meta in self.listed(folder).await? {
                let key = &meta.location;
                if written_ms(&meta) <= old_ms {
                    self.delete(key).await?;
                    swept.leftovers += 1;
                } else if folder == keys::PARTS
                    && let Some(part) = keys::upload_of(key).zip(keys::part_of(key))
                {
                    found.parts.push((part, meta.size));
                }
            }
        }
        Ok(())
    }

    /// Deletes publications that ended before `old_ms` and halves of ones; returns the blobs that
    /// the others need.
    async fn sweep_publications(
        &self,
        old_ms: u64,
        found: &mut Found,
        swept: &mut Swept,
    ) -> Result<BTreeSet<BlobId>, StoreError> {
        // Records are listed before refs: a publication being made has its record first.
        let mut records = BTreeMap::new();
        for meta in self.listed(keys::PUBLICATIONS).await? {
            if let Some(id) = keys::publication_of(&meta.location) {
                records.insert(id, meta);
            }
        }
        let mut needed = BTreeSet::new();
        let mut referring: BTreeSet<PublicationId> = BTreeSet::new();
        let mut refs = self.listed(keys::REFS).await?;
        refs.extend(self.listed(keys::PRIVATE).await?);
        for meta in refs {
            let Some(it) = Ref::parse(&meta.location) else {
                continue;
            };
            if !it.is_live(old_ms) {
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
        for (id, meta) in &records {
            if !referring.contains(id) && written_ms(meta) <= old_ms {
                self.delete(&meta.location).await?;
                swept.leftovers += 1;
            } else {
                found.descriptions += meta.size;
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
            } else {
                found.descriptions += meta.size;
            }
        }
        Ok(needed)
    }

    /// Brings back blobs whose deletion broke off, or came late, where they are needed, and deletes
    /// the others for good.
    async fn sweep_trash(
        &self,
        needed: &BTreeSet<BlobId>,
        old_ms: u64,
        swept: &mut Swept,
    ) -> Result<(), StoreError> {
        for meta in self.listed(keys::TRASH).await? {
            let blob = keys::blob_of(&meta.location);
            if let Some(blob) = blob.filter(|blob| needed.contains(blob)) {
                self.bring_back(blob, &meta.location).await?;
            }
            if written_ms(&meta) <= old_ms {
                self.delete(&meta.location).await?;
                swept.leftovers += 1;
            }
        }
        Ok(())
    }

    async fn sweep_blobs(
        &self,
        needed: &BTreeSet<BlobId>,
        old_ms: u64,
        found: &mut Found,
        swept: &mut Swept,
    ) -> Result<(), StoreError> {
        for meta in self.listed(keys::BLOBS).await? {
            let Some(id) = keys::blob_of(&meta.location) else {
                continue;
            };
            let spare = !needed.contains(&id) && written_ms(&meta) <= old_ms;
            // Asked again right before the deletion, since listing took its time.
            if spare && self.is_spare(id).await? && self.collect(id).await? {
                swept.blobs += 1;
            } else {
                found.blobs.push((id, meta.size));
            }
        }
        Ok(())
    }

    /// Deletes a blob that nothing needs, unless something comes to need it meanwhile: a copy stays
    /// until the deletion has ended and nothing does, since a store may take its time for it.
    async fn collect(&self, id: BlobId) -> Result<bool, StoreError> {
        let trash = keys::trash(id, PublicationId::random()?);
        match self.backend.objects.rename(&keys::blob(id), &trash).await {
            Ok(()) => {}
            // Another server was faster.
            Err(object_store::Error::NotFound { .. }) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
        self.readable.forget(id);
        let is_spare = self.is_spare(id).await?;
        if is_spare {
            self.usage.drop_blob(id);
        } else {
            self.bring_back(id, &trash).await?;
        }
        self.delete(&trash).await?;
        Ok(is_spare)
    }

    /// Puts a blob back in its place, if it is not there.
    async fn bring_back(&self, id: BlobId, trash: &Path) -> Result<(), StoreError> {
        let blob = keys::blob(id);
        if !self.is_there(&blob).await? {
            self.backend.objects.rename(trash, &blob).await?;
        }
        Ok(())
    }

    /// Whether nothing keeps the blob now.
    async fn is_spare(&self, id: BlobId) -> Result<bool, StoreError> {
        for folder in keys::keepers_of(id) {
            let mut listed = self.backend.objects.list(Some(&folder));
            if listed.try_next().await?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
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
    let others = [keys::PRIVATE, keys::CLAIMS, keys::PARTS, keys::TRASH];
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
