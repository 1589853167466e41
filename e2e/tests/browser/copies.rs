//! What panels copy: the answer as JSON is byte for byte what the copied command prints.

use std::path::Path;

use e2e::stack::{Stack, demo, detailed, expect_copied, target_folder};
use e2e::viewer::Viewer;
use serde_json::Value;

/// Copies the answer and the command of a panel whose clipboard is watched.
pub(crate) async fn answer(viewer: &mut Viewer, id: &str) -> (String, String) {
    let mut copied = Vec::new();
    for what in ["answer", "command"] {
        let before: usize = viewer.eval("window.copied.length").await;
        viewer.click(&format!("[data-testid={id}-{what}]")).await;
        copied.push(viewer.copied(before).await);
    }
    let command = copied.pop().expect("two texts");
    (copied.pop().expect("two texts"), command)
}

/// The same, after the command was found to print the answer.
async fn checked(viewer: &mut Viewer, id: &str, files: &[&Path]) -> (Value, String) {
    let (json, command) = answer(viewer, id).await;
    let printed = expect_copied(&command, files);
    assert!(
        printed == json,
        "{command}\n{printed:.400}\nis not\n{json:.400}"
    );
    let value = serde_json::from_str(&json).expect("it is JSON");
    (value, command)
}

async fn opened(stack: &Stack, profile: &Path) -> Viewer {
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(profile).await;
    viewer.watch_clipboard().await;
    viewer
}

