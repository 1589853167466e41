//! Every address of the server, and what each request passes before it is answered.

use axum::extract::DefaultBodyLimit;
use axum::http::header;
use axum::response::IntoResponse as _;
use axum::routing::{get, put};
use axum::{Router, middleware};

use super::error::AppError;
use super::{
    Shared, artifacts, compare, headers, health, limits, metrics, publications, query, request_id,
    site, upload,
};

/// The description of the interface, as OpenAPI 3.1.
pub const OPENAPI: &str = include_str!("openapi.json");

/// Every route of the interface as (path, methods); the viewer's own files come besides.
pub const ROUTES: &[(&str, &[&str])] = &[
    ("/api/artifacts/{sha256}", &["get", "head", "put"]),
    ("/api/artifacts/{sha256}/query", &["get"]),
    ("/api/compare", &["get"]),
    ("/api/publications", &["get", "post"]),
    ("/api/publications/{id}", &["get", "delete"]),
    ("/api/publications/{id}/content", &["get", "head"]),
    ("/api/publications/{id}/query", &["get"]),
    ("/api/uploads/{upload}", &["get", "post"]),
    ("/api/uploads/{upload}/{number}", &["put"]),
    ("/api/openapi.json", &["get"]),
    ("/health", &["get"]),
    ("/ready", &["get"]),
    ("/metrics", &["get"]),
];

fn interface() -> Router<Shared> {
    let openapi = || async { ([(header::CONTENT_TYPE, "application/json")], OPENAPI) };
    Router::new()
        .route(
            "/api/artifacts/{sha256}",
            get(artifacts::download).put(upload::upload),
        )
        .route("/api/artifacts/{sha256}/query", get(query::by_hash))
        .route("/api/compare", get(compare::compare))
        .route(
            "/api/publications",
            get(publications::list).post(publications::again),
        )
        .route(
            "/api/publications/{id}",
            get(publications::one).delete(publications::delete),
        )
        .route("/api/publications/{id}/content", get(artifacts::content))
        .route("/api/publications/{id}/query", get(query::by_publication))
        .route(
            "/api/uploads/{upload}",
            get(upload::parts).post(upload::join),
        )
        .route("/api/uploads/{upload}/{number}", put(upload::put_part))
        .route("/api/openapi.json", get(openapi))
        .route("/health", get(health::health))
        .route("/ready", get(health::ready))
        .route("/metrics", get(metrics::show))
}

/// The interface and the viewer behind the checks that every request passes.
pub(super) fn router(shared: Shared) -> Router {
    let unknown = || async { AppError::not_found("such call") };
    interface()
        .route("/", get(site::page))
        .route("/a/{id}", get(site::page))
        .route("/p/{id}", get(site::page))
        .route("/api/{*rest}", get(unknown))
        .route("/{*path}", get(site::asset))
        .fallback(|| async { AppError::not_found("such page").into_response() })
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn(headers::check_origin))
        .layer(middleware::from_fn_with_state(
            shared.clients.clone(),
            limits::check,
        ))
        .layer(middleware::from_fn_with_state(
            shared.hosts,
            headers::check_host,
        ))
        .layer(middleware::from_fn_with_state(
            shared.clone(),
            metrics::count,
        ))
        .layer(middleware::from_fn(request_id::mark))
        .layer(middleware::from_fn(headers::secure))
        .with_state(shared)
}
