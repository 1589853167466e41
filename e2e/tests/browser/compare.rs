//! Two profiles: differences as the command line prints them, a map, and one cursor.

use e2e::stack::{Stack, demo, detailed, expect_copied, expect_output};
use e2e::viewer::Viewer;
use serde_json::Value;

use crate::copies;

#[tokio::test(flavor = "multi_thread")]
async fn differences_are_those_of_the_command_line() {
    let [exact, slower] = detailed();
    let words = [
        "profile-diff",
        exact.to_str().expect("UTF-8"),
        slower.to_str().expect("UTF-8"),
    ];
    let flags = ["--limit", "0", "--json"];
    let printed: Value = serde_json::from_str(&expect_output(&[&words[..], &flags].concat()))
        .expect("it prints JSON");
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(slower).await;
    viewer.press("show-compare").await;
    assert!(
        viewer
            .text("compare-hint")
            .await
            .contains("Drop a profile here")
    );
    viewer
        .choose_files("[data-testid=other-input]", &[exact])
        .await;
    viewer
        .wait("document.querySelector('[data-testid=differences]')?.dataset.state === 'ready'")
        .await;
    viewer.settled().await;
    for (pairs, name) in [
        ("kernel", "kernels"),
        ("phase", "phases"),
        ("tile", "tiles"),
    ] {
        viewer.choose("pairs", pairs).await;
        let rows = viewer.list("compare-table").await;
        let changes = printed[name]["changes"].as_array().expect("changes");
        assert_eq!(rows.len(), changes.len().min(100), "{pairs}");
        for (row, change) in rows.iter().zip(changes) {
            assert_eq!(
                row["name"].text,
                change["name"].as_str().expect("a name"),
                "{change}"
            );
            assert_eq!(
                row["change"].raw,
                change["changeCycles"].to_string(),
                "{change}"
            );
        }
    }
    viewer
        .wait("document.querySelector('[data-testid=other-timeline]').dataset.state === 'drawn'")
        .await;
    let (ink, all) = viewer.ink("other-timeline").await;
    assert!(
        ink * 20 > all,
        "the other profile is drawn: {ink} of {all} pixels"
    );
    let (ink, _) = viewer.ink("change-map").await;
    assert!(ink > 0, "the map of change is drawn");
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_opens_both_and_one_cursor_is_on_both_timelines() {
    let [exact, slower] = detailed();
    let stack = Stack::start().await;
    let (before, after) = (stack.upload(exact).await, stack.upload(slower).await);
    // As continuous integration writes it: the base's whole link, not encoded.
    let base = stack.url(&format!("/a/{before}"));
    let link = format!("/a/{after}#view=compare&compare={base}");
    let mut viewer = Viewer::at(&stack.url(&link)).await;
    viewer
        .wait("document.querySelector('[data-testid=differences]')?.dataset.state === 'ready'")
        .await;
    viewer.settled().await;
    viewer
        .wait("document.querySelector('[data-testid=other-timeline]').dataset.state === 'drawn'")
        .await;
    let (x, y) = viewer.middle("[data-testid=other-timeline]").await;
    let still = viewer.ink("other-timeline").await;
    let (cx, cy, width, height) = viewer.canvas().await;
    viewer.hover(cx + width * 0.5, cy + height * 0.5).await;
    let changed = format!(
        "(() => {{ const it = document.querySelector('[data-testid=other-timeline] canvas'); \
         const copy = new OffscreenCanvas(it.width, it.height); \
         const ink = copy.getContext('2d'); ink.drawImage(it, 0, 0); \
         const data = new Uint32Array(ink.getImageData(0, 0, it.width, it.height).data.buffer); \
         const counts = new Map(); \
         for (const pixel of data) counts.set(pixel, (counts.get(pixel) ?? 0) + 1); \
         return data.length - Math.max(...counts.values()) !== {}; }})()",
        still.0
    );
    viewer.wait(&changed).await;
    viewer.hover(x, y).await;
    assert!(viewer.address().await.contains("&compare="));
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_compared_is_refused_in_words_until_somebody_insists() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    viewer.press("show-compare").await;
    viewer
        .choose_files("[data-testid=other-input]", &[&detailed()[0]])
        .await;
    viewer
        .wait("document.querySelector('[data-testid=compare-refusal]')")
        .await;
    let refusal = viewer.text("compare-refusal").await;
    assert!(refusal.contains("granularity"), "{refusal}");
    let can_copy = "!document.querySelector('[data-testid=compare-answer]').disabled";
    let can: bool = viewer.eval(can_copy).await;
    assert!(!can, "there is no answer to copy");
    let commands: u32 = viewer
        .eval("document.querySelectorAll('[data-testid=compare-command]').length")
        .await;
    assert_eq!(commands, 0, "and no command that prints one");
    viewer.press("compare-force").await;
    viewer
        .wait("document.querySelector('[data-testid=compare-table] tbody tr')")
        .await;
    let warnings = viewer.text("differences").await;
    assert!(
        warnings.contains("granularity"),
        "the warning stays: {warnings}"
    );
    viewer.wait(can_copy).await;
    viewer.watch_clipboard().await;
    let (json, command) = copies::answer(&mut viewer, "compare").await;
    let files = [demo().profile.as_path(), detailed()[0].as_path()];
    assert_eq!(expect_copied(&command, &files), json, "{command}");
    viewer.assert_quiet().await;
}