/// Waits until the first element with a test id says that it is ready.
async fn ready(viewer: &mut Viewer, id: &str) {
    let found = format!("document.querySelector('[data-testid={id}]')");
    viewer
        .wait(&format!("{found}?.dataset.state === 'ready'"))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sums_of_the_view_of_a_selection_and_of_the_chip_are_the_command_lines() {
    let stack = Stack::start().await;
    let mut viewer = opened(&stack, &demo().profile).await;
    let files = [demo().profile.as_path()];
    viewer.press("show-in-view").await;
    let (whole, command) = checked(&mut viewer, "in-view", &files).await;
    assert!(!command.contains("--tiles"), "all tiles: {command}");
    viewer.press("zoom-in").await;
    viewer.press("zoom-in").await;
    let (view, _) = checked(&mut viewer, "in-view", &files).await;
    assert_ne!(view["from"], whole["from"], "it follows the view");
    let rows = viewer.list("in-view-table").await;
    let kinds = view["kinds"].as_array().expect("kinds");
    let kernels = view["kernels"].as_array().expect("kernels");
    assert_eq!(rows.len(), kinds.len() + kernels.len());
    for (row, told) in rows.iter().zip(kinds.iter().chain(kernels)) {
        for name in [
            "cycles",
            "share",
            "sampleCount",
            "usefulUtilization",
            "coverage",
        ] {
            assert_eq!(row[name].raw, told[name].to_string(), "{told}");
        }
    }

    let _: String = viewer
        .eval("location.hash += '&sel=20000-50000&seltiles=64-700'")
        .await;
    ready(&mut viewer, "selection").await;
    let (part, command) = checked(&mut viewer, "selection", &files).await;
    assert!(command.contains(" --tiles "), "{command}");
    assert!(part["tileCount"].as_u64() < whole["tileCount"].as_u64());
    viewer.press("selection-clear").await;

    let kernel = kernels[0]["kernel"].as_str().expect("a name");
    viewer
        .click(&format!(
            "[data-testid=in-view-table] [data-name=\"{kernel}\"] button"
        ))
        .await;
    viewer.settled().await;
    let focused: Vec<String> = viewer
        .eval(
            "[...document.querySelectorAll('[data-testid=in-view-table] tr.focused')] \
             .map((row) => row.dataset.name)",
        )
        .await;
    assert_eq!(focused, [kernel]);
    let address = viewer.address().await;
    assert!(address.contains("kernel="), "{address}");
    viewer.press("show-chip").await;
    let (chip, command) = checked(&mut viewer, "chip", &files).await;
    assert!(command.contains("--by-tile --kernel "), "{command}");
    assert_eq!(chip["kernelOfTiles"], kernel);
    assert_eq!(
        chip["tiles"].as_array().map(Vec::len),
        Some(1_472),
        "every tile is told"
    );
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tables_of_sums_are_sorted_narrowed_and_copied_like_others() {
    let stack = Stack::start().await;
    let mut viewer = opened(&stack, &demo().profile).await;
    viewer.press("show-in-view").await;
    viewer
        .click("[data-testid=in-view-table] th[data-column=sampleCount] button")
        .await;
    viewer
        .wait("location.hash.includes('order=sampleCount')")
        .await;
    let samples = viewer.list("in-view-table").await;
    let samples = samples
        .iter()
        .map(|row| row["sampleCount"].raw.parse::<u64>());
    let samples: Vec<u64> = samples.map(|it| it.expect("a count")).collect();
    assert!(samples.is_sorted_by(|a, b| a >= b), "{samples:?}");
    viewer.press("in-view-table-csv").await;
    let csv = viewer.copied(0).await;
    assert!(csv.starts_with("name,cycles,share,sampleCount,"), "{csv}");
    assert_eq!(csv.lines().count(), samples.len() + 1);
    viewer.press("in-view-table-json").await;
    let json: Value = serde_json::from_str(&viewer.copied(1).await).expect("it is JSON");
    assert_eq!(json.as_array().map(Vec::len), Some(samples.len()));
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn exchanges_ports_and_the_matrix_are_the_command_lines() {
    let stack = Stack::start().await;
    let profile = detailed()[0].as_path();
    let files = [profile, demo().package.as_path()];
    let mut viewer = opened(&stack, profile).await;
    viewer.press("show-exchange").await;
    ready(&mut viewer, "ports").await;
    let (run, _) = checked(&mut viewer, "exchange", &files).await;
    assert!(run["receivedBytes"].as_u64() > Some(0));
    assert_eq!(run["part"], Value::Null);
    let all = checked(&mut viewer, "ports", &files).await.0;
    for _ in 0..3 {
        viewer.press("zoom-in").await;
    }
    ready(&mut viewer, "ports").await;
    let (ports, command) = checked(&mut viewer, "ports", &files).await;
    assert!(command.contains("--range "), "{command}");
    assert_eq!(
        ports["exchanges"], run["exchanges"],
        "the run is told as well"
    );
    let sent = |it: &Value| it["part"]["sentBytes"].as_u64();
    assert!(sent(&ports) < sent(&all), "fewer bytes in fewer cycles");
    let digits = |text: String| -> String {
        let first = text.split(" bytes").next().unwrap_or_default();
        first.chars().filter(char::is_ascii_digit).collect()
    };
    let shown = digits(viewer.text("ports-sent").await);
    assert_eq!(Some(shown), sent(&ports).map(|it| it.to_string()));

    viewer.drop_files(&[&demo().package]).await;
    viewer
        .wait("document.querySelector('[data-package=ready]')")
        .await;
    viewer.press("show-exchange").await;
    ready(&mut viewer, "matrix").await;
    let (matrix, _) = checked(&mut viewer, "matrix", &files).await;
    assert!(matrix["pairCount"].as_u64() > Some(0));
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_memory_of_a_package_is_the_command_lines() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.drop_files(&[&demo().package]).await;
    ready(&mut viewer, "package").await;
    viewer.watch_clipboard().await;
    let files = [demo().package.as_path()];
    let (fullest, _) = checked(&mut viewer, "memory", &files).await;
    assert_eq!(fullest["tile"]["physicalTile"], fullest["fullestTile"]);
    let rows = viewer.list("allocation-table").await;
    let allocations = fullest["tile"]["allocations"].as_array().expect("a list");
    for (row, told) in rows.iter().zip(allocations) {
        for (name, of) in [
            ("address", "address"),
            ("bytes", "bytes"),
            ("last", "lastItem"),
        ] {
            assert_eq!(row[name].raw, told[of].to_string(), "{told}");
        }
    }
    ready(&mut viewer, "matrix").await;
    let _ = checked(&mut viewer, "matrix", &files).await;
    viewer
        .click("[data-testid=fullest-table] tbody tr:nth-child(3) button")
        .await;
    viewer
        .wait(&format!(
            "document.querySelector('[data-testid=tile-memory-tile]').innerText !== '{}'",
            fullest["fullestTile"]
        ))
        .await;
    ready(&mut viewer, "package").await;
    let (other, _) = checked(&mut viewer, "memory", &files).await;
    assert_ne!(other["tile"], fullest["tile"]);
    assert_eq!(other["tiles"], fullest["tiles"]);
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn charts_and_their_data_are_the_command_lines() {
    let folder = target_folder("e2e/charts");
    let stack = Stack::start().await;
    let mut viewer = opened(&stack, &demo().profile).await;
    let first = viewer.row_names().await.swap_remove(0);
    viewer.press("show-plots").await;
    viewer.watch_saving().await;
    for kernel in [None, Some(first)] {
        if let Some(kernel) = &kernel {
            viewer.press("show-figures").await;
            viewer.press_kernel(kernel).await;
            viewer.press("show-plots").await;
        }
        for plot in ["durations", "cumulative", "roofline", "phases", "tiles"] {
            viewer.choose("plot", plot).await;
            let before: usize = viewer.eval("window.copied.length").await;
            viewer.press("plot-copy").await;
            let json = viewer.copied(before).await;
            viewer.press("plot-command").await;
            let command = viewer.copied(before + 1).await;
            let picture = folder.join(format!("{plot}.svg"));
            let printed = expect_copied(&command, &[&demo().profile, &picture]);
            assert!(
                printed == json,
                "{command}\n{printed:.400}\nis not\n{json:.400}"
            );
            let _: bool = viewer.eval("(window.saved = []).length === 0").await;
            viewer.press("plot-svg").await;
            let (_, svg) = viewer.saved(&format!("{plot}.svg")).await;
            let drawn = std::fs::read_to_string(&picture).expect("it was drawn");
            assert!(drawn == svg, "{command} draws another picture");
        }
    }
    viewer.assert_quiet().await;
}
