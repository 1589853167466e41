//! The list of public publications in memory: pages and search without asking the store again.
//!
//! Publications of this server enter at once. Those of other servers are found by listing keys:
//! where keys come in order, the newest until known ones; everything, now and then, so that
//! deletions are seen too.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{StreamExt as _, TryStreamExt as _};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use parking_lot::{Mutex, RwLock};

use super::StoreError;
use super::keys::{self, ListKey};
use super::publication::Publication;

/// Descriptions fetched at a time.
const FETCHES: usize = 32;
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
    pub(super) fn new(objects: Arc<dyn ObjectStore>, ordered: bool) -> Self {
        Self {
            objects,
            ordered,
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
        let fetched: Vec<Option<Publication>> = futures::stream::iter(missing)
            .map(|key| self.fetch(key))
            .buffer_unordered(FETCHES)
            .try_collect()
            .await?;
        let mut entries = self.entries.write();
        if all {
            let listed: std::collections::BTreeSet<_> = listed.into_iter().collect();
            entries.retain(|key, entry| listed.contains(key) || entry.added >= started);
        }
        for publication in fetched.into_iter().flatten() {
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

    /// The description at a key; none where it is gone again or damaged.
    async fn fetch(&self, key: ListKey) -> Result<Option<Publication>, StoreError> {
        let text = match self.objects.get(&key.key()).await {
            Ok(found) => found.bytes().await?,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let damaged = |error: &dyn std::fmt::Display| {
            tracing::warn!(key = %key.key(), %error, "a damaged description is not listed");
        };
        match serde_json::from_slice::<Publication>(&text) {
            Ok(it) if ListKey::new(it.created_ms, it.id) == key => Ok(Some(it)),
            Ok(it) => {
                damaged(&format!("it describes {}", it.id));
                Ok(None)
            }
            Err(error) => {
                damaged(&error);
                Ok(None)
            }
        }
    }
}
