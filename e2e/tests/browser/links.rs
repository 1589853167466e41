//! The address holds the view: what was seen is seen again, and history goes back through
//! selections.

use e2e::stack::{Stack, demo, detailed};
use e2e::viewer::Viewer;
use server::store::BlobId;

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

#[tokio::test(flavor = "multi_thread")]
async fn a_link_restores_the_selection_and_its_figures() {
    let stack = Stack::start().await;
    let id = stack.upload(&demo().profile).await;
    let mut viewer = Viewer::at(&stack.url(&format!("/a/{id}"))).await;
    viewer.settled().await;
    let (x, y, width, _) = viewer.canvas().await;
    let at = |part: f64| (x + 44.0 + (width - 44.0) * part, y + 12.0);
    viewer.drag(at(0.3), at(0.5)).await;
    let ready = "document.querySelector('[data-testid=selection]')?.dataset.state === 'ready'";
    viewer.wait(ready).await;
    viewer.wait("location.hash.includes('sel=')").await;
    let figures = viewer.text("selection").await;
    assert!(figures.contains("cycles"), "{figures}");
    let address = viewer.address().await;
    let mut again = Viewer::at(&address).await;
    again.settled().await;
    again.wait(ready).await;
    assert_eq!(again.text("selection").await, figures);
    assert_eq!(again.address().await, address);
    again.assert_quiet().await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_to_a_local_file_asks_for_it_and_shows_its_view() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    viewer.press("zoom-in").await;
    let kernel = viewer.row_names().await.remove(0);
    viewer.press_kernel(&kernel).await;
    let span = viewer.span().await;
    let whole = format!("location.hash.includes('sha=') && location.hash.includes('t={span}')");
    viewer.wait(&whole).await;
    let address = viewer.address().await;
    let sha = BlobId::of(&std::fs::read(&demo().profile).expect("it is read")).to_string();
    assert!(address.contains(&format!("sha={sha}")), "{address}");

    let mut again = Viewer::landing(&address).await;
    let asked = again.text("wanted-file").await;
    assert!(asked.contains(&sha), "{asked}");
    // The view that waits behind this page takes no keys.
    again
        .wait("document.querySelector('.of-profile[hidden]')")
        .await;
    again.key("Escape", "Escape").await;
    again.key("KeyW", "w").await;
    again.open_by_drop(&demo().profile).await;
    assert_eq!(again.span().await, span);
    assert_eq!(again.focused().await, [kernel]);
    again.wait(&whole).await;
    again.assert_quiet().await;

    let mut other = Viewer::landing(&address).await;
    other.open_by_drop(&detailed()[0]).await;
    other
        .wait("document.querySelector('[data-testid=other-file]')")
        .await;
    other.assert_quiet().await;
    viewer.assert_quiet().await;
}
