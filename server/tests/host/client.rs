//! The command as a client: publish whole and in parts, open, fetch, go on, fail loudly.

use std::path::Path;
use std::process::{Command, Output};

use server::http::{WritePolicy, WriteToken};
use server::store::Store;
use server::{Config, LocalServer, spawn_local};

use crate::support::{profile, profile_of};

async fn server(token: Option<&str>) -> LocalServer {
    let mut config = Config::loopback(Store::in_memory());
    if let Some(token) = token {
        config.writers = WritePolicy::Token(WriteToken::hash(token).expect("a hash"));
    }
    spawn_local(config, 0).await.expect("a port")
}

/// Runs the command beside the server of the test.
async fn stack(words: &[&str], token: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ipu-stack"));
    command.args(words).env_remove("IPU_STACK_TOKEN");
    if let Some(token) = token {
        command.env("IPU_STACK_TOKEN", token);
    }
    let ran = tokio::task::spawn_blocking(move || command.output()).await;
    ran.expect("it ends").expect("the command runs")
}

async fn said(words: &[&str]) -> String {
    let output = stack(words, None).await;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words:?}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a UTF-8 path")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_published_and_fetched_whole_and_in_parts() {
    let server = server(None).await;
    let url = server.url();
    let folder = tempfile::tempdir().expect("a folder");
    let (file, copy) = (
        folder.path().join("p.ipuprofile"),
        folder.path().join("copy"),
    );
    let large = profile_of(11_000_000, 1);
    assert!(
        large.len() > 16 << 20,
        "it goes in parts: {} bytes",
        large.len()
    );
    for bytes in [profile(1), large] {
        std::fs::write(&file, &bytes).expect("a file");
        let words = [
            "publish",
            text(&file),
            "--to",
            &url,
            "--private",
            "--title",
            "a b&c",
        ];
        let answer = said(&words).await;
        let link = answer.lines().next().expect("a link");
        assert!(link.starts_with(&format!("{url}/p/")), "{answer}");
        let about = said(&["open", "--no-browser", link]).await;
        assert!(about.starts_with("a b&c: a profile of "), "{about}");
        said(&["fetch", link, "-o", text(&copy)]).await;
        assert!(std::fs::read(&copy).expect("a file") == bytes);
        // A download that broke off goes on; one of other content is found out, then begun anew.
        let part = folder.path().join("copy.part");
        std::fs::write(&part, &bytes[..bytes.len() / 3]).expect("a file");
        said(&["fetch", link, "-o", text(&copy)]).await;
        assert!(std::fs::read(&copy).expect("a file") == bytes);
        std::fs::write(&part, vec![7; bytes.len() / 3]).expect("a file");
        let wrong = stack(&["fetch", link, "-o", text(&copy)], None).await;
        assert_eq!(wrong.status.code(), Some(1));
        said(&["fetch", link, "-o", text(&copy)]).await;
        let right = answer.trim().rsplit(' ').next().expect("a token");
        said(&["publish", "--to", &url, "--delete", right]).await;
        let gone = stack(&["open", "--no-browser", link], None).await;
        assert_eq!(gone.status.code(), Some(1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_follows_the_link_and_json_has_every_field() {
    let server = server(None).await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("p.ipuprofile");
    std::fs::write(&file, profile(2)).expect("a file");
    let url = server.url();
    let words = [
        "publish",
        text(&file),
        "--to",
        &url,
        "--view",
        "#t=0-5&kind=compute",
        "--json",
    ];
    let answer: serde_json::Value = serde_json::from_str(&said(&words).await).expect("JSON");
    let link = answer["link"].as_str().expect("a link");
    assert!(link.starts_with(&format!("{url}/a/")), "{link}");
    assert!(link.ends_with("#t=0-5&kind=compute"), "{link}");
    assert_eq!(answer["visibility"], "public");
    assert_eq!(answer["deleteToken"].as_str().map(str::len), Some(64));
    let schema =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas/json/publish-1.schema.json");
    let schema = std::fs::read_to_string(schema).expect("the schema is committed");
    let mut schema: serde_json::Value = serde_json::from_str(&schema).expect("JSON");
    schema["additionalProperties"] = false.into();
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    let problems: Vec<String> = schema
        .iter_errors(&answer)
        .map(|it| it.to_string())
        .collect();
    assert!(problems.is_empty(), "{problems:?}");
    said(&["open", "--no-browser", link]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_are_loud_and_in_the_servers_words() {
    let server = server(Some("right")).await;
    let url = server.url();
    let folder = tempfile::tempdir().expect("a folder");
    let (file, page) = (
        folder.path().join("p.ipuprofile"),
        folder.path().join("p.html"),
    );
    std::fs::write(&file, profile(3)).expect("a file");
    std::fs::write(&page, "<html>").expect("a file");
    let publish = ["publish", text(&file), "--to", &url];
    for (words, token, part) in [
        (publish, None, "needs a token"),
        (publish, Some("wrong"), "not the one of this server"),
        (
            ["publish", text(&page), "--to", &url],
            Some("right"),
            "not a profile",
        ),
        (
            ["publish", "/nowhere/x", "--to", &url],
            Some("right"),
            "cannot read the file",
        ),
        (
            ["publish", text(&file), "--to", "nonsense"],
            Some("right"),
            "cannot be reached",
        ),
        (
            ["fetch", "http://h/x", "-o", "x"],
            None,
            "names no artifact",
        ),
    ] {
        let output = stack(&words, token).await;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{words:?}: {errors}");
        assert!(
            errors.starts_with("error: ") && errors.contains(part),
            "{words:?}: {errors}"
        );
        assert_eq!(output.stdout, b"", "{words:?}");
    }
    assert!(stack(&publish, Some("right")).await.status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shared_server_needs_a_token_that_the_command_makes() {
    let folder = tempfile::tempdir().expect("a folder");
    let hash = folder.path().join("token.hash");
    let token = said(&["serve-token", "--hash-file", text(&hash)]).await;
    assert_eq!(token.trim().len(), 64);
    let hash = std::fs::read_to_string(&hash).expect("a file");
    assert!(WriteToken::parse(&hash).is_ok(), "{hash}");
    assert!(!hash.contains(token.trim()));
    let open = stack(&["serve", "--listen", "0.0.0.0", "--port", "0"], None).await;
    let errors = String::from_utf8_lossy(&open.stderr).into_owned();
    assert_eq!(open.status.code(), Some(1));
    assert!(errors.contains("needs a token for writing"), "{errors}");
}
