//! Questions to a stored profile: the JSON of `profile-query`, byte for byte.
//!
//! The query of the address has the names of the command's flags, and is read by the command's own
//! parser.

use analytics::query::{QueryError, query};
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
    let (question, strict) = question.map_err(|error| {
        AppError::bad_request(
            error,
            "the names are the flags of `ipu-stack profile-query`",
        )
    })?;
    let _turn = shared.profiles.turn().await;
    let report = profiles::report(shared, id).await?;
    let answered = tokio::task::spawn_blocking(move || {
        let answer = query(&report, &question)?;
        let missed = crate::cli::empty(&answer).filter(|_| strict);
        Ok::<_, QueryError>(missed.map_or_else(|| Ok(query_json(&answer)), Err))
    });
    let answer = answered
        .await
        .map_err(IntakeError::Check)?
        .map_err(|error| {
            let hint = "see `ipu-stack profile-query --help`";
            AppError::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string(), hint)
        })?;
    match answer {
        Ok(json) => Ok(json_response(json)),
        Err((problem, hint)) => {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            Err(AppError::new(status, problem, hint))
        }
    }
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
