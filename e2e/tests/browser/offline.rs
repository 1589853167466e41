//! The one-file page opens from `file://`, where the browser refuses module workers.

use e2e::stack::{demo, expect_output, target_folder};
use e2e::viewer::Viewer;

use crate::table::assert_same_as_command_line;

#[tokio::test(flavor = "multi_thread")]
async fn a_rendered_page_opens_without_a_server() {
    let profile = demo().profile.to_str().expect("the path is UTF-8");
    let page = target_folder("e2e/rendered").join("profile # λ.html");
    let place = page.to_str().expect("the path is UTF-8");
    let _printed = expect_output(&["profile-render", profile, "-o", place]);
    let url = format!("file://{}", place.replace('%', "%25").replace('#', "%23"));
    let mut viewer = Viewer::at(&url).await;
    viewer.settled().await;
    assert_same_as_command_line(&viewer, profile).await;
    viewer.assert_quiet().await;
    // What makes the page's form necessary: this is the way that a served page starts its worker.
    let refusal: String = viewer
        .eval(
            "(() => { try { new Worker(location.href, { type: 'module' }); return 'none'; } \
             catch (error) { return error.name; } })()",
        )
        .await;
    assert_eq!(refusal, "SecurityError");
}
