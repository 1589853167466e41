//! Two servers on one bucket, which a real S3 implementation serves over HTTP; then the same while
//! one call in five fails.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use hyper_util::rt::TokioIo;
use object_store::RetryConfig;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use tokio::net::TcpListener;

use crate::support::{Host, Running, profile, profile_of, provider, sha};

/// A bucket on a loopback port.
struct Bucket {
    address: SocketAddr,
    _folder: tempfile::TempDir,
    failed: Arc<AtomicU64>,
}

impl Bucket {
    /// Serves a bucket; every `fails`-th call is answered 503, none where 0.
    async fn start(fails: u64) -> Self {
        Self::serving(fails, Some(SimpleAuth::from_single("key", "secret"))).await
    }

    /// Serves a bucket to the XML calls of Google's interface, which are those of S3 but for who
    /// signs them and how.
    async fn unsigned() -> Self {
        Self::serving(0, None).await
    }

    async fn serving(fails: u64, auth: Option<SimpleAuth>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("profiles")).expect("a bucket");
        let files = s3s_fs::FileSystem::new(folder.path()).expect("a file system");
        let mut builder = S3ServiceBuilder::new(files);
        let is_signed = auth.is_some();
        if let Some(auth) = auth {
            builder.set_auth(auth);
        }
        let service = builder.build();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let failed = Arc::new(AtomicU64::new(0));
        let calls = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&failed);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (service, calls) = (service.clone(), Arc::clone(&calls));
                let failed = Arc::clone(&counted);
                let calls = Calls {
                    calls,
                    failed,
                    fails,
                    is_signed,
                };
                tokio::spawn(serve(socket, service, calls));
            }
        });
        Self {
            address,
            _folder: folder,
            failed,
        }
    }

    /// A host that keeps its artifacts here.
    fn host(&self) -> Host {
        Host::over(Arc::new(self.objects()))
    }

    /// A client of the bucket.
    fn objects(&self) -> AmazonS3 {
        provider();
        let retry = RetryConfig {
            max_retries: 8,
            retry_timeout: Duration::from_secs(60),
            ..RetryConfig::default()
        };
        let bucket = AmazonS3Builder::new()
            .with_endpoint(format!("http://{}", self.address))
            .with_allow_http(true)
            .with_region("us-east-1")
            .with_bucket_name("profiles")
            .with_access_key_id("key")
            .with_secret_access_key("secret")
            .with_retry(retry)
            .build();
        bucket.expect("a bucket")
    }
}

/// How calls of a bucket are answered.
struct Calls {
    calls: Arc<AtomicU64>,
    failed: Arc<AtomicU64>,
    fails: u64,
    is_signed: bool,
}

async fn serve(socket: tokio::net::TcpStream, service: S3Service, calls: Calls) {
    let answer = hyper::service::service_fn(move |mut request: hyper::Request<_>| {
        let call = calls.calls.fetch_add(1, Ordering::Relaxed);
        let fail = calls.fails > 0 && call.is_multiple_of(calls.fails);
        calls.failed.fetch_add(u64::from(fail), Ordering::Relaxed);
        if !calls.is_signed {
            request.headers_mut().remove(AUTHORIZATION);
        }
        let service = service.clone();
        async move {
            if fail {
                let mut refused = hyper::Response::new(s3s::Body::empty());
                *refused.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
                return Ok::<_, Infallible>(refused);
            }
            let request = request.map(s3s::Body::from);
            Ok(service.call(request).await.unwrap_or_else(|error| {
                panic!("the bucket broke down: {error:?}");
            }))
        }
    });
    let connection = hyper::server::conn::http1::Builder::new();
    // A client that closes its end is no failure of the test.
    let _closed = connection
        .serve_connection(TokioIo::new(socket), answer)
        .await;
}

#[tokio::test]
async fn two_servers_share_a_bucket() {
    let bucket = Bucket::start(0).await;
    let (one, other) = (bucket.host(), bucket.host());
    assert_eq!(other.total().await, 0);
    let bytes = profile(1);
    let id = sha(&bytes);
    let made = one.put(&format!("{id}?title=first"), bytes.clone()).await;
    let made = made.expect(StatusCode::CREATED);
    let path = format!("/api/artifacts/{id}");
    assert_eq!(
        other.get(&path, &[]).await.expect(StatusCode::OK).body,
        bytes
    );
    let part = other.get(&path, &[("range", "bytes=-64")]).await;
    assert_eq!(part.body, bytes[bytes.len() - 64..]);
    until(async || other.total().await == 1).await;
    let both = profile(2);
    let (a, b) = (
        format!("{}?title=a", sha(&both)),
        format!("{}?title=b", sha(&both)),
    );
    let (a, b) = tokio::join!(one.put(&a, both.clone()), other.put(&b, both.clone()));
    let (a, _b) = (a.expect(StatusCode::CREATED), b.expect(StatusCode::CREATED));
    other
        .delete(&a.field("id"), &a.field("deleteToken"))
        .await
        .expect(StatusCode::NO_CONTENT);
    for host in [&one, &other] {
        let path = format!("/api/artifacts/{}", sha(&both));
        assert_eq!(host.get(&path, &[]).await.expect(StatusCode::OK).body, both);
    }
    // A deletion by one is obeyed by the other once it no longer believes what it found.
    other
        .delete(&made.field("id"), &made.field("deleteToken"))
        .await;
    until(async || one.get(&path, &[]).await.status == StatusCode::NOT_FOUND).await;
    one.store.sweep(Duration::ZERO).await.expect("a sweep");
    let descriptions = one.store.used_bytes() - both.len() as u64;
    assert!((500..5_000).contains(&descriptions), "{descriptions}");
    let query = other
        .get(&format!("/api/artifacts/{}/query", sha(&both)), &[])
        .await;
    assert_eq!(
        query.expect(StatusCode::OK).json()["schema"],
        "ipu-stack/profile-query/1"
    );
}

