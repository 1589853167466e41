//! `serve`: the viewer and artifacts on a loopback port, until interrupted.

use std::path::Path;

use super::args::ServeArgs;
use super::output::{flush, print};
use super::{Io, Outcome};
use crate::error::CliError;
use crate::http::{Config, HostPolicy, LocalServer, spawn_local};
use crate::open;
use crate::store::{BlobId, IntakeError, Store, take_in};

pub(super) fn run(args: &ServeArgs, io: &mut Io<'_>) -> Outcome {
    let store = open_store(args.store.as_deref())?;
    let hosts = HostPolicy::Loopback;
    let config = Config {
        store: store.clone(),
        upload_bytes_max: args.max_upload_bytes,
        hosts,
    };
    runtime()?.block_on(async {
        let mut links = Vec::new();
        for file in &args.files {
            links.push((file, publish(&store, file).await?));
        }
        let server = start(config, args.port).await?;
        print(io.stdout, &format!("serving {}/\n", server.url()))?;
        for (file, id) in links {
            print(
                io.stdout,
                &format!("{} {}/a/{id}\n", file.display(), server.url()),
            )?;
        }
        flush(io.stdout)?;
        until_interrupted(server).await
    })
}

/// The artifact store that was asked for.
pub(super) fn open_store(folder: Option<&Path>) -> Result<Store, CliError> {
    let Some(folder) = folder else {
        return Ok(Store::in_memory());
    };
    Store::local(folder).map_err(|error| {
        CliError::user(
            error,
            "--store",
            "name a folder that can be made and written",
        )
    })
}

/// The runtime that carries the server.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Runtime::new()
        .map_err(|error| CliError::internal(format!("no async runtime: {error}"), "tokio"))
}

/// Checks a file and puts it into the store.
pub(super) async fn publish(store: &Store, file: &Path) -> Result<BlobId, CliError> {
    let id = BlobId::of(&open::map(file)?);
    let refused = |error: IntakeError| {
        CliError::user(error, file.display(), "name an .ipuprofile or an .ipuexe")
    };
    let (artifact, _new) = take_in(store, file, id).await.map_err(refused)?;
    Ok(artifact.sha256)
}

/// Binds the server.
pub(super) async fn start(config: Config, port: u16) -> Result<LocalServer, CliError> {
    spawn_local(config, port).await.map_err(|error| {
        let hint = "choose another one with --port, or 0 for a free one";
        CliError::user(
            format!("cannot listen: {error}"),
            format!("port {port}"),
            hint,
        )
    })
}

/// Serves until Ctrl-C or until the listener fails.
pub(super) async fn until_interrupted(server: LocalServer) -> Outcome {
    let stopped = tokio::select! {
        ended = server.wait() => ended,
        interrupted = tokio::signal::ctrl_c() => interrupted,
    };
    stopped.map_err(|error| CliError::internal(format!("the server stopped: {error}"), "serve"))?;
    Ok(())
}
