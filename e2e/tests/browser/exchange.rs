//! Exchange ports over time, bytes of each exchange, hottest receivers, and who sends to whom.

use e2e::stack::{Stack, demo, detailed};
use e2e::viewer::Viewer;

async fn exchange_of(profile: &std::path::Path) -> (Stack, Viewer) {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(profile).await;
    viewer.press("show-exchange").await;
    viewer
        .wait("document.querySelector('[data-testid=ports]').dataset.state === 'ready'")
        .await;
    (stack, viewer)
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_of_exchanges_and_of_tiles_add_up() {
    let (_stack, mut viewer) = exchange_of(&detailed()[0]).await;
    let exchanges = viewer.list("exchange-table").await;
    let sum = |name: &str| -> u64 {
        exchanges
            .iter()
            .filter_map(|row| row[name].raw.parse::<u64>().ok())
            .sum()
    };
    assert!(exchanges.len() < 100, "all exchanges are on the page");
    assert!(
        sum("received") >= sum("sent") && sum("sent") > 0,
        "{exchanges:?}"
    );
    let digits = |text: String| -> String { text.chars().filter(char::is_ascii_digit).collect() };
    assert_eq!(
        digits(viewer.text("traffic-received").await),
        sum("received").to_string()
    );
    assert_eq!(
        digits(viewer.text("traffic-sent").await),
        sum("sent").to_string()
    );
    let tiles = viewer.list("port-table").await;
    let hottest: u64 = tiles[0]["received"].raw.parse().expect("bytes");
    let others = tiles
        .iter()
        .map(|row| row["received"].raw.parse::<u64>().expect("bytes"));
    assert_eq!(others.max(), Some(hottest), "hottest first");
    let (ink, all) = viewer.ink("ports").await;
    assert!(
        ink * 100 > all,
        "transfers are drawn: {ink} of {all} pixels"
    );
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_without_transfers_says_so() {
    let (_stack, mut viewer) = exchange_of(&crate::overview::profile(40_000)).await;
    let said = viewer.text("traffic-described").await;
    assert!(said.starts_with("0 of "), "{said}");
    let rows = viewer.list("exchange-table").await;
    assert!(!rows.is_empty() && rows.iter().all(|row| row["sent"].raw == "null"));
    let hint = viewer.text("matrix-hint").await;
    assert!(hint.contains(".ipuexe"), "{hint}");
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_package_tells_who_sends_to_whom() {
    let (_stack, mut viewer) = exchange_of(&detailed()[0]).await;
    viewer.drop_files(&[&demo().package]).await;
    viewer
        .wait("document.querySelector('[data-package=ready]')")
        .await;
    viewer.press("show-exchange").await;
    viewer
        .wait("document.querySelector('[data-testid=matrix]')?.dataset.state === 'ready'")
        .await;
    let (ink, all) = viewer.ink("matrix").await;
    assert!(
        ink > 0 && all > 0,
        "the matrix is drawn: {ink} of {all} pixels"
    );
    let said: String = viewer
        .eval("document.querySelector('[data-testid=matrix]').ariaLabel")
        .await;
    assert!(
        said.contains("; most goes tile") && said.contains(" cells have a byte"),
        "{said}"
    );
    let (x, y) = viewer.middle("[data-testid=matrix]").await;
    viewer.hover(x - 60.0, y).await;
    viewer
        .wait("document.querySelector('[data-testid=matrix-said]').innerText.includes('→')")
        .await;
    viewer.assert_quiet().await;
}
