//! Questions to a stored profile: the JSON of `profile-query`, byte for byte.
//!
//! The query of the address has the names of the command's flags, and is read by the command's own
//! parser. Answers are bounded, since anyone may ask: what would be longer is refused before it is
//! written.

use analytics::profile::ProfileReport;
use analytics::query::{Query, QueryResult, query};
use analytics::report::query_json;
use analytics::units::{MetadataSetId, StepId};
use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::error::AppError;
use super::extract::Named;
use super::flags::words;
use super::{Shared, profiles};
use crate::store::{BlobId, IntakeError};

/// Most samples, groups or changes of a kind in one answer.
pub(super) const ROWS_MAX: usize = 10_000;
/// Longest names of all samples or groups of an answer together, in bytes.
const NAME_BYTES_MAX: usize = 32 << 20;
/// Longest answer in bytes.
const ANSWER_BYTES_MAX: usize = 32 << 20;

/// `GET /api/artifacts/<sha256>/query?FLAGS`.
pub(super) async fn by_hash(
    State(shared): State<Shared>,
    Named(id): Named<String>,
    RawQuery(flags): RawQuery,
) -> Result<Response, AppError> {
    let id = profiles::public(&shared, &id).await?;
    answer(&shared, id, &flags.unwrap_or_default()).await
}

/// `GET /api/publications/<id>/query?FLAGS`.
pub(super) async fn by_publication(
    State(shared): State<Shared>,
    Named(id): Named<String>,
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
    check_asked(&question)?;
    let _turn = shared.profiles.turn().await;
    let report = profiles::report(shared, id).await?;
    let answered = tokio::task::spawn_blocking(move || {
        check_names(&report, question.samples)?;
        let answer = query(&report, &question).map_err(|error| {
            let hint = "see `ipu-stack profile-query --help`";
            AppError::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string(), hint)
        })?;
        if let Some((problem, hint)) = crate::cli::empty(&answer).filter(|_| strict) {
            return Err(AppError::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                problem,
                hint,
            ));
        }
        check_groups(&answer)?;
        bounded(query_json(&answer))
    });
    let json = answered.await.map_err(IntakeError::Check)??;
    Ok(json_response(json))
}

fn check_asked(question: &Query) -> Result<(), AppError> {
    at_most_rows("samples", question.samples)?;
    at_most_rows("limit", question.limit)
}

/// Whether so many rows may be asked for.
///
/// # Errors
/// They may not: the message names the flag and the limit.
pub(super) fn at_most_rows(flag: &str, asked: usize) -> Result<(), AppError> {
    if asked <= ROWS_MAX {
        return Ok(());
    }
    let error = format!("{flag}={asked} is more than {ROWS_MAX}, the most in one answer");
    Err(AppError::bad_request(error, SMALLER))
}

/// What to do about an answer that is too long.
const SMALLER: &str = "ask for less, filter, or download the profile and ask \
    `ipu-stack profile-query`";

fn too_long(what: &str) -> AppError {
    let error = format!("the names of the {what} have more than {NAME_BYTES_MAX} bytes together");
    AppError::bad_request(error, SMALLER)
}

/// Whether so many samples fit with the names that the longest step of the profile has: every
/// sample of an answer has its own.
fn check_names(report: &ProfileReport, samples: usize) -> Result<(), AppError> {
    if samples == 0 {
        return Ok(());
    }
    let ids = (0..=u32::MAX).take(report.steps().len()).map(StepId::new);
    let steps = ids.map(|id| {
        let step = report.step(id);
        step.kernel.len() + step.operation.len() + step.basis.len()
    });
    let ids = (0..=u32::MAX).take(report.metadata_set_count());
    let sets = ids.map(|id| {
        let pairs = report.metadata(MetadataSetId::new(id));
        pairs.map(|it| it.0.len() + it.1.len()).sum::<usize>()
    });
    let longest = steps.max().unwrap_or(0) + sets.max().unwrap_or(0);
    if longest.saturating_mul(samples) > NAME_BYTES_MAX {
        return Err(too_long("samples"));
    }
    Ok(())
}

/// A limit of none asks for all groups, and those may be many or have long names.
fn check_groups(answer: &QueryResult) -> Result<(), AppError> {
    let groups = &answer.groups;
    if groups.len() > ROWS_MAX {
        let count = groups.len();
        let error = format!("{count} groups are more than {ROWS_MAX}, the most in one answer");
        return Err(AppError::bad_request(error, "give a limit, or filter"));
    }
    let names = groups.iter().map(|it| it.name.len());
    if names.sum::<usize>() > NAME_BYTES_MAX {
        return Err(too_long("groups"));
    }
    Ok(())
}

/// The answer, if it is short enough.
pub(super) fn bounded(json: String) -> Result<String, AppError> {
    if json.len() <= ANSWER_BYTES_MAX {
        return Ok(json);
    }
    let bytes = json.len();
    let error = format!("the answer has {bytes} bytes, more than {ANSWER_BYTES_MAX}");
    Err(AppError::bad_request(error, SMALLER))
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
