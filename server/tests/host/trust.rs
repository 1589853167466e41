//! What strangers may cost and learn: bodies without a right, answers without end, private
//! artifacts, the inside of the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use bytes::Bytes;
use futures::StreamExt as _;
use serde_json::json;
use server::http::{WritePolicy, WriteToken};
use server::store::{Limits, Store};
use server::{Config, HostPolicy};

use crate::support::{Host, profile, profile_of, sha};
use crate::watched::Shared;

const ID: &str = "0123456789abcdef0123456789abcdef";

/// A body without end, which counts what was read of it.
fn endless() -> (Body, Arc<AtomicUsize>) {
    let read = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&read);
    let piece = Bytes::from(vec![b' '; 16 << 10]);
    // As long as a test can bear.
    let pieces = futures::stream::iter(0..16_384).map(move |_| {
        counted.fetch_add(piece.len(), Ordering::Relaxed);
        Ok::<_, std::io::Error>(piece.clone())
    });
    (Body::from_stream(pieces), read)
}

#[tokio::test]
async fn nothing_is_read_from_who_may_not_write_and_little_json_from_who_may() {
    let mut config = Config::loopback(Store::in_memory());
    config.hosts = HostPolicy::Any;
    config.writers = WritePolicy::Token(WriteToken::hash("right").expect("a hash"));
    let host = Host::of(config);
    let paths = ["/api/publications".to_owned(), format!("/api/uploads/{ID}")];
    for path in &paths {
        for (token, status, most) in [
            (None, StatusCode::UNAUTHORIZED, 0),
            (Some("Bearer wrong"), StatusCode::FORBIDDEN, 0),
            (
                Some("Bearer right"),
                StatusCode::PAYLOAD_TOO_LARGE,
                128 << 10,
            ),
        ] {
            let (body, read) = endless();
            let mut request = Request::post(path).header("content-type", "application/json");
            if let Some(token) = token {
                request = request.header("authorization", token);
            }
            let answer = host.send(request.body(body).expect("a request")).await;
            answer.expect(status);
            let read = read.load(Ordering::Relaxed);
            assert!(
                read <= most,
                "{path}: {read} bytes were read before {status}"
            );
        }
    }
    for path in [
        format!("/api/artifacts/{ID}{ID}"),
        format!("/api/uploads/{ID}/0"),
    ] {
        let (body, read) = endless();
        let request = Request::put(&path).body(body).expect("a request");
        host.send(request).await.expect(StatusCode::UNAUTHORIZED);
        assert_eq!(read.load(Ordering::Relaxed), 0, "{path}");
    }
}

#[tokio::test]
async fn an_answer_has_an_end_and_the_refusal_names_it() {
    let host = Host::with_limit(1 << 30);
    let bytes = profile_of(200_000, 7);
    let id = sha(&bytes);
    host.put(&id, bytes).await.expect(StatusCode::CREATED);
    let query = format!("/api/artifacts/{id}/query");
    let compare = format!("/api/compare?before={id}&after={id}");
    for (path, part) in [
        (format!("{query}?samples=10001"), "samples=10001"),
        (format!("{query}?samples=3000000"), "10000"),
        (format!("{query}?limit=10001"), "limit=10001"),
        (format!("{compare}&limit=10001"), "10000"),
        (
            format!("{query}?group-by=phase&limit=0"),
            "groups are more than 10000",
        ),
    ] {
        let answer = host.get(&path, &[]).await.expect(StatusCode::BAD_REQUEST);
        assert!(
            answer.field("error").contains(part),
            "{path}: {}",
            answer.text()
        );
        assert_ne!(answer.field("hint"), "");
    }
    let most = host.get(&format!("{query}?samples=10000"), &[]).await;
    let most = most.expect(StatusCode::OK).json();
    assert_eq!(most["samples"].as_array().map(Vec::len), Some(10_000));
}

#[tokio::test]
async fn a_private_artifact_costs_a_stranger_what_an_absent_one_does() {
    let store = Shared::default();
    let host = Host::over(Arc::new(store.clone()));
    let bytes = profile(1);
    let (there, absent) = (sha(&bytes), sha(b"nothing"));
    host.put(&format!("{there}?visibility=private"), bytes)
        .await
        .expect(StatusCode::CREATED);
    let paths = ["/api/artifacts/ID", "/api/artifacts/ID/query"];
    for path in paths.into_iter().chain(["/api/compare?before=ID&after=ID"]) {
        let mut asked = Vec::new();
        for id in [&there, &absent] {
            let _before = store.0.calls(&[]);
            let answer = host.get(&path.replace("ID", id), &[]).await;
            answer.expect(StatusCode::NOT_FOUND);
            asked.push(store.0.calls(&[id]));
        }
        assert_eq!(asked[0], asked[1], "{path}");
        assert!(!asked[0].is_empty());
    }
    let again = json!({"sha256": there});
    host.post("/api/publications", &again)
        .await
        .expect(StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_blob_that_is_gone_is_not_there_whatever_is_remembered_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::local(folder.path()).expect("a store");
    let host = Host::of(Config::loopback(store));
    let bytes = profile(2);
    let path = format!("/api/artifacts/{}", sha(&bytes));
    host.put(&sha(&bytes), bytes.clone())
        .await
        .expect(StatusCode::CREATED);
    std::fs::remove_file(folder.path().join("blobs").join(sha(&bytes))).expect("it is there");
    let answer = host.get(&path, &[]).await.expect(StatusCode::NOT_FOUND);
    let place = folder.path().to_str().expect("a UTF-8 path");
    assert!(!answer.text().contains(place), "{}", answer.text());
}

#[tokio::test]
async fn a_store_that_hangs_holds_up_no_answer_for_ever() {
    let store = Shared::default();
    let limits = Limits {
        call: Duration::from_millis(400),
        slots: 1,
        ..Limits::default()
    };
    let objects = Store::over(Arc::new(store.clone())).with_limits(limits);
    let mut config = Config::loopback(objects);
    config.connections.answer = Duration::from_millis(300);
    let host = Host::of(config);
    let bytes = profile(3);
    let made = host.put(&sha(&bytes), bytes).await;
    let made = made.expect(StatusCode::CREATED);
    let path = format!("/api/publications/{}", made.field("id"));
    store.0.hangs.store(true, Ordering::Relaxed);
    for path in [path.clone(), format!("{path}/content"), "/ready".to_owned()] {
        let answer = host.get(&path, &[]).await;
        let answer = answer.expect(StatusCode::SERVICE_UNAVAILABLE);
        assert!(
            answer.text().contains("in time"),
            "{path}: {}",
            answer.text()
        );
        host.get("/health", &[]).await.expect(StatusCode::OK);
    }
    // Uploads give up the one slot that there is.
    let other = profile(4);
    for query in ["", "?title=t"] {
        let path = format!("{}{query}", sha(&other));
        let answer = host.put(&path, other.clone()).await;
        let answer = answer.expect(StatusCode::SERVICE_UNAVAILABLE);
        assert_ne!(answer.header("retry-after"), "");
    }
    store.0.hangs.store(false, Ordering::Relaxed);
    let answer = host.put(&sha(&other), other).await;
    answer.expect(StatusCode::CREATED);
    for path in [path.as_str(), "/ready"] {
        host.get(path, &[]).await.expect(StatusCode::OK);
    }
}
