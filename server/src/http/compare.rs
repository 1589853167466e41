//! Two stored profiles compared: the JSON of `profile-diff`, byte for byte.
//!
//! `before` and `after` name public artifacts by hash, or publications by id, which may be private:
//! whoever knows the id may read them. The rest of the query are the command's flags.

use analytics::diff::{DiffError, ProfileDiff, diff};
use analytics::query::QueryError;
use analytics::report::diff_json;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;

use super::error::AppError;
use super::{Shared, flags, profiles, query};
use crate::cli::comparison;
use crate::store::{BlobId, IntakeError};

const COMMAND: &str = "profile-diff";

/// `GET /api/compare?before=ID&after=ID&FLAGS`.
pub(super) async fn compare(
    State(shared): State<Shared>,
    RawQuery(query): RawQuery,
) -> Result<Response, AppError> {
    let query = query.unwrap_or_default();
    let mut sides = [None, None];
    let mut words = Vec::new();
    for (name, value) in flags::pairs(&query, COMMAND)? {
        match (name, value) {
            ("before", Some(value)) => sides[0] = Some(value),
            ("after", Some(value)) => sides[1] = Some(value),
            (name, value) => words.push(flags::word(name, value)),
        }
    }
    let [Some(before), Some(after)] = sides else {
        let hint = "add before=ID&after=ID: SHA-256 of public artifacts, or ids of publications";
        return Err(AppError::bad_request("two profiles are compared", hint));
    };
    let (options, limit) = comparison(words).map_err(|error| {
        let hint = "besides before and after, the names are flags of `ipu-stack profile-diff`";
        AppError::bad_request(error, hint)
    })?;
    query::at_most_rows("limit", limit)?;
    let before = named(&shared, &before).await?;
    let after = named(&shared, &after).await?;
    let _turn = shared.profiles.turn().await;
    let before = profiles::report(&shared, before).await?;
    let after = profiles::report(&shared, after).await?;
    let found = tokio::task::spawn_blocking(move || {
        let found = diff(&before, &after, &options).map_err(|error| refused(&error))?;
        if limit == 0 {
            check_changes(&found)?;
        }
        query::bounded(diff_json(&found, limit))
    });
    let json = found.await.map_err(IntakeError::Check)??;
    Ok(query::json_response(json))
}

/// A limit of none asks for all changes, and those may be many.
fn check_changes(found: &ProfileDiff) -> Result<(), AppError> {
    let most = query::ROWS_MAX;
    for (name, section) in found.sections() {
        let count = section.changes.len();
        if count > most {
            let error = format!("{count} changes by {name} are more than {most} in one answer");
            return Err(AppError::bad_request(error, "give a limit"));
        }
    }
    Ok(())
}

/// The blob that a hash or the id of a publication names; they differ in length.
async fn named(shared: &Shared, id: &str) -> Result<BlobId, AppError> {
    if id.len() == BlobId::DIGITS {
        profiles::public(shared, id).await
    } else {
        profiles::published(shared, id).await
    }
}

fn refused(error: &DiffError) -> AppError {
    let hint = match error {
        DiffError::Unlike { .. } => "record both alike, or compare with force",
        DiffError::Query(QueryError::Decode(_)) => "publish the profile again",
        _ => "see `ipu-stack profile-diff --help`",
    };
    AppError::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string(), hint)
}
