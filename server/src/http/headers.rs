//! Security headers of every answer, and who may address a loopback server.
//!
//! The page may run its own scripts and WebAssembly, nothing inline, nothing from elsewhere; it may
//! read profiles from any HTTPS host and from loopback servers. A name that merely resolves to the
//! loopback address must not read local artifacts, so a loopback server answers only to loopback
//! names.

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::error::AppError;

/// Policy of the viewer's pages and of its scripts, one of which is its worker's.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; \
    style-src 'self'; img-src 'self' data: blob:; font-src 'self'; \
    connect-src 'self' https: http://127.0.0.1:*; worker-src 'self' blob:; \
    manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; \
    object-src 'none'";

/// Policy of everything that is no page: it can do nothing, even when opened as a document.
const DATA_POLICY: &str = "default-src 'none'; frame-ancestors 'none'; sandbox";

/// Which `Host` headers are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostPolicy {
    /// `127.0.0.1`, `localhost` and `[::1]` with any port.
    Loopback,
    /// Any; for servers that are meant to be reached by other names.
    Any,
}

/// Adds the headers that every answer carries; what a route has set stays.
pub(super) async fn secure(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    // A worker takes its policy from its own script, and needs what the page may do.
    let page = headers.get(header::CONTENT_TYPE).is_some_and(|value| {
        let mime = value.as_bytes();
        mime.starts_with(b"text/html") || mime.starts_with(b"text/javascript")
    });
    let policy = if page { PAGE_POLICY } else { DATA_POLICY };
    let fixed: [(HeaderName, &'static str); 5] = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("permissions-policy"),
            "camera=(), microphone=(), geolocation=()",
        ),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
    ];
    for (name, value) in fixed {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Refuses a request that addresses the server by a name the policy does not allow.
pub(super) async fn check_host(
    State(policy): State<HostPolicy>,
    request: Request,
    next: Next,
) -> Response {
    if policy == HostPolicy::Any || names_loopback(request.headers()) {
        return next.run(request).await;
    }
    let error = "this server answers on its loopback address only";
    let hint = "open it as http://127.0.0.1:PORT";
    AppError::new(StatusCode::MISDIRECTED_REQUEST, error, hint).into_response()
}

/// Whether `Host` is absent or a loopback name.
fn names_loopback(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST) else {
        return true;
    };
    let Ok(host) = host.to_str() else {
        return false;
    };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    ["127.0.0.1", "localhost", "[::1]"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_names_are_loopback() {
        let cases = [
            ("127.0.0.1", true),
            ("127.0.0.1:8080", true),
            ("localhost:1", true),
            ("LOCALHOST", true),
            ("[::1]:80", true),
            ("[::1]", true),
            ("evil.example", false),
            ("evil.example:80", false),
            ("127.0.0.1.evil.example", false),
            ("localhost.evil.example:80", false),
            ("", false),
        ];
        for (host, expected) in cases {
            let mut headers = HeaderMap::new();
            headers.insert(
                header::HOST,
                HeaderValue::from_str(host).expect("a header value"),
            );
            assert_eq!(names_loopback(&headers), expected, "{host}");
        }
        assert!(names_loopback(&HeaderMap::new()));
    }
}
