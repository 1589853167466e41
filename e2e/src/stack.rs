//! The product in this process: the command line, a server on a free port, the demo's files.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;

use server::cli::{Io, Status, run};
use server::store::{BlobId, Store};
use server::{Config, LocalServer, spawn_local};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// What a command printed and how it ended.
#[derive(Debug)]
pub struct Output {
    /// How it ended.
    pub status: Status,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Runs `ipu-stack` with these arguments, without environment variables and without a terminal.
///
/// # Panics
/// Where it panics or prints anything but UTF-8.
#[must_use]
pub fn ipu_stack(arguments: &[&str]) -> Output {
    let words: Vec<_> = ["ipu-stack"]
        .iter()
        .chain(arguments)
        .map(OsString::from)
        .collect();
    // A command that serves brings a runtime of its own, which a test's thread has already.
    let ended = thread::scope(|scope| scope.spawn(|| captured(words)).join());
    ended.expect("the command does not panic")
}

fn captured(words: Vec<OsString>) -> Output {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let mut io = Io {
        stdout: &mut stdout,
        stderr: &mut stderr,
        interactive: false,
        environment: &|_| None,
    };
    let status = run(words, &mut io);
    let text = |bytes| String::from_utf8(bytes).expect("the command prints UTF-8");
    Output {
        status,
        stdout: text(stdout),
        stderr: text(stderr),
    }
}

/// Runs `ipu-stack`, which must succeed, and gives its standard output.
///
/// # Panics
/// Where it fails.
#[must_use]
pub fn expect_output(arguments: &[&str]) -> String {
    let output = ipu_stack(arguments);
    assert_eq!(
        output.status,
        Status::Success,
        "{arguments:?}: {}",
        output.stderr
    );
    output.stdout
}

/// What a command that the page copied prints, which must succeed: each of its words that is the
/// name of one of `files` stands for that file.
///
/// # Panics
/// Where it is no command of ours, or fails.
#[must_use]
pub fn expect_copied(command: &str, files: &[&Path]) -> String {
    let place = |word: &str| {
        let named = files
            .iter()
            .find(|it| it.file_name() == Some(OsStr::new(word)));
        named.map_or_else(
            || word.to_owned(),
            |it| it.to_str().expect("the path is UTF-8").to_owned(),
        )
    };
    let rest = command.strip_prefix("ipu-stack ").expect("our command");
    let words: Vec<String> = rest.split(' ').map(place).collect();
    expect_output(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A folder under `target` for what tests leave to look at.
///
/// # Panics
/// Where it cannot be made.
#[must_use]
pub fn target_folder(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate is in the root");
    let folder = root.join("target").join(name);
    std::fs::create_dir_all(&folder).expect("the folder is made");
    folder
}

/// What `ipu-stack demo` left: one compilation and one run for all tests of a process.
#[derive(Debug)]
pub struct Demo {
    /// The recorded profile.
    pub profile: PathBuf,
    /// The package that was run.
    pub package: PathBuf,
    /// What the command printed.
    pub printed: String,
}

/// The demo's files, made on first use.
///
/// # Panics
/// Where the demo fails.
#[must_use]
pub fn demo() -> &'static Demo {
    static DEMO: OnceLock<Demo> = OnceLock::new();
    DEMO.get_or_init(|| {
        let folder = target_folder("e2e/demo");
        let place = folder.to_str().expect("the path is UTF-8");
        let printed = expect_output(&["demo", "--no-open", "--exit", "--output", place]);
        let profile = folder.join("gemm-projections.ipuprofile");
        assert!(profile.is_file(), "the demo wrote {}", profile.display());
        let package = folder.join("gemm-projections.ipuexe");
        Demo {
            profile,
            package,
            printed,
        }
    })
}

/// The demo's package, run again with every call and transfer recorded, and once more with a
/// recorder that costs 12 cycles a sample.
///
/// # Panics
/// Where a run fails.
#[must_use]
pub fn detailed() -> &'static [PathBuf; 2] {
    static DETAILED: OnceLock<[PathBuf; 2]> = OnceLock::new();
    DETAILED.get_or_init(|| {
        let folder = target_folder("e2e/detailed");
        let run = |name: &str, cost: &str| {
            let path = folder.join(name);
            let package = demo().package.to_str().expect("the path is UTF-8");
            let output = path.to_str().expect("the path is UTF-8");
            let flags = [
                "--granularity",
                "step",
                "--timing-only",
                "--sample-cycles",
                cost,
            ];
            let words = [&["run", package, "-o", output][..], &flags].concat();
            let _said = expect_output(&words);
            path
        };
        [run("exact.ipuprofile", "0"), run("slower.ipuprofile", "12")]
    })
}

/// A server on a free port with artifacts in memory.
#[derive(Debug)]
pub struct Stack {
    server: LocalServer,
}

impl Stack {
    /// Starts a server.
    ///
    /// # Panics
    /// Where no port is free.
    pub async fn start() -> Self {
        let config = Config::loopback(Store::in_memory());
        Self {
            server: spawn_local(config, 0).await.expect("a free port"),
        }
    }

    /// The address of a path, such as `/`.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.server.url())
    }

    /// Uploads a file over HTTP, as a client does, and gives its id.
    ///
    /// # Panics
    /// Where the server does not publish it.
    pub async fn upload(&self, file: &Path) -> BlobId {
        let bytes = std::fs::read(file).expect("the file is read");
        let id = BlobId::of(&bytes);
        let url = self.server.url();
        let host = url.strip_prefix("http://").expect("an HTTP address");
        let mut socket = TcpStream::connect(host).await.expect("the server listens");
        let head = format!(
            "PUT /api/artifacts/{id} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {}\r\n\
             connection: close\r\n\r\n",
            bytes.len()
        );
        socket
            .write_all(head.as_bytes())
            .await
            .expect("the head is sent");
        socket.write_all(&bytes).await.expect("the body is sent");
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
        id
    }
}
