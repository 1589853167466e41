//! Publications: made after their blob, found by id, public ones by blob, deleted by token.
//!
//! Order of writes: record, ref, list entry. Order of deletions: list entry, ref, record, so that
//! a deletion that broke off can be asked for again. What breaks off in between is swept.

use futures::TryStreamExt as _;
use object_store::path::Path;
use object_store::{ObjectStoreExt as _, PutPayload};

use super::id::{BlobId, DeleteToken, PublicationId, TokenHash};
use super::keys::{self, ListKey, Ref};
use super::publication::{Draft, Facts, Publication, Record, Visibility};
use super::{Store, StoreError, now_ms};

/// A new publication and the right to delete it, which is told once.
#[derive(Clone, Debug)]
pub struct Published {
    /// The publication.
    pub publication: Publication,
    /// The token.
    pub token: DeleteToken,
}

/// What a deletion found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withdrawal {
    /// It is gone.
    Done,
    /// There is no such publication.
    Missing,
    /// The token belongs to another one.
    WrongToken,
}

impl Store {
    /// Publishes a blob that was received under a claim of `id`.
    ///
    /// # Errors
    /// The store failed, or the blob was collected meanwhile; nothing is listed then.
    pub async fn publish(
        &self,
        id: PublicationId,
        sha256: BlobId,
        facts: Facts,
        draft: Draft,
        default_days: Option<u32>,
    ) -> Result<Published, StoreError> {
        let token = DeleteToken::random()?;
        let created_ms = now_ms();
        let publication = Publication {
            id,
            sha256,
            title: draft.title,
            memo: draft.memo,
            visibility: draft.visibility,
            created_ms,
            expires_ms: draft.lifetime.expires_ms(created_ms, default_days),
            facts,
        };
        let written = self.write(&publication, &token).await;
        if let Err(error) = written {
            // Best effort: the sweep does it otherwise.
            let _gone = self.unwrite(&publication).await;
            return Err(error);
        }
        if publication.visibility == Visibility::Public {
            self.catalog.add(publication.clone());
        }
        Ok(Published { publication, token })
    }

    async fn write(&self, it: &Publication, token: &DeleteToken) -> Result<(), StoreError> {
        let objects = &self.backend.objects;
        let record = Record {
            publication: it.clone(),
            delete_token_sha256: token.hash(),
        };
        objects.put(&keys::record(it.id), json(&record)?).await?;
        objects.put(&ref_of(it).key(), PutPayload::new()).await?;
        // A sweep that had looked before the claim was written may have taken the blob.
        match objects.head(&keys::blob(it.sha256)).await {
            Ok(_) => {}
            Err(object_store::Error::NotFound { .. }) => return Err(StoreError::Collected),
            Err(error) => return Err(error.into()),
        }
        if it.visibility == Visibility::Public {
            let entry = ListKey::new(it.created_ms, it.id).key();
            objects.put(&entry, json(it)?).await?;
        }
        Ok(())
    }

