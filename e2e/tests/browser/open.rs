//! Opening the demo's profile: drop, picker, artifact link, address parameter.

use e2e::stack::{Stack, demo};
use e2e::viewer::Viewer;

use crate::table::assert_same_as_command_line;

fn demo_profile() -> &'static str {
    demo().profile.to_str().expect("the path is UTF-8")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_profile_shows_every_figure_of_the_command_line() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer.open_by_drop(&demo().profile).await;
    assert_same_as_command_line(&viewer, demo_profile()).await;
    assert_eq!(
        viewer.text("summary-tiles").await,
        analytics::text::count(1472)
    );
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picked_profile_opens_the_same() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    viewer
        .choose_files("[data-testid=file-input]", &[&demo().profile])
        .await;
    viewer.settled().await;
    assert_same_as_command_line(&viewer, demo_profile()).await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_uploaded_profile_opens_by_its_link() {
    let stack = Stack::start().await;
    let id = stack.upload(&demo().profile).await;
    let mut viewer = Viewer::at(&stack.url(&format!("/a/{id}"))).await;
    viewer.settled().await;
    assert_same_as_command_line(&viewer, demo_profile()).await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_address_parameter_opens_an_artifact_and_becomes_its_link() {
    let stack = Stack::start().await;
    let id = stack.upload(&demo().profile).await;
    let artifact = stack.url(&format!("/api/artifacts/{id}"));
    let mut viewer = Viewer::at(&stack.url(&format!("/?url={artifact}"))).await;
    viewer.settled().await;
    assert_same_as_command_line(&viewer, demo_profile()).await;
    let address = viewer.address().await;
    let link = stack.url(&format!("/a/{id}"));
    assert!(address.starts_with(&link), "{address} is the link {link}");
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_artifact_of_another_server_opens_by_the_address_parameter() {
    let (page, other) = (Stack::start().await, Stack::start().await);
    let id = other.upload(&demo().profile).await;
    let artifact = other.url(&format!("/api/artifacts/{id}"));
    let mut viewer = Viewer::at(&page.url(&format!("/?url={artifact}"))).await;
    viewer.settled().await;
    assert_same_as_command_line(&viewer, demo_profile()).await;
    viewer.assert_quiet().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_landing_page_says_where_the_data_goes() {
    let stack = Stack::start().await;
    let mut viewer = Viewer::landing(&stack.url("/")).await;
    let privacy = viewer.text("privacy").await;
    assert!(privacy.len() > 20, "{privacy}");
    viewer.assert_quiet().await;
}
