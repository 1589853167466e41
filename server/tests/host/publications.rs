//! Publications: who sees them, lists, search, deletion, expiry, sweeps, and questions to profiles.

use std::time::Duration;

use axum::http::{Method, StatusCode};
use object_store::ObjectStore as _;
use serde_json::json;
use server::http::{ClientLimits, WritePolicy, WriteToken};
use server::store::{Limits, Store, Swept};
use server::{Config, HostPolicy};

use futures::TryStreamExt as _;

use crate::support::{Host, profile, sha};

const OK: StatusCode = StatusCode::OK;
const CREATED: StatusCode = StatusCode::CREATED;
const NOT_FOUND: StatusCode = StatusCode::NOT_FOUND;

#[tokio::test]
async fn a_private_publication_is_read_by_its_link_and_by_nothing_else() {
    let host = Host::new();
    let bytes = profile(1);
    let id = sha(&bytes);
    let made = host
        .put(
            &format!("{id}?visibility=private&title=mine"),
            bytes.clone(),
        )
        .await;
    let made = made.expect(CREATED);
    let publication = made.field("id");
    assert_eq!(made.field("link"), format!("/p/{publication}"));
    assert_eq!(host.total().await, 0);
    for path in [
        format!("/api/artifacts/{id}"),
        format!("/api/artifacts/{id}/query"),
    ] {
        host.get(&path, &[]).await.expect(NOT_FOUND);
    }
    let again = json!({"sha256": id, "terms": {"title": "yours"}});
    host.post("/api/publications", &again)
        .await
        .expect(NOT_FOUND);
    let about = host
        .get(&format!("/api/publications/{publication}"), &[])
        .await
        .expect(OK);
    assert_eq!(about.field("title"), "mine");
    assert!(!about.text().contains("oken"), "{}", about.text());
    let content = format!("/api/publications/{publication}/content");
    let part = host.get(&content, &[("range", "bytes=8-23")]).await;
    let part = part.expect(StatusCode::PARTIAL_CONTENT);
    assert_eq!(part.body, bytes[8..24]);
    assert!(part.header("cache-control").starts_with("private"));
    assert_eq!(host.get(&content, &[]).await.expect(OK).body, bytes);
    let query = host
        .get(&format!("/api/publications/{publication}/query"), &[])
        .await;
    assert_eq!(
        query.expect(OK).json()["schema"],
        "ipu-stack/profile-query/1"
    );
    let other = "0".repeat(32);
    host.get(&format!("/api/publications/{other}"), &[])
        .await
        .expect(NOT_FOUND);
}

#[tokio::test]
async fn an_upload_does_not_tell_whether_a_private_blob_is_there() {
    let (with, without) = (Host::new(), Host::new());
    let bytes = profile(2);
    let id = sha(&bytes);
    with.put(&format!("{id}?visibility=private"), bytes.clone())
        .await
        .expect(CREATED);
    let mut damaged = bytes.clone();
    damaged[900] ^= 1;
    for body in [damaged, Vec::new(), bytes] {
        let [mut there, mut absent] = [
            with.put(&id, body.clone()).await,
            without.put(&id, body).await,
        ];
        for answer in [&mut there, &mut absent] {
            answer.headers.remove("x-request-id");
            answer.headers.remove("location");
        }
        assert_eq!(
            (there.status, &there.headers),
            (absent.status, &absent.headers)
        );
        let [there, absent] = [there, absent].map(|it| {
            let mut json = it.json();
            for drawn in ["id", "deleteToken", "createdMs"] {
                if let Some(value) = json.get_mut(drawn) {
                    *value = serde_json::Value::Null;
                }
            }
            json
        });
        assert_eq!(there, absent);
    }
}

#[tokio::test]
async fn a_claim_to_publish_what_one_does_not_have_opens_nothing() {
    let host = Host::new();
    let bytes = profile(3);
    let id = sha(&bytes);
    host.put(&format!("{id}?visibility=private"), bytes.clone())
        .await
        .expect(CREATED);
    let (sender, body) = futures::channel::mpsc::unbounded::<Result<Vec<u8>, std::io::Error>>();
    sender
        .unbounded_send(Ok(bytes[..1000].to_vec()))
        .expect("it is received");
    let request = axum::http::Request::put(format!("/api/artifacts/{id}"))
        .body(axum::body::Body::from_stream(body))
        .expect("a request");
    let uploading = tokio::spawn({
        let host = host.clone();
        async move { host.send(request).await }
    });
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(5)).await;
        host.get(&format!("/api/artifacts/{id}"), &[])
            .await
            .expect(NOT_FOUND);
    }
    drop(sender);
    let answer = uploading.await.expect("it ends");
    answer.expect(StatusCode::UNPROCESSABLE_ENTITY);
    host.get(&format!("/api/artifacts/{id}"), &[])
        .await
        .expect(NOT_FOUND);
}