    /// Lists a public publication whose list entry was never written, because its server died
    /// before.
    ///
    /// # Errors
    /// The store failed.
    pub async fn ensure_listed(&self, it: &Publication) -> Result<(), StoreError> {
        let objects = &self.backend.objects;
        let entry = ListKey::new(it.created_ms, it.id).key();
        match objects.head(&entry).await {
            Ok(_) => return Ok(()),
            Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        objects.put(&entry, json(it)?).await?;
        // A deletion that runs now removes its entry first and its record last.
        if self.record(it.id).await?.is_none() {
            return self.delete(&entry).await;
        }
        self.catalog.add(it.clone());
        Ok(())
    }

    pub(super) async fn unwrite(&self, it: &Publication) -> Result<(), StoreError> {
        let list_key = ListKey::new(it.created_ms, it.id);
        self.catalog.remove(list_key);
        self.readable.forget(it.sha256);
        self.delete(&list_key.key()).await?;
        self.delete(&ref_of(it).key()).await?;
        self.delete(&keys::record(it.id)).await
    }

    /// Deletes an object; one that is not there counts as deleted.
    pub(super) async fn delete(&self, key: &Path) -> Result<(), StoreError> {
        match self.backend.objects.delete(key).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// A publication that has not ended, public or private.
    ///
    /// # Errors
    /// The store failed, or the record is damaged.
    pub async fn publication(&self, id: PublicationId) -> Result<Option<Publication>, StoreError> {
        let record = self.record(id).await?;
        let live = record.filter(|record| record.publication.is_live(now_ms()));
        Ok(live.map(|record| record.publication))
    }

    pub(super) async fn record(&self, id: PublicationId) -> Result<Option<Record>, StoreError> {
        let key = keys::record(id);
        let text = match self.backend.objects.get(&key).await {
            Ok(found) => found.bytes().await?,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let parsed = serde_json::from_slice(&text);
        parsed.map(Some).map_err(|error| StoreError::Description {
            key: key.to_string(),
            cause: error.to_string(),
        })
    }

    /// Whether everyone may read the blob: it has a public publication that has not ended.
    ///
    /// # Errors
    /// The store failed.
    pub async fn is_public(&self, blob: BlobId) -> Result<bool, StoreError> {
        if self.readable.is_public(blob) {
            return Ok(true);
        }
        let now = now_ms();
        let public = self
            .refs(blob)
            .await?
            .into_iter()
            .filter(|it| it.visibility == Visibility::Public && it.is_live(now));
        let ends = public.map(|it| it.expires_ms.unwrap_or(u64::MAX)).max();
        if let Some(ends) = ends {
            self.readable.keep_public(blob, ends - now);
        }
        Ok(ends.is_some())
    }

    /// The public publication of a blob that lasts longest, if there is one.
    ///
    /// # Errors
    /// The store failed.
    pub async fn public_publication(
        &self,
        blob: BlobId,
    ) -> Result<Option<Publication>, StoreError> {
        let now = now_ms();
        let mut public = self.refs(blob).await?;
        public.retain(|it| it.visibility == Visibility::Public && it.is_live(now));
        public.sort_by_key(|it| (std::cmp::Reverse(it.expires_ms.unwrap_or(u64::MAX)), it.id));
        for it in public {
            if let Some(publication) = self.publication(it.id).await? {
                return Ok(Some(publication));
            }
        }
        Ok(None)
    }

    async fn refs(&self, blob: BlobId) -> Result<Vec<Ref>, StoreError> {
        let listed = self.backend.objects.list(Some(&keys::refs_of(blob)));
        let refs = listed.try_filter_map(|meta| async move { Ok(Ref::parse(&meta.location)) });
        Ok(refs.try_collect().await?)
    }

    /// Deletes a publication, given its token. Its blob is collected later, if nothing needs it.
    ///
    /// # Errors
    /// The store failed; ask again.
    pub async fn withdraw(&self, id: PublicationId, token: &str) -> Result<Withdrawal, StoreError> {
        let Some(record) = self.record(id).await? else {
            return Ok(Withdrawal::Missing);
        };
        if !TokenHash::of(token).matches(&record.delete_token_sha256) {
            return Ok(Withdrawal::WrongToken);
        }
        self.unwrite(&record.publication).await?;
        Ok(Withdrawal::Done)
    }
}

fn ref_of(it: &Publication) -> Ref {
    Ref {
        blob: it.sha256,
        id: it.id,
        visibility: it.visibility,
        expires_ms: it.expires_ms,
    }
}

fn json(value: &impl serde::Serialize) -> Result<PutPayload, StoreError> {
    let text = serde_json::to_vec(value).map_err(|error| StoreError::Description {
        key: "a new publication".to_owned(),
        cause: error.to_string(),
    })?;
    Ok(text.into())
}
