//! A server killed at random moments of uploads: nothing torn is ever listed or served, a retry
//! succeeds, and what is left over is swept.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use crate::support::{address_of, profile_of, sha};

/// Uploads in all.
const UPLOADS: usize = 500;
/// Uploads at a time; the server is killed while they run.
const AT_ONCE: usize = 10;
/// One upload of so many goes in parts that are joined.
const IN_PARTS: u64 = 4;
const SEED: u64 = 2026;

struct Server {
    process: Child,
    address: String,
}

impl Server {
    /// A server that sweeps what is older than `grace` seconds.
    fn start(folder: &Path, grace: u32) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_ipu-stack"))
            .args([
                "serve",
                "--port",
                "0",
                "--grace-seconds",
                &grace.to_string(),
                "--store",
            ])
            .arg(folder)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let address = address_of(&mut process);
        Self { process, address }
    }

    fn kill(mut self) {
        self.process.kill().expect("SIGKILL is sent");
        self.process.wait().expect("it is gone");
    }
}

/// The answer to a request, empty where the server died meanwhile.
fn ask(address: &str, request: &str, body: &[u8]) -> Vec<u8> {
    ask_with(address, request, "", body)
}

/// The same with further lines in the head.
fn ask_with(address: &str, request: &str, lines: &str, body: &[u8]) -> Vec<u8> {
    let mut answer = Vec::new();
    if let Ok(mut socket) = TcpStream::connect(address) {
        let head = format!("{request} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n{lines}");
        let head = format!("{head}content-length: {}\r\n\r\n", body.len());
        let sent = socket
            .write_all(head.as_bytes())
            .and_then(|()| socket.write_all(body));
        if sent.is_ok() {
            let _cut = socket.read_to_end(&mut answer);
        }
    }
    answer
}

/// Uploads whole, or in two parts that are joined under a key.
fn upload(address: &str, seed: u64, bytes: &[u8]) -> Vec<u8> {
    let sha = sha(bytes);
    if !seed.is_multiple_of(IN_PARTS) {
        return ask(address, &format!("PUT /api/artifacts/{sha}"), bytes);
    }
    let (key, upload) = sha.split_at(32);
    let (front, back) = bytes.split_at(bytes.len() / 2);
    for (number, part) in [front, back].into_iter().enumerate() {
        ask(
            address,
            &format!("PUT /api/uploads/{upload}/{number}"),
            part,
        );
    }
    let lines = format!("content-type: application/json\r\nidempotency-key: {key}\r\n");
    let join = format!("{{\"sha256\": \"{sha}\", \"parts\": 2}}");
    let request = format!("POST /api/uploads/{upload}");
    ask_with(address, &request, &lines, join.as_bytes())
}

fn body(answer: &[u8]) -> &[u8] {
    let end = answer
        .windows(4)
        .position(|it| it == b"\r\n\r\n")
        .expect("a head");
    &answer[end + 4..]
}

fn is(answer: &[u8], status: &str) -> bool {
    answer.get(9..12) == Some(status.as_bytes())
}

/// Everything that is listed is served whole.
fn check(address: &str) -> usize {
    let list = ask(address, "GET /api/publications?limit=1000", &[]);
    let list: serde_json::Value = serde_json::from_slice(body(&list)).expect("JSON");
    let listed = list["publications"].as_array().expect("a list");
    for publication in listed {
        let id = publication["sha256"].as_str().expect("a text");
        let answer = ask(address, &format!("GET /api/artifacts/{id}"), &[]);
        assert!(is(&answer, "200"), "{id} is listed and not served");
        assert_eq!(sha(body(&answer)), id, "a torn artifact is served");
    }
    listed.len()
}

#[test]
fn a_killed_server_leaves_nothing_torn() {
    let folder = tempfile::tempdir().expect("a folder");
    let profiles: Vec<_> = (0..UPLOADS as u64)
        .map(|seed| (seed, profile_of(2_000, seed)))
        .collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut broken = 0;
    for batch in profiles.chunks(AT_ONCE) {
        let server = Server::start(folder.path(), 3600);
        let address = server.address.clone();
        let uploads: Vec<_> = batch
            .iter()
            .cloned()
            .map(|(seed, bytes)| {
                let address = address.clone();
                std::thread::spawn(move || is(&upload(&address, seed, &bytes), "201"))
            })
            .collect();
        std::thread::sleep(Duration::from_micros(random.next_u64() % 300_000));
        server.kill();
        let done = uploads.into_iter().map(|it| it.join().expect("it ends"));
        broken += done.filter(|done| !done).count();
    }
    assert!(
        broken > UPLOADS / 50,
        "only {broken} uploads were broken off (seed {SEED})"
    );
    let server = Server::start(folder.path(), 3600);
    check(&server.address);
    for (seed, bytes) in &profiles {
        let answer = upload(&server.address, *seed, bytes);
        assert!(is(&answer, "201") || is(&answer, "200"), "a retry fails");
    }
    assert_eq!(check(&server.address), UPLOADS);
    server.kill();
    // The sweep of a start takes what the kills left.
    let server = Server::start(folder.path(), 0);
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while !leftovers(folder.path()).is_empty() && std::time::Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(leftovers(folder.path()), Vec::<String>::new());
    assert_eq!(check(&server.address), UPLOADS);
    server.kill();
}

/// Half-written files, claims, parts and what was being deleted.
fn leftovers(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            // The sweep takes empty folders away while they are looked through.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => panic!("{}: {error}", folder.display()),
        };
        for entry in entries.flatten() {
            let path = entry.path();
            let name = path.to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else {
                let marks = ["#", "/claims/", "/parts/", "/trash/"];
                found.extend(marks.iter().any(|it| name.contains(it)).then_some(name));
            }
        }
    }
    found
}
