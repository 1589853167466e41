//! Publications over HTTP: list, one, publish again, delete.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};

use super::Shared;
use super::error::AppError;
use super::extract::{Asked, Named, Said, Writing};
use crate::store::{
    ArtifactKind, BlobId, Draft, Lifetime, ListQuery, Publication, PublicationId, Published,
    Visibility, Withdrawal,
};

/// Most publications in one answer.
const LIST_MAX: usize = 1000;
/// Longest search in characters.
const SEARCH_CHARS_MAX: usize = 200;

/// Query of the list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Listing {
    limit: Option<usize>,
    #[serde(default)]
    after: String,
    #[serde(default)]
    q: String,
}

#[derive(Serialize)]
struct List<'a> {
    publications: Vec<Shown<'a>>,
    total: usize,
    next: Option<String>,
}

/// A publication with its address in the viewer.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    publication: &'a Publication,
    link: String,
}

/// Answer to a publication: the only time its token is shown.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Made<'a> {
    #[serde(flatten)]
    shown: Shown<'a>,
    delete_token: Option<String>,
}

/// What a publisher may say, as query of an upload or as JSON.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Terms {
    #[serde(default)]
    title: String,
    #[serde(default)]
    memo: String,
    #[serde(default)]
    visibility: Visibility,
    days: Option<u32>,
    #[serde(default)]
    keep: bool,
}

impl Terms {
    /// Whether the publisher has said nothing at all.
    pub(super) fn are_plain(&self) -> bool {
        let said_nothing = self.title.is_empty() && self.memo.is_empty();
        said_nothing && self.visibility == Visibility::Public && !self.keep && self.days.is_none()
    }

    /// The draft of a publication.
    ///
    /// # Errors
    /// A text does not fit, or the days contradict themselves.
    pub(super) fn draft(self) -> Result<Draft, AppError> {
        let lifetime = match (self.keep, self.days) {
            (true, Some(_)) => {
                let hint = "give days or keep, not both";
                return Err(AppError::bad_request("days of what is kept", hint));
            }
            (true, None) => Lifetime::Keep,
            (false, Some(days)) => Lifetime::Days(days),
            (false, None) => Lifetime::Default,
        };
        let draft = Draft {
            title: self.title,
            memo: self.memo,
            visibility: self.visibility,
            lifetime,
        };
        draft.check()?;
        Ok(draft)
    }
}

/// Body of `POST /api/publications`: which artifact, by its hash if public, or by a publication.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Again {
    sha256: Option<BlobId>,
    publication: Option<PublicationId>,
    #[serde(default)]
    terms: Terms,
}

/// `GET /api/publications?limit=N&after=CURSOR&q=WORDS`: public ones, newest first.
pub(super) async fn list(
    State(shared): State<Shared>,
    Asked(listing): Asked<Listing>,
) -> Result<Response, AppError> {
    if listing.q.chars().count() > SEARCH_CHARS_MAX {
        let error = format!("the search is longer than {SEARCH_CHARS_MAX} characters");
        return Err(AppError::bad_request(error, "search for fewer words"));
    }
    let query = ListQuery {
        limit: listing.limit.unwrap_or(100).clamp(1, LIST_MAX),
        after: listing.after,
        search: listing.q,
    };
    let page = shared.store.list(&query).await?;
    let publications = page.publications.iter().map(|it| shared.shown(it));
    let list = List {
        publications: publications.collect(),
        total: page.total,
        next: page.next,
    };
    let fixed = [(header::CACHE_CONTROL, "no-store")];
    Ok((fixed, Json(list)).into_response())
}

/// `GET /api/publications/<id>`.
pub(super) async fn one(
    State(shared): State<Shared>,
    Named(id): Named<String>,
) -> Result<Response, AppError> {
    let found = shared.store.publication(id.parse()?).await?;
    let found = found.ok_or_else(|| AppError::not_found("such publication"))?;
    // Other pages may read it as they may read its content.
    let fixed = [
        (header::CACHE_CONTROL, "no-store"),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    ];
    Ok((fixed, Json(shared.shown(&found))).into_response())
}

/// `POST /api/publications`: another publication of what the client may read.
pub(super) async fn again(
    State(shared): State<Shared>,
    writing: Writing,
    Said(again): Said<Again>,
) -> Result<Response, AppError> {
    let draft = again.terms.draft()?;
    let source = match (again.sha256, again.publication) {
        (Some(blob), None) => shared.store.public_publication(blob).await?,
        (None, Some(id)) => shared.store.publication(id).await?,
        _ => {
            let hint = "see /api/openapi.json";
            return Err(AppError::bad_request("name sha256 or publication", hint));
        }
    };
    let source = source.ok_or_else(|| AppError::not_found("such artifact"))?;
    let ticket = writing.ticket(source.sha256)?;
    let _alone = shared.publishing(source.sha256).await;
    if let Some(made) = shared.store.repeated(&ticket, &draft).await? {
        return Ok(shared.made(&made));
    }
    shared.store.ensure_room()?;
    let (id, days) = (source.sha256, shared.expire_days);
    let made = shared.store.publish(&ticket, id, source.facts, draft, days);
    Ok(shared.made(&made.await?))
}

/// `DELETE /api/publications/<id>` with `Authorization: Bearer DELETE-TOKEN`.
pub(super) async fn delete(
    State(shared): State<Shared>,
    Named(id): Named<String>,
    headers: HeaderMap,
) -> Result<Response, AppError> {
    let id = id.parse()?;
    let hint = "send `Authorization: Bearer TOKEN` with the token that publishing printed";
    let token = super::trust::bearer(&headers)
        .ok_or_else(|| AppError::new(StatusCode::UNAUTHORIZED, "deleting needs a token", hint))?;
    match shared.store.withdraw(id, token).await? {
        Withdrawal::Done => Ok(StatusCode::NO_CONTENT.into_response()),
        Withdrawal::Missing => Err(AppError::not_found("such publication")),
        Withdrawal::WrongToken => {
            let error = "the token is not the one of this publication";
            Err(AppError::new(StatusCode::FORBIDDEN, error, hint))
        }
    }
}

impl Shared {
    fn shown<'a>(&self, publication: &'a Publication) -> Shown<'a> {
        let path = match (publication.facts.kind, publication.visibility) {
            // A page is never shown by this server, only handed out.
            (ArtifactKind::Report, _) => format!("/api/publications/{}/content", publication.id),
            (_, Visibility::Public) => format!("/a/{}", publication.sha256),
            (_, Visibility::Private) => format!("/p/{}", publication.id),
        };
        let link = format!("{}{path}", self.public_url);
        Shown { publication, link }
    }

    /// 201 with the address of a new publication and its token.
    pub(super) fn made(&self, published: &Published) -> Response {
        let made = Made {
            shown: self.shown(&published.publication),
            delete_token: Some(published.token.to_string()),
        };
        let place = format!("/api/publications/{}", published.publication.id);
        let fixed = [
            (header::LOCATION, place),
            (header::CACHE_CONTROL, "no-store".to_owned()),
        ];
        (StatusCode::CREATED, fixed, Json(made)).into_response()
    }

    /// 200 with a publication that was there before.
    pub(super) fn known(&self, publication: &Publication) -> Response {
        let made = Made {
            shown: self.shown(publication),
            delete_token: None,
        };
        let fixed = [(header::CACHE_CONTROL, "no-store")];
        (fixed, Json(made)).into_response()
    }
}
