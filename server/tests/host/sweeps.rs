//! What a store counts and what sweeps leave: bytes counted once, blobs that are needed again.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::http::{Request, StatusCode};
use serde_json::json;
use server::Config;
use server::store::{Limits, Store};

use crate::support::{Host, profile, sha};
use crate::watched::Shared;

const CREATED: StatusCode = StatusCode::CREATED;
const UPLOAD: &str = "0123456789abcdef0123456789abcdef";

async fn part(host: &Host, number: u32, bytes: &[u8]) -> StatusCode {
    let path = format!("/api/uploads/{UPLOAD}/{number}");
    let request = Request::put(path).body(bytes.to_vec().into());
    host.send(request.expect("a request")).await.status
}

/// Bytes that the store counts besides those of whole blobs.
fn besides(host: &Host, blobs: &[&[u8]]) -> u64 {
    let blobs: usize = blobs.iter().map(|it| it.len()).sum();
    let used = host.store.used_bytes();
    used.checked_sub(blobs as u64)
        .unwrap_or_else(|| panic!("{used} are counted of {blobs}"))
}

#[tokio::test]
async fn every_byte_counts_once() {
    let host = Host::with_limit(1 << 30);
    let [bytes, other] = [1, 2].map(profile);
    for number in 1..=5 {
        let path = format!("{}?title=t{number}", sha(&bytes));
        host.put(&path, bytes.clone()).await.expect(CREATED);
        let descriptions = besides(&host, &[&bytes]);
        assert!(
            (500 * number..1_000 * number).contains(&descriptions),
            "{descriptions}"
        );
    }
    let before = besides(&host, &[&bytes]);
    host.store
        .sweep(Duration::from_secs(60))
        .await
        .expect("a sweep");
    assert_eq!(besides(&host, &[&bytes]), before);
    // Parts count while they are there, once each, and then as the blob that they make.
    for _ in 0..3 {
        assert_eq!(part(&host, 0, &other).await, StatusCode::NO_CONTENT);
    }
    assert_eq!(besides(&host, &[&bytes, &other]), before);
    host.store
        .sweep(Duration::from_secs(60))
        .await
        .expect("a sweep");
    assert_eq!(besides(&host, &[&bytes, &other]), before);
    let path = format!("/api/uploads/{UPLOAD}");
    let join = json!({"sha256": sha(&other), "parts": 1});
    let made = host.post(&path, &join).await.expect(CREATED);
    assert!((500..1_000).contains(&(besides(&host, &[&bytes, &other]) - before)));
    let (id, token) = (made.field("id"), made.field("deleteToken"));
    host.delete(&id, &token)
        .await
        .expect(StatusCode::NO_CONTENT);
    assert_eq!(besides(&host, &[&bytes, &other]), before);
    host.store.sweep(Duration::ZERO).await.expect("a sweep");
    assert_eq!(besides(&host, &[&bytes]), before);
}

#[tokio::test]
async fn a_quota_takes_an_upload_in_parts_once_and_bounds_descriptions() {
    let bytes = profile(3);
    let host = Host::with_limits(Limits {
        quota_bytes: Some(bytes.len() as u64 + 4_000),
        ..Limits::default()
    });
    assert_eq!(part(&host, 0, &bytes).await, StatusCode::NO_CONTENT);
    let path = format!("/api/uploads/{UPLOAD}");
    let join = json!({"sha256": sha(&bytes), "parts": 1});
    host.post(&path, &join).await.expect(CREATED);
    let again = json!({"sha256": sha(&bytes)});
    let mut made = 0;
    let refused = loop {
        let answer = host.post("/api/publications", &again).await;
        if answer.status != CREATED {
            break answer;
        }
        made += 1;
        assert!(made < 100, "descriptions are free");
    };
    refused.expect(StatusCode::INSUFFICIENT_STORAGE);
    assert!(made > 0);
}

