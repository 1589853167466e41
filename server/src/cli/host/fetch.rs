//! `fetch`: a link → its content in a file, checked against its hash.
//!
//! The content gathers in `FILE.part`; what is there from a download that broke off is asked for
//! no more. From any other address a profile or package is taken as it is: nothing says its hash,
//! so no part of an earlier download is trusted.

use std::path::{Path, PathBuf};

use analytics::format::{FileKind, sniff};
use reqwest::Url;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::args::FetchArgs;
use super::client::{Client, json};
use super::link::{Link, Target};
use super::serve::runtime;
use crate::cli::output::{print, unwritable, wrote};
use crate::cli::progress::Progress;
use crate::cli::{Io, Outcome};
use crate::error::CliError;
use crate::store::BlobId;

/// Downloads that are begun before giving up; each goes on where the last one ended.
const TRIES: u32 = 5;

/// What is fetched.
enum Source {
    /// An artifact, whose hash is known.
    Artifact(Link),
    /// A file of some other host.
    Elsewhere(Url),
}

impl Source {
    /// What `text` leads to.
    fn parse(text: &str) -> Result<Self, CliError> {
        match (Link::parse(text), Url::parse(text)) {
            (Ok(link), _) => Ok(Self::Artifact(link)),
            (_, Ok(url)) if matches!(url.scheme(), "http" | "https") => Ok(Self::Elsewhere(url)),
            (Err(error), _) => Err(error),
        }
    }

    /// Where the content is.
    fn address(&self) -> String {
        match self {
            Self::Artifact(link) => link.content(),
            Self::Elsewhere(url) => url.to_string(),
        }
    }

    fn server(&self) -> String {
        match self {
            Self::Artifact(link) => link.server.clone(),
            Self::Elsewhere(url) => url.origin().ascii_serialization(),
        }
    }
}

pub(in crate::cli) fn run(args: &FetchArgs, io: &mut Io<'_>) -> Outcome {
    let source = Source::parse(&args.link)?;
    let client = Client::new(&source.server(), io.environment)?;
    let progress = Progress::new(io.interactive);
    let bytes = runtime()?.block_on(fetch(&client, &source, &args.output, &progress))?;
    drop(progress);
    print(io.stderr, &format!("{}\n", wrote(&args.output, bytes)))
}

async fn fetch(
    client: &Client,
    source: &Source,
    output: &Path,
    progress: &Progress,
) -> Result<u64, CliError> {
    let part = part_of(output);
    let fail = |error: &std::io::Error| unwritable(error, &part);
    let expected = match source {
        Source::Artifact(link) => Some(expected(client, link).await?),
        Source::Elsewhere(_) => {
            forget(&part).await.map_err(|error| fail(&error))?;
            None
        }
    };
    let address = source.address();
    let mut tries = 0;
    loop {
        match download(client, &address, &part, progress).await {
            Ok(()) => break,
            Err(error) if tries + 1 == TRIES => return Err(error),
            Err(error) => tracing::info!(%error, "going on where it broke off"),
        }
        tries += 1;
    }
    let found = content(&part).await.map_err(|error| fail(&error))?;
    let refusal = match expected {
        Some(expected) if found.hash != expected => Some(CliError::user(
            format!("the content has the hash {}, not {expected}", found.hash),
            &address,
            "fetch it again",
        )),
        None if found.kind == FileKind::Unknown => Some(CliError::user(
            "what is there is neither a profile nor a package",
            &address,
            "give the address of the file itself, or a link as `ipu-stack publish` prints it",
        )),
        _ => None,
    };
    if let Some(refusal) = refusal {
        forget(&part).await.map_err(|error| fail(&error))?;
        return Err(refusal);
    }
    let renamed = tokio::fs::rename(&part, output).await;
    renamed.map_err(|error| unwritable(&error, output))?;
    Ok(found.bytes)
}

/// Removes a file, if there is one.
async fn forget(path: &Path) -> std::io::Result<()> {
    match tokio::fs::remove_file(path).await {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The hash that the content must have.
async fn expected(client: &Client, link: &Link) -> Result<BlobId, CliError> {
    let id = match link.target {
        Target::Blob(id) => return Ok(id),
        Target::Publication(id) => id,
    };
    let address = format!("{}/api/publications/{id}", link.server);
    let found: Value = json(client.send(|| client.read(&address)).await?).await?;
    let text = found["sha256"].as_str().unwrap_or_default();
    let hint = "check that the address is one of `ipu-stack serve`";
    text.parse()
        .map_err(|error| CliError::user(error, address, hint))
}

fn part_of(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

/// Gets what is missing of the content.
async fn download(
    client: &Client,
    address: &str,
    part: &Path,
    progress: &Progress,
) -> Result<(), CliError> {
    let fail = |error: &std::io::Error| unwritable(error, part);
    let mut options = tokio::fs::OpenOptions::new();
    let file = options.create(true).append(true).open(part).await;
    let mut file = file.map_err(|error| fail(&error))?;
    let start = file.metadata().await.map_err(|error| fail(&error))?.len();
    let asked = client.send(|| {
        let request = client.read(address);
        match start {
            0 => request,
            _ => request.header("range", format!("bytes={start}-")),
        }
    });
    let mut answer = asked.await?;
    if answer.status() == reqwest::StatusCode::RANGE_NOT_SATISFIABLE {
        // Nothing is missing, or what is there belongs to something else, which the hash tells.
        return Ok(());
    }
    if start > 0 && answer.status() != reqwest::StatusCode::PARTIAL_CONTENT {
        file.set_len(0).await.map_err(|error| fail(&error))?;
    }
    let total = start + answer.content_length().unwrap_or(0);
    let mut done = start;
    let broken = |error: reqwest::Error| {
        let hint = "run the same command again to go on";
        CliError::user(format!("the download broke off: {error}"), address, hint)
    };
    while let Some(bytes) = answer.chunk().await.map_err(broken)? {
        file.write_all(&bytes).await.map_err(|error| fail(&error))?;
        done += bytes.len() as u64;
        progress.stage("download", done, total);
    }
    file.flush().await.map_err(|error| fail(&error))
}

/// What was downloaded.
struct Content {
    hash: BlobId,
    kind: FileKind,
    bytes: u64,
}

async fn content(path: &Path) -> std::io::Result<Content> {
    let mut file = tokio::fs::File::open(path).await?;
    let (mut hash, mut bytes) = (Sha256::new(), 0);
    let mut kind = FileKind::Unknown;
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = file.read(&mut buffer).await?;
        if count == 0 {
            let hash = BlobId::from_digest(hash.finalize().into());
            return Ok(Content { hash, kind, bytes });
        }
        if bytes == 0 {
            kind = sniff(&buffer[..count]);
        }
        hash.update(&buffer[..count]);
        bytes += count as u64;
    }
}
