//! `serve`: the viewer and artifacts at an address, until interrupted.

use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use futures::StreamExt as _;
use tokio_util::io::ReaderStream;

use super::args::{LimitArgs, ServeArgs, TrustArgs};
use super::settings::with_settings;
use crate::cli::output::{flush, print};
use crate::cli::{Io, Outcome};
use crate::error::CliError;
use crate::http::{
    ClientLimits, Config, Connections, HostPolicy, LocalServer, Sweeps, WritePolicy, WriteToken,
    spawn,
};
use crate::open;
use crate::store::{BlobId, BodyError, Draft, Limits, Store, Ticket};

/// Days a publication stays on a shared server that does not say itself.
const SHARED_EXPIRE_DAYS: u32 = 90;

/// `words` are the whole command line: environment and file add to it.
pub(in crate::cli) fn run(words: &[OsString], io: &mut Io<'_>) -> Outcome {
    let args = with_settings(words, io.environment)?;
    crate::logging::set(&args.log, args.log_format);
    runtime()?.block_on(async {
        let config = config(&args)?;
        let mut published = Vec::new();
        for file in &args.files {
            published.push((file, publish(&config.store, file).await?));
        }
        let public_url = config.public_url.clone();
        let mut server = start(config, (args.listen, args.port).into()).await?;
        print(io.stdout, &format!("serving {}/\n", server.url()))?;
        let links = if public_url.is_empty() {
            server.url()
        } else {
            public_url
        };
        if links == server.url() && args.listen.is_unspecified() {
            tracing::warn!("links start with {links}, which others cannot open: give --public-url");
        }
        for (file, id) in published {
            let link = format!("{} {links}/a/{id}\n", file.display());
            print(io.stdout, &link)?;
        }
        flush(io.stdout)?;
        until_interrupted(&mut server).await?;
        stop(server).await
    })
}

/// What the flags mean.
fn config(args: &ServeArgs) -> Result<Config, CliError> {
    // Who names another address has something in front that others reach.
    let shared = !args.listen.is_loopback() || args.public_url.is_some();
    let writers = writers(&args.trust, shared)?;
    let LimitArgs {
        max_upload_bytes,
        quota_bytes,
        upload_slots,
        ..
    } = args.limits;
    let store = open_store(args.store.as_deref())?.with_limits(Limits {
        upload_bytes_max: max_upload_bytes,
        quota_bytes,
        slots: upload_slots,
        ..Limits::default()
    });
    let seconds = Duration::from_secs;
    let public_url = args.public_url.clone().unwrap_or_default();
    Ok(Config {
        store,
        hosts: if shared {
            HostPolicy::Any
        } else {
            HostPolicy::Loopback
        },
        writers,
        clients: clients(args, shared),
        expire_days: match (args.limits.keep, args.limits.expire_days) {
            (true, _) => None,
            (false, Some(days)) => Some(days),
            (false, None) => shared.then_some(SHARED_EXPIRE_DAYS),
        },
        public_url: public_url.trim_end_matches('/').to_owned(),
        connections: Connections {
            max: args.limits.connections,
            head: seconds(args.limits.head_seconds),
            answer: seconds(args.limits.answer_seconds),
            drain: seconds(args.limits.drain_seconds),
        },
        sweeps: Sweeps {
            every: seconds(args.limits.sweep_seconds.max(1)),
            grace: seconds(args.limits.grace_seconds),
        },
    })
}

fn clients(args: &ServeArgs, shared: bool) -> ClientLimits {
    let limits = &args.limits;
    let uploads = limits.client_uploads.or(shared.then_some(8));
    let connections = limits.client_connections.or(shared.then_some(64));
    let rate = NonZeroU32::new(50).filter(|_| shared);
    ClientLimits {
        requests_per_second: limits.client_requests.or(rate),
        uploads,
        // Behind a proxy every connection comes from the proxy.
        connections: connections.filter(|_| !args.trust.trust_proxy),
        trust_proxy: args.trust.trust_proxy,
    }
}

