//! Stores that fail: every call now and then, no room, no right to write, slow answers.

use std::fmt;
use std::io::ErrorKind;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt as _, TryStreamExt as _};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::throttle::{ThrottleConfig, ThrottledStore};
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};

use crate::support::{Host, Running, profile, profile_of, provider, sha};

/// What a bucket may say of itself.
const SECRET: &str = "503 Service Unavailable: http://10.0.0.7:9000/bucket/publications/0123";

/// What a failing call says.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Unavailable,
    Io(ErrorKind),
}

/// A store whose calls fail as told.
#[derive(Debug)]
struct Faulty {
    inner: Arc<InMemory>,
    switch: Arc<Switch>,
}

#[derive(Debug)]
struct Switch {
    /// Of a hundred calls, how many fail.
    percent: AtomicU32,
    /// State of the draw; seeded, so that a run can be repeated.
    draw: AtomicU64,
    fault: Fault,
    /// Whether reads fail too.
    reads: bool,
}

impl Switch {
    fn new(fault: Fault, reads: bool, percent: u32) -> Arc<Self> {
        Arc::new(Self {
            percent: percent.into(),
            draw: AtomicU64::new(0x9e37_79b9_7f4a_7c15),
            fault,
            reads,
        })
    }

    fn set(&self, percent: u32) {
        self.percent.store(percent, Ordering::Relaxed);
    }

    fn call(&self) -> Result<()> {
        let mut x = self.draw.load(Ordering::Relaxed);
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.draw.store(x, Ordering::Relaxed);
        if x % 100 >= u64::from(self.percent.load(Ordering::Relaxed)) {
            return Ok(());
        }
        let source: Box<dyn std::error::Error + Send + Sync> = match self.fault {
            Fault::Unavailable => SECRET.into(),
            Fault::Io(kind) => std::io::Error::from(kind).into(),
        };
        let store = "faulty";
        Err(object_store::Error::Generic { store, source })
    }

    fn read(&self) -> Result<()> {
        if self.reads { self.call() } else { Ok(()) }
    }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Faulty")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.switch.call()?;
        self.inner.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.switch.call()?;
        let inner = self.inner.put_multipart_opts(location, options).await?;
        let switch = Arc::clone(&self.switch);
        Ok(Box::new(FaultyUpload { inner, switch }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.switch.read()?;
        self.inner.get_opts(location, options).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.switch.read()?;
        self.inner.get_ranges(location, ranges).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let switch = Arc::clone(&self.switch);
        let checked = locations.map(move |location| switch.call().and(location));
        self.inner.delete_stream(checked.boxed())
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.switch.read() {
            Ok(()) => self.inner.list(prefix),
            Err(error) => futures::stream::iter([Err(error)]).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.switch.read()?;
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.switch.call()?;
        self.inner.copy_opts(from, to, options).await
    }
}

#[derive(Debug)]
struct FaultyUpload {
    inner: Box<dyn MultipartUpload>,
    switch: Arc<Switch>,
}

#[async_trait::async_trait]
impl MultipartUpload for FaultyUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let (part, call) = (self.inner.put_part(data), self.switch.call());
        Box::pin(async move {
            call?;
            part.await
        })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        self.switch.call()?;
        self.inner.complete().await
    }

    async fn abort(&mut self) -> Result<()> {
        self.inner.abort().await
    }
}

fn faulty(switch: &Arc<Switch>) -> (Host, Arc<InMemory>) {
    let inner = Arc::new(InMemory::new());
    let switch = Arc::clone(switch);
    let store = Faulty {
        inner: Arc::clone(&inner),
        switch,
    };
    (Host::over(Arc::new(store)), inner)
}

#[tokio::test]
async fn a_store_that_fails_one_call_in_five_publishes_whole_or_not_at_all() {
    let switch = Switch::new(Fault::Unavailable, true, 20);
    let (host, _) = faulty(&switch);
    let (mut refused, mut tokens) = (0, Vec::new());
    for seed in 0..25 {
        let bytes = profile(seed);
        let made = loop {
            let answer = host
                .put(&format!("{}?title=t", sha(&bytes)), bytes.clone())
                .await;
            match answer.status {
                StatusCode::CREATED => break answer,
                StatusCode::SERVICE_UNAVAILABLE => refused += 1,
                other => panic!("{other}: {}", answer.text()),
            }
            assert_ne!(answer.header("retry-after"), "");
            assert_ne!(answer.field("hint"), "");
            assert!(!answer.text().contains("bucket"), "{}", answer.text());
            assert_eq!(answer.field("request"), answer.header("x-request-id"));
        };
        tokens.push((made.field("id"), made.field("deleteToken"), bytes));
    }
    assert!(refused > 5, "only {refused} uploads met a failure");
    switch.set(0);
    // Nothing half-published is listed, and everything listed can be read.
    let list = host.get("/api/publications?limit=1000", &[]).await.json();
    for listed in list["publications"].as_array().expect("a list") {
        let sha256 = listed["sha256"].as_str().expect("a text");
        let answer = host.get(&format!("/api/artifacts/{sha256}"), &[]).await;
        assert_eq!(sha(&answer.body), sha256);
    }
    for (id, token, bytes) in tokens {
        let path = format!("/api/publications/{id}/content");
        let answer = host.get(&path, &[]).await.expect(StatusCode::OK);
        assert_eq!(answer.body, bytes);
        host.delete(&id, &token)
            .await
            .expect(StatusCode::NO_CONTENT);
    }
}

