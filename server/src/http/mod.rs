//! The artifact host: the viewer at `/`, artifacts by content hash under `/api/artifacts`.
//!
//! [`app`] is the whole service as a value, so tests call it without a socket; [`spawn_local`]
//! binds it to a free loopback port.

mod artifacts;
mod error;
mod headers;
mod range;
mod site;
mod upload;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::response::IntoResponse as _;
use axum::routing::get;
use axum::{Router, middleware};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;

pub use headers::HostPolicy;

use crate::store::Store;

/// Largest upload by default: 1 GiB.
pub const UPLOAD_BYTES_MAX: u64 = 1 << 30;

/// What a server is made of.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where the artifacts are.
    pub store: Store,
    /// Largest upload in bytes.
    pub upload_bytes_max: u64,
    /// Which names it answers to.
    pub hosts: HostPolicy,
}

impl Config {
    /// A loopback server over `store` with the default limits.
    #[must_use]
    pub const fn loopback(store: Store) -> Self {
        Self {
            store,
            upload_bytes_max: UPLOAD_BYTES_MAX,
            hosts: HostPolicy::Loopback,
        }
    }
}

/// State of the routes.
#[derive(Clone)]
struct Shared {
    store: Store,
    upload_bytes_max: u64,
    /// Full parses at a time: each may hold a row file's decoded form.
    inspections: Arc<Semaphore>,
}

/// The service.
pub fn app(config: Config) -> Router {
    let shared = Shared {
        store: config.store,
        upload_bytes_max: config.upload_bytes_max,
        inspections: Arc::new(Semaphore::new(1)),
    };
    Router::new()
        .route("/", get(site::page))
        .route("/a/{id}", get(site::page))
        .route("/p/{id}", get(site::page))
        .route("/api/artifacts", get(artifacts::list))
        .route(
            "/api/artifacts/{id}",
            get(artifacts::download).put(upload::upload),
        )
        .route(
            "/api/{*rest}",
            get(|| async { error::AppError::not_found("such call") }),
        )
        .route("/{*path}", get(site::asset))
        .fallback(|| async { error::AppError::not_found("such page").into_response() })
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(
            config.hosts,
            headers::check_host,
        ))
        .layer(middleware::from_fn(headers::secure))
        .with_state(shared)
}

/// A server on a loopback port; it stops when the value is dropped.
#[derive(Debug)]
pub struct LocalServer {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<std::io::Result<()>>,
}

impl LocalServer {
    /// Its address, such as `http://127.0.0.1:40123`, without a final slash.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits until it has stopped by itself.
    ///
    /// # Errors
    /// The listener failed.
    pub async fn wait(mut self) -> std::io::Result<()> {
        // A dropped sender would stop the server that is being waited for.
        let _stop = self.stop.take();
        (&mut self.served).await.map_err(std::io::Error::other)?
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The receiver is gone only when the server has stopped already.
            let _stopped = stop.send(());
        }
    }
}

/// Serves on `port` of the loopback address; port 0 picks a free one.
///
/// # Errors
/// The port cannot be bound.
pub async fn spawn_local(config: Config, port: u16) -> std::io::Result<LocalServer> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let address = listener.local_addr()?;
    let (stop, stopped) = oneshot::channel::<()>();
    let service = app(config);
    let served = tokio::spawn(async move {
        let stopped = async move {
            // An error means that the handle was dropped, which also ends the server.
            let _dropped = stopped.await;
        };
        axum::serve(listener, service)
            .with_graceful_shutdown(stopped)
            .await
    });
    Ok(LocalServer {
        address,
        stop: Some(stop),
        served,
    })
}
