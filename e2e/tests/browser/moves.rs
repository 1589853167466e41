//! Moving about: jumps and brushes and the way back from them, the strip, keys, fingers.

use e2e::hand::Key;
use e2e::stack::{Stack, demo};
use e2e::viewer::Viewer;
use serde_json::Value;

use crate::part::place_of;

/// The demo's profile at its address, with a fragment.
async fn opened(stack: &Stack, fragment: &str) -> Viewer {
    let id = stack.upload(&demo().profile).await;
    let mut viewer = Viewer::at(&stack.url(&format!("/a/{id}#v=1{fragment}"))).await;
    viewer.settled().await;
    viewer
}

fn shows(span: &str) -> String {
    format!("document.querySelector('[data-testid=timeline]').dataset.span === '{span}'")
}

/// First and last cycle of what is in view.
fn ends(span: &str) -> (f64, f64) {
    let (from, to) = span.split_once('-').expect("from-to");
    (
        from.parse().expect("a number"),
        to.parse().expect("a number"),
    )
}

/// Entries of the browser's history.
async fn entries(viewer: &Viewer) -> u32 {
    viewer.eval("history.length").await
}

/// Presses a row of a table and waits for what it brings into view.
async fn jump(viewer: &mut Viewer, table: &str, row: usize) -> String {
    let before = viewer.span().await;
    viewer
        .click(&format!(
            "[data-testid={table}] tbody tr:nth-child({row}) button"
        ))
        .await;
    viewer.wait(&format!("!({})", shows(&before))).await;
    viewer.settled().await;
    viewer.span().await
}

