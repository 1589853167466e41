//! Sharing: a view is published through a real upload, and opened again by whoever has the link.

use e2e::stack::{Stack, demo, expect_output};
use e2e::viewer::Viewer;

#[tokio::test(flavor = "multi_thread")]
async fn a_view_is_shared_privately_and_seen_again() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.drop_files(&[&demo().profile]).await;
    viewer.settled().await;
    viewer.press("zoom-in").await;
    let kernel = viewer.row_names().await.remove(0);
    viewer.press_kernel(&kernel).await;
    let span = viewer.span().await;
    viewer
        .wait(&format!("location.hash.includes('t={span}')"))
        .await;
    let (address, pixels) = (viewer.address().await, viewer.pixels().await);
    let (_, view) = address.split_once('#').expect("the address holds the view");
    viewer.assert_quiet().await;

    let file = demo().profile.to_str().expect("the path is UTF-8");
    let server = stack.url("");
    let said = expect_output(&[
        "publish",
        file,
        "--to",
        &server,
        "--private",
        "--title",
        "shared",
        "--view",
        view,
    ]);
    let link = said.lines().next().expect("the first line is the link");
    assert!(link.starts_with(&format!("{server}/p/")), "{said}");
    let mut again = Viewer::at(link).await;
    again.settled().await;
    assert_eq!(again.span().await, span);
    assert_eq!(again.focused().await, [kernel]);
    assert_eq!(
        again.pixels().await,
        pixels,
        "the link shows what was shared"
    );
    again.assert_quiet().await;

    let about = expect_output(&["open", "--no-browser", link]);
    assert!(about.starts_with("shared: a profile of "), "{about}");
    let right = said.rsplit(' ').next().expect("the last word").trim();
    let _gone = expect_output(&["publish", "--to", &server, "--delete", right]);
    let refused = e2e::stack::ipu_stack(&["open", "--no-browser", link]);
    assert!(
        refused.stderr.contains("no such publication"),
        "{}",
        refused.stderr
    );
}