#[tokio::test]
async fn the_list_is_newest_first_paged_and_searched() {
    let host = Host::new();
    for seed in 0..7 {
        let bytes = profile(seed);
        let title = format!("Nightly%20{seed}");
        let memo = if seed % 2 == 0 { "even" } else { "odd" };
        let id = sha(&bytes);
        host.put(&format!("{id}?title={title}&memo={memo}"), bytes)
            .await
            .expect(CREATED);
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let titles = |list: &serde_json::Value| -> Vec<String> {
        let found = list["publications"].as_array().expect("a list").iter();
        found
            .map(|it| it["title"].as_str().expect("a text").to_owned())
            .collect()
    };
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    for _ in 0..3 {
        let path = format!("/api/publications?limit=3&after={cursor}");
        let list = host.get(&path, &[]).await.expect(OK).json();
        assert_eq!(list["total"], 7);
        seen.extend(titles(&list));
        cursor = list["next"].as_str().unwrap_or_default().to_owned();
    }
    assert_eq!(cursor, "");
    let expected: Vec<_> = (0..7).rev().map(|it| format!("Nightly {it}")).collect();
    assert_eq!(seen, expected);
    for (search, count) in [
        ("nightly", 7),
        ("EVEN+nightly", 4),
        ("nightly+5", 1),
        ("none", 0),
    ] {
        let path = format!("/api/publications?q={search}&limit=1");
        let list = host.get(&path, &[]).await.expect(OK).json();
        assert_eq!(list["total"], count, "{search}");
    }
    let sha = sha(&profile(4));
    let path = format!("/api/publications?q={}", &sha[..12]);
    assert_eq!(titles(&host.get(&path, &[]).await.json()), ["Nightly 4"]);
    let long = format!("/api/publications?q={}", "x".repeat(300));
    host.get(&long, &[]).await.expect(StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_deletion_needs_the_token_and_takes_everything() {
    let (objects, [host]) = Host::sharing::<1>();
    let bytes = profile(4);
    let id = sha(&bytes);
    let made = host.put(&id, bytes.clone()).await.expect(CREATED);
    let (publication, token) = (made.field("id"), made.field("deleteToken"));
    let path = format!("/api/publications/{publication}");
    host.call(Method::DELETE, &path, &[])
        .await
        .expect(StatusCode::UNAUTHORIZED);
    let wrong = "0".repeat(64);
    host.delete(&publication, &wrong)
        .await
        .expect(StatusCode::FORBIDDEN);
    host.get(&format!("/api/artifacts/{id}"), &[])
        .await
        .expect(OK);
    host.delete(&publication, &token)
        .await
        .expect(StatusCode::NO_CONTENT);
    host.get(&format!("/api/artifacts/{id}"), &[])
        .await
        .expect(NOT_FOUND);
    host.get(&path, &[]).await.expect(NOT_FOUND);
    host.delete(&publication, &token).await.expect(NOT_FOUND);
    assert_eq!(host.total().await, 0);
    let swept = host
        .store
        .sweep(Duration::from_secs(60))
        .await
        .expect("a sweep");
    assert_eq!(swept, Swept::default(), "the blob is young");
    let swept = host.store.sweep(Duration::ZERO).await.expect("a sweep");
    let one = Swept {
        blobs: 1,
        ..Swept::default()
    };
    assert_eq!(swept, one);
    let left: Vec<_> = objects.list(None).try_collect().await.expect("a list");
    assert_eq!(left, []);
}

#[tokio::test]
async fn a_blob_stays_while_one_publication_needs_it() {
    let host = Host::new();
    let bytes = profile(5);
    let id = sha(&bytes);
    let first = host.put(&id, bytes.clone()).await.expect(CREATED);
    let again = json!({"sha256": id, "terms": {"title": "again", "visibility": "private"}});
    let second = host.post("/api/publications", &again).await.expect(CREATED);
    assert_eq!(second.field("title"), "again");
    host.delete(&first.field("id"), &first.field("deleteToken"))
        .await;
    host.store.sweep(Duration::ZERO).await.expect("a sweep");
    let content = format!("/api/publications/{}/content", second.field("id"));
    assert_eq!(host.get(&content, &[]).await.expect(OK).body, bytes);
    host.get(&format!("/api/artifacts/{id}"), &[])
        .await
        .expect(NOT_FOUND);
    let private = json!({"publication": second.field("id"), "terms": {}});
    host.post("/api/publications", &private)
        .await
        .expect(CREATED);
    host.get(&format!("/api/artifacts/{id}"), &[])
        .await
        .expect(OK);
}

#[tokio::test]
async fn what_has_ended_is_gone_at_once_and_swept_later() {
    let mut config = Config::loopback(Store::in_memory());
    config.expire_days = Some(90);
    let host = Host::of(config);
    let [ends, stays, usual] = [6, 7, 8].map(profile);
    let path = format!("{}?days=0", sha(&ends));
    let ended = host.put(&path, ends.clone()).await.expect(CREATED);
    let path = format!("{}?keep=true", sha(&stays));
    let kept = host.put(&path, stays).await.expect(CREATED);
    assert_eq!(kept.json()["expiresMs"], serde_json::Value::Null);
    let usual = host.put(&sha(&usual), usual).await.expect(CREATED).json();
    let [created, expires] = ["createdMs", "expiresMs"].map(|it| usual[it].as_u64());
    assert_eq!(created.map(|it| it + 90 * 86_400_000), expires);
    host.get(&format!("/api/artifacts/{}", sha(&ends)), &[])
        .await
        .expect(NOT_FOUND);
    let path = format!("/api/publications/{}", ended.field("id"));
    host.get(&path, &[]).await.expect(NOT_FOUND);
    assert_eq!(host.total().await, 2);
    let swept = host.store.sweep(Duration::ZERO).await.expect("a sweep");
    assert_eq!((swept.ended, swept.blobs), (1, 1));
    assert_eq!(host.total().await, 2);
}

#[tokio::test]
async fn texts_that_could_deceive_are_refused() {
    let host = Host::new();
    let bytes = profile(9);
    let id = sha(&bytes);
    for terms in [
        "title=a%0d%0aset-cookie:%20x",
        "title=%1b%5b2J",
        "memo=%00",
        "visibility=secret",
        "days=many",
        "keep=true&days=3",
        "colour=red",
    ] {
        let answer = host.put(&format!("{id}?{terms}"), bytes.clone()).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{terms}");
        assert!(answer.headers.get("set-cookie").is_none());
    }
    assert_eq!(host.total().await, 0);
}

#[tokio::test]
async fn writing_to_a_shared_server_needs_its_token_and_reading_does_not() {
    let mut config = Config::loopback(Store::in_memory());
    config.hosts = HostPolicy::Any;
    config.writers = WritePolicy::Token(WriteToken::hash("secret").expect("a hash"));
    let host = Host::of(config);
    let bytes = profile(10);
    let path = format!("/api/artifacts/{}", sha(&bytes));
    for (right, status) in [
        (None, StatusCode::UNAUTHORIZED),
        (Some("Bearer wrong"), StatusCode::FORBIDDEN),
        (Some("Bearer secret"), CREATED),
    ] {
        let mut request = axum::http::Request::put(&path);
        if let Some(right) = right {
            request = request.header("authorization", right);
        }
        let request = request.body(bytes.clone().into()).expect("a request");
        host.send(request).await.expect(status);
    }
    host.get(&path, &[]).await.expect(OK);
    let again = json!({"sha256": sha(&bytes)});
    host.post("/api/publications", &again)
        .await
        .expect(StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn pages_of_other_origins_change_nothing() {
    let (host, path, _) = Host::with_profile().await;
    let evil = [("origin", "https://evil.example"), ("host", "127.0.0.1:1")];
    for method in [Method::PUT, Method::POST, Method::DELETE] {
        let answer = host.call(method.clone(), &path, &evil).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{method}");
    }
    host.get(&path, &evil).await.expect(OK);
}

#[tokio::test]
async fn a_client_that_asks_too_often_is_told_when_to_come_back() {
    let mut config = Config::loopback(Store::in_memory());
    config.clients = ClientLimits {
        requests_per_second: std::num::NonZeroU32::new(1),
        ..ClientLimits::default()
    };
    let host = Host::of(config);
    let mut refused = None;
    for _ in 0..50 {
        let answer = host.get("/health", &[]).await;
        if answer.status == StatusCode::TOO_MANY_REQUESTS {
            refused = Some(answer);
        }
    }
    let refused = refused.expect("fifty at once are too many");
    assert!(
        refused
            .header("retry-after")
            .parse::<u32>()
            .is_ok_and(|it| it >= 1)
    );
}

#[tokio::test]
async fn a_quota_is_kept_and_freed_by_deletions() {
    let bytes = profile(11);
    let host = Host::with_limits(Limits {
        quota_bytes: Some(bytes.len() as u64 * 3 / 2),
        ..Limits::default()
    });
    let made = host.put(&sha(&bytes), bytes.clone()).await.expect(CREATED);
    let other = profile(12);
    let full = host.put(&sha(&other), other.clone()).await;
    let full = full.expect(StatusCode::INSUFFICIENT_STORAGE);
    assert!(
        full.field("error").contains("keeps at most"),
        "{}",
        full.text()
    );
    host.delete(&made.field("id"), &made.field("deleteToken"))
        .await;
    host.store.sweep(Duration::ZERO).await.expect("a sweep");
    host.put(&sha(&other), other).await.expect(CREATED);
}

#[tokio::test]
async fn a_rendered_page_is_a_download_that_cannot_run() {
    let host = Host::new();
    let inside = {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.encode(profile(13))
    };
    let page = format!(
        "<!doctype html>\n<script type=\"application/octet-stream\" id=\"profile\">{inside}\
         </script><script>alert(1)</script>"
    );
    let made = host
        .put(&sha(page.as_bytes()), page.clone().into_bytes())
        .await
        .expect(CREATED);
    assert_eq!(made.json()["kind"], "report");
    assert_eq!(made.json()["tiles"], 8);
    let answer = host.get(&made.field("link"), &[]).await.expect(OK);
    assert_eq!(answer.header("content-type"), "application/octet-stream");
    assert!(
        answer
            .header("content-disposition")
            .starts_with("attachment; filename=\"")
    );
    assert!(
        answer
            .header("content-security-policy")
            .ends_with("sandbox")
    );
    assert_eq!(answer.body, page.into_bytes());
    let bare = b"<!doctype html><script>alert(1)</script>".to_vec();
    host.put(&sha(&bare), bare)
        .await
        .expect(StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn a_question_is_answered_as_on_the_command_line() {
    let (host, path, bytes) = Host::with_profile().await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("p.ipuprofile");
    std::fs::write(&file, &bytes).expect("a file");
    for flags in [
        &[][..],
        &["--kind=compute", "--group-by=tile", "--limit=3"],
        &["--operation-contains=", "--strict"],
        &["--tile=2", "--tile=5", "--samples=2", "--shared-clock"],
        &[
            "--group-by=phase",
            "--sort-by=maximum-cycles",
            "--operation-contains=a b&c",
        ],
    ] {
        let pairs: Vec<_> = flags
            .iter()
            .map(|flag| {
                flag.trim_start_matches('-')
                    .replace(' ', "+")
                    .replace('&', "%26")
            })
            .collect();
        let answer = host
            .get(&format!("{path}/query?{}", pairs.join("&")), &[])
            .await
            .expect(OK);
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_ipu-stack"))
            .arg("profile-query")
            .arg(&file)
            .args(flags)
            .arg("--json")
            .output()
            .expect("the command runs");
        assert!(output.status.success(), "{flags:?}");
        assert_eq!(
            answer.text(),
            str::from_utf8(&output.stdout).expect("UTF-8"),
            "{flags:?}"
        );
    }
    for bad in [
        "group-by=color",
        "profile=x",
        "-o=x",
        "kind=wait",
        "at=1&at-offset=2",
        "help",
    ] {
        let answer = host.get(&format!("{path}/query?{bad}"), &[]).await;
        assert_eq!(
            answer.status,
            StatusCode::BAD_REQUEST,
            "{bad}: {}",
            answer.text()
        );
    }
    let missed = format!("{path}/query?kernel=no-such-kernel&strict");
    let answer = host.get(&missed, &[]).await;
    let answer = answer.expect(StatusCode::UNPROCESSABLE_ENTITY);
    let text = answer.text();
    assert!(
        text.contains("no kernel is named `no-such-kernel`"),
        "{text}"
    );
}
