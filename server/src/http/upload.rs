//! Taking artifacts in: in one request, or in parts that are joined.
//!
//! The limit is checked on the announced length and again while streaming. A plain upload of what
//! is public already is answered with that publication; for anything else the body is always read
//! and judged, so that no answer tells whether a private blob is there. A client that draws a key
//! for its publication may ask again, when an answer was lost, and gets the same one.

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures::{Stream, TryStreamExt as _};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use tracing::Instrument as _;

use super::Shared;
use super::error::AppError;
use super::extract::{Asked, Named, Said, Writing};
use super::publications::Terms;
use crate::store::{
    BlobId, BodyError, Draft, IntakeError, Limits, PARTS_MAX, Published, Received, Ticket,
    UploadId, Visibility,
};

/// `PUT /api/artifacts/<sha256>`: stores and publishes; 201 when new, 200 when it is public
/// already and the publisher says nothing about it.
pub(super) async fn upload(
    State(shared): State<Shared>,
    writing: Writing,
    Named(id): Named<String>,
    Asked(terms): Asked<Terms>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, AppError> {
    let id: BlobId = id.parse()?;
    let _turn = shared.clients.upload(writing.client)?;
    let limit = shared.store.limits().upload_bytes_max;
    if announced(&headers).is_some_and(|bytes| bytes > limit) {
        return Err(IntakeError::TooLarge { limit }.into());
    }
    let plain = terms.are_plain();
    let draft = terms.draft()?;
    let ticket = writing.ticket(id)?;
    if let Some(made) = shared.store.repeated(&ticket, &draft).await? {
        return Ok(shared.made(&made));
    }
    let mut body = Box::pin(pieces(body));
    if plain && let Some(known) = shared.store.public_publication(id).await? {
        check_hash(&mut body, id, shared.store.limits()).await?;
        shared.store.ensure_listed(&known).await?;
        return Ok(shared.known(&known));
    }
    let task = shared.clone();
    // A task of its own, so that a client that leaves cannot stop it between two writes.
    let receiving = async move {
        let received = task.store.receive(id, &mut body).await?;
        if plain {
            return task.publish_once(id, received, draft, ticket).await;
        }
        let published = task.publish(id, received, draft, ticket).await?;
        Ok(task.made(&published))
    };
    let done = tokio::spawn(receiving.in_current_span());
    done.await
        .map_err(IntakeError::Check)?
        .map_err(AppError::from)
}

impl Shared {
    /// Publishes what was received, unless another upload did so meanwhile: clients that send the
    /// same at once, or again after a time-out, all hear of one publication.
    async fn publish_once(
        &self,
        id: BlobId,
        received: Received,
        draft: Draft,
        ticket: Ticket,
    ) -> Result<Response, IntakeError> {
        let alone = self.publishing(id).await;
        let repeated = self.store.repeated(&ticket, &draft).await?;
        if repeated.is_none()
            && let Some(known) = self.store.public_publication(id).await?
        {
            self.store.release(id, received.claim).await;
            self.store.ensure_listed(&known).await?;
            return Ok(self.known(&known));
        }
        let published = self.publish_alone(id, received, draft, ticket).await?;
        drop(alone);
        Ok(self.made(&published))
    }

    async fn publish(
        &self,
        id: BlobId,
        received: Received,
        draft: Draft,
        ticket: Ticket,
    ) -> Result<Published, IntakeError> {
        let _alone = self.publishing(id).await;
        self.publish_alone(id, received, draft, ticket).await
    }

    /// Publishes what was received, unless that was done under the same ticket before, and gives
    /// the claim up.
    async fn publish_alone(
        &self,
        id: BlobId,
        received: Received,
        draft: Draft,
        ticket: Ticket,
    ) -> Result<Published, IntakeError> {
        let Received { facts, claim } = received;
        let bytes = facts.bytes;
        let days = self.expire_days;
        let published = match self.store.repeated(&ticket, &draft).await {
            Ok(None) => {
                let made = self.store.publish(&ticket, id, facts, draft, days).await;
                made.map(|it| (it, true)).map_err(IntakeError::from)
            }
            Ok(Some(it)) => Ok((it, false)),
            Err(error) => Err(error),
        };
        self.store.release(id, claim).await;
        let (published, is_new) = published?;
        if is_new {
            self.metrics.published(bytes);
            let is_public = published.publication.visibility == Visibility::Public;
            tracing::info!(bytes, is_public, "published");
        }
        Ok(published)
    }
}

fn pieces(body: Body) -> impl Stream<Item = Result<Bytes, BodyError>> + Send {
    let stream = body.into_data_stream();
    stream.map_err(|error| BodyError(error.into()))
}

/// Reads a body whose content is known, to tell a damaged transfer.
async fn check_hash(
    body: &mut (impl Stream<Item = Result<Bytes, BodyError>> + Unpin),
    id: BlobId,
    limits: &Limits,
) -> Result<(), IntakeError> {
    use sha2::Digest as _;
    let (limit, window) = (limits.upload_bytes_max, limits.window);
    let (mut hash, mut count) = (sha2::Sha256::new(), 0_u64);
    let slow = |_elapsed| IntakeError::TooSlow {
        bytes: 1,
        seconds: window.as_secs(),
    };
    while let Some(bytes) = timeout(window, body.try_next()).await.map_err(slow)?? {
        count += bytes.len() as u64;
        if count > limit {
            return Err(IntakeError::TooLarge { limit });
        }
        hash.update(&bytes);
    }
    let found = BlobId::from_digest(hash.finalize().into());
    if found == id {
        return Ok(());
    }
    Err(IntakeError::WrongHash { found })
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers
        .get(header::CONTENT_LENGTH)?
        .to_str()
        .ok()?
        .parse()
        .ok()
}

#[derive(Serialize)]
struct Parts {
    parts: Vec<Part>,
}

#[derive(Serialize)]
struct Part {
    number: u32,
    bytes: u64,
}

/// `GET /api/uploads/<upload>`: the parts that are there.
pub(super) async fn parts(
    State(shared): State<Shared>,
    _writing: Writing,
    Named(upload): Named<String>,
) -> Result<Response, AppError> {
    let parts = shared.store.parts(upload.parse()?).await?;
    let parts = parts.into_iter();
    let parts = parts
        .map(|(number, bytes)| Part { number, bytes })
        .collect();
    let fixed = [(header::CACHE_CONTROL, "no-store")];
    Ok((fixed, Json(Parts { parts })).into_response())
}

/// `PUT /api/uploads/<upload>/<number>`: one part of 8 MiB, the last one shorter.
pub(super) async fn put_part(
    State(shared): State<Shared>,
    writing: Writing,
    Named((upload, number)): Named<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, AppError> {
    let upload: UploadId = upload.parse()?;
    let number: u32 = number
        .parse()
        .ok()
        .filter(|number| *number < PARTS_MAX)
        .ok_or_else(|| AppError::bad_request("no such part", "number parts from 0"))?;
    let _turn = shared.clients.upload(writing.client)?;
    let limit = shared.store.part_bytes_max(number)?;
    if announced(&headers).is_some_and(|bytes| bytes > limit) {
        return Err(IntakeError::TooLarge { limit }.into());
    }
    shared
        .store
        .receive_part(upload, number, Box::pin(pieces(body)))
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Query of a join: which blob the parts make, how many there are, and the terms.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Join {
    sha256: BlobId,
    parts: u32,
    #[serde(default)]
    terms: Terms,
}

/// `POST /api/uploads/<upload>`: joins the parts, stores and publishes.
pub(super) async fn join(
    State(shared): State<Shared>,
    writing: Writing,
    Named(upload): Named<String>,
    Said(join): Said<Join>,
) -> Result<Response, AppError> {
    let upload: UploadId = upload.parse()?;
    let _turn = shared.clients.upload(writing.client)?;
    let (id, parts) = (join.sha256, join.parts);
    let draft = join.terms.draft()?;
    if parts > PARTS_MAX {
        let error = format!("an upload has at most {PARTS_MAX} parts");
        return Err(AppError::bad_request(error, "send parts of 8 MiB"));
    }
    let ticket = writing.ticket(id)?;
    let task = shared.clone();
    let joining = async move { task.join(upload, parts, id, draft, ticket).await };
    let done = tokio::spawn(joining.in_current_span());
    let published = done.await.map_err(IntakeError::Check)??;
    Ok(shared.made(&published))
}

impl Shared {
    /// Joins and publishes, once at a time for each upload: who asks again meanwhile waits and
    /// hears of what was made.
    async fn join(
        &self,
        upload: UploadId,
        parts: u32,
        id: BlobId,
        draft: Draft,
        ticket: Ticket,
    ) -> Result<Published, IntakeError> {
        let _alone = self.joining[upload.below(self.joining.len())].lock().await;
        if let Some(made) = self.store.repeated(&ticket, &draft).await? {
            return Ok(made);
        }
        let published = match self.store.join_parts(upload, parts, id).await {
            Ok(received) => self.publish(id, received, draft, ticket).await?,
            // Another server may have joined them while this one did.
            Err(error) => match self.store.repeated(&ticket, &draft).await? {
                Some(made) => made,
                None => return Err(error),
            },
        };
        self.store.forget_parts(upload).await;
        Ok(published)
    }
}
