//! The memory of tiles, from a package, alone and beside its profile.

use e2e::stack::{Stack, demo};
use e2e::viewer::Viewer;

const READY: &str = "document.querySelector('[data-testid=package]')?.dataset.state === 'ready'";

#[tokio::test(flavor = "multi_thread")]
async fn a_package_shows_the_memory_of_its_tiles() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.drop_files(&[&demo().package]).await;
    viewer
        .wait("document.body.dataset.state === 'package'")
        .await;
    viewer.wait(READY).await;
    assert_eq!(viewer.text("package-workload").await, "gemm-projections");
    let tiles = viewer.list("fullest-table").await;
    assert_eq!(tiles.len(), 100, "the rest is a press away");
    let rows = viewer.list("allocation-table").await;
    assert!(!rows.is_empty(), "the fullest tile has allocations");
    let number = |text: &str| text.parse::<u64>().expect("a number");
    for row in &rows {
        let (address, bytes) = (number(&row["address"].raw), number(&row["bytes"].raw));
        assert!(
            (0x4_c000..=0xe_8000 - bytes).contains(&address),
            "{row:?} is in the SRAM"
        );
        let is_interleaved = row["class"].text == "interleaved";
        assert!(!is_interleaved || address >= 0x8_0000, "{row:?}");
    }
    for picture in ["tile-map", "high-water"] {
        let (ink, all) = viewer.ink(picture).await;
        assert!(ink * 50 > all, "{picture} is drawn: {ink} of {all} pixels");
    }
    let other: u32 = viewer
        .eval(
            "+document.querySelector('[data-testid=fullest-table] tbody tr:nth-child(3) button') \
             .innerText.replace(/\\D/g, '')",
        )
        .await;
    viewer
        .click("[data-testid=fullest-table] tbody tr:nth-child(3) button")
        .await;
    viewer
        .wait(&format!(
            "document.querySelector('[data-testid=tile-memory-tile]').innerText === '{other}'"
        ))
        .await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_package_in_a_tab_is_asked_nothing_about_the_profile_in_another() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.drop_files(&[&demo().profile, &demo().package]).await;
    viewer
        .wait("document.querySelectorAll('[data-testid=profile]').length === 2")
        .await;
    viewer.settled().await;
    viewer.press("show-memory").await;
    viewer
        .click("[data-testid=profile]:nth-of-type(2) button")
        .await;
    viewer
        .wait("document.body.dataset.state === 'package'")
        .await;
    viewer.wait(READY).await;
    let panels: u32 = viewer
        .eval("document.querySelectorAll('[data-testid=memory]').length")
        .await;
    assert_eq!(panels, 1, "the package's own");
    viewer
        .click("[data-testid=profile]:nth-of-type(1) button")
        .await;
    viewer.wait("document.body.dataset.state === 'ready'").await;
    viewer.press("show-figures").await;
    viewer.settled().await;
    viewer
        .click("[data-testid=profile]:nth-of-type(2) button")
        .await;
    viewer.wait(READY).await;
    let alarm: bool = viewer
        .eval("document.querySelector('[role=alert]') !== null")
        .await;
    assert!(!alarm, "nothing was asked that a package cannot answer");
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_brings_a_profile_its_package_and_a_tile() {
    let stack = Stack::start().await;
    let (profile, package) = (
        stack.upload(&demo().profile).await,
        stack.upload(&demo().package).await,
    );
    let link = format!("/a/{profile}#v=1&view=memory&package=%2Fa%2F{package}&tile=70");
    let mut viewer = Viewer::at(&stack.url(&link)).await;
    viewer.wait(READY).await;
    assert_eq!(viewer.text("tile-memory-tile").await, "70");
    viewer.settled().await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_package_is_refused_in_words() {
    let whole = std::fs::read(&demo().package).expect("the package is read");
    let path = e2e::stack::target_folder("e2e/memory").join("cut.ipuexe");
    std::fs::write(&path, &whole[..whole.len() / 2]).expect("the file is written");
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.drop_files(&[&path]).await;
    let failure = viewer.failure().await;
    assert_eq!(failure.cause, "corrupt");
    assert!(
        failure.message.contains("no whole package"),
        "{}",
        failure.message
    );
    viewer.assert_quiet().await;
}
