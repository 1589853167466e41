//! The timeline beyond tiles and kernels: a selected part, the way back, groups, phases, occupancy.

use e2e::stack::{Stack, demo, expect_output};
use e2e::viewer::Viewer;
use serde_json::Value;

async fn opened(stack: &Stack) -> Viewer {
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    viewer
}

/// The rows of a table of sums below an element, each as one line.
async fn sums(viewer: &Viewer, place: &str) -> Vec<String> {
    viewer
        .eval(&format!(
            "[...document.querySelectorAll('[data-testid={place}-table] [data-testid=list-row]')] \
             .map((row) => row.innerText.replace(/\\s+/g, ' ').trim())"
        ))
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_range_drawn_on_the_ruler_has_sums_of_its_own() {
    let stack = Stack::start().await;
    let mut viewer = opened(&stack).await;
    let whole = viewer.span().await;
    let (x, y, width, _) = viewer.canvas().await;
    let at = |part: f64| (x + 44.0 + (width - 44.0) * part, y + 12.0);
    viewer.drag(at(0.25), at(0.6)).await;
    let ready = "document.querySelector('[data-testid=selection]')?.dataset.state === 'ready'";
    viewer.wait(ready).await;
    viewer.settled().await;
    assert_eq!(
        viewer.span().await,
        whole,
        "selecting does not move the view"
    );
    let selected = sums(&viewer, "selection").await;
    assert!(!selected.is_empty());
    let address = viewer.address().await;
    assert!(address.contains("sel="), "{address}");
    viewer.press("selection-zoom").await;
    viewer.press("show-in-view").await;
    assert_eq!(sums(&viewer, "in-view").await, selected);
    viewer.press("selection-clear").await;
    viewer
        .wait("!document.querySelector('[data-testid=selection]')")
        .await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn zooming_goes_back_to_the_whole_run_and_no_further() {
    let stack = Stack::start().await;
    let mut viewer = opened(&stack).await;
    let whole = viewer.span().await;
    let can_go_back = |can: bool| {
        format!(
            "document.querySelector('[data-testid=zoom-back]').disabled === {}",
            !can
        )
    };
    viewer.wait(&can_go_back(false)).await;
    viewer.press("zoom-in").await;
    let closer = viewer.span().await;
    assert_ne!(closer, whole);
    viewer.wait(&can_go_back(true)).await;
    let back = |span: &str| {
        format!("document.querySelector('[data-testid=timeline]').dataset.span === '{span}'")
    };
    viewer.press("zoom-back").await;
    viewer.wait(&back(&whole)).await;
    viewer.wait(&can_go_back(false)).await;
    viewer.key("KeyZ", "Z").await;
    viewer.settled().await;
    assert_eq!(
        viewer.span().await,
        whole,
        "there is nothing before the whole run"
    );
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_stand_for_groups_and_a_link_shows_them_again() {
    let stack = Stack::start().await;
    let id = stack.upload(&demo().profile).await;
    let mut viewer = Viewer::at(&stack.url(&format!("/a/{id}"))).await;
    viewer.settled().await;
    let tiles = viewer.pixels().await;
    let mut seen = vec![tiles];
    for rows in ["chip-row", "chip-column", "cohort", "operation"] {
        viewer.choose("rows", rows).await;
        viewer
            .wait(&format!(
                "document.querySelector('[data-testid=timeline]').dataset.rows === '{rows}'"
            ))
            .await;
        viewer.settled().await;
        let (address, pixels) = (viewer.address().await, viewer.pixels().await);
        assert!(address.contains(&format!("rows={rows}")), "{address}");
        assert!(!seen.contains(&pixels), "{rows} look like something else");
        let mut again = Viewer::at(&address).await;
        again
            .wait(&format!(
                "document.querySelector('[data-testid=timeline]')?.dataset.rows === '{rows}'"
            ))
            .await;
        again.settled().await;
        assert_eq!(again.pixels().await, pixels, "{rows}");
        again.assert_quiet().await;
        seen.push(pixels);
    }
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_of_a_group_says_what_its_tiles_spent() {
    let stack = Stack::start().await;
    let mut viewer = opened(&stack).await;
    for (rows, heading) in [("chip-column", "column "), ("cohort", "like tile ")] {
        viewer.choose("rows", rows).await;
        viewer
            .wait(&format!(
                "document.querySelector('[data-testid=timeline]').dataset.rows === '{rows}'"
            ))
            .await;
        viewer.settled().await;
        let (x, y, width, height) = viewer.canvas().await;
        viewer.hover(x + width * 0.45, y + height * 0.3).await;
        viewer
            .wait(&format!(
                "document.querySelector('[data-testid=tooltip] strong')?.innerText \
                 .startsWith('{heading}')"
            ))
            .await;
        let shares: f64 = viewer
            .eval(
                "['exchange', 'compute', 'synchronization', 'idle'].map((it) => parseFloat( \
                 document.querySelector(`[data-testid=tooltip-${it}]`)?.innerText ?? '0')) \
                 .reduce((sum, it) => sum + it)",
            )
            .await;
        assert!(
            (99.0..=101.0).contains(&shares),
            "{rows}: {shares} % of the cell"
        );
        assert!(!viewer.text("tooltip-tiles").await.is_empty());
        viewer.hover(4.0, 4.0).await;
        viewer
            .wait("!document.querySelector('[data-testid=tooltip]')")
            .await;
    }
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ruler_has_the_phases_of_the_first_tile() {
    let stack = Stack::start().await;
    let mut viewer = opened(&stack).await;
    let profile = demo().profile.to_str().expect("a plain path");
    let words = [
        "profile-query",
        profile,
        "--tile",
        "0",
        "--group-by",
        "phase",
        "--limit",
        "0",
        "--json",
    ];
    let answer: Value = serde_json::from_str(&expect_output(&words)).expect("it prints JSON");
    let count = answer["groupCount"].as_u64().expect("a count");
    viewer
        .wait(&format!(
            "document.querySelector('[data-testid=timeline]').dataset.phases === '{count}'"
        ))
        .await;
    viewer.assert_quiet().await;
}

/// The timeline in words.
const SAID: &str = "document.querySelector('.plot').ariaLabel";

#[tokio::test(flavor = "multi_thread")]
async fn the_picture_is_told_in_words_with_what_the_cycles_were_spent_on() {
    let stack = Stack::start().await;
    let mut viewer = opened(&stack).await;
    viewer
        .wait(&format!(
            "{SAID}.includes('Of these cycles on all tiles: compute ')"
        ))
        .await;
    let said: String = viewer.eval(SAID).await;
    assert!(
        said.contains("exchange ") && said.contains(" took most: "),
        "{said}"
    );
    let strip: String = viewer
        .eval("document.querySelector('[data-testid=strip]').ariaLabel")
        .await;
    assert!(strip.contains("compute ") && strip.contains('%'), "{strip}");
    viewer.press("show-in-view").await;
    viewer.wait(&format!("{SAID}.includes(' In view: ')")).await;
    let said: String = viewer.eval(SAID).await;
    let rows = viewer.list("in-view-table").await;
    let shown = rows.iter().take(3);
    let shown: Vec<String> = shown
        .map(|row| format!("{} {}", row["name"].text, row["share"].text))
        .collect();
    assert_eq!(shown.len(), 3, "{shown:?}");
    for figure in shown {
        assert!(said.contains(&figure), "{figure} in {said}");
    }
    assert!(said.contains(", kernel "), "{said}");
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn colours_can_say_lane_occupancy() {
    let stack = Stack::start().await;
    let mut viewer = opened(&stack).await;
    viewer.choose("colour", "efficiency").await;
    let efficiency = viewer.pixels().await;
    viewer.choose("colour", "occupancy").await;
    assert_ne!(viewer.pixels().await, efficiency);
    let legend: String = viewer
        .eval("document.querySelector('.legend').innerText")
        .await;
    assert!(legend.contains("100 %"), "{legend}");
    let address = viewer.address().await;
    assert!(address.contains("colour=occupancy"), "{address}");
    viewer.assert_quiet().await;
}
