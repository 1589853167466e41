//! Over real sockets: clients that dawdle, heads that are wrong, stopping, precompressed files.

use std::io::Read;
use std::time::Duration;

use server::http::{ClientLimits, Connections};
use server::store::{Limits, Store};
use server::{Config, LocalServer, spawn_local};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::{profile, profile_of, sha};

async fn connect(server: &LocalServer) -> TcpStream {
    let url = server.url();
    let address = url.strip_prefix("http://").expect("an HTTP address");
    TcpStream::connect(address)
        .await
        .expect("the server listens")
}

/// Sends text and reads until the server closes.
async fn exchange(server: &LocalServer, text: &str) -> String {
    let mut socket = connect(server).await;
    // A server that refuses may close before all of it is sent.
    let _sent = socket.write_all(text.as_bytes()).await;
    read_all(&mut socket).await
}

async fn read_all(socket: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    // A reset after the answer is an end too.
    let _ended = socket.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

fn dawdling(window: Duration) -> Config {
    let limits = Limits {
        window,
        window_bytes: 1 << 20,
        slots: 1,
        ..Limits::default()
    };
    let mut config = Config::loopback(Store::in_memory().with_limits(limits));
    config.connections = Connections {
        head: Duration::from_millis(200),
        drain: Duration::from_secs(20),
        ..Connections::default()
    };
    config
}

#[tokio::test]
async fn a_head_that_never_ends_and_an_idle_connection_are_closed() {
    let server = spawn_local(dawdling(Duration::from_secs(9)), 0)
        .await
        .expect("a port");
    let dawdle = async |mut socket: TcpStream| {
        // A byte now and then would keep a plain idle timeout from ever firing.
        for byte in b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx-slow: "
            .iter()
            .cycle()
            .take(400)
        {
            if socket.write_all(&[*byte]).await.is_err() {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        false
    };
    let slow = tokio::spawn(dawdle(connect(&server).await));
    let mut idle = connect(&server).await;
    let closed = tokio::time::timeout(Duration::from_secs(30), read_all(&mut idle)).await;
    assert!(closed.is_ok(), "the idle connection stays open");
    assert!(slow.await.expect("it ends"), "the slow head is still read");
}

#[tokio::test]
async fn a_body_that_drips_is_given_up_and_frees_its_slot() {
    let server = spawn_local(dawdling(Duration::from_millis(150)), 0)
        .await
        .expect("a port");
    let bytes = profile(1);
    let head = format!(
        "PUT /api/artifacts/{} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 5000000\r\n\r\n",
        sha(&bytes)
    );
    let mut drip = connect(&server).await;
    drip.write_all(head.as_bytes()).await.expect("it is sent");
    drip.write_all(&bytes[..200]).await.expect("it is sent");
    let mut answer = [0; 12];
    let read = drip.read_exact(&mut answer);
    let read = tokio::time::timeout(Duration::from_secs(30), read).await;
    read.expect("it is given up").expect("an answer");
    assert_eq!(&answer, b"HTTP/1.1 408");
    let put = format!(
        "PUT /api/artifacts/{} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n",
        sha(&bytes),
        bytes.len()
    );
    let mut next = connect(&server).await;
    next.write_all(put.as_bytes()).await.expect("it is sent");
    next.write_all(&bytes).await.expect("it is sent");
    assert!(read_all(&mut next).await.starts_with("HTTP/1.1 201"));
}

#[tokio::test]
async fn json_that_drips_is_given_up() {
    let server = spawn_local(dawdling(Duration::from_secs(9)), 0)
        .await
        .expect("a port");
    let upload = "0".repeat(32);
    for path in [
        "/api/publications".to_owned(),
        format!("/api/uploads/{upload}"),
    ] {
        let mut drip = connect(&server).await;
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
             content-length: 1000\r\n\r\n"
        );
        drip.write_all(head.as_bytes()).await.expect("it is sent");
        let (mut reader, mut writer) = drip.into_split();
        let dripping = tokio::spawn(async move {
            while writer.write_all(b" ").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(25)).await;
            }
        });
        let mut answer = [0; 12];
        let read = tokio::time::timeout(Duration::from_secs(10), reader.read_exact(&mut answer));
        read.await.expect("it is given up").expect("an answer");
        assert_eq!(&answer, b"HTTP/1.1 408", "{path}");
        dripping.abort();
    }
}

/// A client that sends everything before it reads still hears why it was refused.
#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_is_refused_midway_hears_why() {
    let limits = Limits {
        upload_bytes_max: 1 << 20,
        ..Limits::default()
    };
    let config = Config::loopback(Store::in_memory().with_limits(limits));
    let server = spawn_local(config, 0).await.expect("a port");
    let piece = vec![0; 64 << 10];
    let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
    chunk.extend_from_slice(&piece);
    chunk.extend_from_slice(b"\r\n");
    let head = format!(
        "PUT /api/artifacts/{} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\
         transfer-encoding: chunked\r\n\r\n",
        "0".repeat(64)
    );
    for upload in 0..12 {
        let mut socket = connect(&server).await;
        socket.write_all(head.as_bytes()).await.expect("it is sent");
        // A file of the right kind is read on, whatever follows.
        let front = profile(upload);
        let front = [format!("{:x}\r\n", front.len()).as_bytes(), &front, b"\r\n"].concat();
        socket.write_all(&front).await.expect("it is sent");
        for _ in 0..(24 << 20) / piece.len() {
            let sent = socket.write_all(&chunk).await;
            sent.unwrap_or_else(|error| panic!("upload {upload}: {error}"));
        }
        socket.write_all(b"0\r\n\r\n").await.expect("it is sent");
        let answer = read_all(&mut socket).await;
        assert!(
            answer.starts_with("HTTP/1.1 413"),
            "upload {upload}: {answer}"
        );
        assert!(answer.contains("the limit of 1048576 bytes"), "{answer}");
    }
}

