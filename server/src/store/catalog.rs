//! The list of public publications in memory: pages and search without asking the store again.
//!
//! Publications of this server enter at once. Those of other servers are found by listing keys:
//! where keys come in order, the newest until known ones; everything, now and then, so that
//! deletions are seen too.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{StreamExt as _, TryStreamExt as _};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use parking_lot::{Mutex, RwLock};

use super::StoreError;
use super::backend::Backend;
use super::keys::{self, ListKey};
use super::publication::Publication;

/// Descriptions fetched at a time.
const FETCHES: usize = 32;
/// Descriptions read from a folder by one thread in one go, and how many threads do.
const FILES_AT_ONCE: usize = 512;
const READERS: usize = 4;
/// Known keys in a row after which the newest are taken to be complete: publications of servers
/// whose clocks differ may lie behind a few of ours.
const KNOWN_ENOUGH: usize = 64;

/// Digits from which on a word may be the front of a hash.
const HASH_DIGITS_MIN: usize = 6;

/// Which part of the list is wanted.
#[derive(Clone, Debug, Default)]
pub struct ListQuery {
    /// Most publications in the answer.
    pub limit: usize,
    /// The cursor of the page before, empty for the first.
    pub after: String,
    /// Words that title, memo or workload must hold, whatever their case, or the front of the
    /// hash.
    pub search: String,
}

/// One page of the list.
#[derive(Clone, Debug)]
pub struct Page {
    /// Newest first.
    pub publications: Vec<Arc<Publication>>,
    /// Publications that match, on all pages.
    pub total: usize,
    /// The cursor of the next page, if there is one.
    pub next: Option<String>,
}

#[derive(Debug)]
struct Entry {
    publication: Arc<Publication>,
    /// Lower-case text that a search looks at.
    text: Box<str>,
    added: Instant,
}

impl Entry {
    fn new(publication: Publication) -> Self {
        let it = &publication;
        let text = [&it.title, &it.memo, &it.facts.workload].map(|text| text.to_lowercase());
        let text = text.join("\n").into_boxed_str();
        Self {
            publication: Arc::new(publication),
            text,
            added: Instant::now(),
        }
    }

    fn matches(&self, words: &[String], now_ms: u64) -> bool {
        let holds = |word: &String| self.text.contains(&**word) || self.is_hash(word);
        self.publication.is_live(now_ms) && words.iter().all(holds)
    }

    /// Whether the word is the front of the artifact's hash, long enough to be meant as one.
    fn is_hash(&self, word: &str) -> bool {
        word.len() >= HASH_DIGITS_MIN
            && word.bytes().all(|it| it.is_ascii_hexdigit())
            && self.publication.sha256.to_string().starts_with(word)
    }
}

#[derive(Debug, Default)]
struct Seen {
    all: Option<Instant>,
    newest: Option<Instant>,
}

#[derive(Debug)]
pub(super) struct Catalog {
    objects: Arc<dyn ObjectStore>,
    ordered: bool,
    /// Only for a local folder.
    folder: Option<PathBuf>,
    entries: RwLock<BTreeMap<ListKey, Entry>>,
    seen: Mutex<Seen>,
    /// One refresh at a time.
    refreshing: tokio::sync::Mutex<()>,
}

/// How old the newest may be.
const NEWEST_AGE: Duration = Duration::from_secs(1);
/// How old the whole may be.
const ALL_AGE: Duration = Duration::from_secs(60);

impl Catalog {
    pub(super) fn new(backend: &Backend) -> Self {
        Self {
            objects: Arc::clone(&backend.objects),
            ordered: backend.ordered,
            folder: backend.folder.as_ref().map(|it| it.path.clone()),
            entries: RwLock::default(),
            seen: Mutex::default(),
            refreshing: tokio::sync::Mutex::default(),
        }
    }

    pub(super) fn add(&self, publication: Publication) {
        let key = ListKey::new(publication.created_ms, publication.id);
        self.entries.write().insert(key, Entry::new(publication));
    }

    pub(super) fn remove(&self, key: ListKey) {
        self.entries.write().remove(&key);
    }

    /// One page.
    pub(super) fn page(&self, query: &ListQuery, now_ms: u64) -> Page {
        let words: Vec<String> = query
            .search
            .split_whitespace()
            .map(str::to_lowercase)
            .collect();
        let after = ListKey::parse(&query.after);
        let entries = self.entries.read();
        let mut total = 0;
        let mut publications = Vec::new();
        let mut last = None;
        let mut next = None;
        for (key, entry) in entries.iter() {
            if !entry.matches(&words, now_ms) {
                continue;
            }
            total += 1;
            if after.is_some_and(|after| *key <= after) {
                continue;
            }
            if publications.len() < query.limit {
                publications.push(Arc::clone(&entry.publication));
                last = Some(*key);
            } else if next.is_none() {
                next = last.map(|key: ListKey| key.name());
            }
        }
        Page {
            publications,
            total,
            next,
        }
    }

