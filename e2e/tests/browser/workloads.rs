//! Profiles of real programs that are larger than what is read at once: pages of samples and of
//! transfers take turns in them.

use std::path::PathBuf;

use e2e::ranges::RangeHost;
use e2e::stack::{Stack, expect_output, target_folder};
use e2e::viewer::Viewer;
use serde_json::Value;

use crate::table::{assert_same_as_command_line, groups_of};

/// What a workload records with these flags.
fn recorded(workload: &str, flags: &[&str]) -> PathBuf {
    let folder = target_folder("e2e/workloads");
    let path = |kind: &str| {
        let file = folder.join(format!("{workload}.{kind}"));
        file.to_str().expect("UTF-8").to_owned()
    };
    let (package, profile) = (path("ipuexe"), path("ipuprofile"));
    let _said = expect_output(&["compile", workload, "-o", &package]);
    let run = ["run", &package, "--timing-only", "-o", &profile];
    let _said = expect_output(&[&run[..], flags].concat());
    profile.into()
}

/// A program that exchanges a lot, recorded as it is by default.
fn attention() -> PathBuf {
    recorded("attention-constant-smoke", &[])
}

/// Names and tile cycles of all groups by kernel, by the command line.
fn by_command(profile: &str) -> Vec<(String, u64)> {
    let question = ["--kind", "compute", "--sort-by", "work-cycles"];
    let figures = |it: &Value| {
        let name = it["name"].as_str().expect("a name").to_owned();
        (name, it["workCycles"].as_u64().expect("cycles"))
    };
    groups_of(profile, &question).iter().map(figures).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_profile_is_read_to_its_end_by_drop_and_by_link() {
    let profile = attention();
    let length = std::fs::metadata(&profile).expect("it is written").len();
    assert!(length > 2 * 1024 * 1024, "{length} bytes are read at once");
    let expected = by_command(profile.to_str().expect("UTF-8"));
    let stack = Stack::start().await;
    let id = stack.upload(&profile).await;
    let by_drop = {
        let mut viewer = Viewer::landing(&stack.url("/")).await;
        viewer.open_by_drop(&profile).await;
        viewer
    };
    let by_link = Viewer::at(&stack.url(&format!("/a/{id}"))).await;
    for mut viewer in [by_drop, by_link] {
        viewer.settled().await;
        let rows = viewer.rows().await.into_iter();
        let shown: Vec<(String, u64)> = rows
            .map(|row| {
                (
                    row.name,
                    row.cells["workCycles"].raw.parse().expect("cycles"),
                )
            })
            .collect();
        assert_eq!(shown, expected);
        for panel in ["in-view", "chip", "phases", "exchange", "plots"] {
            viewer.press(&format!("show-{panel}")).await;
            viewer.settled().await;
        }
        viewer
            .wait("document.querySelector('[data-testid=reading]') === null")
            .await;
        viewer.assert_quiet().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_real_profile_is_read_once_from_an_address() {
    let profile = recorded("siglip-block", &["--granularity", "step"]);
    let length = std::fs::metadata(&profile).expect("it is written").len();
    assert!(length > 32 * 1024 * 1024, "{length} bytes are all read");
    let place = profile.to_str().expect("UTF-8").to_owned();
    let host = RangeHost::holding_after(profile, length - 1024 * 1024).await;
    let stack = Stack::start().await;
    let mut viewer = Viewer::at(&stack.url(&format!("/?url={}", host.url()))).await;
    // Its sums come before its samples, and its samples because somebody looks at them.
    viewer
        .wait("document.querySelector('[data-testid=kernel-table]')?.dataset.state === 'summed'")
        .await;
    assert_same_as_command_line(&viewer, &place).await;
    host.let_go();
    viewer.settled().await;
    assert_same_as_command_line(&viewer, &place).await;
    for panel in ["in-view", "chip", "phases", "exchange", "plots"] {
        viewer.press(&format!("show-{panel}")).await;
    }
    let given = host.given();
    // Nothing twice but the first bytes and the last ones, which say where the others are.
    assert!(given.bytes < length + 512 * 1024, "{given:?} of {length}");
    viewer.assert_quiet().await;
}
