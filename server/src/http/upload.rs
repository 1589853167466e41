//! Publishing artifacts: body → spooled, hashed and counted → parsed with bounds → published.
//!
//! The limit is checked on the announced length and again while streaming. Nothing reaches the
//! store before the hash and the content agree with the name, so a failed upload leaves nothing
//! behind.

use axum::Json;
use axum::body::{Body, BodyDataStream};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures::TryStreamExt as _;
use sha2::{Digest as _, Sha256};
use tempfile::TempPath;
use tokio::io::AsyncWriteExt as _;

use super::Shared;
use super::artifacts::parse_id;
use super::error::AppError;
use crate::store::{BlobId, take_in};

/// An upload that was received whole.
struct Spooled {
    path: TempPath,
    id: BlobId,
}

/// `PUT /api/artifacts/<sha256>`: 201 when published, 200 when it was there already.
pub(super) async fn upload(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, AppError> {
    let id = parse_id(&id)?;
    let limit = shared.upload_bytes_max;
    if announced(&headers).is_some_and(|bytes| bytes > limit) {
        return Err(too_large(limit));
    }
    let spooled = spool(body.into_data_stream(), limit).await?;
    if spooled.id != id {
        let error = format!(
            "the body has the hash {}, not the one it is uploaded under",
            spooled.id
        );
        let hint = "upload the file unchanged under its own SHA-256";
        return Err(AppError::new(StatusCode::UNPROCESSABLE_ENTITY, error, hint));
    }
    let closed = |error: tokio::sync::AcquireError| {
        AppError::new(
            StatusCode::SERVICE_UNAVAILABLE,
            error.to_string(),
            "try again",
        )
    };
    let turn = shared.inspections.acquire().await.map_err(closed)?;
    let (artifact, new) = take_in(&shared.store, &spooled.path, id).await?;
    drop(turn);
    if !new {
        return Ok((StatusCode::OK, Json(artifact)).into_response());
    }
    tracing::info!(sha256 = %id, bytes = artifact.bytes, "published");
    let location = [(header::LOCATION, format!("/api/artifacts/{id}"))];
    Ok((StatusCode::CREATED, location, Json(artifact)).into_response())
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers
        .get(header::CONTENT_LENGTH)?
        .to_str()
        .ok()?
        .parse()
        .ok()
}

fn too_large(limit: u64) -> AppError {
    let error = format!("the upload is larger than the limit of {limit} bytes");
    let hint = "raise it with `ipu-stack serve --max-upload-bytes`";
    AppError::new(StatusCode::PAYLOAD_TOO_LARGE, error, hint)
}

/// Writes the body to a temporary file, which goes away with the value.
async fn spool(mut body: BodyDataStream, limit: u64) -> Result<Spooled, AppError> {
    let spool = tempfile::NamedTempFile::new().map_err(no_spool)?;
    let (file, path) = spool.into_parts();
    let mut file = tokio::fs::File::from_std(file);
    let (mut hash, mut bytes) = (Sha256::new(), 0_u64);
    while let Some(chunk) = body.try_next().await.map_err(|error| cut_off(&error))? {
        bytes += chunk.len() as u64;
        if bytes > limit {
            return Err(too_large(limit));
        }
        hash.update(&chunk);
        file.write_all(&chunk).await.map_err(no_spool)?;
    }
    file.flush().await.map_err(no_spool)?;
    Ok(Spooled {
        path,
        id: BlobId::from_digest(hash.finalize().into()),
    })
}

fn cut_off(error: &axum::Error) -> AppError {
    let error = format!("the upload was cut off: {error}");
    AppError::new(StatusCode::BAD_REQUEST, error, "send it again")
}

#[expect(clippy::needless_pass_by_value, reason = "a callback of map_err")]
fn no_spool(error: std::io::Error) -> AppError {
    let error = format!("the upload cannot be kept while it is checked: {error}");
    let hint = "make room in the temporary folder of the server";
    AppError::new(StatusCode::INSUFFICIENT_STORAGE, error, hint)
}
