//! Taking artifacts in: in one request, or in parts that are joined.
//!
//! The limit is checked on the announced length and again while streaming. A plain upload of what
//! is public already is answered with that publication; for anything else the body is always read
//! and judged, so that no answer tells whether a private blob is there.

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use super::Shared;
use super::error::AppError;
use super::limits::Client;
use super::publications::Terms;
use crate::store::{
    BlobId, BodyError, Draft, IntakeError, Limits, PART_BYTES, PARTS_MAX, Published, Received,
    UploadId,
};

/// Bytes of a refused body that are still read, so that the client hears why.
const LINGER_BYTES: usize = 4 << 20;

/// `PUT /api/artifacts/<sha256>`: stores and publishes; 201 when new, 200 when it is public
/// already and the publisher says nothing about it.
pub(super) async fn upload(
    State(shared): State<Shared>,
    client: Client,
    Path(id): Path<String>,
    Query(terms): Query<Terms>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, AppError> {
    let id: BlobId = id.parse()?;
    shared.writers.check(&headers).await?;
    let _turn = shared.clients.upload(client)?;
    let limit = shared.store.limits().upload_bytes_max;
    if announced(&headers).is_some_and(|bytes| bytes > limit) {
        return Err(IntakeError::TooLarge { limit }.into());
    }
    let plain = terms.are_plain();
    let draft = terms.draft()?;
    let mut body = Box::pin(pieces(body));
    if plain && let Some(known) = shared.store.public_publication(id).await? {
        check_hash(&mut body, id, shared.store.limits()).await?;
        shared.store.ensure_listed(&known).await?;
        return Ok(shared.known(&known));
    }
    let task = shared.clone();
    // A task of its own, so that a client that leaves cannot stop it between two writes.
    let done = tokio::spawn(async move {
        let received = task.store.receive(id, &mut body).await;
        if received.is_err() {
            linger(&mut body).await;
        }
        if plain {
            return task.publish_once(id, received?, draft).await;
        }
        let published = task.publish(id, received?, draft).await?;
        Ok(task.made(&published))
    });
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
    ) -> Result<Response, IntakeError> {
        let _alone = self.publishing[id.below(self.publishing.len())]
            .lock()
            .await;
        if let Some(known) = self.store.public_publication(id).await? {
            self.store.release(id, received.claim).await;
            self.store.ensure_listed(&known).await?;
            return Ok(self.known(&known));
        }
        let published = self.publish(id, received, draft).await?;
        Ok(self.made(&published))
    }

    /// Publishes what was received and gives the claim up.
    async fn publish(
        &self,
        id: BlobId,
        received: Received,
        draft: Draft,
    ) -> Result<Published, IntakeError> {
        let Received { facts, claim } = received;
        let bytes = facts.bytes;
        let days = self.expire_days;
        let published = self.store.publish(claim, id, facts, draft, days).await;
        self.store.release(id, claim).await;
        let published = published?;
        self.metrics.published(bytes);
        tracing::info!(sha256 = %id, bytes, "published");
        Ok(published)
    }
}

fn pieces(body: Body) -> impl Stream<Item = Result<Bytes, BodyError>> + Send {
    let stream = body.into_data_stream();
    stream.map_err(|error| BodyError(error.into()))
}

/// Reads a little more of a refused body: an answer is lost where the client still writes.
async fn linger(body: &mut (impl Stream<Item = Result<Bytes, BodyError>> + Unpin)) {
    let mut left = LINGER_BYTES;
    let reading = async {
        while let Some(Ok(bytes)) = body.next().await {
            left = left.saturating_sub(bytes.len());
            if left == 0 {
                break;
            }
        }
    };
    let limit = std::time::Duration::from_secs(2);
    let _slow = timeout(limit, reading).await;
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
    Path(upload): Path<String>,
    headers: HeaderMap,
) -> Result<Response, AppError> {
    shared.writers.check(&headers).await?;
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
    client: Client,
    Path((upload, number)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, AppError> {
    let upload: UploadId = upload.parse()?;
    let number: u32 = number
        .parse()
        .ok()
        .filter(|number| *number < PARTS_MAX)
        .ok_or_else(|| AppError::bad_request("no such part", "number parts from 0"))?;
    shared.writers.check(&headers).await?;
    let _turn = shared.clients.upload(client)?;
    let limit = PART_BYTES;
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
    client: Client,
    Path(upload): Path<String>,
    headers: HeaderMap,
    Json(join): Json<Join>,
) -> Result<Response, AppError> {
    let upload: UploadId = upload.parse()?;
    shared.writers.check(&headers).await?;
    let _turn = shared.clients.upload(client)?;
    let draft = join.terms.draft()?;
    if join.parts > PARTS_MAX {
        let error = format!("an upload has at most {PARTS_MAX} parts");
        return Err(AppError::bad_request(error, "send parts of 8 MiB"));
    }
    let task = shared.clone();
    let done = tokio::spawn(async move {
        let id = join.sha256;
        let received = task.store.join_parts(upload, join.parts, id).await?;
        task.publish(id, received, draft).await
    });
    let published = done.await.map_err(IntakeError::Check)??;
    Ok(shared.made(&published))
}