#[tokio::test]
async fn a_stop_lets_an_upload_end_and_takes_no_more() {
    let server = spawn_local(dawdling(Duration::from_secs(9)), 0)
        .await
        .expect("a port");
    let address = server.url();
    let bytes = profile_of(200_000, 2);
    let head = format!(
        "PUT /api/artifacts/{} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {}\r\n\r\n",
        sha(&bytes),
        bytes.len()
    );
    let mut upload = connect(&server).await;
    upload.write_all(head.as_bytes()).await.expect("it is sent");
    let (front, back) = bytes.split_at(bytes.len() / 2);
    upload.write_all(front).await.expect("it is sent");
    tokio::time::sleep(Duration::from_millis(100)).await;
    let stopping = tokio::spawn(server.stop());
    tokio::time::sleep(Duration::from_millis(100)).await;
    let host = address.strip_prefix("http://").expect("an HTTP address");
    assert!(
        TcpStream::connect(host).await.is_err(),
        "it takes connections"
    );
    upload.write_all(back).await.expect("it is sent");
    let answer = read_all(&mut upload).await;
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    stopping.await.expect("it ends").expect("it stops");
}

#[tokio::test]
async fn heads_that_smuggle_or_inject_are_refused() {
    let server = spawn_local(dawdling(Duration::from_secs(9)), 0)
        .await
        .expect("a port");
    let long = "x".repeat(200_000);
    for head in [
        "GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: a\nb\r\r\n\r\n".to_owned(),
        "GET /\0 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".to_owned(),
        format!("GET /?{long} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nx: {long}\r\n\r\n"),
        "POST /api/publications HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 5\r\n\
         content-length: 6\r\n\r\nhello!"
            .to_owned(),
    ] {
        let answer = exchange(&server, &head).await;
        let status = answer.get(9..12).unwrap_or("none");
        assert!(
            status.starts_with('4'),
            "{}: {status}",
            &head[..40.min(head.len())]
        );
    }
    let path = "/a/x%0d%0aset-cookie:%20a=b";
    let head = format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n");
    assert!(
        !exchange(&server, &head)
            .await
            .to_lowercase()
            .contains("set-cookie")
    );
}

#[tokio::test]
async fn one_client_has_as_many_connections_as_it_may() {
    let mut config = Config::loopback(Store::in_memory());
    config.clients = ClientLimits {
        connections: Some(3),
        ..ClientLimits::default()
    };
    let server = spawn_local(config, 0).await.expect("a port");
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(connect(&server).await);
    }
    let get = "GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n";
    // The listener may not have seen the three yet, but it sees them in order.
    assert_eq!(exchange(&server, get).await, "");
    open.clear();
    let mut tries = 0;
    while !exchange(&server, get).await.starts_with("HTTP/1.1 200") {
        tries += 1;
        assert!(tries < 200, "the connections still count");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn files_of_the_viewer_are_sent_compressed_to_whoever_takes_it() {
    let server = spawn_local(Config::loopback(Store::in_memory()), 0)
        .await
        .expect("a port");
    let mut sizes = Vec::new();
    for coding in ["identity", "gzip", "br"] {
        let request = format!(
            "GET /style.css HTTP/1.1\r\nhost: 127.0.0.1\r\naccept-encoding: {coding}\r\n\
             connection: close\r\n\r\n"
        );
        let mut socket = connect(&server).await;
        let sent = socket.write_all(request.as_bytes()).await;
        sent.expect("the request is sent");
        let mut answer = Vec::new();
        let read = socket.read_to_end(&mut answer).await;
        read.expect("the answer is read");
        let end = answer.windows(4).position(|it| it == b"\r\n\r\n");
        let (head, body) = answer.split_at(end.expect("a head") + 4);
        let head = str::from_utf8(head).expect("visible ASCII");
        assert!(head.contains("vary: accept-encoding"), "{head}");
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())));
        let coded = head.contains(&format!("content-encoding: {coding}\r\n"));
        assert_eq!(coded, coding != "identity", "{head}");
        let mut plain = Vec::new();
        let mut reader: Box<dyn Read> = match coding {
            "gzip" => Box::new(flate2::read::GzDecoder::new(body)),
            "br" => Box::new(brotli::Decompressor::new(body, 4_096)),
            _ => Box::new(body),
        };
        reader.read_to_end(&mut plain).expect("it is whole");
        let file = site::files().iter().find(|it| it.path == "/style.css");
        assert_eq!(plain, file.expect("there is one").bytes, "{coding}");
        sizes.push(body.len());
    }
    let [plain, gzip, brotli] = sizes[..] else {
        panic!("three answers");
    };
    assert!(gzip < plain / 2 && brotli < gzip, "{sizes:?}");
}
