//! What the part in view was spent on, and the map of the chip.

use analytics::clock::ClockKind;
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
            "[...document.querySelectorAll('[data-testid=in-view-table] [data-testid=list-row]')] \
             .map((row) => [row.dataset.name, row.querySelector('td').innerText.trim()])",
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
async fn the_map_shows_any_figure_of_each_tile() {
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
    let span = answer["profileSpanCycles"].as_f64().expect("a span");
    for (row, column) in [(0, 0), (5, 17), (22, 63)] {
        let tile = row * 64 + column;
        let name = format!("tile {tile}");
        let groups = answer["groups"].as_array().expect("groups");
        let group = groups.iter().find(|it| it["name"] == name.as_str());
        let cycles = group.map_or(0.0, |it| it["workCycles"].as_f64().expect("a count"));
        let share = text::percent(Some(cycles / span));
        says(&mut viewer, tile, &share).await;
    }
    for (metric, figure) in [
        ("efficiency", "usefulUtilization"),
        ("work", "workCycleFraction"),
        ("occupancy", "workLaneOccupancy"),
        ("coverage", "coverage"),
    ] {
        viewer.choose("metric", metric).await;
        let group = &answer["groups"][0];
        let name = group["name"].as_str().expect("a name");
        let tile = name.strip_prefix("tile ").and_then(|it| it.parse().ok());
        let share = text::percent(group[figure].as_f64());
        says(&mut viewer, tile.expect("a tile"), &share).await;
    }
    viewer.assert_quiet().await;
}

/// Points at a tile of the map and waits for its figure.
async fn says(viewer: &mut Viewer, tile: u32, share: &str) {
    let (left, top) = place_of(viewer, tile).await;
    viewer.hover(left, top).await;
    viewer
        .wait(&format!(
            "document.querySelector('[data-testid=pointed]')?.innerText === 'tile {tile}: {share}'"
        ))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_map_follows_the_timeline_and_brushes_it() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    viewer.press("show-chip").await;
    let whole = viewer.text("map-cycles").await;
    viewer.press("zoom-in").await;
    assert_ne!(
        viewer.text("map-cycles").await,
        whole,
        "the map follows the timeline"
    );
    assert!(viewer.text("map-scale").await.contains("100 %"));
    viewer.choose("rows", "cohort").await;
    let tiles = (
        place_of(&viewer, 2 * 64 + 20).await,
        place_of(&viewer, 2 * 64 + 10).await,
    );
    viewer.drag(tiles.0, tiles.1).await;
    viewer.settled().await;
    viewer.wait("location.hash.includes('tiles=138-148')").await;
    viewer
        .wait("document.querySelector('[data-testid=timeline]').dataset.rows === 'tile'")
        .await;
    let rows = (
        place_of(&viewer, 2 * 64 + 30).await,
        place_of(&viewer, 4 * 64 + 10).await,
    );
    viewer.drag(rows.0, rows.1).await;
    viewer.settled().await;
    viewer.wait("location.hash.includes('tiles=128-319')").await;
    viewer.press("all-tiles").await;
    viewer.wait("!location.hash.includes('tiles=')").await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_map_follows_the_pointer_and_the_selection() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    viewer.press("show-chip").await;
    let whole = viewer.text("map-cycles").await;
    assert!(whole.starts_with("cycles 0 – "), "{whole}");
    viewer.choose("over", "cursor").await;
    assert_eq!(
        viewer.text("map-cycles").await,
        whole,
        "nothing was pointed at"
    );
    let (x, y, width, height) = viewer.canvas().await;
    viewer.hover(x + width * 0.6, y + height * 0.5).await;
    viewer
        .wait("document.querySelector('[data-testid=map-cycles]').innerText.startsWith('cycle ')")
        .await;
    viewer.settled().await;
    let said = viewer.text("map-cycles").await;
    let cycle: String = said.chars().filter(char::is_ascii_digit).collect();
    let computing = tiles_that_compute(&cycle);
    assert!(!computing.is_empty(), "the demo computes at cycle {cycle}");
    for tile in [0, 700, 1_471] {
        let is_computing = computing.contains(&tile);
        let share = text::percent(Some(if is_computing { 1.0 } else { 0.0 }));
        says(&mut viewer, tile, &share).await;
    }
    assert_eq!(viewer.text("map-cycles").await, said, "the cycle stays");
    assert_link_shows(&mut viewer, &stack, &said, &cycle).await;

    viewer.choose("over", "selection").await;
    let (x, y, width, _) = viewer.canvas().await;
    let at = |part: f64| (x + 44.0 + (width - 44.0) * part, y + 12.0);
    viewer.drag(at(0.25), at(0.6)).await;
    viewer.wait("location.hash.includes('sel=')").await;
    viewer.settled().await;
    let range = viewer.text("selection-range").await;
    let said = viewer.text("map-cycles").await;
    let said = said.strip_prefix("cycles ").expect("a range");
    assert!(
        range.starts_with(said),
        "{said} is not the start of {range}"
    );
    let address = viewer.address().await;
    assert!(address.contains("over=selection"), "{address}");
    viewer.assert_quiet().await;
}

/// A link keeps the cycle that the pointer was at.
async fn assert_link_shows(viewer: &mut Viewer, stack: &Stack, said: &str, cycle: &str) {
    let expected = format!("over=cursor&cycle={cycle}");
    viewer
        .wait(&format!("location.hash.includes('{expected}')"))
        .await;
    let link = viewer.address().await;
    let (_, fragment) = link.split_once('#').expect("a fragment");
    let blob = stack.upload(&demo().profile).await;
    let mut other = Viewer::at(&stack.url(&format!("/a/{blob}#{fragment}"))).await;
    other.settled().await;
    assert_eq!(other.text("map-cycles").await, said);
    other.assert_quiet().await;
}

/// Physical ids of the tiles that compute in a cycle of the page's usual clock.
fn tiles_that_compute(cycle: &str) -> Vec<u32> {
    let profile = demo().profile.to_str().expect("a plain path");
    let clock = ClockKind::default().name();
    let words = [
        "profile-query",
        profile,
        "--group-by",
        "tile",
        "--kind",
        "compute",
        "--clock",
        clock,
        "--at-offset",
        cycle,
        "--limit",
        "0",
        "--json",
    ];
    let answer: Value = serde_json::from_str(&expect_output(&words)).expect("it prints JSON");
    let groups = answer["groups"].as_array().expect("groups");
    let id = |it: &Value| it["name"].as_str()?.strip_prefix("tile ")?.parse().ok();
    groups.iter().filter_map(id).collect()
}

/// The middle of a tile on the map; its grid lies right of 44 and below 16 pixels of labels.
pub(crate) async fn place_of(viewer: &Viewer, tile: u32) -> (f64, f64) {
    let (x, y, width, height): (f64, f64, f64, f64) = viewer
        .eval(
            "(() => { const it = document.querySelector('[data-testid=chip-canvas]'); \
             it.scrollIntoView({ block: 'center' }); const box = it.getBoundingClientRect(); \
             return [box.x, box.y, box.width, box.height]; })()",
        )
        .await;
    let (row, column) = (f64::from(tile / 64), f64::from(tile % 64));
    (
        x + 44.0 + (width - 44.0) / 64.0 * (column + 0.5),
        y + 16.0 + (height - 16.0) / 23.0 * (row + 0.5),
    )
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
