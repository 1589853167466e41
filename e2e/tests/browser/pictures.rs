//! Pictures of the page for a person to look at, under `target/screenshots`.

use e2e::stack::{Stack, demo, target_folder};
use e2e::tab::Theme;
use e2e::viewer::Viewer;

#[tokio::test(flavor = "multi_thread")]
async fn pictures_of_both_themes_are_kept() {
    let folder = target_folder("screenshots");
    let stack = Stack::start().await;
    for (theme, name) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
        let mut viewer = Viewer::landing(&stack.url("/")).await;
        viewer.theme(theme).await;
        viewer.reload().await;
        viewer.wait("document.body.dataset.state === 'empty'").await;
        viewer
            .photograph(&folder.join(format!("landing-{name}.png")))
            .await;
        viewer.open_by_drop(&demo().profile).await;
        viewer
            .photograph(&folder.join(format!("demo-{name}.png")))
            .await;
        let kernel = viewer.row_names().await.remove(0);
        viewer.press_kernel(&kernel).await;
        viewer.press("zoom-in").await;
        let (x, y, width, height) = viewer.canvas().await;
        viewer.hover(x + width * 0.4, y + height * 0.5).await;
        viewer
            .wait("document.querySelector('[data-testid=tooltip]')")
            .await;
        viewer
            .photograph(&folder.join(format!("focus-{name}.png")))
            .await;
        viewer.hover(10.0, 10.0).await;
        viewer
            .wait("!document.querySelector('[data-testid=tooltip]')")
            .await;
        viewer.resize(360, 780, 2.0).await;
        viewer.settled().await;
        let overflow: f64 = viewer
            .eval("document.documentElement.scrollWidth - innerWidth")
            .await;
        viewer
            .photograph(&folder.join(format!("narrow-{name}.png")))
            .await;
        assert!(
            overflow <= 0.0,
            "the page is {overflow} px wider than a small screen"
        );
        viewer.assert_quiet().await;
    }
}
