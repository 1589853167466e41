//! What handlers take from a request, refused in the words and the form of every other failure.
//!
//! Who writes is judged from the head of the request, before anything of its body is read.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;

use super::Shared;
use super::error::AppError;
use super::limits::Client;
use crate::store::{BlobId, IdempotencyKey, StoreError, Ticket};

/// Longest JSON body in bytes.
pub(super) const JSON_BYTES_MAX: usize = 64 << 10;
/// Where a client says which of its requests are one.
const KEY: &str = "idempotency-key";

/// Parts of the path.
pub(super) struct Named<T>(pub(super) T);

impl<T: DeserializeOwned + Send> FromRequestParts<Shared> for Named<T> {
    type Rejection = AppError;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, AppError> {
        let found = Path::from_request_parts(parts, shared).await;
        let Path(it) = found.map_err(|error| {
            let hint = "take the address as the server gave it";
            AppError::bad_request(error.body_text(), hint)
        })?;
        Ok(Self(it))
    }
}

/// The query of the address.
pub(super) struct Asked<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequestParts<Shared> for Asked<T> {
    type Rejection = AppError;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, AppError> {
        let found = Query::from_request_parts(parts, shared).await;
        let Query(it) = found.map_err(|error| {
            let hint = "see /api/openapi.json";
            AppError::bad_request(error.body_text(), hint)
        })?;
        Ok(Self(it))
    }
}

/// A body of JSON, bounded in bytes and in time.
pub(super) struct Said<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Shared> for Said<T> {
    type Rejection = AppError;

    async fn from_request(request: Request, shared: &Shared) -> Result<Self, AppError> {
        let hint = "send at most 64 KiB with content-type application/json";
        if !is_json(request.headers()) {
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(AppError::new(status, "the body is not JSON", hint));
        }
        let read = tokio::time::timeout(shared.patience, Bytes::from_request(request, shared));
        let read = read.await.map_err(|_elapsed| {
            let seconds = shared.patience.as_secs_f32();
            let error = format!("the body took more than {seconds} seconds");
            AppError::new(StatusCode::REQUEST_TIMEOUT, error, "send it faster")
        })?;
        let body = read.map_err(|error| match error.status() {
            StatusCode::PAYLOAD_TOO_LARGE => {
                let error = format!("the body has more than {JSON_BYTES_MAX} bytes");
                AppError::new(StatusCode::PAYLOAD_TOO_LARGE, error, hint)
            }
            _ => AppError::bad_request("the body was cut off", "send it again"),
        })?;
        let Json(it) = Json::from_bytes(&body)
            .map_err(|error| AppError::bad_request(error.body_text(), "see /api/openapi.json"))?;
        Ok(Self(it))
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let mime = headers.get(header::CONTENT_TYPE);
    let mime = mime.and_then(|it| it.to_str().ok()).unwrap_or_default();
    let mime = mime.split(';').next().unwrap_or_default().trim();
    mime.eq_ignore_ascii_case("application/json")
}

/// A client that may write.
pub(super) struct Writing {
    pub(super) client: Client,
    key: Option<IdempotencyKey>,
}

impl FromRequestParts<Shared> for Writing {
    type Rejection = AppError;

    async fn from_request_parts(parts: &mut Parts, shared: &Shared) -> Result<Self, AppError> {
        shared.writers.check(&parts.headers).await?;
        let key = parts.headers.get(KEY).map(|it| {
            let text = it.to_str().unwrap_or_default();
            text.parse()
        });
        Ok(Self {
            client: Client::of(&parts.extensions),
            key: key.transpose()?,
        })
    }
}

impl Writing {
    /// What a publication of this blob is made under.
    pub(super) fn ticket(&self, blob: BlobId) -> Result<Ticket, StoreError> {
        match self.key {
            Some(key) => Ok(Ticket::drawn(key, blob)),
            None => Ok(Ticket::random()?),
        }
    }
}
