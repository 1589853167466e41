//! Every panel below the timeline: reachable by keyboard, named for screen readers, inside a small
//! screen, and photographed in both themes under `target/screenshots`.

use std::path::Path;

use e2e::stack::{Stack, demo, detailed, target_folder};
use e2e::tab::Theme;
use e2e::viewer::Viewer;

const PANELS: [&str; 8] = [
    "figures", "in-view", "chip", "phases", "exchange", "compare", "plots", "memory",
];

/// A server, and the address of a page with two profiles and a package.
async fn everything() -> (Stack, String) {
    let stack = Stack::start().await;
    let [exact, slower] = detailed();
    let before = stack.upload(exact).await;
    let after = stack.upload(slower).await;
    let package = stack.upload(&demo().package).await;
    let link = format!("/a/{after}#v=1&compare=%2Fa%2F{before}&package=%2Fa%2F{package}");
    let url = stack.url(&link);
    (stack, url)
}

/// Everything in the panel is there and painted.
const WHOLE: &str = "[...document.querySelectorAll('.figures [data-state]')].every((it) => \
    ['ready', 'drawn'].includes(it.dataset.state))";

/// Keeps a picture of the whole panel, of which a screen shows the top alone.
async fn photograph(viewer: &Viewer, path: &Path) {
    viewer.photograph_whole("section.figures", path).await;
    let header = std::fs::read(path).expect("the picture is there");
    let length = |at: usize| {
        let bytes = header[at..at + 4].try_into().expect("four bytes");
        f64::from(u32::from_be_bytes(bytes))
    };
    let [width, height, ratio]: [f64; 3] = viewer
        .eval(
            "(() => { const it = document.querySelector('section.figures'); \
             return [it.offsetWidth, it.offsetHeight, devicePixelRatio]; })()",
        )
        .await;
    // A PNG begins with its width and height.
    let off = [(length(16), width), (length(20), height)].map(|it| (it.0 - it.1 * ratio).abs());
    assert!(
        off.iter().all(|it| *it <= 2.0 * ratio),
        "{}: off by {off:?}",
        path.display()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn pictures_of_every_panel_are_kept_and_fit_on_a_small_screen() {
    let folder = target_folder("screenshots");
    let (_stack, url) = everything().await;
    for (theme, name) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
        let mut viewer = Viewer::at(&url).await;
        viewer.theme(theme).await;
        viewer.reload().await;
        viewer.settled().await;
        for panel in PANELS {
            viewer.resize(1280, 900, 1.0).await;
            viewer.press(&format!("show-{panel}")).await;
            viewer.wait(WHOLE).await;
            photograph(&viewer, &folder.join(format!("panel-{panel}-{name}.png"))).await;
            viewer.resize(360, 780, 2.0).await;
            viewer.settled().await;
            viewer.wait(WHOLE).await;
            let narrow = folder.join(format!("panel-{panel}-{name}-narrow.png"));
            photograph(&viewer, &narrow).await;
            let overflow: f64 = viewer
                .eval("document.documentElement.scrollWidth - innerWidth")
                .await;
            assert!(
                overflow <= 0.0,
                "{panel} is {overflow} px wider than a small screen"
            );
        }
        viewer.assert_quiet().await;
    }
}

/// Controls without a name, and pictures that say nothing.
const NAMELESS: &str = "[...document.querySelectorAll('.figures button, .figures input, \
    .figures select, .figures [role=img], .figures [role=region]')].filter((it) => \
    !(it.getAttribute('aria-label') || it.innerText?.trim() || it.closest('label')?.innerText)) \
    .map((it) => it.outerHTML.slice(0, 120))";

/// Names of the elements that the tabulator key reaches.
const REACHED: &str = "[...document.querySelectorAll('.figures button, .figures input, \
    .figures select')].filter((it) => !it.disabled && it.tabIndex < 0).length";

#[tokio::test(flavor = "multi_thread")]
async fn every_control_has_a_name_and_is_reached_by_keyboard() {
    let (_stack, url) = everything().await;
    let mut viewer = Viewer::at(&url).await;
    viewer.settled().await;
    for panel in PANELS {
        viewer.press(&format!("show-{panel}")).await;
        viewer.wait(WHOLE).await;
        let nameless: Vec<String> = viewer.eval(NAMELESS).await;
        assert_eq!(nameless, [""; 0], "{panel}");
        let unreached: u32 = viewer.eval(REACHED).await;
        assert_eq!(unreached, 0, "{panel}");
        let heads: u32 = viewer
            .eval("document.querySelectorAll('.figures thead th:not([scope=col])').length")
            .await;
        assert_eq!(heads, 0, "{panel}: column headings say that they are");
    }
    viewer.assert_quiet().await;
}
