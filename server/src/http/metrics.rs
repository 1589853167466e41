//! Counters for an operator, in the text form that Prometheus reads.

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use super::Shared;

/// What a request is counted under: its route, never its address, which may hold a private id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Asked {
    method: &'static str,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    route: String,
}

/// The counters of a server.
#[derive(Debug)]
pub(super) struct Metrics {
    registry: Registry,
    requests: Family<Asked, Counter>,
    seconds: Family<Route, Histogram>,
    published: Counter,
    published_bytes: Counter,
    used_bytes: Gauge,
    connections: Gauge,
    swept: Counter,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let requests = Family::<Asked, Counter>::default();
        let seconds = Family::<Route, Histogram>::new_with_constructor(|| {
            Histogram::new(exponential_buckets(0.001, 4.0, 8))
        });
        let [published, published_bytes, swept] = [(); 3].map(|()| Counter::default());
        let [used_bytes, connections] = [(); 2].map(|()| Gauge::default());
        let mut registry = Registry::with_prefix("ipu_stack");
        registry.register("requests", "Requests answered", requests.clone());
        let help = "Time from the head of a request to the head of its answer";
        registry.register_with_unit("request", help, Unit::Seconds, seconds.clone());
        registry.register("publications", "Publications made", published.clone());
        let help = "Bytes of artifacts published";
        registry.register("published_bytes", help, published_bytes.clone());
        let help = "Bytes of all artifacts in the store";
        registry.register("used_bytes", help, used_bytes.clone());
        registry.register("connections", "Open connections", connections.clone());
        let help = "Publications, blobs and leftovers deleted by sweeps";
        registry.register("swept", help, swept.clone());
        Self {
            registry,
            requests,
            seconds,
            published,
            published_bytes,
            used_bytes,
            connections,
            swept,
        }
    }

    pub(super) fn published(&self, bytes: u64) {
        self.published.inc();
        self.published_bytes.inc_by(bytes);
    }

    pub(super) fn swept(&self, objects: u64) {
        self.swept.inc_by(objects);
    }

    pub(super) fn connections(&self) -> &Gauge {
        &self.connections
    }
}

/// Counts a request, and logs it with its id.
pub(super) async fn count(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("none", MatchedPath::as_str).to_owned();
    let method = match request.method().as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "PUT" => "PUT",
        "POST" => "POST",
        "DELETE" => "DELETE",
        _ => "other",
    };
    let started = Instant::now();
    let response = next.run(request).await;
    let elapsed = started.elapsed();
    let status = response.status().as_u16();
    tracing::info!(
        method,
        route,
        status,
        micros = elapsed.as_micros(),
        "answered"
    );
    let asked = Asked {
        method,
        route: route.clone(),
        status,
    };
    shared.metrics.requests.get_or_create(&asked).inc();
    let seconds = shared.metrics.seconds.get_or_create(&Route { route });
    seconds.observe(elapsed.as_secs_f64());
    drop(seconds);
    response
}

/// `GET /metrics`.
pub(super) async fn show(State(shared): State<Shared>) -> Response {
    let metrics = &shared.metrics;
    let used = i64::try_from(shared.store.used_bytes()).unwrap_or(i64::MAX);
    metrics.used_bytes.set(used);
    let mut text = String::new();
    if encode(&mut text, &metrics.registry).is_err() {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    let mime = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, mime)], text).into_response()
}
