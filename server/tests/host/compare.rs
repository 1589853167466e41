//! Two stored profiles compared over HTTP: the command's own answer, and nothing of private ones.

use std::path::Path;

use axum::http::StatusCode;
use server::Config;
use server::store::Store;

use crate::support::{Host, profile, sha};

const OK: StatusCode = StatusCode::OK;

/// What `profile-diff --json` prints.
fn printed(before: &Path, after: &Path, flags: &[&str]) -> String {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_ipu-stack"))
        .arg("profile-diff")
        .args([before, after])
        .args(flags)
        .arg("--json")
        .output()
        .expect("the command runs");
    assert!(output.status.success(), "{flags:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[tokio::test]
async fn two_profiles_are_compared_as_on_the_command_line() {
    let host = Host::new();
    let folder = tempfile::tempdir().expect("a folder");
    let mut files = Vec::new();
    let mut ids = Vec::new();
    for (seed, visibility) in [(1, "public"), (2, "private")] {
        let bytes = profile(seed);
        let file = folder.path().join(format!("{seed}.ipuprofile"));
        std::fs::write(&file, &bytes).expect("a file");
        files.push(file);
        let name = format!("{}?visibility={visibility}", sha(&bytes));
        let made = host.put(&name, bytes.clone()).await;
        ids.push((sha(&bytes), made.expect(StatusCode::CREATED).field("id")));
    }
    let ((public, before), (private, after)) = (&ids[0], &ids[1]);
    for flags in [
        &[][..],
        &["--limit=0", "--shared-clock"],
        &["--noise=1000", "--clock=tile", "--force"],
    ] {
        let rest: String = flags
            .iter()
            .map(|flag| format!("&{}", flag.trim_start_matches('-')))
            .collect();
        for (first, second) in [(public, after), (before, after)] {
            let path = format!("/api/compare?before={first}&after={second}{rest}");
            let answer = host.get(&path, &[]).await.expect(OK);
            assert_eq!(answer.header("content-type"), "application/json");
            assert_eq!(
                answer.text(),
                printed(&files[0], &files[1], flags),
                "{path}"
            );
        }
    }
    // The hash of a private artifact opens nothing.
    let path = format!("/api/compare?before={public}&after={private}");
    host.get(&path, &[]).await.expect(StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_cannot_be_compared_is_refused_with_the_reason() {
    let (host, path, _) = Host::with_profile().await;
    let id = path.rsplit('/').next().expect("an id");
    let both = format!("before={id}&after={id}");
    for (query, part) in [
        (String::new(), "two profiles are compared"),
        (format!("before={id}"), "add before=ID&after=ID"),
        (format!("{both}&markdown"), "for the command line"),
        (format!("{both}&fail-above=2"), "for the command line"),
        (format!("{both}&colour=red"), "--colour"),
        (format!("{both}&noise=much"), "much"),
        ("before=x&after=y".to_owned(), "32 lower-case hex"),
    ] {
        let answer = host.get(&format!("/api/compare?{query}"), &[]).await;
        let answer = answer.expect(StatusCode::BAD_REQUEST);
        assert!(answer.text().contains(part), "{query}: {}", answer.text());
    }
    let missing = format!("/api/compare?before={id}&after={}", "0".repeat(64));
    host.get(&missing, &[]).await.expect(StatusCode::NOT_FOUND);
}

/// The server answers from a folder, whose files it maps, as from any other store.
#[tokio::test]
async fn a_folder_answers_like_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::local(folder.path()).expect("a store");
    let hosts = [Host::new(), Host::of(Config::loopback(store))];
    let mut answers = Vec::new();
    for host in &hosts {
        for seed in [3, 4] {
            let bytes = profile(seed);
            let made = host.put(&sha(&bytes), bytes).await;
            made.expect(StatusCode::CREATED);
        }
        let [before, after] = [3, 4].map(|seed| sha(&profile(seed)));
        let path = format!("/api/compare?before={before}&after={after}");
        answers.push(host.get(&path, &[]).await.expect(OK).body);
    }
    assert_eq!(answers[0], answers[1]);
    assert!(!answers[0].is_empty());
}
