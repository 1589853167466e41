//! The first question of a kernel engineer: which kernel wastes most, and on which tiles.

use std::collections::BTreeMap;

use e2e::stack::{Stack, demo, expect_copied};
use e2e::viewer::Viewer;
use serde_json::Value;

use crate::table::answer_of;

/// What the command line prints for a question about the demo.
fn answer(question: &[&str]) -> Value {
    let profile = demo().profile.to_str().expect("a plain path");
    answer_of(profile, question)
}

/// Names of groups with a figure, as text.
fn figures(answer: &Value, figure: &str) -> Vec<(String, String)> {
    let groups = answer["groups"].as_array().expect("there are groups");
    let one = |it: &Value| {
        let name = it["name"].as_str().expect("a name").to_owned();
        (name, it[figure].to_string())
    };
    groups.iter().map(one).collect()
}

async fn shown(viewer: &Viewer, figure: &str) -> Vec<(String, String)> {
    let rows = viewer.rows().await.into_iter();
    rows.map(|row| (row.name, row.cells[figure].raw.clone()))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_kernel_that_wastes_most_and_its_tiles_are_three_presses_away() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    viewer.press("sort-wastedCycles").await;
    let by_command = answer(&["--kind", "compute", "--sort-by", "wasted-cycles"]);
    assert_eq!(
        shown(&viewer, "wastedCycles").await,
        figures(&by_command, "wastedCycles")
    );
    let total: BTreeMap<String, String> = viewer
        .eval(
            "Object.fromEntries([...document.querySelectorAll('[data-testid=kernel-total] td')] \
             .map((it) => [it.dataset.column, it.dataset.raw]))",
        )
        .await;
    for figure in ["workCycles", "wastedCycles", "usefulUtilization"] {
        assert_eq!(total[figure], by_command["totals"][figure].to_string());
    }

    let (worst, _) = figures(&by_command, "wastedCycles").swap_remove(0);
    viewer.press_kernel(&worst).await;
    viewer.choose("kind", "focus").await;
    viewer.choose("group-by", "tile").await;
    viewer.settled().await;
    let question = [
        "--kind",
        "compute",
        "--kernel",
        &worst,
        "--group-by",
        "tile",
        "--sort-by",
        "wasted-cycles",
    ];
    // The page and the command order equal figures differently.
    let (mut here, mut there) = (
        shown(&viewer, "wastedCycles").await,
        figures(&answer(&question), "wastedCycles"),
    );
    here.sort();
    there.sort();
    assert_eq!(here, there);
    viewer.watch_clipboard().await;
    viewer.press("copy-command").await;
    let command = viewer.copied(0).await;
    let printed: Value =
        serde_json::from_str(&expect_copied(&command, &[&demo().profile])).expect("it is JSON");
    assert_eq!(printed["groups"], answer(&question)["groups"], "{command}");
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_a_reserved_word_for_a_kernel_keeps_its_colour_in_focus() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    viewer.choose("kind", "all").await;
    viewer.settled().await;
    viewer.press_kernel("exchange").await;
    viewer.settled().await;
    let exchange = viewer.pixels().await;
    viewer.press_kernel("sync").await;
    viewer.settled().await;
    assert_ne!(viewer.pixels().await, exchange, "each is lit in its turn");
    // Once lets go of the focus, twice of the selection.
    viewer.key("Escape", "Escape").await;
    viewer.settled().await;
    assert_eq!(viewer.focused().await, Vec::<String>::new());
    viewer.key("BracketLeft", "[").await;
    viewer
        .wait("document.querySelector('[data-testid=selection-clear]')")
        .await;
    viewer.key("Escape", "Escape").await;
    viewer
        .wait("!document.querySelector('[data-testid=selection-clear]')")
        .await;
    viewer.assert_quiet().await;
}
