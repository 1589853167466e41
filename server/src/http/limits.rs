//! What one client may ask for: requests a second, uploads and connections at a time.
//!
//! A client is an address of the network; behind a proxy that is trusted, the address that the
//! proxy saw.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{Extensions, HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use parking_lot::Mutex;

use super::error::AppError;
use crate::store::StoreError;

/// Limits of one client; none where absent.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClientLimits {
    /// Requests a second, with bursts of ten times as many.
    pub requests_per_second: Option<NonZeroU32>,
    /// Uploads at a time.
    pub uploads: Option<u32>,
    /// Connections at a time.
    pub connections: Option<u32>,
    /// Whether the last address of `X-Forwarded-For` is the client's.
    pub trust_proxy: bool,
}

/// The address that a request came from; set on every connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Client(pub(super) IpAddr);

impl Client {
    /// The client of a request; a request that came over no socket is the machine's own.
    pub(super) fn of(extensions: &Extensions) -> Self {
        let own = Self(Ipv4Addr::LOCALHOST.into());
        extensions.get::<Self>().copied().unwrap_or(own)
    }
}

/// Counts what each client does at a time.
#[derive(Debug, Default)]
struct Counts(Mutex<BTreeMap<IpAddr, u32>>);

/// One thing that a client does; counted until dropped.
#[derive(Debug)]
pub(super) struct Turn {
    counts: Arc<Counts>,
    address: IpAddr,
}

impl Counts {
    fn enter(self: &Arc<Self>, address: IpAddr, limit: Option<u32>) -> Option<Turn> {
        let mut counts = self.0.lock();
        let count = counts.entry(address).or_default();
        if limit.is_some_and(|limit| *count >= limit) {
            return None;
        }
        *count += 1;
        let counts = Arc::clone(self);
        Some(Turn { counts, address })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut counts = self.counts.0.lock();
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

/// The clients of a server.
#[derive(Debug)]
pub(super) struct Clients {
    limits: ClientLimits,
    requests: Option<DefaultKeyedRateLimiter<IpAddr>>,
    uploads: Arc<Counts>,
    connections: Arc<Counts>,
}

impl Clients {
    pub(super) fn new(limits: ClientLimits) -> Self {
        let rate = limits.requests_per_second.map(|rate| {
            let burst = rate.saturating_mul(NonZeroU32::new(10).unwrap_or(NonZeroU32::MIN));
            RateLimiter::keyed(Quota::per_second(rate).allow_burst(burst))
        });
        Self {
            limits,
            requests: rate,
            uploads: Arc::default(),
            connections: Arc::default(),
        }
    }

    /// One more upload of a client.
    ///
    /// # Errors
    /// 429 where it has as many as it may.
    pub(super) fn upload(&self, client: Client) -> Result<Turn, AppError> {
        let limit = self.limits.uploads;
        self.uploads.enter(client.0, limit).ok_or_else(|| {
            let error = format!("more than {} uploads at a time", limit.unwrap_or(0));
            too_many(error, "wait until one has ended").retry_after(5)
        })
    }

    /// One more connection from an address; none where it has as many as it may.
    pub(super) fn connection(&self, address: IpAddr) -> Option<Turn> {
        self.connections.enter(address, self.limits.connections)
    }

    /// Forgets clients that have been quiet.
    pub(super) fn tidy(&self) {
        if let Some(requests) = &self.requests {
            requests.retain_recent();
            requests.shrink_to_fit();
        }
    }

    fn request(&self, client: Client) -> Result<(), AppError> {
        let Some(requests) = &self.requests else {
            return Ok(());
        };
        requests.check_key(&client.0).map_err(|not_until| {
            let wait = not_until.wait_time_from(DefaultClock::default().now());
            let seconds = u32::try_from(wait.as_secs()).unwrap_or(u32::MAX);
            let hint = "ask less often";
            too_many("too many requests", hint).retry_after(seconds.saturating_add(1))
        })
    }
}

fn too_many(error: impl Into<String>, hint: &str) -> AppError {
    AppError::new(StatusCode::TOO_MANY_REQUESTS, error, hint)
}

/// Finds the client of each request and refuses those that ask too often.
pub(super) async fn check(
    State(clients): State<Arc<Clients>>,
    mut request: Request,
    next: Next,
) -> Response {
    if clients.limits.trust_proxy
        && let Some(address) = forwarded(request.headers())
    {
        request.extensions_mut().insert(Client(address));
    }
    match clients.request(Client::of(request.extensions())) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

/// Bounds the time until an answer begins. Uploads have bounds of their own, on their pace.
pub(super) async fn in_time(
    State(limit): State<Duration>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    if request.method() == Method::PUT || path.starts_with("/api/uploads/") {
        return next.run(request).await;
    }
    match tokio::time::timeout(limit, next.run(request)).await {
        Ok(response) => response,
        Err(_elapsed) => AppError::from(StoreError::Slow).into_response(),
    }
}

/// The last address of the last `X-Forwarded-For`: the one that our own proxy wrote.
fn forwarded(headers: &HeaderMap) -> Option<IpAddr> {
    let value = headers.get_all("x-forwarded-for").iter().next_back()?;
    value.to_str().ok()?.rsplit(',').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_as_many_uploads_as_it_may_and_others_have_theirs() {
        let limits = ClientLimits {
            uploads: Some(2),
            ..ClientLimits::default()
        };
        let clients = Clients::new(limits);
        let [one, other] = [1, 2].map(|it| Client(Ipv4Addr::new(10, 0, 0, it).into()));
        let first = clients.upload(one).expect("a first");
        let _second = clients.upload(one).expect("a second");
        assert!(clients.upload(one).is_err());
        assert!(clients.upload(other).is_ok());
        drop(first);
        assert!(clients.upload(one).is_ok());
    }

    #[test]
    fn bursts_are_ten_times_the_rate() {
        let limits = ClientLimits {
            requests_per_second: NonZeroU32::new(1),
            ..ClientLimits::default()
        };
        let clients = Clients::new(limits);
        let client = Client(Ipv4Addr::LOCALHOST.into());
        let passed = (0..100).filter(|_| clients.request(client).is_ok()).count();
        assert!((10..20).contains(&passed), "{passed} of 100 at once");
    }

    #[test]
    fn only_the_address_that_the_nearest_proxy_saw_counts() {
        let mut headers = HeaderMap::new();
        headers.append(
            "x-forwarded-for",
            "1.1.1.1, 2.2.2.2".parse().expect("a value"),
        );
        headers.append(
            "x-forwarded-for",
            "3.3.3.3, 4.4.4.4".parse().expect("a value"),
        );
        assert_eq!(forwarded(&headers), "4.4.4.4".parse().ok());
        assert_eq!(forwarded(&HeaderMap::new()), None);
    }
}
