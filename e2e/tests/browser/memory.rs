//! The memory of tiles, from a package, alone and beside its profile.

use std::path::Path;

use e2e::hand::Key;
use e2e::stack::{Stack, demo, expect_output, target_folder};
use e2e::viewer::Viewer;
use serde_json::Value;

const READY: &str = "document.querySelector('[data-testid=package]')?.dataset.state === 'ready'";

#[tokio::test(flavor = "multi_thread")]
async fn a_package_shows_the_memory_of_its_tiles() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.drop_files(&[&demo().package]).await;
    viewer
        .wait("document.body.dataset.state === 'package'")
        .await;
    viewer.wait(READY).await;
    assert_eq!(viewer.text("package-workload").await, "gemm-projections");
    let tiles = viewer.list("fullest-table").await;
    assert_eq!(tiles.len(), 100, "the rest is a press away");
    let rows = viewer.list("allocation-table").await;
    assert!(!rows.is_empty(), "the fullest tile has allocations");
    let number = |text: &str| text.parse::<u64>().expect("a number");
    for row in &rows {
        let (address, bytes) = (number(&row["address"].raw), number(&row["bytes"].raw));
        assert!(
            (0x4_c000..=0xe_8000 - bytes).contains(&address),
            "{row:?} is in the SRAM"
        );
        let is_interleaved = row["class"].text == "interleaved";
        assert!(!is_interleaved || address >= 0x8_0000, "{row:?}");
    }
    for picture in ["tile-map", "high-water"] {
        let (ink, all) = viewer.ink(picture).await;
        assert!(ink * 50 > all, "{picture} is drawn: {ink} of {all} pixels");
    }
    let other: u32 = viewer
        .eval(
            "+document.querySelector('[data-testid=fullest-table] tbody tr:nth-child(3) button') \
             .innerText.replace(/\\D/g, '')",
        )
        .await;
    viewer
        .click("[data-testid=fullest-table] tbody tr:nth-child(3) button")
        .await;
    viewer
        .wait(&format!(
            "document.querySelector('[data-testid=tile-memory-tile]').innerText === '{other}'"
        ))
        .await;
    // Another tile is typed, and taken back.
    let typed: String = viewer
        .eval(
            "(() => { const it = document.querySelector('[data-testid=memory-tile]'); \
             it.focus(); document.execCommand('insertText', false, '1'); return it.value; })()",
        )
        .await;
    assert_ne!(typed, other.to_string());
    viewer.key("Escape", "Escape").await;
    viewer
        .wait("document.activeElement === document.body")
        .await;
    let kept: String = viewer
        .eval("document.querySelector('[data-testid=memory-tile]').value")
        .await;
    assert_eq!(kept, other.to_string());
    let address = viewer.address().await;
    assert!(address.contains(&format!("&tile={other}")), "{address}");
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_package_in_a_tab_is_asked_nothing_about_the_profile_in_another() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.drop_files(&[&demo().package]).await;
    viewer.wait(READY).await;
    viewer.drop_files(&[&demo().profile]).await;
    viewer
        .wait("document.querySelectorAll('[data-testid=profile]').length === 2")
        .await;
    viewer.settled().await;
    viewer.press("show-memory").await;
    viewer
        .click("[data-testid=profile]:nth-of-type(1) button")
        .await;
    viewer
        .wait("document.body.dataset.state === 'package'")
        .await;
    viewer.wait(READY).await;
    let panels: u32 = viewer
        .eval("document.querySelectorAll('[data-testid=memory]').length")
        .await;
    assert_eq!(panels, 1, "the package's own");
    viewer
        .click("[data-testid=profile]:nth-of-type(2) button")
        .await;
    viewer.wait("document.body.dataset.state === 'ready'").await;
    viewer.press("show-figures").await;
    viewer.settled().await;
    viewer
        .click("[data-testid=profile]:nth-of-type(1) button")
        .await;
    viewer.wait(READY).await;
    let alarm: bool = viewer
        .eval("document.querySelector('[role=alert]') !== null")
        .await;
    assert!(!alarm, "nothing was asked that a package cannot answer");
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_brings_a_profile_its_package_and_a_tile() {
    let stack = Stack::start().await;
    let (profile, package) = (
        stack.upload(&demo().profile).await,
        stack.upload(&demo().package).await,
    );
    let link = format!("/a/{profile}#v=1&view=memory&package=%2Fa%2F{package}&tile=70");
    let mut viewer = Viewer::at(&stack.url(&link)).await;
    viewer.wait(READY).await;
    assert_eq!(viewer.text("tile-memory-tile").await, "70");
    viewer.settled().await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_package_is_refused_in_words() {
    let whole = std::fs::read(&demo().package).expect("the package is read");
    let path = target_folder("e2e/memory").join("cut.ipuexe");
    std::fs::write(&path, &whole[..whole.len() / 2]).expect("the file is written");
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.drop_files(&[&path]).await;
    let failure = viewer.failure().await;
    assert_eq!(failure.cause, "corrupt");
    assert!(
        failure.message.contains("no whole package"),
        "{}",
        failure.message
    );
    viewer.assert_quiet().await;
}

/// First cycle of the first item and last cycle of the last one on `tile`, by the command line.
fn cycles_by_command(tile: &str, items: [u64; 2]) -> [u64; 2] {
    let profile = demo().profile.to_str().expect("UTF-8");
    let words = [
        "profile-query",
        profile,
        "--tile",
        tile,
        "--group-by",
        "phase",
        "--json",
    ];
    let answer: Value = serde_json::from_str(&expect_output(&words)).expect("it is JSON");
    let groups = answer["groups"].as_array().expect("there are phases");
    let figure = |item: u64, name: &str| {
        let of_item = |it: &&Value| it["dimensions"]["phase"] == item;
        let group = groups.iter().find(of_item).expect("the tile was in it");
        group[name].as_u64().expect("a cycle")
    };
    [
        figure(items[0], "firstOffset"),
        figure(items[1], "lastOffset"),
    ]
}

/// Label, middle of the addresses and items of an allocation that lives for a part of the run.
fn allocation_by_command(tile: &str) -> (String, f64, [u64; 2]) {
    let package = demo().package.to_str().expect("UTF-8");
    let words = ["package-memory", package, "--tile", tile, "--json"];
    let answer: Value = serde_json::from_str(&expect_output(&words)).expect("it is JSON");
    let all = answer["tile"]["allocations"].as_array().expect("a list");
    let is_part = |it: &&Value| it["firstItem"] != 0 && it["lastItem"].is_u64();
    let large = all
        .iter()
        .filter(is_part)
        .max_by_key(|it| it["bytes"].as_u64());
    let it = large.expect("some memory is used again");
    let number = |name: &str| it[name].as_u64().expect("a number");
    let middle = number("address") + number("bytes") / 2;
    let label = it["label"].as_str().expect("a text").to_owned();
    let items = [number("firstItem"), number("lastItem")];
    (
        label,
        f64::from(u32::try_from(middle).expect("an address")),
        items,
    )
}

/// What was drawn last on a canvas as the plate of a cursor.
async fn plate(viewer: &Viewer, canvas: &str) -> Option<String> {
    let drawn = viewer.drawn_on(&format!("[data-testid={canvas}]")).await;
    let is_plate = |it: &&String| it.contains(" · ") && it.ends_with("µs");
    drawn.texts.iter().rev().find(is_plate).cloned()
}

const TWO_FRAMES: &str = "new Promise((done) => requestAnimationFrame(() => \
    requestAnimationFrame(() => done(1))))";

#[tokio::test(flavor = "multi_thread")]
async fn memory_lies_below_the_cycles_of_its_profile_under_one_cursor() {
    let tile = "974";
    let (label, address, items) = allocation_by_command(tile);
    let [from, to] = cycles_by_command(tile, items);
    let stack = Stack::start().await;
    let mut viewer = Viewer::watched(&stack.url("/")).await;
    viewer.wait("document.body.dataset.state === 'empty'").await;
    viewer.open_by_drop(&demo().profile).await;
    viewer.press("show-memory").await;
    viewer
        .choose_files("[data-testid=package-input]", &[&demo().package])
        .await;
    viewer.wait(READY).await;
    viewer.wait(&across("cycles")).await;
    viewer.settled().await;
    let _two: u32 = viewer.eval(TWO_FRAMES).await;
    let run: Vec<f64> = viewer
        .eval(
            "(() => { const it = document.querySelector('[data-testid=tile-map]'); \
             it.scrollIntoView(); const box = it.getBoundingClientRect(); \
             const span = document.querySelector('[data-testid=timeline]').dataset.span; \
             return [box.x, box.y, box.width, box.height, +span.split('-')[1]]; })()",
        )
        .await;
    let [x, y, width, height, run] = run[..] else {
        panic!("{run:?}");
    };
    let middle = f64::from(u32::try_from(from + to).expect("a short run")) / 2.0;
    let at_x = x + 44.0 + (width - 44.0) * middle / run;
    let sram = f64::from(0xe_8000 - 0x4_c000);
    let at_y = y + 20.0 + (height - 102.0) * (address - f64::from(0x4_c000)) / sram;
    viewer.hover(at_x, at_y).await;
    let said = "document.querySelector('[data-testid=memory-said]').innerText";
    viewer.wait(&format!("{said}.startsWith({label:?})")).await;
    let said: String = viewer.eval(said).await;
    let count = |cycle: u64| analytics::text::count(cycle).to_string();
    let cycles = format!("live in cycles {} – {}", count(from), count(to));
    assert!(said.contains(&cycles), "{said:?}, expected {cycles:?}");
    let _two: u32 = viewer.eval(TWO_FRAMES).await;
    let here = plate(&viewer, "memory-canvas").await;
    assert!(here.is_some(), "the cursor is drawn in the picture");
    assert_eq!(
        plate(&viewer, "timeline-overlay").await,
        here,
        "and in the timeline"
    );
    viewer.hover(4.0, 4.0).await;
    let _two: u32 = viewer.eval(TWO_FRAMES).await;
    zoomed_in_they_stay_below_each_other(&mut viewer).await;
    viewer.choose("across", "items").await;
    viewer.wait(&across("items")).await;
    assert!(viewer.address().await.contains("across=items"));
    viewer.assert_quiet().await;
}

/// The pointer over the zoomed timeline: the picture below has its cycle.
async fn zoomed_in_they_stay_below_each_other(viewer: &mut Viewer) {
    let whole = viewer.span().await;
    viewer.key("KeyW", "w").await;
    viewer.key("KeyD", "d").await;
    viewer.settled().await;
    assert_ne!(viewer.span().await, whole, "the view is another one");
    let _top: bool = viewer.eval("(window.scrollTo(0, 0), true)").await;
    let (x, y, width, height) = viewer.canvas().await;
    viewer.hover(x + width * 0.7, y + height * 0.5).await;
    let _two: u32 = viewer.eval(TWO_FRAMES).await;
    let above = plate(viewer, "timeline-overlay").await;
    assert!(above.is_some(), "the cursor is drawn in the timeline");
    assert_eq!(
        plate(viewer, "memory-canvas").await,
        above,
        "and in the picture"
    );
    viewer.choose("clock", "shared").await;
    viewer.settled().await;
    viewer.wait(&across("cycles")).await;
}

fn across(what: &str) -> String {
    format!("document.querySelector('[data-testid=tile-map]')?.dataset.across === '{what}'")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_that_is_not_of_the_package_or_too_coarse_is_not_put_beside_memory() {
    let folder = target_folder("e2e/memory");
    let path = |name: &str| folder.join(name).to_str().expect("UTF-8").to_owned();
    let (graph, synth) = (path("graph.ipuprofile"), path("synth.ipuprofile"));
    let package = demo().package.to_str().expect("UTF-8");
    let run = [
        "run",
        package,
        "--granularity",
        "graph",
        "--timing-only",
        "-o",
        &graph,
    ];
    let _said = expect_output(&run);
    let _said = expect_output(&["profile-synth", "--samples", "20000", "-o", &synth]);
    let stack = Stack::start().await;
    for (profile, why) in [
        (&graph, "has one sample a tile"),
        (&synth, "was recorded from another package"),
    ] {
        let mut viewer = Viewer::landing(&stack.url("/")).await;
        viewer.open_by_drop(Path::new(profile)).await;
        viewer.press("show-memory").await;
        viewer
            .choose_files("[data-testid=package-input]", &[&demo().package])
            .await;
        viewer.wait(READY).await;
        viewer.wait(&across("items")).await;
        let note = viewer.text("memory-note").await;
        assert!(note.contains(why), "{note}");
        viewer.assert_quiet().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_and_its_package_dropped_together_are_opened_beside_each_other() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.drop_files(&[&demo().package, &demo().profile]).await;
    viewer.settled().await;
    viewer.press("show-memory").await;
    viewer.wait(READY).await;
    assert_eq!(viewer.text("package-workload").await, "gemm-projections");
    assert!(viewer.text("profiles").await.is_empty(), "one tab");
    viewer.press("show-exchange").await;
    assert!(viewer.text("foreign-package").await.is_empty());
    // That of another program says nothing of this profile, and the page says so.
    let other = target_folder("e2e/memory").join("other.ipuexe");
    let place = other.to_str().expect("UTF-8");
    let _said = expect_output(&["compile", "attention-smoke", "-o", place]);
    viewer.drop_files(&[&other]).await;
    viewer.wait(READY).await;
    viewer.press("show-exchange").await;
    let said = viewer.text("foreign-package").await;
    assert!(said.contains("another package"), "{said}");
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_package_of_the_server_is_picked_by_its_address_and_the_link_keeps_it() {
    let stack = Stack::start().await;
    let profile = stack.upload(&demo().profile).await;
    let package = stack.upload(&demo().package).await;
    let mut viewer = Viewer::at(&stack.url(&format!("/a/{profile}#view=memory"))).await;
    viewer.settled().await;
    viewer.click("[data-testid=package-url]").await;
    let offered = "[...document.querySelectorAll('#package-offers option')].map((it) => it.value)";
    viewer
        .wait(&format!("{offered}.join() === '/a/{package}'"))
        .await;
    viewer.type_text(&format!("/a/{package}")).await;
    viewer.strike(Key::Enter).await;
    viewer.wait(READY).await;
    let address = viewer.address().await;
    let mut again = Viewer::at(&address).await;
    again.wait(READY).await;
    assert_eq!(again.text("package-workload").await, "gemm-projections");
    again.assert_quiet().await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_of_a_package_alone_fetches_it_from_where_it_was_opened() {
    let stack = Stack::start().await;
    let package = stack.upload(&demo().package).await;
    let mut viewer = Viewer::at(&stack.url(&format!("/a/{package}"))).await;
    viewer.wait(READY).await;
    viewer.watch_clipboard().await;
    viewer.click("[data-testid=memory-command]").await;
    let command = viewer.copied(0).await;
    let name = format!("{}.ipuexe", &package.to_string()[..12]);
    let fetch = format!(
        "ipu-stack fetch {} -o {name} && ",
        stack.url(&format!("/a/{package}"))
    );
    let rest = command.strip_prefix(&fetch).expect(&command);
    assert!(
        rest.starts_with(&format!("ipu-stack package-memory {name} ")),
        "{command}"
    );
    viewer.assert_quiet().await;
}
