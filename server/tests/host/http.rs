//! Pages, headers, uploads, ranges, revalidation, bad input.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use server::Config;
use server::store::{BlobId, Store};

use crate::support::{Host, profile};

#[tokio::test]
async fn every_address_of_a_profile_is_the_same_page() {
    let host = Host::new();
    let root = host.get("/", &[]).await;
    assert_eq!(root.status, StatusCode::OK);
    assert_eq!(root.header("content-type"), "text/html; charset=utf-8");
    let artifact = format!("/a/{}", "0".repeat(64));
    for path in [
        artifact.as_str(),
        "/p/0123456789abcdef",
        "/a/nonsense",
        "/index.html",
    ] {
        let page = host.get(path, &[]).await;
        assert_eq!(
            (page.status, page.body),
            (StatusCode::OK, root.body.clone()),
            "{path}"
        );
    }
}

#[tokio::test]
async fn files_of_the_site_have_their_types_and_are_revalidated_by_content() {
    let host = Host::new();
    for site::File {
        path, mime, bytes, ..
    } in site::files()
    {
        let file = host.get(path, &[]).await;
        assert_eq!(file.status, StatusCode::OK, "{path}");
        assert_eq!(file.header("content-type"), *mime, "{path}");
        assert_eq!(file.body, *bytes, "{path}");
        assert_eq!(file.header("cache-control"), "no-cache");
        let again = host
            .get(path, &[("if-none-match", file.header("etag"))])
            .await;
        let policy = "content-security-policy";
        assert_eq!(again.header(policy), file.header(policy), "{path}");
        assert_eq!(
            (again.status, again.body.len()),
            (StatusCode::NOT_MODIFIED, 0),
            "{path}"
        );
    }
}

