//! Failed requests as JSON: `{"error": what, "hint": what to do}` and a status.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::store::{IntakeError, StoreError};

/// A failed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AppError {
    status: StatusCode,
    error: String,
    hint: String,
}

#[derive(Serialize)]
struct Body<'a> {
    error: &'a str,
    hint: &'a str,
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
        }
    }

    /// There is nothing at this address.
    #[must_use]
    pub(super) fn not_found(what: &str) -> Self {
        let hint = "GET /api/artifacts lists what there is";
        Self::new(StatusCode::NOT_FOUND, format!("there is no {what}"), hint)
    }
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        let hint = "try again; see the server's log if it stays";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string(), hint)
    }
}

impl From<IntakeError> for AppError {
    fn from(error: IntakeError) -> Self {
        match error {
            IntakeError::Refused(refused) => {
                let hint = "upload an .ipuprofile or an .ipuexe that `ipu-stack` opens";
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, refused.to_string(), hint)
            }
            IntakeError::Store(error) => error.into(),
            IntakeError::Check(error) => {
                let hint = "please report it with the file";
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string(), hint)
            }
        }
    }
}

impl IntoResponse for AppError {
    fn into_response(self) -> Response {
        if self.status.is_server_error() {
            tracing::error!(status = self.status.as_u16(), "{}", self.error);
        }
        let body = Body {
            error: &self.error,
            hint: &self.hint,
        };
        (self.status, Json(body)).into_response()
    }
}
