//! Looking closer: zoom at the pointer, panning, reset, the tooltip, the keyboard.

use e2e::stack::{Stack, demo};
use e2e::viewer::Viewer;

/// First and last cycle in view.
async fn span(viewer: &Viewer) -> (u64, u64) {
    let text = viewer.span().await;
    let (from, to) = text.split_once('-').expect("from-to");
    (
        from.parse().expect("a number"),
        to.parse().expect("a number"),
    )
}

async fn opened() -> (Stack, Viewer) {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    (stack, viewer)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wheel_zooms_at_the_pointer_and_reset_shows_the_whole_run() {
    let (_stack, mut viewer) = opened().await;
    let whole = span(&viewer).await;
    let (x, y, width, height) = viewer.canvas().await;
    viewer
        .wheel(x + width * 0.25, y + height * 0.5, -240.0, true)
        .await;
    viewer
        .wait(&format!(
            "document.querySelector('[data-testid=timeline]').dataset.span !== '{}-{}'",
            whole.0, whole.1
        ))
        .await;
    viewer.settled().await;
    let closer = span(&viewer).await;
    assert!(
        closer.1 - closer.0 < whole.1 - whole.0,
        "{closer:?} is closer than {whole:?}"
    );
    let (left, right) = (closer.0 - whole.0, whole.1 - closer.1);
    assert!(
        left < right,
        "the pointer was left of the middle: {left} and {right} were cut off"
    );
    viewer.press("zoom-reset").await;
    assert_eq!(span(&viewer).await, whole);
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_zoom_and_pan_by_their_place_on_the_keyboard() {
    let (_stack, mut viewer) = opened().await;
    let whole = span(&viewer).await;
    let (x, y, width, height) = viewer.canvas().await;
    viewer.click_at(x + width * 0.5, y + height * 0.5).await;
    viewer.key("KeyW", "w").await;
    viewer.settled().await;
    let closer = span(&viewer).await;
    assert!(
        closer.1 - closer.0 < whole.1 - whole.0,
        "W zooms in: {closer:?} of {whole:?}"
    );
    viewer.key("KeyD", "d").await;
    viewer.settled().await;
    let later = span(&viewer).await;
    assert!(
        later.0 > closer.0 && later.1 > closer.1,
        "D goes right: {closer:?} to {later:?}"
    );
    assert_eq!(
        later.1 - later.0,
        closer.1 - closer.0,
        "panning keeps the zoom"
    );
    viewer.key("Digit0", "0").await;
    viewer.settled().await;
    assert_eq!(span(&viewer).await, whole);
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hovering_names_the_sample_and_does_not_repaint_the_timeline() {
    const BASE: &str = "[data-testid=timeline-base]";
    const OVERLAY: &str = "[data-testid=timeline-overlay]";
    let stack = Stack::start().await;
    let mut viewer = Viewer::watched(&stack.url("/")).await;
    viewer.wait("document.body.dataset.state === 'empty'").await;
    viewer.open_by_drop(&demo().profile).await;
    // The phases on the ruler come last; two frames later all is painted.
    viewer
        .wait("document.querySelector('[data-testid=timeline]').dataset.phases !== ''")
        .await;
    let two_frames = "new Promise((done) => requestAnimationFrame(() => \
        requestAnimationFrame(() => done(ipuStack.frames().length))))";
    let _drawn: u32 = viewer.eval(two_frames).await;
    let (base, overlay) = (viewer.drawn_on(BASE).await, viewer.drawn_on(OVERLAY).await);
    assert!(base.calls > 0, "what is drawn is counted");
    let (x, y, width, height) = viewer.canvas().await;
    for part in [0.2, 0.35, 0.65, 0.8, 0.5] {
        let before = viewer.drawn_on(OVERLAY).await.calls;
        viewer.hover(x + width * part, y + height * 0.5).await;
        viewer
            .wait(&format!("window.drawnOn('{OVERLAY}').calls > {before}"))
            .await;
    }
    viewer
        .wait("document.querySelector('[data-testid=tooltip]')")
        .await;
    let tooltip = viewer.text("tooltip").await;
    assert!(tooltip.to_lowercase().contains("tile"), "{tooltip}");
    let frames: u32 = viewer.eval(two_frames).await;
    assert!(frames > 0, "the log of frames has the work of hovering");
    let after = viewer.drawn_on(OVERLAY).await;
    assert!(after.calls > overlay.calls, "the cross-hair is painted");
    let is_exact = |it: &String| it.contains(" · ") && it.ends_with("µs");
    assert!(
        after.texts.iter().any(is_exact),
        "the cursor has its cycle and its time: {after:?}"
    );
    let now = viewer.drawn_on(BASE).await;
    assert_eq!(now.calls, base.calls, "nothing is drawn on the base canvas");
    viewer.assert_quiet().await;
}
