//! What the part in view was spent on, and the map of the chip.

use analytics::text;
use analytics::units::Cycles;
use e2e::stack::{Stack, demo, expect_output, target_folder};
use e2e::tab::Theme;
use e2e::viewer::Viewer;
use serde_json::Value;

use crate::table::kernels_of;

/// Cycles of the rows, by name, as people read them.
async fn spent(viewer: &Viewer) -> Vec<(String, String)> {
    viewer
        .eval(
            "[...document.querySelectorAll('[data-testid=in-view-row]')].map((row) => \
             [row.dataset.name, row.querySelector('td').innerText.trim()])",
        )
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_part_in_view_has_sums_of_its_own() {
    let profile = demo().profile.to_str().expect("a plain path");
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    viewer.press("show-in-view").await;
    let whole = spent(&viewer).await;
    for group in kernels_of(profile) {
        let name = group["name"].as_str().expect("a name");
        let cycles = group["workCycles"].as_u64().expect("a count");
        let row = whole.iter().find(|(it, _)| it == name);
        let expected = text::cycles(Cycles::new(cycles));
        assert_eq!(
            row.map(|(_, it)| it),
            Some(&expected),
            "{name}, the whole run"
        );
    }
    for _ in 0..4 {
        viewer.press("zoom-in").await;
    }
    let zoomed = spent(&viewer).await;
    assert_ne!(zoomed, whole, "the sums follow the view");
    let address = viewer.address().await;
    assert!(address.contains("view=in-view"), "{address}");
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_map_shows_each_tile_and_brushes_the_timeline() {
    let words = [
        "profile-query",
        demo().profile.to_str().expect("a plain path"),
        "--group-by",
        "tile",
        "--kind",
        "compute",
        "--limit",
        "0",
        "--json",
    ];
    let answer: Value = serde_json::from_str(&expect_output(&words)).expect("it prints JSON");
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    viewer.press("show-chip").await;
    let (x, y, width, height): (f64, f64, f64, f64) = viewer
        .eval(
            "(() => { const it = document.querySelector('[data-testid=chip-canvas]'); \
             it.scrollIntoView({ block: 'center' }); const box = it.getBoundingClientRect(); \
             return [box.x, box.y, box.width, box.height]; })()",
        )
        .await;
    // The grid lies right of 44 and below 16 pixels of labels: 23 rows of 64 tiles.
    let place = |row: f64, column: f64| {
        let across = (width - 44.0) / 64.0;
        let down = (height - 16.0) / 23.0;
        (
            x + 44.0 + across * (column + 0.5),
            y + 16.0 + down * (row + 0.5),
        )
    };
    let span = answer["profileSpanCycles"].as_f64().expect("a span");
    for (row, column) in [(0, 0), (5, 17), (22, 63)] {
        let tile = row * 64 + column;
        let (left, top) = place(f64::from(row), f64::from(column));
        viewer.hover(left, top).await;
        let name = format!("tile {tile}");
        let groups = answer["groups"].as_array().expect("groups");
        let group = groups.iter().find(|it| it["name"] == name.as_str());
        let cycles = group.map_or(0.0, |it| it["workCycles"].as_f64().expect("a count"));
        let expected = format!("{name}: {}", text::percent(Some(cycles / span)));
        viewer
            .wait(&format!(
                "document.querySelector('[data-testid=pointed]')?.innerText === '{expected}'"
            ))
            .await;
    }
    viewer.drag(place(2.0, 30.0), place(4.0, 10.0)).await;
    viewer.settled().await;
    viewer.wait("location.hash.includes('tiles=128-319')").await;
    viewer.press("all-tiles").await;
    viewer.wait("!location.hash.includes('tiles=')").await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_of_the_map_and_of_the_sums_are_kept() {
    let folder = target_folder("screenshots");
    let stack = Stack::start().await;
    for (theme, name) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
        let mut viewer = Viewer::landing(&stack.url("/")).await;
        viewer.theme(theme).await;
        viewer.reload().await;
        viewer.wait("document.body.dataset.state === 'empty'").await;
        viewer.open_by_drop(&demo().profile).await;
        viewer.choose("colour", "efficiency").await;
        for view in ["chip", "in-view"] {
            viewer.press(&format!("show-{view}")).await;
            let picture = folder.join(format!("{view}-{name}.png"));
            viewer.photograph(&picture).await;
        }
        viewer.assert_quiet().await;
    }
}
