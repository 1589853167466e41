//! Every address of the server, and what each request passes before it is answered.

use axum::extract::DefaultBodyLimit;
use axum::handler::Handler;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse as _;
use axum::routing::{MethodRouter, delete, get, post, put};
use axum::{Router, middleware};

use super::error::AppError;
use super::extract::JSON_BYTES_MAX;
use super::{
    Shared, artifacts, compare, headers, health, limits, metrics, publications, query, request_id,
    site, upload,
};

/// The description of the interface, as OpenAPI 3.1.
pub const OPENAPI: &str = include_str!("openapi.json");

/// What answers to some methods of an address.
struct Call {
    /// As the description names them; none for what is no part of the interface.
    methods: &'static [&'static str],
    answers: MethodRouter<Shared>,
}

fn gets<H: Handler<T, Shared>, T: 'static>(handler: H) -> Call {
    let answers = get(handler);
    let methods = &["get"];
    Call { methods, answers }
}

/// Bytes, whose length and tag are worth asking for alone.
fn reads<H: Handler<T, Shared>, T: 'static>(handler: H) -> Call {
    let answers = get(handler);
    let methods = &["get", "head"];
    Call { methods, answers }
}

fn puts<H: Handler<T, Shared>, T: 'static>(handler: H) -> Call {
    let answers = put(handler);
    let methods = &["put"];
    Call { methods, answers }
}

fn posts<H: Handler<T, Shared>, T: 'static>(handler: H) -> Call {
    let answers = post(handler);
    let methods = &["post"];
    Call { methods, answers }
}

fn deletes<H: Handler<T, Shared>, T: 'static>(handler: H) -> Call {
    let answers = delete(handler);
    let methods = &["delete"];
    Call { methods, answers }
}

/// Pages of the viewer, its files, and what to say of everything else.
fn shows<H: Handler<T, Shared>, T: 'static>(handler: H) -> Call {
    let answers = get(handler);
    let methods = &[];
    Call { methods, answers }
}

/// Every address with what answers there: the router and what the description is held against are
/// made of this alone.
fn table() -> Vec<(&'static str, Vec<Call>)> {
    let openapi = || async { ([(header::CONTENT_TYPE, "application/json")], OPENAPI) };
    let unknown = || async { AppError::not_found("such call") };
    vec![
        (
            "/api/artifacts/{sha256}",
            vec![reads(artifacts::download), puts(upload::upload)],
        ),
        ("/api/artifacts/{sha256}/query", vec![gets(query::by_hash)]),
        ("/api/compare", vec![gets(compare::compare)]),
        (
            "/api/publications",
            vec![gets(publications::list), posts(publications::again)],
        ),
        (
            "/api/publications/{id}",
            vec![gets(publications::one), deletes(publications::delete)],
        ),
        (
            "/api/publications/{id}/content",
            vec![reads(artifacts::content)],
        ),
        (
            "/api/publications/{id}/query",
            vec![gets(query::by_publication)],
        ),
        (
            "/api/uploads/{upload}",
            vec![gets(upload::parts), posts(upload::join)],
        ),
        (
            "/api/uploads/{upload}/{number}",
            vec![puts(upload::put_part)],
        ),
        ("/api/openapi.json", vec![gets(openapi)]),
        ("/health", vec![gets(health::health)]),
        ("/ready", vec![gets(health::ready)]),
        ("/metrics", vec![gets(metrics::show)]),
        ("/", vec![shows(site::page)]),
        ("/a/{id}", vec![shows(site::page)]),
        ("/p/{id}", vec![shows(site::page)]),
        ("/api/{*rest}", vec![shows(unknown)]),
        ("/{*path}", vec![shows(site::asset)]),
    ]
}

/// Every address of the interface with its methods; the viewer's own pages and files come besides.
#[must_use]
pub fn routes() -> Vec<(&'static str, Vec<&'static str>)> {
    let rows = table().into_iter().map(|(path, calls)| {
        let methods = calls.iter().flat_map(|it| it.methods).copied();
        (path, methods.collect::<Vec<_>>())
    });
    rows.filter(|(_, methods)| !methods.is_empty()).collect()
}

/// The interface and the viewer behind the checks that every request passes.
pub(super) fn router(shared: Shared) -> Router {
    let mut router = Router::new();
    for (path, calls) in table() {
        for call in calls {
            router = router.route(path, call.answers);
        }
    }
    router
        .fallback(|| async { AppError::not_found("such page").into_response() })
        .method_not_allowed_fallback(|| async {
            let (error, hint) = ("no such method here", "see /api/openapi.json");
            AppError::new(StatusCode::METHOD_NOT_ALLOWED, error, hint)
        })
        .layer(DefaultBodyLimit::max(JSON_BYTES_MAX))
        .layer(middleware::from_fn(headers::check_origin))
        .layer(middleware::from_fn_with_state(
            shared.clients.clone(),
            limits::check,
        ))
        .layer(middleware::from_fn_with_state(
            shared.answer,
            limits::in_time,
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
