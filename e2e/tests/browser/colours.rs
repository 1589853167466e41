//! Colours of the timeline, the shares of a focus, the field that finds rows, and the JSON.

use e2e::stack::{Stack, demo, expect_output};
use e2e::viewer::Viewer;
use serde_json::Value;

#[tokio::test(flavor = "multi_thread")]
async fn every_colouring_is_a_picture_of_its_own_and_part_of_the_link() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    let mut pictures = vec![viewer.pixels().await];
    for colour in ["kind", "operation", "efficiency"] {
        viewer.choose("colour", colour).await;
        assert!(viewer.address().await.contains(&format!("colour={colour}")));
        let picture = viewer.pixels().await;
        assert!(!pictures.contains(&picture), "{colour} looks like another");
        pictures.push(picture);
    }
    assert!(viewer.text("legend").await.contains("no estimate"));
    viewer.choose("colour", "kernel").await;
    assert_eq!(viewer.pixels().await, pictures[0]);
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_finds_rows_and_the_json_is_the_command_lines() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    let all = viewer.row_names().await;
    viewer.key("Slash", "/").await;
    viewer
        .wait("document.activeElement?.dataset.testid === 'find'")
        .await;
    let _: bool = viewer
        .eval(
            "(() => { const it = document.querySelector('[data-testid=find]'); \
             it.value = 'GEMM'; it.dispatchEvent(new Event('input', { bubbles: true })); \
             return true; })()",
        )
        .await;
    viewer
        .wait("document.querySelector('[data-testid=found]')")
        .await;
    let holds = |name: &&String| name.to_lowercase().contains("gemm");
    let expected: Vec<String> = all.iter().filter(holds).cloned().collect();
    assert!(
        !expected.is_empty() && expected.len() < all.len(),
        "the demo has gemm kernels and others: {all:?}"
    );
    assert_eq!(viewer.row_names().await, expected);
    assert_eq!(
        viewer.text("found").await,
        format!("{} of {} rows", expected.len(), all.len())
    );
    viewer.watch_clipboard().await;
    viewer.press("copy-json").await;
    let copied = viewer.copied(0).await;
    let words = [
        "profile-query",
        demo().profile.to_str().expect("a plain path"),
        "--group-by",
        "kernel",
        "--kind",
        "compute",
        "--sort-by",
        "work-cycles",
        "--limit",
        "0",
        "--json",
    ];
    let printed: Value = serde_json::from_str(&expect_output(&words)).expect("it prints JSON");
    let copied: Value = serde_json::from_str(&copied).expect("the page copies JSON");
    assert_eq!(copied, printed);
    viewer.assert_quiet().await;
}
