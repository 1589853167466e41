//! Security headers of every answer, and who may address a loopback server.
//!
//! The page may run its own scripts and WebAssembly, nothing inline, nothing from elsewhere; it may
//! read profiles from any HTTPS host and from loopback servers. A name that merely resolves to the
//! loopback address must not read local artifacts, so a loopback server answers only to loopback
//! names.

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
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

/// Refuses a request that changes something and that a browser sends for a page of another origin:
/// such a page may be anyone's, and a loopback server trusts whoever reaches it.
pub(super) async fn check_origin(request: Request, next: Next) -> Response {
    let safe = matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS
    );
    if safe || is_own(request.headers()) {
        return next.run(request).await;
    }
    let error = "a page of another origin may not change anything here";
    let hint = "send it from a page of this server, or from the command line";
    AppError::new(StatusCode::FORBIDDEN, error, hint).into_response()
}

/// Whether no browser sent the request, or for a page of this server.
fn is_own(headers: &HeaderMap) -> bool {
    if let Some(site) = headers.get("sec-fetch-site") {
        return site == "same-origin" || site == "none";
    }
    let Some(origin) = headers.get(header::ORIGIN) else {
        return true;
    };
    let (Ok(origin), Some(host)) = (origin.to_str(), headers.get(header::HOST)) else {
        return false;
    };
    let name = origin.split_once("://").map_or("", |(_, name)| name);
    host.as_bytes() == name.as_bytes()
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

    #[test]
    fn pages_of_other_origins_are_told_from_our_own() {
        let cases: [(&[(&'static str, &str)], bool); 7] = [
            (&[], true),
            (&[("origin", "http://h:1"), ("host", "h:1")], true),
            (&[("origin", "http://evil"), ("host", "h:1")], false),
            (&[("origin", "null"), ("host", "h:1")], false),
            (&[("sec-fetch-site", "same-origin")], true),
            (&[("sec-fetch-site", "cross-site")], false),
            (&[("sec-fetch-site", "same-site")], false),
        ];
        for (pairs, expected) in cases {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, HeaderValue::from_str(value).expect("a value"));
            }
            assert_eq!(is_own(&headers), expected, "{pairs:?}");
        }
    }
}
