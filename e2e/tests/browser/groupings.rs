//! The table by everything that a row can stand for: the figures of the command line, names of what
//! has none, and what pressing a row does.

use std::path::PathBuf;

use analytics::fixtures::{Layout, with_metadata_estimates};
use e2e::stack::{Stack, target_folder};
use e2e::viewer::Viewer;
use serde_json::Value;

use crate::table::{assert_all_figures, groups_of};

/// A profile of which some samples lack an operation or a metadata value.
fn profile() -> PathBuf {
    let mut file = with_metadata_estimates(64, 12);
    for sample in file.tiles.iter_mut().flat_map(|tile| &mut tile.samples) {
        match sample.epoch {
            3 => sample.operation.clear(),
            4 => sample.metadata.clear(),
            5 => sample.metadata[0].1.clear(),
            _ => {}
        }
    }
    let path = target_folder("e2e/groupings").join("groupings.capnp");
    std::fs::write(&path, file.encode(Layout::Whole)).expect("the file is written");
    path
}

/// Chooses what rows stand for, which samples count, and the clock, and gives the command line's
/// groups after comparing every figure with them.
async fn chosen(viewer: &mut Viewer, path: &str, by: &str, kind: &str, clock: &str) -> Vec<Value> {
    viewer.choose("clock", clock).await;
    viewer.choose("kind", kind).await;
    viewer.choose("group-by", by).await;
    let mut question = match by.strip_prefix("key=") {
        Some(key) => vec!["--group-by", "metadata", "--metadata-key", key],
        None => vec!["--group-by", by],
    };
    question.extend(["--clock", clock]);
    if kind != "all" {
        question.extend(["--kind", kind]);
    }
    let groups = groups_of(path, &question);
    assert_all_figures(viewer, &groups).await;
    groups
}

fn group<'a>(groups: &'a [Value], name: &str) -> &'a Value {
    let found = groups.iter().find(|it| it["name"] == name);
    found.unwrap_or_else(|| panic!("there is {name}"))
}

/// Presses the row of a group that lies in a part of the run: all of it, and little else, is in
/// view then.
async fn goes_there(viewer: &mut Viewer, groups: &[Value], name: &str) {
    assert_eq!(viewer.row_title(name).await, "Bring these cycles into view");
    viewer.press_to_move(name).await;
    let offset = |field: &str| group(groups, name)[field].as_u64().expect("an offset");
    let (first, last) = (offset("firstOffset"), offset("lastOffset"));
    let span = viewer.span().await;
    let (from, to) = span.split_once('-').expect("from-to");
    let (from, to): (u64, u64) = (from.parse().expect("from"), to.parse().expect("to"));
    assert!(
        from <= first && last <= to && to - from <= 2 * (last - first) + 16,
        "{name} is {first}..{last}, in view is {span}"
    );
    viewer.press("zoom-reset").await;
}

/// The pointer over a row, and how many buttons are in it.
async fn of_row(viewer: &Viewer, name: &str) -> (String, u32) {
    viewer
        .eval(&format!(
            "(() => {{ const it = document.querySelector('[data-name=\"{name}\"]'); \
             return [getComputedStyle(it).cursor, it.querySelectorAll('button').length]; }})()"
        ))
        .await
}

async fn heading(viewer: &Viewer) -> String {
    viewer.text("sort-name").await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_grouping_has_the_command_lines_figures_and_its_rows_go_where_they_are() {
    let path = profile();
    let path = path.to_str().expect("UTF-8");
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(path.as_ref()).await;
    viewer.press("all-figures").await;
    let whole = viewer.span().await;

    let groups = chosen(&mut viewer, path, "operation", "compute", "cropped").await;
    assert_eq!(heading(&viewer).await, "Operation");
    let _unnamed = group(&groups, "(no operation)");
    goes_there(&mut viewer, &groups, "compute of layer 7").await;

    let groups = chosen(&mut viewer, path, "phase", "all", "shared").await;
    assert_eq!(heading(&viewer).await, "Phase / epoch");
    goes_there(&mut viewer, &groups, "phase 8/8").await;
    viewer.press("sort-name").await;
    let names = viewer.row_names().await;
    let place = |name: &str| names.iter().position(|it| it == name);
    assert!(place("phase 9/9") < place("phase 10/10"), "{names:?}");
    let groups = chosen(&mut viewer, path, "phase", "exchange", "tile").await;
    goes_there(&mut viewer, &groups, "phase 6/6").await;

    let groups = chosen(&mut viewer, path, "key=layer", "all", "cropped").await;
    assert_eq!(heading(&viewer).await, "layer");
    goes_there(&mut viewer, &groups, "(missing)").await;
    goes_there(&mut viewer, &groups, "(empty)").await;

    let _groups = chosen(&mut viewer, path, "kind", "all", "tile").await;
    assert_eq!(of_row(&viewer, "compute").await, ("default".to_owned(), 0));

    let _groups = chosen(&mut viewer, path, "kernel", "all", "cropped").await;
    assert_eq!(
        of_row(&viewer, "(no kernel)").await,
        ("default".to_owned(), 0)
    );
    viewer.press_kernel("gelu_f16").await;
    assert_eq!(viewer.focused().await, ["gelu_f16"]);
    assert_eq!(viewer.span().await, whole, "selecting does not move");

    let _groups = chosen(&mut viewer, path, "tile", "synchronization", "cropped").await;
    assert_eq!(of_row(&viewer, "tile 9").await, ("pointer".to_owned(), 1));
    viewer.choose("rows", "cohort").await;
    assert_eq!(
        viewer.row_title("tile 9").await,
        "Bring this tile into view"
    );
    viewer.press_to_move("tile 9").await;
    let hash: String = viewer.eval("location.hash").await;
    assert!(
        hash.contains("tiles=9-9") && !hash.contains("rows="),
        "{hash}"
    );
    assert_eq!(viewer.span().await, whole, "only the tile is another");
    assert_eq!(viewer.rows().await.len(), 64, "and every row is there");
    viewer.assert_quiet().await;
}