#[tokio::test]
async fn the_grace_of_a_blob_begins_when_nothing_needs_it_any_more() {
    let host = Host::new();
    let grace = Duration::from_secs(1);
    let bytes = profile(4);
    let made = host.put(&sha(&bytes), bytes.clone()).await.expect(CREATED);
    tokio::time::sleep(grace + Duration::from_millis(50)).await;
    host.delete(&made.field("id"), &made.field("deleteToken"))
        .await
        .expect(StatusCode::NO_CONTENT);
    let swept = host.store.sweep(grace).await.expect("a sweep");
    assert_eq!(
        swept.blobs, 0,
        "the blob is older than the grace, its deletion is not"
    );
    tokio::time::sleep(grace + Duration::from_millis(50)).await;
    let swept = host.store.sweep(grace).await.expect("a sweep");
    assert_eq!(swept.blobs, 1);
}

/// Publishes again what a sweep is about to delete, in one way or another.
async fn published_while_it_is_deleted(again: impl AsyncFnOnce(&Host, &[u8]) -> String) {
    let store = Shared::default();
    let host = Host::over(Arc::new(store.clone()));
    let bytes = profile(5);
    let made = host.put(&sha(&bytes), bytes.clone()).await.expect(CREATED);
    host.delete(&made.field("id"), &made.field("deleteToken"))
        .await
        .expect(StatusCode::NO_CONTENT);
    store.0.holds.store(true, Ordering::Relaxed);
    let sweeping = tokio::spawn({
        let store = host.store.clone();
        async move { store.sweep(Duration::ZERO).await }
    });
    store.0.held.notified().await;
    let id = again(&host, &bytes).await;
    store.0.go_on.notify_one();
    sweeping.await.expect("it ends").expect("a sweep");
    let path = format!("/api/publications/{id}/content");
    let content = host.get(&path, &[]).await.expect(StatusCode::OK);
    assert_eq!(content.body, bytes);
    let trash = store.keys().await;
    assert!(
        trash.iter().all(|it| !it.starts_with("trash/")),
        "{trash:?}"
    );
}

#[tokio::test]
async fn a_blob_that_is_uploaded_again_while_it_is_deleted_is_not_lost() {
    published_while_it_is_deleted(async |host, bytes| {
        let made = host.put(&sha(bytes), bytes.to_vec()).await;
        made.expect(CREATED).field("id")
    })
    .await;
}

#[tokio::test]
async fn a_blob_that_another_server_publishes_again_while_it_is_deleted_is_not_lost() {
    published_while_it_is_deleted(async |host, bytes| {
        let path = format!("{}?visibility=private", sha(bytes));
        let made = host.put(&path, bytes.to_vec()).await;
        let source = made.expect(CREATED).field("id");
        let again = json!({"publication": source, "terms": {"title": "again"}});
        let made = host.post("/api/publications", &again).await;
        made.expect(CREATED).field("id")
    })
    .await;
}

#[tokio::test]
async fn a_deletion_that_broke_off_is_undone_where_the_blob_is_needed() {
    let store = Shared::default();
    let host = Host::over(Arc::new(store.clone()));
    let bytes = profile(6);
    let made = host.put(&sha(&bytes), bytes.clone()).await.expect(CREATED);
    use object_store::ObjectStoreExt as _;
    let blob = object_store::path::Path::from(format!("blobs/{}", sha(&bytes)));
    let trash = object_store::path::Path::from(format!("trash/{}/{UPLOAD}", sha(&bytes)));
    store
        .0
        .inner
        .rename(&blob, &trash)
        .await
        .expect("it is there");
    host.store.sweep(Duration::ZERO).await.expect("a sweep");
    let path = format!("/api/publications/{}/content", made.field("id"));
    assert_eq!(
        host.get(&path, &[]).await.expect(StatusCode::OK).body,
        bytes
    );
}

#[tokio::test]
async fn a_folder_keeps_no_empty_folders() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::local(folder.path()).expect("a store");
    let host = Host::of(Config::loopback(store));
    let bytes = profile(7);
    host.put(&sha(&bytes), bytes.clone()).await.expect(CREATED);
    let left = |name: &str| {
        let entries = std::fs::read_dir(folder.path().join(name));
        entries.map_or(0, Iterator::count)
    };
    assert_eq!((left("claims"), left("refs"), left("blobs")), (0, 1, 1));
}