#[tokio::test]
async fn a_bucket_that_fails_one_call_in_five_loses_nothing() {
    let bucket = Bucket::start(5).await;
    let host = bucket.host();
    for seed in 0..4 {
        // More than one part of 5 MiB each.
        let bytes = if seed == 0 {
            profile_of(3_000_000, seed)
        } else {
            profile(seed)
        };
        let answer = host.put(&sha(&bytes), bytes.clone()).await;
        answer.expect(StatusCode::CREATED);
        let path = format!("/api/artifacts/{}", sha(&bytes));
        let whole = host.get(&path, &[]).await.expect(StatusCode::OK);
        assert!(whole.body == bytes, "what comes back is what was sent");
    }
    assert_eq!(host.total().await, 4);
    assert!(
        bucket.failed.load(Ordering::Relaxed) > 5,
        "the bucket has failed"
    );
}

/// As a team runs it: the bucket by its URL, everything else from the environment.
#[tokio::test(flavor = "multi_thread")]
async fn the_command_serves_a_bucket_by_its_url() {
    let bucket = Bucket::start(0).await;
    let environment = [
        ("AWS_ENDPOINT", format!("http://{}", bucket.address)),
        ("AWS_ALLOW_HTTP", "true".to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
        ("AWS_ACCESS_KEY_ID", "key".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
    ];
    served_by_command("s3://profiles/team", environment.to_vec()).await;
    // Another server of the bucket, under the same prefix, lists it.
    let other = object_store::prefix::PrefixStore::new(bucket.objects(), "team");
    assert_eq!(Host::over(Arc::new(other)).total().await, 1);
}

/// The client of `gs://` against a store that answers its XML calls, parts included.
#[tokio::test(flavor = "multi_thread")]
async fn the_command_serves_a_bucket_of_the_other_dialect() {
    let bucket = Bucket::unsigned().await;
    let account = serde_json::json!({
        "gcs_base_url": format!("http://{}", bucket.address),
        "disable_oauth": true,
        "client_email": "",
        "private_key": "",
        "private_key_id": "",
    });
    let environment = [
        ("GOOGLE_SERVICE_ACCOUNT_KEY", account.to_string()),
        ("GOOGLE_ALLOW_HTTP", "true".to_owned()),
    ];
    served_by_command("gs://profiles/team", environment.to_vec()).await;
}

/// Publishes a profile of several parts on a server of the store and fetches it back.
async fn served_by_command(store: &str, environment: Vec<(&'static str, String)>) {
    let store = store.to_owned();
    let ended = tokio::task::spawn_blocking(move || {
        let program = env!("CARGO_BIN_EXE_ipu-stack");
        let folder = tempfile::tempdir().expect("a folder");
        let [file, back] = ["p", "back"].map(|it| folder.path().join(it));
        let bytes = profile_of(3_000_000, 9);
        std::fs::write(&file, &bytes).expect("a file");
        let mut command = Command::new(program);
        command.args(["serve", "--port", "0", "--store", &store]);
        let server = Running::start(command.envs(environment));
        let url = server.url.as_str();
        let said = |command: &mut Command| {
            let output = command.output().expect("the command runs");
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{errors}");
            String::from_utf8(output.stdout).expect("UTF-8")
        };
        let published = said(
            Command::new(program)
                .args(["publish", "--to", url])
                .arg(&file),
        );
        let link = published.lines().next().expect("a link");
        let _said = said(Command::new(program).args(["fetch", link, "-o"]).arg(&back));
        assert!(
            std::fs::read(back).expect("a file") == bytes,
            "what comes back is what was sent"
        );
    });
    ended.await.expect("it ends");
}

/// Waits until it is so.
async fn until(so: impl AsyncFn() -> bool) {
    for _ in 0..300 {
        if so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it did not come to pass");
}
