//! Existing profiles, in the row format: without estimates, with estimates as metadata, of each
//! kind.

use std::path::PathBuf;

use analytics::fixtures::{
    Layout, RowFile, compatibility, with_metadata_estimates, without_estimates,
};
use analytics::text::UNAVAILABLE;
use e2e::stack::{Stack, target_folder};
use e2e::viewer::{Row, Viewer};

use crate::table::assert_same_as_command_line;

fn file(name: &str, content: &RowFile, layout: Layout) -> PathBuf {
    let path = target_folder("e2e/existing").join(name);
    std::fs::write(&path, content.encode(layout)).expect("the file is written");
    path
}

/// Drops the file, compares every figure with the command line, and gives the rows.
async fn opened(path: PathBuf) -> Vec<Row> {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&path).await;
    assert_same_as_command_line(&viewer, path.to_str().expect("UTF-8")).await;
    viewer.assert_quiet().await;
    viewer.rows().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_without_estimates_opens_and_calls_them_unavailable() {
    let content = without_estimates(64, 12);
    let rows = opened(file("plain.capnp", &content, Layout::Whole)).await;
    for row in rows {
        assert_eq!(
            row.cells["usefulUtilization"].text, UNAVAILABLE,
            "{}",
            row.name
        );
        assert_eq!(row.cells["coverage"].raw, "0.0", "{}", row.name);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_with_estimates_as_metadata_opens_in_many_segments() {
    let content = with_metadata_estimates(64, 12);
    let rows = opened(file("estimates.capnp", &content, Layout::Segments(4096))).await;
    let known = rows
        .iter()
        .filter(|row| row.cells["usefulUtilization"].text != UNAVAILABLE);
    assert!(known.count() > 0, "some kernel has an efficiency");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_step_and_transfer_opens() {
    opened(file("kinds.capnp", &compatibility(), Layout::Whole)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_row_file_is_refused_with_its_lengths() {
    let whole = without_estimates(64, 12).encode(Layout::Whole);
    let path = target_folder("e2e/existing").join("cut.capnp");
    std::fs::write(&path, &whole[..whole.len() / 2]).expect("the file is written");
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.drop_files(&[&path]).await;
    let failure = viewer.failure().await;
    assert_eq!(failure.cause, "truncated");
    assert!(
        failure.message.contains(&(whole.len() / 2).to_string()),
        "{}",
        failure.message
    );
    viewer.assert_quiet().await;
}
