//! Whether the process lives, and whether it can serve.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use super::Shared;
use super::error::AppError;

/// `GET /health`: the process answers.
pub(super) async fn health() -> Response {
    Json(json!({"status": "alive"})).into_response()
}

/// `GET /ready`: the store answers and the server is not stopping.
pub(super) async fn ready(State(shared): State<Shared>) -> Result<Response, AppError> {
    if shared.is_stopping() {
        let error = "the server is stopping";
        let hint = "ask another one";
        return Err(AppError::new(StatusCode::SERVICE_UNAVAILABLE, error, hint));
    }
    shared.store.is_ready().await?;
    Ok(Json(json!({"status": "ready"})).into_response())
}
