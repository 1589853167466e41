//! The artifact host: the viewer at `/`, artifacts and publications under `/api`.
//!
//! [`app`] is the whole service as a value, so tests call it without a socket; [`spawn`] binds it.
//! `openapi.json` describes every route; a test compares it with [`routes`].

mod artifacts;
mod compare;
mod error;
mod extract;
mod flags;
mod headers;
mod health;
mod limits;
mod linger;
mod listen;
mod metrics;
mod profiles;
mod publications;
mod query;
mod range;
mod request_id;
mod routes;
mod site;
mod trust;
mod upload;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use tokio::sync::{Mutex, MutexGuard};

pub use headers::HostPolicy;
pub use limits::ClientLimits;
pub use listen::{Connections, LocalServer, Sweeps, spawn, spawn_local};
pub use routes::{OPENAPI, routes};
pub use trust::{BadHash, WritePolicy, WriteToken};

use crate::store::{BlobId, Store};

/// What a server is made of.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where the artifacts are.
    pub store: Store,
    /// Which names it answers to.
    pub hosts: HostPolicy,
    /// Who may write.
    pub writers: WritePolicy,
    /// What one client may ask for.
    pub clients: ClientLimits,
    /// Days after which a publication ends that does not say itself; none: it stays.
    pub expire_days: Option<u32>,
    /// Address that links start with, without a final slash; empty: the bound one.
    pub public_url: String,
    /// Bounds on connections.
    pub connections: Connections,
    /// When to sweep.
    pub sweeps: Sweeps,
}

impl Config {
    /// A loopback server over `store`: everyone who reaches it may write, nothing expires.
    #[must_use]
    pub fn loopback(store: Store) -> Self {
        Self {
            store,
            hosts: HostPolicy::Loopback,
            writers: WritePolicy::Everyone,
            clients: ClientLimits::default(),
            expire_days: None,
            public_url: String::new(),
            connections: Connections::default(),
            sweeps: Sweeps::default(),
        }
    }
}

/// State of the routes.
#[derive(Clone)]
struct Shared {
    store: Store,
    hosts: HostPolicy,
    writers: Arc<trust::Writers>,
    clients: Arc<limits::Clients>,
    metrics: Arc<metrics::Metrics>,
    profiles: Arc<profiles::Profiles>,
    /// Held while an upload is looked up and published, one of them by hash.
    publishing: Arc<[Mutex<()>; 64]>,
    /// Held while the parts of an upload are joined, one of them by upload.
    joining: Arc<[Mutex<()>; 64]>,
    /// How long a JSON body may take.
    patience: Duration,
    /// How long an answer may take to begin.
    answer: Duration,
    expire_days: Option<u32>,
    public_url: Arc<str>,
    stopping: Arc<AtomicBool>,
}

impl Shared {
    fn new(config: Config) -> Self {
        Self {
            store: config.store,
            hosts: config.hosts,
            writers: Arc::new(trust::Writers::new(config.writers)),
            clients: Arc::new(limits::Clients::new(config.clients)),
            metrics: Arc::new(metrics::Metrics::new()),
            profiles: Arc::default(),
            publishing: Arc::new(std::array::from_fn(|_| Mutex::default())),
            joining: Arc::new(std::array::from_fn(|_| Mutex::default())),
            patience: config.connections.head,
            answer: config.connections.answer,
            expire_days: config.expire_days,
            public_url: config.public_url.into(),
            stopping: Arc::default(),
        }
    }

    /// Waits until no other upload of the blob is published.
    async fn publishing(&self, id: BlobId) -> MutexGuard<'_, ()> {
        self.publishing[id.below(self.publishing.len())]
            .lock()
            .await
    }

    fn set_stopping(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }
}

/// The service.
pub fn app(config: Config) -> Router {
    router(Shared::new(config))
}

fn router(shared: Shared) -> Router {
    routes::router(shared)
}
