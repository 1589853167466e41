//! Requests that are sent again because their answer was lost: one publication, one token.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use futures::TryStreamExt as _;
use object_store::{ObjectStore as _, ObjectStoreExt as _};
use parking_lot::Mutex;
use serde_json::json;
use server::store::{Store, Withdrawal};
use server::{Config, LocalServer, spawn_local};

use crate::support::{Answer, Host, profile, profile_of, provider, sha};

const KEY: &str = "00112233445566778899aabbccddeeff";
const UPLOAD: &str = "0123456789abcdef0123456789abcdef";

async fn put(host: &Host, query: &str, bytes: &[u8], key: &str) -> Answer {
    let path = format!("/api/artifacts/{}{query}", sha(bytes));
    let request = Request::put(path).header("idempotency-key", key);
    host.send(request.body(bytes.to_vec().into()).expect("a request"))
        .await
}

async fn join(host: &Host, id: &str, key: &str) -> Answer {
    let json = json!({"sha256": id, "parts": 1, "terms": {"title": "t"}});
    let request = Request::post(format!("/api/uploads/{UPLOAD}"))
        .header("content-type", "application/json")
        .header("idempotency-key", key)
        .body(json.to_string().into());
    host.send(request.expect("a request")).await
}

async fn part(host: &Host, bytes: &[u8]) {
    let path = format!("/api/uploads/{UPLOAD}/0");
    let request = Request::put(path).body(bytes.to_vec().into());
    let answer = host.send(request.expect("a request")).await;
    answer.expect(StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn a_key_makes_one_publication_whichever_server_is_asked_again() {
    let (_, hosts) = Host::sharing::<2>();
    for (number, query) in ["", "?title=t", "?title=t&visibility=private"]
        .iter()
        .enumerate()
    {
        let bytes = profile(number as u64);
        let mut made = BTreeSet::new();
        for host in [&hosts[0], &hosts[0], &hosts[1]] {
            let answer = put(host, query, &bytes, KEY).await;
            let answer = answer.expect(StatusCode::CREATED);
            made.insert((answer.field("id"), answer.field("deleteToken")));
        }
        assert_eq!(made.len(), 1, "{query}");
    }
    assert_eq!(hosts[0].total().await, 2);
    // At once, with another key, and for something else.
    let bytes = profile(9);
    let all = (0..8).map(|_| put(&hosts[0], "?title=t", &bytes, KEY));
    let all = futures::future::join_all(all).await;
    let ids: BTreeSet<_> = all.iter().map(|it| it.field("id")).collect();
    assert_eq!((ids.len(), hosts[0].total().await), (1, 3));
    let other = put(&hosts[0], "?title=t", &bytes, UPLOAD).await;
    assert!(!ids.contains(&other.expect(StatusCode::CREATED).field("id")));
    for (query, status) in [
        ("?title=u", StatusCode::CONFLICT),
        ("?title=t&visibility=private", StatusCode::CONFLICT),
    ] {
        put(&hosts[0], query, &bytes, KEY).await.expect(status);
    }
    for key in ["", "x", "0011"] {
        let refused = put(&hosts[0], "", &bytes, key).await;
        refused.expect(StatusCode::BAD_REQUEST);
    }
    // Once it is deleted the key makes it anew.
    let (id, token) = (all[0].field("id"), all[0].field("deleteToken"));
    let gone = hosts[0].delete(&id, &token).await;
    gone.expect(StatusCode::NO_CONTENT);
    let anew = put(&hosts[0], "?title=t", &bytes, KEY).await;
    assert_eq!(anew.expect(StatusCode::CREATED).field("id"), id);
    // One that has ended is not made longer.
    let ended = profile(10);
    put(&hosts[0], "?days=0", &ended, KEY)
        .await
        .expect(StatusCode::CREATED);
    put(&hosts[0], "?days=0", &ended, KEY)
        .await
        .expect(StatusCode::CONFLICT);
}

#[tokio::test]
async fn what_broke_off_midway_is_made_whole_or_anew() {
    let (objects, [host]) = Host::sharing::<1>();
    let bytes = profile(1);
    let mut made = BTreeSet::new();
    // What a killed server has not written yet, and what a sweep took since.
    for lost in [&["meta"][..], &["meta", "refs"], &["meta", "refs", "blobs"]] {
        let answer = put(&host, "?title=t", &bytes, KEY).await;
        let answer = answer.expect(StatusCode::CREATED);
        made.insert((answer.field("id"), answer.field("deleteToken")));
        for folder in lost {
            let listed = objects.list(Some(&(*folder).into()));
            let listed: Vec<_> = listed.try_collect().await.expect("a list");
            assert_eq!(listed.len(), 1, "{folder}");
            let deleted = objects.delete(&listed[0].location).await;
            deleted.expect("it is there");
        }
    }
    let answer = put(&host, "?title=t", &bytes, KEY).await;
    made.insert((answer.field("id"), answer.field("deleteToken")));
    assert_eq!(made.len(), 1);
    let other = Host::over(objects);
    assert_eq!(other.total().await, 1);
    let path = format!("/api/artifacts/{}", sha(&bytes));
    let content = other.get(&path, &[]).await.expect(StatusCode::OK);
    assert_eq!(content.body, bytes);
}

#[tokio::test]
async fn a_join_is_answered_again_though_its_parts_are_gone() {
    let (_, hosts) = Host::sharing::<2>();
    let bytes = profile(1);
    let id = sha(&bytes);
    part(&hosts[0], &bytes).await;
    let asked = hosts.iter().chain(&hosts).map(|host| join(host, &id, KEY));
    let at_once = futures::future::join_all(asked.collect::<Vec<_>>()).await;
    let mut made = BTreeSet::new();
    for answer in at_once {
        let answer = answer.expect(StatusCode::CREATED);
        made.insert((answer.field("id"), answer.field("deleteToken")));
    }
    for host in &hosts {
        let answer = join(host, &id, KEY).await;
        let answer = answer.expect(StatusCode::CREATED);
        made.insert((answer.field("id"), answer.field("deleteToken")));
        let parts = host.get(&format!("/api/uploads/{UPLOAD}"), &[]).await;
        assert_eq!(parts.json(), json!({"parts": []}));
    }
    assert_eq!((made.len(), hosts[0].total().await), (1, 1));
}

/// What a proxy in front of a server needs: where it is, and which answers are lost yet.
#[derive(Clone)]
struct Lossy {
    server: Arc<LocalServer>,
    client: reqwest::Client,
    lost: Arc<Mutex<BTreeSet<String>>>,
}

/// Hands a request on, and loses the first answer to every address that publishes.
async fn hand_on(State(proxy): State<Lossy>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let path = head.uri.path_and_query().expect("a path").to_string();
    let publishes = head.method == Method::POST || path.starts_with("/api/artifacts/");
    let writes = head.method != Method::GET;
    let body = to_bytes(body, usize::MAX).await.expect("a body");
    let mut headers = head.headers;
    headers.remove("host");
    let address = format!("{}{path}", proxy.server.url());
    let sent = proxy.client.request(head.method, address).headers(headers);
    let answer = sent.body(body).send().await.expect("an answer");
    let mut response = Response::builder().status(answer.status());
    if writes && publishes && proxy.lost.lock().insert(path) {
        response = Response::builder().status(StatusCode::GATEWAY_TIMEOUT);
        return response.body(Body::empty()).expect("a response");
    }
    for (name, value) in answer.headers() {
        response = response.header(name, value);
    }
    let bytes = answer.bytes().await.expect("a body");
    response.body(bytes.into()).expect("a response")
}

async fn publish(file: &Path, url: &str, flags: &'static [&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ipu-stack"));
    command.args(["publish", "--to", url]).arg(file).args(flags);
    command.env_remove("IPU_STACK_TOKEN");
    let ran = tokio::task::spawn_blocking(move || command.output()).await;
    ran.expect("it ends").expect("the command runs")
}

#[tokio::test(flavor = "multi_thread")]
async fn publishing_through_a_proxy_that_loses_answers_publishes_once() {
    provider();
    let config = Config::loopback(Store::in_memory());
    let store = config.store.clone();
    let server = Arc::new(spawn_local(config, 0).await.expect("a port"));
    let proxy = Lossy {
        server: Arc::clone(&server),
        client: reqwest::Client::new(),
        lost: Arc::default(),
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let app = Router::new().fallback(hand_on).with_state(proxy.clone());
    tokio::spawn(async move { axum::serve(listener, app).await });
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("p.ipuprofile");
    let large = profile_of(11_000_000, 1);
    assert!(large.len() > 16 << 20, "it goes in parts");
    let cases = [
        (profile(1), &["--title", "t"][..]),
        (profile(2), &[]),
        (large, &["--title", "t"]),
    ];
    for (number, (bytes, flags)) in cases.into_iter().enumerate() {
        std::fs::write(&file, &bytes).expect("a file");
        let output = publish(&file, &url, flags).await;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        let total = Host::of(Config::loopback(store.clone())).total().await;
        assert_eq!((total, proxy.lost.lock().len()), (1, number + 1));
        // The token that it printed is the right one.
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let right = text.trim().rsplit(' ').next().expect("a token");
        let (id, token) = right.split_once(':').expect("an id and a token");
        let deleted = store.withdraw(id.parse().expect("an id"), token).await;
        assert_eq!(deleted.expect("it is written"), Withdrawal::Done);
    }
}