/// Who may write: a shared server has to be told.
fn writers(args: &TrustArgs, shared: bool) -> Result<WritePolicy, CliError> {
    let (text, place) = match (&args.token_hash, &args.token_hash_file) {
        (Some(hash), _) => (hash.clone(), "--token-hash".to_owned()),
        (None, Some(path)) => {
            let fail = |error: std::io::Error| {
                let hint = "write it with `ipu-stack serve-token --hash-file FILE`";
                CliError::user(
                    format!("cannot read the hash: {error}"),
                    path.display(),
                    hint,
                )
            };
            let text = std::fs::read_to_string(path).map_err(fail)?;
            (text, path.display().to_string())
        }
        (None, None) if shared && !args.insecure_uploads => {
            let what = "a server that others reach needs a token for writing";
            let hint = "make one with `ipu-stack serve-token` and give its hash with \
                --token-hash-file, or let everyone write with --insecure-uploads";
            return Err(CliError::user(what, "--listen", hint));
        }
        (None, None) => return Ok(WritePolicy::Everyone),
    };
    let hash = WriteToken::parse(&text);
    let hint = "make one with `ipu-stack serve-token`";
    hash.map(WritePolicy::Token)
        .map_err(|error| CliError::user(error, place, hint))
}

/// The artifact store that was asked for.
fn open_store(place: Option<&str>) -> Result<Store, CliError> {
    let Some(place) = place else {
        return Ok(Store::in_memory());
    };
    Store::by_url(place).map_err(|error| {
        let hint = "name a folder that can be made and written, or a bucket as s3://NAME/PREFIX \
            with its credentials in the environment";
        CliError::user(error, "--store", hint)
    })
}

/// The runtime that carries servers and clients.
pub(in crate::cli) fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Runtime::new()
        .map_err(|error| CliError::internal(format!("no async runtime: {error}"), "tokio"))
}

/// Checks a file and publishes it in a store of this process, unless it is public there already.
pub(in crate::cli) async fn publish(store: &Store, file: &Path) -> Result<BlobId, CliError> {
    let id = BlobId::of(&open::map(file)?);
    let refused = |error: &dyn std::fmt::Display| {
        let hint = "name an .ipuprofile, an .ipuexe or a rendered page";
        CliError::user(error, file.display(), hint)
    };
    let public = store.public_publication(id).await;
    if public.map_err(|error| refused(&error))?.is_some() {
        return Ok(id);
    }
    let source = tokio::fs::File::open(file).await;
    let pieces = ReaderStream::with_capacity(source.map_err(|error| refused(&error))?, 256 << 10);
    let body = pieces.map(|piece| piece.map_err(|error| BodyError(error.into())));
    let received = store.receive(id, body).await;
    let received = received.map_err(|error| refused(&error))?;
    let (claim, facts) = (received.claim, received.facts);
    let ticket = Ticket::random().map_err(|error| CliError::internal(error, "random bytes"))?;
    let published = store.publish(&ticket, id, facts, titled(file), None).await;
    store.release(id, claim).await;
    published.map_err(|error| refused(&error))?;
    Ok(id)
}

/// What is said of a file that is served: its name, where that can be a title.
fn titled(file: &Path) -> Draft {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let titled = Draft {
        title: name.into_owned(),
        ..Draft::default()
    };
    match titled.check() {
        Ok(()) => titled,
        Err(_) => Draft::default(),
    }
}

/// Binds the server.
pub(in crate::cli) async fn start(
    config: Config,
    address: SocketAddr,
) -> Result<LocalServer, CliError> {
    spawn(config, address).await.map_err(|error| {
        let hint = "choose another one with --port, or 0 for a free one";
        let place = match address.ip() {
            IpAddr::V4(ip) if ip.is_loopback() => format!("port {}", address.port()),
            _ => address.to_string(),
        };
        CliError::user(format!("cannot listen: {error}"), place, hint)
    })
}

/// Serves until the process is told to stop or the listener fails.
pub(in crate::cli) async fn until_interrupted(server: &mut LocalServer) -> Outcome {
    let stopped = tokio::select! {
        ended = server.wait() => ended,
        told = told_to_stop() => told,
    };
    stopped.map_err(|error| CliError::internal(format!("the server stopped: {error}"), "serve"))?;
    Ok(())
}

/// Lets requests under way end.
async fn stop(server: LocalServer) -> Outcome {
    let stopped = server.stop().await;
    stopped.map_err(|error| CliError::internal(format!("the server stopped: {error}"), "serve"))?;
    Ok(())
}

/// Ctrl-C, or the signal that service managers send.
async fn told_to_stop() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_published_under_its_name() {
        let title = |path: &str| titled(Path::new(path)).title;
        assert_eq!(title("runs/block.ipuprofile"), "block.ipuprofile");
        assert_eq!(title("runs/a\u{202e}b.ipuprofile"), "", "it would pretend");
        assert_eq!(title(".."), "");
    }
}