#[tokio::test]
async fn a_deletion_that_broke_off_can_be_asked_for_again() {
    let switch = Switch::new(Fault::Unavailable, false, 0);
    let (host, inner) = faulty(&switch);
    let bytes = profile(1);
    let made = host
        .put(&sha(&bytes), bytes)
        .await
        .expect(StatusCode::CREATED);
    switch.set(50);
    let (id, token) = (made.field("id"), made.field("deleteToken"));
    let mut tries = 0;
    while host.delete(&id, &token).await.status != StatusCode::NO_CONTENT {
        tries += 1;
        assert!(tries < 100, "it never succeeds");
    }
    switch.set(0);
    host.store.sweep(Duration::ZERO).await.expect("a sweep");
    let left: Vec<_> = inner.list(None).try_collect().await.expect("a list");
    assert_eq!(left, []);
}

#[tokio::test]
async fn a_full_disk_and_a_read_only_folder_are_told_apart_and_recovered_from() {
    let cases = [
        (
            ErrorKind::StorageFull,
            StatusCode::INSUFFICIENT_STORAGE,
            "disk",
        ),
        (
            ErrorKind::QuotaExceeded,
            StatusCode::INSUFFICIENT_STORAGE,
            "disk",
        ),
        (
            ErrorKind::ReadOnlyFilesystem,
            StatusCode::SERVICE_UNAVAILABLE,
            "may not write",
        ),
        (
            ErrorKind::PermissionDenied,
            StatusCode::SERVICE_UNAVAILABLE,
            "may not write",
        ),
    ];
    for (kind, status, word) in cases {
        let switch = Switch::new(Fault::Io(kind), false, 0);
        let (host, inner) = faulty(&switch);
        let [before, bytes] = [1, 2].map(profile);
        host.put(&sha(&before), before.clone())
            .await
            .expect(StatusCode::CREATED);
        switch.set(100);
        host.get("/ready", &[]).await.expect(status);
        let refused = host.put(&sha(&bytes), bytes.clone()).await.expect(status);
        assert!(refused.field("hint").contains(word), "{}", refused.text());
        // What was there is served, and the new one is nowhere.
        let path = format!("/api/artifacts/{}", sha(&before));
        host.get(&path, &[]).await.expect(StatusCode::OK);
        let path = format!("/api/artifacts/{}", sha(&bytes));
        host.get(&path, &[]).await.expect(StatusCode::NOT_FOUND);
        assert_eq!(host.total().await, 1);
        let blobs = inner.list(Some(&Path::from("blobs")));
        assert_eq!(blobs.count().await, 1);
        switch.set(0);
        host.get("/ready", &[]).await.expect(StatusCode::OK);
        host.put(&sha(&bytes), bytes)
            .await
            .expect(StatusCode::CREATED);
    }
}

/// Parts that cannot be read back are the store's failure, whose words stay inside.
#[tokio::test]
async fn a_join_of_parts_that_cannot_be_read_tells_nothing_of_the_store() {
    let switch = Switch::new(Fault::Unavailable, true, 0);
    let (host, _) = faulty(&switch);
    let bytes = profile(4);
    let path = format!("/api/uploads/{}", "0".repeat(32));
    let request = axum::http::Request::put(format!("{path}/0")).body(bytes.clone().into());
    let part = host.send(request.expect("a request")).await;
    part.expect(StatusCode::NO_CONTENT);
    let join = serde_json::json!({"sha256": sha(&bytes), "parts": 1});
    for percent in [100, 25, 25, 25, 25, 25] {
        switch.set(percent);
        let answer = host.post(&path, &join).await;
        if answer.status == StatusCode::CREATED {
            break;
        }
        let answer = answer.expect(StatusCode::SERVICE_UNAVAILABLE);
        assert!(!answer.text().contains("bucket"), "{}", answer.text());
    }
}

