//! Barriers and the critical path: for whom the tiles waited, and the way there.

use std::collections::BTreeMap;

use e2e::stack::{Stack, demo, expect_output};
use e2e::viewer::{Cell, Viewer};
use serde_json::Value;

/// What a command prints of the demo's profile.
fn told(command: &str, flags: &[&str]) -> Value {
    let profile = demo().profile.to_str().expect("a plain path");
    let words = [&[command, profile, "--limit", "0", "--json"][..], flags].concat();
    serde_json::from_str(&expect_output(&words)).expect("it prints JSON")
}

fn printed() -> Value {
    told("profile-critical-path", &[])
}

/// The boundary that ends a stretch; `None` at the end of the run.
fn boundary<'a>(barriers: &'a Value, stretch: &Value) -> Option<&'a Value> {
    let place = |it: &Value| (it["phase"].as_u64(), it["epoch"].as_u64());
    let list = barriers["barriers"].as_array().expect("barriers");
    list.iter()
        .find(|it| place(it) == place(stretch) && it["phase"].is_u64())
}

#[tokio::test(flavor = "multi_thread")]
async fn phases_are_those_of_the_command_line_and_a_press_goes_there() {
    let path = printed();
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    viewer.press("show-phases").await;
    let stretches = path["stretches"].as_array().expect("stretches");
    let rows = viewer.list("phase-table").await;
    assert_eq!(rows.len(), stretches.len().min(100));
    for (row, stretch) in rows.iter().zip(stretches) {
        let number = |name: &str| stretch[name].to_string();
        assert_eq!(row["start"].raw, number("start"), "{stretch}");
        assert_eq!(row["waiting"].raw, number("slackCycles"), "{stretch}");
        assert_eq!(row["straggler"].raw, number("straggler"), "{stretch}");
        assert_eq!(
            row["savedIfBalanced"].raw,
            number("savedIfBalancedCycles"),
            "{stretch}"
        );
    }
    check_barriers(&viewer, stretches).await;
    let kernels = viewer.list("path-table").await;
    assert_eq!(
        kernels.len(),
        path["kernels"].as_array().expect("kernels").len()
    );
    let (ink, all) = viewer.ink("waterfall").await;
    assert!(
        ink * 20 > all,
        "the waterfall is drawn: {ink} of {all} pixels"
    );
    let before = viewer.span().await;
    viewer
        .click("[data-testid=phase-table] tbody tr:nth-child(2) button")
        .await;
    viewer
        .wait(&format!(
            "document.querySelector('[data-testid=timeline]').dataset.span !== '{before}'"
        ))
        .await;
    viewer.settled().await;
    let (from, to) = (stretches[1]["start"].as_u64(), stretches[1]["end"].as_u64());
    let span = viewer.span().await;
    let (left, right) = span.split_once('-').expect("from-to");
    let (left, right): (u64, u64) = (left.parse().expect("from"), right.parse().expect("to"));
    assert!(
        Some(left) <= from && to <= Some(right),
        "{span} holds {from:?}..{to:?}"
    );
    assert!(viewer.address().await.contains("view=phases"));
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_part_of_the_link_and_the_answer_is_copied_as_printed() {
    let stack = Stack::start().await;
    let id = stack.upload(&demo().profile).await;
    let mut viewer =
        Viewer::at(&stack.url(&format!("/a/{id}#v=1&view=phases&order=waiting"))).await;
    viewer.settled().await;
    let waiting: Vec<u64> = viewer
        .list("phase-table")
        .await
        .iter()
        .map(|row| row["waiting"].raw.parse().expect("a number"))
        .collect();
    assert!(waiting.is_sorted_by(|a, b| a >= b), "{waiting:?}");
    viewer.watch_clipboard().await;
    viewer.press("phases-answer").await;
    let copied: Value = serde_json::from_str(&viewer.copied(0).await).expect("JSON");
    assert_eq!(copied, printed());
    viewer.press("phases-command").await;
    let command = viewer.copied(1).await;
    assert!(command.contains("profile-critical-path"), "{command}");
    viewer.press("barriers-answer").await;
    let profile = demo().profile.to_str().expect("a plain path");
    let barriers = expect_output(&["profile-barriers", profile, "--limit", "0", "--json"]);
    assert_eq!(viewer.copied(2).await, barriers, "byte for byte");
    viewer.press("barriers-command").await;
    let command = viewer.copied(3).await;
    assert!(command.contains("profile-barriers"), "{command}");
    viewer.press("phase-table-csv").await;
    let csv = viewer.copied(4).await;
    assert!(csv.starts_with("phase,start,cycles,"), "{csv}");
    viewer.assert_quiet().await;
}

/// Arrival spreads, culprits and late tiles are those of `profile-barriers`.
async fn check_barriers(viewer: &Viewer, stretches: &[Value]) {
    let barriers = told("profile-barriers", &[]);
    let mut spreads = 0;
    for (row, stretch) in viewer.list("phase-table").await.iter().zip(stretches) {
        let spread = boundary(&barriers, stretch).map(|it| it["arrivalSpreadCycles"].to_string());
        assert_eq!(
            row["arrivalSpread"].raw,
            spread.unwrap_or_else(|| "0".to_owned()),
            "{stretch}"
        );
        let tied = boundary(&barriers, stretch).map(|it| match it["isTie"].as_bool() {
            Some(true) => it["lateTileCount"].to_string(),
            _ => "0".to_owned(),
        });
        assert_eq!(
            row["tied"].raw,
            tied.unwrap_or_else(|| "null".to_owned()),
            "{stretch}"
        );
        spreads += u32::from(row["arrivalSpread"].raw != "0");
    }
    assert!(spreads > 0, "some tiles arrive before others");
    let culprits = barriers["culprits"].as_array().expect("culprits");
    let rows = viewer.list("culprit-table").await;
    assert_eq!(rows.len(), culprits.len());
    for (row, it) in rows.iter().zip(culprits) {
        if let Some(kernel) = it["kernel"].as_str().filter(|it| !it.is_empty()) {
            assert_eq!(row["kernel"].text, kernel);
        }
        assert_eq!(row["waiting"].raw, it["waitingCycles"].to_string(), "{it}");
        assert_eq!(row["barriers"].raw, it["barrierCount"].to_string(), "{it}");
        assert_eq!(row["tiles"].raw, it["tileCount"].to_string(), "{it}");
    }
    let tiles = barriers["tiles"].as_array().expect("tiles");
    let late = tiles.iter().filter(|it| it["lastAtCount"] != 0).count();
    let rows = viewer.list("late-tile-table").await;
    assert_eq!(rows.len(), late.min(100));
    for row in &rows {
        let of_row = |it: &&Value| it["physicalTile"].as_u64() == Some(read(&row["tile"].text));
        let it = tiles.iter().find(of_row).expect("a tile of the profile");
        let number = |name: &str| it[name].as_u64().expect("a count");
        let waited = number("waitingCycles") + number("waitingInExchangeCycles");
        assert_eq!(row["waiting"].raw, waited.to_string(), "{it}");
        for (column, name) in [
            ("caused", "causedWaitingCycles"),
            ("lastAt", "lastAtCount"),
            ("barrier", "barrierCycles"),
        ] {
            assert_eq!(row[column].raw, number(name).to_string(), "{it}");
        }
    }
}

/// A number as people read it, in the first cell of a row too.
fn read(text: &str) -> u64 {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse().expect("a number")
}

/// The canvas that marks are drawn on.
const OVERLAY: &str = "[data-testid=timeline-overlay]";

/// Whether the straggler of a stretch is named on the timeline.
fn marks(stretch: &Value) -> String {
    let mark = format!("tile {} comes last", stretch["straggler"]);
    format!("window.drawnOn('{OVERLAY}').texts.includes('{mark}')")
}

/// The demo's profile at its address with the phases shown.
async fn opened(stack: &Stack) -> Viewer {
    let id = stack.upload(&demo().profile).await;
    let mut viewer = Viewer::watched(&stack.url(&format!("/a/{id}#v=1&view=phases"))).await;
    viewer.settled().await;
    viewer
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pressed_bar_of_the_waterfall_marks_its_straggler() {
    let path = printed();
    let stack = Stack::start().await;
    let mut viewer = opened(&stack).await;
    let whole = viewer.span().await;
    // The middle of the first bar; the plot lies below 46 pixels of ruler.
    let (x, y, width): (f64, f64, f64) = viewer
        .eval(
            "(() => { const it = document.querySelector('[data-testid=waterfall]'); \
             it.scrollIntoView({ block: 'center' }); const box = it.getBoundingClientRect(); \
             return [box.x, box.y, box.width]; })()",
        )
        .await;
    let place = (x + width / 2.0, y + 46.0 + 6.0);
    viewer.hover(place.0, place.1).await;
    viewer
        .wait(
            "document.querySelector('[data-testid=waterfall-said]').innerText \
             .includes('waits for tile')",
        )
        .await;
    let said = viewer.text("waterfall-said").await;
    let (name, _) = said.split_once(": ").expect("a name first");
    let table = viewer.list("phase-table").await;
    let at = table.iter().position(|row| row["phase"].text == name);
    let at = at.expect("the table has it too");
    let row = &table[at];
    for (label, column) in [
        ("arrival spread", "arrivalSpread"),
        ("longest slack", "maximumSlack"),
        ("waiting", "waiting"),
    ] {
        let figure = format!("{label} {}", row[column].text);
        assert!(said.contains(&figure), "{figure}: {said}");
    }
    viewer.click_at(place.0, place.1).await;
    let mark = marks(&path["stretches"][at]);
    viewer.wait(&mark).await;
    viewer.settled().await;
    assert_ne!(viewer.span().await, whole, "the phase is closer");
    assert_eq!(viewer.text("pressed-phase").await, said);
    let address = viewer.address().await;
    assert!(address.contains("&phase="), "{address}");

    let mut again = Viewer::watched(&address).await;
    again.wait(&mark).await;
    again.settled().await;
    again.press("phase-clear").await;
    again.wait(&format!("!{mark}")).await;
    again.assert_quiet().await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tiles_of_a_pressed_phase_are_listed_by_their_slack() {
    let path = printed();
    let stretches = path["stretches"].as_array().expect("stretches");
    let has_slack = |it: &Value| it["slackCycles"] != 0 && it["phase"].is_u64();
    let at = stretches.iter().position(has_slack);
    let at = at.expect("tiles wait somewhere");
    let stretch = &stretches[at];
    let barriers = told("profile-barriers", &[]);
    let ended = boundary(&barriers, stretch).expect("an exchange ends it");
    let stack = Stack::start().await;
    let mut viewer = opened(&stack).await;
    viewer
        .click(&format!(
            "[data-testid=phase-table] tbody tr:nth-child({}) button",
            at + 1
        ))
        .await;
    viewer
        .wait("document.querySelector('[data-testid=slack]')?.dataset.state === 'ready'")
        .await;
    viewer.wait(&marks(stretch)).await;
    let tiles = viewer.list("slack-table").await;
    let slack = |it: &BTreeMap<String, Cell>| it["slack"].raw.parse::<u64>().expect("a count");
    let straggler = stretch["straggler"].as_u64().expect("some tile comes last");
    assert_eq!(read(&tiles[0]["tile"].text), straggler);
    assert_eq!(slack(&tiles[0]), 0, "the straggler comes first");
    assert_eq!(tiles[0]["arrival"].raw, stretch["end"].to_string());
    assert!(tiles.is_sorted_by_key(slack));
    let late_by = ended["lateByCycles"].as_u64();
    assert_eq!(Some(slack(&tiles[1])), late_by, "of the next one");
    viewer.click("[data-testid=slack] .more").await;
    let rows = "document.querySelectorAll('[data-testid=slack-table] tbody tr').length";
    let count = &stretch["tileCount"];
    viewer.wait(&format!("{rows} === {count}")).await;
    let sum: u64 = viewer.list("slack-table").await.iter().map(slack).sum();
    assert_eq!(Some(sum), stretch["slackCycles"].as_u64());
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_straggler_out_of_view_is_brought_into_it() {
    let path = printed();
    let stretches = path["stretches"].as_array().expect("stretches");
    let (row, straggler) = (1..)
        .zip(stretches)
        .find_map(|(row, it)| Some((row, it["straggler"].as_u64()?)))
        .expect("some tile comes last");
    let first = if straggler < 700 { 1_400 } else { 0 };
    let stack = Stack::start().await;
    let id = stack.upload(&demo().profile).await;
    let link = format!("/a/{id}#v=1&view=phases&tiles={first}-{}", first + 39);
    let mut viewer = Viewer::at(&stack.url(&link)).await;
    viewer.settled().await;
    viewer
        .click(&format!(
            "[data-testid=phase-table] tbody tr:nth-child({row}) button"
        ))
        .await;
    viewer
        .wait(&format!("!location.hash.includes('tiles={first}-')"))
        .await;
    viewer.settled().await;
    let tiles: String = viewer
        .eval("location.hash.match(/[&#]tiles=([^&]*)/)[1]")
        .await;
    let (low, high) = tiles.split_once('-').expect("from-to");
    let (low, high) = (read(low), read(high));
    assert!((low..=high).contains(&straggler), "{straggler} in {tiles}");
    assert_eq!(high - low, 39, "as many tiles as before");
    viewer.assert_quiet().await;
}

/// The longest synchronization of a tile, as `profile-query` lists it.
fn longest_wait(tile: &str) -> Value {
    let flags = [
        "--kind",
        "sync",
        "--tile",
        tile,
        "--samples",
        "1",
        "--clock",
        "cropped",
    ];
    told("profile-query", &flags)["samples"][0].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_synchronization_says_who_made_the_tile_wait() {
    let barriers = told("profile-barriers", &[]);
    let stack = Stack::start().await;
    let id = stack.upload(&demo().profile).await;
    let wait = longest_wait("700");
    let number = |name: &str| wait[name].as_u64().expect("a count");
    let (start, cycles) = (number("offset"), number("duration"));
    let row = boundary(&barriers, &wait).expect("tiles meet there");
    // One tile more than fits would be shown otherwise: four rows around it.
    let link = format!("/a/{id}#v=1&t={start}-{}&tiles=700-703", start + cycles);
    let mut viewer = Viewer::at(&stack.url(&link)).await;
    viewer.settled().await;
    let (x, y, width, height) = viewer.canvas().await;
    let top = y + 46.0 + (height - 46.0) / 8.0;
    viewer.hover(x + 44.0 + (width - 44.0) / 2.0, top).await;
    viewer
        .wait("document.querySelector('[data-testid=tooltip-culprit]')")
        .await;
    assert_eq!(viewer.text("tooltip-tile").await, "700");
    let count = |it: &Value| analytics::text::count(it.as_u64().expect("a count"));
    let culprit = viewer.text("tooltip-culprit").await;
    let named = format!(
        "tile {}, by {} cycles",
        row["lastArrivingTile"],
        count(&row["lateByCycles"])
    );
    assert_eq!(culprit, named);
    let because = viewer.text("tooltip-culpritKernel").await;
    match row["lateKernel"].as_str() {
        Some(kernel) => assert!(because.starts_with(kernel), "{because}"),
        None => assert!(because.starts_with("no kernel"), "{because}"),
    }
    let first = |text: String| read(text.split_once(" cycles").expect("cycles").0);
    let waiting = first(viewer.text("tooltip-waiting").await);
    let barrier = first(viewer.text("tooltip-barrier").await);
    assert_eq!(waiting + barrier, cycles, "all of it is one or the other");
    let (last, zero) = (row["lastEntry"].as_u64(), crop());
    assert_eq!(
        Some(start + waiting + zero),
        last,
        "until the last tile came"
    );
    viewer.assert_quiet().await;
}

/// The zero of the cropped clock on the shared one.
fn crop() -> u64 {
    let span = |clock: &str| {
        let answer = told("profile-query", &["--clock", clock]);
        answer["profileSpanCycles"].as_u64().expect("a count")
    };
    span("shared") - span("cropped")
}
