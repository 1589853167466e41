//! Selecting, switching and clearing a kernel: the table keeps every row, the timeline keeps its
//! zoom.

use e2e::stack::{Stack, demo};
use e2e::viewer::Viewer;

#[tokio::test(flavor = "multi_thread")]
async fn selecting_a_kernel_focuses_it_and_moves_nothing() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    viewer.press("zoom-in").await;
    let (rows, span) = (viewer.row_names().await, viewer.span().await);
    assert!(
        rows.len() >= 2,
        "there is something to switch between: {rows:?}"
    );
    let plain = viewer.pixels().await;

    viewer.press_kernel(&rows[0]).await;
    assert_eq!(viewer.focused().await, rows[..1]);
    assert_eq!(
        (viewer.row_names().await, viewer.span().await),
        (rows.clone(), span.clone())
    );
    let first = viewer.pixels().await;
    assert_ne!(first, plain, "the timeline dims the other kernels");

    viewer.press_kernel(&rows[1]).await;
    assert_eq!(viewer.focused().await, rows[1..2]);
    assert_eq!(
        (viewer.row_names().await, viewer.span().await),
        (rows.clone(), span.clone())
    );
    assert_ne!(
        viewer.pixels().await,
        first,
        "the timeline shows the other kernel"
    );

    viewer.press_kernel(&rows[1]).await;
    assert_eq!(viewer.focused().await, Vec::<String>::new());
    assert_eq!(
        (viewer.row_names().await, viewer.span().await),
        (rows, span)
    );
    assert_eq!(
        viewer.pixels().await,
        plain,
        "without a focus the picture is the first one again"
    );
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_column_sorts_both_ways_and_keeps_every_row() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    let mut names = viewer.row_names().await;
    names.sort();
    for column in ["workCycles", "sampleCount", "maximumCycles", "p50Cycles"] {
        let mut orders = Vec::new();
        for _ in 0..2 {
            viewer.press(&format!("sort-{column}")).await;
            let rows = viewer.rows().await;
            let figures = rows
                .iter()
                .map(|row| row.cells[column].raw.parse().expect("a count"));
            let figures: Vec<u64> = figures.collect();
            let sorted: String = viewer
                .eval(&format!(
                    "document.querySelector('th[data-column={column}]').ariaSort"
                ))
                .await;
            match sorted.as_str() {
                "descending" => assert!(figures.is_sorted_by(|a, b| a >= b), "{figures:?}"),
                "ascending" => assert!(figures.is_sorted(), "{figures:?}"),
                other => panic!("{column} is pressed but sorted {other}"),
            }
            orders.push(sorted);
            let mut present: Vec<_> = rows.into_iter().map(|row| row.name).collect();
            present.sort();
            assert_eq!(present, names, "{column}");
        }
        assert_ne!(orders[0], orders[1], "pressing again turns {column} around");
    }
    viewer.assert_quiet().await;
}