#[tokio::test]
async fn pages_may_run_their_own_code_only_and_data_may_run_nothing() {
    let (host, blob, _) = Host::with_profile().await;
    let page = host.get("/", &[]).await;
    let policy = page.header("content-security-policy");
    let parts: Vec<_> = policy.split("; ").collect();
    for part in [
        "default-src 'none'",
        "script-src 'self' 'wasm-unsafe-eval'",
        "style-src 'self'",
        "connect-src 'self' https: http://127.0.0.1:*",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "object-src 'none'",
    ] {
        assert!(parts.contains(&part), "{part} is not in {policy}");
    }
    assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"));
    for path in [
        "/",
        "/style.css",
        "/api/publications",
        "/health",
        "/nothing",
        "/api/nothing",
        &blob,
    ] {
        let answer = host.get(path, &[]).await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        if path != "/" {
            let policy = answer.header("content-security-policy");
            assert_eq!(
                policy, "default-src 'none'; frame-ancestors 'none'; sandbox",
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn an_upload_is_published_once_and_listed() {
    let host = Host::new();
    let bytes = profile(7);
    let id = BlobId::of(&bytes).to_string();
    let first = host.put(&id, bytes.clone()).await;
    assert_eq!(first.status, StatusCode::CREATED, "{}", first.text());
    let mut artifact = first.json();
    let publication = format!("/api/publications/{}", first.field("id"));
    assert_eq!(first.header("location"), publication);
    assert_eq!(first.field("deleteToken").len(), 64);
    // The token is shown once.
    artifact["deleteToken"] = serde_json::Value::Null;
    assert_eq!(artifact["sha256"], id.as_str());
    assert_eq!(artifact["kind"], "profile");
    assert_eq!(artifact["bytes"], bytes.len());
    assert_eq!(artifact["tiles"], 8);
    assert!(
        artifact["samples"]
            .as_u64()
            .is_some_and(|samples| samples >= 500)
    );
    let second = host.put(&id, bytes.clone()).await;
    assert_eq!(
        (second.status, second.json()),
        (StatusCode::OK, artifact.clone())
    );
    let list = host.get("/api/publications", &[]).await.json();
    let mut listed = artifact.clone();
    listed
        .as_object_mut()
        .expect("an object")
        .remove("deleteToken");
    assert_eq!(
        list,
        serde_json::json!({"publications": [listed], "total": 1, "next": null})
    );
}

#[tokio::test]
async fn clients_that_send_the_same_at_once_hear_of_one_publication() {
    let host = Host::new();
    let bytes = profile(11);
    let id = BlobId::of(&bytes).to_string();
    let uploads = (0..20).map(|_| host.put(&id, bytes.clone()));
    let answers = futures::future::join_all(uploads).await;
    let made = answers.iter().filter(|it| it.status == StatusCode::CREATED);
    assert_eq!(made.count(), 1);
    let ids: std::collections::BTreeSet<_> = answers.iter().map(|it| it.field("id")).collect();
    assert_eq!((ids.len(), host.total().await), (1, 1));
}

#[tokio::test]
async fn the_list_is_bounded_and_says_how_many_there_are() {
    let host = Host::new();
    for seed in 0..3 {
        let bytes = profile(seed);
        host.put(&BlobId::of(&bytes).to_string(), bytes).await;
    }
    let list = host.get("/api/publications?limit=2", &[]).await.json();
    assert_eq!(list["publications"].as_array().map(Vec::len), Some(2));
    assert_eq!(list["total"], 3);
    let bad = host.get("/api/publications?limit=many", &[]).await;
    assert_eq!(bad.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_download_is_whole_or_a_range_and_never_changes() {
    let (host, path, bytes) = Host::with_profile().await;
    let whole = host.get(&path, &[]).await;
    assert_eq!((whole.status, &whole.body), (StatusCode::OK, &bytes));
    assert_eq!(whole.header("content-type"), "application/octet-stream");
    assert_eq!(whole.header("accept-ranges"), "bytes");
    assert_eq!(
        whole.header("cache-control"),
        "public, max-age=31536000, immutable"
    );
    assert_eq!(whole.header("access-control-allow-origin"), "*");
    assert!(
        whole
            .header("content-disposition")
            .starts_with("attachment")
    );
    let length = bytes.len();
    let last = length - 1;
    for (range, expected) in [
        ("bytes=0-15".to_owned(), 0..16),
        (format!("bytes={last}-"), last..length),
        ("bytes=-64".to_owned(), length - 64..length),
    ] {
        let part = host.get(&path, &[("range", &range)]).await;
        assert_eq!(part.status, StatusCode::PARTIAL_CONTENT, "{range}");
        assert_eq!(part.body, bytes[expected.clone()], "{range}");
        let named = format!("bytes {}-{}/{length}", expected.start, expected.end - 1);
        assert_eq!(part.header("content-range"), named);
        assert_eq!(part.header("content-length"), expected.len().to_string());
    }
}

#[tokio::test]
async fn ranges_that_cannot_be_served_are_refused_with_the_length() {
    let (host, path, bytes) = Host::with_profile().await;
    for range in [
        format!("bytes={}-", bytes.len()),
        "bytes=0-1,4-5".to_owned(),
        "bytes=-0".to_owned(),
    ] {
        let refused = host.get(&path, &[("range", &range)]).await;
        assert_eq!(refused.status, StatusCode::RANGE_NOT_SATISFIABLE, "{range}");
        assert_eq!(
            refused.header("content-range"),
            format!("bytes */{}", bytes.len())
        );
        assert_eq!(refused.json()["error"], "no such range");
    }
}

#[tokio::test]
async fn a_download_is_revalidated_by_its_hash() {
    let (host, path, bytes) = Host::with_profile().await;
    let etag = host.get(&path, &[]).await.header("etag").to_owned();
    for tags in [etag.clone(), "*".to_owned(), format!("\"other\", W/{etag}")] {
        let known = host.get(&path, &[("if-none-match", &tags)]).await;
        assert_eq!(
            (known.status, known.body.len()),
            (StatusCode::NOT_MODIFIED, 0),
            "{tags}"
        );
        assert_eq!(known.header("etag"), etag);
    }
    let other = host.get(&path, &[("if-none-match", "\"other\"")]).await;
    assert_eq!(other.status, StatusCode::OK);
    let range = ("range", "bytes=0-3");
    let same = host.get(&path, &[range, ("if-range", &etag)]).await;
    assert_eq!(same.status, StatusCode::PARTIAL_CONTENT);
    let stale = host.get(&path, &[range, ("if-range", "\"other\"")]).await;
    assert_eq!((stale.status, stale.body), (StatusCode::OK, bytes));
}

#[tokio::test]
async fn head_tells_the_length_without_the_body() {
    let (host, path, bytes) = Host::with_profile().await;
    let head = host.call(Method::HEAD, &path, &[]).await;
    assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
    assert_eq!(head.header("content-length"), bytes.len().to_string());
    let part = host
        .call(Method::HEAD, &path, &[("range", "bytes=0-3")])
        .await;
    assert_eq!(part.status, StatusCode::PARTIAL_CONTENT);
    assert_eq!(part.header("content-length"), "4");
}

#[tokio::test]
async fn an_upload_over_the_limit_is_refused_by_header_and_by_stream() {
    let host = Host::with_limit(1000);
    let path = format!("/api/artifacts/{}", "0".repeat(64));
    let announced = Request::put(&path)
        .header("content-length", "1001")
        .body(Body::empty());
    let chunks = (0..20).map(|_| Ok::<_, std::io::Error>(vec![0_u8; 64]));
    let streamed = Request::put(&path).body(Body::from_stream(futures::stream::iter(chunks)));
    for request in [announced, streamed] {
        let refused = host.send(request.expect("a request")).await;
        assert_eq!(refused.status, StatusCode::PAYLOAD_TOO_LARGE);
        let error = refused.json()["error"].as_str().expect("a text").to_owned();
        assert_eq!(error, "the upload is larger than the limit of 1000 bytes");
    }
}

#[tokio::test]
async fn nothing_is_published_unless_hash_and_content_agree() {
    let host = Host::new();
    let good = profile(7);
    let good_id = BlobId::of(&good).to_string();
    let mut flipped = good.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    let wrong_hash = host.put(&good_id, flipped.clone()).await;
    assert_eq!(wrong_hash.status, StatusCode::UNPROCESSABLE_ENTITY);
    let flipped_id = BlobId::of(&flipped).to_string();
    assert!(
        wrong_hash.text().contains(&flipped_id),
        "{}",
        wrong_hash.text()
    );
    let page = b"<html><script>alert(1)</script></html>".to_vec();
    let cut = good[..good.len() - 100].to_vec();
    for body in [flipped, page, cut, Vec::new()] {
        let id = BlobId::of(&body).to_string();
        let refused = host.put(&id, body).await;
        assert_eq!(
            refused.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{}",
            refused.text()
        );
        let path = format!("/api/artifacts/{id}");
        assert_eq!(host.get(&path, &[]).await.status, StatusCode::NOT_FOUND);
    }
    assert_eq!(host.total().await, 0);
}

#[tokio::test]
async fn an_upload_that_breaks_off_leaves_nothing() {
    let host = Host::new();
    let bytes = profile(7);
    let id = BlobId::of(&bytes).to_string();
    let chunks = [
        Ok(bytes[..100].to_vec()),
        Err(std::io::Error::other("gone")),
    ];
    let body = Body::from_stream(futures::stream::iter(chunks));
    let path = format!("/api/artifacts/{id}");
    let broken = host
        .send(Request::put(&path).body(body).expect("a request"))
        .await;
    assert_eq!(broken.status, StatusCode::BAD_REQUEST);
    assert_eq!(host.get(&path, &[]).await.status, StatusCode::NOT_FOUND);
    assert_eq!(host.put(&id, bytes).await.status, StatusCode::CREATED);
}

#[tokio::test]
async fn names_that_are_no_hashes_never_reach_the_store() {
    let host = Host::new();
    let upper = "A".repeat(64);
    for name in [
        "x",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e",
        &upper,
        "%00",
        "a%20b",
    ] {
        let path = format!("/api/artifacts/{name}");
        for method in [Method::GET, Method::HEAD, Method::PUT] {
            let refused = host.call(method.clone(), &path, &[]).await;
            assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{method} {path}");
        }
    }
    for path in [
        "/../Cargo.toml",
        "/..%2fCargo.toml",
        "/a/../../x",
        "/%00",
        "/api/../etc/passwd",
    ] {
        let refused = host.get(path, &[]).await;
        assert_eq!(refused.status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn unknown_calls_and_methods_are_refused() {
    let host = Host::new();
    let id = "0".repeat(64);
    let blob = format!("/api/artifacts/{id}");
    assert_eq!(
        host.get("/api/unknown", &[]).await.status,
        StatusCode::NOT_FOUND
    );
    assert_eq!(host.get(&blob, &[]).await.status, StatusCode::NOT_FOUND);
    for (method, path) in [
        (Method::POST, "/"),
        (Method::DELETE, blob.as_str()),
        (Method::PUT, "/x"),
    ] {
        let refused = host.call(method.clone(), path, &[]).await;
        assert_eq!(
            refused.status,
            StatusCode::METHOD_NOT_ALLOWED,
            "{method} {path}"
        );
    }
}

#[tokio::test]
async fn another_host_name_is_turned_away() {
    let host = Host::new();
    let evil = host
        .get("/api/publications", &[("host", "evil.example:7472")])
        .await;
    assert_eq!(evil.status, StatusCode::MISDIRECTED_REQUEST);
    let own = host
        .get("/api/publications", &[("host", "127.0.0.1:7472")])
        .await;
    assert_eq!(own.status, StatusCode::OK);
}

#[tokio::test]
async fn a_local_folder_keeps_artifacts_across_servers() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = profile(7);
    let id = BlobId::of(&bytes).to_string();
    let open = || {
        let store = Store::local(folder.path()).expect("the folder is used");
        Host::of(Config::loopback(store))
    };
    assert_eq!(
        open().put(&id, bytes.clone()).await.status,
        StatusCode::CREATED
    );
    let again = open().get(&format!("/api/artifacts/{id}"), &[]).await;
    assert_eq!((again.status, again.body), (StatusCode::OK, bytes));
    assert_eq!(open().total().await, 1);
}
