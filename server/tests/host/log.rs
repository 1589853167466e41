//! The log of a server: as much as was asked for, one JSON object a line, each with the request
//! that it is about, and without the names of what is private.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Stdio};

use serde_json::Value;

use crate::support::{address_of, profile, sha};

/// The report of a damaged record has the id of the request at every level.
#[test]
fn a_failure_is_found_by_its_request_where_only_failures_are_logged() {
    let mut server = Logging::start("error");
    let bytes = profile(2);
    let path = format!("PUT /api/artifacts/{}", sha(&bytes));
    let made = server.ask(&path, "put", &bytes);
    let body = made.split("\r\n\r\n").nth(1).expect("a body");
    let made: Value = serde_json::from_str(body).expect("JSON");
    let id = made["id"].as_str().expect("an id");
    let record = server.folder.path().join("publications").join(id);
    std::fs::write(record, "{").expect("it is there");
    server.ask(&format!("GET /api/publications/{id}"), "get-7", &[]);
    let lines = server.until("damaged");
    let [line] = &lines[..] else {
        panic!("{lines:?}");
    };
    assert_eq!(line["span"]["request_id"], "get-7", "{line}");
}

/// A server that logs at a level, and what it logs.
struct Logging {
    process: Child,
    lines: std::io::Lines<BufReader<ChildStderr>>,
    address: String,
    folder: tempfile::TempDir,
}

impl Logging {
    fn start(level: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut process = Command::new(env!("CARGO_BIN_EXE_ipu-stack"))
            .args(["serve", "--port", "0", "--log", level])
            .args(["--log-format", "json", "--store"])
            .arg(folder.path())
            .env_remove("IPU_LOG")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let address = address_of(&mut process);
        let output = process.stderr.take().expect("it is piped");
        Self {
            process,
            lines: BufReader::new(output).lines(),
            address,
            folder,
        }
    }

    /// What is logged until a line says so.
    fn until(&mut self, word: &str) -> Vec<Value> {
        let mut found = Vec::new();
        for line in &mut self.lines {
            let line = line.expect("text");
            let value = serde_json::from_str(&line).expect("one object a line");
            found.push(value);
            if line.contains(word) {
                break;
            }
        }
        found
    }

    /// The answer to a request under this id.
    fn ask(&self, request: &str, id: &str, body: &[u8]) -> String {
        let mut socket = TcpStream::connect(&self.address).expect("it listens");
        let head = format!("{request} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n");
        let length = format!(
            "x-request-id: {id}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        socket.write_all(head.as_bytes()).expect("it is sent");
        socket.write_all(length.as_bytes()).expect("it is sent");
        socket.write_all(body).expect("it is sent");
        let mut answer = String::new();
        socket.read_to_string(&mut answer).expect("it is read");
        answer
    }
}

impl Drop for Logging {
    fn drop(&mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it is gone");
    }
}

#[test]
fn the_log_says_as_much_as_was_asked_for() {
    let info = Logging::start("info").until("swept");
    assert!(
        info.iter().any(|it| it["fields"]["message"] == "swept"),
        "{info:?}"
    );
    for line in &info {
        let level = line["level"].as_str().expect("a level");
        assert!(["INFO", "WARN", "ERROR"].contains(&level), "{line}");
    }
}

#[test]
fn every_line_about_a_request_has_its_id_and_none_has_a_private_name() {
    let mut server = Logging::start("debug");
    let mut lines = server.until("swept");
    let bytes = profile(1);
    let sha = sha(&bytes);
    // As long as a name, as the ids of some proxies are.
    let [put, get] = ["0a", "1b"].map(|it| it.repeat(16));
    let path = format!("PUT /api/artifacts/{sha}?visibility=private");
    let made = server.ask(&path, &put, &bytes);
    let body = made.split("\r\n\r\n").nth(1).expect("a body");
    let made: Value = serde_json::from_str(body).expect("JSON");
    let id = made["id"].as_str().expect("an id");
    lines.extend(server.until("answered"));
    let published = lines
        .iter()
        .find(|it| it["fields"]["message"] == "published");
    let published = published.expect("it is logged");
    assert_eq!(published["span"]["request_id"], put.as_str(), "{published}");
    // A damaged record is reported with its key, which is the right to read it.
    let record = server.folder.path().join("publications").join(id);
    std::fs::write(record, "{").expect("it is there");
    let path = format!("GET /api/publications/{id}");
    let failed = server.ask(&path, &get, &[]);
    assert!(failed.starts_with("HTTP/1.1 503"), "{failed}");
    assert!(
        failed.contains(&format!("\"request\":\"{get}\"")),
        "{failed}"
    );
    let told = failed.split("\r\n\r\n").nth(1).expect("a body");
    assert!(
        !told.contains("publications/") && !told.contains(id),
        "{told}"
    );
    lines.extend(server.until("answered"));
    let failed = lines.iter().find(|it| it["level"] == "ERROR");
    let failed = failed.expect("it is logged");
    assert_eq!(failed["span"]["request_id"], get.as_str(), "{failed}");
    assert!(failed.to_string().contains("publications/~"), "{failed}");
    for line in &lines {
        let line = line.to_string();
        assert!(!line.contains(id) && !line.contains(&sha), "{line}");
    }
}
