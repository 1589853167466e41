//! A host of one file that answers byte ranges and counts what it gives: the independent witness
//! of how much of a profile the page reads.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::fs::File;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _};
use tokio::io::{BufReader, SeekFrom};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// Holds back every answer after some bytes, until it is let go.
#[derive(Debug)]
struct Gate {
    after: AtomicU64,
    opened: Notify,
}

/// What was given so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Answers.
    pub requests: u64,
    /// Bytes of their bodies.
    pub bytes: u64,
}

#[derive(Debug, Default)]
struct Counts {
    requests: AtomicU64,
    bytes: AtomicU64,
}

impl Gate {
    async fn pass(&self, counts: &Counts, length: u64) {
        loop {
            let opened = self.opened.notified();
            let given = counts.bytes.load(Ordering::Relaxed);
            if given.saturating_add(length) <= self.after.load(Ordering::Relaxed) {
                return;
            }
            opened.await;
        }
    }
}

/// A running host; it ends when dropped.
#[derive(Debug)]
pub struct RangeHost {
    url: String,
    gate: Arc<Gate>,
    counts: Arc<Counts>,
    task: JoinHandle<()>,
}

impl RangeHost {
    /// Starts a host of `file` on a free port.
    ///
    /// # Panics
    /// Where no port is free.
    pub async fn start(file: PathBuf) -> Self {
        Self::holding_after(file, u64::MAX).await
    }

    /// Starts a host that gives `bytes` bytes at most, and what passes them only after
    /// [`Self::let_go`].
    ///
    /// # Panics
    /// Where no port is free.
    pub async fn holding_after(file: PathBuf, bytes: u64) -> Self {
        let gate = Arc::new(Gate {
            after: AtomicU64::new(bytes),
            opened: Notify::new(),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let counts = Arc::new(Counts::default());
        let (shared, held) = (Arc::clone(&counts), Arc::clone(&gate));
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (file, counts) = (file.clone(), Arc::clone(&shared));
                let gate = Arc::clone(&held);
                tokio::spawn(async move {
                    // A browser closes connections as it likes.
                    let _ended = serve(socket, file, &counts, &gate).await;
                });
            }
        });
        Self {
            url: format!("http://{address}/file.ipuprofile"),
            gate,
            counts,
            task,
        }
    }

    /// The address of the file.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Gives everything from now on.
    pub fn let_go(&self) {
        self.gate.after.store(u64::MAX, Ordering::Relaxed);
        self.gate.opened.notify_waiters();
    }

    /// What was given so far.
    #[must_use]
    pub fn given(&self) -> Given {
        Given {
            requests: self.counts.requests.load(Ordering::Relaxed),
            bytes: self.counts.bytes.load(Ordering::Relaxed),
        }
    }
}

impl Drop for RangeHost {
    fn drop(&mut self) {
        self.task.abort();
    }
}

const OPEN_TO_ALL: &str = "access-control-allow-origin: *\r\n\
    access-control-allow-headers: range\r\naccess-control-expose-headers: content-range\r\n";

/// Answers the requests of one connection.
async fn serve(socket: TcpStream, file: PathBuf, counts: &Counts, gate: &Gate) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let mut socket = BufReader::new(socket);
    loop {
        let (mut method, mut range) = (String::new(), None);
        loop {
            let mut line = String::new();
            if socket.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            let line = line.trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if method.is_empty() {
                method = line.split(' ').next().unwrap_or_default().to_owned();
            } else if let Some(asked) = line.strip_prefix("range: bytes=") {
                range = asked.split_once('-').and_then(|(first, last)| {
                    Some((first.parse::<u64>().ok()?, last.parse::<u64>().ok()?))
                });
            }
        }
        if method == "options" {
            let head = format!("HTTP/1.1 204 No Content\r\n{OPEN_TO_ALL}\r\n");
            socket.write_all(head.as_bytes()).await?;
            continue;
        }
        let mut file = File::open(&file).await?;
        let total = file.metadata().await?.len();
        let (first, last) = range.unwrap_or((0, total.saturating_sub(1)));
        let last = last.min(total.saturating_sub(1));
        let length = (last + 1).saturating_sub(first);
        gate.pass(counts, length).await;
        let status = match range {
            Some(_) => {
                format!("206 Partial Content\r\ncontent-range: bytes {first}-{last}/{total}")
            }
            None => "200 OK".to_owned(),
        };
        counts.requests.fetch_add(1, Ordering::Relaxed);
        counts.bytes.fetch_add(length, Ordering::Relaxed);
        let head = format!("HTTP/1.1 {status}\r\n{OPEN_TO_ALL}content-length: {length}\r\n\r\n");
        socket.write_all(head.as_bytes()).await?;
        file.seek(SeekFrom::Start(first)).await?;
        tokio::io::copy(&mut file.take(length), &mut socket).await?;
        socket.flush().await?;
    }
}