/// A server whose files may not grow beyond a limit of the system: writes fail midway, as on a disk
/// without room.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_write_that_the_system_refuses_midway_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    // Of 64 KiB or 128, as shells count.
    let script = "trap '' XFSZ; ulimit -f 128; exec \"$0\" serve --port 0 --store \"$1\"";
    let mut command = std::process::Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_ipu-stack")]);
    let server = Running::start(command.arg(folder.path()));
    provider();
    let client = reqwest::Client::new();
    let put = async |bytes: Vec<u8>| {
        let address = format!("{}/api/artifacts/{}", server.url, sha(&bytes));
        let answer = client.put(address).body(bytes).send().await;
        answer.expect("an answer")
    };
    let large = profile_of(200_000, 1);
    assert!(large.len() > 200_000, "it has {} bytes", large.len());
    for _ in 0..2 {
        let refused = put(large.clone()).await;
        assert_eq!(refused.status(), StatusCode::INSUFFICIENT_STORAGE);
        let text = refused.text().await.expect("text");
        assert!(
            text.contains("must make room") && !text.contains("os error"),
            "{text}"
        );
        let blobs = std::fs::read_dir(folder.path().join("blobs"));
        assert_eq!(blobs.map_or(0, Iterator::count), 0);
    }
    assert_eq!(put(profile(1)).await.status(), StatusCode::CREATED);
}

/// A server of another user, whose folder may no longer be written after a while.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_becomes_read_only_is_served_and_recovers() {
    use std::os::unix::fs::{PermissionsExt as _, chown};
    use std::os::unix::process::CommandExt as _;

    /// Who is nobody, on every system that tests run on.
    const NOBODY: u32 = 65_534;
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("store");
    std::fs::create_dir(&store).expect("a folder");
    let program = folder.path().join("ipu-stack");
    std::fs::copy(env!("CARGO_BIN_EXE_ipu-stack"), &program).expect("a copy");
    let mut command = std::process::Command::new(&program);
    command
        .args(["serve", "--port", "0", "--store"])
        .arg(&store);
    // The superuser may write whatever the mode says.
    if chown(&store, Some(NOBODY), Some(NOBODY)).is_ok() {
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).expect("it is ours");
        command.uid(NOBODY).gid(NOBODY);
    }
    let server = Running::start(&mut command);
    provider();
    let client = reqwest::Client::new();
    let url = server.url.clone();
    let mode = |mode: u32| {
        let mut folders = vec![store.clone()];
        while let Some(folder) = folders.pop() {
            let entries = std::fs::read_dir(&folder).expect("it is read").flatten();
            folders.extend(entries.map(|it| it.path()).filter(|it| it.is_dir()));
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&folder, mode).expect("it is ours");
        }
    };
    let put = async |seed| {
        let bytes = profile(seed);
        let address = format!("{url}/api/artifacts/{}", sha(&bytes));
        let answer = client.put(address).body(bytes).send().await;
        answer.expect("an answer")
    };
    let get = async |path: String| {
        let answer = client.get(format!("{url}{path}")).send().await;
        answer.expect("an answer").status()
    };
    assert_eq!(put(1).await.status(), StatusCode::CREATED);
    mode(0o555);
    let refused = put(2).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    let text = refused.text().await.expect("text");
    assert!(text.contains("may not write its store"), "{text}");
    assert!(
        !text.contains("store/") && !text.contains("os error"),
        "{text}"
    );
    assert_eq!(
        get("/ready".to_owned()).await,
        StatusCode::SERVICE_UNAVAILABLE
    );
    let path = format!("/api/artifacts/{}", sha(&profile(1)));
    assert_eq!(get(path).await, StatusCode::OK);
    mode(0o755);
    assert_eq!(get("/ready".to_owned()).await, StatusCode::OK);
    assert_eq!(put(2).await.status(), StatusCode::CREATED);
}

#[tokio::test]
async fn a_slow_store_slows_its_own_answers_only() {
    let wait = Duration::from_millis(60);
    let slow = ThrottleConfig {
        wait_get_per_call: wait,
        wait_put_per_call: wait,
        wait_list_per_call: wait,
        wait_delete_per_call: wait,
        ..ThrottleConfig::default()
    };
    let host = Host::over(Arc::new(ThrottledStore::new(InMemory::new(), slow)));
    let bytes = profile(3);
    let uploading = tokio::spawn({
        let (host, bytes) = (host.clone(), bytes.clone());
        async move { host.put(&sha(&bytes), bytes).await }
    });
    let mut alive = 0;
    while !uploading.is_finished() {
        host.get("/health", &[]).await.expect(StatusCode::OK);
        alive += 1;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(alive > 3, "it answered {alive} times meanwhile");
    uploading
        .await
        .expect("it ends")
        .expect(StatusCode::CREATED);
    let path = format!("/api/artifacts/{}", sha(&bytes));
    assert_eq!(
        host.get(&path, &[]).await.expect(StatusCode::OK).body,
        bytes
    );
}