#[tokio::test(flavor = "multi_thread")]
async fn jumps_are_undone_one_by_one() {
    let stack = Stack::start().await;
    let mut viewer = opened(&stack, "&view=phases").await;
    let (whole, first) = (viewer.span().await, entries(&viewer).await);
    // One right after the other.
    let second = jump(&mut viewer, "phase-table", 2).await;
    let third = jump(&mut viewer, "phase-table", 3).await;
    assert_ne!(second, third);
    assert_eq!(entries(&viewer).await, first + 2, "an entry for each jump");
    viewer.key("KeyZ", "z").await;
    viewer.wait(&shows(&second)).await;
    viewer.key("KeyZ", "z").await;
    viewer.wait(&shows(&whole)).await;
    viewer.settled().await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_browser_goes_back_through_jumps_and_what_was_zoomed_before() {
    let stack = Stack::start().await;
    let mut viewer = opened(&stack, "&view=phases").await;
    let whole = viewer.span().await;
    viewer.press("zoom-in").await;
    let zoomed = viewer.span().await;
    // The address has not followed the zoom yet: the jump must not lose it.
    let second = jump(&mut viewer, "phase-table", 2).await;
    let _gone: Value = viewer.eval("history.back()").await;
    viewer.wait(&shows(&zoomed)).await;
    let _came: Value = viewer.eval("history.forward()").await;
    viewer.wait(&shows(&second)).await;
    viewer.settled().await;
    assert_ne!(whole, zoomed);
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tile_that_is_jumped_to_is_left_again() {
    let stack = Stack::start().await;
    let mut viewer = opened(&stack, "&view=phases").await;
    let before = entries(&viewer).await;
    let press = "[data-testid=late-tile-table] tbody tr:first-child button";
    viewer.click(press).await;
    viewer.wait("location.hash.includes('tiles=')").await;
    viewer.settled().await;
    assert_eq!(entries(&viewer).await, before + 1);
    viewer.key("KeyZ", "z").await;
    viewer.wait("!location.hash.includes('tiles=')").await;
    viewer.click(press).await;
    viewer.wait("location.hash.includes('tiles=')").await;
    let _gone: Value = viewer.eval("history.back()").await;
    viewer.wait("!location.hash.includes('tiles=')").await;
    viewer.settled().await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_brush_is_one_step_however_slow_it_is() {
    let stack = Stack::start().await;
    let mut viewer = opened(&stack, "&view=chip").await;
    let before = entries(&viewer).await;
    let rows = [2, 3, 5, 7].map(|row| row * 64 + 20);
    let mut places = Vec::new();
    for tile in rows {
        places.push(place_of(&viewer, tile).await);
    }
    viewer.hold_at(places[0]).await;
    let mut brushed = String::new();
    for &place in &places[1..] {
        viewer.drag_to(place).await;
        // The address follows after a rest: the brush is held still for as long.
        viewer
            .wait(&format!(
                "/tiles=/.test(location.hash) && location.hash !== '{brushed}'"
            ))
            .await;
        brushed = viewer.eval("location.hash").await;
    }
    viewer.release_at(places[3]).await;
    viewer.settled().await;
    assert_eq!(entries(&viewer).await, before + 1, "one entry");
    viewer.key("KeyZ", "z").await;
    viewer.wait("!location.hash.includes('tiles=')").await;
    viewer.key("KeyZ", "z").await;
    viewer.settled().await;
    assert!(!viewer.address().await.contains("tiles="), "one step");
    let _gone: Value = viewer.eval("history.back()").await;
    viewer.wait("!location.hash.includes('tiles=')").await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_strip_moves_the_view_through_the_run() {
    let stack = Stack::start().await;
    let mut viewer = opened(&stack, "").await;
    let run = ends(&viewer.span().await).1;
    for _ in 0..4 {
        viewer.press("zoom-in").await;
    }
    let zoomed = viewer.span().await;
    let (x, y, width, height): (f64, f64, f64, f64) = viewer
        .eval(
            "(() => { const it = document.querySelector('[data-testid=strip] canvas'); \
             it.scrollIntoView({ block: 'center' }); const box = it.getBoundingClientRect(); \
             return [box.x, box.y, box.width, box.height]; })()",
        )
        .await;
    // Its time lies right of 44 pixels, as that of the plot.
    let at = |part: f64| (x + 44.0 + (width - 44.0) * part, y + height / 2.0);
    let (left, top) = at(0.75);
    viewer.click_at(left, top).await;
    viewer.wait(&format!("!({})", shows(&zoomed))).await;
    viewer.settled().await;
    let is_middle = |span: &str, part: f64| {
        let (from, to) = ends(span);
        let off = f64::midpoint(from, to) / run - part;
        assert!(off.abs() < 0.01, "{span} of {run} is {off} off {part}");
    };
    let pressed = viewer.span().await;
    is_middle(&pressed, 0.75);
    let length = |span: &str| ends(span).1 - ends(span).0;
    assert!((length(&pressed) - length(&zoomed)).abs() < 1.0, "no zoom");
    viewer.drag(at(0.75), at(0.4)).await;
    viewer.wait(&format!("!({})", shows(&pressed))).await;
    viewer.settled().await;
    is_middle(&viewer.span().await, 0.4);
    viewer.assert_quiet().await;
}

/// Cycles of the selection, as the address has them.
async fn selected(viewer: &Viewer) -> String {
    viewer
        .eval("location.hash.match(/[&#]sel=([^&]*)/)?.[1] ?? ''")
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn brackets_select_by_keyboard() {
    let stack = Stack::start().await;
    let mut viewer = opened(&stack, "").await;
    let whole = viewer.span().await;
    viewer.press("zoom-in").await;
    let zoomed = viewer.span().await;
    // Without a pointer the ends are those of the view.
    viewer.key("BracketLeft", "[").await;
    viewer.wait("location.hash.includes('sel=')").await;
    assert_eq!(selected(&viewer).await, zoomed);
    viewer.press("zoom-reset").await;
    viewer.key("BracketRight", "]").await;
    let longer = format!("{}-{}", ends(&zoomed).0, ends(&whole).1);
    viewer
        .wait(&format!("location.hash.includes('sel={longer}')"))
        .await;
    // With one they are where it is.
    let (x, y, width, height) = viewer.canvas().await;
    viewer.hover(x + width * 0.5, y + height * 0.5).await;
    viewer
        .wait("document.querySelector('[data-testid=tooltip]')")
        .await;
    viewer.key("BracketRight", "]").await;
    viewer
        .wait(&format!("!location.hash.includes('sel={longer}')"))
        .await;
    let (from, to) = ends(&selected(&viewer).await);
    let part = (width * 0.5 - 44.0) / (width - 44.0);
    let off = to / ends(&whole).1 - part;
    assert!(
        off.abs() < 0.002,
        "{to} is {off} of the run off the pointer"
    );
    assert!((from - ends(&zoomed).0).abs() < 1.0, "the other end stays");
    assert_eq!(viewer.span().await, whole, "selecting does not move");
    viewer
        .wait("document.querySelector('[data-testid=selection]')?.dataset.state === 'ready'")
        .await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_mark_opens_the_help_and_escape_closes_it() {
    let stack = Stack::start().await;
    let mut viewer = opened(&stack, "").await;
    viewer.key("Slash", "?").await;
    viewer
        .wait("document.querySelector('[data-testid=help]')")
        .await;
    let help = viewer.text("help").await;
    for said in ["[ ]", "pinch", "zoom time", "Coverage"] {
        assert!(help.contains(said), "{said}: {help}");
    }
    viewer.key("Escape", "Escape").await;
    viewer
        .wait("!document.querySelector('[data-testid=help]')")
        .await;
    viewer.press("help-toggle").await;
    viewer
        .wait("document.querySelector('[data-testid=help]')")
        .await;
    viewer.key("Slash", "?").await;
    viewer
        .wait("!document.querySelector('[data-testid=help]')")
        .await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn arrow_keys_scroll_a_wide_table_and_pan_elsewhere() {
    const TABLE: &str = "section.figures .scroll";
    let stack = Stack::start().await;
    let mut viewer = opened(&stack, "").await;
    viewer.resize(600, 800, 1.0).await;
    viewer.press("zoom-in").await;
    let span = viewer.span().await;
    let focus = |selector: &str| {
        format!(
            "(() => {{ const it = document.querySelector('{selector}'); it.focus(); \
             return document.activeElement === it; }})()"
        )
    };
    assert!(viewer.eval::<bool>(&focus(TABLE)).await);
    viewer.strike(Key::ArrowRight).await;
    viewer
        .wait(&format!("document.querySelector('{TABLE}').scrollLeft > 0"))
        .await;
    assert_eq!(viewer.span().await, span, "the view stays");
    assert!(viewer.eval::<bool>(&focus(".plot")).await);
    viewer.strike(Key::ArrowRight).await;
    viewer.wait(&format!("!({})", shows(&span))).await;
    viewer.settled().await;
    let (before, after) = (ends(&span), ends(&viewer.span().await));
    assert!(after.0 > before.0, "{before:?} to {after:?}");
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_fingers_zoom_time_between_them() {
    let stack = Stack::start().await;
    let mut viewer = opened(&stack, "").await;
    let whole = viewer.span().await;
    let (x, y, width, height) = viewer.canvas().await;
    let plot = width - 44.0;
    let at = |part: f64| (x + 44.0 + plot * part, y + height * 0.5);
    // Around 30 % of the run, twice as far apart in the end.
    let (from, to) = ([at(0.2), at(0.4)], [at(0.1), at(0.5)]);
    viewer.pinch(from, to).await;
    viewer.wait(&format!("!({})", shows(&whole))).await;
    viewer.settled().await;
    let (left, right) = ends(&viewer.span().await);
    let run = ends(&whole).1;
    let (length, middle) = ((right - left) / run, (left + (right - left) * 0.3) / run);
    assert!(
        (length - 0.5).abs() < 0.02,
        "{length} of the run is in view"
    );
    assert!((middle - 0.3).abs() < 0.02, "{middle} lies at 30 %");
    assert!(!viewer.address().await.contains("tiles="), "tiles stay");
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rectangle_has_the_cycle_of_its_end_and_escape_gives_it_up() {
    let stack = Stack::start().await;
    let id = stack.upload(&demo().profile).await;
    let mut viewer = Viewer::watched(&stack.url(&format!("/a/{id}"))).await;
    viewer.settled().await;
    let overlay = "window.drawnOn('[data-testid=timeline-overlay]').texts";
    let (x, y, width, _) = viewer.canvas().await;
    // A drag over the ruler selects.
    let at = |part: f64| (x + width * part, y + 10.0);
    viewer.hold_at(at(0.3)).await;
    let mut plates = Vec::new();
    for part in [0.5, 0.7] {
        viewer.drag_to(at(part)).await;
        let before = plates.last().cloned().unwrap_or_default();
        let plate = format!("{overlay}.find((it) => it.includes(' · '))");
        viewer
            .wait(&format!("({plate} ?? {before:?}) !== {before:?}"))
            .await;
        plates.push(viewer.eval::<String>(&plate).await);
    }
    assert_ne!(plates[0], plates[1], "the plate goes with the pointer");
    viewer.key("Escape", "Escape").await;
    viewer.wait(&format!("{overlay}.length === 0")).await;
    viewer.release_at(at(0.7)).await;
    let selected = "location.hash.includes('sel=')";
    let is_selected: bool = viewer.eval(selected).await;
    assert!(!is_selected, "nothing is selected");
    // And one that is let go of is.
    viewer.drag(at(0.3), at(0.7)).await;
    viewer.wait(selected).await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_is_read_without_a_pointer() {
    let stack = Stack::start().await;
    let mut viewer = opened(&stack, "&tiles=700-704").await;
    for _ in 0..6 {
        viewer.key("KeyW", "w").await;
    }
    viewer.drawn().await;
    viewer.key("KeyI", "i").await;
    let is_read = "document.querySelector('[data-testid=tooltip]') !== null";
    viewer.wait(is_read).await;
    let read = viewer.text("tooltip").await;
    // The view moves below it, so that another sample is read.
    for _ in 0..8 {
        viewer.key("KeyD", "d").await;
    }
    let other = format!(
        "![null, undefined, {}].includes( \
         document.querySelector('[data-testid=tooltip]')?.innerText)",
        serde_json::to_string(&read).expect("a text")
    );
    viewer.wait(&other).await;
    viewer.key("Escape", "Escape").await;
    viewer.wait(&format!("!({is_read})")).await;
    for _ in 0..8 {
        viewer.key("KeyA", "a").await;
    }
    viewer.drawn().await;
    // The pointer at the same place reads the same.
    let (x, y, width, height) = viewer.canvas().await;
    viewer.key("KeyI", "i").await;
    viewer.wait(is_read).await;
    let read = viewer.text("tooltip").await;
    viewer.key("KeyI", "i").await;
    viewer.wait(&format!("!({is_read})")).await;
    // Left of the plot are the names of rows, above it is the ruler.
    let (left, top) = (44.0, 46.0);
    let middle = (x + (width + left) / 2.0, y + (height + top) / 2.0);
    viewer.hover(middle.0, middle.1).await;
    viewer.wait(is_read).await;
    assert_eq!(viewer.text("tooltip").await, read);
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_that_trembles_and_a_tap_focus_what_is_under_them() {
    let stack = Stack::start().await;
    let mut viewer = opened(&stack, "&tiles=700-704").await;
    let (x, y, width, height) = viewer.canvas().await;
    let middle = (x + width / 2.0, y + height / 2.0);
    viewer.hold_at(middle).await;
    viewer.drag_to((middle.0 + 2.0, middle.1 + 1.0)).await;
    viewer.release_at((middle.0 + 2.0, middle.1 + 1.0)).await;
    viewer.wait("location.hash.includes('kernel=')").await;
    viewer.settled().await;
    let [kernel] = &viewer.focused().await[..] else {
        panic!("one kernel is in focus");
    };
    let place = (x, y, width, height);
    assert_eq!(
        viewer.canvas().await,
        place,
        "the timeline stays below the pointer"
    );
    let span = viewer.span().await;
    viewer.tap(middle).await;
    viewer.wait("!location.hash.includes('kernel=')").await;
    viewer.tap(middle).await;
    viewer.wait("location.hash.includes('kernel=')").await;
    viewer.settled().await;
    assert_eq!(&viewer.focused().await, std::slice::from_ref(kernel));
    assert_eq!(viewer.span().await, span, "nothing was dragged");
    viewer.assert_quiet().await;
}
