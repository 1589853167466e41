//! Files that are no profiles, or damaged ones: a banner that names the cause, never a blank page.

use std::path::PathBuf;

use e2e::stack::{Stack, demo, ipu_stack, target_folder};
use e2e::viewer::{Failure, Viewer};
use server::cli::Status;

/// A file with this content.
fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = target_folder("e2e/bad").join(name);
    std::fs::write(&path, bytes).expect("the file is written");
    path
}

/// What the page says about a file, which must also be usable afterwards.
async fn refused(name: &str, bytes: &[u8]) -> Failure {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.drop_files(&[&file(name, bytes)]).await;
    let failure = viewer.failure().await;
    viewer.open_by_drop(&demo().profile).await;
    assert_eq!(
        viewer.text("error-banner").await,
        "",
        "the banner goes with the failure"
    );
    viewer.assert_quiet().await;
    failure
}

fn demo_bytes() -> Vec<u8> {
    std::fs::read(&demo().profile).expect("the demo's profile is read")
}

/// The demo's package with one exchange a cycle longer than it says: the run ends there.
fn broken_run() -> (PathBuf, String) {
    let folder = target_folder("e2e/broken");
    let bytes = std::fs::read(&demo().package).expect("the package is read");
    let mut package = runtime::package::read(&bytes).expect("it is one");
    let last = package.exchanges.last_mut().expect("an exchange");
    last.event_cycles += 1;
    let (from, to) = (
        folder.join("broken.ipuexe"),
        folder.join("broken.ipuprofile"),
    );
    let bytes = runtime::package::write(&package).expect("it is well formed");
    std::fs::write(&from, bytes).expect("it is written");
    let words = [
        "run",
        from.to_str().expect("UTF-8"),
        "-o",
        to.to_str().expect("UTF-8"),
    ];
    let ended = ipu_stack(&words);
    assert_eq!(ended.status, Status::UserError, "{}", ended.stderr);
    (to, ended.stderr)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_a_fault_ended_shows_what_ran_and_names_the_fault() {
    let (profile, said) = broken_run();
    assert!(
        said.contains("horizon-mismatch") && said.contains("broken.ipuprofile"),
        "{said}"
    );
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&profile).await;
    let badge = viewer.text("badge-fault").await;
    assert!(
        badge.starts_with("fault: horizon-mismatch on tile "),
        "{badge}"
    );
    viewer.press("badge-fault").await;
    let meaning = viewer.text("meaning-fault").await;
    assert!(meaning.contains("the package declares"), "{meaning}");
    let ran = viewer.text("summary-samples").await;
    viewer.open_by_drop(&demo().profile).await;
    assert!(viewer.text("badge-fault").await.is_empty());
    assert_ne!(viewer.text("summary-samples").await, ran, "it broke off");
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_another_type_is_named() {
    let failure = refused("notes.ipuprofile", b"not a profile at all").await;
    assert_eq!(failure.cause, "unknown-type");
    assert!(
        failure.message.contains("not a profile"),
        "{}",
        failure.message
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_compressed_file_is_named() {
    for (name, bytes) in [
        ("p.gz", &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0, 7][..]),
        ("p.zst", &[0x28, 0xb5, 0x2f, 0xfd, 0xff, 0xff]),
    ] {
        let failure = refused(name, bytes).await;
        assert_eq!(failure.cause, "corrupt");
        assert!(
            failure.message.contains("cannot be unpacked"),
            "{}",
            failure.message
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_profile_is_refused_with_the_byte() {
    let mut bytes = demo_bytes();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    let failure = refused("damaged.ipuprofile", &bytes).await;
    assert_eq!(failure.cause, "corrupt");
    assert!(failure.message.contains("at byte "), "{}", failure.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_of_a_newer_format_is_refused_by_its_number() {
    let mut bytes = demo_bytes();
    // The root's second data word starts with the major version.
    bytes[24..26].copy_from_slice(&99_u16.to_le_bytes());
    let failure = refused("newer.ipuprofile", &bytes).await;
    assert_eq!(failure.cause, "version");
    assert!(failure.message.contains("99"), "{}", failure.message);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_profile_is_salvaged_and_says_so() {
    let bytes = demo_bytes();
    let cut = file("cut.ipuprofile", &bytes[..bytes.len() * 3 / 4]);
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&cut).await;
    let badge = viewer.text("badge-truncated").await;
    assert!(!badge.is_empty(), "the page shows that the file is cut");
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_artifact_is_named_without_a_blank_page() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::at(&stack.url(&format!("/a/{}", "0".repeat(64)))).await;
    let failure = viewer.failure().await;
    assert_eq!(failure.cause, "network");
    assert!(failure.message.contains("404"), "{}", failure.message);
    // The browser itself logs a failed load; the page must add nothing to it.
    let problems = viewer.problems().await;
    assert!(
        problems.iter().all(|it| it.contains("status of 404")),
        "{problems:?}"
    );
}

/// Keeps the running workers of a page where a test finds them.
const KEEP_WORKERS: &str = "window.workers = []; window.Worker = class extends Worker { \
    constructor(...words) { super(...words); window.workers.push(this); } \
    terminate() { super.terminate(); window.workers.splice(window.workers.indexOf(this), 1); } };";

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_is_lost_with_its_worker_and_the_page_goes_on() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::blank().await;
    viewer.on_new_page(KEEP_WORKERS).await;
    viewer.goto(&stack.url("/")).await;
    viewer.wait("document.body.dataset.state === 'empty'").await;
    viewer.open_by_drop(&demo().profile).await;
    let _told: bool = viewer
        .eval(
            "[...window.workers].forEach((it) => it.dispatchEvent(new MessageEvent('message', \
             { data: { fatal: 'out of memory' } }))) === undefined",
        )
        .await;
    let failure = viewer.failure().await;
    assert!(failure.message.contains("out of memory"), "{failure:?}");
    viewer.open_by_drop(&demo().profile).await;
    assert_eq!(viewer.text("error-banner").await, "");
    viewer.assert_quiet().await;
}
