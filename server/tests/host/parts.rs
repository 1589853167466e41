//! Uploads in parts: joined, repeated, incomplete, and of the wrong content.

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use serde_json::json;
use server::store::PART_BYTES;

use crate::support::{Answer, Host, profile, profile_of, sha};

const UPLOAD: &str = "0123456789abcdef0123456789abcdef";

async fn part(host: &Host, number: &str, bytes: &[u8]) -> Answer {
    let path = format!("/api/uploads/{UPLOAD}/{number}");
    let request = Request::put(path).body(bytes.to_vec().into());
    host.send(request.expect("a request")).await
}

async fn join(host: &Host, id: &str, parts: usize) -> Answer {
    let path = format!("/api/uploads/{UPLOAD}");
    let terms = json!({"title": "in parts"});
    host.post(
        &path,
        &json!({"sha256": id, "parts": parts, "terms": terms}),
    )
    .await
}

#[tokio::test]
async fn parts_in_any_order_and_any_number_of_times_make_the_blob() {
    let host = Host::with_limit(1 << 30);
    let bytes = profile_of(4_000_000, 1);
    let size = usize::try_from(PART_BYTES).expect("8 MiB");
    assert!(bytes.len() > size, "the profile has {} bytes", bytes.len());
    let parts: Vec<_> = bytes.chunks(size).collect();
    for number in (0..parts.len()).rev().chain([1]) {
        part(&host, &number.to_string(), parts[number])
            .await
            .expect(StatusCode::NO_CONTENT);
    }
    let there = host
        .get(&format!("/api/uploads/{UPLOAD}"), &[])
        .await
        .json();
    let sizes = parts.iter().map(|part| part.len()).enumerate();
    let expected = sizes.map(|(number, bytes)| json!({"number": number, "bytes": bytes}));
    assert_eq!(there["parts"], expected.collect::<serde_json::Value>());
    let id = sha(&bytes);
    let made = join(&host, &id, parts.len())
        .await
        .expect(StatusCode::CREATED);
    assert_eq!(made.field("title"), "in parts");
    let whole = host
        .get(&format!("/api/artifacts/{id}"), &[])
        .await
        .expect(StatusCode::OK);
    assert!(whole.body == bytes, "the blob is the file");
    let there = host
        .get(&format!("/api/uploads/{UPLOAD}"), &[])
        .await
        .json();
    assert_eq!(there, json!({"parts": []}));
}

#[tokio::test]
async fn what_is_missing_or_wrong_is_named_and_nothing_is_published() {
    let host = Host::with_limit(1 << 30);
    let bytes = profile(2);
    let (front, back) = bytes.split_at(500);
    part(&host, "0", front).await.expect(StatusCode::NO_CONTENT);
    let missing = join(&host, &sha(&bytes), 2).await;
    let missing = missing.expect(StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        missing.field("error").contains("part 1"),
        "{}",
        missing.text()
    );
    part(&host, "1", &[0; 100])
        .await
        .expect(StatusCode::NO_CONTENT);
    let wrong = join(&host, &sha(&bytes), 2).await;
    let wrong = wrong.expect(StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        wrong.field("error").contains("has the hash"),
        "{}",
        wrong.text()
    );
    assert_eq!(host.total().await, 0);
    part(&host, "1", back).await.expect(StatusCode::NO_CONTENT);
    join(&host, &sha(&bytes), 2)
        .await
        .expect(StatusCode::CREATED);
}

#[tokio::test]
async fn parts_have_a_number_and_a_length() {
    let host = Host::new();
    for number in ["-1", "x", "10000", "99999999999999999999", "%2e%2e"] {
        part(&host, number, b"x")
            .await
            .expect(StatusCode::BAD_REQUEST);
    }
    let path = format!("/api/uploads/{UPLOAD}/0");
    let request = Request::put(path).header("content-length", (PART_BYTES + 1).to_string());
    let answer = host
        .send(request.body(Body::empty()).expect("a request"))
        .await;
    answer.expect(StatusCode::PAYLOAD_TOO_LARGE);
    host.call(Method::PUT, "/api/uploads/x/0", &[])
        .await
        .expect(StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn parts_reach_no_further_than_the_largest_upload() {
    let limit = PART_BYTES + 1_000;
    let host = Host::with_limit(limit);
    for (number, bytes, status) in [
        ("0", 2_000, StatusCode::NO_CONTENT),
        ("1", 1_000, StatusCode::NO_CONTENT),
        ("1", 1_001, StatusCode::PAYLOAD_TOO_LARGE),
        ("2", 1, StatusCode::PAYLOAD_TOO_LARGE),
        ("9999", 1, StatusCode::PAYLOAD_TOO_LARGE),
    ] {
        let answer = part(&host, number, &vec![0; bytes]).await;
        assert_eq!(answer.status, status, "{number}: {}", answer.text());
    }
    let refused = part(&host, "2", b"x").await.field("error");
    assert!(refused.contains(&limit.to_string()), "{refused}");
    let path = format!("/api/uploads/{UPLOAD}/1");
    let request = Request::put(path).header("content-length", "1001");
    let answer = host
        .send(request.body(Body::empty()).expect("a request"))
        .await;
    answer.expect(StatusCode::PAYLOAD_TOO_LARGE);
}