    /// Asks the store for what other servers changed, if it is time to.
    pub(super) async fn refresh(self: &Arc<Self>) -> Result<(), StoreError> {
        let age = |since: Option<Instant>| since.map_or(Duration::MAX, |it| it.elapsed());
        let (all, newest) = {
            let seen = self.seen.lock();
            (age(seen.all), age(seen.newest))
        };
        if all == Duration::MAX {
            return self.refresh_now(true).await;
        }
        if all > ALL_AGE {
            let catalog = Arc::clone(self);
            tokio::spawn(async move {
                if let Err(error) = catalog.refresh_now(true).await {
                    tracing::warn!(%error, "the list could not be refreshed");
                }
            });
        }
        if self.ordered && newest > NEWEST_AGE {
            return self.refresh_now(false).await;
        }
        Ok(())
    }

    /// Lists keys, fetches what is new and, where all were listed, drops what is gone.
    pub(super) async fn refresh_now(&self, all: bool) -> Result<(), StoreError> {
        let asked = Instant::now();
        let _one = self.refreshing.lock().await;
        let started = Instant::now();
        let seen = if all {
            self.seen.lock().all
        } else {
            self.seen.lock().newest
        };
        if seen.is_some_and(|seen| seen >= asked) {
            return Ok(());
        }
        let listed = self.listed(all).await?;
        let missing: Vec<ListKey> = {
            let entries = self.entries.read();
            let new = listed.iter().filter(|key| !entries.contains_key(key));
            new.copied().collect()
        };
        let fetched = self.fetch_all(missing).await?;
        let mut entries = self.entries.write();
        if all {
            let listed: std::collections::BTreeSet<_> = listed.into_iter().collect();
            entries.retain(|key, entry| listed.contains(key) || entry.added >= started);
        }
        for publication in fetched {
            let key = ListKey::new(publication.created_ms, publication.id);
            entries.insert(key, Entry::new(publication));
        }
        drop(entries);
        let mut seen = self.seen.lock();
        seen.newest = Some(started);
        if all {
            seen.all = Some(started);
        }
        Ok(())
    }

    async fn listed(&self, all: bool) -> Result<Vec<ListKey>, StoreError> {
        let mut keys = self.objects.list(Some(&Path::from(keys::META)));
        let mut listed = Vec::new();
        let mut known = 0;
        while let Some(meta) = keys.try_next().await? {
            let Some(key) = meta.location.filename().and_then(ListKey::parse) else {
                continue;
            };
            let is_known = self.entries.read().contains_key(&key);
            known = if is_known { known + 1 } else { 0 };
            listed.push(key);
            if !all && known >= KNOWN_ENOUGH {
                break;
            }
        }
        Ok(listed)
    }

    /// The descriptions at these keys, without those that are gone again or damaged.
    async fn fetch_all(&self, keys: Vec<ListKey>) -> Result<Vec<Publication>, StoreError> {
        let Some(folder) = &self.folder else {
            let fetched: Vec<Option<Publication>> = futures::stream::iter(keys)
                .map(|key| self.fetch(key))
                .buffer_unordered(FETCHES)
                .try_collect()
                .await?;
            return Ok(fetched.into_iter().flatten().collect());
        };
        // A call of the object store for each would cost several times what reading it does.
        let chunks: Vec<Vec<ListKey>> = keys.chunks(FILES_AT_ONCE).map(<[_]>::to_vec).collect();
        let read = |keys: Vec<ListKey>| {
            let folder = folder.clone();
            tokio::task::spawn_blocking(move || read_files(&folder, &keys))
        };
        let parts: Vec<Result<Vec<Publication>, StoreError>> = futures::stream::iter(chunks)
            .map(read)
            .buffered(READERS)
            .map_err(object_store::Error::from)
            .try_collect()
            .await?;
        let parts: Vec<Vec<Publication>> = parts.into_iter().collect::<Result<_, _>>()?;
        Ok(parts.into_iter().flatten().collect())
    }

    /// The description at a key; none where it is gone again or damaged.
    async fn fetch(&self, key: ListKey) -> Result<Option<Publication>, StoreError> {
        match self.objects.get(&key.key()).await {
            Ok(found) => Ok(described(key, &found.bytes().await?)),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// The descriptions at these keys of a local folder.
fn read_files(folder: &FilePath, keys: &[ListKey]) -> Result<Vec<Publication>, StoreError> {
    let mut found = Vec::with_capacity(keys.len());
    for &key in keys {
        match std::fs::read(folder.join(key.key().as_ref())) {
            Ok(text) => found.extend(described(key, &text)),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                let store = "LocalFileSystem";
                let source = Box::new(error);
                return Err(object_store::Error::Generic { store, source }.into());
            }
        }
    }
    Ok(found)
}

/// The description that `text` is, unless it is damaged or of another key.
fn described(key: ListKey, text: &[u8]) -> Option<Publication> {
    let damaged = |error: &dyn std::fmt::Display| {
        tracing::warn!(key = %key.key(), %error, "a damaged description is not listed");
    };
    match serde_json::from_slice::<Publication>(text) {
        Ok(it) if ListKey::new(it.created_ms, it.id) == key => Some(it),
        Ok(it) => {
            damaged(&format!("it describes {}", it.id));
            None
        }
        Err(error) => {
            damaged(&error);
            None
        }
    }
}
