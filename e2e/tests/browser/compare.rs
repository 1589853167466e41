//! Two profiles: differences as the command line prints them, a map, and one cursor.

use std::collections::BTreeMap;

use e2e::hand::Key;
use e2e::stack::{Stack, demo, detailed, expect_copied, expect_output};
use e2e::viewer::{Cell, Viewer};
use serde_json::Value;

use crate::copies;

/// The figures of a row are those of a change that was printed.
fn assert_is(row: &BTreeMap<String, Cell>, change: &Value, has_path: bool) {
    let name = change["name"].as_str().expect("a name");
    assert_eq!(row["name"].text, name, "{change}");
    let cycles = change["changeCycles"].to_string();
    assert_eq!(row["change"].raw, cycles, "{change}");
    if has_path {
        let on_path = change["pathChangeCycles"].to_string();
        assert_eq!(row["pathChange"].raw, on_path, "{change}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn differences_are_those_of_the_command_line() {
    let [exact, slower] = detailed();
    let words = [
        "profile-diff",
        exact.to_str().expect("UTF-8"),
        slower.to_str().expect("UTF-8"),
    ];
    let flags = ["--limit", "0", "--json"];
    let printed: Value = serde_json::from_str(&expect_output(&[&words[..], &flags].concat()))
        .expect("it prints JSON");
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(slower).await;
    viewer.press("show-compare").await;
    assert!(
        viewer
            .text("compare-hint")
            .await
            .contains("Drop a profile here")
    );
    viewer
        .choose_files("[data-testid=other-input]", &[exact])
        .await;
    viewer
        .wait("document.querySelector('[data-testid=differences]')?.dataset.state === 'ready'")
        .await;
    viewer.settled().await;
    for (pairs, name) in [
        ("kernel", "kernels"),
        ("phase", "phases"),
        ("operation", "operations"),
        ("tile", "tiles"),
        ("kind", "kinds"),
    ] {
        viewer.choose("pairs", pairs).await;
        let rows = viewer.list("compare-table").await;
        let changes = printed[name]["changes"].as_array().expect("changes");
        assert_eq!(rows.len(), changes.len().min(100), "{pairs}");
        for (row, change) in rows.iter().zip(changes) {
            assert_is(row, change, pairs != "tile");
        }
    }
    // By kind, what is on the path makes the whole difference of the runs, and is said in words.
    let rows = viewer.list("compare-table").await;
    let cycles = rows.iter().map(|row| &row["pathChange"]);
    let sum: i64 = cycles
        .map(|it| it.raw.parse::<i64>().expect("cycles"))
        .sum();
    assert_eq!(printed["run"]["changeCycles"], sum);
    let said = viewer.text("compare-parts").await;
    for row in rows {
        let part = format!("{} {}", row["name"].text, row["pathChange"].text);
        assert!(said.contains(&part), "{part} in {said}");
    }
    viewer
        .wait("document.querySelector('[data-testid=other-timeline]').dataset.state === 'drawn'")
        .await;
    let (ink, all) = viewer.ink("other-timeline").await;
    assert!(
        ink * 2 > all,
        "the other profile is drawn: {ink} of {all} pixels"
    );
    let (ink, _) = viewer.ink("change-map").await;
    assert!(ink > 0, "the map of change is drawn");
    viewer.assert_quiet().await;
}

/// Canvases on which the cursor is drawn: of the open profile, and of the other one.
const ABOVE: &str = "[data-testid=timeline-overlay]";
const BELOW: &str = "[data-testid=other-timeline] canvas";

/// Whether the newest picture on a canvas has a plate with a cycle and its time.
fn has_cursor(canvas: &str) -> String {
    format!("window.drawnOn('{canvas}').texts.some((it) => it.includes(' · '))")
}

/// The cycle and time of the cursor on a canvas.
async fn cursor(viewer: &Viewer, canvas: &str) -> Option<String> {
    let texts = viewer.drawn_on(canvas).await.texts;
    texts.into_iter().find(|it| it.contains(" · "))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_opens_both_and_one_cursor_is_on_both_timelines() {
    let [exact, slower] = detailed();
    let stack = Stack::start().await;
    let (before, after) = (stack.upload(exact).await, stack.upload(slower).await);
    // As continuous integration writes it: the base's whole link, not encoded.
    let base = stack.url(&format!("/a/{before}"));
    let link = format!("/a/{after}#view=compare&compare={base}");
    let mut viewer = Viewer::watched(&stack.url(&link)).await;
    viewer
        .wait("document.querySelector('[data-testid=differences]')?.dataset.state === 'ready'")
        .await;
    viewer.settled().await;
    viewer
        .wait("document.querySelector('[data-testid=other-timeline]').dataset.state === 'drawn'")
        .await;
    let both = [
        ("[data-testid=timeline-base]", ABOVE, BELOW),
        ("[data-testid=other-timeline]", BELOW, ABOVE),
    ];
    for (timeline, here, there) in both {
        assert_eq!(cursor(&viewer, there).await, None, "nothing is pointed at");
        let (x, y) = viewer.middle(timeline).await;
        viewer.hover(x + 20.0, y).await;
        viewer.wait(&has_cursor(there)).await;
        viewer.wait(&has_cursor(here)).await;
        let told = cursor(&viewer, there).await.expect("a cycle and a time");
        assert!(told.ends_with("µs"), "{told} has a time");
        assert_eq!(cursor(&viewer, here).await, Some(told), "{timeline}");
        viewer.hover(4.0, 4.0).await;
        viewer.wait(&format!("!({})", has_cursor(there))).await;
    }
    assert!(viewer.address().await.contains("&compare="));
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_compared_is_refused_in_words_until_somebody_insists() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    viewer.press("show-compare").await;
    viewer
        .choose_files("[data-testid=other-input]", &[&detailed()[0]])
        .await;
    viewer
        .wait("document.querySelector('[data-testid=compare-refusal]')")
        .await;
    let refusal = viewer.text("compare-refusal").await;
    assert!(refusal.contains("granularity"), "{refusal}");
    let can_copy = "!document.querySelector('[data-testid=compare-answer]').disabled";
    let can: bool = viewer.eval(can_copy).await;
    assert!(!can, "there is no answer to copy");
    let commands: u32 = viewer
        .eval("document.querySelectorAll('[data-testid=compare-command]').length")
        .await;
    assert_eq!(commands, 0, "and no command that prints one");
    viewer.press("compare-force").await;
    viewer
        .wait("document.querySelector('[data-testid=compare-table] tbody tr')")
        .await;
    let warnings = viewer.text("differences").await;
    assert!(
        warnings.contains("granularity"),
        "the warning stays: {warnings}"
    );
    viewer.wait(can_copy).await;
    viewer.watch_clipboard().await;
    let (json, command) = copies::answer(&mut viewer, "compare").await;
    let files = [demo().profile.as_path(), detailed()[0].as_path()];
    assert_eq!(expect_copied(&command, &files), json, "{command}");
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_insists_as_its_maker_did() {
    let stack = Stack::start().await;
    let (before, after) = (
        stack.upload(&detailed()[0]).await,
        stack.upload(&demo().profile).await,
    );
    let link = format!("/a/{after}#v=1&view=compare&compare=%2Fa%2F{before}");
    let mut viewer = Viewer::at(&stack.url(&link)).await;
    viewer
        .wait("document.querySelector('[data-testid=compare-refusal]')")
        .await;
    viewer.press("compare-force").await;
    viewer.wait("location.hash.includes('force=1')").await;
    let address = viewer.address().await;
    let mut again = Viewer::at(&address).await;
    again
        .wait("document.querySelector('[data-testid=compare-table] tbody tr')")
        .await;
    assert_eq!(again.text("compare-refusal").await, "");
    again.assert_quiet().await;
    viewer.assert_quiet().await;
}

/// One of the two runs of [`detailed`] open and the other one compared, by a link with more of the
/// view; and the ids of both.
async fn beside(stack: &Stack, open: usize, view: &str) -> (Viewer, [String; 2]) {
    let [here, there] = [open, 1 - open].map(|at| &detailed()[at]);
    let ids = [stack.upload(here).await, stack.upload(there).await].map(|it| it.to_string());
    let [here, there] = &ids;
    let link = format!("/a/{here}#v=1&view=compare{view}&compare=%2Fa%2F{there}");
    let mut viewer = Viewer::at(&stack.url(&link)).await;
    compared(&mut viewer).await;
    (viewer, ids)
}

#[tokio::test(flavor = "multi_thread")]
async fn before_and_after_are_swapped_and_the_link_keeps_it() {
    let stack = Stack::start().await;
    let (mut viewer, [open, other]) = beside(&stack, 0, "").await;
    viewer.watch_clipboard().await;
    let faster = viewer.text("compare-run").await;
    assert!(faster.starts_with("faster "), "{faster}");
    viewer.press("swap").await;
    viewer.wait("location.hash.includes('swap=1')").await;
    compared(&mut viewer).await;
    let slower_now = viewer.text("compare-run").await;
    assert!(slower_now.starts_with("slower "), "{slower_now}");
    let (json, command) = copies::answer(&mut viewer, "compare").await;
    let [before, after] = detailed().each_ref().map(|it| it.to_str().expect("UTF-8"));
    let words = ["profile-diff", before, after, "--limit", "0", "--json"];
    assert_eq!(expect_output(&words), json);
    let (_, words) = command.split_once("profile-diff ").expect("a comparison");
    let files: Vec<&str> = words.split(' ').take(2).collect();
    assert!(files[0].starts_with(&open[..12]), "{files:?}");
    assert!(files[1].contains(&other[..12]), "{files:?}");
    let address = viewer.address().await;
    let mut again = Viewer::at(&address).await;
    compared(&mut again).await;
    assert_eq!(again.text("compare-run").await, slower_now);
    again.press("swap").await;
    again.wait("!location.hash.includes('swap=')").await;
    compared(&mut again).await;
    assert_eq!(again.text("compare-run").await, faster);
    again.assert_quiet().await;
    viewer.assert_quiet().await;
}

/// First cycle in view and the one after the last.
fn ends(span: &str) -> (u64, u64) {
    let (from, to) = span.split_once('-').expect("two cycles");
    (from.parse().expect("cycles"), to.parse().expect("cycles"))
}

/// Whether the timeline shows other cycles than these.
fn has_left((from, to): (u64, u64)) -> String {
    format!("document.querySelector('[data-testid=timeline]').dataset.span !== '{from}-{to}'")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_longer_run_below_is_whole_in_view_and_moves_both() {
    let stack = Stack::start().await;
    let (mut viewer, [open, _]) = beside(&stack, 0, "").await;
    let mut lone = Viewer::at(&stack.url(&format!("/a/{open}"))).await;
    lone.settled().await;
    let alone = ends(&lone.span().await);
    let both = ends(&viewer.span().await);
    let [before, after] = detailed().each_ref().map(|it| it.to_str().expect("UTF-8"));
    let words = ["profile-diff", before, after, "--json"];
    let printed: Value = serde_json::from_str(&expect_output(&words)).expect("JSON");
    assert_eq!(printed["before"]["profileSpanCycles"], alone.1);
    assert_eq!(printed["after"]["profileSpanCycles"], both.1);
    assert_eq!((alone.0, both.0), (0, 0));
    assert!(
        both.1 > alone.1,
        "the longer one is whole: {both:?} {alone:?}"
    );
    assert_eq!(ends(&span_below(&viewer).await), both);
    // Other panels are of the open run alone.
    viewer.press("show-phases").await;
    viewer.settled().await;
    assert_eq!(ends(&viewer.span().await), alone);
    viewer.press("show-compare").await;
    compared(&mut viewer).await;
    assert_eq!(ends(&viewer.span().await), both);
    // The wheel and a drag over the picture below move both.
    let (x, y) = viewer.middle("[data-testid=other-timeline]").await;
    viewer.wheel(x, y, -400.0, true).await;
    viewer.wait(&has_left(both)).await;
    compared(&mut viewer).await;
    let zoomed = ends(&viewer.span().await);
    assert!(zoomed.1 - zoomed.0 < both.1, "{zoomed:?}");
    viewer.drag((x, y), (x - 100.0, y)).await;
    viewer.wait(&has_left(zoomed)).await;
    compared(&mut viewer).await;
    let dragged = ends(&viewer.span().await);
    assert_eq!(dragged.1 - dragged.0, zoomed.1 - zoomed.0, "it is moved");
    assert!(dragged.0 > zoomed.0, "to later cycles");
    assert_eq!(ends(&span_below(&viewer).await), dragged);
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_groups_below_too_and_a_drag_over_its_ruler_selects() {
    let stack = Stack::start().await;
    let (mut viewer, _) = beside(&stack, 0, "&rows=chip-column").await;
    let below = "document.querySelector('[data-testid=other-timeline]')";
    viewer
        .wait(&format!("{below}?.dataset.rows === 'chip-column'"))
        .await;
    compared(&mut viewer).await;
    let (ink, all) = viewer.ink("other-timeline").await;
    assert!(ink * 2 > all, "groups are drawn: {ink} of {all} pixels");
    let (x, y, width): (f64, f64, f64) = viewer
        .eval(&format!(
            "(() => {{ {below}.scrollIntoView({{ block: 'center' }}); \
             const box = {below}.getBoundingClientRect(); return [box.x, box.y, box.width]; }})()"
        ))
        .await;
    viewer.hover(x + width * 0.2, y + 120.0).await;
    let share = "document.querySelector('[data-testid=other-tooltip-tiles]')";
    viewer.wait(share).await;
    // The ruler is above the rows.
    let (from, to) = ((x + width * 0.3, y + 10.0), (x + width * 0.6, y + 30.0));
    viewer.drag(from, to).await;
    viewer.wait("location.hash.includes('&sel=')").await;
    let address = viewer.address().await;
    let (_, selected) = address.split_once("&sel=").expect("a selection");
    let selected = selected.split('&').next().expect("two cycles");
    let (from, to) = ends(selected);
    let whole = ends(&viewer.span().await);
    let part = |cycle: u64| cycle * 100 / whole.1;
    assert!((24..=34).contains(&part(from)), "{selected} of {whole:?}");
    assert!((54..=64).contains(&part(to)), "{selected} of {whole:?}");
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sample_under_the_pointer_below_is_the_other_profiles_and_is_focused_by_a_click() {
    let stack = Stack::start().await;
    let (mut viewer, _) = beside(&stack, 0, "").await;
    let (x, y) = viewer.middle("[data-testid=other-timeline]").await;
    viewer.hover(x, y).await;
    viewer
        .wait("document.querySelector('[data-testid=other-tooltip]')")
        .await;
    let kernel = viewer
        .eval::<String>("document.querySelector('[data-testid=other-tooltip] strong').innerText")
        .await;
    let number = |text: &str| -> String { text.chars().filter(char::is_ascii_digit).collect() };
    let tile = viewer.text("other-tooltip-tile").await;
    let range = viewer.text("other-tooltip-range").await;
    let (from, _) = range.split_once(" – ").expect("two cycles");
    // The file of the other profile says the same of that tile and cycle.
    let (path, at) = (detailed()[1].to_str().expect("UTF-8"), number(from));
    let words = [
        &["profile-query", path, "--tile", &tile, "--at-offset", &at][..],
        &["--samples", "1", "--json"],
    ];
    let printed: Value = serde_json::from_str(&expect_output(&words.concat())).expect("JSON");
    let sample = &printed["samples"][0];
    assert_eq!(sample["kernel"], kernel, "{printed}");
    assert_eq!(sample["offset"].to_string(), at, "{printed}");
    viewer.click_at(x, y).await;
    let focused = format!("location.hash.includes('kernel={kernel}')");
    viewer.wait(&focused).await;
    viewer.hover(4.0, 4.0).await;
    viewer
        .wait("!document.querySelector('[data-testid=other-tooltip]')")
        .await;
    viewer.assert_quiet().await;
}

/// Cycles in view of the other profile.
async fn span_below(viewer: &Viewer) -> String {
    viewer
        .eval("document.querySelector('[data-testid=other-timeline]').dataset.span")
        .await
}

/// Waits until both profiles are compared and drawn.
async fn compared(viewer: &mut Viewer) {
    viewer
        .wait("document.querySelector('[data-testid=differences]')?.dataset.state === 'ready'")
        .await;
    viewer.settled().await;
    viewer
        .wait("document.querySelector('[data-testid=other-timeline]').dataset.state === 'drawn'")
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pressed_operation_lays_both_over_each_other_and_the_link_keeps_it() {
    let stack = Stack::start().await;
    let (mut viewer, [after, before]) = beside(&stack, 1, "&pairs=operation").await;
    let whole = viewer.span().await;
    // Some operation starts later in the run that records more dearly.
    let (mut above, mut below) = (whole.clone(), whole.clone());
    let rows = viewer.list("compare-table").await.len();
    for row in 1..=rows {
        let button = format!("[data-testid=compare-table] tbody tr:nth-child({row}) button");
        viewer.click(&button).await;
        viewer.wait("location.hash.includes('align=')").await;
        compared(&mut viewer).await;
        (above, below) = (viewer.span().await, span_below(&viewer).await);
        if above != below {
            break;
        }
    }
    assert_ne!(above, whole, "the operation is in view");
    assert_ne!(above, below, "its two starts lie over each other");
    // Before the other profile begins, nothing of it is in view, and that is drawn too.
    let far =
        format!("/a/{after}#v=1&view=compare&t=0-64&align=4000000000-0&compare=%2Fa%2F{before}");
    let mut early = Viewer::at(&stack.url(&far)).await;
    compared(&mut early).await;
    assert_eq!(span_below(&early).await, "-4000000000--3999999936");
    early.assert_quiet().await;
    // Nor can what is before the open one be scrolled to: that is said.
    let before_it = far.replace("align=4000000000-0", "align=0-4321");
    let mut late = Viewer::at(&stack.url(&before_it)).await;
    compared(&mut late).await;
    let hint = late.text("beside-hint").await;
    assert!(hint.contains("first 4\u{202f}321 cycles"), "{hint}");
    late.assert_quiet().await;
    let address = viewer.address().await;
    let mut again = Viewer::at(&address).await;
    compared(&mut again).await;
    assert_eq!(again.span().await, above);
    assert_eq!(span_below(&again).await, below);
    again.press("unalign").await;
    again.wait("!location.hash.includes('align=')").await;
    assert_eq!(span_below(&again).await, above);
    let _gone: Value = again.eval("history.back()").await;
    again.wait("location.hash.includes('align=')").await;
    compared(&mut again).await;
    assert_eq!(span_below(&again).await, below);
    again.assert_quiet().await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_publishes_is_offered_to_compare_with() {
    let [exact, slower] = detailed();
    let stack = Stack::start().await;
    let (before, after) = (stack.upload(exact).await, stack.upload(slower).await);
    let _package = stack.upload(&demo().package).await;
    let mut viewer = Viewer::at(&stack.url(&format!("/a/{after}#view=compare"))).await;
    viewer.settled().await;
    viewer.click("[data-testid=other-url]").await;
    let offered = "[...document.querySelectorAll('#profile-offers option')]";
    viewer.wait(&format!("{offered}.length === 2")).await;
    let offers: Vec<String> = viewer
        .eval(&format!("{offered}.map((it) => it.value)"))
        .await;
    assert_eq!(offers, [format!("/a/{after}"), format!("/a/{before}")]);
    let labels: Vec<String> = viewer
        .eval(&format!("{offered}.map((it) => it.label)"))
        .await;
    assert!(labels[1].starts_with("gemm-projections, "), "{labels:?}");
    viewer.type_text(&offers[1]).await;
    viewer.strike(Key::Enter).await;
    compared(&mut viewer).await;
    let address = viewer.address().await;
    assert!(
        address.contains(&format!("compare=%2Fa%2F{before}")),
        "{address}"
    );
    viewer.assert_quiet().await;
}
