//! Failed requests as JSON: `{"error": what, "hint": what to do}` and a status.
//!
//! What a store says of itself, with its address, keys and folders, is for the log alone: a client
//! gets the id of its request, which finds the line.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::request_id;
use crate::store::{BadId, BadText, IntakeError, StoreError, Trouble};

/// A failed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AppError {
    status: StatusCode,
    error: String,
    hint: String,
    retry_seconds: Option<u32>,
    /// For the log.
    cause: String,
}

#[derive(Serialize)]
struct Body<'a> {
    error: &'a str,
    hint: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<String>,
}

impl AppError {
    /// A failure with its status, what failed, and what to do about it.
    pub(super) fn new(
        status: StatusCode,
        error: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            status,
            error: error.into(),
            hint: hint.into(),
            retry_seconds: None,
            cause: String::new(),
        }
    }

    /// Tells the log why.
    #[must_use]
    pub(super) fn because(mut self, cause: impl std::fmt::Display) -> Self {
        self.cause = cause.to_string();
        self
    }

    /// There is nothing at this address.
    #[must_use]
    pub(super) fn not_found(what: &str) -> Self {
        let hint = "GET /api/publications lists what is public";
        Self::new(StatusCode::NOT_FOUND, format!("there is no {what}"), hint)
    }

    /// The request means nothing.
    #[must_use]
    pub(super) fn bad_request(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error, hint)
    }

    /// Says when to try again.
    #[must_use]
    pub(super) const fn retry_after(mut self, seconds: u32) -> Self {
        self.retry_seconds = Some(seconds);
        self
    }

    fn too_large(error: impl Into<String>, hint: &str) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, error, hint)
    }

    fn refused(error: impl Into<String>, hint: &str) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, error, hint)
    }
}

/// What may help against a store that fails.
const TRY_AGAIN: &str = "try again; if it stays, tell the server's operator the id of the request";

impl From<BadId> for AppError {
    fn from(error: BadId) -> Self {
        let hint = "take the name as the server gave it, or as `sha256sum FILE` prints it";
        Self::bad_request(error.to_string(), hint)
    }
}

impl From<BadText> for AppError {
    fn from(error: BadText) -> Self {
        Self::bad_request(error.to_string(), "shorten it, or take the character out")
    }
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        let failed = "the artifact store failed";
        let answer = match (error.trouble(), &error) {
            (Trouble::Full, _) => {
                let hint = "the disk of the server is full; its operator must make room";
                Self::new(StatusCode::INSUFFICIENT_STORAGE, failed, hint)
            }
            (Trouble::ReadOnly, _) => {
                let hint = "the server may not write its store; its operator must allow it";
                Self::new(StatusCode::SERVICE_UNAVAILABLE, failed, hint)
            }
            (Trouble::Passing, StoreError::Slow | StoreError::Collected) => {
                let what = error.to_string();
                Self::new(StatusCode::SERVICE_UNAVAILABLE, what, TRY_AGAIN).retry_after(2)
            }
            (Trouble::Passing, _) => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, failed, TRY_AGAIN).retry_after(2)
            }
        };
        answer.because(error)
    }
}

impl From<IntakeError> for AppError {
    fn from(error: IntakeError) -> Self {
        let what = error.to_string();
        match error {
            IntakeError::Body(_) => {
                Self::bad_request("the upload was cut off", "send it again").because(what)
            }
            IntakeError::KeyUsed(_) => {
                let hint = "draw a new key for another publication";
                Self::new(StatusCode::CONFLICT, what, hint)
            }
            IntakeError::TooSlow { .. } => {
                let hint = "send it faster, or in parts with `ipu-stack publish`";
                Self::new(StatusCode::REQUEST_TIMEOUT, what, hint)
            }
            IntakeError::TooLarge { .. } => {
                let hint = "raise it with `ipu-stack serve --max-upload-bytes`";
                Self::too_large(what, hint)
            }
            IntakeError::TooLargeToJudge { .. } => {
                let hint = "make it columnar with `ipu-stack profile-convert FILE -o \
                    FILE.ipuprofile` and upload that";
                Self::too_large(what, hint)
            }
            IntakeError::OverQuota { .. } => {
                let hint = "delete publications, or raise it with `ipu-stack serve --quota-bytes`";
                Self::new(StatusCode::INSUFFICIENT_STORAGE, what, hint)
            }
            IntakeError::WrongHash { .. } => {
                Self::refused(what, "upload the file unchanged under its own SHA-256")
            }
            IntakeError::MissingPart { .. } => Self::refused(what, "upload it and ask again"),
            IntakeError::Refused(_) => {
                let hint = "upload an .ipuprofile, an .ipuexe or a rendered page that `ipu-stack` \
                    opens";
                Self::refused(what, hint)
            }
            IntakeError::Store(error) => error.into(),
            IntakeError::Spool(_) => {
                let error = "the upload cannot be kept while it is checked";
                let hint = "the server's operator must make room in its temporary folder";
                Self::new(StatusCode::INSUFFICIENT_STORAGE, error, hint).because(what)
            }
            IntakeError::Check(_) => {
                let error = "checking the file failed inside the server";
                let hint = "please report it with the file";
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, error, hint).because(what)
            }
        }
    }
}

impl IntoResponse for AppError {
    fn into_response(self) -> Response {
        let is_ours = self.status.is_server_error();
        if is_ours {
            let (status, cause) = (self.status.as_u16(), self.cause);
            tracing::error!(status, cause, "{}", self.error);
        }
        let body = Body {
            error: &self.error,
            hint: &self.hint,
            request: is_ours.then(request_id::current).flatten(),
        };
        let mut response = (self.status, Json(body)).into_response();
        if let Some(seconds) = self.retry_seconds {
            let seconds = HeaderValue::from(seconds);
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
        response
    }
}
