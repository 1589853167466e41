//! Barriers and the critical path: for whom the tiles waited, and the way there.

use e2e::stack::{Stack, demo, expect_output};
use e2e::viewer::Viewer;
use serde_json::Value;

fn printed() -> Value {
    let profile = demo().profile.to_str().expect("a plain path");
    let words = ["profile-critical-path", profile, "--limit", "0", "--json"];
    serde_json::from_str(&expect_output(&words)).expect("it prints JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn phases_are_those_of_the_command_line_and_a_press_goes_there() {
    let path = printed();
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    viewer.press("show-phases").await;
    let stretches = path["stretches"].as_array().expect("stretches");
    let rows = viewer.list("phase-table").await;
    assert_eq!(rows.len(), stretches.len().min(100));
    for (row, stretch) in rows.iter().zip(stretches) {
        let number = |name: &str| stretch[name].to_string();
        assert_eq!(row["start"].raw, number("start"), "{stretch}");
        assert_eq!(row["waiting"].raw, number("slackCycles"), "{stretch}");
        assert_eq!(row["straggler"].raw, number("straggler"), "{stretch}");
        assert_eq!(
            row["savedIfBalanced"].raw,
            number("savedIfBalancedCycles"),
            "{stretch}"
        );
    }
    let kernels = viewer.list("path-table").await;
    assert_eq!(
        kernels.len(),
        path["kernels"].as_array().expect("kernels").len()
    );
    let (ink, all) = viewer.ink("waterfall").await;
    assert!(
        ink * 20 > all,
        "the waterfall is drawn: {ink} of {all} pixels"
    );
    let before = viewer.span().await;
    viewer
        .click("[data-testid=phase-table] tbody tr:nth-child(2) button")
        .await;
    viewer
        .wait(&format!(
            "document.querySelector('[data-testid=timeline]').dataset.span !== '{before}'"
        ))
        .await;
    viewer.settled().await;
    let (from, to) = (stretches[1]["start"].as_u64(), stretches[1]["end"].as_u64());
    let span = viewer.span().await;
    let (left, right) = span.split_once('-').expect("from-to");
    let (left, right): (u64, u64) = (left.parse().expect("from"), right.parse().expect("to"));
    assert!(
        Some(left) <= from && to <= Some(right),
        "{span} holds {from:?}..{to:?}"
    );
    assert!(viewer.address().await.contains("view=phases"));
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_part_of_the_link_and_the_answer_is_copied_as_printed() {
    let stack = Stack::start().await;
    let id = stack.upload(&demo().profile).await;
    let mut viewer =
        Viewer::at(&stack.url(&format!("/a/{id}#v=1&view=phases&order=waiting"))).await;
    viewer.settled().await;
    let waiting: Vec<u64> = viewer
        .list("phase-table")
        .await
        .iter()
        .map(|row| row["waiting"].raw.parse().expect("a number"))
        .collect();
    assert!(waiting.is_sorted_by(|a, b| a >= b), "{waiting:?}");
    viewer.watch_clipboard().await;
    viewer.press("phases-answer").await;
    let copied: Value = serde_json::from_str(&viewer.copied(0).await).expect("JSON");
    assert_eq!(copied, printed());
    viewer.press("phases-command").await;
    let command = viewer.copied(1).await;
    assert!(command.contains("profile-critical-path"), "{command}");
    viewer.press("phase-table-csv").await;
    let csv = viewer.copied(2).await;
    assert!(csv.starts_with("phase,start,cycles,"), "{csv}");
    viewer.assert_quiet().await;
}
