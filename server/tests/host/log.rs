//! The log of a server: as much as was asked for, one JSON object a line.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

/// Lines that a server logs at `level` until it has swept.
fn lines(level: &str) -> Vec<serde_json::Value> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut server = Command::new(env!("CARGO_BIN_EXE_ipu-stack"))
        .args([
            "serve",
            "--port",
            "0",
            "--log",
            level,
            "--log-format",
            "json",
        ])
        .arg("--store")
        .arg(folder.path())
        .env_remove("IPU_LOG")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the server starts");
    let output = BufReader::new(server.stderr.take().expect("it is piped"));
    let mut found = Vec::new();
    for line in output.lines() {
        let line = line.expect("text");
        let value: serde_json::Value = serde_json::from_str(&line).expect("one object a line");
        let is_last = line.contains("swept");
        found.push(value);
        if is_last {
            break;
        }
    }
    server.kill().expect("it runs");
    server.wait().expect("it is gone");
    found
}

#[test]
fn the_log_says_as_much_as_was_asked_for() {
    let info = lines("info");
    assert!(
        info.iter().any(|it| it["fields"]["message"] == "swept"),
        "{info:?}"
    );
    for line in &info {
        let level = line["level"].as_str().expect("a level");
        assert!(["INFO", "WARN", "ERROR"].contains(&level), "{line}");
    }
}
