//! Publications: made after their blob, found by id, public ones by blob, deleted by token.
//!
//! Order of writes: record, ref, list entry. Order of deletions: list entry, ref, record, so that
//! a deletion that broke off can be asked for again. What breaks off in between is swept.
//!
//! A publication under a ticket that a client's key drew is made once: its record is written only
//! where there is none, and whoever asks again gets what was made.

use futures::TryStreamExt as _;
use object_store::path::Path;
use object_store::{ObjectStoreExt as _, PutMode, PutPayload};

use super::id::{BlobId, DeleteToken, PublicationId, Ticket, TokenHash};
use super::keys::{self, ListKey, Ref};
use super::publication::{Draft, Facts, Publication, Record, Visibility};
use super::receive::IntakeError;
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
    /// Publishes a blob that was received and is still claimed, or that is published already.
    ///
    /// # Errors
    /// The store failed, or the blob was collected meanwhile; nothing is listed then.
    pub async fn publish(
        &self,
        ticket: &Ticket,
        sha256: BlobId,
        facts: Facts,
        draft: Draft,
        default_days: Option<u32>,
    ) -> Result<Published, StoreError> {
        let created_ms = now_ms();
        let publication = Publication {
            id: ticket.id,
            sha256,
            title: draft.title,
            memo: draft.memo,
            visibility: draft.visibility,
            created_ms,
            expires_ms: draft.lifetime.expires_ms(created_ms, default_days),
            facts,
        };
        if !self.write_record(&publication, ticket).await? {
            let made = self.made_before(ticket).await?;
            return made.ok_or(StoreError::Collected);
        }
        self.usage.describe(description_bytes(&publication));
        let written = self.write(&publication).await;
        if let Err(error) = written {
            // Best effort: the sweep does it otherwise.
            let _gone = self.unwrite(&publication).await;
            return Err(error);
        }
        if publication.visibility == Visibility::Public {
            self.catalog.add(publication.clone());
        }
        let token = ticket.token.clone();
        Ok(Published { publication, token })
    }

    /// What was made under a ticket that a client's key drew, if it was and the draft says the
    /// same.
    ///
    /// # Errors
    /// It has ended, or the draft says something else; the store failed.
    pub async fn repeated(
        &self,
        ticket: &Ticket,
        draft: &Draft,
    ) -> Result<Option<Published>, IntakeError> {
        if !ticket.is_drawn() {
            return Ok(None);
        }
        let Some(made) = self.made_before(ticket).await? else {
            return Ok(None);
        };
        let it = &made.publication;
        let as_drafted = it.title == draft.title && it.memo == draft.memo;
        if !as_drafted || it.visibility != draft.visibility {
            return Err(IntakeError::KeyUsed(
                "a publication that says something else",
            ));
        }
        if !it.is_live(now_ms()) {
            return Err(IntakeError::KeyUsed("a publication that has ended"));
        }
        Ok(Some(made))
    }

    /// The publication of a ticket, made whole where that had broken off; none where its blob is
    /// gone.
    async fn made_before(&self, ticket: &Ticket) -> Result<Option<Published>, StoreError> {
        let Some(Record { publication, .. }) = self.record(ticket.id).await? else {
            return Ok(None);
        };
        let token = ticket.token.clone();
        let last = match publication.visibility {
            Visibility::Public => ListKey::new(publication.created_ms, publication.id).key(),
            Visibility::Private => ref_of(&publication).key(),
        };
        if !self.is_there(&last).await? {
            let is_whole = match self.write(&publication).await {
                // A deletion that runs now removes the record last.
                Ok(()) => self.record(ticket.id).await?.is_some(),
                Err(StoreError::Collected) => false,
                Err(error) => return Err(error),
            };
            if !is_whole {
                self.unwrite(&publication).await?;
                return Ok(None);
            }
            if publication.visibility == Visibility::Public {
                self.catalog.add(publication.clone());
            }
        }
        Ok(Some(Published { publication, token }))
    }

    /// Writes the record; false where the ticket has one already.
    async fn write_record(&self, it: &Publication, ticket: &Ticket) -> Result<bool, StoreError> {
        let record = Record {
            publication: it.clone(),
            delete_token_sha256: ticket.token.hash(),
        };
        let (objects, key) = (&self.backend.objects, keys::record(it.id));
        if ticket.is_drawn() {
            let put = objects.put_opts(&key, json(&record)?, PutMode::Create.into());
            match put.await {
                Ok(_) => return Ok(true),
                Err(object_store::Error::AlreadyExists { .. }) => return Ok(false),
                // A store without such writes: that one server makes it once has to do.
                Err(object_store::Error::NotImplemented { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        objects.put(&key, json(&record)?).await?;
        Ok(true)
    }

    /// Writes what follows the record.
    async fn write(&self, it: &Publication) -> Result<(), StoreError> {
        let objects = &self.backend.objects;
        objects.put(&ref_of(it).key(), PutPayload::new()).await?;
        // A sweep that had looked before the claim was written may have taken the blob.
        if !self.is_there(&keys::blob(it.sha256)).await? {
            return Err(StoreError::Collected);
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
        if self.is_there(&entry).await? {
            return Ok(());
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
        self.usage.undescribe(description_bytes(it));
        self.delete(&list_key.key()).await?;
        self.delete(&ref_of(it).key()).await?;
        self.delete(&keys::record(it.id)).await
    }

    pub(super) async fn is_there(&self, key: &Path) -> Result<bool, StoreError> {
        match self.backend.objects.head(key).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
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

    /// Deletes a publication, given its token. Its blob is collected later, if nothing needs it: a
    /// claim keeps it for the grace time.
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
        let claim = keys::claim(record.publication.sha256, id);
        let claimed = self.backend.objects.put(&claim, PutPayload::new()).await;
        if let Err(error) = claimed {
            // A full disk must not keep anyone from making room.
            tracing::info!(%error, "the bytes of a deleted publication get no grace");
        }
        self.unwrite(&record.publication).await?;
        Ok(Withdrawal::Done)
    }
}

/// Bytes that a publication takes besides its blob: of its record and of its list entry.
fn description_bytes(it: &Publication) -> u64 {
    let record = Record {
        publication: it.clone(),
        // All are of one length.
        delete_token_sha256: TokenHash::of(""),
    };
    let length = |text: serde_json::Result<Vec<u8>>| text.map_or(0, |text| text.len() as u64);
    let record = length(serde_json::to_vec(&record));
    match it.visibility {
        Visibility::Public => record + length(serde_json::to_vec(it)),
        Visibility::Private => record,
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
