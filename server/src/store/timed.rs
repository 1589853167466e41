//! An object store whose calls end: one that hangs fails after a while, so that uploads give up
//! their slots.
//!
//! Clients of buckets give up much sooner by themselves; a folder on a network knows no limit.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result, UploadPart,
};

/// A call took too long.
#[derive(Debug, thiserror::Error)]
#[error("no answer in {0:?}")]
struct Late(Duration);

/// A store with a limit for each of its calls.
#[derive(Clone, Debug)]
pub(super) struct Timed {
    inner: Arc<dyn ObjectStore>,
    /// In milliseconds, shared by all copies.
    limit: Arc<AtomicU64>,
}

impl Timed {
    pub(super) fn new(inner: Arc<dyn ObjectStore>, limit: Duration) -> Self {
        let limit = Arc::new(AtomicU64::new(millis(limit)));
        Self { inner, limit }
    }

    /// Changes the limit for calls from now on.
    pub(super) fn set(&self, limit: Duration) {
        self.limit.store(millis(limit), Relaxed);
    }

    async fn in_time<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        let limit = Duration::from_millis(self.limit.load(Relaxed));
        match tokio::time::timeout(limit, call).await {
            Ok(answer) => answer,
            Err(_elapsed) => Err(late(limit)),
        }
    }

    /// The stream, which ends with a failure where its next item takes too long.
    fn each_in_time<T: Send + 'static>(
        &self,
        stream: BoxStream<'static, Result<T>>,
    ) -> BoxStream<'static, Result<T>> {
        let timed = self.clone();
        let items = futures::stream::unfold(Some(stream), move |stream| {
            let timed = timed.clone();
            async move {
                let mut stream = stream?;
                let next = async { Ok(stream.next().await) };
                match timed.in_time(next).await {
                    Ok(item) => item.map(|item| (item, Some(stream))),
                    Err(error) => Some((Err(error), None)),
                }
            }
        });
        items.boxed()
    }
}

fn millis(limit: Duration) -> u64 {
    u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)
}

fn late(limit: Duration) -> object_store::Error {
    let (store, source) = ("store", Box::new(Late(limit)));
    object_store::Error::Generic { store, source }
}

impl fmt::Display for Timed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[async_trait::async_trait]
impl ObjectStore for Timed {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.in_time(self.inner.put_opts(location, payload, options))
            .await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let started = self.inner.put_multipart_opts(location, options);
        let inner = self.in_time(started).await?;
        let timed = self.clone();
        Ok(Box::new(TimedUpload { inner, timed }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.in_time(self.inner.get_opts(location, options)).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.in_time(self.inner.get_ranges(location, ranges)).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.each_in_time(self.inner.delete_stream(locations))
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.each_in_time(self.inner.list(prefix))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.in_time(self.inner.list_with_delimiter(prefix)).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.in_time(self.inner.copy_opts(from, to, options)).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.in_time(self.inner.rename_opts(from, to, options))
            .await
    }
}

#[derive(Debug)]
struct TimedUpload {
    inner: Box<dyn MultipartUpload>,
    timed: Timed,
}

#[async_trait::async_trait]
impl MultipartUpload for TimedUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let (part, timed) = (self.inner.put_part(data), self.timed.clone());
        Box::pin(async move { timed.in_time(part).await })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        self.timed.in_time(self.inner.complete()).await
    }

    async fn abort(&mut self) -> Result<()> {
        self.timed.in_time(self.inner.abort()).await
    }
}
