//! A large profile is seen before its samples are read: its overview and its own sums first, parts
//! where somebody looks, everything exact in the end. Simulated runs are too short for an overview,
//! so these profiles are generated.

use std::path::PathBuf;

use e2e::ranges::RangeHost;
use e2e::stack::{Stack, expect_output, target_folder};
use e2e::viewer::Viewer;

use crate::table::assert_same_as_command_line;

/// A generated profile of 1,472 tiles.
pub(crate) fn profile(samples: u64) -> PathBuf {
    // A file is made once; the name changes with what is written, here the revision of the format.
    let file = target_folder("e2e/overview").join(format!("{samples}-1.1.ipuprofile"));
    if !file.is_file() {
        let place = file.to_str().expect("the path is UTF-8");
        let count = samples.to_string();
        let _said = expect_output(&["profile-synth", "--samples", &count, "-o", place]);
    }
    file
}

const OVERVIEW: &str = "document.querySelector('[data-testid=timeline]')?.dataset.state \
    === 'overview' && document.querySelector('[data-testid=kernel-table]')?.dataset.state \
    === 'summed'";

#[tokio::test(flavor = "multi_thread")]
async fn overview_and_sums_come_before_samples_and_are_right() {
    let file = profile(1_500_000);
    let length = std::fs::metadata(&file).expect("the file is there").len();
    let host = RangeHost::holding_after(file.clone(), length / 2).await;
    let stack = Stack::start().await;
    let mut viewer = Viewer::at(&stack.url(&format!("/?url={}", host.url()))).await;
    viewer.wait(OVERVIEW).await;
    let given = host.given();
    assert!(given.requests <= 12, "{given:?}");
    assert_same_as_command_line(&viewer, file.to_str().expect("UTF-8")).await;
    assert_eq!(viewer.text("badge-partly-read").await, "partly read");
    assert_eq!(
        viewer.text("badge-sampled-overview").await,
        "sampled overview"
    );
    let reading = viewer.text("reading-text").await;
    assert!(reading.contains("samples"), "{reading}");
    host.let_go();
    viewer.settled().await;
    viewer
        .wait("!document.querySelector('[data-testid=reading]')")
        .await;
    for badge in ["badge-partly-read", "badge-sampled-overview"] {
        assert!(viewer.text(badge).await.is_empty(), "{badge}");
    }
    assert_same_as_command_line(&viewer, file.to_str().expect("UTF-8")).await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_profile_at_an_address_is_read_where_somebody_looks() {
    let file = profile(16_000_000);
    let length = std::fs::metadata(&file).expect("the file is there").len();
    let host = RangeHost::start(file.clone()).await;
    let stack = Stack::start().await;
    let mut viewer = Viewer::at(&stack.url(&format!("/?url={}", host.url()))).await;
    viewer.wait(OVERVIEW).await;
    let given = host.given();
    assert!(given.bytes <= 3 << 20 && given.requests <= 12, "{given:?}");
    let (x, y, width, height) = viewer.canvas().await;
    viewer.hover(x + width * 0.5, y + height * 0.5).await;
    viewer
        .wait("document.querySelector('[data-testid=tooltip]')")
        .await;
    for _ in 0..14 {
        viewer.key("KeyW", "w").await;
    }
    viewer.drawn().await;
    let given = host.given();
    assert!(given.bytes < length / 2, "{given:?} of {length}");
    viewer.click("[data-testid=reading-toggle]").await;
    viewer.settled().await;
    assert_same_as_command_line(&viewer, file.to_str().expect("UTF-8")).await;
    viewer.assert_quiet().await;
}
