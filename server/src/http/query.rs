//! Questions to a stored profile: the JSON of `profile-query`, byte for byte.
//!
//! The query of the address has the names of the command's flags, and is read by the command's own
//! parser.

use analytics::query::query;
use analytics::report::query_json;
use axum::extract::{Path, RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::error::AppError;
use super::flags::words;
use super::{Shared, profiles};
use crate::store::{BlobId, IntakeError};

/// `GET /api/artifacts/<sha256>/query?FLAGS`.
pub(super) async fn by_hash(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    RawQuery(flags): RawQuery,
) -> Result<Response, AppError> {
    let id = profiles::public(&shared, &id).await?;
    answer(&shared, id, &flags.unwrap_or_default()).await
}

/// `GET /api/publications/<id>/query?FLAGS`.
pub(super) async fn by_publication(
    State(shared): State<Shared>,
    Path(id): Path<String>,
    RawQuery(flags): RawQuery,
) -> Result<Response, AppError> {
    let id = profiles::published(&shared, &id).await?;
    answer(&shared, id, &flags.unwrap_or_default()).await
}

async fn answer(shared: &Shared, id: BlobId, flags: &str) -> Result<Response, AppError> {
    let question = crate::cli::question(words(flags, "profile-query")?);
    let question = question.map_err(|error| {
        AppError::bad_request(
            error,
            "the names are the flags of `ipu-stack profile-query`",
        )
    })?;
    let _turn = shared.profiles.turn().await;
    let report = profiles::report(shared, id).await?;
    let answered = tokio::task::spawn_blocking(move || {
        query(&report, &question).map(|answer| query_json(&answer))
    });
    let json = answered
        .await
        .map_err(IntakeError::Check)?
        .map_err(|error| {
            let hint = "see `ipu-stack profile-query --help`";
            AppError::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string(), hint)
        })?;
    Ok(json_response(json))
}

/// An answer that stays the same as long as the artifacts are there.
pub(super) fn json_response(json: String) -> Response {
    let fixed = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "private, max-age=3600"),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    ];
    (fixed, json).into_response()
}
