//! Ways to open a profile beside dropping one: several at once, wrapped, pasted, from the list of
//! recent ones, and not after all.

use std::io::Write as _;
use std::path::PathBuf;

use e2e::hand::Key;
use e2e::ranges::RangeHost;
use e2e::stack::{Stack, demo, detailed, target_folder};
use e2e::viewer::Viewer;
use serde_json::Value;

use crate::overview::profile;
use crate::table::assert_same_as_command_line;

fn demo_profile() -> &'static str {
    demo().profile.to_str().expect("the path is UTF-8")
}

/// A copy of the demo's profile under another name, as `pack` makes it.
fn copy(name: &str, pack: impl Fn(Vec<u8>) -> Vec<u8>) -> PathBuf {
    let file = target_folder("e2e/opening").join(name);
    let bytes = std::fs::read(&demo().profile).expect("the demo's profile is read");
    std::fs::write(&file, pack(bytes)).expect("the copy is written");
    file
}

/// Presses the tab at a position, from 1, and waits until it shows.
async fn show_tab(viewer: &mut Viewer, at: usize, name: &str) {
    let tab = format!("[data-testid=profile]:nth-of-type({at}) button");
    viewer.click(&tab).await;
    let shown =
        format!("document.querySelector('[data-testid=file-name]').innerText.includes('{name}')");
    viewer.wait(&shown).await;
    viewer.settled().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tabs_keep_what_is_open_beside_their_profiles() {
    let stack = Stack::start().await;
    let [exact, slower] = detailed();
    let before = stack.upload(exact).await;
    let beside = format!("view=compare&compare=%2Fa%2F{before}");
    let id = stack.upload(slower).await;
    let mut viewer = Viewer::at(&stack.url(&format!("/a/{id}#v=1&{beside}"))).await;
    let compared = "document.querySelector('[data-testid=differences]')?.dataset.state === 'ready'";
    viewer.wait(compared).await;
    viewer.settled().await;
    let differences = viewer.list("compare-table").await.len();
    assert!(differences > 0);
    let other = copy("other.ipuprofile", |bytes| bytes);
    viewer.drop_files(&[&other]).await;
    viewer
        .wait("document.querySelectorAll('[data-testid=profile]').length === 2")
        .await;
    show_tab(&mut viewer, 2, "other.ipuprofile").await;
    viewer.press("show-compare").await;
    assert!(
        !viewer.text("compare-hint").await.is_empty(),
        "nothing is beside it"
    );
    viewer.press("show-memory").await;
    viewer
        .choose_files("[data-testid=package-input]", &[&demo().package])
        .await;
    let package = "document.querySelector('[data-testid=package]')?.dataset.state === 'ready'";
    viewer.wait(package).await;
    show_tab(&mut viewer, 1, &id.to_string()[..8]).await;
    viewer.wait(compared).await;
    assert_eq!(viewer.list("compare-table").await.len(), differences);
    show_tab(&mut viewer, 2, "other.ipuprofile").await;
    viewer.wait(package).await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_files_open_in_tabs_that_keep_their_views() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    let other = copy("other.ipuprofile", |bytes| bytes);
    viewer.drop_files(&[&demo().profile, &other]).await;
    viewer
        .wait("document.querySelectorAll('[data-testid=profile]').length === 2")
        .await;
    viewer.settled().await;
    let name = viewer.text("file-name").await;
    assert!(
        name.contains("gemm-projections"),
        "the first is shown: {name}"
    );
    let whole = viewer.span().await;
    viewer.press("zoom-in").await;
    let kernel = viewer.row_names().await.remove(0);
    viewer.press_kernel(&kernel).await;
    let span = viewer.span().await;
    viewer
        .click("[data-testid=profile]:nth-of-type(2) button")
        .await;
    viewer
        .wait("document.querySelector('[data-testid=file-name]').innerText === 'other.ipuprofile'")
        .await;
    viewer.settled().await;
    assert_eq!(viewer.span().await, whole);
    assert!(viewer.focused().await.is_empty());
    assert_same_as_command_line(&viewer, demo_profile()).await;
    viewer
        .click("[data-testid=profile]:nth-of-type(1) button")
        .await;
    viewer
        .wait(&format!(
            "document.querySelector('[data-testid=timeline]')?.dataset.span === '{span}'"
        ))
        .await;
    viewer.settled().await;
    assert_eq!(viewer.focused().await, [kernel]);
    viewer
        .click("[data-testid=profile]:nth-of-type(1) .close")
        .await;
    viewer
        .wait("!document.querySelector('[data-testid=profiles]')")
        .await;
    viewer.settled().await;
    assert_eq!(viewer.text("file-name").await, "other.ipuprofile");
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrapped_files_open_as_what_is_inside() {
    let stack = Stack::start().await;
    let gzip = copy("demo.ipuprofile.gz", |bytes| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(&bytes).expect("memory takes all");
        out.finish().expect("memory takes all")
    });
    let zstd = copy("demo.ipuprofile.zst", |bytes| {
        ruzstd::encoding::compress_to_vec(&bytes[..], ruzstd::encoding::CompressionLevel::Fastest)
    });
    for file in [gzip, zstd] {
        let mut viewer = Viewer::landing(&stack.url("/")).await;
        viewer.open_by_drop(&file).await;
        assert_same_as_command_line(&viewer, demo_profile()).await;
        viewer.assert_quiet().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pasted_address_opens() {
    let stack = Stack::start().await;
    let id = stack.upload(&demo().profile).await;
    let artifact = stack.url(&format!("/api/artifacts/{id}"));
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    let _pasted: bool = viewer
        .eval(&format!(
            "(() => {{ const data = new DataTransfer(); data.setData('text/plain', '{artifact}'); \
             return document.body.dispatchEvent(new ClipboardEvent('paste', \
             {{ clipboardData: data, bubbles: true }})); }})()"
        ))
        .await;
    viewer.settled().await;
    assert_same_as_command_line(&viewer, demo_profile()).await;
    viewer
        .wait(&format!("location.pathname === '/a/{id}'"))
        .await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_typed_on_the_first_page_opens() {
    let stack = Stack::start().await;
    let id = stack.upload(&demo().profile).await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.click("[data-testid=url-input]").await;
    let artifact = stack.url(&format!("/api/artifacts/{id}"));
    viewer.type_text(&format!("  {artifact} ")).await;
    viewer.strike(Key::Enter).await;
    viewer.settled().await;
    assert_same_as_command_line(&viewer, demo_profile()).await;
    viewer
        .wait(&format!("location.pathname === '/a/{id}'"))
        .await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn recent_files_open_again_until_they_are_forgotten() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    let listed = "document.querySelector('[data-testid=recent-file]')?.innerText \
        === 'gemm-projections.ipuprofile'";
    // Keeping the file takes the browser a moment; the list is read when the page opens.
    let _kept: bool = viewer
        .eval(
            "(async () => { const count = () => new Promise((done) => { \
             const open = indexedDB.open('ipu-stack'); open.onsuccess = () => { \
             const ask = open.result.transaction('recent').objectStore('recent').count(); \
             ask.onsuccess = () => { open.result.close(); done(ask.result); }; }; }); \
             while (await count() < 1) await new Promise(requestAnimationFrame); return true; })()",
        )
        .await;
    viewer.goto(&stack.url("/")).await;
    viewer.wait(listed).await;
    viewer.click("[data-testid=recent-file]").await;
    viewer.settled().await;
    assert_same_as_command_line(&viewer, demo_profile()).await;
    viewer.goto(&stack.url("/")).await;
    viewer.wait(listed).await;
    viewer.click("[data-testid=recent-switch]").await;
    viewer
        .wait("!document.querySelector('[data-testid=recent-file]')")
        .await;
    viewer.open_by_drop(&demo().profile).await;
    viewer.goto(&stack.url("/")).await;
    viewer
        .wait("document.querySelector('[data-testid=recent]')?.dataset.state === 'false'")
        .await;
    let _frame: f64 = viewer.eval("new Promise(requestAnimationFrame)").await;
    viewer
        .wait("!document.querySelector('[data-testid=recent-file]')")
        .await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn opening_can_be_cancelled() {
    let stack = Stack::start().await;
    let host = RangeHost::holding_after(demo().profile.clone(), 70_000).await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer
        .goto(&stack.url(&format!("/?url={}", host.url())))
        .await;
    // The first bytes are given, the second request waits.
    viewer
        .wait("document.body.dataset.state === 'loading'")
        .await;
    viewer.click("[data-testid=cancel]").await;
    viewer.wait("document.body.dataset.state === 'empty'").await;
    viewer.open_by_drop(&demo().profile).await;
    assert_same_as_command_line(&viewer, demo_profile()).await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn back_to_the_first_page_gives_up_what_is_read_and_forward_opens_it_again() {
    let file = profile(1_500_000);
    let length = std::fs::metadata(&file).expect("the file is there").len();
    let host = RangeHost::holding_after(file, length / 2).await;
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.click("[data-testid=url-input]").await;
    viewer.type_text(host.url()).await;
    viewer.strike(Key::Enter).await;
    viewer
        .wait("document.querySelector('[data-testid=reading]') !== null")
        .await;
    viewer.wait("location.search.startsWith('?url=')").await;
    let _gone: Value = viewer.eval("history.back()").await;
    viewer.wait("document.body.dataset.state === 'empty'").await;
    host.let_go();
    viewer
        .wait("document.querySelector('[data-testid=reading]') === null")
        .await;
    let _back: Value = viewer.eval("history.forward()").await;
    viewer.settled().await;
    let name = viewer.text("file-name").await;
    assert_eq!(name, "file.ipuprofile");
    viewer.assert_quiet().await;
}
