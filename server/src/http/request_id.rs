//! A name for each request, in its answer and in every log line about it.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument as _;

tokio::task_local! {
    static CURRENT: HeaderValue;
}

const NAME: HeaderName = HeaderName::from_static("x-request-id");
/// Longest id taken from a proxy.
const CHARS_MAX: usize = 64;

/// Takes the id of a proxy or makes one.
pub(super) async fn mark(request: Request, next: Next) -> Response {
    let id = given(request.headers()).unwrap_or_else(made);
    // Of the severest level, so that it is there whichever lines are shown.
    let span = tracing::error_span!("request", request_id = id.to_str().unwrap_or_default());
    let answered = CURRENT.scope(id.clone(), next.run(request));
    let mut response = answered.instrument(span).await;
    response.headers_mut().insert(NAME, id);
    response
}

/// The id of the request that is being answered.
pub(super) fn current() -> Option<String> {
    let text = |id: &HeaderValue| id.to_str().map(str::to_owned);
    CURRENT.try_with(text).ok()?.ok()
}

/// The id in the request, if it is short and plain.
fn given(headers: &HeaderMap) -> Option<HeaderValue> {
    let id = headers.get(NAME)?;
    let plain = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_');
    let fits = (1..=CHARS_MAX).contains(&id.len()) && id.as_bytes().iter().all(plain);
    fits.then(|| id.clone())
}

fn made() -> HeaderValue {
    let number = getrandom::u64().unwrap_or(0);
    let text = format!("{number:016x}");
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_of_a_proxy_is_taken_only_if_it_is_plain() {
        let long = "x".repeat(65);
        let cases = [
            ("0af7651916cd43dd-8448_A", true),
            ("", false),
            ("a b", false),
            ("a\"b", false),
            (long.as_str(), false),
        ];
        for (text, taken) in cases {
            let mut headers = HeaderMap::new();
            headers.insert(NAME, HeaderValue::from_str(text).expect("a value"));
            assert_eq!(given(&headers).is_some(), taken, "{text}");
        }
        assert_ne!(made(), made());
    }
}
