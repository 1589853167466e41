//! What is copied: commands that run and print what the page copies as JSON, and a button that says
//! "Copied" of nothing but what is on the clipboard.

use std::path::{Path, PathBuf};
use std::process::Command;

use e2e::ranges::RangeHost;
use e2e::stack::{Stack, demo, detailed, expect_output, target_folder};
use e2e::viewer::Viewer;

/// An empty folder.
fn folder(name: &str) -> PathBuf {
    let path = target_folder("e2e/commands").join(name);
    let _none = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("the folder is made");
    path
}

/// The words of each command of a line, as a shell takes them apart.
fn taken_apart(line: &str) -> Vec<Vec<String>> {
    let script = format!("ipu-stack() {{ printf '%s\\0' \"$@\"; printf '\\n'; }}\n{line}");
    let output = Command::new("bash").args(["-c", &script]).output();
    let output = output.expect("there is a shell");
    assert!(output.status.success(), "{line}: {output:?}");
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    let words = |line: &str| line.split_terminator('\0').map(str::to_owned).collect();
    printed.lines().map(words).collect()
}

/// Runs a copied line as if pasted in `folder`, and gives what its last command prints.
fn pasted(line: &str, folder: &Path) -> String {
    let mut printed = String::new();
    for words in taken_apart(line) {
        let is_file = |word: &&str| word.ends_with(".ipuprofile") && !word.contains("://");
        let there = words
            .iter()
            .map(|word| match Some(word.as_str()).filter(is_file) {
                Some(file) => folder.join(file).to_str().expect("UTF-8").to_owned(),
                None => word.clone(),
            });
        let words: Vec<String> = there.collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        // A shell joins what they print.
        printed.push_str(&expect_output(&words));
    }
    printed
}

/// Copies the table as JSON and as a command: both say the same, in the order of the page.
async fn agrees(viewer: &mut Viewer, folder: &Path) -> String {
    viewer.choose("group-by", "operation").await;
    viewer.choose("kind", "all").await;
    viewer.choose("clock", "shared").await;
    viewer.press("sort-p95Cycles").await;
    viewer.watch_clipboard().await;
    viewer.press("copy-json").await;
    let json = viewer.copied(0).await;
    viewer.press("copy-command").await;
    let command = viewer.copied(1).await;
    for id in ["copy-json", "copy-command"] {
        says(viewer, id, "Copied").await;
    }
    assert!(json.contains("\"sortBy\": \"p95-cycles\""), "{json}");
    assert_eq!(pasted(&command, folder), json, "{command}");
    command
}

/// Waits until a button says something.
async fn says(viewer: &mut Viewer, id: &str, text: &str) {
    let said = format!("document.querySelector('[data-testid={id}]').innerText === '{text}'");
    viewer.wait(&said).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_of_a_file_runs_where_the_file_is() {
    let folder = folder("file");
    let file = folder.join("-it's the demo.ipuprofile");
    std::fs::copy(&demo().profile, &file).expect("the file is copied");
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&file).await;
    let command = agrees(&mut viewer, &folder).await;
    assert!(!command.contains("fetch"), "{command}");
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_of_a_link_fetches_the_artifact_first() {
    let folder = folder("link");
    let stack = Stack::start().await;
    let id = stack.upload(&demo().profile).await;
    let link = stack.url(&format!("/a/{id}"));
    let mut viewer = Viewer::at(&link).await;
    viewer.settled().await;
    let command = agrees(&mut viewer, &folder).await;
    assert!(
        command.starts_with(&format!("ipu-stack fetch {link} -o ")),
        "{command}"
    );
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_of_an_address_fetches_the_file_first() {
    let folder = folder("address");
    let stack = Stack::start().await;
    let host = RangeHost::start(demo().profile.clone()).await;
    let mut viewer = Viewer::at(&stack.url(&format!("/?url={}?a=1%26b", host.url()))).await;
    viewer.settled().await;
    let command = agrees(&mut viewer, &folder).await;
    assert!(
        command.contains("?a=1&b' -o file.ipuprofile && "),
        "{command}"
    );
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_panels_fetch_both_profiles() {
    let folder = folder("both");
    let [exact, slower] = detailed();
    let stack = Stack::start().await;
    let (before, after) = (stack.upload(exact).await, stack.upload(slower).await);
    let link = format!("/a/{after}#view=compare&compare=/a/{before}");
    let mut viewer = Viewer::at(&stack.url(&link)).await;
    viewer
        .wait("document.querySelector('[data-testid=differences]')?.dataset.state === 'ready'")
        .await;
    viewer.settled().await;
    viewer.watch_clipboard().await;
    viewer.press("compare-answer").await;
    let json = viewer.copied(0).await;
    viewer.press("compare-command").await;
    let command = viewer.copied(1).await;
    assert_eq!(taken_apart(&command).len(), 3, "{command}");
    assert_eq!(pasted(&command, &folder), json, "{command}");
    viewer.press("show-phases").await;
    viewer.press("phases-command").await;
    let command = viewer.copied(2).await;
    assert_eq!(taken_apart(&command).len(), 2, "{command}");
    let _printed = pasted(&command, &folder);
    viewer.press("barriers-answer").await;
    let json = viewer.copied(3).await;
    viewer.press("barriers-command").await;
    let command = viewer.copied(4).await;
    assert_eq!(pasted(&command, &folder), json, "{command}");
    viewer.assert_quiet().await;
}

/// Replaces the clipboard of the page.
async fn with_clipboard(viewer: &Viewer, clipboard: &str) {
    let _: bool = viewer
        .eval(&format!(
            "(() => {{ Object.defineProperty(navigator, 'clipboard', \
             {{ value: {clipboard}, configurable: true }}); return true; }})()"
        ))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_on_the_clipboard_was_copied() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    // The link names the file once its hash is known.
    viewer.wait("location.hash.includes('sha=')").await;
    // Pages without TLS have no clipboard, but a selection can be copied.
    with_clipboard(&viewer, "undefined").await;
    let _: bool = viewer
        .eval(
            "(() => { window.copied = []; document.addEventListener('copy', () => \
             copied.push(document.activeElement.value)); return true; })()",
        )
        .await;
    viewer.press("copy-link").await;
    says(&mut viewer, "copy-link", "Copied").await;
    assert_eq!(viewer.copied(0).await, viewer.address().await);
    viewer.press("copy-json").await;
    says(&mut viewer, "copy-json", "Copied").await;
    assert!(viewer.copied(1).await.starts_with("{\n"), "JSON is copied");
    let fields: u32 = viewer
        .eval("document.querySelectorAll('textarea').length")
        .await;
    assert_eq!(fields, 0, "nothing stays behind");

    let refuse = "() => Promise.reject(new DOMException('no', 'NotAllowedError'))";
    with_clipboard(
        &viewer,
        &format!("{{ write: {refuse}, writeText: {refuse} }}"),
    )
    .await;
    let _: bool = viewer
        .eval("(() => { document.execCommand = () => false; return true; })()")
        .await;
    for id in ["copy-link", "copy-json", "copy-command"] {
        viewer.press(id).await;
        says(&mut viewer, id, "Not copied").await;
    }
    // What another text is to be copied of was not tried yet.
    viewer.press("sort-coverage").await;
    says(&mut viewer, "copy-command", "Copy as command").await;
    says(&mut viewer, "copy-json", "Copy JSON").await;
    says(&mut viewer, "copy-link", "Copy link").await;
    viewer.assert_quiet().await;
}
