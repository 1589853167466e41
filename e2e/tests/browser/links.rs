//! The address holds the view: what was seen is seen again, and history goes back through
//! selections.

use e2e::stack::{Stack, demo};
use e2e::viewer::Viewer;

#[tokio::test(flavor = "multi_thread")]
async fn a_link_restores_focus_and_zoom() {
    let stack = Stack::start().await;
    let id = stack.upload(&demo().profile).await;
    let mut viewer = Viewer::at(&stack.url(&format!("/a/{id}"))).await;
    viewer.settled().await;
    let whole = viewer.span().await;
    viewer.press("zoom-in").await;
    viewer.press("zoom-in").await;
    let kernel = viewer.row_names().await.remove(0);
    viewer.press_kernel(&kernel).await;
    let span = viewer.span().await;
    assert_ne!(span, whole);
    // Zooming reaches the address after a rest.
    viewer
        .wait(&format!("location.hash.includes('t={span}')"))
        .await;
    let (address, pixels) = (viewer.address().await, viewer.pixels().await);
    viewer.assert_quiet().await;

    let mut again = Viewer::at(&address).await;
    again.settled().await;
    assert_eq!(again.span().await, span);
    assert_eq!(again.focused().await, [kernel]);
    assert_eq!(again.pixels().await, pixels, "the link shows what was seen");
    again.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn going_back_undoes_a_selection_and_forward_does_it_again() {
    let stack = Stack::start().await;
    let id = stack.upload(&demo().profile).await;
    let mut viewer = Viewer::at(&stack.url(&format!("/a/{id}"))).await;
    viewer.settled().await;
    let kernel = viewer.row_names().await.remove(0);
    viewer.press_kernel(&kernel).await;
    let pressed =
        "document.querySelectorAll('[data-testid=kernel-row] [aria-pressed=true]').length";
    let _gone: serde_json::Value = viewer.eval("history.back()").await;
    viewer.wait(&format!("{pressed} === 0")).await;
    let _came: serde_json::Value = viewer.eval("history.forward()").await;
    viewer.wait(&format!("{pressed} === 1")).await;
    assert_eq!(viewer.focused().await, [kernel]);
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_keys_and_versions_still_open_the_profile() {
    let stack = Stack::start().await;
    let id = stack.upload(&demo().profile).await;
    for fragment in [
        "v=1&colour=red",
        "v=99&t=1-2&kernel=%ff",
        "kernel=none&t=9-3&tiles=x",
    ] {
        let mut viewer = Viewer::at(&stack.url(&format!("/a/{id}#{fragment}"))).await;
        viewer.settled().await;
        assert!(!viewer.rows().await.is_empty(), "{fragment}");
        viewer.assert_quiet().await;
    }
}
