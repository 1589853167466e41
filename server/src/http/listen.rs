//! Sockets: connections with bounds on their number and on the time a head may take, a stop that
//! lets requests end, and the sweeps.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinHandle;
use tower::ServiceExt as _;

use super::limits::{Client, Turn};
use super::linger::Lingering;
use super::{Config, Shared, router};
use crate::store::ListQuery;

/// Bounds on connections and on stopping.
#[derive(Clone, Copy, Debug)]
pub struct Connections {
    /// Open at a time, of all clients.
    pub max: usize,
    /// How long the head of a request may take, and after it a JSON body, and how long an idle
    /// connection stays.
    pub head: Duration,
    /// How long an answer may take to begin, but to uploads, whose pace is bounded.
    pub answer: Duration,
    /// How long requests may take to end once the server stops.
    pub drain: Duration,
}

impl Default for Connections {
    fn default() -> Self {
        Self {
            max: 1024,
            head: Duration::from_secs(15),
            answer: Duration::from_secs(120),
            drain: Duration::from_secs(30),
        }
    }
}

/// When to sweep, and what is old enough.
#[derive(Clone, Copy, Debug)]
pub struct Sweeps {
    /// Time between sweeps.
    pub every: Duration,
    /// How old something unneeded must be.
    pub grace: Duration,
}

impl Default for Sweeps {
    fn default() -> Self {
        Self {
            every: Duration::from_secs(3600),
            grace: Duration::from_secs(24 * 3600),
        }
    }
}

/// Bytes of the head of a request, at most.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// A running server; it stops when the value is dropped.
#[derive(Debug)]
pub struct LocalServer {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    /// None once it has ended.
    served: Option<JoinHandle<()>>,
}

impl LocalServer {
    /// Its address, such as `http://127.0.0.1:40123`, without a final slash.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops taking requests, lets those under way end, and waits for that.
    ///
    /// # Errors
    /// The server broke down before.
    pub async fn stop(mut self) -> std::io::Result<()> {
        self.stop.send_replace(true);
        self.wait().await
    }

    /// Waits until it has stopped by itself.
    ///
    /// # Errors
    /// The server broke down.
    pub async fn wait(&mut self) -> std::io::Result<()> {
        let Some(served) = &mut self.served else {
            return Ok(());
        };
        let ended = served.await.map_err(std::io::Error::other);
        self.served = None;
        ended
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

/// Serves on `port` of the loopback address; port 0 picks a free one.
///
/// # Errors
/// The port cannot be bound.
pub async fn spawn_local(config: Config, port: u16) -> std::io::Result<LocalServer> {
    spawn(config, (Ipv4Addr::LOCALHOST, port).into()).await
}

/// Serves on an address; port 0 picks a free one.
///
/// # Errors
/// The address cannot be bound.
pub async fn spawn(mut config: Config, address: SocketAddr) -> std::io::Result<LocalServer> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    if config.public_url.is_empty() {
        config.public_url = format!("http://{address}");
    }
    let (stop, stopping) = watch::channel(false);
    let (connections, sweeps) = (config.connections, config.sweeps);
    let shared = Shared::new(config);
    tokio::task::spawn_blocking(super::site::prepare);
    tokio::spawn(sweep(shared.clone(), sweeps, stopping.clone()));
    let served = tokio::spawn(accept(listener, shared, connections, stopping));
    Ok(LocalServer {
        address,
        stop,
        served: Some(served),
    })
}

/// Takes connections until told to stop, then waits for those that are open.
async fn accept(
    listener: TcpListener,
    shared: Shared,
    bounds: Connections,
    mut stopping: watch::Receiver<bool>,
) {
    let places = Arc::new(Semaphore::new(bounds.max.max(1)));
    let open = GracefulShutdown::new();
    let service = router(shared.clone());
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await.ok();
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            next = next => next,
            _ = stopping.wait_for(|stop| *stop) => break,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, mostly: closing connections frees some.
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let Some(turn) = shared.clients.connection(address.ip()) else {
            tracing::info!(%address, "more connections than one client may have");
            continue;
        };
        let held = (place, turn);
        let connection = Connection {
            stream,
            address,
            head: bounds.head,
        };
        tokio::spawn(connection.serve(service.clone(), shared.clone(), open.watcher(), held));
    }
    drop(listener);
    shared.set_stopping();
    tokio::select! {
        () = open.shutdown() => {}
        () = tokio::time::sleep(bounds.drain) => {
            tracing::warn!("requests were still under way when the server stopped");
        }
    }
}

struct Connection {
    stream: TcpStream,
    address: SocketAddr,
    head: Duration,
}

impl Connection {
    async fn serve(
        self,
        service: Router,
        shared: Shared,
        watcher: Watcher,
        _held: (Option<OwnedSemaphorePermit>, Turn),
    ) {
        let Self {
            stream,
            address,
            head,
        } = self;
        let client = Client(address.ip());
        let service = service_fn(move |request: Request<Incoming>| {
            let (head, body) = request.into_parts();
            let body = Lingering::new(body, &head.headers);
            let mut request = Request::from_parts(head, Body::new(body));
            request.extensions_mut().insert(client);
            service.clone().oneshot(request)
        });
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "no TCP_NODELAY");
        }
        shared.metrics.connections().inc();
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(head)
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(stream), service);
        if let Err(error) = watcher.watch(connection).await {
            tracing::debug!(%address, %error, "a connection ended");
        }
        shared.metrics.connections().dec();
    }
}

/// Reads the list, so that nobody has to wait for it, then sweeps, and again at intervals.
async fn sweep(shared: Shared, sweeps: Sweeps, mut stopping: watch::Receiver<bool>) {
    if let Err(error) = shared.store.list(&ListQuery::default()).await {
        tracing::warn!(%error, "the list could not be read yet");
    }
    loop {
        match shared.store.sweep(sweeps.grace).await {
            Ok(swept) => {
                shared
                    .metrics
                    .swept(swept.ended + swept.blobs + swept.leftovers);
                tracing::info!(?swept, "swept");
            }
            Err(error) => tracing::warn!(%error, "the sweep broke off"),
        }
        shared.clients.tidy();
        tokio::select! {
            () = tokio::time::sleep(sweeps.every) => {}
            _ = stopping.wait_for(|stop| *stop) => return,
        }
    }
}
