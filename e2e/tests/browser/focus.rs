//! The page by keyboard alone: what has the focus is in sight, and a ring shows it.

use e2e::stack::{Stack, demo};
use e2e::viewer::Viewer;
use serde::Deserialize;

/// What has the focus.
#[derive(Debug, Deserialize)]
struct Focused {
    /// Test id, or else its words.
    name: String,
    /// Whether it is inside of the window and nothing lies over it.
    in_sight: bool,
    /// Width of the ring in CSS pixels; 0 without one.
    ring: f64,
    /// Contrast of the ring with what lies around it.
    contrast: f64,
    /// Whether it had the focus before: the way round is complete.
    again: bool,
}

/// The element with the focus; a file input is seen by its label. `null` outside of the page.
const FOCUSED: &str = "(() => { const it = document.activeElement; \
    if (!it || it === document.body) return null; \
    const shown = it.closest('.button') ?? it; \
    const box = shown.getBoundingClientRect(); const style = getComputedStyle(shown); \
    const [left, top] = [Math.max(box.left, 0), Math.max(box.top, 0)]; \
    const [right, bottom] = [Math.min(box.right, innerWidth), Math.min(box.bottom, innerHeight)]; \
    const over = document.elementFromPoint((left + right) / 2, (top + bottom) / 2); \
    const linear = (it) => (it /= 255) <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4; \
    const light = (css) => { const [r, g, b] = css.match(/[\\d.]+/g).map(Number); \
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b) + 0.05; }; \
    let around = shown; const solid = (it) => !/, 0\\)$|transparent/ \
    .test(getComputedStyle(it).backgroundColor); \
    do around = around.parentElement; while (around.parentElement && !solid(around)); \
    const [a, b] = [style.outlineColor, getComputedStyle(around).backgroundColor].map(light); \
    globalThis.seen ??= new Set(); const again = seen.has(it); seen.add(it); \
    return { name: it.dataset.testid || it.ariaLabel || it.innerText.slice(0, 30), \
    in_sight: right - left > 1 && bottom - top > 1 && !!over && \
    (shown.contains(over) || over.contains(shown)), \
    ring: style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth), \
    contrast: Math.max(a, b) / Math.min(a, b), again }; })()";

/// Presses the tabulator key until it has been everywhere, and gives the names of what it reached.
async fn walked(viewer: &Viewer, most: usize) -> Vec<String> {
    let mut names = Vec::new();
    for _ in 0..most {
        viewer.press_tab().await;
        // Between the last element and the first one the focus is nowhere on the page.
        let Some(it) = viewer.eval::<Option<Focused>>(FOCUSED).await else {
            continue;
        };
        if it.again {
            return names;
        }
        assert!(it.in_sight, "{} is out of sight after {names:?}", it.name);
        assert!(it.ring >= 2.0, "{} has no ring: {it:?}", it.name);
        assert!(
            it.contrast >= 3.0,
            "the ring of {} is faint: {it:?}",
            it.name
        );
        names.push(it.name);
    }
    panic!("more than {most} stops: {names:?}");
}

/// Fails where a name was not reached.
fn assert_reached(names: &[String], expected: &[&str]) {
    for name in expected {
        assert!(
            names.iter().any(|it| it == name),
            "{name} is not reached: {names:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_focus_is_seen_on_the_landing_page_and_on_an_opened_profile() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    let names = walked(&viewer, 60).await;
    let everywhere = ["file-input", "theme-toggle", "help-toggle"];
    assert_reached(&names, &everywhere);
    assert_reached(&names, &["url-input", "Open"]);
    viewer.open_by_drop(&demo().profile).await;
    for _theme in 0..2 {
        let _fresh: bool = viewer
            .eval("(() => { document.activeElement?.blur(); seen.clear(); return true; })()")
            .await;
        let names = walked(&viewer, 250).await;
        assert_reached(&names, &everywhere);
        assert_reached(
            &names,
            &["badge-simulated", "zoom-in", "clock", "colour", "rows"],
        );
        assert_reached(&names, &["show-in-view", "find", "copy-json", "Figures"]);
        let rows = viewer.row_names().await;
        assert_reached(&names, &[rows[0].as_str()]);
        viewer.press("theme-toggle").await;
    }
    viewer.assert_quiet().await;
}
