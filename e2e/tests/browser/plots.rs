//! Charts, kept as SVG, PNG and data.

use e2e::stack::{Stack, demo, expect_output};
use e2e::viewer::Viewer;
use serde_json::Value;

#[tokio::test(flavor = "multi_thread")]
async fn every_chart_is_drawn_and_kept_with_its_data() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    viewer.press("show-plots").await;
    viewer.watch_saving().await;
    for plot in [
        "durations",
        "cumulative",
        "roofline",
        "phases",
        "tiles",
        "kernel-work",
    ] {
        viewer.choose("plot", plot).await;
        viewer
            .wait("document.querySelector('[data-testid=chart] svg')")
            .await;
        let said: String = viewer
            .eval("document.querySelector('[data-testid=chart]').ariaLabel")
            .await;
        assert!(
            said.contains(": ") && said.split(": ").nth(1).is_some_and(|it| it.len() > 20),
            "{plot} has its main figures: {said}"
        );
        viewer.press("plot-svg").await;
        let (media, svg) = viewer.saved(&format!("{plot}.svg")).await;
        assert_eq!(media, "image/svg+xml");
        assert!(
            svg.contains("<svg") && svg.matches('<').count() > 10,
            "{plot}: {svg}"
        );
        viewer.press("plot-png").await;
        let (_, length) = viewer.saved(&format!("{plot}.png")).await;
        assert!(
            length.parse::<u32>().expect("a length") > 2_000,
            "{plot}: {length} bytes"
        );
        viewer.press("plot-csv").await;
        let (_, csv) = viewer.saved(&format!("{plot}.csv")).await;
        assert!(csv.lines().count() > 1, "{plot}: {csv}");
        viewer.press("plot-json").await;
        let (_, json) = viewer.saved(&format!("{plot}.json")).await;
        let _: Value = serde_json::from_str(&json).expect("JSON");
    }
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_restores_the_chart_and_its_data_is_the_command_lines() {
    let profile = demo().profile.to_str().expect("a plain path");
    let words = [
        "profile-query",
        profile,
        "--kind",
        "compute",
        "--group-by",
        "kernel",
        "--limit",
        "0",
        "--json",
    ];
    let printed: Value = serde_json::from_str(&expect_output(&words)).expect("JSON");
    let stack = Stack::start().await;
    let id = stack.upload(&demo().profile).await;
    let mut viewer = Viewer::at(&stack.url(&format!("/a/{id}#v=1&view=plots&plot=roofline"))).await;
    viewer.settled().await;
    viewer.watch_clipboard().await;
    viewer.press("plot-copy").await;
    let copied: Value = serde_json::from_str(&viewer.copied(0).await).expect("JSON");
    assert_eq!(copied["groups"], printed["groups"]);
    viewer.assert_quiet().await;
}
