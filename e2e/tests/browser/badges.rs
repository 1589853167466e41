//! Badges of what to know before trusting the figures: each shows where it is true and nowhere
//! else, and opens to a sentence by mouse and by keyboard.

use std::path::{Path, PathBuf};

use analytics::fixtures::{Layout, RowFile, with_metadata_estimates, without_estimates};
use e2e::stack::{Stack, demo, expect_output, target_folder};
use e2e::viewer::Viewer;

fn plain(path: &Path) -> &str {
    path.to_str().expect("the path is UTF-8")
}

/// A row file with this content.
fn row_file(name: &str, content: &RowFile) -> PathBuf {
    let path = target_folder("e2e/badges").join(name);
    std::fs::write(&path, content.encode(Layout::Whole)).expect("the file is written");
    path
}

async fn opened(stack: &Stack, profile: &Path) -> Viewer {
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(profile).await;
    viewer
}

/// Names of the badges in order.
async fn names(viewer: &Viewer) -> Vec<String> {
    viewer
        .eval(
            "[...document.querySelectorAll('.badge summary')] \
             .map((it) => it.dataset.testid.replace('badge-', ''))",
        )
        .await
}

/// Which meanings can be read.
const READ: &str = "[...document.querySelectorAll('.badge p')].filter((it) => \
    it.checkVisibility() && it.getBoundingClientRect().height > 10) \
    .map((it) => it.dataset.testid).join()";

#[tokio::test(flavor = "multi_thread")]
async fn a_simulated_run_says_so_and_its_badges_open_by_mouse_and_by_keyboard() {
    let stack = Stack::start().await;
    let mut viewer = opened(&stack, &demo().profile).await;
    let usual = ["simulated", "target", "partial-coverage"];
    assert_eq!(names(&viewer).await, usual);
    let read: String = viewer.eval(READ).await;
    assert_eq!(read, "", "all are folded");
    viewer.click("[data-testid=badge-simulated]").await;
    viewer
        .wait(&format!("{READ} === 'meaning-simulated'"))
        .await;
    let meaning = viewer.text("meaning-simulated").await;
    assert!(meaning.contains("not from hardware"), "{meaning}");
    // Looking at another part is no reason to fold it again.
    viewer.press("zoom-in").await;
    let read: String = viewer.eval(READ).await;
    assert_eq!(read, "meaning-simulated");
    let _focused: bool = viewer
        .eval(
            "(() => { document.querySelector('[data-testid=badge-simulated]').focus(); \
             return true; })()",
        )
        .await;
    viewer.press_tab().await;
    viewer
        .wait("document.activeElement.dataset.testid === 'badge-target'")
        .await;
    viewer.press_enter().await;
    viewer.wait(&format!("{READ} === 'meaning-target'")).await;
    viewer.press_enter().await;
    viewer.wait(&format!("{READ} === ''")).await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cropped_is_said_of_the_clock_that_crops() {
    let path = target_folder("e2e/badges").join("skewed.ipuprofile");
    let _said = expect_output(&[
        "run",
        plain(&demo().package),
        "-o",
        plain(&path),
        "--timing-only",
        "--start-skew",
        "700",
    ]);
    let stack = Stack::start().await;
    let mut viewer = opened(&stack, &path).await;
    let without = names(&viewer)
        .await
        .into_iter()
        .filter(|it| it != "cropped");
    let without: Vec<String> = without.collect();
    let said = viewer.text("badge-cropped").await;
    assert!(said.starts_with("cropped by "), "{said}");
    viewer.choose("clock", "shared").await;
    assert_eq!(names(&viewer).await, without);
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn some_tiles_of_a_machine_are_counted() {
    let path = target_folder("e2e/badges").join("some.ipuprofile");
    let profile = plain(&demo().profile);
    let _said = expect_output(&[
        "profile-slice",
        profile,
        "--tiles",
        "0-63",
        "-o",
        plain(&path),
    ]);
    let stack = Stack::start().await;
    let mut viewer = opened(&stack, &path).await;
    assert_eq!(
        viewer.text("badge-missing-tiles").await,
        format!("64 of {} tiles", analytics::text::count(1472))
    );
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn counters_that_wrap_and_estimates_that_lack_are_told_apart_from_some_that_lack() {
    let stack = Stack::start().await;
    let none = row_file("none.capnp", &without_estimates(64, 12));
    let mut viewer = opened(&stack, &none).await;
    let others = ["origin-unknown", "row-format", "cropped", "wrapped"];
    assert_eq!(
        names(&viewer).await,
        [&others[..], &["no-estimates"]].concat()
    );
    assert_eq!(viewer.text("badge-wrapped").await, "counter wraps");
    let some = row_file("some.capnp", &with_metadata_estimates(64, 12));
    viewer.open_by_drop(&some).await;
    viewer
        .wait("document.querySelector('[data-testid=badge-partial-coverage]')")
        .await;
    assert_eq!(
        names(&viewer).await,
        [&others[..], &["partial-coverage"]].concat()
    );
    let share = viewer.text("summary-coverage").await;
    assert!(share.ends_with('%') && share != "0.0 %", "{share}");
    viewer.assert_quiet().await;
}
