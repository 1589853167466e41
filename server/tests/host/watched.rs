//! A store that tells what it is asked, and that can be held up: at the deletion of a blob, or
//! altogether.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use parking_lot::Mutex;
use tokio::sync::Notify;

#[derive(Debug, Default)]
pub(crate) struct Watched {
    pub(crate) inner: InMemory,
    calls: Mutex<Vec<String>>,
    /// Whether all but deletions hang for ever.
    pub(crate) hangs: AtomicBool,
    /// Whether deletions of blobs wait.
    pub(crate) holds: AtomicBool,
    /// Told when a deletion waits.
    pub(crate) held: Notify,
    /// Lets it go on.
    pub(crate) go_on: Notify,
}

impl Watched {
    /// What was asked since the last time, with the ids of `names` as their place in it.
    pub(crate) fn calls(&self, names: &[&str]) -> Vec<String> {
        let calls = std::mem::take(&mut *self.calls.lock());
        let named = calls.into_iter().map(|call| {
            let mut all = names.iter().enumerate();
            all.find(|(_, name)| call.contains(*name))
                .map_or(call.clone(), |(_, name)| call.replace(name, "ID"))
        });
        named.collect()
    }

    fn note(&self, call: String) {
        self.calls.lock().push(call);
    }

    async fn hang(&self) {
        if self.hangs.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    }
}

/// A share of a watched store.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared(pub(crate) Arc<Watched>);

impl fmt::Display for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watched")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Shared {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.0.hang().await;
        self.0.note(format!("put {location}"));
        self.0.inner.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.0.hang().await;
        self.0.note(format!("put parts {location}"));
        self.0.inner.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.0.hang().await;
        let found = self.0.inner.get_opts(location, options).await;
        self.0.note(format!("get {location}: {}", found.is_ok()));
        found
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.0.hang().await;
        self.0.inner.get_ranges(location, ranges).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let share = self.clone();
        let held = locations.then(move |location| {
            let share = share.clone();
            async move {
                let is_blob = |it: &Path| it.as_ref().starts_with("blobs/");
                let waits = location.as_ref().is_ok_and(is_blob);
                if waits && share.0.holds.load(Ordering::Relaxed) {
                    share.0.held.notify_one();
                    share.0.go_on.notified().await;
                }
                location
            }
        });
        self.0.inner.delete_stream(held.boxed())
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let share = self.clone();
        let prefix = prefix.cloned();
        let listed = async move {
            share.0.hang().await;
            let found: Vec<_> = share.0.inner.list(prefix.as_ref()).collect().await;
            let folder = prefix.unwrap_or_default();
            share.0.note(format!("list {folder}: {}", found.len()));
            futures::stream::iter(found)
        };
        listed.into_stream().flatten().boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.0.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.0.inner.copy_opts(from, to, options).await
    }
}

impl Shared {
    /// Everything that is there.
    pub(crate) async fn keys(&self) -> Vec<String> {
        let all: Vec<_> = self.0.inner.list(None).try_collect().await.expect("a list");
        let mut keys: Vec<_> = all.iter().map(|it| it.location.to_string()).collect();
        keys.sort_unstable();
        keys
    }
}
