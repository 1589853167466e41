//! A host without a socket, its answers, and profiles to give it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use analytics::synth::{SynthOptions, generate_bytes};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode};
use object_store::ObjectStore;
use object_store::memory::InMemory;
use server::store::{BlobId, Limits, Store};
use server::{Config, app};
use tower::ServiceExt as _;

/// An answer, read whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().expect("visible ASCII"))
    }

    pub(crate) fn text(&self) -> &str {
        str::from_utf8(&self.body).expect("UTF-8")
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    /// A text field of the JSON.
    pub(crate) fn field(&self, name: &str) -> String {
        self.json()[name].as_str().expect("a text").to_owned()
    }

    /// The same answer, whose status must be this one.
    #[track_caller]
    pub(crate) fn expect(self, status: StatusCode) -> Self {
        assert_eq!(
            self.status,
            status,
            "{}",
            String::from_utf8_lossy(&self.body)
        );
        self
    }
}

#[derive(Clone)]
pub(crate) struct Host {
    app: Router,
    pub(crate) store: Store,
}

impl Host {
    pub(crate) fn new() -> Self {
        Self::with_limit(1 << 20)
    }

    pub(crate) fn with_limit(upload_bytes_max: u64) -> Self {
        Self::with_limits(Limits {
            upload_bytes_max,
            ..Limits::default()
        })
    }

    pub(crate) fn with_limits(limits: Limits) -> Self {
        Self::of(Config::loopback(Store::in_memory().with_limits(limits)))
    }

    /// A host over an object store.
    pub(crate) fn over(objects: Arc<dyn ObjectStore>) -> Self {
        Self::of(Config::loopback(Store::over(objects)))
    }

    /// Several hosts that share one store in memory, which comes first.
    pub(crate) fn sharing<const N: usize>() -> (Arc<InMemory>, [Self; N]) {
        let objects = Arc::new(InMemory::new());
        let hosts = std::array::from_fn(|_| Self::over(objects.clone()));
        (objects, hosts)
    }

    pub(crate) fn of(config: Config) -> Self {
        let store = config.store.clone();
        let app = app(config);
        Self { app, store }
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self
            .app
            .clone()
            .oneshot(request)
            .await
            .expect("the service answers");
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX)
            .await
            .expect("the body is read")
            .to_vec();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body,
        }
    }

    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Body::empty()).expect("a request"))
            .await
    }

    pub(crate) async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.call(Method::GET, path, headers).await
    }

    /// Uploads under `id`, which may be followed by a query.
    pub(crate) async fn put(&self, id: &str, body: Vec<u8>) -> Answer {
        let path = format!("/api/artifacts/{id}");
        self.send(Request::put(path).body(body.into()).expect("a request"))
            .await
    }

    pub(crate) async fn post(&self, path: &str, json: &serde_json::Value) -> Answer {
        let request = Request::post(path).header("content-type", "application/json");
        let request = request.body(json.to_string().into());
        self.send(request.expect("a request")).await
    }

    pub(crate) async fn delete(&self, id: &str, token: &str) -> Answer {
        let path = format!("/api/publications/{id}");
        let right = format!("Bearer {token}");
        self.call(Method::DELETE, &path, &[("authorization", &right)])
            .await
    }

    /// Public publications that are listed.
    pub(crate) async fn total(&self) -> u64 {
        let list = self.get("/api/publications", &[]).await;
        list.expect(StatusCode::OK).json()["total"]
            .as_u64()
            .expect("a number")
    }

    /// A host with one public profile, its path and its bytes.
    pub(crate) async fn with_profile() -> (Self, String, Vec<u8>) {
        let host = Self::new();
        let bytes = profile(7);
        let id = BlobId::of(&bytes).to_string();
        host.put(&id, bytes.clone())
            .await
            .expect(StatusCode::CREATED);
        (host, format!("/api/artifacts/{id}"), bytes)
    }
}

/// A server in a process of its own, which ends with the test, however that ends.
pub(crate) struct Running {
    process: Child,
    pub(crate) url: String,
}

impl Running {
    /// Starts what prints its address first.
    pub(crate) fn start(command: &mut Command) -> Self {
        let process = command.stdout(Stdio::piped()).spawn();
        let mut process = process.expect("the server starts");
        let url = url_of(&mut process);
        Self { process, url }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _killed = self.process.kill();
        let _status = self.process.wait();
    }
}

/// What a server process prints once it listens, without the slash at its end.
fn url_of(process: &mut Child) -> String {
    let mut line = String::new();
    let output = process.stdout.take().expect("it is piped");
    BufReader::new(output).read_line(&mut line).expect("a line");
    let url = line.trim().trim_start_matches("serving ");
    url.trim_end_matches('/').to_owned()
}

/// Host and port of the same, for plain sockets.
pub(crate) fn address_of(process: &mut Child) -> String {
    let url = url_of(process);
    url.trim_start_matches("http://").to_owned()
}

/// Makes clients possible.
pub(crate) fn provider() {
    // It fails only where another test has installed it.
    let _installed = rustls::crypto::ring::default_provider().install_default();
}

/// A small valid profile.
pub(crate) fn profile(seed: u64) -> Vec<u8> {
    profile_of(500, seed)
}

/// A valid profile of about so many samples.
pub(crate) fn profile_of(samples: u64, seed: u64) -> Vec<u8> {
    let options = SynthOptions {
        samples,
        tiles: 8,
        seed,
        ..SynthOptions::default()
    };
    generate_bytes(&options).expect("a profile")
}

/// Its SHA-256 as text.
pub(crate) fn sha(bytes: &[u8]) -> String {
    BlobId::of(bytes).to_string()
}
