//! Sharing: a view is published through a real upload, and opened again by whoever has the link.

use e2e::stack::{Stack, demo, expect_output, target_folder};
use e2e::viewer::Viewer;

use crate::table::assert_same_as_command_line;

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

/// Names in the list of the server.
const LISTED: &str = "[...document.querySelectorAll('[data-testid=shared-file]')] \
    .map((it) => it.innerText)";

/// Waits until the server's list is what was asked for, and gives its names.
async fn listed(viewer: &mut Viewer, count: usize) -> Vec<String> {
    let shown = format!(
        "document.querySelector('[data-testid=shared]')?.dataset.state === 'ready' && \
         document.querySelectorAll('[data-testid=shared-file]').length === {count}"
    );
    viewer.wait(&shown).await;
    viewer.eval(LISTED).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_page_lists_what_its_server_publishes() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    assert!(listed(&mut viewer, 0).await.is_empty(), "nothing yet");
    let [profile, package] =
        [&demo().profile, &demo().package].map(|it| it.to_str().expect("the path is UTF-8"));
    let server = stack.url("");
    let publish = |file: &str, title: &str, visible: &[&str]| {
        let words = ["publish", file, "--to", &server, "--title", title];
        let _said = expect_output(&[&words[..], visible].concat());
    };
    for number in 0..11 {
        publish(profile, &format!("run {number}"), &[]);
    }
    publish(profile, "of nobody else", &["--private"]);
    publish(package, "", &[]);
    let page = target_folder("e2e/share").join("page.html");
    let page = page.to_str().expect("the path is UTF-8");
    let _said = expect_output(&["profile-render", profile, "-o", page]);
    publish(page, "a page", &[]);

    viewer.goto(&stack.url("/")).await;
    let first = listed(&mut viewer, 10).await;
    assert_eq!(first[1], "gemm-projections", "called by what was compiled");
    assert_eq!(first[0], "a page", "the newest first");
    assert_eq!(first[2..4], ["run 10", "run 9"]);
    // A rendered page is no profile to this one.
    let href = "document.querySelector('[data-testid=shared-file]').href";
    let link: String = viewer.eval(href).await;
    assert!(link.ends_with("/content"), "{link}");
    viewer.click("[data-testid=shared-more]").await;
    let all = listed(&mut viewer, 13).await;
    assert_eq!(all[..10], first);
    assert_eq!(all[10..], ["run 2", "run 1", "run 0"]);
    viewer
        .wait("document.querySelector('[data-testid=shared-more]').hidden")
        .await;
    viewer.click("[data-testid=shared-find]").await;
    viewer.type_text("gemm run 7").await;
    assert_eq!(listed(&mut viewer, 1).await, ["run 7"]);
    viewer.click("[data-testid=shared-file]").await;
    viewer.settled().await;
    let address = viewer.address().await;
    assert!(address.contains("/a/"), "{address}");
    assert_same_as_command_line(&viewer, profile).await;
    viewer.assert_quiet().await;
}
